"""Running what `tasks` draws: sessions, and how they read in a terminal and in a chat."""

from __future__ import annotations

import hashlib
import random
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from rlsh.sandbox.base import Limits, Sandbox, SandboxError
from rlsh.tasks.sessions import Session
from rlsh.text.dialect import clean, exec_observation
from rlsh.types import Message, exec_call

EXCERPT = 0.4  # share of requests in a chat that come with what the terminal shows
FINAL = "done"


@dataclass(frozen=True)
class Recorded:
    """One command of a session and what really came of it; stdout and stderr as they were interleaved."""

    comment: str
    command: str
    output: str
    exit_code: int


def record_session(sandbox: Sandbox, session: Session, limits: Limits, limit: int = 120) -> list[Recorded]:
    """Runs the session's commands one after another; each output is cut to `limit` characters.

    All commands run in one sandbox, each by its own `bash -c`, so their errors read as anywhere else. Raises
    SandboxError where not every command got to its end.
    """
    # between outputs stands the session's own digest: a file of the session cannot contain it
    mark = hashlib.sha256(repr(session).encode()).hexdigest()
    lines = [f"bash -c {shlex.quote(use.command)} 2>&1; printf '{mark}%d {mark}' $?" for use in session.uses]
    with sandbox.open(session.files, limits) as workspace:
        result = workspace.exec("\n".join(lines))
    *parts, rest = result.stdout.split(mark.encode())
    outputs, codes = parts[::2], parts[1::2]
    if len(codes) != len(session.uses) or rest:
        raise SandboxError(f"{len(codes)} of {len(session.uses)} commands of a session came to their end")
    return [
        Recorded(use.comment, use.command, clean(output, limit).rstrip("\n"), int(code))
        for use, output, code in zip(session.uses, outputs, codes, strict=True)
    ]


def as_terminal(turns: Sequence[Recorded]) -> str:
    """The session as a terminal shows it, purposes as comments."""
    shown = []
    for turn in turns:
        shown += [f"# {turn.comment}"] if turn.comment else []
        shown += [f"$ {turn.command}"]
        shown += [turn.output] if turn.output else []
    return "\n".join(shown) + "\n"


def as_chat(turns: Sequence[Recorded], rng: random.Random) -> list[Message]:
    """The session as requests of a user and commands of an assistant.

    Some requests come with an excerpt of the terminal: the command before them and its output, which has another
    purpose. A turn without a comment goes on with the request before it: a slip put right.
    """
    messages: list[Message] = []
    for i, turn in enumerate(turns):
        if turn.comment:
            messages += [Message("assistant", FINAL)] if messages else []
            request = turn.comment
            if i and rng.random() < EXCERPT:
                request += f"\n$ {turns[i - 1].command}\n{turns[i - 1].output}"
            messages.append(Message("user", request))
        messages.append(Message("assistant", call=exec_call(turn.command)))
        observation = exec_observation("rlsh", turn.output.encode(), b"", turn.exit_code, None, len(turn.output))
        messages.append(Message("tool", observation))
    return [*messages, Message("assistant", FINAL)]
