"""The right value in the wrong type, and text that is put together wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from rlsh.tasks.mutation.shapes import call_of, is_single, named
from rlsh.tasks.mutation.subject import Edits, Operator, Subject

SCALARS = ("int", "float", "str", "bool", "bytes")
SERIES = ("list", "tuple", "set", "frozenset", "dict")
COPYING = ("list", "dict", "set")
OTHER = {
    "int": "float",
    "float": "int",
    "list": "set",
    "set": "list",
    "tuple": "list",
    "str": "repr",
    "frozenset": "list",
}


def dropped_conversion(f: Subject) -> Iterator[Edits]:
    """`int(s)` to `s`, `list(map(g, xs))` to `map(g, xs)`, `s.encode()` to `s`."""
    for call in f.calls(*SCALARS, *SERIES):
        if len(call.args) == 1 and not call.args[0].keyword:
            value = call.args[0].value
            # of a thing that has a name, these make a copy: a fault of another family
            copied = isinstance(value, (cst.Name, cst.Attribute, cst.Subscript)) and named(call.func, *COPYING)
            if not copied and not isinstance(f.parent(call), cst.For):
                yield f.lift(call, value)
    for call, attribute in f.methods("encode", "decode"):
        yield f.lift(call, attribute.value)


def other_conversion(f: Subject) -> Iterator[Edits]:
    """`int(s)` to `float(s)`, `set(xs)` to `list(xs)`."""
    for call in f.calls(*OTHER):
        if len(call.args) == 1:
            yield f.put(call.func, OTHER[f.text(call.func)])


def quoted_number(f: Subject) -> Iterator[Edits]:
    """`n == 0` to `n == "0"`, and the reverse."""
    for target in f.find(cst.ComparisonTarget):
        value = target.comparator
        if isinstance(value, cst.Integer):
            yield f.put(value, f'"{f.text(value)}"')
        elif isinstance(value, cst.SimpleString) and value.raw_value.isdecimal() and not value.prefix:
            yield f.put(value, value.raw_value)


def dropped_comma(f: Subject) -> Iterator[Edits]:
    """`(a,)` to `(a)`."""
    for node in f.find(cst.Tuple):
        if len(node.elements) == 1:
            yield f.cut(f.span(node.elements[0])[1], f.inner(node)[1])


def stray_comma(f: Subject) -> Iterator[Edits]:
    """`a = b` to `a = b,`."""
    for node in f.find(cst.Assign):
        if not isinstance(node.value, cst.Tuple):
            yield f.insert(f.span(node)[1], ",")


def braces_for_set(f: Subject) -> Iterator[Edits]:
    """`set()` to `{}`."""
    for call in f.calls("set"):
        if not call.args:
            yield f.put(call, "{}")


def generator_for_list(f: Subject) -> Iterator[Edits]:
    """`[g(x) for x in xs]` to `(g(x) for x in xs)`."""
    for node in f.find(cst.ListComp):
        if not isinstance(f.parent(node), cst.Arg):
            yield f.put(node.lbracket, "(") + f.put(node.rbracket, ")")


def dropped_map(f: Subject) -> Iterator[Edits]:
    """`map(int, xs)` to `xs`, `[int(x) for x in xs]` to `xs`."""
    for call in f.calls("map"):
        if len(call.args) == 2:
            yield f.lift(call, call.args[1].value)
    for node in f.nodes:
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)) and is_single(node.for_in):
            converted = call_of(node.elt, *SCALARS)
            if converted and [f.text(a) for a in converted.args] == [f.text(node.for_in.target)]:
                yield f.lift(node, node.for_in.iter)


def one_for_many(f: Subject) -> Iterator[Edits]:
    """`xs.extend(ys)` to `xs.append(ys)`, `s.update(xs)` to `s.add(xs)`, and the reverse."""
    table = {"append": "extend", "extend": "append", "add": "update", "update": "add"}
    for _, attribute in f.methods(*table):
        yield f.put(attribute.attr, table[attribute.attr.value])


# --- text -----------------------------------------------------------------------------------------------------


def missing_f(f: Subject) -> Iterator[Edits]:
    """`f"{a}"` to `"{a}"`."""
    for node in f.find(cst.FormattedString):
        at = f.inner(node)[0] + node.start.lower().index("f")
        yield f.cut(at, at + 1)


def format_spec(f: Subject) -> Iterator[Edits]:
    """`f"{a:.2f}"` to `f"{a}"`."""
    for node in f.find(cst.FormattedStringExpression):
        if node.format_spec:
            yield f.cut(f.span(node.format_spec[0])[0] - 1, f.span(node)[1] - 1)


def missing_r(f: Subject) -> Iterator[Edits]:
    r"""`r"\bcat"` to `"\bcat"`."""
    for node in f.find(cst.SimpleString):
        if node.prefix == "r":
            at = f.inner(node)[0]
            yield f.cut(at, at + 1)


def strip_side(f: Subject) -> Iterator[Edits]:
    """`s.strip()` to `s.lstrip()`, or to `s.rstrip()`."""
    table = {"strip": ("lstrip", "rstrip"), "lstrip": ("strip", "rstrip"), "rstrip": ("strip", "lstrip")}
    for _, attribute in f.methods(*table):
        yield from (f.put(attribute.attr, other) for other in table[attribute.attr.value])


def dropped_method(f: Subject) -> Iterator[Edits]:
    """`s.lower()` to `s`."""
    for call, attribute in f.methods("strip", "lstrip", "rstrip", "lower", "upper", "casefold", "title", "capitalize"):
        yield f.lift(call, attribute.value)


def joined_receiver(f: Subject) -> Iterator[Edits]:
    """`", ".join(words)` to `words.join(", ")`."""
    for call, attribute in f.methods("join"):
        if len(call.args) == 1:
            yield f.put(call, f"{f.atom(call.args[0].value)}.join({f.text(attribute.value)})")


def joined_strings(f: Subject) -> Iterator[Edits]:
    """`["a", "b"]` to `["a" "b"]`."""
    for node in f.nodes:
        if isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            for one, other in pairwise(node.elements):
                if isinstance(one.value, cst.SimpleString) and isinstance(other.value, cst.SimpleString):
                    yield f.put(one.comma, "") if isinstance(one.comma, cst.Comma) else ()


def separator(f: Subject) -> Iterator[Edits]:
    """`", "` to `","`, `","` to `", "`, `" "` to `""`."""
    for node in f.find(cst.SimpleString):
        inner = node.raw_value
        if inner and not any(c.isalnum() for c in inner) and len(inner) < 4:
            other = inner.strip() if " " in inner else f"{inner} "
            yield f.put(node, f"{node.prefix}{node.quote}{other}{node.quote}")


def split_at_space(f: Subject) -> Iterator[Edits]:
    r"""`s.split()` to `s.split(" ")`, `s.splitlines()` to `s.split("\n")`."""
    for call, attribute in f.methods("split", "splitlines"):
        if not call.args:
            argument = '" "' if attribute.attr.value == "split" else r'"\n"'
            yield f.put(call, f"{f.text(attribute.value)}.split({argument})")


TYPES: tuple[Operator, ...] = (
    dropped_conversion,
    other_conversion,
    quoted_number,
    dropped_comma,
    stray_comma,
    braces_for_set,
    generator_for_list,
    dropped_map,
    one_for_many,
)
TEXT: tuple[Operator, ...] = (
    missing_f,
    format_spec,
    missing_r,
    strip_side,
    dropped_method,
    joined_receiver,
    joined_strings,
    separator,
    split_at_space,
)
