"""Pipelines of somebody's shell scripts, each with the faults that can be put in, or rejected with the reason."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rlsh.tasks.harvest.files import SourceTree
from rlsh.tasks.harvest.outcome import Rejected, UnfitError
from rlsh.tasks.harvest.pipeline import Pipeline, file_name, parse_pipeline
from rlsh.tasks.harvest.pipeline_faults import FAULTS, Line, broken, written
from rlsh.tasks.harvest.pipeline_words import described, lines_for
from rlsh.tasks.harvest.secrets import secret_in
from rlsh.tasks.shell.draft import Draft
from rlsh.tasks.world import World, text
from rlsh.types import Tree

KEYWORDS = set(
    "if then else elif fi for while until do done case esac select function { } [ [[ (( ! time return break continue "
    "exit".split()
)
BUILTINS = set(
    "set cd export local readonly declare unset shift source . eval exec trap read test : alias wait".split()
)
CAPTURED = re.compile(r"""(?:(?:local|export|readonly)\s+)?\w+=("?)\$\((?P<inner>.*)\)\1""")
QUOTED = re.compile(r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
HERE = re.compile(r"""<<-?\s*["']?(\w+)["']?""")


@dataclass(frozen=True)
class HarvestedPipeline:
    """A line that stands alone. `faults` are those that have a place in it."""

    pipeline: Pipeline
    comment: str  # above it in the script
    source_id: str  # relative/path.sh::line
    licence: str
    faults: tuple[str, ...]

    def draft(self, fault: str, w: World) -> Draft:
        """A task drawn from it, its files under new names. The same `w` gives the same.

        Raises UnfitError where `w` finds no place for the fault.
        """
        names = self._names(w)
        line = self._line(names)
        wrong = broken(fault, w, line)
        if wrong is None:
            raise UnfitError("no fault", fault)
        inputs = [names[name] for name in _inputs(self.pipeline)]
        return Draft(
            self._instruction(names),
            wrong,
            written(line),
            lambda v: self._files(v, inputs, names),
            looks=(f"head -n 5 {inputs[0]}",),
            faults=(fault,),
        )

    def _names(self, w: World) -> dict[str, str]:
        copies = [file_name(stage.words[i]) for stage in self.pipeline.stages for i in stage.files]  # of tee
        wanted = dict.fromkeys([*_inputs(self.pipeline), *copies, self.pipeline.target])
        return {name: w.name(*[name.rpartition(".")[2]] if _has_extension(name) else []) for name in wanted if name}

    def _line(self, names: dict[str, str]) -> Line:
        line = []
        for stage in self.pipeline.stages:
            words = [names[file_name(w)] if i in stage.files else w.raw for i, w in enumerate(stage.words)]
            line.append(words)
        if self.pipeline.source:
            line[0] += ["<", names[self.pipeline.source]]
        if self.pipeline.target:
            line[-1] += [">>" if self.pipeline.appends else ">", names[self.pipeline.target]]
        return line

    def _instruction(self, names: dict[str, str]) -> str:
        try:
            what = described(self.pipeline)
        except UnfitError:
            what = self.comment
        files = " and ".join(names[name] for name in _inputs(self.pipeline))
        end = ""
        if self.pipeline.target:
            end = f" {'Append' if self.pipeline.appends else 'Write'} the result to {names[self.pipeline.target]}."
        return f"From {files}: {what}.{end}"

    def _files(self, w: World, inputs: list[str], names: dict[str, str]) -> Tree:
        files = {name: text(*lines_for(self.pipeline, w)) for name in inputs}
        if self.pipeline.appends:
            files[names[self.pipeline.target]] = text(*w.lines(2))
        return files


def _inputs(pipeline: Pipeline) -> list[str]:
    """The files that are read, by the names they have in the script."""
    reading = [stage for stage in pipeline.stages if stage.program != "tee"]
    named = [file_name(stage.words[i]) for stage in reading for i in stage.files]
    return list(dict.fromkeys([pipeline.source, *named] if pipeline.source else named))


def _has_extension(name: str) -> bool:
    return bool(re.fullmatch(r"[\w.-]+\.[a-z]{2,4}", name))


def harvest_shell(tree: SourceTree) -> tuple[list[HarvestedPipeline], list[Rejected]]:
    """Every command of the tree's shell scripts, in the order of the text, as one or the other."""
    accepted: list[HarvestedPipeline] = []
    rejected: list[Rejected] = []
    known: dict[str, str] = {}
    for file in tree.files:
        if file.language != "shell":
            continue
        for number, line, comment in commands(file.text):
            source_id = f"{file.path}::{number}"
            try:
                found = _harvested(line, comment, source_id, tree.licence)
                first = known.setdefault(_normal(found.pipeline), source_id)
                if first != source_id:
                    raise UnfitError("duplicate", first)
                accepted.append(found)
            except UnfitError as error:
                rejected.append(Rejected(file.path, f"line {number}", error.kind, error.detail))
    return accepted, rejected


def _harvested(line: str, comment: str, source_id: str, licence: str) -> HarvestedPipeline:
    kind = secret_in(f"{line}\n{comment}")  # first: what is refused below may be quoted in its reason
    if kind:
        raise UnfitError("secret", kind)
    if inner := CAPTURED.fullmatch(line):
        line = inner["inner"]
    first = re.split(r"[\s;(]", line, maxsplit=1)[0]
    if first in KEYWORDS or line.endswith((";;", "{", ")")) or line.startswith(("(", ")")):
        raise UnfitError("control structure", first[:20])
    if first in BUILTINS:
        raise UnfitError("shell builtin", first)
    if re.match(r"\w+\+?=", line):
        raise UnfitError("assignment", line.split("=")[0])
    pipeline = parse_pipeline(line)
    try:
        described(pipeline)
    except UnfitError:
        if not comment:
            raise
    found = HarvestedPipeline(pipeline, comment, source_id, licence, ())
    faults = tuple(fault for fault in FAULTS if _has_place(found, fault))
    return replace(found, faults=faults)


def _has_place(found: HarvestedPipeline, fault: str) -> bool:
    try:
        return bool(found.draft(fault, World(random.Random(0), "train")))
    except UnfitError:
        return False


def _normal(pipeline: Pipeline) -> str:
    """Equal for lines that differ in the names of their files only."""
    kept = [[w.raw for i, w in enumerate(stage.words) if i not in stage.files] for stage in pipeline.stages]
    return f"{written(kept)} {bool(pipeline.target)} {pipeline.appends}"


def commands(script: str) -> Iterator[tuple[int, str, str]]:
    """(line number, command, the comment above it). Lines that go on are joined, here documents left out."""
    lines = script.split("\n")
    at, comment = 0, ""
    while at < len(lines):
        number, line = at + 1, lines[at].strip()
        at += 1
        if line.startswith("#"):
            comment = line.lstrip("# ").rstrip(". ")
            continue
        while at < len(lines) and (line.endswith(("\\", "|")) or _is_open(line)):
            joined = line[:-1] if line.endswith("\\") else line + ("\n" if _is_open(line) else " ")
            line = (joined + lines[at].strip()).strip()
            at += 1
        if found := HERE.search(QUOTED.sub("", line)):
            while at < len(lines) and lines[at].strip() != found[1]:
                at += 1
            at += 1
        if line:
            yield number, line, comment
        comment = ""


def _is_open(line: str) -> bool:
    """Whether a quote is still open at the end."""
    rest = QUOTED.sub("", line)
    return "'" in rest or '"' in rest
