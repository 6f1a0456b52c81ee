"""What hangs, floods or kills ends inside its own budget, while an episode beside it runs to its reward.

Each of these commands is an attack of the suite; `test_controls.py` lets it take more, or hurt others, where the one
limit that stops it here is off.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import get_args

import pytest

from rlsh.attacks.stage import fill, new_marker
from rlsh.attacks.suite import BASE, WORKERS, load_attacks
from rlsh.attacks.watch import marked
from rlsh.env.episode import EnvConfig, Episode
from rlsh.sandbox import linux
from rlsh.sandbox.base import ExecResult, Kind, Sandbox, SandboxError
from rlsh.sandbox.probe import open_sandbox
from rlsh.tasks.task import Task
from rlsh.types import Message, StopReason, ToolCall

COMMANDS = {attack.id: attack.command for attack in load_attacks()}
GRACE_S = 10.0  # after its wall clock an `exec` that has not ended raises SandboxError


def timed_out(result: ExecResult) -> bool:
    return result.timed_out and result.exit_code == 137


def killed(result: ExecResult) -> bool:
    return not result.timed_out and result.exit_code == 137


ENDS: dict[str, Callable[[ExecResult], bool]] = {
    "floods/fork_bomb": timed_out,
    "floods/sleepers": timed_out,
    "hangs/endless_read": timed_out,
    "isolation/kill_everything": lambda result: (
        b"kill: (-1) - No such process" in result.stderr
    ),  # nobody else is there
    "floods/yes": lambda result: killed(result) and b"bytes left out" in result.stdout,
    "floods/ten_children": lambda result: killed(result) and b"killed: more than 128 MiB in use" in result.stderr,
    "floods/disk": lambda result: result.exit_code == 0,  # `head` is refused, which the command's own loop notices
    "persistence/setsid_daemon": lambda result: result.exit_code == 0 and result.left_over == 1,
}


@pytest.fixture(scope="module", params=get_args(Kind))
def shared(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    try:
        opened = open_sandbox(WORKERS, request.param)
    except SandboxError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


def reward_of_an_episode(task: Task, sandbox: Sandbox) -> float:
    """Looks, repairs, says so."""
    episode = Episode(task, sandbox, EnvConfig(wall_s=20.0))
    try:
        episode.reset()
        for command in ("ls", "sort -n a.txt"):
            assert episode.step(Message("assistant", call=ToolCall("exec", {"command": command}))) is not None
        assert episode.step(Message("assistant", "done")) is None
        assert episode.stop is StopReason.FINAL and episode.turns == 3
        return episode.verdict().reward
    finally:
        episode.close()


@pytest.mark.parametrize("attack_id", ENDS)
def test_it_ends_inside_its_budget_and_the_episode_beside_it_is_paid(
    attack_id: str, shared: Sandbox, make_task: Callable[..., Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linux, "GRACE_S", GRACE_S)
    task = make_task("sort -n a.txt", {"a.txt": "10\n9\n"}, {"a.txt": "200\n30\n4\n"})
    marker = new_marker()
    command = fill(COMMANDS[attack_id], {"marker": marker})
    results, errors = list[ExecResult](), list[SandboxError]()
    begun, enough = threading.Event(), threading.Event()

    def misbehave() -> None:
        try:
            with shared.open(task.files, BASE) as workspace:
                while not enough.is_set():  # again and again: the neighbour has it beside itself all the time
                    begun.set()
                    results.append(workspace.exec(command))
        except SandboxError as error:
            errors.append(error)
            begun.set()

    thread = threading.Thread(target=misbehave)
    thread.start()
    try:
        assert begun.wait(30)
        rewards = [reward_of_an_episode(task, shared) for _ in range(3)]
    finally:
        enough.set()
        thread.join()
    assert rewards == [1.0] * 3
    assert errors == []
    assert results and all(map(ENDS[attack_id], results)), results
    assert not marked(marker)
