"""Tagged JSON: what survives the way there and back, what is refused, and what counts as the same."""

import json
import math
from collections import Counter, OrderedDict, namedtuple
from enum import IntEnum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlsh.tasks.values import MAX_COLLISIONS, MAX_DEPTH, MAX_SIZE, from_tagged, same, to_tagged

NAN, INF = math.nan, math.inf
PRIME = 2**61 - 1  # multiples of it hash to 0
PAIR = "\ud83d" + "\ude00"  # two characters; JSON would make one of them


def there_and_back(value):
    return from_tagged(json.loads(json.dumps(to_tagged(value), allow_nan=False)))


def nested(count):
    value = []
    for _ in range(count):
        value = [value]
    return value


text = st.text(st.characters(exclude_categories=())) | st.just(PAIR)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | text | st.binary()
) | st.integers(-(2**70), 2**70)
hashable = st.recursive(scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=4), max_leaves=6)
plain = st.recursive(
    hashable | st.sets(hashable, max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner, max_size=4)
        | st.tuples()
    ),
    max_leaves=12,
)


def spelled(value):
    """A slow second opinion: one text per value, types and all."""
    kind = type(value)
    if kind in (list, tuple):
        return f"{kind.__name__}({','.join(map(spelled, value))})"
    if kind in (set, frozenset):
        return f"{kind.__name__}({','.join(sorted(map(spelled, value)))})"
    if kind is dict:
        return f"dict({','.join(sorted(f'{spelled(k)}:{spelled(v)}' for k, v in value.items()))})"
    if kind is complex:
        return f"complex({value.real!r},{value.imag!r})"
    return f"{kind.__name__}({value!a})"


@settings(deadline=None)
@given(plain)
def test_what_is_written_reads_back_the_same(value):
    got = there_and_back(value)
    assert spelled(got) == spelled(value)
    assert same(value, got) and same(got, value)
    assert same(value, got, 1e-9)


@settings(deadline=None)
@given(plain, plain)
def test_same_agrees_with_a_second_opinion(a, b):
    assert same(a, b) == (spelled(a) == spelled(b))
    assert same([a, 1], [a, True]) is False and same({0: b}, {0.0: b}) is False


def test_the_order_of_a_dict_is_kept_though_it_does_not_count():
    assert list(there_and_back({"b": 1, "a": 2})) == ["b", "a"]


@pytest.mark.parametrize(
    ("a", "b", "answer"),
    [
        (1, True, False),
        (0, False, False),
        (1, 1.0, False),
        (None, False, False),
        ("1", 1, False),
        (b"a", "a", False),
        (1.0, complex(1, 0), False),
        (NAN, NAN, True),
        (-NAN, NAN, True),
        ([NAN], [float("nan")], True),
        (0.0, -0.0, False),
        (complex(0.0, -0.0), complex(0.0, 0.0), False),
        (INF, -INF, False),
        (INF, INF, True),
        (0.1 + 0.2, 0.3, False),
        ([1, 2], (1, 2), False),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ([], {}, False),
        ({1, 2}, frozenset({1, 2}), False),
        ({1}, {True}, False),
        ({1}, {1.0}, False),
        ({(1, "a")}, {(True, "a")}, False),
        ({frozenset({1, 2}), 3}, {3, frozenset({2, 1})}, True),
        ({0.0}, {-0.0}, False),
        ({NAN}, {float("nan")}, True),
        ({1: 2}, {True: 2}, False),
        ({1: 2}, {1: 2.0}, False),
        ({1: [2]}, {1: [2]}, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 1}, False),
        ({"1": "a"}, {1: "a"}, False),
        ("\ud83d\ude00", "😀", False),
        (2**80, 2**80, True),
        (2**80, float(2**80), False),
    ],
)
def test_same_by_hand(a, b, answer):
    assert same(a, b) is answer and same(b, a) is answer
    assert same(a, a) and same(b, b)


@pytest.mark.parametrize(
    ("a", "b", "answer"),
    [
        (1.0, 1.05, True),
        (1.0, 1.2, False),
        (0.0, -0.0, True),
        (100.0, 105.0, True),  # relative above 1
        (100.0, 120.0, False),
        ([(1.0,), {"a": 2.0}], [(1.01,), {"a": 2.01}], True),
        (complex(1, 1), complex(1.01, 0.99), True),
        (1, 1.0, False),  # types are exact all the same
        (1, 2, False),
        (10, 11, False),
        ({1.0}, {1.01}, False),
        ({1.0: 1}, {1.01: 1}, False),
        (INF, 1e308, False),
        (1e308, -1e308, False),
        (NAN, 1.0, False),
        (NAN, NAN, True),
        (INF, INF, True),
    ],
)
def test_a_tolerance_is_for_floats_alone(a, b, answer):
    assert same(a, b, 0.1) is answer


class Always:
    def __eq__(self, other):
        return True

    __hash__ = object.__hash__


class Text(str):
    __slots__ = ()


class Number(IntEnum):
    ONE = 1


CYCLE: list = []
CYCLE.append(CYCLE)
DOUBLING = [0]
for _ in range(40):
    DOUBLING = [DOUBLING, DOUBLING]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (Always(), "type Always is no plain data"),
        ([1, {"a": Always()}], "type Always is no plain data"),
        (Text("a"), "type Text is no plain data"),
        ({Text("a"): 1}, "type Text is no plain data"),
        (Number.ONE, "type Number is no plain data"),
        (Counter("a"), "type Counter is no plain data"),
        (OrderedDict(a=1), "type OrderedDict is no plain data"),
        (namedtuple("Pair", "a b")(1, 2), "type Pair is no plain data"),
        (bytearray(b"a"), "type bytearray is no plain data"),
        (range(3), "type range is no plain data"),
        ((i for i in ()), "type generator is no plain data"),
        (len, "type builtin_function_or_method is no plain data"),
        (int, "type type is no plain data"),
        (CYCLE, "deeper than"),
        (nested(MAX_DEPTH + 1), "deeper than"),
        (nested(100_000), "deeper than"),
        (DOUBLING, "larger than"),
        ([0] * MAX_SIZE, "larger than"),
        ("a" * MAX_SIZE, "larger than"),
        (b"a" * MAX_SIZE, "larger than"),
        pytest.param(1 << 4 * MAX_SIZE, "larger than", id="an int that str() refuses"),
    ],
)
def test_what_is_no_plain_data_is_not_written(value, reason):
    with pytest.raises(ValueError, match=reason):
        to_tagged(value)


def test_the_limits_themselves_are_allowed():
    assert same(there_and_back(nested(MAX_DEPTH)), nested(MAX_DEPTH))
    for value in ([0] * (MAX_SIZE - 1), "a" * (MAX_SIZE - 1), b"a" * (MAX_SIZE - 1), 7**20_000, -(2**63), 2**64):
        assert same(there_and_back(value), value)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ('{"object": []}', "unknown tag"),
        ('{"list": []}', "unknown tag"),
        ('{"": []}', "unknown tag"),
        ("{}", "0 tags"),
        ('{"tuple": [], "list": []}', "2 tags"),
        ('{"tuple": {}}', "on a dict"),
        ('{"tuple": "ab"}', "on a str"),
        ('{"bytes": [1]}', "on a list"),
        ('{"bytes": "0"}', "fromhex"),
        ('{"bytes": "AB"}', "as a bytes is written"),
        ('{"bytes": "0 0"}', "fromhex"),
        ('{"int": "12"}', "as a int is written"),
        ('{"int": "0x1"}', "as a int is written"),
        ('{"int": "ten"}', "invalid literal"),
        ('{"int": 1}', "on a int"),
        ('{"float": "1.5"}', "as a float is written"),
        ('{"float": "Infinity"}', "as a float is written"),
        ('{"float": "x"}', "could not convert"),
        ('{"str": "61"}', "as a str is written"),
        ('{"str": "ff"}', "decode"),
        ('"\\ud800"', "as a str is written"),
        ("1e999", "as a float is written"),
        ("NaN", "as a float is written"),
        ("-Infinity", "as a float is written"),
        (str(2**64), "as a int is written"),
        ('{"complex": [1.0]}', "two floats"),
        ('{"complex": [1, 2]}', "two floats"),
        ('{"complex": [1.0, 2.0, 3.0]}', "two floats"),
        ('{"set": [[]]}', "unhashable"),
        ('{"set": [1, 1]}', "twice"),
        ('{"set": [1, true]}', "twice"),
        ('{"frozenset": [{"dict": []}]}', "unhashable"),
        ('{"dict": [[1, 2], [1, 3]]}', "twice"),
        ('{"dict": [[[], 2]]}', "unhashable"),
        ('{"dict": [[1]]}', "pairs"),
        ('{"dict": [[1, 2, 3]]}', "pairs"),
        ('{"dict": ["ab"]}', "pairs"),
        ('{"dict": {"a": 1}}', "on a dict"),
        ("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2), "deeper than"),
        ("[" + "0," * MAX_SIZE + "0]", "larger than"),
        (json.dumps("a" * MAX_SIZE), "larger than"),
    ],
)
def test_a_malformed_text_is_refused(written, reason):
    with pytest.raises(ValueError, match=reason):
        from_tagged(json.loads(written))


def test_colliding_elements_are_refused_before_a_set_is_made_of_them():
    numbers = [PRIME * i for i in range(MAX_COLLISIONS)]
    assert set(map(hash, numbers)) == {0}
    assert same(from_tagged(to_tagged(set(numbers))), set(numbers))
    for more in ([*numbers, PRIME * 8], [PRIME * i for i in range(7)] * 9):
        for tagged in ({"set": list(map(to_tagged, more))}, {"dict": [[to_tagged(n), 0] for n in more]}):
            with pytest.raises(ValueError, match="one hash"):
                from_tagged(tagged)


def test_comparing_never_asks_an_object():
    with pytest.raises(ValueError, match="no plain data"):
        same(Always(), Always())
    assert Always() == 1 and not same(1, Always()) and not same(Always(), 1)
    with pytest.raises(ValueError, match="deeper than"):
        same(CYCLE, CYCLE)
