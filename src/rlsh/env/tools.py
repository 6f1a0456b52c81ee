"""The tools of the policy, run in a workspace, answered in a dialect."""

from __future__ import annotations

from rlsh.env.patch import PatchError, apply_patch
from rlsh.sandbox.base import Limits, SandboxError, Workspace
from rlsh.text.dialect import Dialect, edit_observation, exec_observation
from rlsh.types import RlshError, ToolCall


def run_tool(call: ToolCall, workspace: Workspace, *, dialect: Dialect, limits: Limits, observation_chars: int) -> str:
    """What the policy reads after `call`. Raises SandboxError only where the host failed."""
    if call.name == "exec":
        result = workspace.exec(call.arguments["command"])
        timeout = limits.wall_s if result.timed_out else None
        return exec_observation(dialect, result.stdout, result.stderr, result.exit_code, timeout, observation_chars)
    path = call.arguments["file_path"]
    return edit_observation(dialect, path, _edit(workspace, path, call.arguments["edit_content"]))


def _edit(workspace: Workspace, path: str, diff: str) -> str | None:
    """Applies `diff` to `path`; the reason if it cannot be, and then the file is as it was."""
    try:
        old = workspace.read(path)
        new = apply_patch(old.decode(), diff).encode()
    except UnicodeError:  # the file is binary, or the diff holds lone surrogates
        return f"{path} is not UTF-8 text"
    except PatchError as error:
        return f"{path}: {error}"
    except SandboxError:
        raise
    except RlshError as error:  # a path that leaves the workspace, a missing file
        return str(error)
    try:
        workspace.write(path, new)
    except SandboxError:
        raise
    except RlshError as error:  # a full disk: the file was cut before that was found out
        workspace.write(path, old)
        return str(error)
    return None
