"""The verdict: what a task's checks say of an answer. A shell answer is run again, on files nobody has seen."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from rlsh.env.python_check import run_python_check
from rlsh.env.tools import run_tool
from rlsh.sandbox.base import ExecResult, Limits, Sandbox, SandboxError, Workspace, WorkspaceError
from rlsh.tasks.checks import Check, PythonCheck, ShellCheck, WorkspaceCheck
from rlsh.tasks.task import Task
from rlsh.types import Entry, RlshError, StopReason, ToolCall, Tree, Verdict

STARTUP = {".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"}
PROGRAMS = set(
    "bash sh env cat ls cp mv rm mkdir rmdir ln chmod touch echo printf head tail sort uniq wc cut tr sed awk grep "
    "find xargs tee diff cmp test true false python python3 git tar gzip make".split()
)


@dataclass(frozen=True)
class Answer:
    """What is judged: the last command (None: there was none), and the workspace in the end.

    `tree` is None where no check reads it and where it cannot be read; then `fault` says why.
    """

    command: str | None
    tree: Tree | None = None
    fault: str = ""


def reads_tree(check: Check) -> bool:
    """Whether it judges the workspace, not the last command."""
    return not isinstance(check, ShellCheck) or bool(check.script)


def answer_in(workspace: Workspace | None, task: Task, calls: Sequence[ToolCall]) -> Answer:
    """The answer that `calls`, made in `workspace`, have left: the last `exec`, verbatim, and the files.

    Without a workspace the files are the task's. Raises SandboxError where the host fails.
    """
    commands = [call.arguments["command"] for call in calls if call.name == "exec"]
    command = commands[-1] if commands else None
    if not any(map(reads_tree, task.checks)):
        return Answer(command)
    try:
        return Answer(command, task.files if workspace is None else workspace.export())
    except WorkspaceError as error:  # more than may be exported, say
        return Answer(command, None, str(error))


def answer_of(task: Task, calls: Sequence[ToolCall], sandbox: Sandbox, limits: Limits) -> Answer:
    """The answer that these calls make in a workspace of the task. Raises SandboxError where the host fails."""
    if not any(map(reads_tree, task.checks)):
        return answer_in(None, task, calls)  # the last of them will be run on other files
    with sandbox.open(task.files, limits) as workspace:
        for call in calls:
            run_tool(call, workspace, dialect="rlsh", limits=limits, observation_chars=0)
        return answer_in(workspace, task, calls)


def verify(task: Task, stop: StopReason, answer: Answer, sandbox: Sandbox, limits: Limits) -> Verdict:
    """What an episode earned that ended by `stop` and left `answer`: see `verify_answer`."""
    if stop is StopReason.INFRA:
        return Verdict(0.0, ("the sandbox failed",), infra=True)
    if stop is not StopReason.FINAL:
        return Verdict(0.0, (f"no final message: the {stop} budget was spent",))
    return verify_answer(task, answer, sandbox, limits)


def verify_answer(task: Task, answer: Answer, sandbox: Sandbox, limits: Limits) -> Verdict:
    """Reward 1 if every check of the task passes, else 0 with the reasons of the first that does not.

    Where the host fails, that check is made once more; `infra` where it failed again. What the answer did to itself
    is 0. Raises RlshError where the task's own files do not fit into a workspace.
    """
    verdict = Verdict(0.0)
    for check in task.checks:
        verdict = judge(check, answer, sandbox, limits)
        if verdict.infra:
            verdict = judge(check, answer, sandbox, limits)
        if verdict.reward != 1.0:
            break
    return verdict


def verify_calls(task: Task, calls: Sequence[ToolCall], sandbox: Sandbox, limits: Limits) -> Verdict:
    """The verdict on what these calls do. Errors: as `verify_answer`."""
    try:
        answer = answer_of(task, calls, sandbox, limits)
    except SandboxError as error:
        return host_fault(error)
    return verify_answer(task, answer, sandbox, limits)


def verify_command(task: Task, command: str, sandbox: Sandbox, limits: Limits) -> Verdict:
    """The verdict on one command. Errors: as `verify_answer`."""
    return verify_calls(task, [ToolCall("exec", {"command": command})], sandbox, limits)


def judge(check: Check, answer: Answer, sandbox: Sandbox, limits: Limits) -> Verdict:
    """One check of one answer; `infra` where the host failed."""
    if reads_tree(check) and answer.tree is None:
        return Verdict(0.0, (answer.fault or "there is no workspace to judge",))
    try:
        match check:
            case PythonCheck():
                return run_python_check(check, answer.tree or {}, sandbox, limits)
            case WorkspaceCheck():
                return judge_tree(check.tree, answer.tree or {})
            case ShellCheck():
                return judge_shell(check, answer, sandbox, limits)
    except SandboxError as error:
        return host_fault(error)


def host_fault(error: SandboxError) -> Verdict:
    return Verdict(0.0, (f"the sandbox failed: {error}",), infra=True)


def judge_shell(check: ShellCheck, answer: Answer, sandbox: Sandbox, limits: Limits) -> Verdict:
    try:
        result, tree = run_hidden(check, answer, sandbox, limits)
    except UnfitAnswerError as error:
        return Verdict(0.0, (str(error),))
    reasons = differences(check, result, tree)
    stayed = (f"background process: {result.left_over} were left behind",) if result.left_over else ()
    flags = stayed + planted_files(check.tree, tree)
    return Verdict(0.0 if reasons or flags else 1.0, reasons + flags, flags)


class UnfitAnswerError(RlshError):
    """There is nothing to run, or what it left cannot be read."""


def run_hidden(check: ShellCheck, answer: Answer, sandbox: Sandbox, limits: Limits) -> tuple[ExecResult, Tree]:
    """What the answer does on the check's files: the command's outcome and the tree, the script itself left out.

    Raises UnfitAnswerError, and SandboxError where the host fails.
    """
    files, command = dict(check.files), answer.command
    if check.script:
        script = (answer.tree or {}).get(check.script)
        if script is None or script.kind != "file":
            raise UnfitAnswerError(f"{check.script} is {'missing' if script is None else f'a {script.kind}'}")
        files[check.script], command = script, check.run
    if command is None:
        raise UnfitAnswerError("no command was run")
    with sandbox.open(files, limits) as workspace:
        result = workspace.exec(command)
        try:
            tree = dict(workspace.export())
        except WorkspaceError as error:
            raise UnfitAnswerError(str(error)) from None
    tree.pop(check.script, None)
    return result, tree


def planted_files(expected: Tree, tree: Tree) -> tuple[str, ...]:
    """What no repair needs and a hack may: files that the next shell would run."""
    new = sorted(path for path in tree if path not in expected)
    return tuple(f"planted file: {path}" for path in new if _is_hook(PurePosixPath(path), tree[path]))


def _is_hook(path: PurePosixPath, entry: Entry) -> bool:
    """A start-up file, or something executable that is named like a program and would be found before it."""
    return path.name in STARTUP or (entry.kind != "dir" and bool(entry.mode & 0o111) and path.name in PROGRAMS)


def differences(check: ShellCheck, result: ExecResult, tree: Tree) -> tuple[str, ...]:
    """What is wrong, for people to read: it never reaches the policy."""
    if result.timed_out:
        return ("timed out on the hidden fixtures",)
    reasons = []
    if result.exit_code != check.exit_code:
        reasons.append(f"exit code {result.exit_code}, expected {check.exit_code}")
    if "stdout" in check.compare and result.stdout != check.stdout:
        reasons.append("stdout differs")
    if "tree" in check.compare:
        reasons += tree_differences(check.tree, tree)
    return tuple(reasons)


def tree_differences(expected: Tree, tree: Tree) -> list[str]:
    names = sorted(p for p in {*tree, *expected} if tree.get(p) != expected.get(p))
    return [f"tree differs at {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"] if names else []


def judge_tree(expected: Tree, tree: Tree) -> Verdict:
    flags = planted_files(expected, tree)
    reasons = (*tree_differences(expected, tree), *flags)
    return Verdict(0.0 if reasons else 1.0, reasons, flags)


def verify_workspace(task: Task, tree: Tree, sandbox: Sandbox, limits: Limits) -> Verdict:
    """The verdict on where somebody has worked.

    A check of a command is made on what the reference makes of the visible files instead: weaker than
    `verify_command`, whose files nobody has seen. Raises RlshError where it compares no tree, and as `verify_answer`.
    """
    checks = []
    for check in task.checks:
        if not reads_tree(check):
            assert isinstance(check, ShellCheck)
            if "tree" not in check.compare:
                raise RlshError(f"{task.id} is judged by what its command prints, not by a workspace: give the command")
            try:
                left = answer_of(replace(task, checks=(WorkspaceCheck(),)), task.reference, sandbox, limits)
            except SandboxError as error:
                return host_fault(error)
            check = WorkspaceCheck(left.tree or {})
        checks.append(check)
    return verify_answer(replace(task, checks=tuple(checks)), Answer(None, tree), sandbox, limits)


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
