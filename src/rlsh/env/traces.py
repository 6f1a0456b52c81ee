"""Demonstrations: reference solutions as somebody would reach them, observations real."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from rlsh.env.episode import EnvConfig, Episode
from rlsh.env.record import FINAL
from rlsh.runfolder import write_whole
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.shell import Split, draw
from rlsh.tasks.task import Task
from rlsh.types import Message, RlshError, Role, ToolCall, exec_call

ROLES: dict[str, Role] = {role: role for role in get_args(Role)}
LOOK, SLIP = 0.3, 0.25  # shares of demonstrations that look around first, that try something wrong first


def trace(task: Task, sandbox: Sandbox, env: EnvConfig) -> list[Message]:
    """A demonstration of `task`: perhaps a look, perhaps a wrong try, then the reference, then the end.

    Which detours is drawn from the task's seed. Raises RlshError if the host fails.
    """
    split: Split = task.split
    draft, _ = draw(task.family, task.seed, split)
    rng = random.Random(f"trace {task.id}")
    commands = []
    if draft.looks and not draft.must_look and rng.random() < LOOK:
        commands.append(rng.choice(draft.looks))
    if draft.slips and not draft.script and rng.random() < SLIP:  # a script is edited once: a slip would stay in it
        commands.append(rng.choice(draft.slips))
    episode = Episode(task, sandbox, env)
    episode.reset()
    try:
        for call in [*map(exec_call, commands), *task.reference]:
            if episode.step(Message("assistant", call=call)) is None:
                raise RlshError(f"{task.id}: the demonstration ended early ({episode.stop})")
        episode.step(Message("assistant", FINAL))
    finally:
        episode.close()
    return episode.messages


def message_to_json(message: Message) -> dict[str, object]:
    call = message.call
    return {
        "role": message.role,
        "content": message.content,
        "call": None if call is None else {"name": call.name, "arguments": dict(call.arguments)},
    }


def write_traces(path: Path, traces: Iterable[Sequence[Message]]) -> None:
    """Whole or not at all. Raises RlshError where `path` cannot be written."""
    lines = [json.dumps({"messages": [message_to_json(m) for m in t]}, ensure_ascii=False) for t in traces]
    write_whole(path, "\n".join(lines) + "\n", "choose a folder you may write to")


def read_traces(path: Path) -> list[list[Message]]:
    """Raises RlshError naming file, line and fault."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise RlshError(f"{path}: cannot read traces ({error}); make them with: rlsh tasks traces") from None
    traces = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            traces.append(
                [
                    Message(
                        ROLES[m["role"]],  # a role there is none of is a KeyError
                        m["content"],
                        m["call"] and ToolCall(m["call"]["name"], m["call"]["arguments"]),
                    )
                    for m in json.loads(line)["messages"]
                ]
            )
        except (ValueError, KeyError, TypeError) as error:
            raise RlshError(f"{path}, line {number}: not a trace ({error!r})") from None
    return traces
