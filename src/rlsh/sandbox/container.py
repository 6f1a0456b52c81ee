"""Workspaces in containers, through the command line of podman or docker: for machines that have no bubblewrap.

One file although it is long: three parts, of which the first two (what is said to the engine; a tree as a tar
archive) are functions of their arguments alone.

One container per workspace, from an image with bash, coreutils, findutils and GNU tar. Everything in it but `/work`,
`/tmp` and `/dev/shm` is read-only, so the programs that move files in and out are the image's own and trusted.
Its first process, the keeper, belongs to another user than the candidate, who can neither signal nor trace it;
it only reaps. A file goes in and out as tar over a pipe, and nothing is ever unpacked on the host's disk.

Whatever runs inside first writes a NUL to stderr. Without it the engine started nothing: before a candidate's
first command, or where the engine no longer answers at all, that is the host's fault; otherwise the candidate's.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import secrets
import selectors
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from rlsh.sandbox.base import Closing, ExecResult, Limits, SandboxError, WorkspaceError, WorkspaceFileNotFoundError
from rlsh.sandbox.view import offered, search_path
from rlsh.sandbox.worker.launch import ENVIRONMENT, UID_INSIDE, unfit
from rlsh.sandbox.worker.output import Capture
from rlsh.sandbox.worker.tree import FIXTURE_NS, MIB, Refused
from rlsh.sandbox.worker.tree import components as split_path
from rlsh.types import Entry, EntryKind, RlshError, Tree

IMAGE = "docker.io/library/debian:stable-slim"
GRACE_S = 60.0  # for an engine to do what it is asked; then it counts as hung
KEEPER_UID = 65_534
KEEPER_PROCESSES = 3  # the keeper, the shell that waits for the candidate's, and one to spare for the next `exec`
KILLED = 128 + 9
CHUNK = 1 << 16
TAR_BYTES = 3 * 512  # of archive per node beside its content: header, padding, a long name
PASSED_ON = ("PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST")
STARTED = b"\0"

# A pipe that is open at both ends never ends: no child is needed to wait, and bash reaps orphans while it reads.
KEEPER = "while :; do read; done <> <(:)"
# $1 KiB of address space, $2 the command, then the environment: the image's own variables do not get through.
# `kill -9 -1` hits all of this user but the shell itself: what runs in the background must not hold the pipes.
COMMAND = """ulimit -v "$1" || exit; exec 3>&2 2>/dev/null; printf '\\0' >&3
env -i "${@:3}" bash --norc --noprofile -c "$2" 2>&3 3>&-
code=$?; kill -9 -1; exit "$code" """
# The candidate may have killed that shell: only a second one, after it, can tell that nobody is left.
SWEEP = """while kill -9 -1 2>/dev/null; do :; done
if [ -O /work ]; then chmod 755 /work; fi
chmod -R u+rwX /tmp /dev/shm 2>/dev/null; find /tmp /dev/shm -mindepth 1 -delete"""
FILL = f"""cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/memory.max || exit 1
tar --extract --file=- --preserve-permissions --no-same-owner; code=$?
if [ -O . ]; then touch --date=@{FIXTURE_NS // 10**9} .; fi; exit "$code" """
PACK = "exec tar --create --file=- --format=gnu --hard-dereference --no-unquote"
WRITE = 'umask 022; cat >"$1"'


# --- what is said to the engine, and what it says ------------------------------------------------------------


def run_command(engine: Path, name: str, image: str, limits: Limits, mounts: Sequence[str]) -> list[str]:
    """The command line that starts a workspace's container in the background. `mounts` are options of it."""
    size = f"{limits.workspace_mb}m"
    tmpfs = f"rw,exec,nosuid,nodev,size={size}"
    memory = f"{limits.tree_memory_mb + 3 * limits.workspace_mb}m"  # what lies on a tmpfs is memory, too
    if engine.name == "podman":  # it knows neither owner nor number of inodes, and would add tmpfs without a size
        work, own = f"{tmpfs},notmpcopyup,mode=0777", ["--read-only-tmpfs=false", "--http-proxy=false"]
    else:
        work, own = f"{tmpfs},nr_inodes={limits.inodes},mode=0755,uid={UID_INSIDE},gid={UID_INSIDE}", []
    options = {
        "name": name,
        "label": f"rlsh={socket.gethostname()}",  # one daemon may serve several machines, each with its own pids
        "network": "none",
        "ipc": "private",
        "hostname": "sandbox",
        "user": f"{KEEPER_UID}:{KEEPER_UID}",
        "cap-drop": "ALL",
        "security-opt": "no-new-privileges",
        "shm-size": size,
        "pids-limit": str(limits.processes + KEEPER_PROCESSES),
        "memory": memory,
        "memory-swap": memory,  # memory and swap together: no swap
        "workdir": "/work",
        "stop-timeout": "0",
        "pull": "never",
        "entrypoint": "bash",
    }
    ulimits = {
        "cpu": f"{limits.cpu_s}:{limits.cpu_s + 1}",
        "fsize": str(limits.file_mb * MIB),
        "nofile": str(limits.open_files),
        "core": "0",
    }
    return [
        *(str(engine), "run", "--detach", "--rm", "--read-only", "--no-healthcheck", *own),
        *(f"--{option}={value}" for option, value in options.items()),
        *(f"--ulimit={limit}={value}" for limit, value in ulimits.items()),
        *(f"--env={variable}={value}" for variable, value in ENVIRONMENT.items()),
        *(f"--tmpfs=/work:{work}", f"--tmpfs=/tmp:{tmpfs},mode=1777", *mounts),
        *(image, "--norc", "--noprofile", "-c", KEEPER),
    ]


def exec_command(
    engine: Path, name: str, script: str, *arguments: str, stdin: bool = False, workdir: str = "/work"
) -> list[str]:
    """The command line that runs a bash script in the container, as the candidate's user."""
    options = ["--interactive"] if stdin else []
    options += [f"--user={UID_INSIDE}:{UID_INSIDE}", f"--workdir={workdir}"]
    shell = ["bash", "--norc", "--noprofile", "-c", script, "bash", *arguments]
    return [str(engine), "exec", *options, name, *shell]


def mount_option(place: str, folder: Path) -> str:
    """What shows a folder of the host in a container, read-only. What is mounted below it stays outside.

    Errors: RlshError where its name cannot be said to an engine.
    """
    if set(str(folder)) & set(',"\n'):
        raise RlshError(f"tools: {folder} has a comma, quote or newline in its name, which no engine takes: rename it")
    return f"--mount=type=bind,source={folder},target={place},readonly,bind-nonrecursive"


def candidate_command(engine: Path, name: str, command: str, limits: Limits, path: str) -> list[str]:
    """The command line that runs a candidate's command, with nothing but the allow-list in its environment."""
    variables = [f"{variable}={value}" for variable, value in (ENVIRONMENT | {"PATH": path}).items()]
    return exec_command(engine, name, COMMAND, str(limits.memory_mb * 1024), command, *variables)


def engine_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What the engine needs of our environment; the rest may be secret."""
    return {name: environment[name] for name in PASSED_ON if name in environment}


def first_line(text: bytes) -> str:
    return next((line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()), "no message")


def fault(argv: Sequence[str], why: str, stderr: bytes, image: str) -> SandboxError:
    """An engine's failure as an error that names the way out."""
    name, said = Path(argv[0]).name, stderr.decode(errors="replace")
    if re.search(r"no such image|image not known|unable to find image", said, re.IGNORECASE):
        return SandboxError(f"the image {image} is not on this machine: {name} pull {image}")
    way_out = f"see whether this works: {name} run --rm {image} true"
    return SandboxError(f"{name} {argv[1]} failed ({why}): {first_line(stderr)}; {way_out}")


def check_bounds(printed: bytes) -> None:
    """Compare what the container's cgroup says with what was asked. Errors: SandboxError if there is no bound."""
    if not re.fullmatch(rb"\d+\n\d+\n", printed):
        raise SandboxError(
            f"the engine does not bound processes and memory (pids.max, memory.max: {printed.split()}): "
            "it needs cgroup v2, rootless with the controllers pids and memory delegated to the user"
        )


def abandoned(listing: str) -> list[str]:
    """Of the containers that `ps` lists by name, those whose trainer is gone. Other lines are skipped."""
    matches = [re.fullmatch(r"rlsh-([1-9]\d{0,9})-[0-9a-f]+", line.strip()) for line in listing.splitlines()]
    return [match[0] for match in matches if match and not runs(int(match[1]))]


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True


# --- a tree as a tar archive -----------------------------------------------------------------------------------


def components(path: str) -> tuple[str, ...]:
    """The parts of a path inside the workspace. Errors: WorkspaceError."""
    try:
        return tuple(split_path(path))
    except Refused as error:
        raise WorkspaceError(str(error)) from None


def encode_tree(files: Tree, limits: Limits) -> bytes:
    """An archive of `files` and the directories they imply. Errors: WorkspaceError where they cannot be held."""
    nodes: dict[tuple[str, ...], Entry] = {}
    for parts, path in sorted((components(path), path) for path in files):
        for depth in range(1, len(parts)):
            if nodes.setdefault(parts[:depth], Entry(mode=0o755, kind="dir")).kind != "dir":
                raise WorkspaceError(f"{path!r} leads through something that is not a directory")
        if parts in nodes:
            raise WorkspaceError(f"{path!r} is there twice")
        if files[path].kind == "link" and (b"\0" in files[path].content or not files[path].content):
            raise WorkspaceError(f"{path!r} cannot be a link to {files[path].content!r}")
        check_size(path, files[path].content, limits)
        nodes[parts] = files[path]
    # The workspace's own directory is a node, too.
    if len(nodes) >= limits.inodes or sum(len(node.content) for node in nodes.values()) > limits.workspace_mb * MIB:
        raise WorkspaceError("the files do not fit, see workspace_mb and inodes in their Limits")
    data = io.BytesIO()
    types = {"file": tarfile.REGTYPE, "dir": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8") as archive:
        for parts, node in nodes.items():
            info = tarfile.TarInfo("/".join(parts))
            info.type, info.mode, info.mtime = types[node.kind], node.mode, FIXTURE_NS // 10**9
            if node.kind == "link":
                info.linkname = node.content.decode("utf-8", "surrogateescape")
            if node.kind == "file":
                info.size = len(node.content)
            archive.addfile(info, io.BytesIO(node.content))
    return data.getvalue()


def check_size(path: str, content: bytes, limits: Limits) -> None:
    """Errors: WorkspaceError where a file would be larger than one may be."""
    if len(content) > limits.file_mb * MIB:
        raise WorkspaceError(f"{path!r} would have {len(content)} bytes; a file may have {limits.file_mb * MIB}")


def decode_tree(data: bytes, limits: Limits) -> dict[str, Entry]:
    """Files, directories and links of an archive, by path. Fifos and devices are left out, as sockets are by tar.

    Errors: WorkspaceError for anything else, for a name outside, and where the files exceed the workspace.
    """
    kinds: dict[bytes, EntryKind] = {tarfile.REGTYPE: "file", tarfile.DIRTYPE: "dir", tarfile.SYMTYPE: "link"}
    left, tree = limits.workspace_mb * MIB, {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", encoding="utf-8") as archive:
            for info in archive:
                if info.type in (tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE) or info.name == ".":
                    continue
                if info.type not in kinds or info.issparse():
                    raise WorkspaceError(f"{info.name!r} is of type {info.type!r}: nothing exported")
                kind, content = kinds[info.type], b""
                if kind == "link":
                    content = info.linkname.encode("utf-8", "surrogateescape")
                elif kind == "file":
                    left -= info.size  # sparse files make a tree larger than the tmpfs it lies on
                    file = archive.extractfile(info) if left >= 0 else None
                    if file is None:
                        raise too_large(limits)
                    content = file.read()
                tree["/".join(components(info.name))] = Entry(content, info.mode & 0o7777, kind)
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise WorkspaceError(f"the workspace's archive cannot be read: {error}") from error
    return dict(sorted(tree.items()))


def too_large(limits: Limits) -> WorkspaceError:
    return WorkspaceError(f"the workspace holds more than {limits.workspace_mb * MIB} bytes: nothing exported")


def regular_file(tree: Tree, path: str, missing: bool) -> bytes:
    """The content of the file at `path` in a tree that holds every node on the way to it.

    `missing` says that something on that way does not exist. Errors: WorkspaceError, WorkspaceFileNotFoundError.
    """
    parts = components(path)
    *parents, node = (tree.get("/".join(parts[:depth])) for depth in range(1, len(parts) + 1))
    if any(parent is not None and parent.kind != "dir" for parent in parents):
        raise WorkspaceError(f"{path!r} leads through something that is not a directory (links are not followed)")
    if node is None and missing:
        raise WorkspaceFileNotFoundError(f"{path!r} does not exist in the workspace")
    if node is None or node.kind != "file":
        raise WorkspaceError(f"{path!r} is not a regular file that can be read")
    return node.content


# --- the engine at work ----------------------------------------------------------------------------------------


class Sink(Protocol):
    """Where a stream goes. One that is flooded gets no more."""

    @property
    def flooded(self) -> bool: ...
    def feed(self, chunk: bytes) -> None: ...


class Whole:
    """A stream as it is, unless it has more than `cap` bytes."""

    def __init__(self, cap: int) -> None:
        self.cap, self.data = cap, bytearray()

    @property
    def flooded(self) -> bool:
        return len(self.data) > self.cap

    def feed(self, chunk: bytes) -> None:
        self.data += chunk[: self.cap + 1 - len(self.data)]

    def value(self) -> bytes:
        return bytes(self.data)


class AfterStart:
    """Hands on what follows the first NUL: what comes before are the engine's own words."""

    def __init__(self, sink: Sink) -> None:
        self.sink, self.words, self.started = sink, Whole(CHUNK), False

    @property
    def flooded(self) -> bool:
        return self.sink.flooded or self.words.flooded

    def feed(self, chunk: bytes) -> None:
        if not self.started:
            words, mark, chunk = chunk.partition(STARTED)
            self.words.feed(words)
            self.started = bool(mark)
        self.sink.feed(chunk)


def converse(argv: Sequence[str | bytes], stdin: bytes, out: Sink, err: Sink, wall_s: float) -> tuple[int, str]:
    """Run an engine's client to its end, "exit", or kill it: "timeout", "flood". Its exit code, and that word.

    Errors: SandboxError where it cannot be started.
    """
    deadline = time.monotonic() + wall_s
    pipe, environment = subprocess.PIPE, engine_environment(os.environ)
    try:
        client = subprocess.Popen(
            argv, stdin=pipe if stdin else subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environment,
            start_new_session=True,  # Ctrl-C is the trainer's business
        )  # fmt: skip
    except OSError as error:
        raise SandboxError(f"{os.fsdecode(argv[0])} cannot be started: {error.strerror}") from error
    with client, selectors.DefaultSelector() as selector:
        try:
            assert client.stdout is not None and client.stderr is not None
            sinks = {client.stdout.fileno(): out, client.stderr.fileno(): err}
            for fd in sinks:
                selector.register(fd, selectors.EVENT_READ)
            if client.stdin is not None:
                os.set_blocking(client.stdin.fileno(), False)
                selector.register(client.stdin, selectors.EVENT_WRITE)
            unsent = memoryview(stdin)
            while selector.get_map():
                left = deadline - time.monotonic()
                if left <= 0:
                    return KILLED, "timeout"
                for key, _ in selector.select(left):
                    if key.fileobj is client.stdin:
                        with contextlib.suppress(BrokenPipeError):  # why it stopped reading is on stderr
                            unsent = unsent[os.write(key.fd, unsent[:CHUNK]) :]
                            if unsent:
                                continue
                        selector.unregister(key.fileobj)
                        client.stdin.close()
                    elif chunk := os.read(key.fd, CHUNK):
                        sinks[key.fd].feed(chunk)
                        if sinks[key.fd].flooded:
                            return KILLED, "flood"
                    else:
                        selector.unregister(key.fileobj)
            return client.wait(max(0.0, deadline - time.monotonic())), "exit"
        except subprocess.TimeoutExpired:
            return KILLED, "timeout"
        finally:
            client.kill()  # nothing to a client that has ended


def call(argv: Sequence[str], image: str) -> str:
    """What an engine's command prints. Errors: SandboxError if it fails."""
    out, err = Whole(1 << 20), Whole(CHUNK)
    code, ended = converse(argv, b"", out, err, GRACE_S)
    if (code, ended) != (0, "exit"):
        raise fault(argv, f"exit code {code}" if ended == "exit" else ended, err.value(), image)
    return out.value().decode(errors="replace")


def find_engine() -> Path:
    """The podman, or else the docker, that answers. Errors: SandboxError."""
    seen = []
    for name in ("podman", "docker"):
        path = shutil.which(name)
        try:
            if path is None:
                raise SandboxError(f"no {name} on PATH")
            call([path, "version"], IMAGE)
            return Path(path)
        except SandboxError as error:
            seen.append(str(error).partition(";")[0])
    advice = "apt install podman"
    if sys.platform == "darwin":
        advice = "podman machine init, then podman machine start; or start Docker Desktop"
    raise SandboxError(f"no container engine answers ({'; '.join(seen)}): {advice}")


class ContainerWorkspace(Closing):
    """A tree in one container's `/work`, and that container. It lives until `close`."""

    def __init__(self, engine: Path, image: str, limits: Limits, tools: Mapping[str, Path]) -> None:
        self.name = f"rlsh-{os.getpid()}-{secrets.token_hex(8)}"
        self._engine, self._image, self._limits = engine, image, limits
        self._mounts, self._path = [mount_option(*tool) for tool in tools.items()], search_path(tools)
        self._ran = False  # something of the candidate's
        self.removed = False
        self._lock = threading.RLock()

    def start(self, archive: bytes) -> None:
        """Start the container and unpack the files in it. Errors: SandboxError, WorkspaceError."""
        call(run_command(self._engine, self.name, self._image, self._limits, self._mounts), self._image)
        code, printed, stderr = self._ask(FILL, stdin=archive)
        check_bounds(printed)
        if code == 2:  # tar's word for what it cannot unpack
            raise WorkspaceError(f"the files cannot be laid out: {first_line(stderr)}")
        if code != 0:
            raise fault([str(self._engine), "exec"], f"exit code {code}", stderr, self._image)

    def _ask(
        self, script: str, *arguments: str, stdin: bytes = b"", workdir: str = "/work"
    ) -> tuple[int, bytes, bytes]:
        """Run a script of ours: exit code, stdout, stderr. Errors: WorkspaceError, SandboxError."""
        marked = f"printf '\\0' >&2; {script}"
        argv = exec_command(self._engine, self.name, marked, *arguments, stdin=bool(stdin), workdir=workdir)
        words = Whole(CHUNK)
        out, err = Whole(self._limits.workspace_mb * MIB + self._limits.inodes * TAR_BYTES + CHUNK), AfterStart(words)
        with self._lock:
            code, ended = converse(argv, stdin, out, err, GRACE_S)
        if ended == "flood":
            raise too_large(self._limits)
        if ended == "timeout" or not err.started:
            raise self._blame(argv, f"exit code {code}" if ended == "exit" else ended, err.words.value())
        return code, out.value(), words.value()

    def _blame(self, argv: Sequence[str], why: str, said: bytes) -> SandboxError | WorkspaceError:
        """Whose fault it is that the container does not do as told."""
        if self._ran:
            with contextlib.suppress(SandboxError):
                call([str(self._engine), "version"], self._image)
                return WorkspaceError("the container does not answer since the candidate's command ran in it")
        return fault(argv, why, said, self._image)

    def exec(self, command: str) -> ExecResult:
        """Run `bash -c command`, then end all it started and empty `/tmp`. Errors: SandboxError, the host's only."""
        script = command.encode("utf-8", "surrogatepass")
        if why := unfit(script):
            return ExecResult(b"", why, 126)
        stdout, stderr = (Capture(self._limits.output_bytes) for _ in range(2))
        argv = candidate_command(self._engine, self.name, command, self._limits, self._path)
        err = AfterStart(stderr)
        with self._lock:
            try:
                code, ended = converse(argv, b"", stdout, err, self._limits.wall_s)
                if not err.started:
                    raise self._blame(argv, f"exit code {code}", err.words.value())
                self._ran = True
                left_over, _, _ = self._ask(SWEEP, workdir="/")
                if left_over:
                    raise WorkspaceError("the command left something that cannot be removed")
            except WorkspaceError:  # it made the container unusable: nothing of it may outlive the command
                self.close()
                code, ended = KILLED, "lost"
        return ExecResult(stdout.value(), stderr.value(), code, ended == "timeout")

    def _look_up(self, path: str) -> bytes:
        parts = components(path)
        members = ["./" + "/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        _, data, stderr = self._ask(f'{PACK} --no-recursion -- "$@"', *members)
        return regular_file(decode_tree(data, self._limits), path, b"No such file or directory" in stderr)

    def read(self, path: str) -> bytes:
        """The content of a regular file. Errors: WorkspaceError, WorkspaceFileNotFoundError, SandboxError."""
        return self._look_up(path)

    def write(self, path: str, content: bytes) -> None:
        """Replace a regular file's content (owner and mode stay) or make the file. Errors: as `read`."""
        check_size(path, content, self._limits)
        with self._lock:
            with contextlib.suppress(WorkspaceFileNotFoundError):
                self._look_up(path)
            code, _, stderr = self._ask(WRITE, "./" + "/".join(components(path)), stdin=content)
        if b"No such file or directory" in stderr:
            raise WorkspaceFileNotFoundError(f"{path!r} does not exist in the workspace")
        if code != 0:
            raise WorkspaceError(f"{path!r} cannot be written: {first_line(stderr)}")

    def export(self) -> Tree:
        """Files, directories and links, by path. Errors: WorkspaceError where they are too large or unreadable."""
        code, data, stderr = self._ask(f"{PACK} .")
        if code != 0:
            raise WorkspaceError(f"the workspace cannot be exported: {first_line(stderr)}")
        return decode_tree(data, self._limits)

    def close(self) -> None:
        """Only the first call says anything to the engine."""
        if self.removed:
            return
        self.removed = True
        with contextlib.suppress(SandboxError):  # there is none, or its engine is gone: the next start removes it
            call([str(self._engine), "rm", "--force", self.name], self._image)


class ContainerSandbox(Closing):
    """A source of containers. Its start removes those that killed trainers on this machine have left."""

    def __init__(self, engine: Path, image: str = IMAGE, tools: Sequence[Path] = ()) -> None:
        """Raises RlshError where one of `tools` may not be offered."""
        self._engine, self._image = engine, image
        self.tools, self._offered = tuple(tools), offered(tools)
        self._lock = threading.Lock()
        self._workspaces: list[ContainerWorkspace] = []
        self._closed = False
        filters = ["--all", f"--filter=label=rlsh={socket.gethostname()}", "--format={{.Names}}"]
        for name in abandoned(call([str(engine), "ps", *filters], image)):
            with contextlib.suppress(SandboxError):  # another trainer that starts now was faster
                call([str(engine), "rm", "--force", name], image)

    def open(self, files: Tree, limits: Limits) -> ContainerWorkspace:
        """A workspace holding `files`, all of them dated 2026-01-01.

        Errors: WorkspaceError where `files` names a place outside or exceeds `limits`; SandboxError.
        """
        archive = encode_tree(files, limits)
        workspace = ContainerWorkspace(self._engine, self._image, limits, self._offered)
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed: open a new one")
            self._workspaces = [*(w for w in self._workspaces if not w.removed), workspace]
        try:
            workspace.start(archive)
        except BaseException:
            workspace.close()
            raise
        return workspace

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for workspace in self._workspaces:
                workspace.close()
