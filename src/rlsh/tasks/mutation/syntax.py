"""Slips of the hand after which the text is no Python."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from rlsh.tasks.mutation.shapes import integer
from rlsh.tasks.mutation.subject import Edit, Edits, Operator, Subject

KEYWORDS: dict[type[cst.CSTNode], tuple[str, str]] = {
    cst.Return: ("return", "retrun"),
    cst.While: ("while", "whlie"),
    cst.Lambda: ("lambda", "lamda"),
    cst.Raise: ("raise", "rasie"),
    cst.ExceptHandler: ("except", "expect"),
    cst.Else: ("else", "esle"),
    cst.For: ("for", "fro"),
    cst.FunctionDef: ("def", "dfe"),
}


def missing_colon(f: Subject) -> Iterator[Edits]:
    """`if a:` to `if a`."""
    for block in f.find(cst.IndentedBlock):
        end = f.span(block.header)[0]
        yield f.cut(end - 1, end)


def missing_parenthesis(f: Subject) -> Iterator[Edits]:
    """`g(a)` to `g(a`."""
    for call in f.find(cst.Call):
        end = f.inner(call)[1]
        yield f.cut(end - 1, end)


def missing_quote(f: Subject) -> Iterator[Edits]:
    """`"a"` to `"a`."""
    for node in f.find(cst.SimpleString):
        end = f.inner(node)[1]
        yield f.cut(end - 1, end)


def missing_comma(f: Subject) -> Iterator[Edits]:
    """`[a, b]` to `[a b]`."""
    for comma in f.find(cst.Comma):
        yield f.put(comma, "")


def assignment_for_equality(f: Subject) -> Iterator[Edits]:
    """`if a == b:` to `if a = b:`."""
    yield from f.tokens({cst.Equal: "="})


def extra_space(f: Subject) -> Iterator[Edits]:
    """A statement that begins one space to the right of those beside it."""
    for statements in f.blocks():
        for statement in statements[1:]:
            yield f.insert(f.span(statement)[0], " ")


def lost_indentation(f: Subject) -> Iterator[Edits]:
    """A block that begins where its header does."""
    for block in f.find(cst.IndentedBlock):
        for first in f.statements(block)[:1]:
            yield f.reindent(first, f.margin(f.parent(block)))


def else_if(f: Subject) -> Iterator[Edits]:
    """`elif a:` to `else if a:`."""
    for node in f.find(cst.If):
        if f.field(node) == "orelse":
            start = f.span(node)[0]
            yield (Edit(start, start + len("elif"), "else if"),)


def misspelt_keyword(f: Subject) -> Iterator[Edits]:
    """`return a` to `retrun a`."""
    for node in f.nodes:
        if type(node) in KEYWORDS:
            right, wrong = KEYWORDS[type(node)]
            start = f.inner(node)[0]
            if f.source.startswith(right, start):  # there may be `async` or a decorator before it
                yield (Edit(start, start + len(right), wrong),)


def foreign_operator(f: Subject) -> Iterator[Edits]:
    """`a and b` to `a && b`, `not a` to `!a`, `a += 1` to `a++`."""
    yield from f.tokens({cst.And: "&&", cst.Or: "||", cst.Not: "!"})
    for node in f.find(cst.AugAssign):
        if integer(node.value) == 1 and isinstance(node.operator, (cst.AddAssign, cst.SubtractAssign)):
            yield f.put(node, f.text(node.target) + ("++" if isinstance(node.operator, cst.AddAssign) else "--"))


SYNTAX: tuple[Operator, ...] = (
    missing_colon,
    missing_parenthesis,
    missing_quote,
    missing_comma,
    assignment_for_equality,
    extra_space,
    lost_indentation,
    else_if,
    misspelt_keyword,
    foreign_operator,
)
