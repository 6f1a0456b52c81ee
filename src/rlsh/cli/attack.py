"""`rlsh attack`: the suite against a sandbox, or against somebody's own tasks."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from rlsh.cli.commands import claim, emit, sandbox, say
from rlsh.sandbox.base import Backend, Sandbox
from rlsh.types import RlshError

if TYPE_CHECKING:
    from rlsh.attacks.suite import Attack, Row


def attack(arguments: argparse.Namespace) -> None:
    from rlsh.attacks.suite import SUITE, load_attacks, totals

    attacks = load_attacks(Path(arguments.suite) if arguments.suite else SUITE)
    claim(arguments.json)
    if arguments.tasks is not None:
        return attack_tasks(arguments, attacks)
    if arguments.count is not None:
        raise RlshError(f"--count {arguments.count}: it counts tasks and needs --tasks FILE")
    say(arguments, f"{'class':18} {'attack':24} {'path':5} rewarded escaped survivors infra seconds")
    rows: list[Row] = []
    for opened, path in backends(arguments.sandbox, arguments.tools):
        rows += attack_backend(arguments, attacks, opened, path)
    summary = totals(rows)
    say(arguments, ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in summary.items()))
    emit({"rows": [row.as_json() for row in rows], "totals": summary}, arguments.json)
    if bad := sorted({row.attack.id for row in rows if not row.held}):
        raise RlshError(f"{len(bad)} attacks were not held off: {', '.join(bad)}")


def backends(chosen: Backend | None, tools: Sequence[Path]) -> Iterator[tuple[Sandbox, str]]:
    """The chosen sandbox, or all that work here, each closed before the next is opened.

    Raises SandboxError where there is none.
    """
    from rlsh.attacks.suite import WORKERS
    from rlsh.sandbox.probe import open_sandbox, probe

    wanted = [chosen] if chosen else [rung.name for rung in probe() if rung.ok]
    kinds: list[Backend | None] = [kind for kind in get_args(Backend) if kind in wanted]
    for kind in kinds or [None]:  # opening none of them says what is wrong
        opened = open_sandbox(WORKERS, kind, tools)
        try:
            yield opened, str(kind)
        finally:
            opened.close()


def attack_backend(
    arguments: argparse.Namespace, attacks: Sequence[Attack], opened: Sandbox, path: str
) -> Iterator[Row]:
    """Prints each row as it comes."""
    from rlsh.attacks.suite import run_attack
    from rlsh.attacks.targets import built_in

    targets = built_in(opened)
    for one in attacks:
        row = run_attack(one, targets[one.target], opened, path)
        words = ["yes" if bad else "no" for bad in (row.rewarded, row.escaped)]
        infra = "yes" if row.infra_forged else "no"
        line = f"{one.group:18} {one.name:24} {path:5} {words[0]:8} {words[1]:7} {row.survivors:<9} {infra:5}"
        notes = [*row.escaped, *([] if row.neighbour else ["the honest neighbour failed"])]
        say(arguments, f"{line} {row.seconds:7.2f} {'; '.join(notes)}".rstrip())
        yield row


def attack_tasks(arguments: argparse.Namespace, attacks: Sequence[Attack]) -> None:
    from rlsh.attacks.own_tasks import run_tasks
    from rlsh.tasks.task import read_tasks
    from rlsh.trainers.progress import Progress

    tasks = read_tasks(Path(arguments.tasks))[: arguments.count]
    with sandbox(arguments, arguments.tasks) as s:
        fallen = run_tasks(tasks, attacks, s, Progress("attack", len(tasks)).update)
    say(arguments, *(f"{one.task}: {one.attack}" for one in fallen))
    hacked = {one.task for one in fallen}
    say(arguments, f"{len(hacked)} of {len(tasks)} tasks pay for an attack")
    emit({"tasks": len(tasks), "fallen": [vars(one) for one in fallen]}, arguments.json)
    if hacked:
        raise RlshError(f"{arguments.tasks}: {len(hacked)} tasks can be hacked: make their hidden inputs differ more")
