"""The nouns every floor shares. No torch here: tasks, sandbox and environment import this file alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]
EntryKind = Literal["file", "dir", "link"]


class StopReason(StrEnum):
    """Why an episode ended."""

    FINAL = "final"  # the policy wrote a message without a tool call
    TURNS = "turns"  # the turn budget was spent
    TOKENS = "tokens"  # a turn or the episode ran out of tokens before its end token
    INFRA = "infra"  # the host failed, not the policy: the row is masked, never scored 0


class RlshError(Exception):
    """A fault whose message is written for the user: the value, the place and the way out."""


@dataclass(frozen=True)
class Entry:
    """One node of a workspace tree. For a link, `content` is its target."""

    content: bytes = b""
    mode: int = 0o644
    kind: EntryKind = "file"


Tree = Mapping[str, Entry]  # POSIX path relative to the workspace -> entry


@dataclass(frozen=True)
class ToolCall:
    """A call the policy made. `arguments` keeps the order of the tool's signature."""

    name: str
    arguments: Mapping[str, str]


def exec_call(command: str) -> ToolCall:
    return ToolCall("exec", {"command": command})


@dataclass(frozen=True)
class BadCall:
    """A call that could not be parsed; `reason` becomes the observation, so the policy can read it."""

    reason: str


@dataclass(frozen=True)
class Message:
    """One chat message. An assistant message carries text, a tool call, or text and then a call."""

    role: Role
    content: str = ""
    call: ToolCall | None = None


@dataclass(frozen=True)
class Verdict:
    """What an episode earned. `infra` means the host failed and `reward` is meaningless."""

    reward: float
    reasons: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()  # tamper flags: visible events, never a reward
    infra: bool = False


@dataclass
class Trajectory:
    """One episode as it was sampled: what the trainer trains on, token for token.

    `ids`, `logps` and `mask` have equal length T. `mask[t]` is 1 where the policy sampled `ids[t]` and 0 where
    the prompt or the environment wrote it; `logps[t]` (nats) is the log-prob under the sampling distribution
    there and 0.0 elsewhere.
    """

    task_id: str
    family: str
    sample: int
    ids: list[int]
    logps: list[float]
    mask: list[int]
    messages: list[Message]
    verdict: Verdict
    stop: StopReason
    turns: int = 0
    seconds: float = 0.0
    retried: bool = False  # the host failed at a first try, of which nothing is kept
    extra: dict[str, object] = field(default_factory=dict)
