"""Task generation: draw, record by running, admit by trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal

from rlsh.env.python_check import file_in, record_expected
from rlsh.env.script_check import record_calls
from rlsh.env.verify import Answer, answer_of, run_hidden, verify_calls
from rlsh.sandbox.base import Limits, Sandbox, SandboxError
from rlsh.tasks.checks import Check, PythonCheck, ScriptCheck, ShellCheck, WorkspaceCheck
from rlsh.tasks.shell import FAMILIES, SET_OF, TaskSet, draw
from rlsh.tasks.task import Task, with_id
from rlsh.text.dialect import clean
from rlsh.types import RlshError, ToolCall, exec_call

Split = Literal["train", "held_out"]
LIMITS = Limits(wall_s=3.0)
ERROR_CHARS = 120
EMPTY_ACTION = ":"


@dataclass
class BuildReport:
    """What became of every draft. `rejected` counts reasons."""

    accepted: int = 0
    duplicates: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)


def record(task: Task, sandbox: Sandbox) -> Task:
    """The task with what really happens when the broken command and the reference run.

    Raises RlshError where the reference answers nothing that can be checked, SandboxError where the host fails.
    """
    with sandbox.open(task.files, LIMITS) as workspace:
        shown = workspace.exec(task.broken)
    answer = answer_of(task, task.reference, sandbox, LIMITS)
    checks = tuple(recorded(check, answer, sandbox) for check in task.checks)
    error = clean(shown.stdout + shown.stderr, ERROR_CHARS).rstrip("\n")
    return with_id(replace(task, error=error, checks=checks))


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

    The reference passes again; the broken command, doing nothing and printing what the reference prints on the
    visible files all fail. (Two drawings of the fixtures may well have equally many lines, say.)
    """

    def passes(*calls: ToolCall) -> bool:
        verdict = verify_calls(task, calls, sandbox, LIMITS)
        if verdict.infra:
            raise SandboxError(verdict.reasons[0])
        return verdict.reward == 1.0

    if any(isinstance(check, ShellCheck) and check.exit_code != 0 for check in task.checks):
        return "reference exits non-zero"
    if not passes(*task.reference):
        return "reference is not repeatable"
    if passes(exec_call(task.broken)):
        return "broken command passes"
    if passes(exec_call(EMPTY_ACTION)):
        return "empty action passes"
    shown = [check.stdout for check in task.checks if isinstance(check, ShellCheck) and "stdout" in check.compare]
    if shown and task.reference[-1].name == "exec":
        with sandbox.open(task.files, LIMITS) as workspace:
            visible = workspace.exec(task.reference[-1].arguments["command"]).stdout
        if visible in shown and passes(exec_call(literal_answer(visible))):
            return "visible output passes"
    return None


def literal_answer(stdout: bytes) -> str:
    """The command that prints `stdout`, whatever bytes it has, and does nothing else."""
    return "printf %b '" + "".join(f"\\0{byte:03o}" for byte in stdout) + "'"


def build_tasks(
    sandbox: Sandbox,
    sets: Sequence[TaskSet],
    count: int,
    *,
    seed: int,
    split: Split,
    workers: int,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Task], BuildReport]:
    """`count` admitted tasks, families in turn; the same arguments give the same tasks.

    Raises SandboxError where the host fails, RlshError where the families cannot give as many.
    """
    families = [name for name in FAMILIES if SET_OF[name] in sets]
    report, tasks, seen = BuildReport(), [], set()

    def attempt(at: int) -> tuple[Task, str | None]:
        family = families[at % len(families)]
        task = record(draw(family, seed * 1_000_003 + at, split)[1], sandbox)
        return task, admit(task, sandbox)

    def attempts() -> Iterator[tuple[Task, str | None]]:
        with ThreadPoolExecutor(workers) as pool:
            for start in range(0, 4 * count, 64):
                yield from pool.map(attempt, range(start, start + 64))

    for task, reason in attempts():
        if reason is not None:
            report.rejected[f"{task.family}: {reason}"] += 1
        elif (key := (task.instruction, task.broken)) in seen:
            report.duplicates += 1
        else:
            seen.add(key)
            tasks.append(task)
            report.families[task.family] += 1
            progress(len(tasks))
            if len(tasks) == count:
                break
    report.accepted = len(tasks)
    if len(tasks) < count:
        raise RlshError(
            f"only {len(tasks)} of {count} tasks could be drawn from {', '.join(families)} "
            f"({report.duplicates} duplicates, {report.rejected.total()} rejected): ask for fewer"
        )
    return tasks, report
