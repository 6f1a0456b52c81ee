"""The verdict: what a task's checks say of an answer. A shell answer is run again, on files nobody has seen."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from rlsh.env.python_check import UnfitAnswerError, file_in, run_python_check
from rlsh.env.script_check import run_script_check
from rlsh.env.tools import run_tool
from rlsh.sandbox.base import ExecResult, Limits, Sandbox, SandboxError, Workspace, WorkspaceError
from rlsh.tasks.checks import Check, PythonCheck, ScriptCheck, ShellCheck, WorkspaceCheck
from rlsh.tasks.task import Task
from rlsh.types import Entry, RlshError, StopReason, ToolCall, Tree, Verdict, exec_call

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

    @property
    def left(self) -> Tree:
        """The workspace in the end. Raises UnfitAnswerError where none can be judged."""
        if self.tree is None:
            raise UnfitAnswerError(self.fault or "there is no workspace to judge")
        return self.tree


def judges_workspace(task: Task) -> bool:
    """Whether some check of the task judges what is left in the workspace, not the last command alone."""
    return not all(isinstance(check, ShellCheck) and not check.script for check in task.checks)


def answer_in(workspace: Workspace | None, task: Task, calls: Sequence[ToolCall]) -> Answer:
    """The answer that `calls`, made in `workspace`, have left: the last `exec`, verbatim, and the files.

    Without a workspace the files are the task's. Raises SandboxError where the host fails.
    """
    commands = [call.arguments["command"] for call in calls if call.name == "exec"]
    command = commands[-1] if commands else None
    if not judges_workspace(task):
        return Answer(command)
    try:
        return Answer(command, task.files if workspace is None else workspace.export())
    except WorkspaceError as error:  # more than may be exported, say
        return Answer(command, None, str(error))


def answer_of(task: Task, calls: Sequence[ToolCall], sandbox: Sandbox, limits: Limits) -> Answer:
    """The answer that these calls make in a workspace of the task. Raises SandboxError where the host fails."""
    if not judges_workspace(task):
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
    return verify_calls(task, [exec_call(command)], sandbox, limits)


def judge(check: Check, answer: Answer, sandbox: Sandbox, limits: Limits) -> Verdict:
    """One check of one answer; `infra` where the host failed."""
    try:
        match check:
            case PythonCheck():
                return run_python_check(check, answer.left, sandbox, limits)
            case ScriptCheck():
                return run_script_check(check, answer.left, sandbox, limits)
            case WorkspaceCheck():
                return judge_tree(check.tree, answer.left)
            case ShellCheck():
                return judge_shell(check, answer, sandbox, limits)
    except UnfitAnswerError as error:
        return Verdict(0.0, (str(error),))
    except SandboxError as error:
        return host_fault(error)


def host_fault(error: SandboxError) -> Verdict:
    return Verdict(0.0, (f"the sandbox failed: {error}",), infra=True)


def judge_shell(check: ShellCheck, answer: Answer, sandbox: Sandbox, limits: Limits) -> Verdict:
    result, tree = run_hidden(check, answer, sandbox, limits)
    reasons = differences(check, result, tree)
    stayed = (f"background process: {result.left_over} were left behind",) if result.left_over else ()
    flags = stayed + planted_files(check.tree, tree)
    return Verdict(0.0 if reasons or flags else 1.0, reasons + flags, flags)


def run_hidden(check: ShellCheck, answer: Answer, sandbox: Sandbox, limits: Limits) -> tuple[ExecResult, Tree]:
    """What the answer does on the check's files: the command's outcome and the tree, the script itself left out.

    Raises UnfitAnswerError, and SandboxError where the host fails.
    """
    files, command = dict(check.files), answer.command
    if check.script:
        files[check.script], command = file_in(answer.left, check.script), check.run
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
    try:
        checks = tuple(on_visible_files(check, task, sandbox, limits) for check in task.checks)
    except SandboxError as error:
        return host_fault(error)
    return verify_answer(replace(task, checks=checks), Answer(None, tree), sandbox, limits)


def on_visible_files(check: Check, task: Task, sandbox: Sandbox, limits: Limits) -> Check:
    match check:
        case ShellCheck(script="", compare=compare):
            if "tree" not in compare:
                raise RlshError(f"{task.id} is judged by what its command prints, not by a workspace: give the command")
            worked = replace(task, checks=(WorkspaceCheck(),))  # so that the workspace is part of the answer
            return WorkspaceCheck(answer_of(worked, task.reference, sandbox, limits).left)
    return check


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
