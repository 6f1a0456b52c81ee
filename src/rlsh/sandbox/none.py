"""No sandbox: commands are plain subprocesses of the calling user, for a machine that may be lost.

Of what the others promise there is left: a folder of its own, limits on time, output and each process, an
environment of nothing but the allow-list, and the end of all processes that stay in the command's group.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from rlsh.sandbox.base import Closing, ExecResult, Limits, SandboxError, WorkspaceError, WorkspaceFileNotFoundError
from rlsh.sandbox.linux import tree_of
from rlsh.sandbox.temporary import HeldFolder, remove
from rlsh.sandbox.view import offered, search_path
from rlsh.sandbox.worker.launch import ENVIRONMENT, SHELL, rlimits, unfit
from rlsh.sandbox.worker.output import Capture
from rlsh.sandbox.worker.process import GONE, SETTLE_S
from rlsh.sandbox.worker.tree import Refused, WorkTree, tree_faults
from rlsh.types import Tree

WARNING = (
    "rlsh: NO SANDBOX: commands run as you. They can read, change and delete your files, use your network and your "
    "keys, end your processes, and leave some behind; only time, output, and each process and file are bounded."
)
PREFIX = "rlsh-none-"
KILLED = 128 + signal.SIGKILL
CHUNK = 1 << 16
LAST_S = 1.0  # after the wall clock; then a command ends even if we have died
OPTIONS = {  # of prlimit(1)
    resource.RLIMIT_CPU: "cpu",
    resource.RLIMIT_AS: "as",
    resource.RLIMIT_FSIZE: "fsize",
    resource.RLIMIT_NOFILE: "nofile",
    resource.RLIMIT_NPROC: "nproc",
    resource.RLIMIT_CORE: "core",
}


# --- a command -------------------------------------------------------------------------------------------------


def bounds(limits: Limits) -> list[str]:
    """What a command line begins with: no privileges to gain, the limits, and a clock that outlives us."""
    options = []
    for number, soft, hard in rlimits(asdict(limits), threads_of(os.getuid()) + 1):
        ceiling = resource.getrlimit(number)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        options.append(f"--{OPTIONS[number]}={soft}:{hard}")
    clock = ["timeout", "--signal=KILL", str(limits.wall_s + LAST_S)]
    return ["setpriv", "--no-new-privs", "prlimit", *options, *clock]


def threads_of(uid: int) -> int:
    """What RLIMIT_NPROC, which knows no command, counts for this user already."""
    found = 0
    for file in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(*GONE):
            status = file.read_text(errors="replace")
            if f"\nUid:\t{uid}\t" in status:
                found += int(re.findall(r"^Threads:\s*(\d+)", status, re.MULTILINE)[0])
    return found


def living(group: int) -> int:
    """How many processes of a process group have not ended."""
    found = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(*GONE):
            state, _, number = file.read_bytes().rpartition(b") ")[2].split()[:3]
            found += int(number) == group and state not in (b"Z", b"X")
    return found


def run(
    argv: Sequence[str | bytes], folder: str, environment: Mapping[str, str], captures: Sequence[Capture], wall_s: float
) -> tuple[int, str, int]:
    """Run a command in `folder` to its end, "exit", or kill it: "timeout", "flood".

    Its exit code as subprocess gives it, that word, and how many processes were left in its group. What they still
    hold open holds nobody up. Errors: SandboxError where the command cannot be started.
    """
    deadline, pipe = time.monotonic() + wall_s, subprocess.PIPE
    try:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, cwd=folder, env=environment, umask=0o022,
            start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise SandboxError(f"{os.fsdecode(argv[0])} cannot be started: {error.strerror}") from error
    assert process.stdout is not None and process.stderr is not None
    with process.stdout, process.stderr:
        streams = dict(zip((process.stdout.fileno(), process.stderr.fileno()), captures, strict=True))
        left = 0
        try:
            ended = watch(process.pid, streams, deadline)
            if ended == "exit" and living(process.pid):
                time.sleep(SETTLE_S)
                left = living(process.pid)
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # not waited for until now: the number is still its own
            code = process.wait()
        for fd, capture in streams.items():  # what was written before the end, not what escaped processes still write
            os.set_blocking(fd, False)
            with contextlib.suppress(BlockingIOError):
                while not capture.flooded and (chunk := os.read(fd, CHUNK)):
                    capture.feed(chunk)
    return code, ended, left


def watch(pid: int, streams: Mapping[int, Capture], deadline: float) -> str:
    """Read output until the process has ended or should. Why it returned."""
    child, poller = os.pidfd_open(pid), select.poll()
    try:
        for fd in (child, *streams):
            poller.register(fd, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            ready = [fd for fd, _ in poller.poll(left * 1000)]
            for fd in streams.keys() & ready:
                chunk = os.read(fd, CHUNK)
                streams[fd].feed(chunk)
                if not chunk:
                    poller.unregister(fd)
            if any(capture.flooded for capture in streams.values()):
                return "flood"
            if child in ready:
                return "exit"
        return "timeout"
    finally:
        os.close(child)


# --- a folder --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def refusals(path: str) -> Iterator[None]:
    """What the tree refuses, as the errors of a workspace."""
    try:
        with tree_faults(path):
            yield
    except Refused as error:
        kind = WorkspaceFileNotFoundError if error.kind == "missing" else WorkspaceError
        raise kind(str(error)) from None


class UnprotectedWorkspace(Closing):
    """A folder. No other keeps a command in it. It lives until `close`."""

    def __init__(self, folder: Path, files: Tree, limits: Limits, path: str) -> None:
        self._folder, self._limits = folder, limits
        work, scratch = folder / "work", folder / "tmp"
        work.mkdir()
        scratch.mkdir()
        self._environment = ENVIRONMENT | {"PATH": path, "HOME": str(work), "TMPDIR": str(scratch)}
        self._tree = WorkTree(str(work), -1, asdict(limits))
        ordered = sorted(files.items(), key=lambda item: item[0].split("/"))
        for name, entry in ordered:
            with refusals(name):
                mode = entry.mode | 0o700 if entry.kind == "dir" else entry.mode  # until it is filled
                self._tree.place(name, entry.kind, mode, entry.content)
        self._tree.freeze_times()
        for name, entry in reversed(ordered):
            if entry.kind == "dir":
                (work / name).chmod(entry.mode)

    def exec(self, command: str) -> ExecResult:
        """Run `bash -c command` in the folder. Errors: SandboxError, the host's only."""
        script, work = command.encode("utf-8", "surrogatepass"), Path(self._tree.root)
        if why := unfit(script):
            return ExecResult(b"", why, 126)
        try:
            self._folder.chmod(0o700)  # nothing keeps a command from locking it
            there = work.is_dir() and not work.is_symlink()
            if there:
                work.chmod(0o755)
        except OSError:
            there = False
        if not there:
            return ExecResult(b"", b"the workspace was removed\n", 126)
        captures = [Capture(self._limits.output_bytes) for _ in range(2)]
        argv: list[str | bytes] = [*bounds(self._limits), *SHELL, script]
        code, ended, left = run(argv, str(work), self._environment, captures, self._limits.wall_s)
        code = KILLED if ended != "exit" else code if code >= 0 else 128 - code
        stdout, stderr = (capture.value() for capture in captures)
        return ExecResult(stdout, stderr, code, ended == "timeout", left)

    def read(self, path: str) -> bytes:
        """The content of a regular file. Errors: WorkspaceError, WorkspaceFileNotFoundError."""
        with refusals(path):
            return self._tree.read(path)

    def write(self, path: str, content: bytes) -> None:
        """Replace a regular file's content (owner and mode stay) or make the file. Errors: as `read`."""
        with refusals(path):
            self._tree.write(path, content)

    def export(self) -> Tree:
        """Files, directories and links, by path. Errors: WorkspaceError where they are too large or unreadable."""
        with refusals("workspace"):
            return tree_of(self._tree.export())

    def close(self) -> None:
        remove(self._folder)


class UnprotectedSandbox(Closing):
    """A source of folders below the system's temporary one. A command that runs on at `close` has its wall clock."""

    def __init__(self, tools: Sequence[Path] = ()) -> None:
        """Says on stderr what this is. Errors: SandboxError as root, and where no command can be started."""
        if 0 in (os.getuid(), os.geteuid()):
            raise SandboxError(
                "without a sandbox, commands would run as root: be another user, or see what is wrong: rlsh doctor"
            )
        self.tools = tuple(tools)
        self._path = search_path(map(str, offered(tools).values()))
        print(WARNING, file=sys.stderr)
        self._folder = HeldFolder(PREFIX)
        self._closed = False
        try:
            with self.open({}, Limits(wall_s=20)) as workspace:
                result = workspace.exec("echo on")
            if result.stdout != b"on\n":
                said = result.stderr.decode(errors="replace").strip()
                raise SandboxError(f"setpriv, prlimit and timeout start no command ({said}): update util-linux")
        except BaseException:
            self.close()
            raise

    def open(self, files: Tree, limits: Limits) -> UnprotectedWorkspace:
        """A workspace holding `files`, all of them dated 2026-01-01.

        Errors: WorkspaceError where `files` names a place outside; SandboxError.
        """
        if self._closed:
            raise SandboxError("the sandbox is closed: open a new one")
        try:
            folder = Path(tempfile.mkdtemp(dir=self._folder.path))
        except OSError as error:
            raise SandboxError(f"{self._folder.path} cannot be used: {error.strerror}") from None
        try:
            return UnprotectedWorkspace(folder, files, limits, self._path)
        except BaseException:
            remove(folder)
            raise

    def close(self) -> None:
        self._closed = True
        self._folder.close()
