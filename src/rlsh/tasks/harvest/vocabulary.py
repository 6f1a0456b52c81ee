"""The constants that a function's own code speaks of, worked into drawn arguments, so that its branches are met.

Fuzzers call such a list a dictionary. Without it no drawn text begins with "---", and no drawn dict has a "title".
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

from rlsh.tasks.harvest.patterns import sample
from rlsh.tasks.harvest.usage import type_of
from rlsh.tasks.inputs import Draw, from_annotations

LONGEST = 24  # of the texts: longer ones are messages
TEXT, NUMBER, FIELD = 0.5, 0.3, 0.95  # how often they are worked in


@dataclass(frozen=True)
class Vocabulary:
    """`fields` are keys that are asked of some dict, each with a maker of values."""

    texts: tuple[str, ...]
    numbers: tuple[int, ...]
    fields: dict[str, Callable[[Draw], Any]]

    def into(self, args: tuple[object, ...], d: Draw) -> tuple[object, ...]:
        """`args`, some of their parts replaced by parts of the same type."""
        return tuple(self._into(value, d) for value in args)

    def _into(self, value: Any, d: Draw) -> Any:
        if type(value) is str and self.texts and d.chance(TEXT):
            word, cut = d.rng.choice(self.texts), d.number(0, len(value))
            return d.rng.choice((word, word + value, value + word, value[:cut] + word + value[cut:]))
        if type(value) is int and self.numbers and d.chance(NUMBER):
            number = d.rng.choice(self.numbers)
            return d.rng.choice((number - 1, number, number + 1, number * value))
        if type(value) in (list, tuple):
            return type(value)(self._into(element, d) for element in value)
        if type(value) is dict and all(isinstance(key, str) for key in value):
            return value | {key: make(d) for key, make in self.fields.items() if d.chance(FIELD)}
        return value


def vocabulary(source: str, name: str) -> Vocabulary:
    """That of the module `source`, the types of fields told from its function `name`."""
    tree = ast.parse(source)
    function = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name][-1]
    texts, numbers, fields = dict[str, None](), dict[int, None](), dict[str, Callable[[Draw], Any]]()
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    patterns = {id(node.args[0]) for node in ast.walk(tree) if _takes_a_pattern(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose:
            if type(node.value) is str:
                text = sample(node.value) if id(node) in patterns else node.value
                texts |= {text: None} if 0 < len(text) <= LONGEST else {}
            elif type(node.value) is int:
                numbers[node.value] = None
        key = _key(node)
        if key is not None and isinstance(node, ast.expr):
            fields[key] = _maker(key, type_of(ast.unparse(node), function) or "str")
    return Vocabulary(tuple(texts), tuple(numbers), fields)


def _takes_a_pattern(node: ast.AST) -> TypeGuard[ast.Call]:
    """`re.sub("a+", ...)`: of the pattern only what it matches is of use."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=[_, *_]):
            return True
    return False


def _key(node: ast.AST) -> str | None:
    """`k` of `d["k"]` and of `d.get("k", ...)`."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Load()):
            return key
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *_]):
            return key
    return None


def _maker(key: str, kind: str) -> Callable[[Draw], Any]:
    """Values of a type, for which the key is as good as a parameter's name."""
    name = key if key.isidentifier() else "value"
    draw = from_annotations(f"def field({name}: {kind}): ...", "field")
    return (lambda d: draw(d)[0]) if draw else (lambda d: d.word())
