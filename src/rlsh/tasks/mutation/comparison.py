"""Comparisons and conditions that say the wrong thing."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from rlsh.tasks.mutation.shapes import named, ungrouped
from rlsh.tasks.mutation.subject import Edits, Operator, Subject


def strictness(f: Subject) -> Iterator[Edits]:
    """`a < b` to `a <= b`."""
    yield from f.tokens({cst.LessThan: "<=", cst.LessThanEqual: "<", cst.GreaterThan: ">=", cst.GreaterThanEqual: ">"})


def reversed_comparison(f: Subject) -> Iterator[Edits]:
    """`a < b` to `a > b`."""
    yield from f.tokens({cst.LessThan: ">", cst.LessThanEqual: ">=", cst.GreaterThan: "<", cst.GreaterThanEqual: "<="})


def negated_comparison(f: Subject) -> Iterator[Edits]:
    """`a == b` to `a != b`, `x in xs` to `x not in xs`."""
    yield from f.tokens(
        {
            cst.Equal: "!=",
            cst.NotEqual: "==",
            cst.In: "not in",
            cst.NotIn: "in",
            cst.Is: "is not",
            cst.IsNot: "is",
        }
    )


def identity(f: Subject) -> Iterator[Edits]:
    """`a == b` to `a is b`."""
    for target in f.find(cst.ComparisonTarget):
        if isinstance(target.operator, (cst.Equal, cst.NotEqual)):
            word = "is" if isinstance(target.operator, cst.Equal) else "is not"
            spaced = not target.operator.whitespace_before.empty
            yield f.put(target.operator, word if spaced else f" {word} ")


def half_chain(f: Subject) -> Iterator[Edits]:
    """`a < b < c` to `a < b`, or to `b < c`."""
    for node in f.find(cst.Comparison):
        if len(node.comparisons) == 2:
            middle, last = (target.comparator for target in node.comparisons)
            yield f.cut(f.span(middle)[1], f.span(last)[1])
            yield f.cut(f.span(node.left)[0], f.span(middle)[0])


def swapped_connective(f: Subject) -> Iterator[Edits]:
    """`a and b` to `a or b`."""
    yield from f.tokens({cst.And: "or", cst.Or: "and"})


def dropped_not(f: Subject) -> Iterator[Edits]:
    """`not a` to `a`."""
    for node in f.find(cst.UnaryOperation):
        if isinstance(node.operator, cst.Not):
            yield f.lift(node, node.expression)


def negated_condition(f: Subject) -> Iterator[Edits]:
    """`if a:` to `if not a:`, where `a` compares nothing."""
    for node in f.nodes:
        if isinstance(node, (cst.If, cst.While, cst.IfExp, cst.CompIf)):
            test = node.test
            if isinstance(test, (cst.Name, cst.Call, cst.Attribute, cst.Subscript)):
                yield f.put(test, f"not {f.text(test)}")


def dropped_condition(f: Subject) -> Iterator[Edits]:
    """`a and b` to `a`, or to `b`."""
    for node in f.find(cst.BooleanOperation):
        yield f.lift(node, node.left)
        yield f.lift(node, node.right)


def dropped_grouping(f: Subject) -> Iterator[Edits]:
    """`not (a or b)` to `not a or b`."""
    yield from ungrouped(f, cst.BooleanOperation)


def any_for_all(f: Subject) -> Iterator[Edits]:
    """`all(xs)` to `any(xs)`."""
    for call in f.calls("any", "all"):
        yield f.put(call.func, "any" if named(call.func, "all") else "all")


def flipped_flag(f: Subject) -> Iterator[Edits]:
    """`True` to `False`."""
    for name in f.loads():
        if named(name, "True", "False"):
            yield f.put(name, "False" if name.value == "True" else "True")


def or_of_values(f: Subject) -> Iterator[Edits]:
    """`x == 1 or x == 2` to `x == 1 or 2`, and `x in (1, 2)` to `x == 1 or 2`."""
    for node in f.nodes:
        if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
            right = node.right
            if isinstance(right, cst.Comparison) and isinstance(right.comparisons[0].operator, cst.Equal):
                yield f.put(right, f.text(right.comparisons[0].comparator))
        elif isinstance(node, cst.Comparison) and isinstance(node.comparisons[0].operator, cst.In):
            values = node.comparisons[0].comparator
            if isinstance(values, (cst.Tuple, cst.List, cst.Set)) and len(values.elements) > 1:
                yield f.put(node, f"{f.text(node.left)} == {' or '.join(f.text(e) for e in values.elements)}")


COMPARISON: tuple[Operator, ...] = (strictness, reversed_comparison, negated_comparison, identity, half_chain)
BOOLEAN: tuple[Operator, ...] = (
    swapped_connective,
    dropped_not,
    negated_condition,
    dropped_condition,
    dropped_grouping,
    any_for_all,
    flipped_flag,
    or_of_values,
)
