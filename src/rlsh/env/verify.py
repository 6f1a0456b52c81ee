"""The verdict: the answer is run again, in a fresh sandbox, on fixtures that the policy never saw."""

from __future__ import annotations

from collections.abc import Sequence

from rlsh.sandbox.base import ExecResult, Limits, Sandbox, SandboxError
from rlsh.tasks.task import Hidden, Task
from rlsh.types import Message, RlshError, StopReason, Tree, Verdict


def final_command(messages: Sequence[Message]) -> str | None:
    """The last `exec` before the final message, verbatim: that is the answer."""
    commands = [m.call.arguments["command"] for m in messages if m.call is not None and m.call.name == "exec"]
    return commands[-1] if commands else None


def verify(task: Task, messages: Sequence[Message], stop: StopReason, sandbox: Sandbox, limits: Limits) -> Verdict:
    """Reward 1 if the answer does on the hidden fixtures what the reference did there, else 0 with reasons."""
    if stop is StopReason.INFRA:
        return Verdict(0.0, ("the sandbox failed",), infra=True)
    if stop is not StopReason.FINAL:
        return Verdict(0.0, (f"no final message: the {stop} budget was spent",))
    command = final_command(messages)
    if command is None:
        return Verdict(0.0, ("no command was run",))
    return verify_command(task, command, sandbox, limits)


def verify_command(task: Task, command: str, sandbox: Sandbox, limits: Limits) -> Verdict:
    """Runs `command` on the hidden fixtures. `infra` where the host failed; what the command did to itself is 0.

    Raises RlshError where the task's own files do not fit into a workspace.
    """
    try:
        workspace = sandbox.open(task.hidden.files, limits)
    except SandboxError as error:
        return Verdict(0.0, (f"the sandbox failed: {error}",), infra=True)
    with workspace:
        try:
            result = workspace.exec(command)
            tree = workspace.export()
        except SandboxError as error:
            return Verdict(0.0, (f"the sandbox failed: {error}",), infra=True)
        except RlshError as error:  # what it left behind cannot be read: more than fits, say
            return Verdict(0.0, (str(error),))
    reasons = differences(task, task.hidden, result, tree)
    return Verdict(0.0 if reasons else 1.0, reasons)


def differences(task: Task, expected: Hidden, result: ExecResult, tree: Tree) -> tuple[str, ...]:
    """What is wrong, for people to read: it never reaches the policy."""
    if result.timed_out:
        return ("timed out on the hidden fixtures",)
    reasons = []
    if result.exit_code != expected.exit_code:
        reasons.append(f"exit code {result.exit_code}, expected {expected.exit_code}")
    if "stdout" in task.checks and result.stdout != expected.stdout:
        reasons.append("stdout differs")
    if "tree" in task.checks and dict(tree) != dict(expected.tree):
        names = sorted(p for p in {*tree, *expected.tree} if tree.get(p) != expected.tree.get(p))
        reasons.append(f"tree differs at {', '.join(names[:3])}{' …' if len(names) > 3 else ''}")
    return tuple(reasons)
