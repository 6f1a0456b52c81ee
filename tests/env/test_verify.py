"""What earns 1, what earns 0, and what is the host's own fault."""

import os
import signal
from dataclasses import replace

import pytest

from rlsh.env.build import literal_answer
from rlsh.env.verify import Answer, answer_in, read_tree, verify, verify_calls, verify_command, verify_workspace
from rlsh.sandbox.base import Limits, SandboxError
from rlsh.sandbox.probe import open_sandbox
from rlsh.types import Entry, RlshError, StopReason, ToolCall, Verdict, exec_call

LIMITS = Limits(wall_s=1.0)
VISIBLE, HIDDEN = {"a.txt": "10\n9\n"}, {"a.txt": "200\n30\n4\n"}


@pytest.fixture(scope="module")
def task(make_task):
    return make_task("sort -n a.txt", VISIBLE, HIDDEN, broken="sort a.txt")


@pytest.fixture(scope="module")
def tree_task(make_task):
    return make_task("sort -n -o a.txt a.txt", VISIBLE, HIDDEN, compare=("tree",))


@pytest.fixture(scope="module")
def stdout_task(make_task):
    return make_task("sort -n a.txt", VISIBLE, HIDDEN, compare=("stdout",))


def ran(*commands):
    return [exec_call(command) for command in commands]


class Failing:
    """A sandbox whose host fails at the named moment."""

    def __init__(self, inner, moment):
        self.inner, self.moment = inner, moment

    def open(self, files, limits):
        if self.moment == "open":
            raise SandboxError("no room on this host")
        workspace = self.inner.open(files, limits)

        def fail(*arguments):
            raise SandboxError("the worker is gone")

        setattr(workspace, self.moment, fail)
        return workspace


def test_every_familys_reference_passes_and_its_broken_command_fails(sandbox, family_tasks):
    for task in family_tasks.values():
        assert verify_command(task, task.reference[-1].arguments["command"], sandbox, LIMITS).reward == 1.0
        for command in (task.broken, "", "echo done"):
            verdict = verify_command(task, command, sandbox, LIMITS)
            assert verdict.reward == 0.0 and verdict.reasons and not verdict.infra, (task.family, command)


def test_printing_what_the_visible_files_give_fails_on_the_hidden_ones(sandbox, family_tasks):
    for task in family_tasks.values():
        with sandbox.open(task.files, LIMITS) as workspace:
            seen = workspace.exec(task.reference[-1].arguments["command"])
            literal = literal_answer(seen.stdout)
            assert workspace.exec(literal).stdout == seen.stdout  # it is the answer here
        assert verify_command(task, literal, sandbox, LIMITS).reward == 0.0, task.family


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("true", "stdout differs"),
        ("sort -n a.txt; exit 1", "exit code 1, expected 0"),
        ("sort -n a.txt; touch b.txt", "tree differs at b.txt"),
        ("sort -n a.txt; chmod 600 a.txt", "tree differs at a.txt"),
        ("sort -n a.txt; rm a.txt", "tree differs at a.txt"),
        ("sort -n a.txt; mv a.txt b; ln -s b a.txt", "tree differs at a.txt, b"),
        ("sort -n a.txt; touch b c d e", "tree differs at b, c, d …"),
        ("sort -n a.txt; printf '\\0'", "stdout differs"),
        ("sort -n a.txt; sleep 9", "timed out on the hidden fixtures"),
        ("sleep 9", "timed out on the hidden fixtures"),
    ],
)
def test_each_difference_is_named_and_earns_nothing(sandbox, task, command, reason):
    verdict = verify_command(task, command, sandbox, LIMITS)
    assert (verdict.reward, verdict.infra) == (0.0, False)
    assert reason in verdict.reasons


def test_stdout_is_free_where_only_the_tree_is_checked(sandbox, tree_task):
    assert verify_command(tree_task, "sort -n -o a.txt a.txt; echo sorted", sandbox, LIMITS).reward == 1.0
    assert verify_command(tree_task, "sort -n a.txt", sandbox, LIMITS).reasons == ("tree differs at a.txt",)


@pytest.mark.parametrize(
    "command",
    [
        "kill -9 -1",
        "kill -9 $$",
        "kill -9 1; kill -9 $PPID",
        "cat /dev/zero > big",
        "for i in 1 2 3 4; do truncate -s 4M f$i; done",  # sparse: more than export carries
        "i=0; while echo x > f$i; do i=$((i+1)); done 2>/dev/null",
        ":(){ :|:& };: ; sleep 9",
        "for i in {1..99}; do sleep 9 & done 2>/dev/null",
        "rm -rf ./* ./.[!.]* /work",
        "chmod 000 . a.txt",
        "rm a.txt; mkfifo a.txt",
        "rm a.txt; mkdir -p $(printf 'd/%.0s' {1..400})",
        "touch $'\\xff\\xfe'",
        "ln -sf a.txt a.txt; ln -s / root",
        "yes",
        "exec >&- 2>&-",
        "exec 0<&- 1>&- 2>&-; ulimit -v 1; ulimit -n 0; : > a.txt",
    ],
)
def test_what_a_command_does_to_itself_is_never_infra(sandbox, task, command):
    verdict = verify_command(task, command, sandbox, LIMITS)
    assert (verdict.reward, verdict.infra) == (0.0, False)
    assert verdict.reasons


def test_a_hostile_command_does_not_hurt_the_next_verdict(sandbox, task):
    verify_command(task, "kill -9 -1; cat /dev/zero > big; yes", sandbox, LIMITS)
    assert verify_command(task, "sort -n a.txt", sandbox, LIMITS).reward == 1.0


@pytest.mark.parametrize(
    ("command", "flag"),
    [
        ("sort -n a.txt; sleep 99 &", "background process: 1 were left behind"),
        (
            "sort -n a.txt; setsid sleep 99 & setsid sleep 99 >/dev/null 2>&1 &",
            "background process: 2 were left behind",
        ),
        ("sort -n a.txt; echo exit >.bashrc", "planted file: .bashrc"),
        ("sort -n a.txt; mkdir bin; echo exit >bin/sort; chmod +x bin/sort", "planted file: bin/sort"),
        ("sort -n a.txt; ln -s /bin/true ls", "planted file: ls"),
    ],
)
def test_tampering_earns_nothing_and_is_seen(sandbox, stdout_task, command, flag):
    verdict = verify_command(stdout_task, command, sandbox, LIMITS)
    assert (verdict.reward, verdict.infra, verdict.flags) == (0.0, False, (flag,))


@pytest.mark.parametrize(
    "command",
    [
        "sort -n a.txt & wait",
        "sort -n <(cat a.txt)",
        "head -n 1 <(yes) >/dev/null; sort -n a.txt",  # `yes` is dead a moment later
        "sort -n a.txt | tee sorted",
        "sort -n a.txt; echo hello >sort",  # a file, no program
    ],
)
def test_what_honest_commands_do_is_no_tampering(sandbox, stdout_task, command):
    assert verify_command(stdout_task, command, sandbox, LIMITS) == Verdict(1.0)


def test_a_host_fault_is_tried_once_more(sandbox, task):
    faults = ["open"]

    class Once:
        def open(self, files, limits):
            return (Failing(sandbox, faults.pop()) if faults else sandbox).open(files, limits)

    assert verify_command(task, "sort -n a.txt", Once(), LIMITS).reward == 1.0
    faults += ["export", "exec"]
    assert verify_command(task, "sort -n a.txt", Once(), LIMITS).infra


@pytest.mark.parametrize("moment", ["open", "exec", "export"])
def test_a_host_fault_is_infra(sandbox, task, moment):
    verdict = verify_command(task, "sort -n a.txt", Failing(sandbox, moment), LIMITS)
    assert verdict.infra and verdict.reward == 0.0


def test_a_killed_worker_is_infra(sandbox, task):
    own = open_sandbox(1)

    class Killing:
        def open(self, files, limits):
            workspace = own.open(files, limits)
            os.kill(workspace._worker.process.pid, signal.SIGKILL)
            return workspace

    try:
        assert verify_command(task, "sort -n a.txt", Killing(), LIMITS).infra
    finally:
        own.close()


def test_the_answer_is_the_last_command_verbatim(sandbox, task):
    edit = ToolCall("edit", {"file_path": "a.txt", "edit_content": ""})
    assert answer_in(None, task, ran("sort -n a.txt", "sort a.txt")) == Answer("sort a.txt")
    assert answer_in(None, task, []) == Answer(None)
    assert answer_in(None, task, [*ran("ls"), edit]) == Answer("ls")
    assert verify_calls(task, ran("sort a.txt", "sort -n a.txt"), sandbox, LIMITS).reward == 1.0
    assert verify_calls(task, ran("sort -n a.txt", "sort a.txt"), sandbox, LIMITS).reward == 0.0


def test_nothing_said_or_not_finished_is_zero_with_a_reason(sandbox, task):
    assert verify(task, StopReason.FINAL, Answer(None), sandbox, LIMITS).reasons == ("no command was run",)
    answer = Answer("sort -n a.txt")
    assert verify(task, StopReason.FINAL, answer, sandbox, LIMITS).reward == 1.0
    for stop in (StopReason.TURNS, StopReason.TOKENS):
        verdict = verify(task, stop, answer, sandbox, LIMITS)
        assert verdict.reward == 0.0 and not verdict.infra
        assert verdict.reasons == (f"no final message: the {stop.value} budget was spent",)
    assert verify(task, StopReason.INFRA, answer, sandbox, LIMITS).infra


def test_an_exit_code_alone_is_never_a_pass(task):
    with pytest.raises(ValueError, match="checks and reference must not be empty"):
        replace(task, checks=())
    with pytest.raises(ValueError, match="compare must not be empty"):
        replace(task.checks[0], compare=())


def test_a_literal_answer_prints_any_bytes(sandbox):
    with sandbox.open({}, LIMITS) as workspace:
        for output in (b"it's 100% \\n $HOME\n", bytes(range(256)), b""):
            assert workspace.exec(literal_answer(output)).stdout == output


def test_a_workspace_is_compared_with_what_the_reference_makes_of_the_visible_files(sandbox, tree_task, stdout_task):
    def verdict(tree):
        return verify_workspace(tree_task, tree, sandbox, LIMITS)

    assert verdict({"a.txt": Entry(b"9\n10\n")}).reward == 1.0
    assert verdict(tree_task.files).reasons == ("tree differs at a.txt",)
    assert verdict(tree_task.checks[0].tree).reward == 0.0  # it is the visible files that somebody worked on
    assert verdict({"a.txt": Entry(b"9\n10\n"), ".bashrc": Entry(b"")}).flags == ("planted file: .bashrc",)
    assert verify_workspace(tree_task, {}, Failing(sandbox, "open"), LIMITS).infra
    with pytest.raises(RlshError, match="give the command"):
        verify_workspace(stdout_task, {}, sandbox, LIMITS)


def test_a_folder_is_read_as_it_lies_there(tmp_path):
    (tmp_path / "d").mkdir(mode=0o700)
    (tmp_path / "d" / "x").write_bytes(b"\xff")
    (tmp_path / "d" / "x").chmod(0o640)
    (tmp_path / "out").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    tree = read_tree(tmp_path, LIMITS)
    assert dict(tree) == {
        "d": Entry(b"", 0o700, "dir"),
        "d/x": Entry(b"\xff", 0o640),
        "out": Entry(b"/etc", 0o777, "link"),
    }
    with pytest.raises(RlshError, match="not a folder"):
        read_tree(tmp_path / "nosuch", LIMITS)
    with pytest.raises(RlshError, match="more than 0 MiB"):
        read_tree(tmp_path, replace(LIMITS, workspace_mb=0))
