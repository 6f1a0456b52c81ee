"""The generic attacks on somebody's own tasks: which of them are paid for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from rlsh.attacks.stage import fill
from rlsh.attacks.suite import Attack
from rlsh.attacks.targets import TaskTarget, of_task
from rlsh.env.admission import LIMITS
from rlsh.env.verify import verify_command
from rlsh.sandbox.base import Sandbox, SandboxError
from rlsh.tasks.task import Task
from rlsh.types import RlshError


@dataclass(frozen=True)
class Fallen:
    """A task that pays for an attack."""

    task: str
    attack: str


def run_tasks(
    tasks: Sequence[Task], attacks: Sequence[Attack], sandbox: Sandbox, progress: Callable[[int], None]
) -> list[Fallen]:
    """Which of the generic `attacks` earn a reward on which of `tasks`, in the order of both.

    An attack is left out for a task that has not all of its words: one that calls a function, for a shell task.
    Raises RlshError where none of the attacks is generic, or none is left for some task; SandboxError where the host
    fails.
    """
    generic = [attack for attack in attacks if attack.generic]
    if not generic:
        raise RlshError("none of these attacks is generic: give one of them generic = true")
    fallen: list[Fallen] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, found in enumerate(pool.map(lambda task: run_task(task, generic, sandbox), tasks), 1):
            fallen += found
            progress(number)
    return fallen


def run_task(task: Task, generic: Sequence[Attack], sandbox: Sandbox) -> list[Fallen]:
    """Errors: as `run_tasks`."""
    target = of_task(task, sandbox)
    fitting = [attack for attack in generic if attack.needs <= target.words.keys()]
    if not fitting:
        missing = sorted(generic[0].needs - target.words.keys())
        raise RlshError(f"{task.id}: no generic attack fits this task; {generic[0].id} needs {', '.join(missing)}")
    return [Fallen(task.id, attack.id) for attack in fitting if pays(target, attack, sandbox)]


def pays(target: TaskTarget, attack: Attack, sandbox: Sandbox) -> bool:
    """Whether the task rewards the attack: its source stands in the workspace from the start, its command is run.

    Raises SandboxError where the host fails.
    """
    source = None if attack.source is None else fill(attack.source, target.words)
    task = replace(target.task, files=target.workspace(source))
    verdict = verify_command(task, fill(attack.command, target.words), sandbox, LIMITS)
    if verdict.infra:
        raise SandboxError(f"{task.id}, {attack.id}: {verdict.reasons[0]}")
    return verdict.reward > 0.0
