"""What operators ask of the tree."""

import libcst as cst
import pytest
from mutation_corpus import module, subject

from rlsh.tasks.mutation.shapes import (
    assigned,
    base,
    changed,
    counters,
    integer,
    mappings,
    mentioned,
    misspelt,
    shifted,
)
from rlsh.tasks.mutation.subject import only


def body(text):
    return subject(module(text + "\n"), "f")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("for i in range(n):\n    pass", {"i"}),
        ("return [row for row in range(n)]", {"row"}),
        ("for i, x in enumerate(xs):\n    pass", {"i"}),
        ("for i in enumerate(xs):\n    pass", set()),
        ("for i, x in zip(xs, ys):\n    pass", set()),
        ("for i, x in range(n):\n    pass", set()),
        ("q += 1", {"q"}),
        ("q -= -1", {"q"}),
        ("q += a", set()),
        ("d[a] += 1", set()),
        ("row = 1", {"row"}),
        ("q: int = len(xs)", {"q"}),
        ("q = sum(xs)", set()),
        ("q = r = 1", set()),
        ("q: int", set()),
    ],
)
def test_counters(text, names):
    assert counters(body(text)) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("rows = {}", {"rows"}),
        ("q = {a: b for a in xs}", {"q"}),
        ("q: dict = defaultdict(int)", {"q"}),
        ("q = {a}", set()),
        ("q = sorted(xs)", set()),
        ("return d.get(a)", {"d"}),
        ("return a.b.items()", {"a.b"}),
        ("return s.strip()", set()),
        ("def f(p: Mapping[str, int], q: dict, r: list, s):\n    pass", {"p", "q"}),
    ],
)
def test_mappings(text, names):
    assert mappings(body(text)) == names


@pytest.mark.parametrize(
    ("text", "names", "others"),
    [
        ("q = a", {"q"}, {"a"}),
        ("q, (r, *s) = a", {"q", "r", "s"}, {"a"}),
        ("for q in a:\n    r = b.q", {"q", "r"}, {"a", "b"}),
        ("with a as q:\n    pass", {"q"}, {"a"}),
        ("rows[a] = b", {"rows"}, {"a", "b"}),
        ("q.a.r = b", {"q"}, {"b"}),
        ("del q[a]", {"q"}, {"a"}),
        ("q[0].append(a)", {"q", "a"}, set()),
        ("heappush(q, a.b)", {"heappush", "q", "a"}, set()),
        ("q", set(), {"q"}),
        ("return q[a].b", set(), {"q", "a"}),
        ("return g(a, key=b)", set(), {"g", "a", "b"}),
    ],
)
def test_what_a_statement_changes_and_what_it_mentions(text, names, others):
    f = body(text)
    statement = next(f.blocks())[0]
    assert changed(f, statement) == names
    assert mentioned(f, statement) == names | others


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("q = a", ("q", "a")),
        ("q: int = a", ("q", "a")),
        ("q: int", None),
        ("q = r = a", None),
        ("q[0] = a", None),
        ("q += a", None),
        ("q = a; b = 1", None),
        ("if a:\n    q = a", None),
    ],
)
def test_an_assignment_to_one_name(text, pair):
    f = body(text)
    found = assigned(only(next(f.blocks())[0]))
    assert (found and (found[0], f.text(found[1]))) == pair


@pytest.mark.parametrize(
    ("text", "more", "less"),
    [
        ("0", "1", "-1"),
        ("-1", "0", "-2"),
        ("n", "n + 1", "n - 1"),
        ("n + 1", "n + 2", "n"),
        ("n - 1", "n", "n - 2"),
        ("n - 3", "n - 2", "n - 4"),
        ("n + a", "n + a + 1", "n + a - 1"),
        ("n * 2", "n * 2 + 1", "n * 2 - 1"),
        ("n & 2", "(n & 2) + 1", "(n & 2) - 1"),
        ("(n + 1)", "(n + 1) + 1", "(n + 1) - 1"),
        ("(n & 2)", "(n & 2) + 1", "(n & 2) - 1"),
        ("a or b", "(a or b) + 1", "(a or b) - 1"),
        ("len(xs)", "len(xs) + 1", "len(xs) - 1"),
        ("~1", "(~1) + 1", "(~1) - 1"),
    ],
)
def test_one_more_and_one_less(text, more, less):
    f = body(f"return {text}")
    value = f.find(cst.Return)[0].value
    assert (shifted(f, value, 1), shifted(f, value, -1)) == (more, less)


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("-7", -7), ("0x7", None), ("1_000", None), ("7.0", None), ("-n", None)]
)
def test_integers(text, value):
    assert integer(cst.parse_expression(text)) == value


@pytest.mark.parametrize(
    ("text", "name"), [("a", "a"), ("a.b[c](d).e", "a"), ("f(a)", "f"), ("(a + b).c", ""), ("1", "")]
)
def test_what_an_expression_begins_with(text, name):
    assert base(cst.parse_expression(text)) == name


@pytest.mark.parametrize(
    ("word", "wrong"),
    [
        ("items", "item"),
        ("class", "clsas"),
        ("abs", "asb"),
        ("count", "conut"),
        ("word", "wodr"),
        ("abb", "bab"),
        ("xxy", "xyx"),
        ("aabbbc", "aabbcb"),
        ("aaa", "aaaa"),
    ],
)
def test_misspelt(word, wrong):
    assert misspelt(word) == wrong
