"""What may be offered to candidates and what may not, where they find it, and which Python they have."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rlsh.sandbox import Limits, open_sandbox, view
from rlsh.sandbox.base import Kind
from rlsh.sandbox.linux import LinuxSandbox, LinuxWorkspace
from rlsh.sandbox.probe import describe_python, probe, usable
from rlsh.sandbox.view import View, choose_python, look, offered, python_version, search_path, site_packages
from rlsh.sandbox.worker.launch import ENVIRONMENT
from rlsh.types import RlshError

LADDER = probe()
sandboxed = pytest.mark.skipif(usable(LADDER) is None, reason=f"no sandbox on this machine: {LADDER}")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: candidates have the rights of who is not")
PATIENT = Limits(wall_s=60, cpu_s=20, memory_mb=1024)
NAMED = "#!/bin/sh\necho mine: $0\n"
SYSTEM_PATH = ENVIRONMENT["PATH"]


def program(path: Path, text: str = NAMED) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder that may be offered: where a test changes one thing, it is this one otherwise."""
    program(tmp_path / "tools" / "tidy")
    program(tmp_path / "tools" / "ls")
    program(tmp_path / "tools" / "lib" / "inner")
    return tmp_path / "tools"


# --- what may be offered -----------------------------------------------------------------------------------------


def test_folders_are_found_by_their_names(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "other-2.0").symlink_to(tools)
    assert offered([tools, tmp_path / "other-2.0"]) == {"/opt/tools/tools": tools, "/opt/tools/other-2.0": tools}
    assert offered([]) == {}


def holds_a(name: str) -> Callable[[Path], Path]:
    def change(tools: Path) -> Path:
        (tools / "lib" / name).mkdir()
        return tools

    return change


def holds_a_socket(tools: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tools / "lib" / "s"))
    return tools


def holds_a_pipe(tools: Path) -> Path:
    os.mkfifo(tools / "lib" / "p")
    return tools


def another_name(name: str) -> Callable[[Path], Path]:
    return lambda tools: tools.rename(tools.with_name(name))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda tools: tools.relative_to(Path.cwd().parent), "is relative: write /"),
        (lambda tools: tools / "nosuch", r"cannot be used \(No such file or directory\)"),
        (lambda tools: tools / "tidy", "is no folder"),
        (another_name("to ols"), "has a name that a PATH may not hold"),
        (another_name("to:ols"), "has a name that a PATH may not hold"),
        (another_name("-tools"), "has a name that a PATH may not hold"),
        (another_name("tööls"), "has a name that a PATH may not hold"),
        (lambda tools: Path("/"), "has a name that a PATH may not hold"),
        (lambda tools: Path("/proc/sys"), "is the kernel's"),
        (holds_a(".git"), r"holds \S*/lib/\.git, which holds secrets"),
        (holds_a(".env"), "which holds secrets"),
        (holds_a(".netrc"), "which holds secrets"),
        (holds_a(".ssh"), "which holds secrets"),
        (holds_a(".gnupg"), "which holds secrets"),
        (holds_a(".aws"), "which holds secrets"),
        (holds_a_socket, "/lib/s, through which candidates would reach"),
        (holds_a_pipe, "/lib/p, through which candidates would reach"),
    ],
)
def test_what_may_not_be_offered(
    tools: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], Path], why: str
) -> None:
    (tools.parent / "here").mkdir()
    monkeypatch.chdir(tools.parent / "here")
    assert offered([tools])  # control
    with pytest.raises(RlshError, match=f"^tools: .*{why}"):
        offered([change(tools)])


def test_what_looks_like_a_secret_is_none(tools: Path) -> None:
    for name in ("git", ".github", "env", ".envrc", ".config"):
        holds_a(name)(tools)
    assert offered([tools])


@as_root
def test_a_folder_that_candidates_cannot_read_is_refused(tools: Path) -> None:
    for mode, accepted in ((0o755, True), (0o750, False), (0o751, False), (0o754, False), (0o705, True)):
        tools.chmod(mode)
        if accepted:
            assert offered([tools])
        else:
            with pytest.raises(RlshError, match="chmod o\\+rx"):
                offered([tools])


def test_a_place_is_offered_once(tools: Path, tmp_path: Path) -> None:
    other = program(tmp_path / "more" / "tools" / "x").parent
    assert offered([tools]) and offered([other])
    with pytest.raises(RlshError, match=f"{other} would be /opt/tools/tools, as {tools} is"):
        offered([tools, other])


def where_we_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def the_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))


def the_temporary_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder))


def the_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "PACKAGE", folder)


@pytest.mark.parametrize("secret", [where_we_are, the_home, the_temporary_one, the_package])
def test_folders_that_hold_what_is_never_shown(
    tools: Path, monkeypatch: pytest.MonkeyPatch, secret: Callable[[Path, pytest.MonkeyPatch], None]
) -> None:
    assert offered([tools])  # control
    secret(tools / "lib", monkeypatch)
    with pytest.raises(RlshError, match=f"{tools} holds {tools}/lib, which no candidate may read"):
        offered([tools])
    secret(tools, monkeypatch)
    with pytest.raises(RlshError, match=f"{tools} holds {tools}, which no candidate may read"):
        offered([tools])
    secret(tools.parent, monkeypatch)  # control: tools may lie in a home
    assert offered([tools])


def test_private_files_are_not_offered_by_any_name(tools: Path, tmp_path: Path) -> None:
    (tools / "tasks.jsonl").touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "tasks.jsonl").touch()
    (tmp_path / "link.jsonl").symlink_to(tools / "tasks.jsonl")
    (tmp_path / "linked").symlink_to(tools)
    assert offered([tools], [tmp_path / "elsewhere" / "tasks.jsonl"])  # control
    for folder, private in (
        (tools, tools / "tasks.jsonl"),
        (tools, tmp_path / "link.jsonl"),
        (tmp_path / "linked", tools / "tasks.jsonl"),
        (tools, tools / "not" / "there" / "yet"),
    ):
        with pytest.raises(RlshError, match="which no candidate may read"):
            offered([folder], [private])
        with pytest.raises(RlshError, match="which no candidate may read"):
            open_sandbox(tools=[folder], private=[private])


# --- tools in a sandbox ------------------------------------------------------------------------------------------


@pytest.fixture
def work(kind: Kind, tools: Path) -> Iterator[LinuxWorkspace]:
    with LinuxSandbox(kind, 1, tools=[tools]) as sandbox, sandbox.open({}, PATIENT) as workspace:
        assert sandbox.tools == (tools,)
        yield workspace


def stdout(workspace: LinuxWorkspace, command: str) -> str:
    result = workspace.exec(command)
    assert (result.exit_code, result.stderr) == (0, b""), result
    return result.stdout.decode()


@sandboxed
def test_tools_are_run_by_name_and_replace_nothing(work: LinuxWorkspace, kind: Kind) -> None:
    assert stdout(work, "tidy; /opt/tools/tools/lib/inner") == (
        "mine: /opt/tools/tools/tidy\nmine: /opt/tools/tools/lib/inner\n"
    )
    assert stdout(work, "echo x >f; ls") == "f\n"  # the system's, although there is one among the tools
    assert stdout(work, "/opt/tools/tools/ls") == "mine: /opt/tools/tools/ls\n"  # control
    assert stdout(work, "echo $PATH").strip().rpartition(":")[2] == "/opt/tools/tools"
    with LinuxSandbox(kind, 1) as without, without.open({}, PATIENT) as other:
        assert other.exec("tidy").exit_code == 127
        assert stdout(other, "ls /opt 2>&1 || true") != "tools\n"


@sandboxed
def test_tools_cannot_be_changed(work: LinuxWorkspace, tools: Path) -> None:
    for path in (tools, tools / "lib", tools / "tidy"):
        path.chmod(0o777)  # the mount's own wall, not that of the modes
    for command in (">>tidy", ">new", "rm tidy", "mkdir lib/x", "chmod 700 tidy", "mv tidy new"):
        result = work.exec(f"cd /opt/tools/tools; {command}")
        assert result.exit_code != 0 and b"Read-only file system" in result.stderr, command
    assert (tools / "tidy").read_text() == NAMED
    assert stdout(work, "cp /opt/tools/tools/tidy . && echo x >>tidy") == ""  # control


@sandboxed
def test_tools_in_a_folder_that_nobody_else_enters(kind: Kind, tools: Path) -> None:
    tools.parent.chmod(0o700)
    with LinuxSandbox(kind, 1, tools=[tools]) as sandbox, sandbox.open({}, PATIENT) as workspace:
        assert stdout(workspace, "tidy") == "mine: /opt/tools/tools/tidy\n"
        assert workspace.exec(f"ls {tools.parent}").exit_code == 2


@sandboxed
def test_every_worker_way_is_opened_with_tools(kind: Kind, tools: Path) -> None:
    sandbox = open_sandbox(1, kind, [tools])
    try:
        with sandbox.open({}, PATIENT) as workspace:
            assert workspace.exec("tidy").stdout == b"mine: /opt/tools/tools/tidy\n"
    finally:
        sandbox.close()


# --- the candidates' Python --------------------------------------------------------------------------------------


def test_a_version_is_what_runs(tmp_path: Path) -> None:
    assert python_version(Path(sys.executable)) == sys.version_info[:3]
    assert python_version(tmp_path / "nosuch") == ()
    assert python_version(program(tmp_path / "mute")) == ()


def test_the_systems_python_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = program(tmp_path / "python3", "#!/bin/sh\necho 3 8 0\n")
    monkeypatch.setattr(view, "SYSTEM_PYTHON", system)
    assert choose_python() == (str(system), None)
    program(system, "#!/bin/sh\necho 3 7 9\n")
    assert choose_python() != (str(system), None)


@pytest.fixture
def no_system_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "SYSTEM_PYTHON", Path("/nosuch/python3"))


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_system_python: None) -> Path:
    """The running interpreter's, as far as `view` knows."""
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "python"))
    monkeypatch.setattr(view, "MOUNTED_OVER", ("/proc",))  # it lies below /tmp
    program(tmp_path / "python" / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
    return tmp_path / "python"


def test_without_one_the_running_interpreters_is_bound(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (python,) = (prefix / "bin").iterdir()
    packages = prefix / "lib" / "python3.1" / "site-packages"
    packages.mkdir(parents=True)
    assert choose_python() == (str(python), prefix)
    assert site_packages(prefix) == {packages}
    seen = look()
    assert seen.bound == {str(prefix): str(prefix)} and str(packages) in seen.hidden
    assert (seen.path, seen.python) == (f"/etc/path:{SYSTEM_PATH}", str(python))


@pytest.mark.parametrize("secret", [where_we_are, the_home, the_package])
def test_a_prefix_that_would_show_too_much_is_not_bound(
    prefix: Path, monkeypatch: pytest.MonkeyPatch, secret: Callable[[Path, pytest.MonkeyPatch], None]
) -> None:
    assert choose_python()[1] == prefix  # control
    (prefix / "lib").mkdir()
    secret(prefix / "lib", monkeypatch)
    assert choose_python() == ("", None)
    assert look() == View()


def test_an_installed_rlsh_does_not_show_itself(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = prefix / "lib" / "python3.1" / "site-packages" / "rlsh"
    package.mkdir(parents=True)
    monkeypatch.setattr(view, "PACKAGE", package)
    assert choose_python()[1] == prefix
    assert str(package.parent) in look().hidden


def test_a_prefix_that_the_sandbox_mounts_over_is_not_bound(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "MOUNTED_OVER", (str(prefix.parent),))
    assert choose_python() == ("", None)


def test_a_prefix_without_an_interpreter_is_not_bound(prefix: Path) -> None:
    (python,) = (prefix / "bin").iterdir()
    python.unlink()
    assert choose_python() == ("", None)


def test_an_interpreter_below_usr_is_seen_without_being_bound(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (python,) = (prefix / "bin").iterdir()
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(Path, "exists", lambda path: str(path) == f"/usr/bin/{python.name}")
    assert choose_python() == (f"/usr/bin/{python.name}", None)


def test_no_link_where_the_path_leads_to_the_right_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = program(tmp_path / "bin" / "python3", "#!/bin/sh\necho 3 11 0\n")
    wrong = program(tmp_path / "local" / "python3")
    monkeypatch.setattr(view, "SYSTEM_PYTHON", right)
    monkeypatch.setitem(ENVIRONMENT, "PATH", str(right.parent))
    assert look().python == ""
    monkeypatch.setitem(ENVIRONMENT, "PATH", f"{wrong.parent}:{right.parent}")
    assert (look().python, look().path) == (str(right), f"/etc/path:{wrong.parent}:{right.parent}")


@sandboxed
def test_a_bound_python_runs_and_shows_no_packages(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, no_system_python: None
) -> None:
    prefix = choose_python()[1]
    if prefix is None:
        pytest.skip(f"the interpreter in {sys.base_prefix} is not one to bind")
    with LinuxSandbox(kind, 1) as sandbox, sandbox.open({}, PATIENT) as work:
        script = "import json, sys; print(json.dumps(sys.version_info[:3]), sys.base_prefix)"
        version, place = list(sys.version_info[:3]), Path(sys.base_prefix).resolve()
        assert stdout(work, f'python3 -I -S -c "{script}"') == f"{version} {place}\n"
        for folder in site_packages(prefix):
            assert any(folder.iterdir()) and stdout(work, f"ls -A {folder}") == ""
        result = work.exec(f": >{prefix}/bin/x")
        assert result.exit_code == 1 and b"Read-only file system" in result.stderr
    monkeypatch.undo()
    with LinuxSandbox(kind, 1) as sandbox, sandbox.open({}, PATIENT) as work:  # control: the system's
        assert work.exec(f"ls {prefix}").exit_code == 2


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("3.11.2 /usr/bin/python3.11\n", "python3 is 3.11.2, /usr/bin/python3.11"),
        ("3.8.0 /p\n", "python3 is 3.8.0, /p"),
        ("3.7.17 /p\n", "python3 is 3.7.17, /p: too old for Python tasks"),
        ("3.13.0rc1+ /p\n", "python3 is 3.13.0rc1+, /p"),
        ("", "no python3: Python tasks will fail"),
    ],
)
def test_the_doctor_names_it(printed: str, said: str) -> None:
    assert describe_python(printed) == said


def test_the_path_ends_with_what_users_bring() -> None:
    assert search_path(["/opt/tools/a", "/opt/tools/b"]) == f"{SYSTEM_PATH}:/opt/tools/a:/opt/tools/b"
