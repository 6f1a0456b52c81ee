"""The tree of a workspace, whose every node a candidate may have made: no link is ever followed."""

# Nearly every call here goes by directory descriptor, which pathlib does not know.
# ruff: noqa: PTH102, PTH123, PTH208

from __future__ import annotations

import base64
import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import Any

from rlsh.sandbox.worker.kernel import mount_tmpfs

FIXTURE_NS = 1_767_225_600 * 10**9  # 2026-01-01 UTC: `ls -l` prints the same in every episode
MIB = 1 << 20
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
REGULAR = os.O_NOFOLLOW | os.O_NONBLOCK  # O_NONBLOCK: opening a fifo must not wait for its other end


def encode(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


class Refused(Exception):
    """A request that cannot be met and is not the host's fault."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


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
                    os.mkdir(part, dir_fd=fd)
                    os.chmod(part, 0o755, dir_fd=fd)  # whatever our umask is
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


class WorkTree:
    """What lies below `root`. New nodes are given to `owner`, or left to us where that is -1."""

    def __init__(self, root: str, owner: int, limits: dict[str, Any]) -> None:
        self.root, self.owner, self.limits = root, owner, limits

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
                os.fchmod(fd, 0o644)
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


class Workspace(WorkTree):
    """One tmpfs. The root directory itself is the harness's: its mode is put back before every command."""

    def __init__(self, root: str, owner: int, limits: dict[str, Any]) -> None:
        super().__init__(root, owner, limits)
        os.mkdir(root, 0o711)
        size, inodes = limits["workspace_mb"], limits["inodes"]
        mount_tmpfs(root, f"size={size}m,nr_inodes={inodes},mode=755,uid={owner},gid={owner}")
