"""The `iclaw` dialect: what a policy reads here is what it will read in the agent it is trained for.

The tables were checked on iclaw 0.1.0 at e43b982. To check them again, name a clone of github.com/lzwjava/iclaw:

    RLSH_ICLAW=/path/to/iclaw .venv/bin/pytest tests/env/test_iclaw_dialect.py

That runs the tables' commands on this machine, outside any sandbox, in a temporary folder.
"""

import ast
import os
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from rlsh.env.tools import run_tool
from rlsh.sandbox.base import Limits
from rlsh.types import Entry, ToolCall

CHARACTERS = 60
SAME = [
    ("echo hi", "hi\n"),
    ("printf hi", "hi"),  # nothing is stripped from what is shown, and no newline added
    (r"printf '\n  a \n\n'", "\n  a \n\n"),
    (r"printf 'caf\303\251\n'", "café\n"),
    (r"printf 'a\tb\r\nc\r\n'", "a\tb\nc\n"),
    # exit code 0: standard output alone
    ("echo out; echo err >&2", "out\n"),
    ("echo err >&2", "(Process exited with code 0)"),
    ("true", "(Process exited with code 0)"),
    ("", "(Process exited with code 0)"),
    (r"printf ' \n\t\n'", "(Process exited with code 0)"),
    ("cat", "(Process exited with code 0)"),  # standard input is empty
    # any other: standard error alone
    ("echo out; echo err >&2; exit 3", "err\n"),
    ("echo out; exit 3", "(Process exited with code 3)"),
    (r"echo out; printf ' \n' >&2; exit 3", "(Process exited with code 3)"),
    ("exit 255", "(Process exited with code 255)"),
    ("grep three a.txt", "(Process exited with code 1)"),
    # a child left behind does not change the answer; iclaw waits for it, we kill it
    ("sleep 0.2 & echo on", "on\n"),
    ("echo part; sleep 3", "Error: Command timed out after 30 seconds."),  # LIMITS says how this is quick
]
UNDECODABLE = "Error executing command: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"
DIFFERENT = [  # command, ours, iclaw's
    # what a model cannot or need not read is left out: escapes, control characters, the middle of long output
    (r"printf '\033[31mred\033[0m\n'", "red\n", "\x1b[31mred\x1b[0m\n"),
    (r"printf 'a\000b\n'", "ab\n", "a\0b\n"),
    (r"printf '10%%\r20%%\n'", "10%20%\n", "10%\n20%\n"),
    (
        "printf %090d 0",
        "0" * 30 + "\n[... 30 characters left out ...]\n" + "0" * 30,
        "0" * 90,
    ),
    # iclaw decodes strictly, and both streams even where it shows one
    (r"printf '\377ok\n'", "\ufffdok\n", UNDECODABLE),
    (r"echo ok; printf '\377' >&2", "ok\n", UNDECODABLE),
    # the shell is bash, iclaw's is the system's `sh`, whose death by signal Python counts below zero
    ("kill -9 $$", "(Process exited with code 137)", "(Process exited with code -9)"),
    ("echo $0", "bash\n", "/bin/sh\n"),
    ("printf 'a\0b'", "bash: command holds a NUL byte\n", "Error executing command: embedded null byte"),
]

FILES = {
    "a.txt": Entry(b"one\ntwo\n"),
    "bare.txt": Entry(b"one\ntwo"),
    "crlf.txt": Entry(b"one\r\ntwo\r\n"),
    "dash.txt": Entry(b"-- one\ntwo\n"),
    "binary": Entry(b"\xff\n"),
    "sub": Entry(b"", 0o755, "dir"),
}
DIFF = "--- f\n+++ f\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
TO_EMPTY = "@@ -0,0 +1 @@\n+new\n"
EDITS = [  # file, diff, what is in it afterwards here and in iclaw: bytes, None if there is none, or its exception
    ("a.txt", DIFF, b"one\nthree\n", b"one\nthree\n"),
    ("./a.txt", "@@ -1 +1,2 @@\n one\n+half\n", b"one\nhalf\ntwo\n", b"one\nhalf\ntwo\n"),
    ("a.txt", "@@ -1 +0,0 @@\n-one\n", b"two\n", b"two\n"),
    ("a.txt", "@@ -1 +1,2 @@\n-one\n+1\n+1.5\n@@ -2 +3 @@\n-two\n+2\n", b"1\n1.5\n2\n", b"1\n1.5\n2\n"),
    ("a.txt", "two", b"one\ntwo\n", b"one\ntwo\n"),  # no hunk
    ("a.txt", "", b"one\ntwo\n", b"one\ntwo\n"),
    # iclaw believes the header and reads no line of the file
    ("a.txt", DIFF.replace("-two", "-tow"), b"one\ntwo\n", b"one\nthree\n"),
    ("a.txt", DIFF.replace(" one", " eno"), b"one\ntwo\n", b"eno\nthree\n"),
    ("a.txt", "@@ -4 +4 @@\n-four\n+4\n", b"one\ntwo\n", b"one\ntwo\n\n4\n"),
    ("a.txt", TO_EMPTY, b"new\none\ntwo\n", b"one\nnew\ntwo\n"),
    # line ends
    ("bare.txt", "@@ -2 +2,2 @@\n two\n+three\n", b"one\ntwo\nthree\n", b"one\ntwo\nthree\n"),
    ("bare.txt", "@@ -2,0 +3 @@\n+three\n", b"one\ntwo\nthree\n", b"one\nthree\ntwo"),
    ("crlf.txt", DIFF, b"one\r\nthree\r\n", b"one\nthree\n"),
    ("dash.txt", "@@ -1,2 +1 @@\n--- one\n-two\n+2\n", b"2\n", b"2\n"),
    ("dash.txt", "@@ -2 +2,2 @@\n two\n+++ three\n", b"-- one\ntwo\n++ three\n", b"-- one\ntwo\n"),
    # files that are not there are made by iclaw; what it cannot read or write ends its turn
    ("new.txt", TO_EMPTY, None, b"new\n"),
    ("new.txt", DIFF, None, b"one\nthree\n"),
    ("none/new.txt", TO_EMPTY, None, FileNotFoundError),
    ("binary", DIFF, b"\xff\n", UnicodeDecodeError),
    ("sub", DIFF, None, IsADirectoryError),
]

# The budget that is run and the one that is told differ, so that "30 seconds" take half a one.
RUN, TOLD = Limits(wall_s=0.5), Limits(wall_s=30.0)


@pytest.fixture
def act(sandbox):
    """`exec` or `edit` in a fresh workspace: what the policy reads, and the tree afterwards."""
    with sandbox.open(FILES, RUN) as workspace:

        def run(name, **arguments):
            call = ToolCall(name, arguments)
            seen = run_tool(call, workspace, dialect="iclaw", limits=TOLD, observation_chars=CHARACTERS)
            return seen, workspace.export()

        yield run


@pytest.fixture
def act_real(monkeypatch, tmp_path):
    """The same by iclaw itself: the branches of its loop, cut out of main.py, over its own two tools."""
    clone = os.environ.get("RLSH_ICLAW")
    if not clone:
        pytest.skip("RLSH_ICLAW names no clone of github.com/lzwjava/iclaw")
    monkeypatch.syspath_prepend(clone)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    from iclaw import exec_tool, log, safety
    from iclaw.tools.edit_tool import EditTool

    def quick(run, command, timeout, **options):
        assert timeout == TOLD.wall_s
        return run(command, timeout=RUN.wall_s, **options)

    monkeypatch.setattr(subprocess, "run", partial(quick, subprocess.run))
    for path, entry in FILES.items():
        if entry.kind == "dir":
            (tmp_path / path).mkdir()
        else:
            (tmp_path / path).write_bytes(entry.content)
    monkeypatch.chdir(tmp_path)
    main = ast.parse(Path(clone, "iclaw/main.py").read_text(encoding="utf-8"))

    def run(name, **arguments):
        test = f"function_name == {name!r}"
        (branch,) = (n for n in ast.walk(main) if isinstance(n, ast.If) and ast.unparse(n.test) == test)
        scope = {
            "function_name": name,
            "function_args": arguments,
            "tool_call": {"id": "1"},
            "safety_level": "low",  # its default: nothing is refused
            "messages": [],
            "tool_logs": [],
            "time": time,
            "log": log,
            "exec": exec_tool.exec_command,
            "EditTool": EditTool,
            "check_exec_safety": safety.check_exec_safety,
            "check_edit_safety": safety.check_edit_safety,
        }
        exec(compile(ast.Module([branch], []), "main.py", "exec"), scope)
        (message,) = scope["messages"]
        return message["content"], {p.name: Entry(p.read_bytes()) for p in tmp_path.iterdir() if p.is_file()}

    return run


@pytest.mark.parametrize(("command", "seen"), [*SAME, *(row[:2] for row in DIFFERENT)])
def test_exec(act, command, seen):
    assert act("exec", command=command)[0] == seen


@pytest.mark.parametrize(("command", "seen"), [*SAME, *(row[::2] for row in DIFFERENT)])
def test_exec_of_the_real_one(act_real, command, seen):
    assert act_real("exec", command=command)[0] == seen


@pytest.mark.parametrize(("path", "diff", "content"), [row[:3] for row in EDITS])
def test_edit(act, path, diff, content):
    seen, tree = act("edit", file_path=path, edit_content=diff)
    assert seen == f"Successfully edited {path}"
    entry = tree.get(path.removeprefix("./"))
    assert content == (entry.content if entry is not None and entry.kind == "file" else None)


@pytest.mark.parametrize(("path", "diff", "content"), [(*row[:2], row[3]) for row in EDITS])
def test_edit_of_the_real_one(act_real, path, diff, content):
    if not isinstance(content, bytes):
        with pytest.raises(content):
            act_real("edit", file_path=path, edit_content=diff)
        return
    seen, tree = act_real("edit", file_path=path, edit_content=diff)
    assert seen == f"Successfully edited {path}" and tree[path.removeprefix("./")].content == content
