"""Names that are other names, or no names at all; what a function sees of the scopes around it; imports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from rlsh.tasks.mutation.shapes import misspelt, named
from rlsh.tasks.mutation.subject import Edits, Operator, Subject, only

KINDRED = {
    "index": "find",
    "find": "rfind",
    "rfind": "find",
    "partition": "rpartition",
    "rpartition": "partition",
    "startswith": "endswith",
    "endswith": "startswith",
    "upper": "lower",
    "lower": "upper",
    "title": "capitalize",
    "capitalize": "title",
    "ljust": "rjust",
    "rjust": "ljust",
    "isdigit": "isalpha",
    "isalpha": "isdigit",
    "isupper": "islower",
    "islower": "isupper",
    "popleft": "pop",
    "appendleft": "append",
    "discard": "remove",
    "union": "intersection",
    "intersection": "union",
    "match": "search",
    "search": "match",
    "fullmatch": "match",
    "bisect_left": "bisect_right",
    "bisect_right": "bisect_left",
    "permutations": "combinations",
    "combinations": "permutations",
}
FOREIGN = {
    "append": "push",
    "strip": "trim",
    "upper": "toUpperCase",
    "lower": "toLowerCase",
    "startswith": "startsWith",
    "endswith": "endsWith",
    "add": "append",
    "items": "entries",
    "find": "indexOf",
    "replace": "replaceAll",
    "extend": "concat",
    "get": "getOrDefault",
}
Import = cst.Import | cst.ImportFrom
Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
CONSTANTS = {"True": "true", "False": "false", "None": "null"}


def swapped_name(f: Subject) -> Iterator[Edits]:
    """`a` to `b`, the variable that was bound next to it."""
    order = [name for name in f.bindings if name != "_"]
    line = {name: f.line(offset) for name, offset in f.bindings.items()}
    for name in f.loads():
        if name.value in order:
            i = order.index(name.value)
            beside = [n for n in (*order[i + 1 : i + 2], *order[:i][-1:]) if f.bindings[n] < f.span(name)[0]]
            # rather one of the same line: another parameter, the other half of a pair
            yield from (f.put(name, n) for n in sorted(beside, key=lambda n: line[n] != line[name.value])[:1])


def misspelt_name(f: Subject) -> Iterator[Edits]:
    """`count` to `conut`, where it is read last."""
    last = {name.value: name for name in f.loads() if name.value in f.bindings}
    for word, name in last.items():
        if len(word) > 2:
            yield f.put(name, misspelt(word))


def misspelt_attribute(f: Subject) -> Iterator[Edits]:
    """`xs.append(x)` to `xs.appned(x)`."""
    for node in f.find(cst.Attribute):
        if len(node.attr.value) > 2:
            yield f.put(node.attr, misspelt(node.attr.value))


def kindred_method(f: Subject) -> Iterator[Edits]:
    """`s.find(t)` to `s.rfind(t)`, `s.startswith(t)` to `s.endswith(t)`."""
    for _, attribute in f.methods(*KINDRED):
        yield f.put(attribute.attr, KINDRED[attribute.attr.value])


def foreign_method(f: Subject) -> Iterator[Edits]:
    """`xs.append(x)` to `xs.push(x)`, and `len(xs)` to `xs.length`."""
    for _, attribute in f.methods(*FOREIGN):
        yield f.put(attribute.attr, FOREIGN[attribute.attr.value])
    for call in f.calls("len", at_least=1):
        yield f.put(call, f"{f.atom(call.args[0].value)}.length")


def foreign_constant(f: Subject) -> Iterator[Edits]:
    """`None` to `null`, `True` to `true`."""
    for name in f.loads():
        if name.value in CONSTANTS:
            yield f.put(name, CONSTANTS[name.value])


# --- closure --------------------------------------------------------------------------------------------------


def late_binding(f: Subject) -> Iterator[Edits]:
    """`lambda x, i=i: x + i` to `lambda x: x + i`."""
    for parameters in f.find(cst.Parameters):
        for i, parameter in enumerate(parameters.params if parameters is not f.function.params else ()):
            if named(parameter.default, parameter.name.value):
                start, end = f.span(parameter)
                spaced = len(parameters.params) == 1 and isinstance(f.parent(parameters), cst.Lambda)
                yield f.cut(start - 1, end) if spaced else f.drop_item(parameters.params, i)


def dropped_nonlocal(f: Subject) -> Iterator[Edits]:
    """`nonlocal count` is lost."""
    for statements in f.blocks():
        for statement in statements:
            if isinstance(only(statement), (cst.Nonlocal, cst.Global)):
                yield f.drop(statement)


def called_callback(f: Subject) -> Iterator[Edits]:
    """`key=len` to `key=len()`, `map(int, xs)` to `map(int(), xs)`."""
    for call in f.find(cst.Call):
        for i, argument in enumerate(call.args):
            handed = named(argument.keyword, "key") or (i == 0 and named(call.func, "map", "filter", "defaultdict"))
            if handed and isinstance(argument.value, cst.Name):
                yield f.put(argument.value, f"{argument.value.value}()")


def reused_variable(f: Subject) -> Iterator[Edits]:
    """An inner loop that counts in the variable of the loop around it: `for j in …` to `for i in …`."""
    for inner in f.find(cst.For):
        outer = next((a for a in f.above(inner) if isinstance(a, cst.For)), None)
        if outer and isinstance(inner.target, cst.Name) and isinstance(outer.target, cst.Name):
            same = [n for n in f.inside(inner) if named(n, inner.target.value)]
            variables = [n for n in same if f.field(n) not in ("attr", "keyword")]
            yield tuple(edit for n in variables for edit in f.put(n, outer.target.value))


# --- imports --------------------------------------------------------------------------------------------------


def missing_import(f: Subject) -> Iterator[Edits]:
    """`import re` is lost, or one name of `from m import a, b`."""
    for statement, _, names, i in _used_imports(f):
        yield f.drop_item(names, i) if len(names) > 1 else f.drop(statement)


def import_of_module(f: Subject) -> Iterator[Edits]:
    """`from math import sqrt` to `import math`."""
    for _, node, _, _ in _used_imports(f):
        if isinstance(node, cst.ImportFrom) and node.module:
            yield f.put(node, f"import {f.text(node.module)}")


def misspelt_import(f: Subject) -> Iterator[Edits]:
    """`import math` to `import maht`."""
    for _, node, names, i in _used_imports(f):
        module = node.module if isinstance(node, cst.ImportFrom) else names[i].name
        if isinstance(module, cst.Name):
            yield f.put(module, misspelt(module.value))


def _used_imports(f: Subject) -> Iterator[tuple[Statement, Import, Sequence[cst.ImportAlias], int]]:
    """The imports of the module and of the function that bind a name the function reads, alias by alias."""
    read = {name.value for name in f.loads()}
    for statement in (*f.module.body, *f.find(cst.SimpleStatementLine)):
        node = only(statement)
        if isinstance(node, Import) and not isinstance(node.names, cst.ImportStar):
            for i, alias in enumerate(node.names):
                if (alias.evaluated_alias or alias.evaluated_name.partition(".")[0]) in read:
                    yield statement, node, node.names, i


NAMES: tuple[Operator, ...] = (
    swapped_name,
    misspelt_name,
    misspelt_attribute,
    kindred_method,
    foreign_method,
    foreign_constant,
)
CLOSURE: tuple[Operator, ...] = (late_binding, dropped_nonlocal, called_callback, reused_variable)
IMPORTS: tuple[Operator, ...] = (missing_import, import_of_module, misspelt_import)
