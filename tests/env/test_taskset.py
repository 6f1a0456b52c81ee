"""A folder of tasks: parts, shares, the report, and what must not leak from one part into another."""

import json
from collections import Counter

import pytest

from rlsh.env import build as build_module
from rlsh.env.build import BuildReport, bare, build, identity, shell_drafts, snippet_drafts
from rlsh.env.taskset import build_set, lengths, shares
from rlsh.env.trials import kept_in
from rlsh.tasks.catalogue import references
from rlsh.tasks.checks import PythonCheck
from rlsh.tasks.mutation import FAMILY
from rlsh.tasks.snippets import HELD_OUT_FAULTS
from rlsh.tasks.task import read_tasks
from rlsh.text.tokenizer import Tokenizer
from rlsh.types import RlshError

COUNTS = {"train": 8, "held_out": 4, "never_met": 3}


@pytest.fixture(scope="module")
def python_set(sandbox):
    return build_set("python", COUNTS, sandbox, seed=0)


def test_parts_are_written_where_training_and_evaluation_look(python_set, tmp_path):
    python_set.write(tmp_path)
    train, held_out = (read_tasks(tmp_path / f"{name}.jsonl") for name in ("train", "held_out"))
    assert train == python_set.tasks["train"]
    assert held_out == [*python_set.tasks["held_out"], *python_set.tasks["never_met"]]
    assert Counter((t.split, t.set) for t in train + held_out) == {
        ("train", "python"): 8,
        ("held_out", "python"): 4,
        ("held_out", "python_never_met"): 3,
    }


def test_no_function_and_no_held_out_fault_is_on_both_sides(python_set):
    functions = {part: {t.checks[0].function for t in tasks} for part, tasks in python_set.tasks.items()}
    assert not functions["train"] & (functions["held_out"] | functions["never_met"])
    sources = {part: {bare_source(t) for t in tasks} for part, tasks in python_set.tasks.items()}
    assert not sources["train"] & (sources["held_out"] | sources["never_met"])
    faults = {FAMILY[name] for t in python_set.tasks["train"] for name in t.operators}
    assert not faults & HELD_OUT_FAULTS


def bare_source(task):
    return bare(task.files[task.checks[0].file].content.decode())


def test_the_report_adds_up(python_set):
    summary = python_set.summary(Tokenizer.of_bytes())
    parts = summary["parts"]
    for name in ("accepted", "duplicates"):
        assert summary[name] == sum(part[name] for part in parts.values())
    assert summary["accepted"] == 15 and sum(summary["families"].values()) == 15
    assert sum(summary["rejected"].values()) == sum(summary["rejected_by_family"].values())
    assert sum(summary["operators"].values()) >= 15
    assert summary["tokens"]["train"]["max"] == max(len(t.prompt.encode()) for t in python_set.tasks["train"])
    assert len({summary["sha256"], *(part["sha256"] for part in parts.values())}) == 4
    json.dumps(summary)


def test_the_same_seed_gives_the_same_hash_whatever_the_workers_are(sandbox):
    def sha256(seed, workers):
        _, report = build(snippet_drafts(["python"], seed, "train"), 4, sandbox, workers=workers)
        return report.sha256

    assert sha256(0, 1) == sha256(0, 4) != sha256(1, 4)


def test_a_second_build_tries_nothing_again(sandbox, tmp_path, monkeypatch):
    def made():
        with kept_in(tmp_path) as trials:
            return build(shell_drafts(["reward_only"], 0, "train"), 4, sandbox, workers=2, trials=trials)

    first = made()
    monkeypatch.setattr(build_module, "attempt", None)  # not callable: nothing is left to try
    assert made() == first
    (tmp_path / "trials.jsonl").unlink()
    with pytest.raises(TypeError):
        made()


def test_what_one_repair_solves_is_one_task(family_tasks, python_set):
    task = family_tasks["copy_folder"]
    assert identity(task) == identity(family_tasks["copy_folder"])
    assert identity(task) != identity(family_tasks["replace_all"])
    python = python_set.tasks["train"][0]
    (check,) = python.checks
    assert isinstance(check, PythonCheck)
    assert identity(python) == bare_source(python)


def test_a_source_that_does_not_parse_is_its_own_normal_form():
    assert bare("def f(a):\n    return a\n") == bare("def f(b):\n    return b  # b\n")
    assert bare("def f(") == "def f("


@pytest.mark.parametrize(("count", "of", "found"), [(5, 2, [3, 2]), (4, 2, [2, 2]), (3, 1, [3]), (0, 2, [0, 0])])
def test_shares_add_up(count, of, found):
    assert shares(count, of) == found


def test_lengths_of_prompts(python_set):
    (task, *_) = python_set.tasks["train"]
    size = len(task.prompt.encode())
    assert lengths([task], Tokenizer.of_bytes()) == {"median": size, "p95": size, "max": size}


def test_reports_add(family_tasks):
    one = BuildReport(2, 1, Counter({("f", "r"): 1, ("g", "r"): 2}), Counter(f=2), Counter(o=1), "a")
    both = one + one
    assert (both.accepted, both.duplicates, both.reasons) == (4, 2, {"r": 6})
    assert both.as_dict()["rejected_by_family"] == {"g": 4, "f": 2}
    assert (BuildReport() + one).sha256 == "a" != both.sha256


def test_too_few_faults_are_named(sandbox, monkeypatch):
    monkeypatch.setattr(build_module, "references", lambda: [])
    with pytest.raises(RlshError, match="only 0 of 3 tasks could be made"):
        build(snippet_drafts(["python"], 0, "train"), 3, sandbox, workers=1)


def test_mixed_parts_share_no_repair_and_never_met_is_never_met(sandbox):
    made = build_set("mixed", {"train": 20, "held_out": 10, "never_met": 8}, sandbox, seed=4)
    assert [len(tasks) for tasks in made.tasks.values()] == [20, 10, 8]
    train = {identity(task) for task in made.tasks["train"]}
    faults = {name for task in made.tasks["train"] for name in task.operators}
    for part in ("held_out", "never_met"):
        assert not train & {identity(task) for task in made.tasks[part]}
        assert all(task.never_met == (part == "never_met") for task in made.tasks[part])
    sets = Counter(task.set for tasks in made.tasks.values() for task in tasks)
    assert sets == {"shell": 15, "python": 15, "shell_never_met": 4, "python_never_met": 4}
    assert not faults & {name for task in made.tasks["never_met"] for name in task.operators}


def test_what_cannot_be_made_is_said_before_the_long_part(sandbox, monkeypatch):
    """Control: the part for training alone would take far more than what is looked at here."""
    tried = []
    real = build_module.attempt
    monkeypatch.setattr(build_module, "attempt", lambda draft, sandbox: tried.append(draft) or real(draft, sandbox))
    monkeypatch.setattr(build_module, "references", lambda: references()[:12])
    with pytest.raises(RlshError, match="tasks could be made"):
        build_set("python", {"train": 1000, "held_out": 0, "never_met": 1000}, sandbox, seed=0)
    assert {draft.drawn.split for draft in tried} <= {"held_out"}
