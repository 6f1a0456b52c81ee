"""One attempt at one task: Gymnasium's reset/step on messages. Single-use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rlsh.env.fresh import verify_fresh
from rlsh.env.tools import run_tool
from rlsh.env.verify import Answer, answer_in, verify
from rlsh.sandbox.base import Limits, Sandbox, SandboxError, Workspace
from rlsh.tasks.task import Task
from rlsh.text.dialect import Dialect, bad_call_observation
from rlsh.types import BadCall, Message, RlshError, StopReason, Verdict


@dataclass(frozen=True)
class EnvConfig:
    """The budget of an episode and what its observations look like."""

    dialect: Dialect = "rlsh"
    max_turns: int = 4  # assistant messages, the final one included
    observation_chars: int = 160  # of each stream; head and tail are kept
    wall_s: float = 3.0  # of one command
    memory_mb: int = 256  # address space of each process
    tools: tuple[Path, ...] = ()  # folders of programs that the sandbox offers: what it has to be opened with
    fresh: bool = False  # each verdict on fixtures of its own, where the task's family draws them

    @property
    def limits(self) -> Limits:
        return Limits(wall_s=self.wall_s, memory_mb=self.memory_mb)


class Episode:
    """`reset()` -> first messages; `step(turn)` -> observation or None at the end; then `verdict()`.

    `number` names the fixtures of the verdict where the configuration wants fresh ones.
    A host fault ends the episode with StopReason.INFRA and is never a reward of 0.
    """

    def __init__(self, task: Task, sandbox: Sandbox, config: EnvConfig, number: int = 0) -> None:
        """Raises RlshError where the sandbox does not offer the tools of `config`."""
        if config.tools and config.tools != sandbox.tools:
            raise RlshError(
                f"env.tools = {', '.join(map(str, config.tools))}, but the sandbox offers "
                f"{', '.join(map(str, sandbox.tools)) or 'none'}: open it with open_sandbox(tools=env.tools)"
            )
        self.task, self.config, self.number, self.turns = task, config, number, 0
        self.messages: list[Message] = []
        self.stop: StopReason | None = None
        self._sandbox = sandbox
        self._workspace: Workspace | None = None
        self._answer = Answer(None)

    def reset(self) -> list[Message]:
        """Raises RuntimeError on a second call: an episode is used once."""
        if self.messages:
            raise RuntimeError("an Episode is single-use; make a new one")
        self.messages.append(Message("user", self.task.prompt))
        return list(self.messages)

    def step(self, turn: Message | BadCall, sampled_text: str = "") -> Message | None:
        """Acts on one assistant turn. Returns the tool message, or None once the episode has ended.

        `sampled_text` is how a BadCall read, for the record.
        """
        if self.stop is not None:
            raise RuntimeError(f"the episode has ended ({self.stop})")
        self.turns += 1
        if isinstance(turn, BadCall):
            self.messages.append(Message("assistant", sampled_text))
            return self._observe(lambda: bad_call_observation(turn.reason))
        self.messages.append(turn)
        call = turn.call
        if call is None:
            self._finish()
            return None
        return self._observe(
            lambda: run_tool(
                call,
                self._open(),
                dialect=self.config.dialect,
                limits=self.config.limits,
                observation_chars=self.config.observation_chars,
            )
        )

    def _finish(self) -> None:
        try:
            calls = [message.call for message in self.messages if message.call is not None]
            self._answer = answer_in(self._workspace, self.task, calls)
        except SandboxError as error:
            self._fail(error)
        else:
            self.end(StopReason.FINAL)

    def _fail(self, error: SandboxError) -> None:
        self.messages.append(Message("tool", f"(host fault: {error})"))
        self.end(StopReason.INFRA)

    def _observe(self, act: Callable[[], str]) -> Message | None:
        if self.turns >= self.config.max_turns:  # nobody would read the observation
            self.end(StopReason.TURNS)
            return None
        try:
            observation = Message("tool", act())
        except SandboxError as error:
            self._fail(error)
            return None
        self.messages.append(observation)
        return observation

    def _open(self) -> Workspace:
        """The workspace is made at the first call: an episode that never acts needs none."""
        if self._workspace is None:
            self._workspace = self._sandbox.open(self.task.files, self.config.limits)
        return self._workspace

    def end(self, reason: StopReason) -> None:
        self.stop = reason
        self.close()

    def close(self) -> None:
        if self._workspace is not None:
            workspace, self._workspace = self._workspace, None
            workspace.close()

    def verdict(self) -> Verdict:
        """What the episode earned by the task's checks. Raises RuntimeError before its end."""
        if self.stop is None:
            raise RuntimeError("the episode has not ended")
        if self.config.fresh:
            return verify_fresh(self.task, self.number, self.stop, self._answer, self._sandbox, self.config.limits)
        return verify(self.task, self.stop, self._answer, self._sandbox, self.config.limits)
