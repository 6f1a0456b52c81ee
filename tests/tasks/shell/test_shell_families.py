"""The realistic families as they are drawn, not run: faults covered, sets apart, draws that repeat and differ."""

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest

from rlsh.tasks.checks import ShellCheck
from rlsh.tasks.shell import FAMILIES, SET_OF, SETS, draw, drills, redrawn, words
from rlsh.tasks.task import to_json
from rlsh.tasks.world import pool_of

NAMES = [f.__name__ for name in ("shell", "shell_never_met") for f in SETS[name]]
REQUIRED = set(
    """
    mistyped_program mistyped_flag mistyped_path missing_recursive missing_parents argument_order quoting globbing
    unclosed_quote sed_without_g grep_without_extended wrong_field wrong_delimiter sort_without_n uniq_unsorted
    read_write_same_file redirection_order truncating_redirect missing_exec_end missing_null bracket_spacing
    numeric_test_on_strings wrong_variable crlf_shebang execute_bit pipefail loop_over_ls
    """.split()
)
HELD_OUT = {"redirection_order", "missing_null", "crlf_shebang", "pipefail", "loop_over_ls"}
HELD_OUT |= {"sed_delimiter", "compressed_input"}
TWO_FAULTS = set(
    """
    totals backed_up_folder merged_logs best_orders stored_notes frequent_rooms failed_services tidy_names
    checked_release gathered_notes
    """.split()
)
# Words of the lists that are fixed terms as well: in headings, in comments, in what is wanted.
FIXED = set(
    """
    archive backup battery build cache check collect config copy count customer design echo file folder list mend
    mirror move open order orders price print read repair replace report return search sort table test write
    """.split()
)


@cache
def faults(family):
    """Of all seeds tried: a family's faults are the same in each."""
    (found,) = {draw(family, seed, "train")[0].faults for seed in range(30)}
    return found


def test_there_are_enough_families_and_no_two_of_a_name():
    assert len(NAMES) >= 34
    assert sum(map(len, SETS.values())) == len(FAMILIES) == len(SET_OF)
    assert {name: SET_OF[name] for name in drills.FAMILIES} == drills.SET_OF


def test_every_kind_of_fault_is_some_familys():
    assert {fault for family in NAMES for fault in faults(family)} >= REQUIRED


def test_what_is_held_out_is_not_met_elsewhere():
    met = {fault for f in SETS["shell"] for fault in faults(f.__name__)}
    held_out = {fault for f in SETS["shell_never_met"] for fault in faults(f.__name__)}
    assert held_out == HELD_OUT and not met & held_out
    assert 1 / 10 < len(SETS["shell_never_met"]) / len(NAMES) < 1 / 6
    assert all(draw(f.__name__, 0, "train")[1].never_met for f in SETS["shell_never_met"])


def test_families_of_two_faults_name_two():
    assert {family for family in NAMES if len(faults(family)) == 2} == TWO_FAULTS
    assert all(len(set(faults(family))) in (1, 2) for family in NAMES)


def test_scripts_are_of_5_to_15_lines_and_judged_as_files():
    scripts = {}
    for family in NAMES:
        draft, task = draw(family, 1, "train")
        (check,) = task.checks
        assert (check.script, check.run) == (draft.script, draft.broken if draft.script else "")
        if draft.script:
            scripts[family] = len(task.files[draft.script].content.splitlines())
            assert task.files[draft.script] == check.files[draft.script]
    assert len(scripts) >= 6 + 6
    short = {family for family, lines in scripts.items() if lines < 5}
    assert short == {"no_execute_bit", "carriage_returns"}  # their fault is in no line
    assert max(scripts.values()) <= 15


@pytest.mark.parametrize("family", NAMES)
def test_hidden_files_are_others_and_fit_a_workspace(family):
    for seed in range(12):
        draft, task = draw(family, seed, "train")
        (check,) = task.checks
        visible = {path: entry for path, entry in task.files.items() if path != draft.script}
        hidden = {path: entry for path, entry in check.files.items() if path != draft.script}
        assert visible != hidden
        for tree in (task.files, check.files):
            assert len(tree) < 200 and sum(len(entry.content) for entry in tree.values()) < 100_000


@pytest.mark.parametrize("family", NAMES)
def test_sizes_differ_too(family):
    def sizes(tree):
        return {path: len(entry.content) for path, entry in tree.items()}

    drawn = [draw(family, seed, "train")[1] for seed in range(20)]
    assert sum(sizes(task.files) != sizes(task.checks[0].files) for task in drawn) >= 18


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_a_split_is_named_after_and_filled_with_words_of_its_own(split):
    listed = {word for name, value in vars(words).items() if name.isupper() for word in value}
    others = {word for word in listed if pool_of(word) != split} - FIXED
    for family in NAMES:
        for seed in range(10):
            _, task = draw(family, seed, split)
            met = set(re.findall("[a-z]+", task.instruction.lower()))
            for tree in (task.files, task.checks[0].files):
                for path, entry in tree.items():
                    if not path.startswith(".git"):
                        content = "" if path.endswith((".gz", ".tar", ".zip")) else entry.content.decode()
                        met |= set(re.findall("[a-z]+", f"{path} {content}".lower()))
            assert met & listed and not met & others, family


@pytest.mark.parametrize("family", NAMES)
def test_draws_differ(family):
    drawn = [draw(family, seed, "train")[1] for seed in range(100)]
    assert len({(task.instruction, task.broken, str(task.files)) for task in drawn}) == 100


@pytest.mark.parametrize("family", NAMES)
def test_hundreds_of_different_prompts(family):
    """Building takes a pair of instruction and command once only."""
    drawn = {(t.instruction, t.broken) for t in (draw(family, seed, "train")[1] for seed in range(500))}
    assert len(drawn) > 250


DIGEST = """
import hashlib, json, sys
from rlsh.tasks.shell import FAMILIES, draw, redrawn
from rlsh.tasks.task import to_json
digest = hashlib.sha256()
for family in FAMILIES:
    for split in ("train", "held_out"):
        task = draw(family, 7, split)[1]
        for drawn in (task, redrawn(task, 3)):
            digest.update(json.dumps(to_json(drawn), sort_keys=True).encode())
print(digest.hexdigest())
"""


def test_draws_are_the_same_in_every_process():
    def digest(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": "JST-9", "LC_ALL": "C"}
        run = [sys.executable, "-c", DIGEST]
        return subprocess.run(run, env=environment, check=True, capture_output=True, text=True).stdout

    assert digest("1") == digest("2")


def test_drills_are_what_they_were():
    """The demo's tasks, and the ids that its runs name, hang on these draws to the byte."""
    digest = hashlib.sha256()
    for family in drills.FAMILIES:
        for seed in range(5):
            for split in ("train", "held_out"):
                digest.update(draw(family, seed, split)[1].content_hash.encode())
    assert digest.hexdigest()[:16] == "a2dc0127a6b42094"


def test_redrawing_changes_the_hidden_files_and_nothing_else():
    for family in ("numeric_sort", "largest_orders", "tight_brackets"):
        task = draw(family, 5, "train")[1]
        again, other = redrawn(task, 1), redrawn(task, 2)
        assert redrawn(task, 1) == again
        hidden = [drawn.checks[0].files for drawn in (task, again, other)]
        assert all(hidden[i] != hidden[j] for i, j in ((0, 1), (0, 2), (1, 2)))
        fixed = [{k: v for k, v in to_json(drawn).items() if k != "checks"} for drawn in (task, again, other)]
        assert fixed[0] == fixed[1] == fixed[2]
        kept = [json.dumps({**drawn.checks[0].to_json(), "files": {}}) for drawn in (task, again, other)]
        assert kept[0] == kept[1] == kept[2]


def test_a_task_that_is_not_drawn_here_is_not_redrawn():
    task = draw("largest_orders", 5, "train")[1]
    assert redrawn(task, 1) is not task
    for other in (
        replace(task, source="elsewhere"),
        replace(task, family="another"),
        replace(task, seed=6),
        replace(task, instruction="Sort it."),
        replace(task, checks=(ShellCheck({}),)),
        replace(task, checks=task.checks * 2),
    ):
        assert redrawn(other, 1) is other
