"""The wrong element, the wrong part of a series, the wrong way into a mapping."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from rlsh.tasks.mutation.shapes import counters, integer, is_step, mappings, shifted
from rlsh.tasks.mutation.subject import Edits, Operator, Subject


def wrong_index(f: Subject) -> Iterator[Edits]:
    """`xs[0]` to `xs[1]`, or to `xs[-1]`; `xs[i]` to `xs[i + 1]`, or to `xs[i - 1]`."""
    counting = counters(f)
    for node in f.find(cst.Index):
        index = node.value
        term = index.left if isinstance(index, cst.BinaryOperation) and is_step(index) else index
        if integer(index) is not None or (isinstance(term, cst.Name) and term.value in counting):
            yield f.put(index, shifted(f, index, 1))
            yield f.put(index, shifted(f, index, -1))


def slice_bound(f: Subject) -> Iterator[Edits]:
    """`xs[1:]` to `xs[:]`, or to `xs[2:]`; `xs[:n]` to `xs[:n + 1]`, or to `xs[:n - 1]`."""
    for node in f.find(cst.Slice):
        for bound, edge in ((node.lower, 1), (node.upper, -1)):
            if bound:
                for by in (-edge, edge):
                    yield f.put(bound, "" if integer(bound) == edge and by == -edge else shifted(f, bound, by))


def other_side(f: Subject) -> Iterator[Edits]:
    """`xs[:n]` to `xs[n:]`."""
    for node in f.find(cst.Slice):
        if node.lower and not node.upper and not node.step:
            yield f.put(node, f":{f.text(node.lower)}")
        elif node.upper and not node.lower and not node.step:
            yield f.put(node, f"{f.text(node.upper)}:")


def lost_colon(f: Subject) -> Iterator[Edits]:
    """`xs[1:]` to `xs[1]`, `xs[::-1]` to `xs[:-1]`."""
    for node in f.find(cst.Slice):
        bounds = [b for b in (node.lower, node.upper) if b]
        if node.step and not node.upper:
            yield f.put(node.first_colon, "")
        elif len(bounds) == 1 and not node.step:
            yield f.put(node, f.text(bounds[0]))


def lost_step(f: Subject) -> Iterator[Edits]:
    """`xs[::2]` to `xs[:]`."""
    for node in f.find(cst.Slice):
        if node.step and isinstance(node.second_colon, cst.Colon):
            yield f.cut(f.span(node.second_colon)[0], f.span(node.step)[1])


# --- mapping --------------------------------------------------------------------------------------------------


def subscript_for_get(f: Subject) -> Iterator[Edits]:
    """`d.get(k, 0)` to `d[k]`."""
    for call, attribute in f.methods("get"):
        if call.args:
            yield f.put(call, f"{f.text(attribute.value)}[{f.text(call.args[0])}]")


def get_for_subscript(f: Subject) -> Iterator[Edits]:
    """`d[k]`, where it is read, to `d.get(k)`."""
    known = mappings(f)
    for node in f.find(cst.Subscript):
        index = node.slice[0].slice
        if not isinstance(index, cst.Index) or len(node.slice) > 1 or f.field(node) == "target":
            continue
        if f.text(node.value) in known or isinstance(index.value, cst.BaseString):
            yield f.put(node, f"{f.text(node.value)}.get({f.text(index)})")


def dropped_default(f: Subject) -> Iterator[Edits]:
    """`d.get(k, 0)` to `d.get(k)`."""
    for call, _ in f.methods("get", "pop"):
        if len(call.args) == 2:
            yield f.drop_item(call.args, 1)


def dropped_view(f: Subject) -> Iterator[Edits]:
    """`for k, v in d.items()` to `for k, v in d`."""
    for call, attribute in f.methods("items", "values"):
        yield f.lift(call, attribute.value)


def other_view(f: Subject) -> Iterator[Edits]:
    """`d.values()` to `d.keys()`, `d.items()` to `d.values()`."""
    table = {"values": "keys", "keys": "values", "items": "values"}
    for _, attribute in f.methods(*table):
        yield f.put(attribute.attr, table[attribute.attr.value])


def get_for_setdefault(f: Subject) -> Iterator[Edits]:
    """`d.setdefault(k, []).append(x)` to `d.get(k, []).append(x)`."""
    for _, attribute in f.methods("setdefault"):
        yield f.put(attribute.attr, "get")


def plain_dict(f: Subject) -> Iterator[Edits]:
    """`defaultdict(list)` to `{}`."""
    for call in f.calls("defaultdict", "Counter"):
        if len(call.args) == (f.text(call.func) == "defaultdict"):
            yield f.put(call, "{}")


SLICES: tuple[Operator, ...] = (wrong_index, slice_bound, other_side, lost_colon, lost_step)
MAPPING: tuple[Operator, ...] = (
    subscript_for_get,
    get_for_subscript,
    dropped_default,
    dropped_view,
    other_view,
    get_for_setdefault,
    plain_dict,
)
