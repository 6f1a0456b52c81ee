"""Which tasks a step draws, and what it reports, against hand computation."""

from __future__ import annotations

from collections import Counter

import torch

from rlsh.tasks.checks import WorkspaceCheck
from rlsh.tasks.task import Task, with_id
from rlsh.trainers.grpo import FLOOR, UpdateStats, followed, pick_tasks, step_record
from rlsh.types import StopReason, ToolCall, Trajectory, Verdict


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


# --- which tasks


def tasks_of(**families):
    """Tasks of each family, as many as named."""
    reference = (ToolCall("exec", {"command": "true"}),)
    return [
        with_id(Task("", family, "demonstrated", "train", n, "", "", "", {}, (WorkspaceCheck(),), reference))
        for family, count in families.items()
        for n in range(count)
    ]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def families(tasks):
    return Counter(task.family for task in tasks)


def test_drawn_tasks_are_distinct():
    tasks = tasks_of(a=3, b=5, c=1)
    for seed in range(50):
        ids = [task.id for task in pick_tasks(tasks, 7, {}, generator(seed))]
        assert len(set(ids)) == len(ids) == 7


def test_families_come_before_their_tasks():
    """As many tasks as families: one of each, however unequal they are."""
    tasks = tasks_of(a=1, b=1, c=40, d=40)
    for seed in range(50):
        assert families(pick_tasks(tasks, 4, {}, generator(seed))) == {"a": 1, "b": 1, "c": 1, "d": 1}
        assert len(families(pick_tasks(tasks, 3, {}, generator(seed)))) == 3
    # control: tasks drawn alike leave the small families out
    naive = [tasks[i] for i in torch.randperm(len(tasks), generator=generator())[:4]]
    assert families(naive).keys() < {"a", "b", "c", "d"}


def test_a_small_family_is_used_up_and_the_others_share_the_rest():
    tasks = tasks_of(a=1, b=10_000, c=10_000)  # so large that no task of theirs is drawn twice
    for seed in range(20):
        assert families(pick_tasks(tasks, 9, {}, generator(seed))) == {"a": 1, "b": 4, "c": 4}


def test_every_family_and_every_task_has_its_turn():
    tasks = tasks_of(a=4, b=4, c=4)
    g = generator()
    drawn = [pick_tasks(tasks, 1, {}, g)[0] for _ in range(300)]
    assert len({task.id for task in drawn}) == 12
    assert min(families(drawn).values()) > 70  # of 100 expected


def test_a_generators_state_fixes_the_draw():
    tasks = tasks_of(a=9, b=9, c=9)
    g = generator(3)
    first, second = pick_tasks(tasks, 5, {}, g), pick_tasks(tasks, 5, {}, g)
    assert first == pick_tasks(tasks, 5, {}, generator(3))
    assert first != second  # and the state moves on
    again = generator(3)
    pick_tasks(tasks, 5, {}, again)
    resumed = torch.Generator()
    resumed.set_state(again.get_state())
    assert second == pick_tasks(tasks, 5, {}, resumed)


def test_fewer_tasks_than_asked_for_are_all_taken_once():
    tasks = tasks_of(a=2, b=3)
    drawn = pick_tasks(tasks, 16, {}, generator())
    assert sorted(task.id for task in drawn) == sorted(task.id for task in tasks)
    assert len(pick_tasks([*tasks, *tasks], 7, {}, generator())) == 7  # the same one twice in a file: no endless search


def test_undecided_families_come_more_often():
    tasks = tasks_of(always=500, never=500, half=500)
    g, rates = generator(), {"always": 1.0, "never": 0.0, "half": 0.5}
    drawn = families(task for _ in range(100) for task in pick_tasks(tasks, 8, rates, g))
    share = FLOOR / (3 * FLOOR + 0.25)
    for name, expected in {"always": share, "never": share, "half": 1 - 2 * share}.items():
        assert abs(drawn[name] / 800 - expected) < 0.02, name
    # systematic: each draw is within one task of its share, where independent draws would scatter
    for _ in range(50):
        assert abs(families(pick_tasks(tasks, 8, rates, g))["half"] - 8 * (1 - 2 * share)) < 1


def test_pass_rates_follow_what_was_played():
    after = followed({"f": 1.0, "other": 0.2}, EPISODES)  # all of family f: 3.5 of 5, three lost to the host
    assert after == {"f": 1.0 + 0.3 * (0.7 - 1.0), "other": 0.2}
    assert followed({}, EPISODES) == {"f": 0.5 + 0.3 * (0.7 - 0.5)}  # nothing known: one half
    assert followed({"f": 0.9}, [e for e in EPISODES if e.verdict.infra]) == {"f": 0.9}
