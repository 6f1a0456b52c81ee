"""Drawn values, and makers of arguments told from signatures."""

import random
from collections import Counter

import pytest

from rlsh.env.values import to_tagged
from rlsh.tasks.inputs import Draw, from_annotations

DRAWS = 300


def drawn(make, count=DRAWS):
    return [make(Draw(random.Random(seed))) for seed in range(count)]


def test_a_seed_decides_every_draw():
    def everything(d):
        return [
            d.ints(0, 9),
            d.reals(0, 1),
            d.words(),
            d.name(),
            d.text(),
            d.rows([d.key, d.clock]),
            d.records({"a": d.day}),
            d.nested(d.word),
            d.config(d.file),
            d.matrix(d.key, 2, 2),
            d.intervals(0, 9),
            d.path(),
            d.damaged("abc"),
        ]

    values = drawn(everything, 50)
    assert values == drawn(everything, 50)
    assert len({str(value) for value in values}) == 50
    for value in values:
        to_tagged(value)


def test_numbers_reach_both_ends_more_often_than_chance():
    found = Counter(drawn(lambda d: d.number(0, 99)))
    assert set(found) <= set(range(100))
    assert found[0] > 10 and found[99] > 10
    assert Counter(random.Random(seed).randint(0, 99) for seed in range(DRAWS))[0] <= 10


def test_reals_have_the_decimals_asked_for():
    values = drawn(lambda d: d.real(-1, 1, 2))
    assert all(type(value) is float and -1 <= value <= 1 and round(value, 2) == value for value in values)
    assert any(round(value, 1) != value for value in values)


def test_lists_come_empty_single_full_repeated_sorted_and_equal():
    values = drawn(lambda d: d.ints(0, 1000, 5))
    assert {len(value) for value in values} == {0, 1, 2, 3, 4, 5}
    longer = [value for value in values if len(value) > 2]
    assert any(len(set(value)) < len(value) for value in longer)
    assert sum(value == sorted(value) for value in longer) > len(longer) / 20
    assert any(value == sorted(value, reverse=True) and value[0] > value[-1] for value in longer)
    assert any(len(set(value)) == 1 for value in longer)


def test_a_repeated_list_is_no_second_name_for_the_first():
    for rows in drawn(lambda d: d.rows([lambda: d.number(0, 1)], 4, 2)):
        assert len({id(row) for row in rows}) == len(rows)


def test_a_picked_list_is_a_copy():
    options = [[1], [2]]
    for value in drawn(lambda d: d.pick(options)):
        assert value in options and value is not options[0] and value is not options[1]


def test_shapes_are_as_asked():
    for seed in range(DRAWS):
        d = Draw(random.Random(seed))
        low, high = d.interval(2, 5)
        assert 2 <= low <= high <= 5
        assert [len(row) for row in d.matrix(d.key, 2, 3)] == [3, 3]
        assert len(d.letters("ab", 4, 4)) == 4
        assert len(set(d.distinct(d.key, 9))) <= 9
        assert depth(d.nested(d.word, 2)) <= 2
        assert "2024-02-01" <= d.day("2024-02-01", "2024-03-01") <= "2024-03-01"
        hour, minute = d.clock().split(":")
        assert int(hour) < 24 and int(minute) < 60 and len(hour + minute) == 4


def depth(value):
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def test_days_are_often_the_last_of_a_month():
    assert sum(day[8:] in ("28", "29", "30", "31") for day in drawn(lambda d: d.day())) > DRAWS / 4


# --- signatures -----------------------------------------------------------------------------------------------


def kinds(value):
    """The type of a value and, sorted, of what is in it."""
    if isinstance(value, dict):
        return ("dict", tuple(sorted({(kinds(k), kinds(v)) for k, v in value.items()}, key=str)))
    if isinstance(value, list | tuple | set | frozenset):
        return (type(value).__name__, tuple(sorted({kinds(inner) for inner in value}, key=str)))
    return type(value).__name__


ONE = {
    "x: int": {"int"},
    "x: float": {"float"},
    "x: str": {"str"},
    "x: bool": {"bool"},
    "x: bytes": {"bytes"},
    "x: None": {"NoneType"},
    "x: 'int'": {"int"},
    "x: int | None": {"int", "NoneType"},
    "x: Optional[int]": {"int", "NoneType"},
    "x: t.Union[int, str]": {"int", "str"},
    "x: Literal['a', 3]": {"str", "int"},
    "x: list[int]": {("list", ("int",)), ("list", ())},
    "x: typing.Sequence['str']": {("list", ("str",)), ("list", ())},
    "x: Iterable[float]": {("list", ("float",)), ("list", ())},
    "x: list": {("list", ("int",)), ("list", ())},
    "words: list": {("list", ("str",)), ("list", ())},
    "x: tuple[int, str]": {("tuple", ("int", "str"))},
    "x: tuple[int, ...]": {("tuple", ("int",)), ("tuple", ())},
    "x: set[str]": {("set", ("str",)), ("set", ())},
    "x: set[tuple[int, int]]": {("set", (("tuple", ("int",)),)), ("set", ())},
    "x: dict[str, bool]": {("dict", (("str", "bool"),)), ("dict", ())},
    "x: Mapping[str, int]": {("dict", (("str", "int"),)), ("dict", ())},
    "x=3": {"int"},
    "x=''": {"str"},
    "x=1.5": {"float"},
    "x=False": {"bool"},
    "x=(1, 2)": {("tuple", ("int",))},
    "text": {"str"},
    "file_path": {"str"},
    "numbers": {("list", ("int",)), ("list", ())},
    "lines": {("list", ("str",)), ("list", ())},
    "year": {"int"},
    "prices": {("list", ("float",)), ("list", ())},
}


@pytest.mark.parametrize("parameter", ONE)
def test_a_parameter_tells_its_type(parameter):
    draw = from_annotations(f"def f({parameter}):\n    return 1\n", "f")
    assert draw is not None
    calls = drawn(draw)
    assert {kinds(call[0]) for call in calls if call} - kinds_of_two(parameter) == ONE[parameter]
    for call in calls:
        assert len(call) == 1 or (call == () and "=" in parameter)
        to_tagged(call)


def kinds_of_two(parameter):
    """In a dict of two value types both may be drawn; only the empty and the mixed case need no mention."""
    return {("dict", (("str", "bool"), ("str", "bool")))} if "dict" in parameter else set()


@pytest.mark.parametrize(
    "signature",
    [
        "x: Any",
        "x: Foo",
        "x: np.ndarray",
        "x: list[Foo]",
        "x: int | Foo",
        "x: Callable[[int], int]",
        "x: set[list[int]]",
        "x: dict[list[int], int]",
        "x: 'not a type'",
        "self, x: int",
        "thing",
        "x: int, *, key: str",
        "x=1, *, key",
    ],
)
def test_what_cannot_be_told_gives_no_maker(signature):
    assert from_annotations(f"def f({signature}):\n    return 1\n", "f") is None


@pytest.mark.parametrize("source", ["def f(:", "f = 1", "async def f(): ...", "class A:\n    def f(x: int): ..."])
def test_only_a_top_level_function_has_a_maker(source):
    assert from_annotations(source, "f") is None


def test_parameters_with_a_default_are_left_out_now_and_then_and_always_from_an_unknown_one():
    draw = from_annotations("def f(a: int, b: int = 1, c: Foo = None, d: int = 2): ...", "f")
    assert {len(call) for call in drawn(draw)} == {1, 2}


def test_more_arguments_follow_only_after_all_others():
    draw = from_annotations("def f(a: int, b: str = '', *rest: float, key=None): ...", "f")
    calls = drawn(draw)
    assert {len(call) for call in calls} == {1, 2, 3, 4, 5}
    assert all(type(value) is float for call in calls for value in call[2:])


def test_no_part_of_the_source_is_run():
    source = "raise SystemExit\ndef f(x: print('run') = print('run'), y=print('run')): ...\n"
    assert from_annotations(source, "f")(Draw(random.Random(0))) == ()


def test_names_choose_among_the_values_of_a_type():
    draw = from_annotations("def f(month: int, due_date: str, n: int, clock_time: str): ...", "f")
    for month, day, n, clock in drawn(draw):
        assert 1 <= month <= 12 and day.count("-") == 2 and 0 <= n <= 9 and ":" in clock
