"""What is left where there is no sandbox. Commands run as `nobody`, or as who runs these tests if that is not root."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from another_user import AnotherUser

from rlsh.attacks.watch import marked
from rlsh.cli.commands import CONSENT
from rlsh.cli.main import main
from rlsh.sandbox import SandboxError
from rlsh.sandbox.none import PREFIX, WARNING, UnprotectedSandbox
from rlsh.tasks.task import Task, write_tasks
from rlsh.types import Entry

PRELUDE = """
import os, signal
from pathlib import Path
from rlsh.sandbox import Limits, SandboxError, WorkspaceError, WorkspaceFileNotFoundError
from rlsh.sandbox import none
from rlsh.sandbox.none import UnprotectedSandbox
from rlsh.types import Entry

def opened(files={}, **limits):
    return sandbox.open(files, Limits(**{"wall_s": 30.0, "cpu_s": 20} | limits))

def told(function, *arguments):
    try:
        return function(*arguments)
    except (SandboxError, WorkspaceError) as error:
        return f"{type(error).__name__}: {error}"

"""
Said = Callable[..., str]


@pytest.fixture
def temporary(unprivileged: AnotherUser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where that user's temporary files go."""
    place = unprivileged.folder / f"tmp-{uuid.uuid4().hex}"
    place.mkdir()
    place.chmod(0o777)
    yield place
    assert not list(place.iterdir())  # whatever a test did


@pytest.fixture
def said(unprivileged: AnotherUser, temporary: Path) -> Said:
    """What a script prints that has a `sandbox`."""

    def run(script: str, **variables: str) -> str:
        body = f"{PRELUDE}with UnprotectedSandbox() as sandbox:\n" + "".join(
            f"    {line}\n" for line in script.strip().splitlines()
        )
        ended = unprivileged.run("-c", body, TMPDIR=str(temporary), **variables)
        assert (ended.returncode, set(ended.stderr.splitlines())) == (0, {WARNING}), ended.stderr
        return ended.stdout

    return run


def marker() -> str:
    """An argument for `sleep` that no other process on this machine has."""
    return f"30.{uuid.uuid4().int}"


def running(mark: str) -> list[int]:
    """Processes that are `sleep` with this argument, by number."""
    return [pid for pid in marked(mark) if Path(f"/proc/{pid}/comm").read_text() == "sleep\n"]


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


# --- who gets it -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("real", "effective"), [(0, 0), (0, 1000), (1000, 0)])
def test_root_is_refused(monkeypatch: pytest.MonkeyPatch, real: int, effective: int) -> None:
    """The control is every other test here: anybody else is let in."""
    monkeypatch.setattr(os, "getuid", lambda: real)
    monkeypatch.setattr(os, "geteuid", lambda: effective)
    with pytest.raises(SandboxError, match="commands would run as root: be another user"):
        UnprotectedSandbox()


@pytest.fixture
def task_file(make_task: Callable[..., Task], unprivileged: AnotherUser) -> Path:
    path = unprivileged.folder / "tasks.jsonl"
    write_tasks(path, [make_task("sort -n a.txt", {"a.txt": "10\n9\n"}, {"a.txt": "200\n30\n"}, broken="sort a.txt")])
    path.chmod(0o644)
    return path


def test_with_consent_commands_run(unprivileged: AnotherUser, temporary: Path, task_file: Path) -> None:
    words = ["-m", "rlsh.cli.main", "tasks", "check", str(task_file), "--sandbox", "none"]
    for consent, code, out in (([CONSENT], 0, "1 of 1 tasks hold\n"), ([], 2, ""), ([CONSENT[:-1]], 2, "")):
        ended = unprivileged.run(*words, *consent, TMPDIR=str(temporary))
        assert (ended.returncode, ended.stdout) == (code, out), ended.stderr
        assert ended.stderr.startswith(WARNING) is (code == 0)


def test_with_consent_root_is_still_refused(
    task_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert main(["tasks", "check", str(task_file), "--sandbox", "none", CONSENT]) == 1
    assert "as root: be another user" in capsys.readouterr().err


def test_a_machine_that_lacks_the_programs_is_refused(said: Said) -> None:
    out = said("""
for before in (["false"], ["/nosuch/setpriv"]):
    none.bounds = lambda limits: before
    print(told(UnprotectedSandbox))
""")
    assert out == (
        "SandboxError: setpriv, prlimit and timeout start no command (): update util-linux\n"
        "SandboxError: /nosuch/setpriv cannot be started: No such file or directory\n"
    )


# --- a command ---------------------------------------------------------------------------------------------------


def test_a_command_has_the_allow_list_and_a_folder_of_its_own(said: Said, temporary: Path) -> None:
    script = """
os.umask(0o077)
print(opened().exec("env | sort; pwd; umask; cat; echo x >$TMPDIR/x").stdout.decode())
"""
    out = said(script, SECRET="1")
    folder = out.split("HOME=")[1].splitlines()[0].removesuffix("/work")
    assert Path(folder).is_relative_to(temporary)
    assert out.splitlines() == [
        f"HOME={folder}/work",
        "LANG=C.UTF-8",
        "LC_ALL=C.UTF-8",
        "PATH=/usr/local/bin:/usr/bin:/bin",
        f"PWD={folder}/work",
        "SHELL=/bin/bash",
        "SHLVL=1",
        "TERM=dumb",
        f"TMPDIR={folder}/tmp",
        "TZ=UTC",
        "USER=user",
        "_=/usr/bin/env",
        f"{folder}/work",
        "0022",
        "",
    ]


def test_privileges_cannot_be_gained(said: Said) -> None:
    assert "NoNewPrivs:\t1\n" in said('print(opened().exec("cat /proc/self/status").stdout.decode())')
    control = Path("/proc/self/status").read_text()
    assert "NoNewPrivs:\t0\n" in control


def test_streams_and_exit_codes_are_those_of_bash(said: Said) -> None:
    commands = ["echo a; echo b >&2; exit 7", "kill -TERM $$", "kill -9 $$", "nosuch", "exit 300", "sh -c 'kill -9 $$'"]
    out = said(f"""
work = opened()
for command in {commands!r}:
    result = work.exec(command)
    print([result.stdout.decode(), result.stderr.decode(), result.exit_code, result.timed_out, result.left_over])
""")
    shell = ["bash", "--norc", "--noprofile", "-c"]
    for line, command in zip(out.splitlines(), commands, strict=True):
        plain = subprocess.run([*shell, command], capture_output=True, text=True, check=False)
        code = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
        assert line == str([plain.stdout, plain.stderr, code, False, 0])


@pytest.mark.parametrize(
    ("command", "tight", "code"),
    [
        ("head -c 2000000 /dev/zero >big", {"file_mb": 1}, 153),
        ("exec 3<. 4<. 5<. 6<. 7<. 8<. 9<.", {"open_files": 8}, 1),
        ("python3 -S -c 'bytearray(200 << 20)'", {"memory_mb": 128}, 1),
        ("while :; do [ $SECONDS -lt 3 ] || exit 0; done", {"cpu_s": 1}, 152),
        ("sleep 3 & sleep 3 & sleep 3 & kill %1 %2 %3", {"processes": 2}, None),
    ],
)
def test_each_limit_holds(said: Said, command: str, tight: dict[str, int], code: int | None) -> None:
    out = said(f"""
print(opened(memory_mb=1024).exec({command!r}).exit_code)
result = opened(**{ {"memory_mb": 1024, "wall_s": 6.0} | tight!r}).exec({command!r})
print(result.exit_code)
print(result.stderr.decode())
""")
    loose, tightened, said_why = out.split("\n", 2)
    assert loose == "0"
    assert tightened == str(code) if code is not None else "fork: " in said_why


def test_the_wall_clock_ends_a_command_and_keeps_its_output(said: Said) -> None:
    mark = marker()
    out = said(f"""
result = opened(wall_s=1.0).exec("echo on; sleep {mark}")
print(result.stdout, result.exit_code, result.timed_out)
result = opened(wall_s=20.0).exec("echo on; sleep 1.5")
print(result.stdout, result.exit_code, result.timed_out)
""")
    assert out == "b'on\\n' 137 True\nb'on\\n' 0 False\n"
    assert not running(mark)


def test_a_flood_is_stopped_and_cut(said: Said) -> None:
    out = said("""
for command in ("yes", "yes >&2", "yes | head -c 1000"):
    result = opened(output_bytes=1000).exec(command)
    print(result.exit_code, result.timed_out, len(result.stdout) > 1000 or len(result.stderr) > 1000)
""")
    assert out == "137 False True\n137 False True\n0 False False\n"


def test_what_stays_in_its_group_is_counted_and_killed(said: Said) -> None:
    mark = marker()
    out = said(f"""
work = opened()
for command in ("sleep {mark} & sleep {mark} & echo on", "trap '' TERM; sleep {mark} & disown; echo on", "echo on"):
    result = work.exec(command)
    print(result.stdout, result.exit_code, result.left_over)
""")
    assert out == "b'on\\n' 0 2\nb'on\\n' 0 1\nb'on\\n' 0 0\n"
    assert not running(mark)


def test_what_escapes_holds_nobody_up(said: Said) -> None:
    """It holds the pipe open, and is not killed: that is what the warning says."""
    mark = marker()
    out = said(f"""
result = opened().exec("setsid sleep {mark} & echo on")
print(result.stdout, result.exit_code, result.timed_out)
""")
    assert out == "b'on\\n' 0 False\n"
    (escaped,) = running(mark)
    os.kill(escaped, signal.SIGKILL)


def test_a_command_ends_although_its_trainer_was_killed(unprivileged: AnotherUser, temporary: Path) -> None:
    mark = marker()
    script = f"{PRELUDE}UnprotectedSandbox().open({{}}, Limits(wall_s=1.0)).exec('sleep {mark}')"
    with unprivileged.start("-c", script, TMPDIR=str(temporary)) as trainer:
        assert eventually(lambda: bool(running(mark)))
        trainer.kill()
    assert running(mark)  # control: the signal is not what ends it
    assert eventually(lambda: not running(mark))
    subprocess.run(["rm", "-rf", *temporary.iterdir()], check=True)


def test_commands_that_cannot_be_passed_fail_as_bash_would(said: Said) -> None:
    out = said("""
for command in ("echo \\0", "#" * 200000, "#" * 100000):
    result = opened().exec(command)
    print(result.exit_code, result.stderr)
""")
    assert out == ("126 b'bash: command holds a NUL byte\\n'\n126 b'bash: argument list too long\\n'\n0 b''\n")


# --- its folder --------------------------------------------------------------------------------------------------


def test_a_tree_goes_in_and_comes_out(said: Said) -> None:
    files = {
        "a": Entry(b"A", 0o640),
        "d": Entry(b"", 0o500, "dir"),
        "d/b": Entry(b"B", 0o755),
        "e/f/g": Entry(b"\xff"),
        "l": Entry(b"d/b", 0o777, "link"),
    }
    out = said(f"""
os.umask(0o077)
files = {files!r}
work = opened(files)
print(work.export() == files | {{"e": Entry(b"", 0o755, "dir"), "e/f": Entry(b"", 0o755, "dir")}})
print({{line.split()[5] for line in work.exec("ls -ARl --time-style=+%F | grep -v :").stdout.decode().splitlines()
       if len(line.split()) > 5}})
work.write("a", b"AA")
work.write("new", b"N")
print(work.read("a"), work.exec("stat -c %a a new").stdout)
for path in ("l", "nosuch", "d", "../x"):
    print(told(work.read, path), told(work.write, path, b"") if path != "nosuch" else "")
print(told(opened, {{"../x": Entry(b"")}}))
""")
    lines = out.splitlines()
    assert lines[:3] == ["True", "{'2026-01-01'}", "b'AA' b'640\\n644\\n'"]
    assert "is a link" in lines[3] and lines[3].count("WorkspaceError") == 2
    assert lines[4].startswith("WorkspaceFileNotFoundError")
    assert [line.count("WorkspaceError") for line in lines[5:]] == [2, 2, 1]


def test_a_command_that_takes_its_folder_away_fails_alone(said: Said) -> None:
    out = said("""
def after(command):
    work = opened({"a": Entry(b"A")})
    work.exec(command)
    result = work.exec("cat a")
    return result.exit_code, result.stdout, result.stderr

for command in ("true", "chmod 0 .", "chmod 0 .."):
    print(after(command))
for command in ("rm -rf $HOME", "rm -rf $HOME; ln -s $TMPDIR $HOME", "rm -rf $HOME; echo >$HOME", "rm -rf ../../*"):
    print(after(command))
""")
    assert out.splitlines() == [str((0, b"A", b""))] * 3 + [str((126, b"", b"the workspace was removed\n"))] * 4


def test_a_sandbox_whose_folder_was_locked_is_the_hosts_fault(said: Said) -> None:
    out = said("""
one, other = opened(), opened()
one.exec("chmod 0 ../..")
print(other.exec("echo on").exit_code)
print(told(opened).split(":")[0], type(told(other.export)).__name__)
Path(sandbox._folder.path).chmod(0o700)
print(other.exec("echo on").exit_code)
""")
    assert out == "126\nSandboxError str\n0\n"


def test_close_leaves_nothing_and_opens_nothing(said: Said, temporary: Path) -> None:
    """That nothing is left is what the fixture looks at, after every test."""
    out = said("""
work = opened()
work.exec("mkdir -p a/b/c; touch a/b/c/f; chmod 0 a/b/c a/b a; mkfifo p; echo x >$TMPDIR/x")
print(len(list(Path(os.environ["TMPDIR"]).iterdir())))
work.close()
work.close()
print(work.exec("echo on").exit_code, len(list(sandbox._folder.path.iterdir())))
sandbox.close()
print(told(opened))
""")
    assert out == "1\n126 0\nSandboxError: the sandbox is closed: open a new one\n"


def test_the_folder_of_a_killed_trainer_is_removed_at_the_next_start(
    unprivileged: AnotherUser, temporary: Path, said: Said
) -> None:
    script = f"""{PRELUDE}
sandbox = UnprotectedSandbox()
opened().exec("mkdir d; touch d/f; chmod 0 d")
print(sandbox._folder.path.name, flush=True)
signal.pause()
"""
    started = [unprivileged.start("-c", script, TMPDIR=str(temporary)) for _ in range(2)]
    killed, living = (process.stdout.readline().strip() for process in started if process.stdout is not None)
    started[0].kill()
    started[0].communicate()
    assert {path.name for path in temporary.iterdir()} == {killed, living}  # control: nothing else removes it
    assert killed.startswith(PREFIX)
    out = said(
        "print(sorted(path.name for path in Path(os.environ['TMPDIR']).iterdir() if path != sandbox._folder.path))"
    )
    assert out == f"{[living]}\n"
    started[1].kill()
    started[1].communicate()
    said("print()")


def test_tools_come_last_on_the_path(unprivileged: AnotherUser, said: Said) -> None:
    tools = unprivileged.folder / "mine"
    tools.mkdir()
    for name in ("tidy", "ls"):
        (tools / name).write_text("#!/bin/sh\necho mine\n")
        (tools / name).chmod(0o755)
    out = said(f"""
with UnprotectedSandbox([Path("{tools}")]) as other:
    print(other.tools, other.open({{"f": Entry(b"")}}, Limits()).exec("tidy; ls").stdout)
print(opened().exec("tidy").exit_code)
""")
    assert out == f"{(tools,)} b'mine\\nf\\n'\n127\n"
