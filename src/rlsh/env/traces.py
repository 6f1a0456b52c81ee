"""Demonstrations: reference solutions as somebody would reach them, observations real."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

from rlsh.env.episode import EnvConfig, Episode
from rlsh.env.record import FINAL
from rlsh.env.routes import route
from rlsh.runfolder import write_whole
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.task import Task
from rlsh.types import Message, RlshError, Role, ToolCall

ROLES: dict[str, Role] = {role: role for role in get_args(Role)}


def trace(task: Task, sandbox: Sandbox, env: EnvConfig) -> list[Message]:
    """A demonstration of `task`, as `route` goes: what is said, what really comes of it, and the end.

    Raises RlshError if it is not paid, or the host fails.
    """
    episode = Episode(task, sandbox, env)
    episode.reset()
    try:
        for call in route(task, env.max_turns - 1):
            if episode.step(Message("assistant", call=call)) is None:
                raise RlshError(f"{task.id}: the demonstration ended early ({episode.stop})")
        episode.step(Message("assistant", FINAL))
        verdict = episode.verdict()
        if verdict.reward != 1.0:
            raise RlshError(f"{task.id}: the demonstration is not paid ({', '.join(verdict.reasons)})")
    finally:
        episode.close()
    return episode.messages


def traces(
    tasks: Sequence[Task], sandbox: Sandbox, env: EnvConfig, progress: Callable[[int], None] = lambda done: None
) -> list[list[Message]]:
    """A demonstration of each task, in their order. Errors: as `trace`."""
    found = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, messages in enumerate(pool.map(lambda task: trace(task, sandbox, env), tasks), 1):
            found.append(messages)
            progress(done)
    return found


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
