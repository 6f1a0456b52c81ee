"""The verdict of a test script. Every attack earns nothing, fools the usual design, and has an honest twin."""

from dataclasses import replace

import pytest

from rlsh.env import script_check
from rlsh.env.script_check import ANSWER_BYTES, MAX_NEW_CALLS, record_calls, run_script_check
from rlsh.sandbox.base import Limits, SandboxError
from rlsh.tasks.checks import Case, PythonCheck, ScriptCheck, check_from_json
from rlsh.types import Entry, RlshError

LIMITS = Limits(wall_s=20.0, cpu_s=15)
TESTS = """\
import random
for _ in range(5):
    n = random.randint(10, 99)
    assert double(n) == 2 * n
assert double("ab") == "abab"
"""
RIGHT = "def double(n):\n    return n + n\n"


def check_of(script, file="double.py", function="double"):
    return ScriptCheck(file, function, script)


@pytest.fixture(scope="module")
def check(sandbox):
    return record_calls(check_of(TESTS), RIGHT.encode(), sandbox, LIMITS)


def verdict(sandbox, check, source, limits=LIMITS, **others):
    tree = {check.file: Entry(source.encode()), **{name: Entry(text.encode()) for name, text in others.items()}}
    return run_script_check(check, tree, sandbox, limits)


def passes_in_one_process(sandbox, check, source):
    """The usual design: the tests run in the candidate's process, which has to end with 0."""
    tree = {check.file: Entry(source.encode()), "tests.py": Entry(f"from double import *\n{check.script}".encode())}
    with sandbox.open(tree, LIMITS) as workspace:
        return workspace.exec("/usr/bin/python3 tests.py").exit_code == 0


def test_recorded_are_the_calls_that_the_script_makes(sandbox, check):
    assert [type(call.args[0]) for call in check.calls] == [int] * 5 + [str]
    assert all(call.kwargs == {} and call.expected is None for call in check.calls)
    assert record_calls(check, RIGHT.encode(), sandbox, LIMITS) == check  # the script's random numbers are the same
    assert check.unrecorded() == check_of(TESTS)
    assert check_from_json(check.to_json()) == check


def test_what_is_right_passes_and_what_is_wrong_does_not(sandbox, check):
    assert verdict(sandbox, check, RIGHT).reward == 1.0
    assert verdict(sandbox, check, "def double(n):\n    return 2 * n if n else 0\n").reward == 1.0
    wrong = verdict(sandbox, check, RIGHT.replace("n + n", "n * n"))
    assert wrong.reward == 0.0 and "AssertionError" in wrong.reasons[0] and not wrong.infra
    assert "TypeError" in verdict(sandbox, check, RIGHT.replace("n + n", "n + ''")).reasons[0]


ALWAYS = "class Always:\n    def __eq__(self, other): return True\n    __hash__ = object.__hash__\n"
ATTACKS = {
    "an object that equals everything": (f"{ALWAYS}def double(n):\n    return Always()\n", "no plain data"),
    "a subclass that equals everything": (
        "class Always(int):\n    def __eq__(self, other): return True\ndef double(n):\n    return Always(1)\n",
        "no plain data",
    ),
    "exits at import": ("import sys\nsys.exit(0)\n", "cannot be loaded"),
    "exits at once": ("import os\nos._exit(0)\n", "ended without an answer"),
    "exits in the call": ("import sys\ndef double(n):\n    sys.exit(0)\n", "CandidateError: SystemExit"),
    "kills in the call": ("import os\ndef double(n):\n    os._exit(0)\n", "ended without an answer"),
    "exits at the end": (
        "import atexit, os\natexit.register(lambda: os._exit(0))\ndef double(n):\n    return 0\n",
        "AssertionError",
    ),
    "turns assertions off": (
        "import builtins\nclass Quiet(Exception): pass\n"
        "import sys\nsys.excepthook = lambda *a: __import__('os')._exit(0)\ndef double(n):\n    return 0\n",
        "AssertionError",
    ),
    "forges output and exits": (
        "import os\nfor fd in range(1, 64):\n    try: os.write(fd, b'{}\\n')\n    except OSError: pass\nos._exit(0)\n",
        "channel of the answers",
    ),
    "forges answers": (
        "import os\nfor fd in range(1, 64):\n    try: os.write(fd, b'{\"value\": 0}\\n' * 9)\n"
        "    except OSError: pass\nos._exit(0)\n",
        "channel of the answers",
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_earns_nothing_and_fools_one_process(sandbox, check, name):
    source, reason = ATTACKS[name]
    judged = verdict(sandbox, check, source)
    assert judged.reward == 0.0 and not judged.infra
    assert reason in judged.reasons[0]
    assert passes_in_one_process(sandbox, check, source)
    assert not passes_in_one_process(sandbox, check, "def double(n):\n    return 0\n")  # which honest ones do not


def test_the_candidate_never_meets_the_tests(sandbox, check):
    """It looks for them wherever a process can look, and finds no trace."""
    peek = """
import os
def double(n):
    found = []
    for path in ("/proc/self/cmdline", "/proc/self/environ", f"/proc/{os.getppid()}/cmdline"):
        found.append(open(path, "rb").read().decode("latin-1"))
    return repr((found, os.listdir("."), os.listdir("/tmp")))
"""
    seen = script_check.ask(
        PythonCheck("double.py", "double", check.calls), {"double.py": Entry(peek.encode())}, sandbox, LIMITS
    )[0]
    assert len(seen) == 6
    for text in seen:
        assert "double.py" in text and "randint" not in text and "abab" not in text


def test_the_candidates_source_is_not_in_the_sandbox_of_the_tests(sandbox):
    script = 'import os\nassert double(1) == 2\nassert os.listdir(".") == ["request.json"]\n'
    script += 'assert "n +" + " n" not in open("request.json").read()\n'
    recorded = record_calls(check_of(script), RIGHT.encode(), sandbox, LIMITS)
    assert verdict(sandbox, recorded, RIGHT).reward == 1.0


def test_what_it_raises_is_an_error_that_a_test_may_catch(sandbox):
    script = "try:\n    double(None)\n    raise SystemExit\nexcept TypeError:\n    pass\n"
    recorded = record_calls(check_of(script), RIGHT.encode(), sandbox, LIMITS)
    assert verdict(sandbox, recorded, RIGHT).reward == 1.0
    assert verdict(sandbox, recorded, "def double(n):\n    raise TypeError\n").reward == 1.0
    assert verdict(sandbox, recorded, "def double(n):\n    return n\n").reward == 0.0
    for name in ("SystemExit", "KeyboardInterrupt", "GeneratorExit", "ValueError"):
        assert verdict(sandbox, recorded, f"def double(n):\n    raise {name}\n").reward == 0.0


def test_an_answer_is_new_for_every_assertion(sandbox):
    script = "one = double([1])\none.append(2)\nassert double([1]) == [1, 1]\n"
    recorded = record_calls(check_of(script), RIGHT.encode(), sandbox, LIMITS)
    assert len(recorded.calls) == 1
    assert verdict(sandbox, recorded, RIGHT).reward == 1.0


def test_calls_that_follow_from_answers_are_asked_for_up_to_a_number(sandbox):
    script = "n = double(1)\nwhile n < 100:\n    n = double(n)\n"
    recorded = record_calls(check_of(script), RIGHT.encode(), sandbox, LIMITS)
    assert [call.args for call in recorded.calls] == [(1,), (2,), (4,), (8,), (16,), (32,), (64,)]
    assert verdict(sandbox, recorded, "def double(n):\n    return 3 * n\n").reward == 1.0  # other calls, and few
    slow = verdict(sandbox, recorded, "def double(n):\n    return n + 1\n")
    assert slow.reward == 0.0 and f"more than {MAX_NEW_CALLS} further calls" in slow.reasons[0]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "cannot be loaded"),
        ("def double(n):\n    while True: pass\n", "timed out"),
        ("def double(n):\n    return lambda: n\n", "no plain data"),
        ("def double(n):\n    return 'x' * 60_000\n", f"larger than {ANSWER_BYTES} bytes"),
        ("def double(n):\n    return float('nan')\n", "AssertionError"),
    ],
)
def test_what_cannot_be_used_is_a_zero(sandbox, source, reason):
    script = "for n in range(30):\n    assert double(n) == 2 * n\n"
    calls = tuple(Case((n,)) for n in range(30))
    judged = verdict(sandbox, replace(check_of(script), calls=calls), source, replace(LIMITS, wall_s=2.0))
    assert judged.reward == 0.0 and reason in judged.reasons[0] and not judged.infra


def test_a_question_made_of_a_large_answer_is_a_zero(sandbox):
    script = "text = double('x')\ntext = double(text)\n"
    recorded = record_calls(check_of(script), RIGHT.encode(), sandbox, LIMITS)
    large = "def double(n):\n    return n * 60_000\n"
    assert verdict(sandbox, recorded, large).reward == 0.0
    quoted = 'def double(n):\n    return "\'" * 60_000\n'  # each takes five characters of the command line
    assert "do not fit" in verdict(sandbox, recorded, quoted).reasons[0]


def test_tests_that_hang_on_an_answer_are_a_zero(sandbox):
    recorded = record_calls(check_of("while double(1) != 2: pass\n"), RIGHT.encode(), sandbox, LIMITS)
    judged = verdict(sandbox, recorded, "def double(n):\n    return 1\n", replace(LIMITS, wall_s=1.0))
    assert judged.reward == 0.0 and "tests timed out" in judged.reasons[0] and not judged.infra


def test_a_missing_file_and_a_shim_are_seen(sandbox, check):
    assert run_script_check(check, {}, sandbox, LIMITS).reasons == ("double.py is missing",)
    flagged = verdict(sandbox, check, RIGHT, **{"random.py": "def randint(a, b):\n    return 0\n"})
    assert flagged.reward == 1.0 and flagged.flags == ("shim: random.py",)


def test_a_reference_that_fails_its_tests_is_an_error(sandbox):
    with pytest.raises(RlshError, match=r"double in double\.py fails its tests: .*AssertionError"):
        record_calls(check_of(TESTS), b"def double(n):\n    return n\n", sandbox, LIMITS)
    with pytest.raises(RlshError, match="ModuleNotFoundError"):
        record_calls(check_of("import numpy_of_nobody\ndouble(1)\n"), RIGHT.encode(), sandbox, LIMITS)


@pytest.mark.parametrize("broken_for", ["candidate", "tests"])
def test_a_sandbox_that_fails_is_infra_and_no_zero(sandbox, check, broken_for):
    class Failing:
        def open(self, files, limits):
            if ("request.json" in files) == (broken_for == "tests"):
                raise SandboxError("a mount was refused")
            return sandbox.open(files, limits)

    assert verdict(Failing(), check, RIGHT).infra
    with pytest.raises(SandboxError, match="a mount was refused"):
        record_calls(check, RIGHT.encode(), Failing(), LIMITS)


@pytest.mark.parametrize(
    "fields",
    [
        {"file": "../double.py"},
        {"function": "not a name"},
        {"script": "assert True"},
        {"calls": [1]},
        {"calls": [{"tuple": [{"tuple": []}, {"dict": [[1, 2]]}]}]},
        {"more": 1},
    ],
)
def test_a_malformed_check_is_refused(check, fields):
    with pytest.raises(ValueError):
        check_from_json({**check.to_json(), **fields})


def test_the_label_says_that_the_check_is_weaker(check):
    assert check.summary == "weaker check: 5 lines of tests that call double in double.py"
