"""Expressions of somebody else's text get a value here only where nothing of it has to be run, and no large one."""

import ast

import pytest

from rlsh.tasks.importers.literals import FUNCTIONS, UnknownValueError, value_of
from rlsh.tasks.values import same


def value(text, **names):
    return value_of(ast.parse(text, mode="eval").body, {**FUNCTIONS, **names})


@pytest.mark.parametrize(
    "text",
    [
        "-3 + 2 * 5",
        "2.0 / 3.0",
        "7 // 2 ** 2 % 3",
        "1 << 4 | 3 & ~1 ^ 8",
        "not 0",
        '[1, (2, "x"), {"k": b"v"}, {3}, None, True, 1j]',
        '"ab" * 3 + "c"',
        "(1, 2)[-1]",
        '{"a": [1, 2]}["a"]',
        "list(range(4)) + sorted({3, 1, 2})",
        'str(10 ** 20) + str(float("inf"))',
        "tuple([1, 2])",
        'sum([1, 2, 3]) + max(1, 2) - len("abc") + abs(-2) + round(2.5)',
        'dict([["a", 1]])',
    ],
)
def test_the_value_is_pythons(text):
    assert same(eval(text), value(text))  # lines of this file


def test_variables_and_shadowed_names():
    assert value("n + str", n=2, str=3) == 5
    with pytest.raises(UnknownValueError, match="str"):
        value("str(1)", str=lambda one: "mine")


@pytest.mark.parametrize(
    "text",
    [
        "f(1)",
        "open('/etc/passwd')",
        "__import__('os')",
        "().__class__",
        "[n for n in [1]]",
        "(lambda: 1)()",
        "'{}'.format(1)",
        "f'{1}'",
        "n",
        "len",
        "[*[1]]",
        "{**{}}",
        "print(1)",
        "sorted([1], key=len)",
        "...",
        "(1, 2)[0:1]",
        "1 < 2",
    ],
)
def test_what_would_have_to_be_run_has_no_value(text):
    with pytest.raises(UnknownValueError):
        value(text)


@pytest.mark.parametrize("text", ["1 / 0", "[][0]", "1 + 'a'", "{[]}", "int('x')", "-'a'", "1 << -1", "[1] * [2]"])
def test_what_is_an_error_has_no_value(text):
    with pytest.raises(UnknownValueError):
        value(text)


@pytest.mark.parametrize(
    "text",
    [
        "9 ** 9 ** 9",
        "2 ** -99999999",
        "1 << 10 ** 12",
        "'a' * 10 ** 12",
        "10 ** 12 * [0]",
        "list(range(10 ** 12))",
        "sum(range(10 ** 12))",
        "range(10 ** 12)",
        "'%1000000000d' % 1",
        "bytes(10 ** 12)",
        "[[[[0] * 200] * 200] * 200] * 200",
        "str([[[0] * 200] * 200] * 200)",
        "1" + " + 1" * 900 + " + 9 ** 9 ** 9",
    ],
)
def test_nothing_large_is_made(text):
    with pytest.raises(UnknownValueError):
        value(text)


def test_what_is_just_small_enough_is_made():
    assert len(value("'a' * 10000")) == 10_000
    assert value("2 ** 1000") == 2**1000
    assert value("len(range(10000))") == 10_000
