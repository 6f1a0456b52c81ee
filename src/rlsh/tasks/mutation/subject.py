"""The function under mutation: its syntax nodes in the order of the text, and edits of that text.

Operators read the tree and write the text. An edit replaces a span of characters, so whatever it does not name
stays as it was, byte for byte.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache, cached_property
from typing import NamedTuple, TypeVar, cast

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from rlsh.types import RlshError

NEWLINE = re.compile(r"\r\n?|\n")
N = TypeVar("N", bound=cst.CSTNode)
ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.BaseNumber,
    cst.BaseString,
    cst.BaseList,
    cst.BaseSet,
    cst.BaseDict,
)
TIGHT = (cst.BinaryOperation, cst.BooleanOperation, cst.UnaryOperation, cst.Comparison, cst.ComparisonTarget)
# formatting, and what a function does not behave by
SKIPPED = re.compile(
    r"whitespace|lines|header|footer|indent|newline|^[lr]par$|decorators|annotation|returns|type_parameters"
)


class MutationError(RlshError):
    """The source does not parse, is nested too deeply, or does not hold the function."""


class Edit(NamedTuple):
    """Characters `start` to `end` (exclusive, from 0) of the source become `text`."""

    start: int
    end: int
    text: str


Edits = tuple[Edit, ...]


class Subject:
    """One function of a module. Raises MutationError where there is none.

    `nodes` are those of the function's signature and body, outer before inner, without annotations, decorators and
    docstrings. Spans are offsets in characters.
    """

    def __init__(self, source: str, function: str) -> None:
        try:
            ast.parse(source)  # the two parsers do not know the same versions of Python
            self.module = cst.parse_module(source)
            # a parsed tree shares no nodes, which is what the copy would be made against
            ranges = MetadataWrapper(self.module, unsafe_skip_copy=True).resolve(PositionProvider)
        except (SyntaxError, ValueError, RecursionError, cst.ParserSyntaxError) as error:
            reason = str(error).splitlines()[0]
            raise MutationError(f"{function}: its source does not parse ({reason}): mend it first") from error
        found = [s for s in self.module.body if isinstance(s, cst.FunctionDef) and s.name.value == function]
        if not found:
            raise MutationError(f"{function}: no such function at the top level of the source; name one that is there")
        self.source = source
        self.function = found[-1]
        self._starts = [0, *(m.end() for m in NEWLINE.finditer(source))]
        starts = [*self._starts, len(source)]  # libcst sees a line end where the text ends without one
        self._spans = {
            node: (starts[r.start.line - 1] + r.start.column, starts[r.end.line - 1] + r.end.column)
            for node, r in ranges.items()
        }
        self._place: dict[cst.CSTNode, tuple[cst.CSTNode, str]] = {}
        self.nodes = sorted(self._walk(self.function), key=lambda node: self.span(node)[0])
        self._found: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
        self._offsets = [self.span(node)[0] for node in self.nodes]

    def _walk(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        yield node
        for name in _children(type(node)):
            value = getattr(node, name)
            if name == "body" and isinstance(node, cst.IndentedBlock):
                value = self.statements(node)
            for child in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(child, cst.CSTNode):
                    self._place[child] = node, name
                    yield from self._walk(child)

    # --- the tree ---------------------------------------------------------------------------------------------

    def find(self, kind: type[N]) -> list[N]:
        """The nodes of one class; remembered, since many operators ask for the same."""
        if kind not in self._found:
            self._found[kind] = [node for node in self.nodes if isinstance(node, kind)]
        return cast("list[N]", self._found[kind])

    def inside(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """The nodes within `node`, itself included."""
        start, end = self.span(node)
        begun = self.nodes[bisect_left(self._offsets, start) : bisect_left(self._offsets, end)]
        return [n for n in begun if self.span(n)[1] <= end]

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        return self._place[node][0]

    def field(self, node: cst.CSTNode) -> str:
        """The name of the parent's field that holds `node`."""
        return self._place[node][1]

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What `node` stands in, from the parent to the function."""
        while node is not self.function:
            node = self.parent(node)
            yield node

    def statements(self, block: cst.IndentedBlock) -> Sequence[cst.BaseStatement]:
        """The statements of a block, without a docstring."""
        first = only(block.body[0])
        return block.body[isinstance(first, cst.Expr) and isinstance(first.value, cst.BaseString) :]

    def calls(self, *names: str, at_least: int = 0) -> Iterator[cst.Call]:
        """Calls of plain names with so many arguments: what is called may be the source's own."""
        for call in self.find(cst.Call):
            if isinstance(call.func, cst.Name) and call.func.value in names and len(call.args) >= at_least:
                yield call

    def methods(self, *names: str) -> Iterator[tuple[cst.Call, cst.Attribute]]:
        """Calls of attributes, with the attribute."""
        for call in self.find(cst.Call):
            if isinstance(call.func, cst.Attribute) and call.func.attr.value in names:
                yield call, call.func

    def blocks(self) -> Iterator[Sequence[cst.BaseStatement]]:
        return (self.statements(block) for block in self.find(cst.IndentedBlock))

    # --- names ------------------------------------------------------------------------------------------------

    def binds(self, name: cst.Name) -> bool:
        """Whether `name` is given a value where it stands, as a target, a parameter or a definition."""
        node: cst.CSTNode = name
        while isinstance(self.parent(node), (cst.Tuple, cst.List, cst.BaseElement)):
            node = self.parent(node)
        return self.field(node) in ("target", "name") and not isinstance(self.parent(node), cst.NameItem)

    def loads(self) -> Iterator[cst.Name]:
        """The names that are read as variables."""
        for name in self.find(cst.Name):
            if self.field(name) not in ("attr", "keyword", "module", "name") and not self.binds(name):
                yield name

    @cached_property
    def bindings(self) -> dict[str, int]:
        """The function's own variables, parameters first, each with the offset at which it is first bound."""
        inner = (cst.Lambda, cst.FunctionDef, cst.ClassDef, cst.CompFor)
        first: dict[str, int] = {}
        for name in self.find(cst.Name):
            if self.binds(name) and not any(isinstance(a, inner) and a is not self.function for a in self.above(name)):
                first.setdefault(name.value, self.span(name)[0])
        del first[self.function.name.value]
        return first

    # --- the text ---------------------------------------------------------------------------------------------

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where `node` stands, with its parentheses or, if it is a parameter, its default."""
        if isinstance(node, cst.BaseExpression) and node.lpar:
            return self._spans[node.lpar[0]][0], self._spans[node.rpar[-1]][1]
        start, end = self._spans[node]
        # the positions of libcst leave out a parameter's default, and begin a definition before its comments
        if isinstance(node, cst.Param) and (last := node.default or node.annotation):
            end = self.span(last)[1]
        elif isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.decorators:
            start = self.source.rindex("@", 0, self.span(node.decorators[0].decorator)[0])
        return start, end

    def inner(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where `node` stands, its own parentheses left out."""
        return self._spans[node]

    def text(self, node: cst.CSTNode) -> str:
        return self.source[slice(*self.span(node))]

    def line(self, offset: int) -> int:
        """The line, counted from 1, that holds the character at `offset`."""
        return bisect_right(self._starts, offset)

    def margin(self, node: cst.CSTNode) -> str:
        """What stands on the line before `node`: of a statement, its indentation."""
        start = self.span(node)[0]
        return self.source[self._starts[self.line(start) - 1] : start]

    def lines(self, node: cst.CSTNode) -> tuple[int, int]:
        """The span of the whole lines that `node` stands on."""
        start, end = self.span(node)
        last = self.line(end)
        return self._starts[self.line(start) - 1], self._starts[last] if last < len(self._starts) else len(self.source)

    def _line_end(self, offset: int) -> int:
        newline = NEWLINE.search(self.source, offset)
        return newline.start() if newline else len(self.source)

    def atom(self, node: cst.BaseExpression) -> str:
        """The text of `node`, safe beside any operator."""
        return self.text(node) if node.lpar or isinstance(node, ATOMS) else f"({self.text(node)})"

    # --- edits ------------------------------------------------------------------------------------------------

    def put(self, node: cst.CSTNode, text: str) -> Edits:
        return (Edit(*self.span(node), text),)

    def cut(self, start: int, end: int) -> Edits:
        return (Edit(start, end, ""),)

    def insert(self, offset: int, text: str) -> Edits:
        return (Edit(offset, offset, text),)

    def swap(self, one: cst.CSTNode, other: cst.CSTNode) -> Edits:
        return self.put(one, self.text(other)) + self.put(other, self.text(one))

    def swap_lines(self, one: cst.CSTNode, other: cst.CSTNode) -> Edits:
        """Statements or blocks change places, with the comments behind them."""
        (a, b), (c, d) = ((self.span(n)[0], self._line_end(self.span(n)[1])) for n in (one, other))
        return Edit(a, b, self.source[c:d]), Edit(c, d, self.source[a:b])

    def lift(self, node: cst.BaseExpression, child: cst.BaseExpression) -> Edits:
        """`node` becomes its part `child`, in parentheses where it would fall apart without."""
        parent = self.parent(node)
        bound = isinstance(parent, TIGHT) or (self.field(node) in ("func", "value") and isinstance(parent, ATOMS))
        grouped = bool(node.lpar) or not isinstance(node, TIGHT)
        open_ended = isinstance(child, cst.GeneratorExp) or NEWLINE.search(self.text(child))
        return self.put(node, self.atom(child) if (bound and grouped) or open_ended else self.text(child))

    def drop(self, statement: cst.CSTNode) -> Edits:
        """A statement or clause is lost with its lines."""
        return self.cut(*self.lines(statement))

    def drop_item(self, items: Sequence[cst.CSTNode], index: int) -> Edits:
        """One of several items between commas is lost."""
        if index:
            return self.cut(self.span(items[index - 1])[1], self.span(items[index])[1])
        start, end = self.span(items[0])
        return self.cut(start, self.span(items[1])[0] if len(items) > 1 else end)

    def reindent(self, statement: cst.CSTNode, margin: str) -> Edits:
        """The statement's lines under another indentation; nothing where a string runs over several of them."""
        if any(isinstance(n, cst.BaseString) and NEWLINE.search(self.text(n)) for n in self.inside(statement)):
            return ()
        old = self.margin(statement)
        first, last = (self.line(offset) for offset in self.span(statement))
        starts = self._starts[first - 1 : last]
        return tuple(Edit(s, s + len(old), margin) for s in starts if self.source.startswith(old, s))

    def tokens(self, table: Mapping[type[cst.CSTNode], str]) -> Iterator[Edits]:
        """Operators and keywords that are nodes of their own, exchanged."""
        return (self.put(node, table[type(node)]) for node in self.nodes if type(node) in table)


Operator = Callable[[Subject], Iterator[Edits]]


def only(statement: cst.BaseStatement | cst.BaseSmallStatement) -> cst.BaseSmallStatement | None:
    """The small statement that stands alone on its line; None for a compound statement or several on a line."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        return statement.body[0]
    return None


@cache
def _children(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if not SKIPPED.search(f.name))
