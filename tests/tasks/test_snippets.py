"""Python tasks as they are drawn: which faults, which functions, which words."""

import ast
import random
import re
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

from rlsh.env.patch import apply_patch
from rlsh.tasks.catalogue import Reference, references
from rlsh.tasks.checks import Case, Raised
from rlsh.tasks.mutation import FAMILY, Mutant
from rlsh.tasks.snippets import (
    HELD_OUT_FAULTS,
    Example,
    Origin,
    Snippet,
    edit_call,
    literal,
    quoted,
    snippets,
    split_of,
    task_of,
)

RIGHT = '''def grow(values: list[int], by: int) -> list[int]:
    """Add `by` to all values."""
    found = list(values)
    for i in range(len(found)):
        found[i] += by
    return found
'''
GROW = Reference("grow", "numbers", RIGHT, lambda d: (d.ints(0, 9), d.number(1, 3)), "Add `by` to all values.")
OPERATOR = {"arithmetic": "swapped_augmented", "aliasing": "dropped_copy", "mapping": "dropped_default"}


def snippet(*faults: str, wrong: str = RIGHT.replace("+=", "-="), seed: int = 0, **changes: object) -> Snippet:
    mutant = Mutant(wrong, tuple(OPERATOR[fault] for fault in faults), 5)
    drawn = Snippet(GROW, mutant, (([1], 2), ([], 1)), "train", seed)
    return replace(drawn, **changes)


def first(set: str, seed: int = 0, count: int = 60) -> list[Snippet]:
    functions = [one for one in references() if split_of(one.name) == "train"][:count]
    return [one for function in functions for one in islice(snippets(function, set, seed), 8)]


def test_the_seed_decides_what_is_drawn_and_nothing_else_does():
    keys = [one.key for one in first("python", count=5)]
    assert keys == [one.key for one in first("python", count=5)] and len(set(keys)) == len(keys)
    code = "from tests.tasks.test_snippets import first; print(' '.join(one.key for one in first('python', count=5)))"
    for hash_seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join([".", *sys.path])}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert run.stdout.split() == keys
    assert not {*keys} & {one.key for one in first("python", seed=1, count=5)}


def test_what_is_never_met_is_in_no_training_task():
    for one in first("python"):
        assert one.set == "python" and not HELD_OUT_FAULTS.intersection(one.faults)
    never = first("python_never_met")
    assert never and all(one.set == "python_never_met" and HELD_OUT_FAULTS.issuperset(one.faults) for one in never)


def test_a_function_is_on_one_side_always():
    sides = Counter(split_of(one.name) for one in references())
    assert sides["train"] > 3 * sides["held_out"] > 100
    assert {one.split for one in first("python", count=3)} == {"train"}


def test_rare_families_of_faults_are_not_crowded_out():
    """Control: by their number alone, two families would make up half of the tasks."""
    drawn = [one for one in first("python") if len(one.faults) == 1]
    counts = Counter(one.faults[0] for one in drawn)
    assert len(counts) >= 13 and counts.most_common(1)[0][1] < 0.2 * len(drawn)
    assert {one.family for one in drawn} == {f"python_{fault}" for fault in counts}


def test_one_in_four_has_two_faults():
    drawn = first("python")
    doubles = [one for one in drawn if len(one.faults) == 2]
    assert 0.2 < len(doubles) / len(drawn) < 0.3
    assert {one.family for one in doubles} == {"python_two_faults"}


def test_the_file_is_named_like_no_module_that_it_would_hide():
    names = {snippet("arithmetic", seed=seed).file for seed in range(40)}
    assert names == {"grow.py", "tools.py", "helpers.py"}  # its topic is called numbers


def test_the_key_names_all_that_goes_into_a_task():
    base = snippet("arithmetic")
    others = [
        snippet("arithmetic", wrong=RIGHT.replace("+=", "*=")),
        replace(base, inputs=(([1], 2),)),
        replace(base, split="held_out"),
        replace(base, seed=1),
        replace(base, origin=Origin("x")),
        replace(base, reference=replace(GROW, source=RIGHT + "\n")),
    ]
    assert len({one.key for one in (base, *others)}) == 1 + len(others)


def test_aliasing_is_looked_for_in_the_arguments():
    assert snippet("aliasing").returns == "arguments" and snippet("arithmetic").returns == "value"


@pytest.mark.parametrize(
    ("fault", "case", "usable"),
    [
        ("arithmetic", Case(([1], 2), {}, [3]), True),
        ("arithmetic", Case(([1], 2), {}, Raised("ValueError")), True),
        ("arithmetic", Case(([1], 2), {}, list(range(40))), False),  # too long to be shown
        ("arithmetic", Case((list(range(40)), 2), {}, 0), False),
        ("arithmetic", Case(([1], float("nan")), {}, 0), False),  # no literal
        ("arithmetic", Case(([1], 2), {}, float("inf")), False),
        ("aliasing", Case(([1], 2), {}, ([3], ([1], 2))), True),
        ("aliasing", Case(([1], 2), {}, ([3], ([3], 2))), False),  # the right function changes its arguments, too
        ("aliasing", Case(([1], 2), {}, Raised("ValueError")), True),
    ],
)
def test_an_example_can_be_said_in_a_line(fault, case, usable):
    assert Example(snippet(fault), case).usable is usable


def test_a_wish_says_call_and_outcome():
    assert Example(snippet("arithmetic"), Case(([1], 2), {}, [3])).wish == "grow([1], 2) should return [3]"
    raised = Example(snippet("arithmetic"), Case(([1], 2), {}, Raised("ValueError")))
    assert raised.wish == "grow([1], 2) should raise ValueError"
    kept = Example(snippet("aliasing"), Case(([1], 2), {}, ([3], ([1], 2))))
    assert kept.wish == "grow([1], 2) should return [3] and change none of its arguments"


def test_a_literal_reads_back_and_orders_sets():
    assert literal({"b", "a", "c"}) == "{'a', 'b', 'c'}"  # control: repr's order is the hash seed's
    for value in (set(), {2: (1,)}, [b"a", None, -0.5], "it's", ((), {(1, 2): {3}}), {}):
        assert ast.literal_eval(literal(value)) == value
    with pytest.raises(ValueError, match="malformed"):
        literal([float("nan")])


@pytest.mark.parametrize(
    "code", ["print('a')", 'print("a")', "print('$HOME')", "print('`a`')", r"print('\n')", "f('!')"]
)
def test_quoted_code_is_one_word_that_means_itself(code):
    assert shlex.split(quoted(code)) == [code]
    shown = subprocess.run(["bash", "-c", f"printf %s {quoted(code)}"], capture_output=True, text=True, check=True)
    assert shown.stdout == code


@pytest.mark.parametrize("fault", ["arithmetic", "aliasing"])
@pytest.mark.parametrize("seed", range(12))
def test_a_task_shows_what_is_wrong_when_its_command_runs(tmp_path, fault, seed):
    """In all forms and wordings; the reference then mends it."""
    wrong = RIGHT.replace("+=", "-=") if fault == "arithmetic" else RIGHT.replace("list(values)", "values")
    one = snippet(fault, wrong=wrong, seed=seed)
    value = [3] if fault == "arithmetic" else ([3], ([1], 2))
    example = Example(one, Case(([1], 2), {}, value))
    task = task_of(example, one.check([([2], 1)]))
    assert example.wish in task.instruction and one.file in task.instruction + task.broken
    assert "grow" in task.instruction and (task.family, task.set) == (f"python_{fault}", "python")
    for name, entry in task.files.items():
        (tmp_path / name).write_bytes(entry.content)

    def run() -> str:
        done = subprocess.run(["bash", "-c", task.broken], cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr.rpartition("\n")[0].rpartition("\n")[2]

    before = run()
    (call,) = task.reference
    file = tmp_path / call.arguments["file_path"]
    file.write_text(apply_patch(file.read_text(), call.arguments["edit_content"]))
    assert file.read_text() == RIGHT
    after = run()
    if fault == "arithmetic":
        assert before in ("[-1]\n", "AssertionError")
        assert after in ("[3]\n", "")
    else:
        assert (before, after) == ("[3] [[3], 2]\n", "[3] [[1], 2]\n")


def test_every_form_and_wording_occurs():
    example = [Example(snippet("arithmetic", seed=seed), Case(([1], 2), {}, [3])) for seed in range(60)]
    tasks = [task_of(one, one.snippet.check([([2], 1)])) for one in example]
    assert {task.broken.split()[1][:3] for task in tasks} == {"-c", "try", "che"}
    wordings = {re.sub(r"\w+\.py", "FILE", task.instruction) for task in tasks}
    assert len(wordings) == 4


def test_an_assertion_cannot_show_an_exception_that_is_missing():
    for seed in range(30):
        one = Example(snippet("arithmetic", seed=seed), Case(([1], 2), {}, Raised("ValueError")))
        assert "check_" not in task_of(one, one.snippet.check([([2], 1)])).broken


def test_an_edit_is_the_difference_of_two_texts():
    rng = random.Random(0)
    for _ in range(50):
        old, new = ("".join(f"{rng.randrange(4)}\n" for _ in range(rng.randrange(1, 9))) for _ in range(2))
        if old != new:
            assert apply_patch(old, edit_call("a", old, new).arguments["edit_content"]) == new


def test_families_are_known_for_every_operator():
    assert {FAMILY[operator] for operator in OPERATOR.values()} == set(OPERATOR)
