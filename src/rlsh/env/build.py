"""Task generation: attempts in a fixed order, tried out in parallel, the first good ones kept."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Protocol

from rlsh.env.admission import UnfitTaskError, admit, record
from rlsh.env.snippets import task_from
from rlsh.env.trials import Trial, Trials
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.catalogue import references
from rlsh.tasks.checks import PythonCheck, ShellCheck
from rlsh.tasks.mutation import normalised
from rlsh.tasks.shell import FAMILIES, SET_OF, draw
from rlsh.tasks.snippets import Snippet, is_double, snippet, split_of
from rlsh.tasks.task import Split, Task
from rlsh.types import RlshError

AT_ONCE = 64  # attempts handed to the workers together; what lies behind the last task needed is thrown away
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


@dataclass
class BuildReport:
    """What became of every attempt. `rejected` counts reasons by family; `sha256` names the tasks and their order."""

    accepted: int = 0
    duplicates: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    sha256: str = ""


def shell_drafts(sets: Iterable[str], seed: int, split: Split) -> Iterator[ShellDraft]:
    """Without end, families in turn."""
    families = [name for name in FAMILIES if SET_OF[name] in sets]
    for at in count():
        yield ShellDraft(draw(families[at % len(families)], seed * 1_000_003 + at, split)[1])


def snippet_drafts(sets: Iterable[str], seed: int, split: Split) -> Iterator[SnippetDraft]:
    """Functions of the split in turn, until none of them has another fault of these sets."""
    functions = [one for one in references() if split_of(one.name) == split]
    random.Random(f"functions {seed}").shuffle(functions)
    for number in count():
        drawn = [found for one in functions if (found := snippet(one, number, seed)) is not None]
        if not drawn and not is_double(number):
            return
        yield from (SnippetDraft(found) for found in drawn if found.set in sets)


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
    trials: Trials | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Task], BuildReport]:
    """The first `count` admitted tasks, no two of them equivalent; the same drafts give the same tasks.

    Raises SandboxError where the host fails, RlshError where there are too few drafts.
    """
    trials, report, tasks, seen = trials or Trials(), BuildReport(), [], set[str]()
    bounded = islice(drafts, MOST * (count + AT_ONCE))

    def tried() -> Iterator[tuple[Draft, Trial]]:
        with ThreadPoolExecutor(workers) as pool:
            while some := list(islice(bounded, AT_ONCE)):
                kept = [trials.get(draft.key) for draft in some]
                yield from zip(some, pool.map(lambda d, k: k or attempt(d, sandbox), some, kept), strict=True)

    for draft, trial in tried():
        trials.keep(trial)
        if trial.task is None:
            report.rejected[f"{draft.family}: {trial.reason}"] += 1
        elif (what := identity(trial.task)) in seen:
            report.duplicates += 1
        else:
            seen.add(what)
            tasks.append(trial.task)
            report.families[trial.task.family] += 1
            report.operators.update(trial.task.operators)
            progress(len(tasks))
            if len(tasks) == count:
                break
    report.accepted = len(tasks)
    report.sha256 = hashlib.sha256("".join(task.id for task in tasks).encode()).hexdigest()
    if len(tasks) < count:
        raise RlshError(
            f"only {len(tasks)} of {count} tasks could be made ({report.duplicates} duplicates, "
            f"{report.rejected.total()} rejected): ask for fewer"
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
