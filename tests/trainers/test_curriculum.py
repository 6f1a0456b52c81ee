"""Which tasks a step draws, against expectation, and how pass rates follow what was played."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import torch

from rlsh.tasks.checks import WorkspaceCheck
from rlsh.tasks.task import Task, with_id
from rlsh.trainers.curriculum import FLOOR, PassRates, pick_tasks
from rlsh.types import RlshError, StopReason, ToolCall, Trajectory, Verdict


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
        ids = [task.id for task in pick_tasks(tasks, 7, PassRates(), generator(seed))]
        assert len(set(ids)) == len(ids) == 7


def test_families_come_before_their_tasks():
    """As many tasks as families: one of each, however unequal they are."""
    tasks = tasks_of(a=1, b=1, c=40, d=40)
    for seed in range(50):
        assert families(pick_tasks(tasks, 4, PassRates(), generator(seed))) == {"a": 1, "b": 1, "c": 1, "d": 1}
        assert len(families(pick_tasks(tasks, 3, PassRates(), generator(seed)))) == 3
    # control: tasks drawn alike leave the small families out
    naive = [tasks[i] for i in torch.randperm(len(tasks), generator=generator())[:4]]
    assert families(naive).keys() < {"a", "b", "c", "d"}


def test_a_small_family_is_used_up_and_the_others_share_the_rest():
    tasks = tasks_of(a=1, b=10_000, c=10_000)  # so large that no task of theirs is drawn twice
    for seed in range(20):
        assert families(pick_tasks(tasks, 9, PassRates(), generator(seed))) == {"a": 1, "b": 4, "c": 4}


def test_every_family_and_every_task_has_its_turn():
    tasks = tasks_of(a=4, b=4, c=4)
    g = generator()
    drawn = [pick_tasks(tasks, 1, PassRates(), g)[0] for _ in range(300)]
    assert len({task.id for task in drawn}) == 12
    assert min(families(drawn).values()) > 70  # of 100 expected


def test_a_generators_state_fixes_the_draw():
    tasks = tasks_of(a=9, b=9, c=9)
    g = generator(3)
    first, second = pick_tasks(tasks, 5, PassRates(), g), pick_tasks(tasks, 5, PassRates(), g)
    assert first == pick_tasks(tasks, 5, PassRates(), generator(3))
    assert first != second  # and the state moves on
    again = generator(3)
    pick_tasks(tasks, 5, PassRates(), again)
    resumed = torch.Generator()
    resumed.set_state(again.get_state())
    assert second == pick_tasks(tasks, 5, PassRates(), resumed)


def test_fewer_tasks_than_asked_for_are_all_taken_once():
    tasks = tasks_of(a=2, b=3)
    drawn = pick_tasks(tasks, 16, PassRates(), generator())
    assert sorted(task.id for task in drawn) == sorted(task.id for task in tasks)
    assert (
        len(pick_tasks([*tasks, *tasks], 7, PassRates(), generator())) == 7
    )  # the same one twice in a file: no endless search


def test_undecided_families_come_more_often():
    tasks = tasks_of(always=500, never=500, half=500)
    g, rates = generator(), PassRates({"always": 1.0, "never": 0.0, "half": 0.5})
    drawn = families(task for _ in range(100) for task in pick_tasks(tasks, 8, rates, g))
    share = FLOOR / (3 * FLOOR + 0.25)
    for name, expected in {"always": share, "never": share, "half": 1 - 2 * share}.items():
        assert abs(drawn[name] / 800 - expected) < 0.02, name
    # systematic: each draw is within one task of its share, where independent draws would scatter
    for _ in range(50):
        assert abs(families(pick_tasks(tasks, 8, rates, g))["half"] - 8 * (1 - 2 * share)) < 1


def test_undecided_tasks_of_a_family_come_more_often():
    """Whoever never passes stays at FLOOR with half the weight of its family's rate."""
    tasks = tasks_of(f=3)
    rates = PassRates({"f": 0.5}, {tasks[0].id: 0.5, tasks[1].id: 1.0})  # the third was never played
    g = generator()
    drawn = Counter(pick_tasks(tasks, 1, rates, g)[0].id for _ in range(2000))
    worth = [0.25 + FLOOR, 0.75 * 0.25 + FLOOR, 0.25 + FLOOR]
    for task, weight in zip(tasks, worth, strict=True):
        assert abs(drawn[task.id] / 2000 - weight / sum(worth)) < 0.03
    uniform = Counter(pick_tasks(tasks, 1, PassRates(), g)[0].id for _ in range(2000))  # control
    assert uniform[tasks[1].id] > 1.15 * drawn[tasks[1].id]


def played(task, *rewards, family="f", infra=False):
    verdict = [Verdict(reward, infra=infra) for reward in rewards]
    return [Trajectory(task, family, s, [], [], [], [], v, StopReason.FINAL) for s, v in enumerate(verdict)]


def test_pass_rates_follow_what_was_played():
    before = PassRates({"f": 1.0, "other": 0.2}, {"a": 0.0, "z": 0.7})
    after = before.followed([*played("a", 1, 0), *played("b", 1, 1), *played("c", 0.5), *played("d", 0, 0, infra=True)])
    assert after.families == {"f": 1.0 + 0.3 * (0.7 - 1.0), "other": 0.2}
    assert after.tasks == {"a": 0.5, "z": 0.7, "b": 1.0, "c": 0.5}  # the host's faults say nothing
    assert PassRates().followed(played("a", 1, 0.4)).families == {"f": 0.5 + 0.3 * (0.7 - 0.5)}  # nothing known: half
    assert before.followed(played("d", 0, 0, infra=True)) == before


def test_a_tasks_rate_is_half_its_familys():
    (task,) = tasks_of(f=1)
    assert PassRates().task(task) == 0.5
    assert PassRates({"f": 0.8}).task(task) == 0.8
    assert PassRates({"f": 0.8}, {task.id: 0.0}).task(task) == pytest.approx(0.4)


def test_pass_rates_survive_a_checkpoint():
    rates = PassRates({"f": 0.25}, {"a": 0.5})
    assert PassRates(**json.loads(json.dumps(rates.as_dict()))) == rates


def test_difficulty_is_read_from_an_evaluation(tmp_path):
    path = tmp_path / "eval.json"
    evaluation = {
        "by_family": {"f": {"pass_at_1": {"value": 0.25, "low": 0.0, "high": 0.5}}, "g": {"pass_at_1": None}},
        "per_task": {"f-1": {"pass_at_1": 0.5, "greedy": 1.0}, "g-1": {"pass_at_1": None, "greedy": None}},
    }
    path.write_text(json.dumps(evaluation))
    assert PassRates.measured(path) == PassRates({"f": 0.25}, {"f-1": 0.5})  # the host failed at all of g


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"by_family": {}, "per_task": 1}', '{"by_family": {"f": 1}}'])
def test_what_is_no_evaluation_is_named(tmp_path, text):
    path = tmp_path / "eval.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(RlshError, match=r"difficulty = .*eval\.json: no evaluation \(.*rlsh eval MODEL"):
        PassRates.measured(path)
