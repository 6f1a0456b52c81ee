"""Group relative policy optimisation on episodes in the sandbox. Load, loop, log.

Each step: draw P tasks, play G episodes of each with the present weights, turn rewards into advantages within
each group, and take a few optimiser steps on the clipped objective with an explicit KL term to the policy as it
stood before RL.
"""

from __future__ import annotations

import copy
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from rlsh.algos import clip_fraction, group_advantages, grpo_loss, k1, k3
from rlsh.config import to_toml
from rlsh.env.episode import EnvConfig
from rlsh.env.traces import message_to_json
from rlsh.models.transformer import Decoder
from rlsh.policy import load_policy
from rlsh.rollout.collect import PhaseClock, RolloutConfig, collect
from rlsh.runfolder import RunFolder
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.task import Task, read_tasks
from rlsh.trainers.optim import OptimConfig, lr_at, make_optimizer, optimizer_step
from rlsh.trainers.progress import Interruptible, Progress
from rlsh.trainers.resume import resume_run, save_run
from rlsh.trainers.scoring import Batch, micro_batches, score
from rlsh.types import RlshError, StopReason, Trajectory

FLOOR = 0.05  # weight of a family that always or never passes, beside 0.25 for one that passes every other time
PACE = 0.3  # of the running pass rates: about three steps of memory
FP32_GAP = 1e-4  # nats between sampler and trainer; the two run one implementation


@dataclass(frozen=True)
class GrpoConfig:
    """Raises RlshError where the sampling distribution is not the one whose log-probs the loss compares."""

    model: str = "base"
    tasks: Path = Path("runs/tasks/train.jsonl")
    out: Path = Path("runs/grpo")
    steps: int = 50
    prompts: int = 16  # P: tasks a step
    group_size: int = 8  # G: episodes of each
    updates: int = 2  # optimiser steps a batch, each on its own share of the groups
    eps: float = 0.2
    eps_high: float = 0.2
    beta: float = 0.04
    curriculum: bool = True  # undecided families come more often; False: all alike
    max_logp_gap: float = FP32_GAP
    micro_batch_tokens: int = 8192
    save_every: int = 5
    keep_trajectories: bool = True
    seed: int = 0
    optim: OptimConfig = OptimConfig(lr=1e-4, warmup=4, beta2=0.99)
    rollout: RolloutConfig = RolloutConfig()
    env: EnvConfig = EnvConfig()

    def __post_init__(self) -> None:
        if not self.rollout.sampling.full_support:
            raise RlshError(
                "rollout: training needs temperature > 0, top_k = 0 and top_p = 1: with a truncated support the "
                "log-probs that the loss compares are of another distribution than the one sampled from"
            )
        if self.group_size < 2 or not 1 <= self.updates <= self.prompts:
            raise RlshError(
                f"group_size = {self.group_size} must be at least 2, updates = {self.updates} within 1..prompts"
            )
        if self.save_every < 1:
            raise RlshError(f"save_every = {self.save_every}: at least 1 step")


@dataclass
class UpdateStats:
    """Sums over the sampled tokens of a step, and extremes."""

    tokens: int = 0
    loss: float = 0.0
    kl_k1: float = 0.0
    kl_k3: float = 0.0
    entropy: float = 0.0
    clipped: float = 0.0
    gap: float = 0.0  # max |log-prob of trainer - of sampler| before the first optimiser step
    grad_norm: float = 0.0


def padded(batch: Batch, rows: Sequence[Sequence[float]]) -> Tensor:
    """The caller's per-token numbers of a batch's rows, padded with 0 to (B, T)."""
    out = torch.zeros(batch.ids.shape)
    for b, i in enumerate(batch.rows):
        out[b, : len(rows[i])] = torch.tensor(rows[i])
    return out.to(batch.ids.device)


@torch.no_grad()
def reference_logps(reference: Decoder, trajectories: Sequence[Trajectory], config: GrpoConfig) -> list[list[float]]:
    """Log-probs of the sampled tokens under the policy before RL, one list a trajectory."""
    out: list[list[float]] = [[] for _ in trajectories]
    rows = [(t.ids, t.mask) for t in trajectories]
    for batch in micro_batches(rows, config.micro_batch_tokens, reference.device):
        logp, _ = score(reference, batch, config.rollout.temperature)
        for b, i in enumerate(batch.rows):
            out[i] = logp[b, : len(trajectories[i].ids)].tolist()
    return out


def update(
    model: Decoder,
    optimizer: torch.optim.Optimizer,
    lr: float,
    trajectories: Sequence[Trajectory],
    advantages: Tensor,
    ref_logps: Sequence[Sequence[float]],
    config: GrpoConfig,
) -> UpdateStats:
    """`config.updates` optimiser steps over `trajectories`, groups dealt out in turn. Masked rows take no part.

    Micro-batches accumulate under the denominator of their whole optimiser step, so their size changes nothing.
    Raises RlshError where sampler and trainer disagree by more than `max_logp_gap`.
    """
    stats = UpdateStats()
    model.eval()  # dropout would make the ratio of an unchanged policy differ from 1
    for u in range(config.updates):
        chosen = [
            i
            for i, t in enumerate(trajectories)
            if (i // config.group_size) % config.updates == u and not t.verdict.infra
        ]
        rows = [(trajectories[i].ids, trajectories[i].mask) for i in chosen]
        batches = [b for b in micro_batches(rows, config.micro_batch_tokens, model.device) if b.tokens]
        denominator = max(1, sum(batch.tokens for batch in batches))
        old_rows = [trajectories[i].logps for i in chosen]
        ref_rows = [ref_logps[i] for i in chosen]
        for batch in batches:
            old, ref = padded(batch, old_rows), padded(batch, ref_rows)  # (B, T)
            A = advantages[[chosen[b] for b in batch.rows]].to(batch.ids.device)  # (B,)
            new, entropy = score(model, batch, config.rollout.temperature)  # (B, T)
            loss = grpo_loss(
                new,
                old,
                ref,
                A,
                batch.mask,
                config.eps,
                config.beta,
                eps_high=config.eps_high,
                denominator=denominator,
            )
            loss.backward()
            with torch.no_grad():
                on = batch.mask
                if u == 0:
                    gap = (new - old)[on].abs().nan_to_num(nan=torch.inf).max()  # max(0.0, nan) would be 0.0
                    stats.gap = max(stats.gap, float(gap))
                stats.tokens += batch.tokens
                stats.loss += float(loss) / config.updates
                stats.kl_k1 += float(k1(new, ref)[on].sum())
                stats.kl_k3 += float(k3(new, ref)[on].sum())
                stats.entropy += float(entropy[on].sum())
                stats.clipped += float(clip_fraction(new, old, A, on, config.eps, config.eps_high))
        if stats.gap > config.max_logp_gap:
            raise RlshError(
                f"sampler and trainer differ by {stats.gap:.2g} nats on a sampled token "
                f"(max_logp_gap = {config.max_logp_gap:g}): the ratio would not be 1 before the first update"
            )
        norm = optimizer_step(model, optimizer, lr, config.optim.grad_clip)
        stats.grad_norm += norm / config.updates
    return stats


def pick_tasks(
    tasks: Sequence[Task], count: int, pass_rates: Mapping[str, float], generator: torch.Generator
) -> list[Task]:
    """`count` distinct tasks, or all: families in proportion to p (1 - p) + FLOOR, then a task of each.

    p is the family's pass rate, 1/2 where nothing is known; p (1 - p), the variance of its reward, is what a group
    can teach (Foster et al. 2025, arXiv:2502.12272, "learnability"). Families by systematic sampling, so that with
    equal rates as many tasks as families are one of each.
    """
    left: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        left[task.family].append(task)
    names = sorted(left)
    picked: list[Task] = []
    while (missing := min(count, len(tasks)) - len(picked)) > 0:
        rates = torch.tensor([pass_rates.get(f, 0.5) for f in names], dtype=torch.float64)
        weights = (rates * (1 - rates) + FLOOR) * torch.tensor([bool(left[f]) for f in names])
        steps = (weights.cumsum(0) / weights.sum()).clamp(max=1.0)  # (families,)
        points = (torch.arange(missing) + torch.rand(1, generator=generator, dtype=torch.float64)) / missing
        for f in torch.searchsorted(steps, points, right=True).clamp(max=len(names) - 1).tolist():
            family = left[names[f]]
            if family:
                picked.append(family.pop(int(torch.randint(len(family), (1,), generator=generator))))
    return picked


def followed(pass_rates: Mapping[str, float], trajectories: Sequence[Trajectory]) -> dict[str, float]:
    """`pass_rates` by family, moved by PACE towards the mean reward of the episodes just played."""
    rewards: dict[str, list[float]] = defaultdict(list)
    for t in trajectories:
        if not t.verdict.infra:
            rewards[t.family].append(t.verdict.reward)
    moved = dict(pass_rates)
    for family, found in sorted(rewards.items()):
        before = moved.get(family, 0.5)
        moved[family] = before + PACE * (fmean(found) - before)
    return moved


def grpo(
    config: GrpoConfig,
    sandbox: Sandbox,
    resume: bool = False,
    on_step: Callable[[dict[str, Any]], None] = lambda record: None,
) -> Path:
    """Trains; returns the run's folder. `on_step` is given each step's metrics once they are written.

    Raises RlshError where a file is missing or damaged, where sampler and trainer disagree, and where the
    sandbox failed for a whole step; KeyboardInterrupt after a Ctrl-C, the step finished and saved.
    """
    policy = load_policy(config.model)
    reference = copy.deepcopy(policy.model).requires_grad_(False)
    model = policy.model
    tasks = read_tasks(config.tasks)
    optimizer = make_optimizer(model, config.optim)
    generators = {"tasks": torch.Generator().manual_seed(config.seed)}
    with RunFolder.create(config.out, to_toml(config), resume) as run, Interruptible() as interrupt:
        start, extra = resume_run(run, policy, optimizer, generators)
        pass_rates: dict[str, float] = extra.get("pass_rates", {})
        progress = Progress("grpo", config.steps, start)
        ended = time.monotonic()
        for step in range(start + 1, config.steps + 1):
            began = ended  # what the step before wrote to the disk counts, too
            clock = PhaseClock()
            rates = pass_rates if config.curriculum else {}
            chosen = pick_tasks(tasks, config.prompts, rates, generators["tasks"])
            trajectories = collect(
                model,
                policy.tokenizer,
                chosen,
                sandbox,
                config.env,
                config.rollout,
                group_size=config.group_size,
                seed=config.seed,
                step=step,
                clock=clock,
            )
            rewards = torch.tensor([t.verdict.reward for t in trajectories])
            valid = torch.tensor([not t.verdict.infra for t in trajectories])
            if not valid.any():
                raise RlshError(f"step {step}: every episode failed in the sandbox; see: rlsh doctor")
            advantages = group_advantages(rewards, config.group_size, valid=valid)

            scored = time.monotonic()
            ref_logps = reference_logps(reference, trajectories, config)
            updated = time.monotonic()
            lr = lr_at(step - 1, config.steps, config.optim)
            stats = update(model, optimizer, lr, trajectories, advantages, ref_logps, config)
            ended = time.monotonic()

            pass_rates = followed(pass_rates, trajectories)
            record = step_record(step, trajectories, advantages, stats, lr)
            record["running_pass_rate"] = fmean(pass_rates.values())
            trained_tokens = sum(len(t.ids) for t in trajectories)
            record["seconds"] = {
                "decode": clock.decode,
                "tools": clock.tools,
                "reference": updated - scored,
                "update": ended - updated,
                "total": ended - began,
            }
            record["tokens_per_s"] = {
                "decode": clock.sampled_tokens / max(clock.decode, 1e-9),
                "update": trained_tokens / max(ended - updated, 1e-9),
            }
            if config.keep_trajectories:
                for t, a in zip(trajectories, advantages.tolist(), strict=True):
                    run.append("trajectories", trajectory_record(step, t, a))
            run.append("metrics", record)
            progress.update(
                step,
                f"reward {record['reward']:.2f}  KL {record['kl_k3']:.3f}  entropy {record['entropy']:.2f}  "
                f"{record['tokens_per_s']['decode']:.0f} tok/s",
            )
            on_step(record)
            stopping = interrupt.stop  # read once: a Ctrl-C from here on belongs to the next step
            if step % config.save_every == 0 or step == config.steps or stopping:
                policy.facts["grpo_steps"] = step
                save_run(run, step, policy, optimizer, generators, {"pass_rates": pass_rates})
            if stopping:
                raise KeyboardInterrupt
    return config.out


def step_record(
    step: int, trajectories: Sequence[Trajectory], advantages: Tensor, stats: UpdateStats, lr: float
) -> dict[str, Any]:
    """One line of metrics.jsonl. Rates are over the episodes whose environment did not fail."""
    good = [t for t in trajectories if not t.verdict.infra]
    by_set: dict[str, list[float]] = defaultdict(list)
    for t in good:
        by_set[str(t.extra["set"])].append(t.verdict.reward)
    groups: dict[str, list[float]] = defaultdict(list)
    for t in good:
        groups[t.task_id].append(t.verdict.reward)
    tokens = max(1, stats.tokens)
    return {
        "step": step,
        "reward": fmean(t.verdict.reward for t in good),
        "pass_rate": fmean(t.verdict.reward == 1.0 for t in good),
        "informative": fmean(len(set(rewards)) > 1 for rewards in groups.values()),
        "kl_k1": stats.kl_k1 / tokens,
        "kl_k3": stats.kl_k3 / tokens,
        "entropy": stats.entropy / tokens,
        "clip_fraction": stats.clipped / tokens,
        "logp_gap": stats.gap,
        "loss": stats.loss,
        "grad_norm": stats.grad_norm,
        "lr": lr,
        "episodes": len(trajectories),
        "turns": fmean(t.turns for t in good),
        "completion_tokens": fmean(sum(t.mask) for t in good),
        "prompt_tokens": fmean(t.mask.index(1) for t in good),
        "truncated": fmean(t.stop in (StopReason.TURNS, StopReason.TOKENS) for t in good),
        "infra": len(trajectories) - len(good),
        "retried": sum(t.retried for t in trajectories),
        "flags": sum(bool(t.verdict.flags) for t in good),
        "by_set": {name: fmean(rewards) for name, rewards in sorted(by_set.items())},
    }


def trajectory_record(step: int, t: Trajectory, advantage: float) -> dict[str, Any]:
    """One line of trajectories.jsonl."""
    return {
        "step": step,
        "task_id": t.task_id,
        "family": t.family,
        "set": t.extra["set"],
        "sample": t.sample,
        "reward": t.verdict.reward,
        "reasons": list(t.verdict.reasons),
        "flags": list(t.verdict.flags),
        "infra": t.verdict.infra,
        "retried": t.retried,
        "stop": str(t.stop),
        "advantage": advantage,
        "turns": t.turns,
        "ids": t.ids,
        "logps": [round(x, 6) for x in t.logps],
        "mask": t.mask,
        "messages": [message_to_json(m) for m in t.messages],
    }
