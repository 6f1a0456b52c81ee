"""What a function of the catalogue is turned into: its own runnable text, and a maker of arguments for it."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar

from rlsh.tasks.inputs import Draw

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True)
class Reference:
    """A function known to be right.

    `source` is a whole module: the standard library's imports, then the helpers and the function `name`. `draw`
    makes its positional arguments, now and then some for which the docstring promises an exception. `wanted` is
    that docstring on one line.
    """

    name: str
    topic: str
    source: str
    draw: Callable[[Draw], tuple[object, ...]]
    wanted: str


def reference(draw: Callable[[Draw], tuple[object, ...]]) -> Callable[[F], F]:
    """Marks a top-level function of a topic's module as a reference; the function itself stays as it is."""

    def mark(function: F) -> F:
        function.__dict__["draw"] = draw
        return function

    return mark


def references_of(topic: ModuleType) -> list[Reference]:
    """All functions of a module that `reference` marked, in the order of the file."""
    text = inspect.getsource(topic)
    body = ast.parse(text).body
    found = []
    for function in vars(topic).values():
        if inspect.isfunction(function) and "draw" in function.__dict__:
            wanted = " ".join((function.__doc__ or "").split())
            source = _alone(text, body, function.__name__)
            name = topic.__name__.rpartition(".")[2]
            found.append(Reference(function.__name__, name, source, function.__dict__["draw"], wanted))
    return found


def _alone(text: str, body: list[ast.stmt], name: str) -> str:
    """The part of a module that the function `name` needs: imports, then definitions, without decorators."""
    needed, waiting = set[str](), [name]
    while waiting:
        found = waiting.pop()
        if found not in needed:
            needed.add(found)
            waiting += [used for node in body if found in _bound(node) for used in _used(node)]
    lines = text.splitlines()
    imports, definitions = [], []
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            kept = copy.copy(node)
            kept.names = [alias for alias in node.names if (alias.asname or alias.name) in needed]
            imports += [ast.unparse(kept)] if kept.names else []
        elif needed.intersection(_bound(node)):
            definitions.append("\n".join(lines[node.lineno - 1 : node.end_lineno]))
    return "\n\n\n".join((["\n".join(imports)] if imports else []) + definitions) + "\n"


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _used(node: ast.stmt) -> set[str]:
    """The names that a definition takes from its module: read somewhere in it and, if it is a function, not its own."""
    if not isinstance(node, ast.FunctionDef):
        return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    inside = [inner for part in (node.args, *node.body, node.returns) if part for inner in ast.walk(part)]
    names = [inner for inner in inside if isinstance(inner, ast.Name)]
    own = {inner.id for inner in names if isinstance(inner.ctx, ast.Store)}
    own |= {inner.arg for inner in inside if isinstance(inner, ast.arg)}
    own |= {inner.name for inner in inside if isinstance(inner, ast.FunctionDef)}
    return {inner.id for inner in names} - own
