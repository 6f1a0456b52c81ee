"""Inputs told from a signature: annotations first, then default values, then the names of parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from rlsh.tasks.inputs.draw import Draw

Maker = Callable[[Draw], Any]

_LISTS = set("list List Sequence MutableSequence Iterable Collection Iterator".split())
_SETS = set("set Set MutableSet AbstractSet".split())
_DICTS = set("dict Dict Mapping MutableMapping".split())
_HASHABLE = set("str int float bool bytes tuple Tuple Optional Union Literal".split())


def _named(names: str, maker: Maker) -> dict[str, Maker]:
    return dict.fromkeys(names.split(), maker)


# What the last word of a parameter's name says about a value whose type is known.
_INTS = {
    **_named("n k count size width limit step depth times length num index i j", lambda d: d.number(0, 9)),
    **_named("year", lambda d: d.number(1995, 2030)),
    **_named("month", lambda d: d.number(1, 12)),
    **_named("day", lambda d: d.number(1, 31)),
    **_named("hour", lambda d: d.number(0, 23)),
    **_named("minute second", lambda d: d.number(0, 59)),
    **_named("a b x y value number amount total", lambda d: d.number(-20, 100)),
}
_FLOATS = {
    **_named("rate ratio weight probability", lambda d: d.real(0, 1, 2)),
    **_named("price cost score temperature", lambda d: d.real(0, 100, 2)),
}
_STRINGS = {
    **_named("word key label tag token", lambda d: d.word()),
    **_named("name author person", lambda d: d.name()),
    **_named("s text string sentence title phrase message", lambda d: d.sentence()),
    **_named("line", lambda d: d.line()),
    **_named("content", lambda d: d.text()),
    **_named("path file folder directory", lambda d: d.path()),
    **_named("filename", lambda d: d.file()),
    **_named("date", lambda d: d.day()),
    **_named("time", lambda d: d.clock()),
    **_named("sep separator delimiter", lambda d: d.pick(",;: ")),
    **_named("char character letter", lambda d: d.pick("abcxyz ")),
    **_named("prefix suffix pattern", lambda d: d.word()[:2]),
}
# Names that say a type by themselves, besides those above and their plurals.
_CONTAINERS = {
    **_named("items values nums xs arr array lst seq", lambda d: d.ints(-20, 100)),
    **_named("matrix grid board", lambda d: d.matrix(lambda: d.number(-9, 9), d.number(1, 4), d.number(1, 4))),
    **_named("config mapping dictionary", lambda d: d.mapping(d.key, lambda: d.number(0, 20))),
}
_SCALARS: dict[str, tuple[dict[str, Maker], Maker]] = {
    "int": (_INTS, lambda d: d.number(-20, 100)),
    "float": (_FLOATS, lambda d: d.real(-20, 100)),
    "str": (_STRINGS, lambda d: d.sentence() if d.chance(0.5) else d.word()),
    "bool": ({}, lambda d: d.chance(0.5)),
    "bytes": ({}, lambda d: d.sentence().encode()),
    "None": ({}, lambda d: None),
}


def from_annotations(function_source: str, name: str) -> Callable[[Draw], tuple[object, ...]] | None:
    """A maker of positional arguments for the top-level function `name`, or None where one cannot be told.

    What is annotated is drawn by its type, the parameter's name choosing among values of that type (`path: str`).
    Without an annotation the default says the type, else the name alone. Parameters with a default are now and then
    left out; from the first one whose type is unknown, always. Nothing of the source is run.
    """
    try:
        body = ast.parse(function_source).body
    except (SyntaxError, ValueError):
        return None
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not found or None in found[-1].args.kw_defaults:  # None: a keyword that has to be given
        return None
    arguments = found[-1].args
    parameters = arguments.posonlyargs + arguments.args
    needed = len(parameters) - len(arguments.defaults)
    defaults = [*[None] * needed, *arguments.defaults]
    makers: list[Maker] = []
    for parameter, default in zip(parameters, defaults, strict=True):
        maker = _of_parameter(parameter, default)
        if maker is None:
            break
        makers.append(maker)
    if len(makers) < needed:
        return None
    more = _of_parameter(arguments.vararg, None) if arguments.vararg and len(makers) == len(parameters) else None

    def draw(d: Draw) -> tuple[object, ...]:
        given = makers[: d.number(needed, len(makers))]
        values = [maker(d) for maker in given]
        if more and len(given) == len(parameters):
            values += d.many(lambda: more(d), 3)
        return tuple(values)

    return draw


def _of_parameter(parameter: ast.arg, default: ast.expr | None) -> Maker | None:
    if parameter.annotation is not None:
        return _of_type(parameter.annotation, parameter.arg)
    try:
        value = None if default is None else ast.literal_eval(default)
    except (ValueError, TypeError):
        return None
    if value is None:
        return from_name(parameter.arg)
    if isinstance(value, str | bool | int | float):
        return _either([_of_type(ast.Name(type(value).__name__), parameter.arg), lambda d: value])
    return None if value is ... else lambda d: d.pick([value])


def from_name(name: str) -> Maker | None:
    """A maker of values for a parameter by its name alone, or None where the name says nothing."""
    known = _CONTAINERS | _INTS | _FLOATS | _STRINGS
    return known.get(_last_word(name)) or _list_of(_of_element(name))


def _of_element(name: str) -> Maker | None:
    """What the name of a list says about its elements, if it is a plural."""
    return (_INTS | _FLOATS | _STRINGS).get(_last_word(name).removesuffix("s")) if name.endswith("s") else None


def _last_word(name: str) -> str:
    return name.lower().rsplit("_", 1)[-1]


def _of_type(node: ast.expr, name: str) -> Maker | None:
    """The maker for the annotation `node` of the parameter `name`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _of_type(ast.parse(node.value, mode="eval").body, name)
        except (SyntaxError, ValueError):
            return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _either([_of_type(node.left, name), _of_type(node.right, name)])
    head, inner = _head(node), _arguments(node)
    single = name.removesuffix("s")
    if head in _SCALARS:
        by_name, usual = _SCALARS[head]
        return by_name.get(_last_word(name), usual)
    if head == "Optional":
        return _either([*(_of_type(part, name) for part in inner), lambda d: None])
    if head == "Union":
        return _either([_of_type(part, name) for part in inner])
    if head == "Literal":
        options = [part.value for part in inner if isinstance(part, ast.Constant)]
        return (lambda d: d.pick(options)) if options else None
    if head in _LISTS:
        return _list_of(_of_type(inner[0], single)) if inner else _list_of(_of_element(name) or _SCALARS["int"][1])
    if head in _SETS:
        return _set_of(inner[0] if inner else ast.Name("str"), single)
    if head in _DICTS:
        key, value = inner if len(inner) == 2 else (ast.Name("str"), ast.Name("int"))
        return _dict_of(key, value, single)
    if head in ("tuple", "Tuple"):
        return _tuple_of(inner or [ast.Name("int"), ast.Constant(...)], single)
    return None


def _head(node: ast.expr) -> str:
    """The last word of a type's name: `Sequence` of `typing.Sequence[int]`."""
    if isinstance(node, ast.Subscript):
        return _head(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    return node.id if isinstance(node, ast.Name) else ""


def _arguments(node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, ast.Subscript):
        return []
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _either(makers: list[Maker | None]) -> Maker | None:
    known = [maker for maker in makers if maker]
    return (lambda d: d.rng.choice(known)(d)) if known and len(known) == len(makers) else None


def _list_of(element: Maker | None) -> Maker | None:
    return (lambda d: d.many(lambda: element(d))) if element else None


def _hashable(node: ast.expr, name: str) -> Maker | None:
    parts = [_head(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)]
    return _of_type(node, name) if set(parts) <= _HASHABLE else None


def _set_of(node: ast.expr, name: str) -> Maker | None:
    element = _hashable(node, name)
    return (lambda d: set(d.many(lambda: element(d)))) if element else None


def _dict_of(key: ast.expr, value: ast.expr, name: str) -> Maker | None:
    keys, values = _hashable(key, "key"), _of_type(value, name)
    if not keys or not values:
        return None
    return lambda d: {keys(d): values(d) for _ in range(d.number(0, 5))}


def _tuple_of(parts: list[ast.expr], name: str) -> Maker | None:
    if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is ...:
        element = _of_type(parts[0], name)
        return (lambda d: tuple(d.many(lambda: element(d)))) if element else None
    makers = [_of_type(part, name) for part in parts]
    known = [maker for maker in makers if maker]
    return (lambda d: tuple(maker(d) for maker in known)) if len(known) == len(makers) else None
