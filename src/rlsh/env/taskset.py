"""A folder of tasks: what to train on, and what is held out, by instance and by kind of fault."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any, Literal, get_args

from rlsh.env.build import BuildReport, Draft, build, pipeline_drafts, shell_drafts, snippet_drafts
from rlsh.env.harvest import HarvestReport
from rlsh.env.trials import Trials
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.snippets import Origin
from rlsh.tasks.task import Split, Task, write_tasks
from rlsh.text.tokenizer import Tokenizer

Part = Literal["train", "held_out", "never_met"]
Source = Callable[[Sequence[str], int, Split], Iterator[Draft]]
SOURCES: Mapping[str, Source] = {"drills": shell_drafts, "shell": shell_drafts, "python": snippet_drafts}
SETS = {  # of each kind: those that are trained on, those whose faults are never met
    "drills": (("demonstrated", "reward_only"), ("never_met",)),
    "shell": (("shell",), ("shell_never_met",)),
    "python": (("python",), ("python_never_met",)),
}
MIXED = ("shell", "python")  # half and half
WORKERS = os.cpu_count() or 2


@dataclass(frozen=True)
class TaskSet:
    """Tasks and reports of each part. `seconds` is what making them took, kept trials apart."""

    tasks: Mapping[Part, Sequence[Task]]
    reports: Mapping[Part, BuildReport]
    seconds: float

    def write(self, folder: Path) -> None:
        """`train.jsonl`, and `held_out.jsonl` with both other parts. Raises RlshError where they cannot be written."""
        write_tasks(folder / "train.jsonl", self.tasks["train"])
        write_tasks(folder / "held_out.jsonl", [*self.tasks["held_out"], *self.tasks["never_met"]])

    def summary(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """The report of all parts and, under `parts`, of each."""
        whole = sum(self.reports.values(), BuildReport())
        return {
            **whole.as_dict(),
            "seconds": self.seconds,
            "tokens": {part: lengths(tasks, tokenizer) for part, tasks in self.tasks.items() if tasks},
            "parts": {part: report.as_dict() for part, report in self.reports.items()},
        }


def build_set(
    kind: str,
    counts: Mapping[Part, int],
    sandbox: Sandbox,
    *,
    seed: int,
    sources: Mapping[str, Source] = SOURCES,
    fewer: bool = False,
    trials: Trials | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> TaskSet:
    """`counts[part]` admitted tasks of `kind` ("mixed": half shell, half Python) for each part.

    What is held out shares neither words nor fixtures with what is trained on, Python not even functions; what is
    never met has faults besides of which no training task has any. Errors: as `build`.
    """
    began, done = time.monotonic(), 0
    tasks: dict[Part, list[Task]] = {part: [] for part in get_args(Part)}
    reports: dict[Part, BuildReport] = {part: BuildReport() for part in get_args(Part)}
    kinds = MIXED if kind == "mixed" else (kind,)
    for part in reversed(get_args(Part)):  # the scarcest first: what cannot be made is known at once
        split: Split = "train" if part == "train" else "held_out"
        for share, one in zip(shares(counts[part], len(kinds)), kinds, strict=True):
            sets = SETS[one][part == "never_met"]
            made, report = build(
                sources[one](sets, seed, split),
                share,
                sandbox,
                workers=WORKERS,
                fewer=fewer,
                trials=trials,
                progress=lambda n, done=done: progress(done + n),  # type: ignore[misc]
            )
            done += len(made)
            tasks[part] += made
            reports[part] += report
    return TaskSet(tasks, reports, time.monotonic() - began)


def shares(count: int, of: int) -> list[int]:
    """`count` in `of` parts that differ by 1 at most."""
    return [(count + i) // of for i in reversed(range(of))]


def lengths(tasks: Sequence[Task], tokenizer: Tokenizer) -> dict[str, float]:
    """Of prompts, in tokens: median, 95th percentile, largest."""
    found = sorted(map(len, tokenizer.encode_batch([task.prompt for task in tasks])))
    cuts = quantiles(found, n=20, method="inclusive") if len(found) > 1 else found * 19
    return {"median": cuts[9], "p95": cuts[18], "max": found[-1]}


def harvested(report: HarvestReport) -> Mapping[str, Source]:
    """The functions and pipelines of somebody's scripts, in the place of those that come with rlsh."""
    functions = {one.reference: Origin(one.source_id, one.licence) for one in report.functions}
    return {
        "python": partial(snippet_drafts, functions=functions),
        "shell": partial(pipeline_drafts, report.pipelines),
    }
