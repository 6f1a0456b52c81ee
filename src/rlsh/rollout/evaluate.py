"""Held-out figures of a policy: greedy, pass@1 and pass@k at the training temperature, with intervals."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rlsh.env.episode import EnvConfig
from rlsh.policy import Policy
from rlsh.rollout.collect import RolloutConfig, collect
from rlsh.sandbox.base import Sandbox
from rlsh.stats import cluster_bootstrap, pass_at_k
from rlsh.tasks.task import Task
from rlsh.types import RlshError


@dataclass(frozen=True)
class EvalConfig:
    """What an evaluation may change of an episode."""

    env: EnvConfig = EnvConfig()
    rollout: RolloutConfig = RolloutConfig()


@dataclass(frozen=True)
class Scores:
    """What one task's episodes came to: its row in every table."""

    task: Task
    greedy: float | None  # None: the environment failed
    passed: int
    samples: int  # whose environment did not fail

    def metric(self, name: str, k: int) -> float | None:
        if name == "greedy":
            return self.greedy
        need = 1 if name == "pass_at_1" else k
        return pass_at_k(self.samples, self.passed, need) if self.samples >= need else None


def play(
    policy: Policy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    env: EnvConfig,
    rollout: RolloutConfig,
    *,
    samples: int,
    seed: int,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Scores]:
    """One greedy and `samples` sampled episodes of each task."""

    def run(config: RolloutConfig, group_size: int, offset: int) -> list[list[float | None]]:
        done = collect(
            policy.model,
            policy.tokenizer,
            tasks,
            sandbox,
            env,
            config,
            group_size=group_size,
            seed=seed,
            step=-1,  # training steps are counted from 1: no episode of theirs shares a stream with these
            progress=lambda n: progress(offset + n),
        )
        rewards = [None if t.verdict.infra else t.verdict.reward for t in done]
        return [rewards[i : i + group_size] for i in range(0, len(rewards), group_size)]

    greedy = run(replace(rollout, temperature=0.0), 1, 0)
    sampled = run(rollout, samples, len(tasks))
    scores = []
    for task, (g,), group in zip(tasks, greedy, sampled, strict=True):
        good = [r for r in group if r is not None]
        scores.append(Scores(task, g, sum(r == 1.0 for r in good), len(good)))
    return scores


def table(scores: Sequence[Scores], k: int, seed: int) -> dict[str, Any]:
    """{"tasks", "pass_at_1", "greedy", "pass_at_k"}; intervals resample families, then tasks within them."""
    out: dict[str, Any] = {"tasks": len(scores)}
    for name in ("pass_at_1", "greedy", f"pass_at_{k}"):
        found = [(s.metric(name, k), s.task.family) for s in scores]
        values = [v for v, _ in found if v is not None]
        clusters = [f for v, f in found if v is not None]
        out[name] = cluster_bootstrap(values, clusters, seed=seed).as_dict() if values else None
    return out


def evaluate(
    policy: Policy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    env: EnvConfig,
    rollout: RolloutConfig,
    *,
    samples: int = 8,
    seed: int = 0,
    checkpoint: str = "",
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, Any]:
    """The evaluation record. Its overall figures leave out the never-met families, which are reported apart.

    `per_task` holds each task's pass@1, so that two evaluations of the same tasks can be paired.
    Raises RlshError if every episode failed in the sandbox.
    """
    began = time.monotonic()
    scores = play(policy, tasks, sandbox, env, rollout, samples=samples, seed=seed, progress=progress)
    if not any(s.samples for s in scores):
        raise RlshError("every episode failed in the sandbox; see: rlsh doctor")
    trained_sets = [s for s in scores if not s.task.never_met]
    sets = {name: [s for s in scores if s.task.set == name] for name in dict.fromkeys(s.task.set for s in scores)}
    families = sorted({s.task.family for s in scores})
    return {
        "checkpoint": checkpoint,
        "seed": seed,
        "samples": samples,
        "temperature": rollout.temperature,
        "env": asdict(env) | {"tools": [str(path) for path in env.tools]},
        "rollout": asdict(rollout),
        **table(trained_sets or scores, samples, seed),
        "by_set": {name: table(part, samples, seed) for name, part in sets.items()},
        "by_family": {
            f: {
                "set": next(s.task.set for s in scores if s.task.family == f),
                **table([s for s in scores if s.task.family == f], samples, seed),
            }
            for f in families
        },
        "infra": sum(samples - s.samples for s in scores) + sum(s.greedy is None for s in scores),
        "per_task": {s.task.id: {"pass_at_1": s.metric("pass_at_1", samples), "greedy": s.greedy} for s in scores},
        "seconds": time.monotonic() - began,
    }
