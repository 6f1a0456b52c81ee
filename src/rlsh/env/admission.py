"""Admission: what a task says is recorded by running it, and then held to by trial."""

from __future__ import annotations

from dataclasses import replace

from rlsh.env.python_check import file_in, record_expected
from rlsh.env.script_check import record_calls
from rlsh.env.verify import Answer, answer_of, run_hidden, verify_calls
from rlsh.sandbox.base import Closing, ExecResult, Limits, Sandbox, SandboxError, Workspace
from rlsh.tasks.checks import Check, PythonCheck, ScriptCheck, ShellCheck, WorkspaceCheck
from rlsh.tasks.task import Task, with_id
from rlsh.text.dialect import clean
from rlsh.types import RlshError, ToolCall, Tree, exec_call

LIMITS = Limits(wall_s=3.0)
ERROR_CHARS = 120
TRACEBACK, TRACEBACK_CHARS = b"Traceback (most recent call last)", 500
EMPTY_ACTION = ":"
ZONE = "JST-9"  # nine hours ahead of the sandbox's own


class UnfitTaskError(RlshError):
    """No task can be made of it. The message is the reason, the same for all that have the same fault."""


def record(task: Task, sandbox: Sandbox) -> Task:
    """The task with what really happens when the broken command and the reference run.

    Raises RlshError where the reference answers nothing that can be checked, SandboxError where the host fails.
    """
    answer = answer_of(task, task.reference, sandbox, LIMITS)
    checks = tuple(recorded(check, answer, sandbox) for check in task.checks)
    return with_error(replace(task, checks=checks), sandbox)


def with_error(task: Task, sandbox: Sandbox) -> Task:
    """The task with what the broken command prints, and its id. Raises SandboxError where the host fails."""
    with sandbox.open(task.files, LIMITS) as workspace:
        shown = workspace.exec(task.broken)
    chars = TRACEBACK_CHARS if TRACEBACK in shown.stderr else ERROR_CHARS
    return with_id(replace(task, error=clean(shown.stdout + shown.stderr, chars).rstrip("\n")))


def recorded(check: Check, answer: Answer, sandbox: Sandbox) -> Check:
    """`check` with what `answer`, the reference's, makes of it."""
    match check:
        case ShellCheck():
            return recorded_shell(check, answer, sandbox)
        case WorkspaceCheck():
            return WorkspaceCheck(answer.left)
        case PythonCheck():
            return record_expected(check, file_in(answer.left, check.file).content, sandbox, LIMITS)
        case ScriptCheck():
            return record_calls(check, file_in(answer.left, check.file).content, sandbox, LIMITS)


def recorded_shell(check: ShellCheck, answer: Answer, sandbox: Sandbox) -> ShellCheck:
    result, tree = run_hidden(check, answer, sandbox, LIMITS)
    return replace(check, stdout=result.stdout, exit_code=result.exit_code, tree=tree)


def admit(task: Task, sandbox: Sandbox) -> str | None:
    """Why `task` may not be used, or None. Raises SandboxError where the host fails.

    After the run that was recorded the reference passes twice more and the broken command fails twice more, once in
    another time zone; Python hashes strings differently every time. Doing nothing fails, and so does printing what
    the reference prints on the visible files. (Two drawings of the fixtures may well have equally many lines, say.)
    """

    def passes(place: Sandbox, *calls: ToolCall) -> bool:
        verdict = verify_calls(task, calls, place, LIMITS)
        if verdict.infra:
            raise SandboxError(verdict.reasons[0])
        return verdict.reward == 1.0

    if any(isinstance(check, ShellCheck) and check.exit_code != 0 for check in task.checks):
        return "reference exits non-zero"
    if passes(sandbox, exec_call(EMPTY_ACTION)):
        return "empty action passes"
    for place in (sandbox, Elsewhere(sandbox)):
        if not passes(place, *task.reference):
            return "reference is not repeatable"
        if passes(place, exec_call(task.broken)):
            return "broken command passes"
    shown = [check.stdout for check in task.checks if isinstance(check, ShellCheck) and "stdout" in check.compare]
    if shown and task.reference[-1].name == "exec":
        with sandbox.open(task.files, LIMITS) as workspace:
            visible = workspace.exec(task.reference[-1].arguments["command"]).stdout
        if visible in shown and passes(sandbox, exec_call(literal_answer(visible))):
            return "visible output passes"
    return None


def literal_answer(stdout: bytes) -> str:
    """The command that prints `stdout`, whatever bytes it has, and does nothing else."""
    return "printf %b '" + "".join(f"\\0{byte:03o}" for byte in stdout) + "'"


class Elsewhere(Closing):
    """A sandbox in another time zone."""

    def __init__(self, inner: Sandbox) -> None:
        self.inner, self.tools = inner, inner.tools

    def open(self, files: Tree, limits: Limits) -> Workspace:
        return _WorkspaceElsewhere(self.inner.open(files, limits))

    def close(self) -> None:
        self.inner.close()


class _WorkspaceElsewhere(Closing):
    def __init__(self, inner: Workspace) -> None:
        self.inner = inner
        self.read, self.write, self.export = inner.read, inner.write, inner.export

    def exec(self, command: str) -> ExecResult:
        return self.inner.exec(f"export TZ={ZONE}\n{command}")

    def close(self) -> None:
        self.inner.close()
