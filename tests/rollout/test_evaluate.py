"""The figures of an evaluation against hand computation."""

from collections import namedtuple
from dataclasses import replace

import pytest

from rlsh.env.episode import EnvConfig
from rlsh.rollout import RolloutConfig
from rlsh.rollout.evaluate import Scores, evaluate, table
from rlsh.stats import cluster_bootstrap
from rlsh.tasks.checks import WorkspaceCheck
from rlsh.tasks.task import Task, with_id
from rlsh.types import RlshError, StopReason, ToolCall, Trajectory, Verdict

Outcome = namedtuple("Outcome", "greedy sampled")  # one character an episode: 1, 0 or ! for a host fault
PLAN = {
    "copy_folder": ("demonstrated", [Outcome("1", "1111"), Outcome("0", "1000")]),
    "numeric_sort": ("reward_only", [Outcome("!", "11!0"), Outcome("1", "!!!!")]),
    "bare_glob": ("never_met", [Outcome("0", "0001")]),
}


def task_of(family, set, number):
    reference = (ToolCall("exec", {"command": "true"}),)
    return with_id(Task("", family, set, "held_out", number, "", "", "", {}, (WorkspaceCheck(),), reference))


def tasks_and_outcomes(plan):
    rows = [(f, s, n, o) for f, (s, outcomes) in plan.items() for n, o in enumerate(outcomes)]
    tasks = [task_of(f, s, n) for f, s, n, _ in rows]
    return tasks, {t.id: o for t, (*_, o) in zip(tasks, rows, strict=True)}


@pytest.fixture
def run(monkeypatch):
    calls = []

    def evaluated(plan, **options):
        tasks, outcomes = tasks_and_outcomes(plan)

        def collect(model, tokenizer, given, sandbox, env, rollout, *, group_size, seed, step, progress):
            calls.append((rollout, group_size, seed, step))
            done = []
            for task in given:
                outcome = outcomes[task.id]
                for s, c in enumerate(outcome.greedy if rollout.temperature == 0 else outcome.sampled):
                    verdict = Verdict(float(c == "1"), infra=c == "!")
                    done.append(Trajectory(task.id, task.family, s, [], [], [], [], verdict, StopReason.FINAL))
                    progress(len(done))
            return done

        monkeypatch.setattr("rlsh.rollout.evaluate.collect", collect)
        policy = namedtuple("Policy", "model tokenizer")(None, None)
        return evaluate(policy, tasks, None, EnvConfig(), RolloutConfig(0.7), samples=4, seed=5, **options), tasks

    evaluated.calls = calls
    return evaluated


def values(record):
    return {k: record[k] and record[k]["value"] for k in ("pass_at_1", "greedy", "pass_at_4")}


def test_overall_figures_are_the_hand_computed_ones(run):
    record, _ = run(PLAN, checkpoint="c")
    # pass@1 of the five tasks: 1, 1/4, 2/3 (one sample lost), none (all lost), and 1/4 never met
    assert record["pass_at_1"]["value"] == pytest.approx((1 + 1 / 4 + 2 / 3) / 3)
    assert record["greedy"]["value"] == pytest.approx((1 + 0 + 1) / 3)  # one was lost
    assert record["pass_at_4"]["value"] == pytest.approx(1.0)  # only where all four samples stand: 1 and 1
    assert record["tasks"] == 4
    assert record["infra"] == 1 + 4 + 1
    assert (record["checkpoint"], record["seed"], record["samples"], record["temperature"]) == ("c", 5, 4, 0.7)


def test_never_met_families_are_reported_apart(run):
    record, _ = run(PLAN)
    assert record["by_set"].keys() == {"demonstrated", "reward_only", "never_met"}
    assert values(record["by_set"]["never_met"]) == {"pass_at_1": 0.25, "greedy": 0.0, "pass_at_4": 1.0}
    assert values(record["by_set"]["demonstrated"]) == {"pass_at_1": 0.625, "greedy": 0.5, "pass_at_4": 1.0}
    flipped = {**PLAN, "bare_glob": ("never_met", [Outcome("1", "1111")])}
    assert values(run(flipped)[0]) == values(record)
    alone, _ = run({"bare_glob": PLAN["bare_glob"]})  # nothing else to report: then it is the figure
    assert values(alone)["pass_at_1"] == 0.25 and alone["by_set"].keys() == {"never_met"}


def test_families_and_tasks_have_their_rows(run):
    record, tasks = run(PLAN)
    assert {f: r["set"] for f, r in record["by_family"].items()} == {f: s for f, (s, _) in PLAN.items()}
    lost = record["by_family"]["numeric_sort"]
    assert lost["tasks"] == 2 and values(lost) == {
        "pass_at_1": pytest.approx(2 / 3),
        "greedy": 1.0,
        "pass_at_4": None,
    }
    assert [record["per_task"][t.id] for t in tasks] == [
        {"pass_at_1": 1.0, "greedy": 1.0},
        {"pass_at_1": 0.25, "greedy": 0.0},
        {"pass_at_1": pytest.approx(2 / 3), "greedy": None},
        {"pass_at_1": None, "greedy": 1.0},
        {"pass_at_1": 0.25, "greedy": 0.0},
    ]


def test_intervals_resample_families(run):
    record, _ = run(PLAN)
    expected = cluster_bootstrap([1.0, 0.25, 2 / 3], ["copy_folder", "copy_folder", "numeric_sort"], seed=5).as_dict()
    assert record["pass_at_1"] == expected
    assert expected["low"] < expected["value"] < expected["high"]


def test_greedy_is_one_episode_and_sampling_keeps_the_temperature(run):
    done = []
    run(PLAN, progress=done.append)
    greedy, sampled = run.calls
    assert greedy == (replace(RolloutConfig(), temperature=0.0), 1, 5, -1)
    assert sampled == (RolloutConfig(0.7), 4, 5, -1)
    assert done == list(range(1, 5 * 1 + 5 * 4 + 1))


def test_a_sandbox_that_always_fails_is_an_error_and_not_a_score(run):
    with pytest.raises(RlshError, match="rlsh doctor"):
        run({"copy_folder": ("demonstrated", [Outcome("!", "!!!!")])})


def test_one_sample_has_no_second_figure():
    task = task_of("copy_folder", "demonstrated", 0)
    assert table([Scores(task, 1.0, 1, 1)], 1, 0).keys() == {"tasks", "pass_at_1", "greedy"}
    assert table([Scores(task, None, 0, 0)], 4, 0) == {
        "tasks": 1,
        "pass_at_1": None,
        "greedy": None,
        "pass_at_4": None,
    }
