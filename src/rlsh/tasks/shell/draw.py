"""From a family and a seed to a task that is not yet recorded."""

from __future__ import annotations

import random
from dataclasses import replace

from rlsh.tasks.checks import ShellCheck
from rlsh.tasks.shell.draft import Draft
from rlsh.tasks.shell.sets import FAMILIES, SET_OF
from rlsh.tasks.task import Split, Task
from rlsh.tasks.world import World, with_parents


def draw(family: str, seed: int, split: Split) -> tuple[Draft, Task]:
    """The draft that (family, seed, split) names and its task, not yet recorded."""
    w = World(random.Random(f"{family} {seed} {split}"), split)
    draft = FAMILIES[family](w)
    return draft, task_of(draft, w, family=family, set=SET_OF[family], seed=seed)


def task_of(
    draft: Draft, w: World, *, family: str, set: str, seed: int, source: str = "rlsh", licence: str = "MIT"
) -> Task:
    """The task of a draft, both its fixtures drawn from `w`, not yet recorded."""
    visible, hidden = with_parents(draft.fixtures(w)), with_parents(draft.fixtures(w))
    return Task(
        id="",
        family=family,
        set=set,
        split=w.pool,
        seed=seed,
        instruction=draft.instruction,
        broken=draft.broken,
        error="",
        files=visible,
        checks=(ShellCheck(hidden, draft.compare, draft.script, draft.broken if draft.script else ""),),
        reference=draft.reference,
        source=source,
        licence=licence,
        operators=draft.faults,
    )


def redrawn(task: Task, number: int) -> Task:
    """`task` with the `number`th other hidden fixtures, not recorded; itself where it is none that `draw` gives.

    The same number gives the same fixtures. What people see of the task stays.
    """
    if task.source != "rlsh" or task.family not in FAMILIES:
        return task
    draft, again = draw(task.family, task.seed, task.split)
    if again.content_hash != task.content_hash:  # drawn by another version, or edited
        return task
    w = World(random.Random(f"{task.family} {task.seed} {task.split} again {number}"), task.split)
    (check,) = again.checks
    assert isinstance(check, ShellCheck)
    return replace(task, checks=(replace(check, files=with_parents(draft.fixtures(w))),))
