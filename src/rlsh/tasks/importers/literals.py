"""The values of expressions in text from elsewhere, worked out here without running any of it.

Constants, containers, arithmetic and a few functions of plain values. Whatever else stands in the text, a call of its
own functions above all, has no value here; it is for a sandbox to run.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from rlsh.tasks.values import to_tagged

MAX_ITEMS = 1 << 14  # of a container, a string or a range
MAX_BITS = 1 << 14  # of an int

FUNCTIONS: dict[str, Any] = {
    function.__name__: function
    for function in (
        *(bool, bytes, dict, float, frozenset, int, list, range, set, str, tuple),
        *(abs, len, max, min, round, sorted, sum),
    )
}
UNARY: dict[type, Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


class UnknownValueError(ValueError):
    """The expression has no value that could be worked out here."""


def value_of(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The plain value of an expression. `names` are its variables, and those of FUNCTIONS that are not shadowed.

    Raises UnknownValueError where there is none, or where it is larger than a test has reason to be.
    """
    try:
        value = _value(node, names)
        return value if type(value) is range and len(value) <= MAX_ITEMS else _plain(value)
    except UnknownValueError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise UnknownValueError(f"{shown(node)} has no value ({type(error).__name__})") from None


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return _plain(value)
        case ast.Name(id=name) if name in names and not callable(names[name]):
            return names[name]
        case ast.List(elts=elements):
            return _plain([_value(element, names) for element in elements])
        case ast.Tuple(elts=elements):
            return _plain(tuple(_value(element, names) for element in elements))
        case ast.Set(elts=elements):
            return _plain({_value(element, names) for element in elements})
        case ast.Dict(keys=keys, values=values):
            pairs = zip([key for key in keys if key is not None], values, strict=True)  # a `**` is a key too few
            return _plain({_value(key, names): _value(value, names) for key, value in pairs})
        case ast.UnaryOp(op=op, operand=operand):
            return _plain(UNARY[type(op)](_value(operand, names)))
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(type(op), _value(left, names), _value(right, names))
        case ast.Subscript(value=container, slice=ast.Constant() | ast.UnaryOp() as index):
            return _value(container, names)[_value(index, names)]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if names.get(name) is FUNCTIONS.get(name, 0):
            return _called(name, [_value(argument, names) for argument in arguments])
    raise UnknownValueError(f"{shown(node)} cannot be worked out without running it")


def _binary(op: type, left: Any, right: Any) -> Any:
    if op is ast.Mod and not _number(left):
        raise UnknownValueError("a format may be of any width")
    if op is ast.Pow and not (_number(left) and _number(right) and _bits(left) * abs(right) <= MAX_BITS):
        raise UnknownValueError("a power too large")
    if op is ast.LShift and not 0 <= right <= MAX_BITS:
        raise UnknownValueError("a shift too large")
    if op is ast.Mult and not (_number(left) and _number(right)):
        many, length = (left, len(right)) if _number(left) else (right, len(left))
        if many * length > MAX_ITEMS:
            raise UnknownValueError("a sequence too long")
    return _plain(BINARY[op](left, right))


def _called(name: str, arguments: list[Any]) -> Any:
    if any(type(argument) is range and len(argument) > MAX_ITEMS for argument in arguments):
        raise UnknownValueError("a range too long")
    if name == "bytes" and arguments and type(arguments[0]) is int:
        raise UnknownValueError("bytes of any length")
    value = FUNCTIONS[name](*arguments)
    return value if type(value) is range else _plain(value)


def _number(value: object) -> bool:
    return isinstance(value, int | float | complex)


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 1


def _plain(value: Any) -> Any:
    """`value`, if it is plain data of a moderate size: what is built of it cannot grow without bound."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise UnknownValueError("an int too large")
    to_tagged(value)
    return value


def shown(node: ast.AST) -> str:
    """The beginning of its text, for a message."""
    try:
        return ast.unparse(node)[:60]
    except RecursionError:
        return "an expression nested too deeply"
