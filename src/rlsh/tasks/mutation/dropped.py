"""Something that was forgotten."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from rlsh.tasks.mutation.shapes import assigned, changed, is_guard, mentioned
from rlsh.tasks.mutation.subject import Edit, Edits, Operator, Subject, only

OPTIONAL = {"int": 2, "round": 2, "sum": 2, "next": 2, "split": 2, "rsplit": 2, "replace": 3}


def dropped_guard(f: Subject) -> Iterator[Edits]:
    """`if not xs: return 0` is lost."""
    for statements in f.blocks():
        if len(statements) > 1:
            yield from (f.drop(s) for s in statements if is_guard(s))


def dropped_return(f: Subject) -> Iterator[Edits]:
    """`return a + b` to `a + b`; a plain `return a` is lost."""
    for statements in f.blocks():
        last = only(statements[-1]) if statements else None
        if isinstance(last, cst.Return) and last.value:
            plain = isinstance(last.value, cst.Name) and len(statements) > 1
            yield f.drop(statements[-1]) if plain else f.put(last, f.text(last.value))


def dropped_initialiser(f: Subject) -> Iterator[Edits]:
    """`total = 0` is lost, where `total` is added to later."""
    declared = {item.name.value for item in f.find(cst.NameItem)}  # which without a binding would be no Python
    for statements in f.blocks():
        for i, statement in enumerate(statements[:-1]):
            name, _ = assigned(only(statement)) or ("", None)
            first = name not in declared and f.bindings.get(name) == f.span(statement)[0]
            if first and any(name in changed(f, later) for later in statements[i + 1 :]):
                yield f.drop(statement)


def dropped_statement(f: Subject) -> Iterator[Edits]:
    """`i += 1` is lost, or `xs.append(x)`, or an assignment to a name that had a value."""
    for statements in f.blocks():
        for statement in statements if len(statements) > 1 else ():
            small = only(statement)
            pair = assigned(small)
            again = pair is not None and f.bindings.get(pair[0]) != f.span(statement)[0]
            called = isinstance(small, cst.Expr) and isinstance(small.value, cst.Call)
            if again or called or isinstance(small, cst.AugAssign):
                yield f.drop(statement)


def dropped_loop(f: Subject) -> Iterator[Edits]:
    """`while a:` to `if a:`."""
    for node in f.find(cst.While):
        if not any(isinstance(n, (cst.Break, cst.Continue)) for n in f.inside(node)):
            start = f.span(node)[0]
            yield (Edit(start, start + len("while"), "if"),)


def dropped_else(f: Subject) -> Iterator[Edits]:
    """`else:` is lost with what it holds."""
    for node in f.find(cst.Else):
        yield f.drop(node)


def dropped_filter(f: Subject) -> Iterator[Edits]:
    """`[x for x in xs if x]` to `[x for x in xs]`."""
    for node in f.find(cst.CompIf):
        yield f.put(node, "")


def dropped_assignment(f: Subject) -> Iterator[Edits]:
    """`s = s.strip()` to `s.strip()`."""
    for node in f.find(cst.Assign):
        pair = assigned(node)
        if pair and isinstance(pair[1], cst.Call) and pair[0] in mentioned(f, pair[1]):
            yield f.put(node, f.text(pair[1]))


def dropped_argument(f: Subject) -> Iterator[Edits]:
    """`sorted(xs, key=len)` to `sorted(xs)`, `int(s, 2)` to `int(s)`."""
    for call in f.find(cst.Call):
        name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        optional = isinstance(name, cst.Name) and OPTIONAL.get(name.value) == len(call.args)
        for i, argument in enumerate(call.args):
            keyword = argument.keyword and argument.keyword.value not in ("reverse", "start")
            if keyword or (optional and i == len(call.args) - 1):
                yield f.drop_item(call.args, i)


def dropped_call(f: Subject) -> Iterator[Edits]:
    """`s.upper()` to `s.upper`."""
    for node in f.find(cst.Call):
        if not node.args and isinstance(node.func, cst.Attribute):
            yield f.cut(f.span(node.func)[1], f.inner(node)[1])


DROPPED: tuple[Operator, ...] = (
    dropped_guard,
    dropped_return,
    dropped_initialiser,
    dropped_statement,
    dropped_loop,
    dropped_else,
    dropped_filter,
    dropped_assignment,
    dropped_argument,
    dropped_call,
)
