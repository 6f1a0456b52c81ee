"""Groups of episodes, decoded together, their tools run in parallel.

In rounds (the default) all rows decode until each has ended its turn, then all tool calls run, then all go on:
which rows share a batch depends on ids and tokens only, never on time, so a seed fixes every bit. With `overlap`
decoding goes on while tools run; batches then depend on timing, and log-probs on batches, in the last bits.

An episode whose sandbox died is played once more from its start, with the same random stream: as a policy sees it,
nothing happened. If it dies again the row is lost (`Verdict.infra`). A verdict that failed was already tried twice.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import chain

from rlsh.engine.engine import Engine, Row, TurnStop
from rlsh.engine.sampler import SamplingParams
from rlsh.env.episode import EnvConfig, Episode
from rlsh.models.transformer import Decoder
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.task import Task
from rlsh.text.chat import encode, encode_message, parse_turn
from rlsh.text.tokenizer import Tokenizer
from rlsh.types import Message, RlshError, StopReason, Trajectory, Verdict


@dataclass(frozen=True)
class RolloutConfig:
    """How episodes are sampled and how many at once."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    turn_tokens: int = 48  # a turn longer than this ends the episode
    slots: int = 128  # rows decoded at once
    tool_threads: int = 4  # tool calls and verdicts in flight
    overlap: bool = False  # decode while tools run: faster where tools are slow, not reproducible to the bit

    def __post_init__(self) -> None:
        for name in ("turn_tokens", "slots", "tool_threads"):
            if vars(self)[name] < 1:
                raise RlshError(f"rollout.{name} = {vars(self)[name]}: at least 1")

    @property
    def sampling(self) -> SamplingParams:
        return SamplingParams(self.temperature, self.top_k, self.top_p)


@dataclass
class PhaseClock:
    """Where the seconds of a collection went."""

    decode: float = 0.0
    tools: float = 0.0
    sampled_tokens: int = 0


@dataclass(eq=False)
class _Live:
    """A row and the episode it plays."""

    index: int  # place in the result
    sample: int
    row: Row
    episode: Episode
    started: float
    retried: bool
    verdict: Verdict | None = field(default=None)


def row_key(seed: int, step: int, task_id: str, sample: int) -> int:
    """64 bits that name one episode's random stream, and its fixtures where they are fresh."""
    text = f"{seed}/{step}/{task_id}/{sample}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def collect(
    model: Decoder,
    tokenizer: Tokenizer,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    env: EnvConfig,
    rollout: RolloutConfig,
    *,
    group_size: int,
    seed: int,
    step: int = 0,
    clock: PhaseClock | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Trajectory]:
    """`group_size` trajectories of each task, group after group.

    The model is used as it is, without dropout. Host faults do not raise: where a second try fails as well, the row
    comes back with `verdict.infra`. Raises RlshError where a prompt does not fit the context.
    """
    model.eval()
    clock = clock or PhaseClock()
    slots = max(rollout.slots, group_size)
    engine = Engine(model, slots, rollout.sampling, [tokenizer.end, tokenizer.eot], rollout.turn_tokens)
    out: list[Trajectory | None] = [None] * (len(tasks) * group_size)
    waiting = list(range(len(tasks)))[::-1]
    live: dict[Row, _Live] = {}
    running: dict[Future[Message | None], _Live] = {}

    def admit() -> None:
        entering = [waiting.pop() for _ in range(min(len(waiting), engine.free // group_size))]
        if not entering:
            return
        started = time.monotonic()
        begin([range(at * group_size, (at + 1) * group_size) for at in entering], retried=False)
        clock.decode += time.monotonic() - started

    def begin(groups: Sequence[Sequence[int]], *, retried: bool) -> None:
        """Starts the episodes of these places in the result; those of one group are of one task."""
        started = time.monotonic()
        keys = [[row_key(seed, step, tasks[i // group_size].id, i % group_size) for i in group] for group in groups]
        episodes = [
            [Episode(tasks[i // group_size], sandbox, env, key) for i, key in zip(group, named, strict=True)]
            for group, named in zip(groups, keys, strict=True)
        ]
        for episode in chain.from_iterable(episodes):
            episode.reset()
        added = engine.add_groups(
            [[*encode(tokenizer, group[0].messages)[0], tokenizer.assistant] for group in episodes],
            keys,
        )
        for group, rows, played in zip(groups, added, episodes, strict=True):
            for i, row, episode in zip(group, rows, played, strict=True):
                live[row] = _Live(i, i % group_size, row, episode, started, retried)

    def act(item: _Live) -> Message | None:
        """In a tool thread: the turn's consequences, and the verdict if it was the last."""
        row, episode = item.row, item.episode
        observation = None
        if row.stop is TurnStop.END:
            turn = row.turn_ids
            observation = episode.step(parse_turn(tokenizer, turn), tokenizer.decode(turn))
        else:
            episode.messages.append(Message("assistant", tokenizer.decode(row.turn_ids)))
            episode.end(StopReason.TOKENS)
        if observation is None:
            item.verdict = episode.verdict()
        return observation

    def settle(item: _Live, observation: Message | None) -> None:
        """In the main thread: the row goes on, or its trajectory is done."""
        row = item.row
        if observation is not None:
            forced = [*encode_message(tokenizer, observation)[0], tokenizer.assistant]
            if engine.resume(row, forced):
                return
            item.episode.end(StopReason.TOKENS)
            item.verdict = item.episode.verdict()
        engine.release(row)
        del live[row]
        clock.sampled_tokens += row.sampled
        if item.episode.stop is StopReason.INFRA and not item.retried:
            begin([[item.index]], retried=True)
            return
        out[item.index] = _trajectory(item)
        progress(sum(t is not None for t in out))

    def decode_turns() -> Iterator[_Live]:
        started = time.monotonic()
        for row in engine.step():
            yield live[row]
        clock.decode += time.monotonic() - started

    with ThreadPoolExecutor(rollout.tool_threads) as pool:
        try:
            while waiting or live:
                admit()
                if rollout.overlap:
                    running.update({pool.submit(act, item): item for item in decode_turns()})
                    started = time.monotonic()
                    ready, _ = wait(running, None if not engine.active else 0, FIRST_COMPLETED)
                    for future in sorted(ready, key=lambda f: running[f].index):
                        settle(running.pop(future), future.result())
                    clock.tools += time.monotonic() - started
                    continue
                ended: list[_Live] = []
                while engine.active:
                    ended += decode_turns()
                started = time.monotonic()
                ended.sort(key=lambda item: item.index)
                for item, observation in zip(ended, pool.map(act, ended), strict=True):
                    settle(item, observation)
                clock.tools += time.monotonic() - started
        finally:
            pool.shutdown(cancel_futures=True)  # a tool thread must not open a workspace after this
            for item in live.values():
                item.episode.close()
    return [t for t in out if t is not None]


def _trajectory(item: _Live) -> Trajectory:
    row, episode, task = item.row, item.episode, item.episode.task
    assert item.verdict is not None and episode.stop is not None
    return Trajectory(
        task_id=task.id,
        family=task.family,
        sample=item.sample,
        ids=row.ids,
        logps=row.logps,
        mask=row.mask,
        messages=episode.messages,
        verdict=item.verdict,
        stop=episode.stop,
        turns=episode.turns,
        seconds=time.monotonic() - item.started,
        retried=item.retried,
        extra={"set": task.set},
    )
