"""Task generation: seeds, word pools, and what admission turns away."""

import importlib
import re
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from rlsh.env import admission, build
from rlsh.env.admission import admit, record
from rlsh.env.build import build_tasks
from rlsh.sandbox.base import SandboxError
from rlsh.tasks.shell import Draft, draw
from rlsh.tasks.shell.drills import FAMILIES
from rlsh.tasks.world import pool_of, text
from rlsh.types import ToolCall

SYNTAX = "#!/bin/sh\necho "  # of the scripts that fixtures hold


def words(tree):
    """Every word of a tree's names and contents, extensions and syntax left out."""
    for path, entry in tree.items():
        stem = PurePosixPath(path).with_suffix("").as_posix()
        content = entry.content.decode().removeprefix(SYNTAX)
        yield from re.findall("[a-z]+", f"{stem} {content}".lower())


def drawn(split, seeds=range(40)):
    return [draw(family, seed, split)[1] for family in FAMILIES for seed in seeds]


def test_the_same_seed_gives_the_same_tasks(sandbox, family_tasks):
    def ids(seed, split="train", workers=2):
        tasks, _ = build_tasks(sandbox, ["reward_only"], 6, seed=seed, split=split, workers=workers)
        return [task.id for task in tasks]

    first = ids(3)
    assert first == ids(3, workers=1)
    assert not set(first) & set(ids(4))
    assert not set(first) & set(ids(3, "held_out"))


def test_what_is_recorded_repeats(sandbox, family_tasks):
    for task in family_tasks.values():
        assert record(draw(task.family, task.seed, task.split)[1], sandbox) == task


def test_different_seeds_draw_different_tasks():
    one, other = drawn("train", range(20)), drawn("train", range(100, 120))
    assert not {t.content_hash for t in one} & {t.content_hash for t in other}
    same = {(t.broken, str(t.files)) for t in one} & {(t.broken, str(t.files)) for t in other}
    assert not same


def test_no_word_of_a_held_out_task_occurs_in_a_train_task():
    found = {}
    for split in ("train", "held_out"):
        found[split] = {w for task in drawn(split) for tree in (task.files, task.checks[0].files) for w in words(tree)}
        assert len(found[split]) > 200
        assert {pool_of(w) for w in found[split]} == {split}
    assert not found["train"] & found["held_out"]


def test_hidden_fixtures_have_the_same_names_to_act_on_and_other_contents():
    for task in drawn("train", range(10)):
        assert task.files != task.checks[0].files or task.family == "bare_glob", task.family
        named = {w for w in re.split(r"[\s'\"<>;]+", task.reference[-1].arguments["command"]) if w}
        for path in named & task.files.keys():
            assert path in task.checks[0].files


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_family_gives_an_admitted_task(family_tasks, family):
    task = family_tasks[family]
    assert task.id == f"{family}-{task.content_hash}"
    assert task.checks[0].exit_code == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"broken": "sort -n a.txt; true"}, "broken command passes"),
        ({"reference": "date +%N"}, "reference is not repeatable"),
        ({"reference": "date -d @0 +%H"}, "reference is not repeatable"),  # in another time zone
        ({"reference": "date -u -d @0 +%H; cat a.txt"}, None),
        ({"reference": "python3 -c 'print(hash(\"a\"))'"}, "reference is not repeatable"),
        ({"reference": "head -c 8 /dev/urandom > b.txt"}, "reference is not repeatable"),
        ({"reference": "sort -n a.txt; exit 3"}, "reference exits non-zero"),
        ({"reference": "sleep 9"}, "reference exits non-zero"),
        ({"reference": "cat /dev/null"}, "empty action passes"),
        ({"reference": "wc -l < a.txt"}, "visible output passes"),
        ({"reference": "sort -n a.txt"}, None),
        ({"reference": "sort -n -o a.txt a.txt", "compare": ("tree",)}, None),
    ],
)
def test_admission_turns_planted_faults_away(sandbox, make_task, monkeypatch, change, reason):
    monkeypatch.setattr(admission, "LIMITS", replace(admission.LIMITS, wall_s=1.0))
    given = {"reference": "sort -n a.txt", "broken": "sort a.txt", **change}
    task = make_task(given.pop("reference"), {"a.txt": "10\n9\n"}, {"a.txt": "300\n4\n"}, **given)
    assert admit(task, sandbox) == reason


def test_a_host_fault_is_no_reason_to_turn_a_task_away(family_tasks):
    class Failing:
        def open(self, files, limits):
            raise SandboxError("no room on this host")

    with pytest.raises(SandboxError, match="no room"):
        admit(family_tasks["numeric_sort"], Failing())


def test_the_report_counts_what_became_of_every_draft(sandbox, monkeypatch):
    def faulty(w):
        return Draft("Do nothing.", "false", "true", lambda v: {"a.txt": text(v.word())})

    def repeated(w):
        return Draft("Sort a.txt.", "srot a.txt", "sort a.txt", lambda v: {"a.txt": text(*v.words(3)[::-1])})

    def good(w):
        name = w.name()
        return Draft(f"Sort {name}.", f"srot {name}", f"sort {name}", lambda v: {name: text(*v.words(3)[::-1])})

    families = {f.__name__: f for f in (faulty, repeated, good)}
    for module in (build, importlib.import_module("rlsh.tasks.shell.draw")):
        monkeypatch.setattr(module, "FAMILIES", families)
        monkeypatch.setattr(module, "SET_OF", dict.fromkeys(families, "demonstrated"))
    done = []
    tasks, report = build_tasks(sandbox, ["demonstrated"], 3, seed=0, split="train", workers=2, progress=done.append)
    assert [t.family for t in tasks] == ["repeated", "good", "good"]
    assert (report.accepted, report.duplicates) == (3, 1)
    assert report.rejected == {("faulty", "empty action passes"): 2}
    assert report.families == {"repeated": 1, "good": 2}
    assert done == [1, 2, 3]


def test_a_drawing_names_its_repair(family_tasks):
    draft, task = draw("copy_folder", 5, "train")
    assert task.reference == (ToolCall("exec", {"command": draft.repair}),)
    assert draw("copy_folder", 5, "held_out")[1].files != task.files
