"""Inputs that somebody wrote: calls with literal arguments in tests, doctests and scripts, and their neighbours."""

from __future__ import annotations

import ast
import copy
import doctest
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from rlsh.tasks.harvest.module import Module
from rlsh.tasks.inputs import Draw
from rlsh.tasks.values import to_tagged

KEPT = 0.35  # of the draws: a call as it was written
Key = tuple[str, str]  # the last word of the module's path, the function


@dataclass(frozen=True)
class LiteralCall:
    args: tuple[object, ...]
    kwargs: dict[str, object] = field(default_factory=dict)


def literal_calls(modules: Iterable[tuple[str, Module]]) -> dict[Key, list[LiteralCall]]:
    """Every call with nothing but literals in these (path, module), by what it calls, in the order of the text.

    Whom a name means is told from the imports of the file: `from pkg.sizes import parse` makes `parse` that of a
    module named sizes, whichever folder it lies in.
    """
    found: dict[Key, list[LiteralCall]] = {}
    for path, module in modules:
        meanings = _meanings(path, module)
        for tree in (ast.Module(module.body, []), *_doctests(module)):
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and (key := _called(node.func, meanings)) and (call := _literal(node)):
                    found.setdefault(key, []).append(call)
    return found


def stem(path: str) -> str:
    """The module that a file is imported as."""
    file = PurePosixPath(path)
    return file.parent.name if file.stem == "__init__" else file.stem


def _meanings(path: str, module: Module) -> dict[str, Key]:
    """Names of functions, and of modules (then the second part is empty), with what they mean in this file."""
    here = stem(path)
    meanings: dict[str, Key] = {name: (here, name) for name in module.definitions}
    for node in ast.walk(ast.Module(module.body, [])):
        if isinstance(node, ast.ImportFrom):
            of = (node.module or "").rpartition(".")[2]
            for alias in node.names:
                meanings[alias.asname or alias.name] = (of, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                meanings[alias.asname or alias.name] = (alias.name.rpartition(".")[2], "")
    return meanings


def _called(function: ast.expr, meanings: dict[str, Key]) -> Key | None:
    if isinstance(function, ast.Name):
        return meanings.get(function.id)
    if isinstance(function, ast.Attribute):
        owner = _dotted(function.value)
        if owner in meanings:  # a module, or one that was imported from its package
            module, part = meanings[owner]
            return part or module, function.attr
    return None


def _dotted(node: ast.expr) -> str:
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _literal(call: ast.Call) -> LiteralCall | None:
    try:
        args = tuple(ast.literal_eval(argument) for argument in call.args)
        kwargs = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords if k.arg is not None}
        to_tagged((args, kwargs))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return LiteralCall(args, kwargs) if len(kwargs) == len(call.keywords) else None


def _doctests(module: Module) -> Iterator[ast.Module]:
    for node in ast.walk(ast.Module(module.body, [])):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ">>>" in node.value:
            try:
                yield from (ast.parse(example.source) for example in doctest.DocTestParser().get_examples(node.value))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # prose with an arrow in it


def bound(function: ast.FunctionDef, calls: Iterable[LiteralCall]) -> list[tuple[object, ...]]:
    """The calls as positional arguments, each once; those that the signature does not take are left out."""
    found = {repr(args): args for call in calls if (args := _bind(function.args, call)) is not None}
    return list(found.values())


def _bind(parameters: ast.arguments, call: LiteralCall) -> tuple[object, ...] | None:
    names = [parameter.arg for parameter in parameters.posonlyargs + parameters.args]
    needed = len(names) - len(parameters.defaults)
    values, given = list(call.args), dict(call.kwargs)
    if (len(values) > len(names) and not parameters.vararg) or not values + list(given):
        return None
    while given:
        if len(values) >= len(names):
            return None  # a keyword of its own, or given twice
        name = names[len(values)]
        if name in given:
            values.append(given.pop(name))
            continue
        try:
            values.append(ast.literal_eval(parameters.defaults[len(values) - needed]) if len(values) >= needed else ...)
        except (ValueError, TypeError):
            return None
    return tuple(values) if len(values) >= needed and ... not in values else None


def from_calls(calls: Sequence[tuple[object, ...]], d: Draw) -> tuple[object, ...]:
    """One of these calls, or a neighbour of it: one argument or two changed a little, all of their types kept."""
    args = list(d.pick(calls))
    if not d.chance(KEPT):
        for _ in range(d.number(1, 2)):
            at = d.rng.randrange(len(args))
            args[at] = neighbour(args[at], d)
    return tuple(args)


def neighbour(value: Any, d: Draw) -> Any:
    """A value of the same type that is near: shorter, longer, reordered, one more or less, or empty."""
    match value:
        case bool():
            return not value
        case int():
            return d.pick([value + 1, value - 1, value * 2, -value, 0, value + d.number(2, 12)])
        case float():
            return d.pick([value + 0.5, value - 1.0, value * 2, -value, 0.0, round(value) * 1.0])
        case str() | bytes():
            return _near_text(value, d)
        case list() | tuple():
            return type(value)(_near_items(list(value), d))
        case dict():
            keys = _near_items(list(value), d, change=False)
            return {key: neighbour(value[key], d) if d.chance(0.4) else value[key] for key in keys}
        case set() | frozenset():
            return type(value)(_near_items(sorted(value, key=repr), d))
    return value


def _near_text(value: Any, d: Draw) -> Any:
    if not value:
        return d.word() if isinstance(value, str) else d.word().encode()
    empty = value[:0]
    cut = d.number(0, len(value))
    other = d.rng.choice((value.upper(), value.lower(), value.title(), value.strip(), value[::-1]))
    dropped = value[:cut] + value[cut + 1 :]
    doubled = value[:cut] + value[cut : cut + 1] + value[cut:]
    return d.rng.choice((empty, value[:cut], value[cut:], value * 2, dropped, dropped, doubled, doubled, other, other))


def _near_items(items: list[Any], d: Draw, change: bool = True) -> list[Any]:
    if not items:
        return items
    at = d.rng.randrange(len(items))
    options = [items[:at] + items[at + 1 :], items[:at], d.rng.sample(items, len(items))]
    if change:
        options += [[*items, copy.deepcopy(items[at])], [*items[:at], neighbour(items[at], d), *items[at + 1 :]], []]
    return d.rng.choice(options)
