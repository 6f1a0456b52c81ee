"""From a family and a seed to a task that is not yet recorded."""

from __future__ import annotations

import random
from typing import Literal

from rlsh.tasks.checks import ShellCheck
from rlsh.tasks.shell.draft import Draft
from rlsh.tasks.shell.drills import FAMILIES, SET_OF
from rlsh.tasks.task import Task
from rlsh.tasks.world import World, with_parents
from rlsh.types import exec_call

Split = Literal["train", "held_out"]


def draw(family: str, seed: int, split: Split) -> tuple[Draft, Task]:
    """The draft that (family, seed, split) names and its task, not yet recorded."""
    w = World(random.Random(f"{family} {seed} {split}"), split)
    draft = FAMILIES[family](w)
    commands = [*draft.looks[:1], draft.repair] if draft.must_look else [draft.repair]
    visible, hidden = with_parents(draft.fixtures(w)), with_parents(draft.fixtures(w))
    task = Task(
        id="",
        family=family,
        set=SET_OF[family],
        split=split,
        seed=seed,
        instruction=draft.instruction,
        broken=draft.broken,
        error="",
        files=visible,
        checks=(ShellCheck(hidden, draft.compare),),
        reference=tuple(map(exec_call, commands)),
    )
    return draft, task
