"""What a step reports, against hand computation."""

from __future__ import annotations

import torch

from rlsh.trainers.grpo import UpdateStats, step_record
from rlsh.types import StopReason, Trajectory, Verdict


def episode(task, reward, ids, sampled, **more):
    """An episode of `ids` tokens, `sampled` of them the policy's own, after a prompt of `ids - sampled`."""
    mask = [0] * (ids - sampled) + [1] * sampled
    verdict = Verdict(reward, flags=more.pop("flags", ()), infra=more.pop("infra", False))
    stop, turns, set = more.pop("stop", StopReason.FINAL), more.pop("turns", 2), more.pop("set", "demonstrated")
    return Trajectory(
        task, "f", 0, [1] * ids, [-1.0] * ids, mask, [], verdict, stop, turns=turns, extra={"set": set}, **more
    )


BROKEN = {"infra": True, "stop": StopReason.INFRA, "flags": ("tampered",), "turns": 99}
EPISODES = [
    episode("a", 1.0, 10, 4),
    episode("a", 0.0, 12, 6, stop=StopReason.TURNS, turns=4, flags=("fork bomb", "wrote outside")),
    episode("b", 1.0, 14, 8, set="reward_only", turns=3),
    episode("b", 1.0, 16, 5, set="reward_only", turns=1, retried=True),
    episode("c", 0.5, 18, 7, set="reward_only", stop=StopReason.TOKENS, turns=4, flags=("fork bomb",)),
    episode("c", 0.0, 90, 80, set="reward_only", **BROKEN),
    episode("d", 0.0, 90, 80, set="never_met", **BROKEN),
    episode("d", 0.0, 90, 80, set="never_met", **BROKEN),
]
STATS = UpdateStats(20, loss=0.3, kl_k1=-2.0, kl_k3=4.0, entropy=30.0, clipped=5.0, gap=1e-6, grad_norm=0.7)


def recorded(episodes, stats=STATS):
    return step_record(7, episodes, torch.zeros(len(episodes)), stats, 1e-4)


def test_a_steps_figures_by_hand():
    record = recorded(EPISODES)
    assert record == {
        "step": 7,
        "reward": 3.5 / 5,
        "pass_rate": 3 / 5,  # half a reward is no pass
        "informative": 1 / 3,  # of a, b and c; of c one episode is left, of d none
        "kl_k1": -0.1,
        "kl_k3": 0.2,
        "entropy": 1.5,
        "clip_fraction": 0.25,
        "logp_gap": 1e-6,
        "loss": 0.3,
        "grad_norm": 0.7,
        "lr": 1e-4,
        "episodes": 8,
        "turns": 14 / 5,
        "completion_tokens": 30 / 5,
        "prompt_tokens": 40 / 5,
        "truncated": 2 / 5,
        "infra": 3,
        "retried": 1,
        "flags": 2,  # episodes, not flags
        "by_set": {"demonstrated": 0.5, "reward_only": 2.5 / 3},
    }
    # control: a dead sandbox taken for a failed attempt
    naive = recorded([episode(t.task_id, t.verdict.reward, 90, 80) for t in EPISODES])
    assert all(naive[name] < record[name] for name in ("reward", "pass_rate"))
    assert naive["informative"] == 2 / 4 and naive["infra"] == 0


def test_the_order_of_the_sets_is_fixed():
    forward, backward = recorded(EPISODES), recorded(EPISODES[::-1])
    assert list(forward["by_set"]) == list(backward["by_set"]) == sorted(forward["by_set"])
    assert forward == backward


def test_a_step_without_a_trained_token_has_rates_of_zero():
    record = recorded(EPISODES, UpdateStats())
    assert [record[name] for name in ("kl_k1", "kl_k3", "entropy", "clip_fraction")] == [0.0] * 4
