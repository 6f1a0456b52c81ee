"""Operators applied: every single fault of a function, and two at once."""

from __future__ import annotations

import ast
import random
import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from rlsh.tasks.mutation.operators import FAMILY, OPERATORS
from rlsh.tasks.mutation.subject import Edits, Subject

FIELDS = {
    kind: [name for name in kind._fields if name != "ctx"]  # which the place of a node decides
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


@dataclass(frozen=True)
class Mutant:
    """A source with one fault or two, by the names of their operators. `line` (from 1) is the first that differs.

    `parts` of one with two faults are the sources that have one of them each, in the same order.
    """

    source: str
    operators: tuple[str, ...]
    line: int
    parts: tuple[str, ...] = ()


class Fault(NamedTuple):
    """What one operator makes of a source."""

    operator: str
    edits: Edits
    source: str


def mutants(source: str, function: str) -> list[Mutant]:
    """All mutants of `function` with one fault, in the order of OPERATORS, then of the text.

    No two have the same syntax tree, and none that of `source`. Those of the family "syntax" do not parse, all
    others do. Raises MutationError where `source` does not parse or has no such function at its top level.
    """
    subject = Subject(source, function)
    return [Mutant(f.source, (f.operator,), _first_line(subject, f.edits, f.source)) for f in _faults(subject)]


def double_fault(source: str, function: str, rng: random.Random) -> Mutant | None:
    """A mutant with two faults of two families on different lines, the upper one named first; None if there is none.

    Operators are drawn evenly and then one of their faults, lest those that apply everywhere crowd out the rest.
    Raises MutationError as `mutants` does.
    """
    subject = Subject(source, function)
    groups: dict[str, list[Fault]] = {}
    for fault in _faults(subject):
        groups.setdefault(fault.operator, []).append(fault)
    drawn = [
        fault for group in rng.sample(list(groups.values()), len(groups)) for fault in rng.sample(group, len(group))
    ]
    for pair in combinations(drawn, 2):
        one, other = sorted(pair, key=lambda fault: min(fault.edits))
        families = {FAMILY[one.operator], FAMILY[other.operator]}
        if len(families) == 2 and not _lines(subject, one.edits) & _lines(subject, other.edits):
            edits = one.edits + other.edits
            text = applied(source, edits)
            if (_tree(text) is None) == ("syntax" in families):
                line = _first_line(subject, edits, text)
                return Mutant(text, (one.operator, other.operator), line, (one.source, other.source))
    return None


def _faults(subject: Subject) -> list[Fault]:
    seen: set[object] = {_tree(subject.source)}
    faults = []
    for name, operator in OPERATORS.items():
        for edits in operator(subject):
            text = applied(subject.source, edits)
            tree = _tree(text)
            if (tree is None) == (FAMILY[name] == "syntax") and (tree or text) not in seen:
                seen.add(tree or text)
                faults.append(Fault(name, edits, text))
    return faults


def applied(source: str, edits: Edits) -> str:
    """`source` with these edits, none of which overlaps another."""
    parts, at = [], 0
    for edit in sorted(edits):
        parts += [source[at : edit.start], edit.text]
        at = edit.end
    return "".join((*parts, source[at:]))


def _tree(source: str) -> tuple[object, ...] | None:
    """The syntax tree without its positions, flat; None where the source has none.

    ast.dump tells the same and takes longer than everything else that is done to a mutant.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that a missing r makes invalid
        try:
            waiting: list[object] = [ast.parse(source)]
        except SyntaxError:
            return None
    flat: list[object] = []
    while waiting:
        node = waiting.pop()
        kind = type(node)
        flat.append(kind)
        if kind in FIELDS:
            for name in FIELDS[kind]:
                waiting.append(getattr(node, name))
        elif isinstance(node, list):
            flat.append(len(node))
            waiting += node
        else:
            flat.append(node)
    return tuple(flat)


def _lines(subject: Subject, edits: Edits) -> set[int]:
    """The lines of the source that the edits alter, apart from what both texts begin or end with."""
    lines: set[int] = set()
    for start, end, text in edits:
        old = subject.source[start:end]
        start += _shared(old, text)
        end -= _shared(old[::-1], text[::-1])
        lines.update(range(subject.line(start), subject.line(max(start, end - 1)) + 1))
    return lines


def _first_line(subject: Subject, edits: Edits, text: str) -> int:
    """The first line at which the source and `text`, made by these edits, differ."""
    start = min(edits).start
    return subject.line(start + _shared(subject.source[start:], text[start:]))


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
