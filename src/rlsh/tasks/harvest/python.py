"""Functions of somebody's scripts as references: cut out, with inputs, or rejected with the reason."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from pathlib import PurePosixPath

from rlsh.tasks.catalogue.reference import Reference
from rlsh.tasks.harvest.files import SourceTree
from rlsh.tasks.harvest.literals import LiteralCall, bound, from_calls, literal_calls, stem
from rlsh.tasks.harvest.module import Module, parse
from rlsh.tasks.harvest.outcome import Harvested, Origin, Rejected, UnfitError
from rlsh.tasks.harvest.secrets import secret_in
from rlsh.tasks.harvest.slices import slice_of
from rlsh.tasks.harvest.usage import annotated_by_usage
from rlsh.tasks.harvest.vocabulary import vocabulary
from rlsh.tasks.inputs import Draw, from_annotations
from rlsh.tasks.mutation import FAMILY, Mutant, MutationError, mutants, normalised

WANTED_CHARS = 200
EVERYWHERE = {"dropped_return", "print_for_return"}  # faults that every function can have
BY_CALLS = 0.75  # of the draws, where there are literal calls


def harvest_python(tree: SourceTree) -> tuple[list[Harvested], list[Rejected]]:
    """Every top-level function of the tree's Python files, in the order of the text, as one or the other.

    The same tree gives the same lists. None of its code is imported or run.
    """
    modules: dict[str, Module] = {}
    accepted: list[Harvested] = []
    rejected: list[Rejected] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the parser's, of escapes and comparisons: not ours to mend
        for file in tree.files:
            if file.language == "python":
                try:
                    modules[file.path] = parse(file.text)
                except UnfitError as error:
                    rejected.append(Rejected(file.path, "", error.kind, error.detail))
        calls = literal_calls(modules.items())
        known: dict[str, str] = {}  # normal form -> where it was met first
        for path, module in modules.items():
            for name, _ in module.functions():
                source_id = f"{path}::{name}"
                try:
                    source = slice_of(module, name)
                    _check_slice(source, name)
                    reference, origin = _reference(path, name, source, calls.get((stem(path), name), []))
                    first = known.setdefault(normalised(source), source_id)
                    if first != source_id:
                        raise UnfitError("duplicate", first)
                    accepted.append(Harvested(reference, source_id, tree.licence, origin))
                except UnfitError as error:
                    rejected.append(Rejected(path, name, error.kind, error.detail))
                except RecursionError:
                    rejected.append(Rejected(path, name, "nested too deeply"))
    return accepted, sorted(rejected, key=lambda row: row.path)


def _check_slice(source: str, name: str) -> None:
    kind = secret_in(source)
    if kind:
        raise UnfitError("secret", kind)
    faults = loading_mutants(source, name) if len(_statements(_function(source, name))) < 2 else None
    if faults is not None and all(mutant.operators[0] in EVERYWHERE for mutant in faults):
        raise UnfitError("trivial", "one statement with nothing to break in it")


def loading_mutants(source: str, name: str) -> list[Mutant]:
    """The mutants of a function that parse. Raises UnfitError where its source is beyond the mutation's own parser."""
    try:
        return [mutant for mutant in mutants(source, name) if FAMILY[mutant.operators[0]] != "syntax"]
    except MutationError as error:
        raise UnfitError("cannot be mutated", str(error)[:80]) from None


def _reference(path: str, name: str, source: str, calls: Sequence[LiteralCall]) -> tuple[Reference, Origin]:
    """Raises UnfitError where no inputs can be told."""
    function = _function(source, name)
    written = [args for args in bound(function, calls) if secret_in(repr(args)) is None]
    parameters = function.args.posonlyargs + function.args.args
    by_type = from_annotations(annotated_by_usage(function), name)
    if not written and by_type is None:
        raise UnfitError("no inputs", f"nothing tells what to give for ({ast.unparse(function.args)})"[:100])
    words = vocabulary(source, name)

    def draw(d: Draw) -> tuple[object, ...]:
        if by_type is None or (written and d.chance(BY_CALLS)):
            return from_calls(written, d)
        return words.into(by_type(d), d)

    annotated = all(parameter.annotation for parameter in parameters)
    origin: Origin = "calls" if written else "annotations" if annotated else "usage"
    topic = ".".join(PurePosixPath(path).with_suffix("").parts)
    return Reference(name, topic, source, draw, _wanted(function)), origin


def _function(source: str, name: str) -> ast.FunctionDef:
    return [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name][-1]


def _statements(function: ast.FunctionDef) -> list[ast.stmt]:
    return function.body[ast.get_docstring(function) is not None :]


def _wanted(function: ast.FunctionDef) -> str:
    """The first sentence of the docstring; without one, what name and parameters say."""
    text = " ".join((ast.get_docstring(function) or "").split())
    first = re.split(r"(?<=[^.])\.\s+(?=[A-Z])|(?<=[^.])\.$", text)[0]
    if first and len(first) <= WANTED_CHARS:
        return f"{first[0].upper()}{first[1:]}."
    words = function.name.strip("_").replace("_", " ")
    parameters = [a.arg for a in function.args.posonlyargs + function.args.args]
    return f"{words[:1].upper()}{words[1:]}, given {' and '.join(parameters) or 'any number of values'}."
