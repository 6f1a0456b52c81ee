"""Where a policy's commands run: `open_sandbox()` gives a Sandbox, or says why this machine has none."""

from rlsh.sandbox.base import (
    ExecResult,
    Limits,
    Sandbox,
    SandboxError,
    Workspace,
    WorkspaceError,
    WorkspaceFileNotFoundError,
)
from rlsh.sandbox.probe import Rung, open_sandbox

__all__ = [
    "ExecResult",
    "Limits",
    "Rung",
    "Sandbox",
    "SandboxError",
    "Workspace",
    "WorkspaceError",
    "WorkspaceFileNotFoundError",
    "open_sandbox",
]
