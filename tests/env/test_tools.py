"""`exec` and `edit` in a real sandbox, as the policy reads them in both dialects."""

import os
import signal

import pytest

from rlsh.env.tools import run_tool
from rlsh.sandbox.base import Limits, SandboxError
from rlsh.sandbox.probe import open_sandbox
from rlsh.types import Entry, ToolCall

LIMITS = Limits(wall_s=1.0)
FILES = {
    "a.txt": Entry(b"one\ntwo\n"),
    "bare.txt": Entry(b"one\r\ntwo"),
    "binary": Entry(b"\xff\xfe\n"),
    "sub": Entry(b"", 0o755, "dir"),
    "out": Entry(b"/etc/passwd", 0o777, "link"),
}
DIFF = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"


@pytest.fixture
def workspace(sandbox):
    with sandbox.open(FILES, LIMITS) as opened:
        yield opened


def act(workspace, dialect, name, *arguments):
    keys = {"exec": ("command",), "edit": ("file_path", "edit_content")}[name]
    call = ToolCall(name, dict(zip(keys, arguments, strict=True)))
    return run_tool(call, workspace, dialect=dialect, limits=LIMITS, observation_chars=40)


@pytest.mark.parametrize(
    ("command", "rlsh", "iclaw"),
    [
        ("echo hi", "hi\n[exit 0]", "hi\n"),
        ("printf hi", "hi\n[exit 0]", "hi"),
        ("true", "[exit 0]", "(Process exited with code 0)"),
        ("echo out; echo err >&2", "out\nerr\n[exit 0]", "out\n"),
        ("echo out; echo err >&2; exit 3", "out\nerr\n[exit 3]", "err\n"),
        ("echo out; exit 3", "out\n[exit 3]", "(Process exited with code 3)"),
        ("kill -9 $$", "[exit 137]", "(Process exited with code 137)"),
        ("echo part; sleep 9", "part\n[timed out after 1 s]", "Error: Command timed out after 1 seconds."),
        (r"printf '\033[31mred\033[0m\r\n'", "red\n[exit 0]", "red\n"),
        (r"printf '\377ok\n'", "\ufffdok\n[exit 0]", "\ufffdok\n"),
    ],
)
def test_exec_reads_as_the_dialect_says(workspace, command, rlsh, iclaw):
    assert act(workspace, "rlsh", "exec", command) == rlsh
    assert act(workspace, "iclaw", "exec", command) == iclaw


def test_long_output_keeps_head_and_tail(workspace):
    text = "".join(map(str, range(1, 31))) + "\n"
    kept = f"{text[:20]}\n[... {len(text) - 40} characters left out ...]\n{text[-20:]}"
    assert act(workspace, "iclaw", "exec", "printf %s {1..30}; echo") == kept
    assert act(workspace, "rlsh", "exec", "printf %s {1..30}; echo") == f"{kept}[exit 0]"


def test_a_background_process_does_not_hold_the_step(workspace):
    assert act(workspace, "rlsh", "exec", "sleep 9 & echo on") == "on\n[exit 0]"


def test_edit_changes_the_file_and_says_so(workspace):
    assert act(workspace, "rlsh", "edit", "a.txt", DIFF) == "edited a.txt"
    assert workspace.read("a.txt") == b"one\nthree\n"
    assert act(workspace, "iclaw", "edit", "./a.txt", DIFF.replace("two", "four").replace("three", "two")) == (
        "Successfully edited ./a.txt"  # whatever happened: iclaw always says so
    )
    assert workspace.read("a.txt") == b"one\nthree\n"
    assert act(workspace, "rlsh", "edit", "bare.txt", DIFF) == "edited bare.txt"
    assert workspace.read("bare.txt") == b"one\r\nthree\r\n"


@pytest.mark.parametrize(
    ("path", "diff", "says"),
    [
        ("/etc/passwd", DIFF, "error: '/etc/passwd' is not a path inside the workspace"),
        ("../a.txt", DIFF, "error: '../a.txt' is not a path inside the workspace"),
        ("sub/../../a.txt", DIFF, "error: 'sub/../../a.txt' is not a path inside the workspace"),
        ("out", DIFF, "error: 'out' is a link"),
        ("sub", DIFF, "error: 'sub' cannot be used: Is a directory"),
        ("none.txt", DIFF, "error: 'none.txt' does not exist in the workspace"),
        ("none/a.txt", DIFF, "error: 'none/a.txt' does not exist in the workspace"),
        ("binary", DIFF, "error: binary is not UTF-8 text"),
        ("a.txt", DIFF + "\ud800", "error: a.txt: "),
        ("a.txt", DIFF.replace("three", "\ud800"), "error: a.txt is not UTF-8 text"),
        ("a.txt", DIFF.replace("-two", "-tow"), "error: a.txt: line 2 is 'two', the diff expects 'tow'"),
        ("a.txt", "two", "error: a.txt: the diff changes nothing"),
    ],
)
def test_an_edit_that_cannot_be_is_explained_and_changes_nothing(workspace, path, diff, says):
    before = workspace.export()
    observation = act(workspace, "rlsh", "edit", path, diff)
    assert observation.startswith(says) and "\n" not in observation
    assert act(workspace, "iclaw", "edit", path, diff) == f"Successfully edited {path}"
    assert workspace.export() == before


def test_an_edit_that_finds_the_disk_full_leaves_the_file(workspace):
    fill = "i=0; while head -c 1000000 /dev/zero > f$i; do i=$((i+1)); done 2>/dev/null; true"
    act(workspace, "rlsh", "exec", fill)
    grown = "@@ -1,2 +1,3 @@\n one\n+" + "x" * 100_000 + "\n two\n"
    assert "does not fit" in act(workspace, "rlsh", "edit", "a.txt", grown)
    assert workspace.read("a.txt") == b"one\ntwo\n"


@pytest.mark.parametrize("name", ["exec", "edit"])
def test_a_dead_worker_is_the_hosts_fault(sandbox, name):
    own = open_sandbox(1)
    try:
        with own.open(FILES, LIMITS) as workspace:
            os.kill(workspace._worker.process.pid, signal.SIGKILL)
            with pytest.raises(SandboxError, match="is gone"):
                act(workspace, "rlsh", name, *(["true"] if name == "exec" else ["a.txt", DIFF]))
        with own.open(FILES, LIMITS) as workspace:  # the pool has another
            assert act(workspace, "rlsh", "exec", "echo again") == "again\n[exit 0]"
    finally:
        own.close()
