"""What a sandbox is to the rest of rlsh: a place that holds a small tree and runs commands in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

from rlsh.types import RlshError, Tree

Kind = Literal["warm", "cold"]  # how a worker on this machine starts a command
Backend = Literal[Kind, "container"]  # in the order in which they are tried


@dataclass(frozen=True)
class Limits:
    """Budgets of one command (and of the workspace it runs in)."""

    wall_s: float = 5.0  # then the whole pid namespace is killed
    cpu_s: int = 3
    memory_mb: int = 256  # address space per process
    tree_memory_mb: int = 512  # in use by all processes of a command
    processes: int = 32
    open_files: int = 64
    file_mb: int = 4  # largest single file
    workspace_mb: int = 8  # size of the workspace's tmpfs
    inodes: int = 512
    output_bytes: int = 16_384  # per stream; head and tail are kept


@dataclass(frozen=True)
class ExecResult:
    """Raw outcome of one command. `exit_code` is 128 + signal where a signal ended it."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    timed_out: bool = False
    left_over: int = 0  # processes that were still there when the command had ended, and were killed


class SandboxError(RlshError):
    """The *host* failed (worker died, mount refused …), before or apart from anything the candidate did."""


class WorkspaceError(RlshError):
    """A path or content the workspace cannot hold or give: the caller's or the candidate's fault."""


class WorkspaceFileNotFoundError(WorkspaceError, FileNotFoundError):
    """There is nothing at that path."""


class Closing(ABC):
    """What is closed when a `with` is left."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Workspace(Protocol):
    """A private tree. Every `exec` is a fresh sandbox over it: no process outlives its command."""

    def exec(self, command: str) -> ExecResult: ...
    def read(self, path: str) -> bytes: ...
    def write(self, path: str, content: bytes) -> None: ...
    def export(self) -> Tree: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Sandbox(Protocol):
    """A source of workspaces. Thread-safe."""

    tools: tuple[Path, ...]  # folders of the host whose programs candidates find last on their PATH

    def open(self, files: Tree, limits: Limits) -> Workspace: ...
    def close(self) -> None: ...
