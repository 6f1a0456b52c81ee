"""The right parts in the wrong order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from rlsh.tasks.mutation.shapes import JUMPS, changed, is_guard, mentioned, named
from rlsh.tasks.mutation.subject import Edits, Operator, Subject, only

NONCOMMUTATIVE = (cst.Subtract, cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power, cst.LeftShift, cst.RightShift)
SERIES = (cst.BaseString, cst.List, cst.Subscript)
FIXED = (*JUMPS, cst.Import, cst.ImportFrom, cst.Global, cst.Nonlocal)


def swapped_operands(f: Subject) -> Iterator[Edits]:
    """`a - b` to `b - a`."""
    for node in f.find(cst.BinaryOperation):
        left, operator, right = node.left, node.operator, node.right
        joined = isinstance(operator, cst.Add) and (isinstance(left, SERIES) or isinstance(right, SERIES))
        formatted = isinstance(operator, cst.Modulo) and isinstance(left, cst.BaseString)
        chained = isinstance(left, cst.BinaryOperation) and type(left.operator) is type(operator)
        if joined or (isinstance(operator, NONCOMMUTATIVE) and not formatted and not chained):
            yield f.swap(left, right)


def swapped_arguments(f: Subject) -> Iterator[Edits]:
    """`g(a, b)` to `g(b, a)`."""
    for call in f.find(cst.Call):
        for one, other in pairwise(call.args):
            if not (one.keyword or one.star or other.keyword or other.star or named(call.func, "min", "max")):
                yield f.swap(one.value, other.value)


def swapped_pair(f: Subject) -> Iterator[Edits]:
    """`a, b` to `b, a`, be it a value or a target."""
    for node in f.find(cst.Tuple):
        if len(node.elements) > 1 and not _is_choice(f, node):
            yield f.swap(node.elements[0], node.elements[1])


def swapped_indices(f: Subject) -> Iterator[Edits]:
    """`grid[r][c]` to `grid[c][r]`."""
    for node in f.find(cst.Subscript):
        if isinstance(node.value, cst.Subscript):
            yield f.swap(node.value.slice[0], node.slice[0])


def swapped_keys(f: Subject) -> Iterator[Edits]:
    """`{a: b for a, b in pairs}` to `{b: a for a, b in pairs}`."""
    for comprehension in f.find(cst.DictComp):
        yield f.swap(comprehension.key, comprehension.value)


def swapped_statements(f: Subject) -> Iterator[Edits]:
    """`a = 1` and then `b = a` the other way round; also two guards."""
    for statements in f.blocks():
        for one, other in pairwise(statements):
            guards = is_guard(one) and is_guard(other)
            if not guards and (isinstance(only(one), FIXED) or isinstance(only(other), FIXED)):
                continue
            related = changed(f, one) & mentioned(f, other) or changed(f, other) & mentioned(f, one)
            if (guards or related) and f.text(one) != f.text(other):
                yield f.swap_lines(one, other)


def swapped_branches(f: Subject) -> Iterator[Edits]:
    """`if` and `else` with each other's bodies, `a if c else b` to `b if c else a`."""
    for node in f.nodes:
        if isinstance(node, cst.IfExp):
            yield f.swap(node.body, node.orelse)
        elif isinstance(node, cst.If) and isinstance(node.orelse, cst.Else) and _same_shape(node, node.orelse):
            yield f.swap_lines(node.body, node.orelse.body)


def swapped_tests(f: Subject) -> Iterator[Edits]:
    """`if a: … elif b: …` with the branches the other way round."""
    for node in f.find(cst.If):
        if isinstance(node.orelse, cst.If) and _same_shape(node, node.orelse):
            yield f.swap(node.test, node.orelse.test) + f.swap_lines(node.body, node.orelse.body)


def reversed_sort(f: Subject) -> Iterator[Edits]:
    """`sorted(xs)` to `sorted(xs, reverse=True)`, and back; `reversed(xs)` to `xs`."""
    for call in f.find(cst.Call):
        if named(call.func, "sorted") or (isinstance(call.func, cst.Attribute) and call.func.attr.value == "sort"):
            given = [i for i, a in enumerate(call.args) if named(a.keyword, "reverse")]
            if given:
                yield f.drop_item(call.args, given[0])
            elif call.args:
                yield f.insert(f.span(call.args[-1])[1], ", reverse=True")
            else:
                yield f.insert(f.inner(call)[1] - 1, "reverse=True")
        elif named(call.func, "reversed") and call.args:
            yield f.lift(call, call.args[0].value)


def _is_choice(f: Subject, node: cst.Tuple) -> bool:
    """Whether a tuple stands for any of its elements, as in `x in (a, b)`: their order is nothing to it."""
    parent = f.parent(node)
    if isinstance(parent, cst.Arg):
        return f.text(f.parent(parent)).partition("(")[0].endswith(("isinstance", "startswith", "endswith"))
    return isinstance(parent, (cst.ComparisonTarget, cst.ExceptHandler))


def _same_shape(one: cst.If, other: cst.If | cst.Else) -> bool:
    """Whether both bodies stand in lines of their own, or neither."""
    return type(one.body) is type(other.body)


ORDER: tuple[Operator, ...] = (
    swapped_operands,
    swapped_arguments,
    swapped_pair,
    swapped_indices,
    swapped_keys,
    swapped_statements,
    swapped_branches,
    swapped_tests,
    reversed_sort,
)
