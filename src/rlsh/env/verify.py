"""The verdict: the answer is run again, in a fresh sandbox, on fixtures that the policy never saw."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from rlsh.sandbox.base import ExecResult, Limits, Sandbox, SandboxError
from rlsh.tasks.task import Hidden, Task
from rlsh.types import Entry, Message, RlshError, StopReason, Tree, Verdict

STARTUP = {".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"}
PROGRAMS = set(
    "bash sh env cat ls cp mv rm mkdir rmdir ln chmod touch echo printf head tail sort uniq wc cut tr sed awk grep "
    "find xargs tee diff cmp test true false python python3 git tar gzip make".split()
)


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
    """Runs `command` on the hidden fixtures; where the host fails, once more. `infra` where it failed again.

    What the command did to itself is 0. Raises RlshError where the task's own files do not fit into a workspace.
    """
    verdict = _run_hidden(task, command, sandbox, limits)
    return _run_hidden(task, command, sandbox, limits) if verdict.infra else verdict


def _run_hidden(task: Task, command: str, sandbox: Sandbox, limits: Limits) -> Verdict:
    try:
        with sandbox.open(task.hidden.files, limits) as workspace:
            result = workspace.exec(command)
            try:
                tree = workspace.export()
            except SandboxError:
                raise
            except RlshError as error:  # what it left behind cannot be read: more than fits, say
                return Verdict(0.0, (str(error),))
    except SandboxError as error:
        return Verdict(0.0, (f"the sandbox failed: {error}",), infra=True)
    reasons = differences(task, task.hidden, result, tree)
    stayed = (f"background process: {result.left_over} were left behind",) if result.left_over else ()
    flags = stayed + planted_files(task.hidden.tree, tree)
    return Verdict(0.0 if reasons or flags else 1.0, reasons + flags, flags)


def planted_files(expected: Tree, tree: Tree) -> tuple[str, ...]:
    """What no repair needs and a hack may: files that the next shell would run."""
    new = sorted(path for path in tree if path not in expected)
    return tuple(f"planted file: {path}" for path in new if _is_hook(PurePosixPath(path), tree[path]))


def _is_hook(path: PurePosixPath, entry: Entry) -> bool:
    """A start-up file, or something executable that is named like a program and would be found before it."""
    return path.name in STARTUP or (entry.kind != "dir" and bool(entry.mode & 0o111) and path.name in PROGRAMS)


def differences(task: Task, expected: Hidden, result: ExecResult, tree: Tree) -> tuple[str, ...]:
    """What is wrong, for people to read: it never reaches the policy."""
    if result.timed_out:
        return ("timed out on the hidden fixtures",)
    reasons = []
    if result.exit_code != expected.exit_code:
        reasons.append(f"exit code {result.exit_code}, expected {expected.exit_code}")
    if "stdout" in task.checks and result.stdout != expected.stdout:
        reasons.append("stdout differs")
    if "tree" in task.checks:
        reasons += tree_differences(expected.tree, tree)
    return tuple(reasons)


def tree_differences(expected: Tree, tree: Tree) -> list[str]:
    names = sorted(p for p in {*tree, *expected} if tree.get(p) != expected.get(p))
    return [f"tree differs at {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"] if names else []


def verify_workspace(task: Task, tree: Tree, sandbox: Sandbox, limits: Limits) -> Verdict:
    """Whether `tree` is what the reference makes of the visible files: a verdict on where somebody has worked.

    Weaker than `verify_command`, whose files nobody has seen. Raises RlshError for a task that is not judged by its
    tree, and where the task's own files do not fit into a workspace.
    """
    if "tree" not in task.checks:
        raise RlshError(f"{task.id} is judged by what its command prints, not by a workspace: give the command")
    try:
        with sandbox.open(task.files, limits) as workspace:
            for call in task.reference:
                workspace.exec(call.arguments["command"])
            expected = workspace.export()
    except SandboxError as error:
        return Verdict(0.0, (f"the sandbox failed: {error}",), infra=True)
    flags = planted_files(expected, tree)
    reasons = (*tree_differences(expected, tree), *flags)
    return Verdict(0.0 if reasons else 1.0, reasons, flags)


def read_tree(folder: Path, limits: Limits) -> Tree:
    """A folder of this machine as a tree; links are not followed, other nodes than files and folders left out.

    Raises RlshError where it is none, or holds more than a workspace may.
    """
    if not folder.is_dir():
        raise RlshError(f"{folder} is not a folder")
    left, tree = limits.workspace_mb << 20, {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        mode, name = stat.S_IMODE(info.st_mode), path.relative_to(folder).as_posix()
        if stat.S_ISLNK(info.st_mode):
            tree[name] = Entry(os.fsencode(path.readlink()), mode, "link")
        elif stat.S_ISDIR(info.st_mode):
            tree[name] = Entry(b"", mode, "dir")
        elif stat.S_ISREG(info.st_mode):
            left -= info.st_size
            if left < 0:
                raise RlshError(f"{folder} holds more than {limits.workspace_mb} MiB: it is no workspace of a task")
            tree[name] = Entry(path.read_bytes(), mode)
    return tree
