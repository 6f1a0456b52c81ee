"""Tasks that are judged by a script, a function, the workspace, or several of them at once."""

from dataclasses import replace

import pytest

from rlsh.env.build import admit
from rlsh.env.episode import EnvConfig, Episode
from rlsh.env.verify import Answer, verify_answer, verify_calls, verify_workspace
from rlsh.sandbox.base import Limits, SandboxError
from rlsh.tasks.checks import Case, PythonCheck, ShellCheck, WorkspaceCheck
from rlsh.types import Entry, Message, RlshError, StopReason, ToolCall, Verdict, exec_call

LIMITS = Limits(wall_s=3.0)
BROKEN = "def double(n):\n    return n + n + 1\n"
FIXED = "def double(n):\n    return n + n\n"
EDIT = "@@ -1,2 +1,2 @@\n def double(n):\n-    return n + n + 1\n+    return n + n\n"
REPAIR = ToolCall("edit", {"file_path": "double.py", "edit_content": EDIT})
TOO_MUCH = "for i in 1 2 3 4; do truncate -s 4M f$i; done"
CASES = tuple(Case((n,)) for n in range(8))


@pytest.fixture(scope="module")
def function(recorded_task):
    """A function to repair with the edit tool."""
    check = PythonCheck("double.py", "double", CASES)
    return recorded_task({"double.py": BROKEN}, (check,), REPAIR, broken="python3 -c 'import double'")


@pytest.fixture(scope="module")
def script(recorded_task):
    """A script that has to count the lines of whatever file it is given."""
    check = ShellCheck({"b.txt": Entry(b"x\ny\n")}, script="count.sh", run="bash count.sh b.txt")
    repair = exec_call("echo 'wc -l < \"$1\"' >count.sh")
    return recorded_task({"count.sh": "wc -l\n", "b.txt": "x\n"}, (check,), repair, broken="bash count.sh b.txt")


@pytest.fixture(scope="module")
def both(recorded_task):
    """A function to repair, and a folder to make, in two commands."""
    checks = (PythonCheck("double.py", "double", CASES), WorkspaceCheck())
    return recorded_task({"double.py": BROKEN}, checks, exec_call("mkdir done"), REPAIR)


def test_the_reference_is_recorded_by_running_it(function, script, both):
    assert [case.expected for case in function.checks[0].cases] == [2 * n for n in range(8)]
    assert script.checks[0].stdout == b"2\n"
    assert dict(script.checks[0].tree) == {"b.txt": Entry(b"x\ny\n")}  # the script is the answer's own business
    assert set(both.checks[1].tree) == {"done", "double.py"}


def test_they_are_admitted(sandbox, function, script, both):
    assert [admit(task, sandbox) for task in (function, script, both)] == [None] * 3


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([REPAIR], None),
        ([exec_call("sed -i 's/ + 1//' double.py")], None),
        ([], "case 1: "),
        ([exec_call("rm double.py")], "double.py is missing"),
        ([exec_call("ln -sf /etc/passwd double.py")], "double.py is a link"),
        ([REPAIR, exec_call(TOO_MUCH)], "the workspace holds more than"),
    ],
)
def test_a_function_is_judged_by_the_file_in_the_end(sandbox, function, calls, reason):
    verdict = verify_calls(function, calls, sandbox, LIMITS)
    assert (verdict.reward, verdict.infra) == (float(reason is None), False)
    assert reason is None or verdict.reasons[0].startswith(reason)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("printf '%s' 'cat $1 | wc -l' >count.sh; rm b.txt", None),  # what it does here is not looked at
        ("echo 'echo 2' >count.sh", None),  # true of a file with two lines: a second check would tell
        ("echo 'echo 1' >count.sh", "stdout differs"),
        ("echo 'wc -l <$1; touch more' >count.sh", "tree differs at more"),
        ("rm count.sh", "count.sh is missing"),
        ("rm count.sh; mkdir count.sh", "count.sh is a dir"),
        ("echo 'sleep 9 & wc -l <$1' >count.sh", "background process"),
    ],
)
def test_a_script_is_run_on_other_files(sandbox, script, command, reason):
    verdict = verify_calls(script, [exec_call(command)], sandbox, LIMITS)
    assert (verdict.reward, verdict.infra) == (float(reason is None), False)
    assert reason is None or any(r.startswith(reason) for r in verdict.reasons)


def test_all_checks_have_to_pass(sandbox, both):
    assert verify_calls(both, both.reference, sandbox, LIMITS) == Verdict(1.0)
    assert verify_calls(both, both.reference[:1], sandbox, LIMITS).reasons[0].startswith("case 1: ")
    assert verify_calls(both, both.reference[1:], sandbox, LIMITS).reasons == ("tree differs at done",)
    alone = replace(both, checks=both.checks[:1])  # without the second check that is a pass
    assert verify_calls(alone, both.reference[1:], sandbox, LIMITS).reward == 1.0


def test_a_folder_that_somebody_worked_in_is_judged(sandbox, function, script):
    assert verify_workspace(function, {"double.py": Entry(FIXED.encode())}, sandbox, LIMITS).reward == 1.0
    assert verify_workspace(function, function.files, sandbox, LIMITS).reward == 0.0
    assert verify_workspace(script, {"count.sh": Entry(b'wc -l < "$1"\n')}, sandbox, LIMITS).reward == 1.0


def test_a_reference_that_leaves_nothing_to_judge_is_an_error(sandbox, recorded_task, make_task):
    """Recorded as an empty workspace it would let an empty one pass."""
    with pytest.raises(RlshError, match=r"double\.py is missing"):
        recorded_task({"double.py": BROKEN}, (PythonCheck("double.py", "double", CASES),), exec_call("rm double.py"))
    with pytest.raises(RlshError, match="the workspace holds more than"):
        recorded_task({}, (WorkspaceCheck(),), exec_call(TOO_MUCH))
    grows = make_task(f"[ -e small ] || {TOO_MUCH}", {}, {"small": ""}, compare=("tree",))
    with pytest.raises(RlshError, match="the workspace holds more than"):
        verify_workspace(grows, {}, sandbox, LIMITS)


def test_an_answer_without_a_workspace_is_zero(sandbox, function):
    assert verify_answer(function, Answer("true"), sandbox, LIMITS).reasons == ("there is no workspace to judge",)


@pytest.mark.parametrize("calls", [[REPAIR], []])
def test_an_episode_is_judged_by_what_it_left(sandbox, function, calls):
    episode = Episode(function, sandbox, EnvConfig())
    episode.reset()
    for call in calls:
        assert episode.step(Message("assistant", call=call)) is not None
    episode.step(Message("assistant", "done"))
    assert (episode.stop, episode.verdict().reward) == (StopReason.FINAL, float(bool(calls)))


def test_a_host_that_fails_at_the_end_of_an_episode_is_infra(sandbox, function):
    episode = Episode(function, sandbox, EnvConfig())
    episode.reset()
    episode.step(Message("assistant", call=REPAIR))

    def fail():
        raise SandboxError("the worker is gone")

    episode._workspace.export = fail
    episode.step(Message("assistant", "done"))
    assert episode.stop is StopReason.INFRA and episode.verdict().infra
