"""The normal form: what it does not see, and what it sees."""

import ast
import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation_corpus import CORPUS, FUNCTIONS, NAMES, SOURCES

from rlsh.tasks.mutation import FAMILY, mutants, normalised


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a, *b, c=1, **d):\n    return a, b, c, d", "def g(p, *q, r=1, **s):\n    return p, q, r, s"),
        ("def f(x: int) -> int:\n    'Doc.'\n    y: int = x  # note\n    return (y)", "def f(x):\n  y = x\n  return y"),
        ("def f():\n    x: int\n    return 1", "def f():\n    return 1"),
        ("def f(xs):\n    return [x for x in xs]", "def f(x):\n    return [y for y in x]"),
        ("def f(x):\n    return [x for x in x]", "def f(x):\n    return [y for y in x]"),
        ("def f(k, d):\n    return {k: v for k, v in d}", "def f(q, d):\n    return {a: b for a, b in d}"),
        ("f = lambda x, y=1: x", "f = lambda a, b=1: a"),
        (
            "def f(x):\n    def g():\n        nonlocal x\n        x = 1\n    g()",
            "def f(a):\n    def h():\n        nonlocal a\n        a = 1\n    h()",
        ),
        ("try:\n    pass\nexcept E as e:\n    e", "try:\n    pass\nexcept E as x:\n    x"),
        ("import re\nre.sub", "import re as r\nr.sub"),
        ("from m import a\na", "from m import a as b\nb"),
        (
            "match v:\n    case [a, *b] | {'k': a, **b} | C(a) as b:\n        a, b",
            "match v:\n    case [x, *y] | {'k': x, **y} | C(x) as y:\n        x, y",
        ),
        (
            "class A:\n    x = 1\n    def m(self):\n        return self.x, x",
            "class B:\n    x = 1\n    def m(me):\n        return me.x, x",
        ),
        ("def f(y):\n    return any((t := x) for x in y), t", "def f(b):\n    return any((u := a) for a in b), u"),
        ("async def f(x):\n    async for y in x:\n        y", "async def f(a):\n    async for b in a:\n        b"),
    ],
)
def test_the_normal_form_does_not_see_names(one, other):
    assert ast.dump(ast.parse(one)) != ast.dump(ast.parse(other))
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a, b):\n    return a - b", "def f(a, b):\n    return b - a"),
        ("def f(a):\n    return len(a)", "def f(a):\n    return sum(a)"),
        ("def f(a):\n    return len(a)", "def f(len):\n    return len(len)"),
        ("def f():\n    list = 1\ndef g(x):\n    list(x)", "def f():\n    set = 1\ndef g(x):\n    set(x)"),
        ("def f(a):\n    return a.x", "def f(a):\n    return a.y"),
        ("def f(a):\n    return a(x=1)", "def f(a):\n    return a(y=1)"),
        ("class A:\n    x = 1\n    y = x", "class A:\n    z = 1\n    y = z"),
        ("class A:\n    def m(self):\n        pass", "class A:\n    def n(self):\n        pass"),
        (
            "x = 0\nclass A:\n    x = 1\n    def m(self):\n        return x",
            "z = 0\nclass A:\n    x = 1\n    def m(self):\n        return x",
        ),
        ("import re\nre.sub", "import os\nos.sub"),
        ("from m import a\na", "from m import b\nb"),
        ("import a.b\na.b", "import c.b\nc.b"),
        ("def f(x):\n    return [x for y in x]", "def f(x):\n    return [y for y in x]"),
        ("x = 1\ndef f():\n    global x\n    x = 2", "x = 1\ndef f():\n    x = 2"),
        ("x = 1", "x = 1.0"),
        ("x = 'a'", "x = b'a'"),
    ],
)
def test_the_normal_form_sees_what_counts(one, other):
    assert normalised(one) != normalised(other)


@pytest.mark.parametrize(("source", "function"), SOURCES, ids=list(CORPUS))
def test_no_mutant_has_the_normal_form_of_its_source(source, function):
    forms = {normalised(source)}
    for mutant in mutants(source, function):
        if FAMILY[mutant.operators[0]] != "syntax":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert normalised(mutant.source) not in forms, mutant.operators


def test_what_is_no_python_has_no_normal_form():
    with pytest.raises(SyntaxError):
        normalised("def f(:")


@settings(max_examples=60, deadline=None)
@given(source=FUNCTIONS, order=st.permutations(NAMES))
def test_renaming_changes_no_normal_form(source, order):
    new = {old: f"{name}_" for old, name in zip(NAMES, order, strict=True)}
    renamed = re.sub(r"\b(" + "|".join(NAMES) + r")\b", lambda match: new[match[0]], source)
    assert normalised(source) == normalised(renamed)
