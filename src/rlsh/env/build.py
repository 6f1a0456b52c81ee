"""Task generation: attempts in a fixed order, tried out in parallel, the first good ones kept."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count, islice, zip_longest
from typing import Any, Protocol

from rlsh.env.admission import UnfitTaskError, admit, record
from rlsh.env.snippets import task_from
from rlsh.env.trials import Trial, Trials
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.catalogue import Reference, references
from rlsh.tasks.checks import PythonCheck, ShellCheck
from rlsh.tasks.harvest import HarvestedPipeline, UnfitError
from rlsh.tasks.mutation import normalised
from rlsh.tasks.shell import FAMILIES, SET_OF, draw, task_of
from rlsh.tasks.snippets import Origin, Snippet, snippets, split_of
from rlsh.tasks.task import Split, Task
from rlsh.tasks.world import World, pool_of
from rlsh.types import RlshError

AT_ONCE = 32  # attempts handed to the workers together; what lies behind the last task needed is thrown away
MOST = 8  # attempts for each task that is wanted


class Draft(Protocol):
    """What a task may be made of. `key` names all that went into it, rejections are counted under `family`."""

    @property
    def key(self) -> str: ...
    @property
    def family(self) -> str: ...

    def task(self, sandbox: Sandbox) -> Task:
        """Recorded, not yet admitted. Raises UnfitTaskError, and SandboxError where the host fails."""


@dataclass(frozen=True)
class ShellDraft:
    """A task whose files, command and reference are there."""

    drawn: Task

    @property
    def key(self) -> str:
        return self.drawn.content_hash

    @property
    def family(self) -> str:
        return self.drawn.family

    def task(self, sandbox: Sandbox) -> Task:
        return record(self.drawn, sandbox)


@dataclass(frozen=True)
class SnippetDraft:
    """A faulty function, of which it is not known whether any call shows the fault."""

    drawn: Snippet

    @property
    def key(self) -> str:
        return self.drawn.key

    @property
    def family(self) -> str:
        return self.drawn.family

    def task(self, sandbox: Sandbox) -> Task:
        return task_from(self.drawn, sandbox)


@dataclass(frozen=True)
class PipelineDraft:
    """A pipeline of somebody's script, under other names, with one of the faults that show in it."""

    pipeline: HarvestedPipeline
    fault: str
    seed: int
    split: Split

    @property
    def key(self) -> str:
        return sha256_of([repr(self.pipeline), self.fault, str(self.seed), self.split])

    @property
    def family(self) -> str:
        return f"harvested_{self.fault}"

    def task(self, sandbox: Sandbox) -> Task:
        p = self.pipeline
        w = World(random.Random(f"{p.source_id} {self.fault} {self.seed} {self.split}"), self.split)
        try:
            draft = p.draft(self.fault, w)
        except UnfitError:
            raise UnfitTaskError("no place for the fault") from None
        drawn = task_of(
            draft, w, family=self.family, set="shell", seed=self.seed, source=p.source_id, licence=p.licence
        )
        return record(drawn, sandbox)


@dataclass(frozen=True)
class BuildReport:
    """What became of every attempt, rejections by family and reason. `sha256` names the tasks and their order."""

    accepted: int = 0
    duplicates: int = 0
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    sha256: str = ""

    def __add__(self, other: BuildReport) -> BuildReport:
        return BuildReport(
            self.accepted + other.accepted,
            self.duplicates + other.duplicates,
            self.rejected + other.rejected,
            self.families + other.families,
            self.operators + other.operators,
            sha256_of([self.sha256, other.sha256]) if self.sha256 else other.sha256,
        )

    @property
    def reasons(self) -> Counter[str]:
        """Rejections by reason alone."""
        found = Counter[str]()
        for (_, reason), times in self.rejected.items():
            found[reason] += times
        return found

    def as_dict(self) -> dict[str, Any]:
        refused = Counter[str]()
        for (family, _), times in self.rejected.items():
            refused[family] += times
        return {
            "accepted": self.accepted,
            "rejected": dict(self.reasons.most_common()),
            "duplicates": self.duplicates,
            "families": dict(self.families.most_common()),
            "rejected_by_family": dict(refused.most_common()),
            "operators": dict(self.operators.most_common()),
            "sha256": self.sha256,
        }


def sha256_of(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def shell_drafts(sets: Iterable[str], seed: int, split: Split) -> Iterator[ShellDraft]:
    """Without end, families in turn."""
    families = [name for name in FAMILIES if SET_OF[name] in sets]
    for at in count():
        yield ShellDraft(draw(families[at % len(families)], seed * 1_000_003 + at, split)[1])


def snippet_drafts(
    sets: Iterable[str], seed: int, split: Split, functions: Mapping[Reference, Origin] | None = None
) -> Iterator[SnippetDraft]:
    """Functions of the split in turn, until none of them has another fault of these sets; default: the catalogue's."""
    origins = dict.fromkeys(references(), Origin()) if functions is None else functions
    waiting = [one for one in origins if split_of(one.name) == split]
    random.Random(f"functions {seed}").shuffle(waiting)

    def of(function: Reference) -> Iterator[Snippet]:
        return (one for name in sets for one in snippets(function, name, seed, origins[function]))

    turns = zip_longest(*map(of, waiting))
    return (SnippetDraft(one) for turn in turns for one in turn if one is not None)


def pipeline_drafts(
    pipelines: Sequence[HarvestedPipeline], sets: Iterable[str], seed: int, split: Split
) -> Iterator[PipelineDraft]:
    """Without end, pipelines in turn, and each one's faults; none where no pipeline is of this split."""
    mine = [one for one in pipelines if pool_of(one.source_id) == split] if "shell" in sets else []
    for at in count() if mine else ():
        one, turn = mine[at % len(mine)], at // len(mine)
        yield PipelineDraft(one, one.faults[turn % len(one.faults)], seed * 1_000_003 + turn, split)


def attempt(draft: Draft, sandbox: Sandbox) -> Trial:
    """Raises SandboxError where the host fails."""
    try:
        task = draft.task(sandbox)
    except UnfitTaskError as error:
        return Trial(draft.key, None, str(error))
    reason = admit(task, sandbox)
    return Trial(draft.key, task) if reason is None else Trial(draft.key, None, reason)


def build(
    drafts: Iterator[Draft],
    count: int,
    sandbox: Sandbox,
    *,
    workers: int,
    fewer: bool = False,
    trials: Trials | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Task], BuildReport]:
    """The first `count` admitted tasks, no two of them equivalent; the same drafts give the same tasks.

    Raises SandboxError where the host fails and, unless `fewer` will do, RlshError where there are too few drafts.
    """
    trials, tasks, seen = trials or Trials(), list[Task](), set[str]()
    rejected, duplicates = Counter[tuple[str, str]](), 0
    bounded = islice(drafts, MOST * (count + AT_ONCE))

    def tried() -> Iterator[tuple[Draft, Trial]]:
        pool = ThreadPoolExecutor(workers)
        try:
            while some := list(islice(bounded, AT_ONCE)):
                kept = [trials.get(draft.key) for draft in some]
                yield from zip(some, pool.map(lambda d, k: k or attempt(d, sandbox), some, kept), strict=True)
        finally:  # nobody waits for attempts that nobody needs
            pool.shutdown(cancel_futures=True)

    for draft, trial in tried() if count else ():
        trials.keep(trial)
        if trial.task is None:
            rejected[draft.family, trial.reason] += 1
        elif (what := identity(trial.task)) in seen:
            duplicates += 1
        else:
            seen.add(what)
            tasks.append(trial.task)
            progress(len(tasks))
            if len(tasks) == count:
                break
    report = BuildReport(
        len(tasks),
        duplicates,
        rejected,
        Counter(task.family for task in tasks),
        Counter(operator for task in tasks for operator in task.operators),
        sha256_of(task.id for task in tasks),
    )
    if len(tasks) < count and not fewer:
        raise RlshError(
            f"only {len(tasks)} of {count} tasks could be made ({duplicates} duplicates, "
            f"{rejected.total()} rejected{': ' if rejected else ''}"
            f"{', '.join(f'{times}x {reason}' for reason, times in report.reasons.most_common(3))}): ask for fewer"
        )
    return tasks, report


def build_tasks(
    sandbox: Sandbox,
    sets: Iterable[str],
    count: int,
    *,
    seed: int,
    split: Split,
    workers: int,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Task], BuildReport]:
    """`count` tasks of the shell families of these sets, families in turn. Errors: as `build`."""
    return build(shell_drafts(sets, seed, split), count, sandbox, workers=workers, progress=progress)


def identity(task: Task) -> str:
    """Equal for tasks that one and the same repair solves: Python apart from its names, shell apart from its files."""
    parts = [task.instruction, task.broken]
    for check in task.checks:
        match check:
            case PythonCheck(file=path):
                parts = [bare(task.files[path].content.decode())]
            case ShellCheck(script=path) if path:
                parts.append(task.files[path].content.decode())
    return "\0".join(parts)


def bare(source: str) -> str:
    """The normal form of Python source; where it does not parse, its text."""
    try:
        return normalised(source)
    except SyntaxError:
        return source
