"""Two ways to start a command in a sandbox of its own: through bwrap, or by forking into one.

Both give it the same: fresh namespaces of every kind, an unprivileged uid without capabilities, a read-only system,
the workspace at /work, the limits, the seccomp filter, and a first process that says when the command has ended and
then holds the namespace until the worker has looked at what is left in it.

`Cold` starts bwrap. `Warm` forks the worker itself into namespaces, over a system that was bound together once: nothing
is executed but the command's own shell, nothing is parsed, and that is most of what a start costs.
"""

# ruff: noqa: PTH102, PTH103, PTH112, PTH114, PTH115, PTH123, PTH211

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import select
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from rlsh.sandbox.worker import kernel
from rlsh.sandbox.worker.process import children
from rlsh.sandbox.worker.tree import MIB, Workspace, write_all

UID_INSIDE = 1000
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
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LINKS = "/etc/path"  # first on the PATH, where the system's own order is wrong
HOSTNAME = "sandbox"
ARGUMENT_BYTES = 128 << 10  # Linux' MAX_ARG_STRLEN, the terminating NUL included
SHELL = ("bash", "--norc", "--noprofile", "-c")
STARTED = b"started\n"  # what the first process says before the command runs, then "exit CODE\n"
STATUS_FD, HOLD_FD, LOWEST_FD = 3, 4, 10  # of the first process; above them, ours
# The first process under bwrap. The command gets the real stderr and neither of the two descriptors above.
INIT = (
    f"exec 5>&2 2>/dev/null; echo started >&{STATUS_FD}; "
    f'(exec {" ".join(SHELL)} "$1" 2>&5 5>&- {STATUS_FD}>&- {HOLD_FD}<&-); '
    f'echo "exit $?" >&{STATUS_FD}; read -r _ <&{HOLD_FD}'
)


@dataclass(frozen=True)
class Streams:
    """What a command's first process is given: ends of pipes, by descriptor."""

    out: int
    err: int
    status: int
    hold: int  # reads nothing until the worker is done, or dead


@dataclass(frozen=True)
class Place:
    """What a worker has laid out for its commands, all of it on its private tmpfs."""

    base: str
    etc: str
    scratch: str  # holds `tmp` and `shm` while a command runs
    uid: int  # of candidates, in the worker's user namespace
    hidden: list[str]  # directories that candidates find empty
    seccomp: bytes
    environment: dict[str, str]
    bound: dict[str, str]  # place inside -> directory of the host, read-only


class Launcher(Protocol):
    own_processes: int  # that share the candidate's budget of processes

    def start(self, workspace: Workspace, script: bytes, streams: Streams) -> int:
        """The pid of the process to kill and to wait for."""
        ...

    def first_process(self, pid: int) -> int | None:
        """The first process of the namespace that `start` made, in the worker's numbers."""
        ...


def rlimits(limits: dict[str, Any], own_processes: int) -> list[tuple[int, int, int]]:
    cpu, processes = limits["cpu_s"], limits["processes"] + own_processes
    memory, file = limits["memory_mb"] * MIB, limits["file_mb"] * MIB
    return [
        (resource.RLIMIT_CPU, cpu, cpu + 1),  # SIGXCPU first, which bash explains; then SIGKILL
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_FSIZE, file, file),
        (resource.RLIMIT_NOFILE, limits["open_files"], limits["open_files"]),
        (resource.RLIMIT_NPROC, processes, processes),
        (resource.RLIMIT_CORE, 0, 0),
    ]


def unfit(script: bytes) -> bytes | None:
    """What bash would say of a script that no argument can carry."""
    if b"\0" in script:
        return b"bash: command holds a NUL byte\n"
    return b"bash: argument list too long\n" if len(script) >= ARGUMENT_BYTES else None


def pipe() -> tuple[int, int]:
    """Ends that are numbered above all that a first process is given by number."""
    read_end, write_end = os.pipe()
    return raised(read_end), raised(write_end)


def raised(fd: int) -> int:
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, LOWEST_FD)
    os.close(fd)
    return high


@contextlib.contextmanager
def holding(content: bytes, folder: str) -> Iterator[int]:
    """A descriptor that gives `content`: a nameless file's, as a pipe takes no more than a page from who has many."""
    fd = raised(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
    try:
        write_all(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def hung_up(fd: int) -> bool:
    """Whether the other end of this pipe is closed."""
    poller = select.poll()
    poller.register(fd, 0)
    return bool(poller.poll(0))


def offer_to_oom_killer(process: int | str) -> None:
    """First in line; where this is root of the host, the process cannot take it back."""
    with open(f"/proc/{process}/oom_score_adj", "w") as file:
        file.write("1000")


def prepare(streams: Streams) -> None:
    """What every forked child does first: its descriptors, default signals."""
    numbers = (os.open(os.devnull, os.O_RDONLY), streams.out, streams.err, streams.status, streams.hold)
    for number, fd in enumerate(numbers):
        os.dup2(fd, number)
    for signum in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(signum, signal.SIG_DFL)


class Cold:
    """A fresh bwrap for every command."""

    own_processes = 2  # bwrap's monitor and the first process

    def __init__(self, place: Place, bwrap: str) -> None:
        self.place, self.bwrap = place, bwrap
        # bwrap binds as the candidate's uid, which may not reach them where they lie.
        self.bound = {inside: f"{place.base}/bound/{number}" for number, inside in enumerate(place.bound)}
        for inside, staged in self.bound.items():
            os.makedirs(staged)
            kernel.bind_read_only(place.bound[inside], staged)

    def options(self, workspace: Workspace) -> list[str]:
        namespaces = ["user", "ipc", "pid", "net", "uts"]
        options = [f"--unshare-{name}" for name in namespaces]
        options += ["--unshare-cgroup-try", "--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1"]
        options += ["--cap-drop", "ALL", "--uid", str(UID_INSIDE), "--gid", str(UID_INSIDE)]
        options += ["--hostname", HOSTNAME, "--ro-bind", "/usr", "/usr"]
        for name in SYSTEM:
            path = f"/{name}"
            if os.path.islink(path):
                options += ["--symlink", os.readlink(path), path]
            elif os.path.isdir(path):
                options += ["--ro-bind", path, path]
        for inside, staged in self.bound.items():
            options += ["--ro-bind", staged, inside]
        for path in self.place.hidden:
            options += ["--tmpfs", path, "--remount-ro", path]
        options += ["--ro-bind", self.place.etc, "/etc", "--proc", "/proc", "--dev", "/dev"]
        options += ["--bind", f"{self.place.scratch}/shm", "/dev/shm", "--bind", f"{self.place.scratch}/tmp", "/tmp"]
        options += ["--bind", workspace.root, "/work", "--chdir", "/work"]
        # The roots of both tmpfs belong to the candidate's uid: left writable, they have no size.
        return [*options, "--remount-ro", "/dev", "--remount-ro", "/"]

    def start(self, workspace: Workspace, script: bytes, streams: Streams) -> int:
        # By descriptor, since /proc/1/cmdline shows what else bwrap is told.
        with holding(self.place.seccomp, self.place.base) as program:
            options = [*self.options(workspace), "--seccomp", str(program), ""]
            with holding(b"\0".join(map(os.fsencode, options)), self.place.base) as args:
                pid = os.fork()
                if pid == 0:
                    self.become_bwrap(workspace.limits, script, streams, args, program)
                return pid

    def become_bwrap(self, limits: dict[str, Any], script: bytes, streams: Streams, *inherited: int) -> NoReturn:
        """The forked child: limits, then the uid, then bwrap."""
        try:
            offer_to_oom_killer("self")
            prepare(streams)
            for fd in inherited:
                os.set_inheritable(fd, True)
            for name, soft, hard in rlimits(limits, self.own_processes):
                resource.setrlimit(name, (soft, hard))
            if self.place.uid != 0:
                os.setresgid(self.place.uid, self.place.uid, self.place.uid)
                os.setresuid(self.place.uid, self.place.uid, self.place.uid)
            argv = ["bwrap", "--args", str(inherited[0]), "--", "sh", "-c", INIT, "sh"]
            os.execve(self.bwrap, [*map(os.fsencode, argv), script], self.place.environment)
        except BaseException as error:
            os.write(2, f"cannot start bwrap: {error}".encode())
        finally:
            os._exit(127)

    def first_process(self, pid: int) -> int | None:
        below = children(pid)
        return below[0] if below else None


class Warm:
    """A fork of the worker for every command."""

    own_processes = 1  # the first process

    def __init__(self, place: Place) -> None:
        """Binds the system together, read-only. Raises OSError where the kernel cannot (before Linux 5.12)."""
        self.place, self.root = place, f"{place.base}/root"
        os.mkdir(self.root)
        kernel.mount_tmpfs(self.root, "size=1m,mode=755")
        for name in ("usr", "etc", "proc", "dev", "dev/pts", "dev/shm", "tmp", "work"):
            os.mkdir(f"{self.root}/{name}")
        kernel.bind_read_only("/usr", f"{self.root}/usr")
        for name in SYSTEM:
            if os.path.islink(f"/{name}"):
                os.symlink(os.readlink(f"/{name}"), f"{self.root}/{name}")
            elif os.path.isdir(f"/{name}"):
                os.mkdir(f"{self.root}/{name}")
                kernel.bind_read_only(f"/{name}", f"{self.root}/{name}")
        for inside, outside in place.bound.items():
            os.makedirs(f"{self.root}{inside}")
            kernel.bind_read_only(outside, f"{self.root}{inside}")
        for path in place.hidden:
            kernel.mount_tmpfs(f"{self.root}{path}", "size=4k,nr_inodes=2,mode=755")
            kernel.make_read_only(f"{self.root}{path}", recursive=False)
        kernel.bind_read_only(place.etc, f"{self.root}/etc")
        for name in DEVICES:
            os.close(os.open(f"{self.root}/dev/{name}", os.O_CREAT | os.O_WRONLY, 0o644))
            kernel.mount(f"/dev/{name}", f"{self.root}/dev/{name}", None, kernel.MS_BIND)
        for name, target in (
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            ("core", "/proc/kcore"),
            ("ptmx", "pts/ptmx"),
        ):
            os.symlink(target, f"{self.root}/dev/{name}")
        kernel.make_read_only(self.root, recursive=False)

    def start(self, workspace: Workspace, script: bytes, streams: Streams) -> int:
        go, go_w = pipe()
        try:
            pid = kernel.fork_into_namespaces()
            if pid == 0:
                os.close(go_w)
                self.become_first(workspace, script, streams, go)
            # Who may write a map is decided in our namespace; as root we choose whom the candidate's uid stands for.
            for name, content in (
                ("setgroups", "deny"),
                ("uid_map", f"{UID_INSIDE} {self.place.uid} 1"),
                ("gid_map", f"{UID_INSIDE} {self.place.uid} 1"),
            ):
                with open(f"/proc/{pid}/{name}", "w") as file:
                    file.write(content)
            offer_to_oom_killer(pid)
            os.write(go_w, b"g")
            return pid
        finally:
            os.close(go)
            os.close(go_w)

    def become_first(self, workspace: Workspace, script: bytes, streams: Streams, go: int) -> NoReturn:
        """The forked child: namespaces furnished, privileges dropped, the command started, its end told."""
        try:
            if os.read(go, 1) != b"g":
                os._exit(127)
            prepare(streams)
            os.setresgid(UID_INSIDE, UID_INSIDE, UID_INSIDE)
            os.setresuid(UID_INSIDE, UID_INSIDE, UID_INSIDE)
            self.furnish(workspace)
            kernel.drop_capabilities()
            # After the last change of credentials, which would clear it. A worker that died before this line is
            # noticed by what it held open.
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL, what="PR_SET_PDEATHSIG")
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0, what="PR_SET_DUMPABLE")  # our memory is the worker's
            if hung_up(HOLD_FD):
                os._exit(127)
            os.setsid()
            kernel.load_filter(self.place.seccomp)
            os.closerange(HOLD_FD + 1, 1 << 20)
            for fd in (STATUS_FD, HOLD_FD):
                os.set_inheritable(fd, False)
            for name, soft, hard in rlimits(workspace.limits, self.own_processes):
                resource.setrlimit(name, (soft, hard))
            os.write(STATUS_FD, STARTED)
            # spawned, not forked: our memory, which is the worker's, is not even copied
            argv = [*map(os.fsencode, SHELL), script]
            _, code = os.waitpid(os.posix_spawnp(SHELL[0], argv, self.place.environment), 0)
            exit_code = os.waitstatus_to_exitcode(code)
            os.write(STATUS_FD, b"exit %d\n" % (exit_code if exit_code >= 0 else 128 - exit_code))
            os.read(HOLD_FD, 1)
        except BaseException as error:
            os.write(2, f"cannot make a sandbox: {error}".encode())
        finally:
            os._exit(127)

    def furnish(self, workspace: Workspace) -> None:
        """The root of this namespace: the bound system, and what belongs to this command alone."""
        root, scratch = self.root, self.place.scratch
        # Bound onto itself: a mount that came from a namespace with more rights may not be moved, this one may.
        kernel.mount(root, root, None, kernel.MS_BIND | kernel.MS_REC)
        os.chdir(root)
        for source, target in ((f"{scratch}/tmp", "tmp"), (f"{scratch}/shm", "dev/shm"), (workspace.root, "work")):
            kernel.mount(source, target, None, kernel.MS_BIND)
        flags = kernel.MS_NOSUID | kernel.MS_NOEXEC
        kernel.mount("proc", "proc", "proc", flags | kernel.MS_NODEV)
        kernel.mount("devpts", "dev/pts", "devpts", flags, "newinstance,ptmxmode=0666,mode=620")
        kernel.pivot_into(root)
        os.chdir("/work")
        kernel.set_hostname(HOSTNAME)
        kernel.raise_loopback()

    def first_process(self, pid: int) -> int | None:
        return pid
