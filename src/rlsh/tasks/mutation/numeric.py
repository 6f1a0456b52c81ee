"""Sums that come out wrong, and bounds that are one off."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from rlsh.tasks.mutation.shapes import PRODUCTS, SUMS, in_subscript, integer, is_step, shifted, ungrouped
from rlsh.tasks.mutation.subject import Edits, Operator, Subject

SERIES = (cst.BaseString, cst.List, cst.Tuple, cst.ListComp)


def swapped_operator(f: Subject) -> Iterator[Edits]:
    """`a + b` to `a - b`, `a % b` to `a // b`."""
    table: dict[type[cst.CSTNode], str] = {
        cst.Add: "-",
        cst.Subtract: "+",
        cst.Multiply: "+",
        cst.Power: "*",
        cst.Modulo: "//",
        cst.BitAnd: "|",
        cst.BitOr: "&",
        cst.BitXor: "|",
        cst.LeftShift: ">>",
        cst.RightShift: "<<",
    }
    for node in f.find(cst.BinaryOperation):
        if type(node.operator) in table and not isinstance(node.left, SERIES) and not isinstance(node.right, SERIES):
            yield f.put(node.operator, table[type(node.operator)])


def swapped_division(f: Subject) -> Iterator[Edits]:
    """`a // b` to `a / b`, and the reverse."""
    yield from f.tokens({cst.FloorDivide: "/", cst.Divide: "//", cst.FloorDivideAssign: "/=", cst.DivideAssign: "//="})


def swapped_augmented(f: Subject) -> Iterator[Edits]:
    """`a += b` to `a -= b`."""
    yield from f.tokens(
        {
            cst.AddAssign: "-=",
            cst.SubtractAssign: "+=",
            cst.MultiplyAssign: "+=",
            cst.BitOrAssign: "&=",
            cst.BitAndAssign: "|=",
            cst.BitXorAssign: "|=",
            cst.LeftShiftAssign: ">>=",
            cst.RightShiftAssign: "<<=",
        }
    )


def plain_assignment(f: Subject) -> Iterator[Edits]:
    """`a += b` to `a = b`."""
    for node in f.find(cst.AugAssign):
        yield f.put(node.operator, "=")


def dropped_sign(f: Subject) -> Iterator[Edits]:
    """`-a` to `a`."""
    for node in f.find(cst.UnaryOperation):
        if isinstance(node.operator, cst.Minus) and not in_subscript(f, node):
            yield f.lift(node, node.expression)


def dropped_term(f: Subject) -> Iterator[Edits]:
    """`a * b` to `a`."""
    for node in f.find(cst.BinaryOperation):
        if isinstance(node.operator, SUMS + PRODUCTS) and not isinstance(node.left, SERIES) and not is_step(node):
            yield f.lift(node, node.left)


def dropped_parentheses(f: Subject) -> Iterator[Edits]:
    """`(a + b) * c` to `a + b * c`."""
    yield from ungrouped(f, cst.BinaryOperation)


def min_for_max(f: Subject) -> Iterator[Edits]:
    """`max(a, b)` to `min(a, b)`."""
    for call in f.calls("min", "max"):
        yield f.put(call.func, "min" if f.text(call.func) == "max" else "max")


def rounding(f: Subject) -> Iterator[Edits]:
    """`math.ceil(a)` to `math.floor(a)`, `round(a)` to `int(a)`, `abs(a)` to `a`."""
    for _, attribute in f.methods("ceil", "floor"):
        yield f.put(attribute.attr, "floor" if attribute.attr.value == "ceil" else "ceil")
    for call in f.calls("round", "abs"):
        if len(call.args) == 1:
            yield f.put(call.func, "int") if f.text(call.func) == "round" else f.lift(call, call.args[0].value)


# --- boundary -------------------------------------------------------------------------------------------------


def range_stop(f: Subject) -> Iterator[Edits]:
    """`range(n)` to `range(n - 1)`, or to `range(n + 1)`."""
    for call in f.calls("range", at_least=1):
        if not any(argument.star for argument in call.args):
            stop = call.args[min(1, len(call.args) - 1)].value
            yield f.put(stop, shifted(f, stop, -1))
            yield f.put(stop, shifted(f, stop, 1))


def range_start(f: Subject) -> Iterator[Edits]:
    """`range(1, n)` to `range(n)`, and the reverse."""
    for call in f.calls("range"):
        if len(call.args) == 1:
            yield f.insert(f.span(call.args[0])[0], "1, ")
        elif len(call.args) == 2 and integer(call.args[0].value) == 1:
            yield f.drop_item(call.args, 0)
        elif call.args:
            yield f.put(call.args[0].value, shifted(f, call.args[0].value, 1))


def off_by_one(f: Subject) -> Iterator[Edits]:
    """`n + 1` to `n`."""
    for node in f.find(cst.BinaryOperation):
        if is_step(node) and not in_subscript(f, node):
            yield f.lift(node, node.left)


def constant(f: Subject) -> Iterator[Edits]:
    """`3` to `4`, or to `2`."""
    for node in f.find(cst.Integer):
        value = integer(node)
        if value is not None and not in_subscript(f, node) and not isinstance(f.parent(node), cst.UnaryOperation):
            yield f.put(node, str(value + 1))
            if value:
                yield f.put(node, str(value - 1))


def enumerate_start(f: Subject) -> Iterator[Edits]:
    """`enumerate(xs, 1)` to `enumerate(xs)`, and the reverse."""
    for call in f.calls("enumerate", at_least=1):
        yield f.drop_item(call.args, 1) if len(call.args) > 1 else f.insert(f.span(call.args[0])[1], ", 1")


ARITHMETIC: tuple[Operator, ...] = (
    swapped_operator,
    swapped_division,
    swapped_augmented,
    plain_assignment,
    dropped_sign,
    dropped_term,
    dropped_parentheses,
    min_for_max,
    rounding,
)
BOUNDARY: tuple[Operator, ...] = (range_stop, range_start, off_by_one, constant, enumerate_start)
