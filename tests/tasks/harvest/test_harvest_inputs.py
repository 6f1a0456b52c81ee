"""Inputs for harvested functions: literal calls and their neighbours, types by use, and the code's own constants."""

import ast
import random
import re
import textwrap
from collections import Counter

import pytest

from rlsh.tasks.harvest.literals import KEPT, LiteralCall, bound, from_calls, literal_calls, neighbour
from rlsh.tasks.harvest.module import parse
from rlsh.tasks.harvest.patterns import sample
from rlsh.tasks.harvest.usage import annotated_by_usage
from rlsh.tasks.harvest.vocabulary import vocabulary
from rlsh.tasks.inputs import Draw, from_annotations

DRAWS = 300


def draws(make, count=DRAWS):
    return [make(Draw(random.Random(seed))) for seed in range(count)]


def function(text):
    return ast.parse(textwrap.dedent(text)).body[-1]


# --- literal calls ----------------------------------------------------------------------------------------------


def calls(**files):
    modules = [(path.replace("__", "/") + ".py", parse(textwrap.dedent(text))) for path, text in files.items()]
    return literal_calls(modules)


def test_calls_are_found_in_tests_doctests_and_scripts():
    found = calls(
        pkg__sizes='''
        def parse(text, base=10):
            """The size.

            >>> parse("3k")
            3000
            >>> size = parse("4k", base=2)
            """
            return helper(text, 1)

        if __name__ == "__main__":
            print(parse("5k"))
        ''',
        tests__a="""
        from pkg.sizes import parse as p
        from pkg import sizes
        import pkg.sizes as s
        assert p("6k") == 6000
        assert sizes.parse("7k") and s.parse("8k")
        """,
        tests__b='''
        """An arrow >>> is no doctest, nor is
        >>> for
        """
        from other import parse
        x = 1
        parse("9k")
        sizes.parse("10k")
        ''',
    )
    wanted = [("5k",), ("3k",), ("4k",), ("6k",), ("7k",), ("8k",)]
    assert sorted(call.args for call in found["sizes", "parse"]) == sorted(wanted)
    assert LiteralCall(("4k",), {"base": 2}) in found["sizes", "parse"]
    assert [call.args for call in found["other", "parse"]] == [("9k",)]
    assert set(found) == {("sizes", "parse"), ("other", "parse")}


def test_what_is_no_literal_is_no_input():
    found = calls(
        a="def f(*a, **k): return a\nn = 1\nf(n)\nf(*[1])\nf(**{'a': 1})\nf([1, -2], {'a': (None,)})\nf({1, []})"
    )
    assert found == {("a", "f"): [LiteralCall(([1, -2], {"a": (None,)}))]}


@pytest.mark.parametrize(
    ("signature", "call", "args"),
    [
        ("a, b", LiteralCall((1, 2)), (1, 2)),
        ("a, b", LiteralCall((1,), {"b": 2}), (1, 2)),
        ("a, b=5, c=6", LiteralCall((1,), {"c": 2}), (1, 5, 2)),
        ("a, b=[], c=6", LiteralCall((1,)), (1,)),
        ("a, *b", LiteralCall((1, 2, 3)), (1, 2, 3)),
        ("a, b", LiteralCall((1,)), None),
        ("a", LiteralCall((1, 2)), None),
        ("a", LiteralCall((1,), {"a": 1}), None),
        ("a, b=N, c=6", LiteralCall((1,), {"c": 2}), None),
        ("a, *, b=1", LiteralCall((1,), {"b": 2}), None),
        ("a=1", LiteralCall(()), None),
    ],
)
def test_a_call_becomes_positional_arguments_of_the_signature(signature, call, args):
    found = bound(function(f"def f({signature}): pass"), [call, call])
    assert found == ([] if args is None else [args])


def test_draws_are_the_calls_and_their_neighbours():
    written = [("abc", 3), ("de", 4)]
    found = draws(lambda d: from_calls(written, d))
    same = sum(args in written for args in found)
    assert KEPT * DRAWS * 0.7 < same < DRAWS * 0.7
    assert all(list(map(type, args)) == [str, int] for args in found)
    assert len(set(found)) > 50
    assert written == [("abc", 3), ("de", 4)]


@pytest.mark.parametrize(
    "value", [True, 5, 2.5, "word", "", b"ab", b"", [1, 2, 3], [], (1, "a"), {"a": 1, "b": 2}, {}, {1, 2}, None, 1j]
)
def test_a_neighbour_is_of_the_same_type_and_mostly_another_value(value):
    found = draws(lambda d: neighbour(value, d))
    assert {type(one) for one in found} == {type(value)}
    steady = value in (None, [], {}, 1j) and value != ""
    assert any(one != value for one in found) != steady


# --- usage ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "annotation"),
    [
        ("return p.split()[0]", "str"),
        ("return p + 'x'", "str"),
        ("return ','.join(p)", "list[str]"),
        ("return re.sub('a', 'b', p)", "str"),
        ("return 'x' in p", "str"),
        ("return [k for k, v in p.items()]", "dict[str, int]"),
        ("return p['name']", "dict[str, int]"),
        ("return p[0]", "list[int]"),
        ("for x in p:\n        y = x.strip()\n    return y", "list[str]"),
        ("return [x['name'] for x in p]", "list[dict[str, int]]"),
        ("return [x for x in p]", "list[int]"),
        ("return list(range(p))", "int"),
        ("return p % 3", "int"),
        ("q = 1\n    q += p\n    return q", "int"),
        ("return p < limit", "int"),
        ("return p * 0.5", "float"),
        ("return math.sqrt(p)", "float"),
        ("return p.decode()", "bytes"),
        ("return sum(p)", "list[int]"),
        ("return p.union(q)", "set[int]"),
        ("return g(p)", "str"),
    ],
)
def test_a_type_is_told_from_use(body, annotation):
    source = annotated_by_usage(function(f"def f(p):\n    {body}"))
    assert source == f"def f(p: {annotation}):\n    pass"
    assert from_annotations(source, "f") is not None


def test_stronger_evidence_wins():
    assert "p: str" in annotated_by_usage(function("def f(p):\n    return [x for x in p], p[0], p.upper(), p.lower()"))


def test_what_is_told_already_stays():
    source = annotated_by_usage(function("@cache\ndef f(a: int, b=2, c=None, name=None, *d):\n    return c.upper()"))
    assert source == "def f(a: int, b=2, c: str=None, name=None, *d):\n    pass"


# --- constants --------------------------------------------------------------------------------------------------

SOURCE = '''
LIMIT = 4000


def f(text, n, rows):
    """Not a word of this."""
    if text.startswith("---") or n > LIMIT:
        raise ValueError("a message that is longer than any word would be")
    return [row["title"].upper() + row.get("size") * 2 for row in rows]
'''


def test_the_constants_of_the_code_come_into_what_is_drawn():
    words = vocabulary(SOURCE, "f")
    assert set(words.texts) == {"---", "title", "size"}
    assert set(words.numbers) == {4000, 2}
    assert set(words.fields) == {"title", "size"}

    found = draws(lambda d: words.into(("plain", 7, [{"a": 1}], 2.5), d))
    texts, numbers, rows, _ = zip(*found, strict=True)
    assert any(text.startswith("---") for text in texts) and "plain" in texts
    assert Counter(numbers)[7] > DRAWS / 2 and {3999, 4000, 4001, 28000} <= set(numbers)
    assert (
        sum("title" in row[0] for row in rows)
        > 0.9 * DRAWS
        > sum(row[0].keys() >= {"title", "size", "a"} for row in rows)
    )
    assert {type(row[0]["title"]) for row in rows if "title" in row[0]} == {str}
    assert {type(row[0]["size"]) for row in rows if "size" in row[0]} == {int}
    assert all(list(map(type, args)) == [str, int, list, float] for args in found)


def test_of_a_pattern_what_it_matches_is_worked_in():
    words = vocabulary("import re\ndef f(x): return re.sub('[0-9]{4}-x', '*', x)", "f")
    assert set(words.texts) == {"0000-x", "*"}


@pytest.mark.parametrize(
    "pattern",
    r"""error ^ab$ [0-9]+ms a\.b x.*y [a-z]+@host \d{3} [0-9]{4}-[0-9]{2} "k":"[^"]*" \sx ^\*Source:.*$ [^\w\s-]
    (?P<n>\d+)([kmg]) \((\d+)\) ^---\n(.*?)\n--- (?i)abc \{%.*?%\} [\w.-]+ a\+b x{2} !\[(.*?)\]\((.*?)\) (?:foo)+bar
    \btest\b one|two \r?\n (?=x)x [\]] []x] a{2,} \w+\s*=\s*\d+ \t""".split(),
)
def test_a_sample_matches_its_pattern(pattern):
    assert sample(pattern) and re.search(pattern, sample(pattern))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\(ab\)\+c", "abc"),
        ("a+b(c)", "a+b(c)"),
        (r"[0-9]\{2\}", "00"),
        (r"a\|b", "a"),
        ("a|b", "a|b"),
        ("[[:space:]]x", " x"),
    ],
)
def test_basic_syntax_has_its_operators_behind_a_backslash(pattern, text):
    assert sample(pattern, basic=True) == text


def test_a_class_that_is_not_pythons_has_no_sample():
    assert sample("[z-a]b") == "b" and sample(r"[^a7 #\]_.-]b") == "b"


def test_without_constants_nothing_changes():
    words = vocabulary("def f(x): return x", "f")
    assert draws(lambda d: words.into(("a", 1, {"k": 2}), d), 20) == [("a", 1, {"k": 2})] * 20
