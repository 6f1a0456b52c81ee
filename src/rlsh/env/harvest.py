"""From a folder of scripts to references and pipelines that were seen to work, and a report of everything else."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rlsh.env.harvest_trial import CRITERIA, pool_of, showing, usable
from rlsh.runfolder import RunFolder
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.harvest import (
    Harvested,
    HarvestedPipeline,
    Rejected,
    Skipped,
    UnfitError,
    harvest_python,
    harvest_shell,
    source_tree,
)
from rlsh.tasks.values import to_tagged

OUTCOMES = "harvest"  # .jsonl in the output folder

Found = Harvested | HarvestedPipeline
Decision = dict[str, Any]  # "kept": indices of inputs, or names of faults; or "kind" and "detail"


@dataclass(frozen=True)
class HarvestReport:
    """What became of every file, function and pipeline of a tree, each in the order of paths and text."""

    files: int  # scripts that were read
    skipped: tuple[Skipped, ...]
    functions: tuple[Harvested, ...]
    pipelines: tuple[HarvestedPipeline, ...]
    rejected: tuple[Rejected, ...]  # of Python: functions, and files that do not parse
    rejected_lines: tuple[Rejected, ...]  # of shell scripts

    @property
    def seen(self) -> int:
        """How many functions there are, methods included."""
        return len(self.functions) + sum(bool(row.function) for row in self.rejected)

    def as_dict(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "skipped": dict(Counter(row.reason for row in self.skipped)),
            "functions": {"seen": self.seen, "accepted": len(self.functions), "rejected": dict(self.kinds)},
            "pipelines": {
                "accepted": len(self.pipelines),
                "rejected": dict(Counter(row.kind for row in self.rejected_lines)),
            },
        }

    @property
    def kinds(self) -> Counter[str]:
        """How many functions, and files that do not parse, were rejected for which kind of reason."""
        return Counter(row.kind for row in self.rejected)


def harvest(
    root: Path,
    sandbox: Sandbox,
    out: Path,
    workers: int = 2,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> HarvestReport:
    """Reads the scripts under `root`, which is left as it is, and tries in the sandbox what can stand alone.

    Outcomes go to `out` as they come: called again after a stop it goes on there, and what has not changed is not
    tried again. The same tree gives the same report. Raises RlshError where `root` or `out` cannot be used,
    SandboxError where the host fails.
    """
    tree = source_tree(root)
    functions, rejected = harvest_python(tree)
    pipelines, rejected_lines = harvest_shell(tree)
    with RunFolder.create(out, "", resume=True) as run:
        tried = _tried([*functions, *pipelines], sandbox, run, workers, progress)
    of_python, of_shell = tried[: len(functions)], tried[len(functions) :]
    return HarvestReport(
        files=len(tree.files),
        skipped=tree.skipped,
        functions=tuple(row for row in of_python if isinstance(row, Harvested)),
        pipelines=tuple(row for row in of_shell if isinstance(row, HarvestedPipeline)),
        rejected=_with_fallen(rejected, of_python),
        rejected_lines=_with_fallen(rejected_lines, of_shell),
    )


def trial(found: Harvested, sandbox: Sandbox) -> Harvested | Rejected:
    """`found` with a `draw` that gives nothing but inputs that it was seen to answer, or why it is of no use.

    The same function and inputs give the same outcome. Raises SandboxError where the host fails.
    """
    decision = _decided(found, sandbox)
    return _drawing(found, decision["kept"]) if "kept" in decision else _rejected(found, decision)


def _tried(
    found: Sequence[Found], sandbox: Sandbox, run: RunFolder, workers: int, progress: Callable[[int, int], None]
) -> list[Found | Rejected]:
    """What becomes of each. A decision is on the disk before the next is waited for."""
    known: dict[str, Decision] = {record["key"]: record for record in run.read(OUTCOMES)}
    keys = [_key(one) for one in found]
    pool = ThreadPoolExecutor(workers)
    try:
        waiting = {
            pool.submit(_decided, one, sandbox): key for one, key in zip(found, keys, strict=True) if key not in known
        }
        progress(len(found) - len(waiting), len(found))
        for done, future in enumerate(as_completed(waiting), len(found) - len(waiting) + 1):
            key = waiting[future]
            known[key] = future.result()
            run.append(OUTCOMES, {"step": len(known), "key": key, **known[key]})
            progress(done, len(found))
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C waits for no more than what is being tried
    return [_resolved(one, known[key]) for one, key in zip(found, keys, strict=True)]


def _decided(found: Found, sandbox: Sandbox) -> Decision:
    try:
        if isinstance(found, Harvested):
            return {"kept": usable(found, pool_of(found), sandbox)}
        return {"kept": showing(found, sandbox)}
    except UnfitError as error:
        return {"kind": error.kind, "detail": error.detail}


def _resolved(found: Found, decision: Decision) -> Found | Rejected:
    if "kept" not in decision:
        return _rejected(found, decision)
    if isinstance(found, Harvested):
        return _drawing(found, decision["kept"])
    return replace(found, faults=tuple(decision["kept"]))


def _drawing(found: Harvested, kept: Sequence[int]) -> Harvested:
    """`found`, drawing from these inputs of its pool alone."""
    pool = pool_of(found)
    inputs = [pool[i] for i in kept]
    return replace(found, reference=replace(found.reference, draw=lambda d: d.pick(inputs)))


def _rejected(found: Found, decision: Decision) -> Rejected:
    path, _, name = found.source_id.partition("::")
    place = name if isinstance(found, Harvested) else f"line {name}"
    return Rejected(path, place, decision["kind"], decision["detail"])


def _key(found: Found) -> str:
    """A hash of all that a decision hangs on."""
    if isinstance(found, Harvested):
        content = json.dumps([found.reference.name, found.reference.source, to_tagged(pool_of(found))])
    else:
        content = repr((found.source_id, found.pipeline, found.comment))
    return hashlib.sha256(f"{CRITERIA} {content}".encode()).hexdigest()[:24]


def _with_fallen(rejected: Iterable[Rejected], tried: Iterable[Found | Rejected]) -> tuple[Rejected, ...]:
    rows = [*rejected, *(row for row in tried if isinstance(row, Rejected))]
    return tuple(sorted(rows, key=lambda row: row.path))


# --- the report -------------------------------------------------------------------------------------------------


def table(report: HarvestReport) -> tuple[list[str], list[str]]:
    """Lines of counts, every reason with how often it was met; and a line for each thing that was rejected."""
    counted = [
        f"{report.files} scripts read, {len(report.skipped)} files and folders skipped",
        *_counted(row.reason for row in report.skipped),
        f"{report.seen} functions: {len(report.functions)} accepted, {report.seen - len(report.functions)} rejected",
        *_counted(row.kind for row in report.rejected),
        f"{len(report.pipelines)} pipelines accepted, {len(report.rejected_lines)} shell commands rejected",
        *_counted(row.kind for row in report.rejected_lines),
    ]
    rows = [*report.rejected, *report.rejected_lines]
    width = max((len(_place(row)) for row in rows), default=0)
    return counted, [f"{_place(row):{width}}  {row.reason}" for row in rows]


def _place(row: Rejected) -> str:
    return f"{row.path}::{row.function}" if row.function else row.path


def _counted(reasons: Iterable[str]) -> Iterator[str]:
    for reason, count in sorted(Counter(reasons).items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:7}  {reason}"
