"""One object where there should be two, and methods that change in place taken for functions that return."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from rlsh.tasks.mutation.shapes import assigned, call_of, is_single, mentioned, named
from rlsh.tasks.mutation.subject import Edits, Operator, Subject, only

CONTAINERS = ("list", "dict", "set")


def dropped_copy(f: Subject) -> Iterator[Edits]:
    """`list(xs)`, `xs[:]` and `xs.copy()` to `xs`."""
    for node, original in _copies(f).items():
        if f.field(node) != "iter":
            yield f.lift(node, original)


def loop_without_copy(f: Subject) -> Iterator[Edits]:
    """`for x in list(xs):` to `for x in xs:`, so that the loop may change what it runs over."""
    copies = _copies(f)
    for loop in f.find(cst.For):
        call = call_of(loop.iter, *CONTAINERS, "tuple")
        if call and call.args:
            yield f.put(call, f.text(call.args[0]))
        elif loop.iter in copies:
            yield f.put(loop.iter, f.text(copies[loop.iter]))


def shallow_copy(f: Subject) -> Iterator[Edits]:
    """`copy.deepcopy(a)` to `copy.copy(a)`, `[row[:] for row in a]` to `a[:]`."""
    for _, attribute in f.methods("deepcopy"):
        yield f.put(attribute.attr, "copy")
    for node, row in _copies(f).items():
        rows = f.parent(node)
        if isinstance(rows, cst.ListComp) and is_single(rows.for_in) and f.text(rows.for_in.target) == f.text(row):
            before, after = f.text(node).split(f.text(row), 1)
            yield f.put(rows, f"{before}{f.atom(rows.for_in.iter)}{after}")


def shared_rows(f: Subject) -> Iterator[Edits]:
    """`[[0] * n for _ in range(m)]` to `[[0] * n] * m`."""
    for node in f.find(cst.ListComp):
        loop, times = node.for_in, call_of(node.for_in.iter, "range")
        if times and len(times.args) == 1 and is_single(loop) and f.text(loop.target) not in mentioned(f, node.elt):
            yield f.put(node, f"[{f.text(node.elt)}] * {f.atom(times.args[0].value)}")


def mutable_default(f: Subject) -> Iterator[Edits]:
    """`seen = []` at the top of the body to a parameter `seen=[]`, in place of `seen=None` where that was there."""
    parameters = f.function.params.params
    by_name = {p.name.value: p for p in parameters}
    for statement in next(f.blocks(), ()):
        guard = isinstance(statement, cst.If) and not statement.orelse and len(statement.body.body) == 1
        pair = assigned(only(statement.body.body[0] if isinstance(statement, cst.If) and guard else statement))
        if pair and _is_empty(pair[1]):
            given, value = by_name.get(pair[0]), f.text(pair[1])
            if given and given.default and guard:
                yield f.put(given.default, value) + f.drop(statement)
            elif parameters and not given and not guard:
                yield f.insert(f.span(parameters[-1])[1], f", {pair[0]}={value}") + f.drop(statement)


def chained_assignment(f: Subject) -> Iterator[Edits]:
    """`a = []` and `b = []` to `a = b = []`."""
    for statements in f.blocks():
        for one, other in pairwise(statements):
            first, second = assigned(only(one)), assigned(only(other))
            if first and second and _is_empty(first[1]) and f.text(first[1]) == f.text(second[1]):
                yield f.put(one, f"{first[0]} = {second[0]} = {f.text(first[1])}") + f.drop(other)


def augmented_alias(f: Subject) -> Iterator[Edits]:
    """`path = path + [x]`, a new list, to `path += [x]`, the same list."""
    for node in f.find(cst.Assign):
        name, value = assigned(node) or ("", None)
        if not isinstance(value, cst.BinaryOperation) or not isinstance(value.operator, cst.Add):
            continue
        if named(value.left, name) and isinstance(value.right, cst.BaseList):
            yield f.put(node, f"{name} += {f.text(value.right)}")


def sort_for_sorted(f: Subject) -> Iterator[Edits]:
    """`sorted(xs)`, a value, to `xs.sort()`, which has none."""
    for call in f.calls("sorted", "reversed", at_least=1):
        first, *rest = call.args
        if isinstance(first.value, cst.Name):
            method = "sort" if named(call.func, "sorted") else "reverse"
            yield f.put(call, f"{f.text(first)}.{method}({', '.join(map(f.text, rest))})")


def sorted_for_sort(f: Subject) -> Iterator[Edits]:
    """`xs.sort()` to `sorted(xs)`, the result of which is lost."""
    for call, attribute in f.methods("sort", "reverse"):
        if isinstance(f.parent(call), cst.Expr):
            function = "sorted" if named(attribute.attr, "sort") else "reversed"
            yield f.put(call, f"{function}({', '.join(map(f.text, (attribute.value, *call.args)))})")


def assigned_result(f: Subject) -> Iterator[Edits]:
    """`xs.append(x)` to `xs = xs.append(x)`, which is None."""
    for call, attribute in f.methods("append", "extend", "insert", "sort", "reverse", "add", "update"):
        if isinstance(f.parent(call), cst.Expr) and isinstance(attribute.value, cst.Name):
            yield f.insert(f.span(call)[0], f"{attribute.value.value} = ")


def _copies(f: Subject) -> dict[cst.BaseExpression, cst.BaseExpression]:
    """Expressions that copy what has a name, each with what it copies."""
    copies: dict[cst.BaseExpression, cst.BaseExpression] = {}
    for call in f.find(cst.Call):
        name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        if named(name, "copy", "deepcopy", *CONTAINERS) and len(call.args) == 1 and not call.args[0].keyword:
            if isinstance(call.args[0].value, (cst.Name, cst.Attribute, cst.Subscript)):
                copies[call] = call.args[0].value
        elif isinstance(call.func, cst.Attribute) and named(name, "copy") and not call.args:
            copies[call] = call.func.value
    for node in f.find(cst.Subscript):
        if f.source[f.span(node.value)[1] : f.span(node)[1]] == "[:]":
            copies[node] = node.value
    return copies


def _is_empty(node: cst.BaseExpression) -> bool:
    """Whether it makes an empty list, dict or set."""
    call = call_of(node, *CONTAINERS)
    return not call.args if call else isinstance(node, (cst.List, cst.Dict)) and not node.elements


ALIASING: tuple[Operator, ...] = (
    dropped_copy,
    loop_without_copy,
    shallow_copy,
    shared_rows,
    mutable_default,
    chained_assignment,
    augmented_alias,
    sort_for_sorted,
    sorted_for_sort,
    assigned_result,
)
