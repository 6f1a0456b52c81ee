"""Python tasks tried out: the call that is shown, the calls that judge, and what no task is made of."""

import math
from dataclasses import replace

import pytest

from rlsh.env.admission import LIMITS, UnfitTaskError, admit
from rlsh.env.build import snippet_drafts
from rlsh.env.snippets import DISTINCT, FAILING, FEWEST, HIDDEN, has_float, hidden_cases, task_from
from rlsh.env.verify import verify_calls
from rlsh.sandbox.base import SandboxError
from rlsh.tasks.catalogue import Reference
from rlsh.tasks.checks import Case, Raised
from rlsh.tasks.mutation import Mutant
from rlsh.tasks.snippets import Snippet
from rlsh.types import exec_call

RIGHT = '''def half(value: int) -> int:
    """Return the half of `value`, rounded down; ValueError if it is negative."""
    if value < 0:
        raise ValueError(value)
    return value // 2
'''
HALF = Reference("half", "half", RIGHT, lambda d: (d.number(0, 99),), "Return the half.")
INPUTS = tuple((i,) for i in (4, 9, -1, 12, 15, 18, 21, 24, 27, -2, 33, 36))


def snippet(wrong: str, operator: str = "swapped_division", inputs=INPUTS, right: str = RIGHT) -> Snippet:
    return Snippet(replace(HALF, source=right), Mutant(wrong, (operator,), 5), inputs, "train", 0)


def test_a_task_shows_one_failing_call_and_hides_others(sandbox):
    task = task_from(snippet(RIGHT.replace("value // 2", "value // 2 + (value > 12)")), sandbox)
    (check,) = task.checks
    expected = {case.args[0]: case.expected for case in check.cases}
    assert expected == {v: Raised("ValueError") if v < 0 else v // 2 for v in expected}
    assert FEWEST <= len(expected) <= HIDDEN
    failing = [v for v in expected if v > 12]
    assert len(failing) >= FAILING and len(expected) - len(failing) >= 2  # some that must stay as they are
    (example,) = {v for (v,) in INPUTS} - set(expected)
    assert example > 12 and f"half({example}) should return {example // 2}" in task.instruction
    assert task.id and task.error
    assert admit(task, sandbox) is None


@pytest.mark.parametrize(
    ("wrong", "inputs", "reason"),
    [
        (RIGHT.replace("value < 0", "value <= -1"), INPUTS, "the fault shows in no call"),
        (RIGHT.replace("    return", "    while True:\n        pass\n    return"), INPUTS, "the fault hangs"),
        (
            RIGHT.replace("raise ValueError(value)", "import os; os._exit(0)"),
            INPUTS,
            "the fault hangs, or ends its process",
        ),
        (RIGHT.replace("value // 2", "value // 2 + (value == 9) + (value == 12)"), INPUTS, "fewer than 3 calls"),
        (RIGHT.replace("value // 2", "value / 2"), INPUTS[:8], "fewer than 9 different calls"),
        (
            RIGHT.replace("value // 2", "1"),
            tuple((i,) for i in [0, 1, 0, 1, 1, 0, -1, -1, -1, 0, 1]),
            "fewer than 3 different",
        ),
        (RIGHT.replace("value // 2", "1"), tuple((10**90 + i,) for i in range(12)), "short enough to be shown"),
    ],
)
def test_what_tells_too_little_is_no_task(sandbox, wrong, inputs, reason):
    with pytest.raises(UnfitTaskError, match=reason):
        task_from(snippet(wrong, inputs=tuple(inputs)), sandbox)


def test_a_fault_that_is_mended_by_swallowing_its_exception_is_no_task(sandbox):
    """What raises where the right answer is always the same. Control: where it is not always, a task is made."""
    right = 'def name(v):\n    """Name."""\n    return None if v > 5 else "abcdefg"[v]\n'
    wrong = right.replace("v > 5", "v > 99")
    name, inputs = Reference("name", "name", right, lambda d: (), ""), (0, 1, 2, 3, 4, 7, 8, 9, 10, 11)
    faults = ((right, wrong, False), (right.replace("None", "-1"), wrong.replace("None", "-1"), False))
    for source, mutant, fits in (*faults, (right.replace("None", "v"), wrong.replace("None", "v"), True)):
        reference = replace(name, source=source)
        drawn = Snippet(reference, Mutant(mutant, ("constant",), 3), tuple((v,) for v in inputs), "train", 0)
        if fits:
            assert task_from(drawn, sandbox)
        else:
            with pytest.raises(UnfitTaskError, match="to swallow the exception is enough"):
                task_from(drawn, sandbox)


def test_a_reference_without_an_answer_is_no_task(sandbox):
    right = RIGHT.replace("return value // 2", "return object()")
    with pytest.raises(UnfitTaskError, match="the reference has no usable answers"):
        task_from(snippet(RIGHT, right=right), sandbox)


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_host_fault_is_no_reason_to_turn_a_fault_away(sandbox, failing):
    """At the fault, at the reference, at the command that shows it."""

    class Failing:
        tools, opened = (), 0

        def open(self, files, limits):
            self.opened += 1
            if self.opened == failing:
                raise SandboxError("no room on this host")
            return sandbox.open(files, limits)

    with pytest.raises(SandboxError, match="no room"):
        task_from(snippet(RIGHT.replace("value // 2", "value // 2 + (value > 12)")), Failing())


def test_floats_may_differ_in_the_last_bits(sandbox):
    """A repair may add in another order. Control: strictly compared it would be wrong."""
    right = 'def total(a: list[float]) -> float:\n    """Add all of `a`."""\n    return sum(a)\n'
    inputs = tuple(([0.1, 0.2, 0.3, i / 7],) for i in range(12))
    wrong = right.replace("sum(a)", "sum(a) + 1")
    drawn = Snippet(
        Reference("total", "total", right, lambda d: (), ""), Mutant(wrong, ("dropped_term",), 3), inputs, "train", 0
    )
    task = task_from(drawn, sandbox)
    file = drawn.file
    repair = exec_call(f"sed -i 's/sum(a) + 1/sum(a[::-1])/' {file}")
    assert verify_calls(task, [repair], sandbox, LIMITS).reward == 1.0
    (check,) = task.checks
    strict = replace(task, checks=(replace(check, tolerance=None),))
    assert verify_calls(strict, [repair], sandbox, LIMITS).reward == 0.0
    assert any(sum(a) != sum(a[::-1]) for (a,) in inputs)


def test_what_changes_its_arguments_is_caught_where_that_is_the_fault(sandbox):
    right = 'def sort(a: list[int]) -> list[int]:\n    """Sort."""\n    b = list(a)\n    b.sort()\n    return b\n'
    inputs = tuple(([i % 5, i % 3, 1],) for i in range(3, 15))
    wrong = right.replace("list(a)", "a")
    sort = Reference("sort", "sort", right, lambda d: (), "")
    task = task_from(Snippet(sort, Mutant(wrong, ("dropped_copy",), 3), inputs, "train", 0), sandbox)
    assert "change none of its arguments" in task.instruction
    assert admit(task, sandbox) is None
    with pytest.raises(UnfitTaskError, match="in no call"):  # control: its value alone is right
        task_from(Snippet(sort, Mutant(wrong, ("dropped_term",), 3), inputs, "train", 0), sandbox)


def test_both_of_two_faults_show_in_the_hidden_calls(sandbox):
    """Control: without its parts the same mutant makes a task, which half a repair would solve."""
    shown = RIGHT.replace("value // 2", "value // 2 + (value > 12)")
    for other, fits in (("value < -1", True), ("value <= -1", False)):  # what is -1, or the same in other words
        wrong = shown.replace("value < 0", other)
        mutant = Mutant(wrong, ("swapped_operator", "strictness"), 3, (shown, RIGHT.replace("value < 0", other)))
        inputs = tuple((i,) for i in (4, -1, 9, -1, 12, 15, 18, 21, -1, 24, 27, -2, 33))
        drawn = Snippet(HALF, mutant, inputs, "train", 0)
        if fits:
            assert task_from(drawn, sandbox).family == "python_two_faults"
        else:
            with pytest.raises(UnfitTaskError, match="one of the two faults shows in no hidden call"):
                task_from(drawn, sandbox)
        assert task_from(replace(drawn, mutant=replace(mutant, parts=())), sandbox)


def cases(count: int, start: int = 0, expected: int | None = None) -> list[Case]:
    return [Case((i,), {}, i if expected is None else expected) for i in range(start, start + count)]


def test_hidden_cases_are_half_failing_where_there_are_enough():
    for fails, holds, failing in ((20, 20, 6), (2, 20, 2), (20, 3, 9), (20, 0, 12)):
        found = hidden_cases(cases(fails), cases(holds, 100))
        assert len(found) == HIDDEN and sum(case.args[0] < 100 for case in found) == failing
    with pytest.raises(UnfitTaskError, match=f"fewer than {DISTINCT} different outcomes"):
        hidden_cases(cases(6, expected=1), cases(6, 100, expected=2))


@pytest.mark.parametrize("value", [1.0, [1.0], (1, {2: [3.5]}), {0.5: 1}, {1.5}, math.inf])
def test_floats_are_found_wherever_they_are(value):
    assert has_float(value) and not has_float([1, "1.0", None, True, {1: (2,)}])


def test_catalogue_tasks_hold(sandbox):
    """As they are drawn. What is admitted is repaired by its reference and by nothing."""
    made = []
    for draft in snippet_drafts(["python"], 3, "train"):
        try:
            made.append(draft.task(sandbox))
        except UnfitTaskError:
            continue
        if len(made) == 6:
            break
    assert [admit(task, sandbox) for task in made] == [None] * 6
    for task in made:
        (check,) = task.checks
        assert task.reference[0].name == "edit" and check.file in task.files
        naive = exec_call(f"rm {check.file}")
        assert verify_calls(task, [naive], sandbox, LIMITS).reward == 0.0
