"""Public sets become tasks by trial: each of the three formats, in trees as small as they come."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from rlsh.env import admission, importing
from rlsh.env.admission import LIMITS
from rlsh.env.importing import import_problem, import_tasks
from rlsh.env.verify import verify_calls, verify_command
from rlsh.tasks import read_tasks, write_tasks
from rlsh.tasks.checks import PythonCheck, ScriptCheck
from rlsh.tasks.importers import READERS, read_humanevalfix, read_mbpp, read_quixbugs
from rlsh.tasks.importers.problem import Broken
from rlsh.types import RlshError

HUMANEVALFIX = Path(__file__).parents[3] / "shared/data/humanevalfix/humanevalpack-python.jsonl"
QUIXBUGS = os.environ.get("RLSH_QUIXBUGS", "")

# --- HumanEvalFix -----------------------------------------------------------------------------------------------

PROMPT = '''\
import math

def helper(n):
    return 2 * n

def total(numbers: list, start=0):
    """ Adds up
    all numbers. Starts with start.
    >>> total([1, 2])
    3
    """
'''
RECORD = {
    "task_id": "Python/900",
    "prompt": PROMPT,
    "canonical_solution": "    return sum(numbers, start)\n\n",
    "buggy_solution": "    return sum(numbers[1:], start)\n\n",
    "bug_type": "value misuse",
    "entry_point": "total",
    "docstring": "Adds up\nall numbers. Starts with start.\n>>> total([1, 2])\n3",
    "example_test": "def check(total):\n    assert total([]) == 0\n    assert total([1, 2]) == 3\ncheck(total)\n",
    "test": "def check(total):\n    assert total([4, 5]) == 9.0\n    assert total([0.5], 1) == 1.5\ncheck(total)\n",
}
RANDOM = """\
import random
for _ in range(4):
    n = random.randint(1, 9)
    assert total([n, n]) == helper(n)
"""


def humanevalfix(tmp_path, *records):
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps({**RECORD, **record}) + "\n" for record in records))
    return path


def imported(sandbox, kind, path):
    tasks, report = import_tasks(kind, path, sandbox)
    assert report.rejected == {} and report.left_out == {}
    write_tasks(path.with_suffix(".tasks"), tasks)
    assert read_tasks(path.with_suffix(".tasks")) == tasks
    return tasks


def test_a_record_becomes_a_task(sandbox, tmp_path):
    (task,) = imported(sandbox, "humanevalfix", humanevalfix(tmp_path, {}))
    assert task.instruction == "total in total.py is wrong: Adds up all numbers. Repair it."
    assert task.broken == "python3 -c 'from total import total; print(total([1, 2]))'"  # the example that fails
    assert task.error == "2"
    assert task.files["total.py"].content.decode() == PROMPT + "    return sum(numbers[1:], start)\n"
    assert (task.set, task.split, task.operators) == ("humanevalfix", "held_out", ("value_misuse",))
    assert (task.source, task.licence) == ("humanevalpack Python/900", "MIT")
    (check,) = task.checks
    assert isinstance(check, PythonCheck) and check.tolerance is None
    assert [repr(case.expected) for case in check.cases] == ["9", "1.5"]  # 9, as what is right answers, not 9.0
    (call,) = task.reference
    assert "-    return sum(numbers[1:], start)\n+    return sum(numbers, start)\n" in call.arguments["edit_content"]
    assert verify_calls(task, task.reference, sandbox, LIMITS).reward == 1.0
    assert verify_command(task, task.broken, sandbox, LIMITS).reward == 0.0


def test_what_is_no_claim_is_judged_by_the_script_and_labelled(sandbox, tmp_path):
    (task,) = imported(sandbox, "humanevalfix", humanevalfix(tmp_path, {"test": RECORD["test"] + RANDOM}))
    values, script = task.checks
    assert isinstance(values, PythonCheck) and isinstance(script, ScriptCheck)
    assert "def helper" in script.script and "import math" in script.script  # what the tests may use, but
    assert "def total" not in script.script  # what is tested is the candidate's
    assert 1 < len(script.calls) <= 6
    assert script.summary.startswith("weaker check")
    assert verify_calls(task, task.reference, sandbox, LIMITS).reward == 1.0


def test_without_an_example_the_shortest_hidden_call_is_shown(sandbox, tmp_path):
    (task,) = imported(sandbox, "humanevalfix", humanevalfix(tmp_path, {"example_test": "    not Python"}))
    assert "print(total([4, 5]))" in task.broken and task.error == "5"
    (task,) = imported(sandbox, "humanevalfix", humanevalfix(tmp_path, {"example_test": "", "test": RANDOM}))
    assert "print(total([" in task.broken and isinstance(task.checks[0], ScriptCheck)


def test_an_endless_loop_is_shown_for_a_second(sandbox, tmp_path, monkeypatch):
    for module in (admission, importing):
        monkeypatch.setattr(module, "LIMITS", replace(LIMITS, wall_s=1.5))
    monkeypatch.setattr(importing, "TRIALS", 1)
    hangs = {"buggy_solution": "    while True: pass\n"}
    (task,) = imported(sandbox, "humanevalfix", humanevalfix(tmp_path, hangs))
    assert task.broken.startswith("timeout -v 1 python3 -c ")
    assert task.error.startswith("timeout: sending signal TERM to command")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"canonical_solution": "    return 7\n"}, "what should be right answers 7, and its test expects 9.0"),
        ({"canonical_solution": "    raise KeyError\n"}, "what should be right raises KeyError"),
        ({"buggy_solution": "    return math.fsum([*numbers, start])\n", "test": ""}, "no test of it"),
        ({"buggy_solution": "    return sum(list(numbers), start)\n"}, "no call shows a failure"),
        ({"canonical_solution": "    return lambda: 7\n"}, "no test of it is answered in time"),
        (
            {"canonical_solution": "    return 7\n", "test": RANDOM},
            "the reference for total in total.py fails its tests",
        ),
        ({"test": "assert ("}, "the tests do not parse"),
        ({"canonical_solution": "    return (\n", "test": ""}, "was never closed"),
    ],
)
def test_what_makes_no_task_is_turned_down_with_a_reason(sandbox, tmp_path, record, reason):
    tasks, report = import_tasks("humanevalfix", humanevalfix(tmp_path, record), sandbox)
    assert tasks == []
    ((found, names),) = report.rejected.items()
    assert reason in found and names == ["Python/900"]


def test_cases_that_what_is_right_does_not_answer_in_time_are_left_out(sandbox, tmp_path):
    slow = {
        "canonical_solution": "    while start == 9: pass\n    return sum(numbers, start)\n",
        "test": RECORD["test"] + "assert total([], 9) == 9\n",
    }
    tasks, report = import_tasks("humanevalfix", humanevalfix(tmp_path, slow), sandbox)
    assert report.rejected == {} and report.left_out == {"Python/900": 1}
    assert len(tasks[0].checks[0].cases) == 2


def test_a_module_is_not_named_like_one_of_pythons(sandbox, tmp_path):
    record = {key: value.replace("total", "bisect") for key, value in RECORD.items()}
    (task,) = imported(sandbox, "humanevalfix", humanevalfix(tmp_path, record))
    assert list(task.files) == ["bisect_function.py"]
    assert "from bisect_function import bisect;" in task.broken


def test_a_name_that_no_check_takes_is_turned_down(sandbox, tmp_path):
    record = {key: value.replace("total", "größe") for key, value in RECORD.items()}
    tasks, report = import_tasks("humanevalfix", humanevalfix(tmp_path, record), sandbox)
    assert tasks == []
    assert list(report.rejected) == ["file = 'größe.py' is not the relative path of a Python file"]


def test_a_task_that_fails_one_of_three_trials_is_turned_down(sandbox, tmp_path, monkeypatch):
    said = [None, None, "reference is not repeatable", None, None, None]
    monkeypatch.setattr(importing, "admit", lambda task, sandbox: said.pop(0))
    path = humanevalfix(tmp_path, {}, {"task_id": "Python/901"})
    tasks, report = import_tasks("humanevalfix", path, sandbox, workers=1)
    assert [task.source for task in tasks] == ["humanevalpack Python/901"]
    assert report.rejected == {"reference is not repeatable": ["Python/900"]} and said == []


def test_progress_is_told(sandbox, tmp_path):
    told = []
    path = humanevalfix(tmp_path, {}, {"test": "assert ("}, {"task_id": "Python/901", "seed": 1})
    import_tasks("humanevalfix", path, sandbox, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}\n", r"records\.jsonl, line 1: task_id is missing"),
        ("\n[1]\n", "line 2: a record is a JSON object"),
        ("{\n", "line 1: "),
        (json.dumps({**RECORD, "test": 1}), "line 1: test is no string"),
    ],
)
def test_a_malformed_file_is_an_error(tmp_path, text, message):
    (tmp_path / "records.jsonl").write_text(text)
    with pytest.raises(RlshError, match=message):
        read_humanevalfix(tmp_path / "records.jsonl")


def test_a_missing_file_and_an_unknown_kind_are_errors(sandbox, tmp_path):
    for read in READERS.values():
        with pytest.raises(RlshError, match=str(tmp_path)):
            read(tmp_path / "nowhere")
    with pytest.raises(RlshError, match=r"swebench: .*humanevalfix, quixbugs, mbpp"):
        import_tasks("swebench", tmp_path, sandbox)


@pytest.mark.parametrize("count", [10, pytest.param(164, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_the_public_set(sandbox, tmp_path, count):
    """All references pass and all bugs fail, three times each: `admit` is what says so."""
    if not HUMANEVALFIX.exists():
        pytest.skip(f"{HUMANEVALFIX} is not there")
    lines = HUMANEVALFIX.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(lines[:: len(lines) // count][:count]), encoding="utf-8")
    tasks = imported(sandbox, "humanevalfix", path)
    assert len(tasks) == count
    weaker = [task.family for task in tasks if any(isinstance(check, ScriptCheck) for check in task.checks)]
    allowed = {"find_zero", "decode_cyclic", "decode_shift", "add", "double_the_difference"}
    assert set(weaker) <= allowed and (count < 164 or set(weaker) == allowed)


# --- QuixBugs ---------------------------------------------------------------------------------------------------

DOCUMENTATION = '''

"""
Steps
steps

Counts down
from n to 1.

Input:
    n: An int

Output:
    The steps

Examples:
    >>> list(steps(2))
    [2, 1]
    >>> list(steps(n))
    [2]
"""
'''
GENERATOR = "def steps(n):\n    while n > 0:\n        yield n\n        n -= 1\n"
PAIRS = "def pairs(n):\n    return [(k, k) for k in range(n)]\n"


@pytest.fixture
def clone(tmp_path):
    """The layout of QuixBugs with three programs: a generator, tuples that JSON lacks, and one without cases."""
    files = {
        "python_programs/steps.py": "\n" + GENERATOR.replace("n -= 1", "n -= 2") + DOCUMENTATION,
        "correct_python_programs/steps.py": GENERATOR + '\n"""\ndef steps(n):\n    another way\n"""\n',
        "json_testcases/steps.json": "[[3], [3, 2, 1]]\n[0, []]\n",
        "python_programs/pairs.py": PAIRS.replace("range(n)", "range(n - 1)"),
        "correct_python_programs/pairs.py": PAIRS,
        "json_testcases/pairs.json": "[[2], [[0, 0], [1, 1]]]\n",
        "python_programs/walk.py": "def walk(node):\n    return node.next\n",
        "correct_python_programs/walk.py": "def walk(node):\n    return node\n",
        "python_programs/node.py": "class Node: pass\n",
        "python_programs/walk_test.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_clone_becomes_tasks(sandbox, clone):
    tasks, report = import_tasks("quixbugs", clone, sandbox)
    assert report.rejected == {"no json_testcases/*.json": ["walk"]}
    pairs, steps = tasks
    assert steps.instruction == "steps in steps.py is wrong: Counts down from n to 1. Repair it."
    assert steps.broken == "python3 -c 'from steps import steps; print(list(steps(2)))'"
    assert steps.error == "[2]"
    assert steps.files["steps.py"].content.decode() == GENERATOR.replace("n -= 1", "n -= 2") + DOCUMENTATION
    assert steps.checks[0].returns == "items"
    assert [case.expected for case in steps.checks[0].cases] == [[3, 2, 1], []]
    diff = steps.reference[0].arguments["edit_content"]
    assert [line for line in diff.splitlines()[2:] if line[0] in "-+"] == ["-        n -= 2", "+        n -= 1"]
    assert pairs.checks[0].cases[0].expected == [(0, 0), (1, 1)]
    assert (steps.set, steps.source, steps.licence) == ("quixbugs", "QuixBugs steps", "MIT")


def test_cases_that_take_minutes_are_left_out_by_name(sandbox, clone):
    for folder in ("python_programs", "correct_python_programs"):
        program = (clone / folder / "pairs.py").read_text().replace("pairs", "knapsack")
        (clone / folder / "knapsack.py").write_text(program)
    (clone / "json_testcases/knapsack.json").write_text("[[2], [[0, 0], [1, 1]]]\n[[6404180], []]\n")
    tasks, report = import_tasks("quixbugs", clone, sandbox)
    assert report.left_out == {"knapsack": 1} and tasks[0].family == "knapsack"


def test_a_clone_that_lacks_its_repairs_or_is_none(clone):
    (clone / "correct_python_programs/pairs.py").unlink()
    (clone / "json_testcases/steps.json").write_text("[1, 2, 3]\n")
    (clone / "json_testcases/walk.json").write_text("5\n")
    problems, rejected = read_quixbugs(clone)
    assert problems == []
    assert rejected == {
        "no correct_python_programs/*.py": ["pairs"],
        "too many values to unpack (expected 2)": ["steps"],
        "cannot unpack non-iterable int object": ["walk"],
    }
    with pytest.raises(RlshError, match="no folder python_programs; give a clone of"):
        read_quixbugs(clone / "json_testcases")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not QUIXBUGS, reason="RLSH_QUIXBUGS does not name a clone")
def test_the_public_clone(sandbox):
    tasks, report = import_tasks("quixbugs", Path(QUIXBUGS), sandbox)
    assert list(report.rejected) == ["no json_testcases/*.json"]
    assert report.left_out == {"knapsack": 1, "levenshtein": 2}
    assert len(tasks) == 31


# --- MBPP -------------------------------------------------------------------------------------------------------

MBPP = {
    "task_id": 11,
    "text": "Write a python function to add up two numbers and their sum.",
    "code": "def twice(n):\r\n    return 2 * n\r\n\r\ndef both(a, b):\r\n    if a > b:\r\n        a, b = b, a\r\n"
    "    return twice(a + b)",
    "test_list": ["assert both(1, 2) == 6", "assert both(5, 2) == SEVEN * 2"],
    "test_setup_code": "SEVEN = 7",
}


def mbpp(tmp_path, **changed):
    path = tmp_path / "mbpp.jsonl"
    path.write_text(json.dumps({**MBPP, **changed}) + "\n")
    return path


def test_a_function_with_assertions_becomes_a_task_by_mutation(sandbox, tmp_path):
    (task,) = imported(sandbox, "mbpp", mbpp(tmp_path))
    assert task.instruction == "both in both.py is wrong: It has to add up two numbers and their sum. Repair it."
    assert [case.expected for case in task.checks[0].cases] == [6, 14]
    assert task.seed == 11 and len(task.operators) == 1 and task.licence == "CC-BY-4.0"
    assert "\r" not in task.files["both.py"].content.decode()
    assert [task] == import_tasks("mbpp", mbpp(tmp_path), sandbox)[0]  # the same mutant


def test_other_seeds_draw_other_mutants(tmp_path):
    drawn = {read_mbpp(mbpp(tmp_path, task_id=number))[0][0].broken for number in range(5)}
    assert len(drawn) == 5


def test_the_key_of_the_sanitized_text_is_read_too(tmp_path):
    changed = {**MBPP, "prompt": "Write a function.", "test_imports": ["import math"]}
    del changed["text"]
    (tmp_path / "one.jsonl").write_text(json.dumps(changed))
    ((problem,), _) = read_mbpp(tmp_path / "one.jsonl")
    assert problem.purpose == "Write a function." and "import math\nSEVEN = 7\n" in problem.script


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"test_list": []}, "test_list holds no assertions"),
        ({"test_list": [1]}, "test_list holds no assertions"),
        ({"test_list": ["assert other(1)"]}, "its tests call no function of its code"),
        ({"code": "def both("}, "was never closed"),
    ],
)
def test_what_cannot_be_mutated_or_tested_is_turned_down(tmp_path, changed, reason):
    problems, rejected = read_mbpp(mbpp(tmp_path, **changed))
    assert problems == []
    ((found, names),) = rejected.items()
    assert reason in found and names == ["11"]


def test_the_first_alternative_that_its_tests_turn_down_is_taken(sandbox, tmp_path):
    ((problem,), _) = read_mbpp(mbpp(tmp_path))
    harmless = Broken(problem.right.replace("a + b", "b + a"), ("harmless",))
    faulty = Broken(problem.right.replace("a + b", "a - b"), ("faulty",))
    task, left_out = import_problem(replace(problem, broken=(harmless, faulty, harmless)), sandbox)
    assert task.operators == ("faulty",) and left_out == 0
    for broken in ((harmless,), ()):
        with pytest.raises(RlshError):
            import_problem(replace(problem, broken=broken), sandbox)
