"""Fixtures drawn anew for the verdict on one episode: what was learned by heart of the stored ones is worth nothing."""

from __future__ import annotations

from dataclasses import replace

from rlsh.env.python_check import UnfitAnswerError
from rlsh.env.verify import Answer, answer_of, host_fault, judge, run_hidden, verify
from rlsh.sandbox.base import Limits, Sandbox, SandboxError
from rlsh.tasks.checks import ShellCheck
from rlsh.tasks.shell import redrawn
from rlsh.tasks.task import Task
from rlsh.types import StopReason, Verdict


def fresh(task: Task, number: int, sandbox: Sandbox, limits: Limits) -> Task:
    """`task` with its `number`th other hidden fixtures, and what the reference makes of them.

    The task with its stored check where this program does not draw it, where the reference fails on the other
    fixtures, and where they cannot tell it from the broken command. Raises SandboxError where the host fails.
    """
    drawn = redrawn(task, number)
    if drawn is task:
        return task
    (check,) = drawn.checks
    assert isinstance(check, ShellCheck)  # families draw no others
    try:
        result, tree = run_hidden(check, answer_of(drawn, drawn.reference, sandbox, limits), sandbox, limits)
    except UnfitAnswerError:
        return task
    if result.exit_code != 0:
        return task
    check = replace(check, stdout=result.stdout, exit_code=result.exit_code, tree=tree)
    untouched = judge(check, Answer(task.broken, task.files), sandbox, limits)
    if untouched.infra:
        raise SandboxError(untouched.reasons[0])
    return task if untouched.reward == 1.0 else replace(drawn, checks=(check,))


def verify_fresh(
    task: Task, number: int, stop: StopReason, answer: Answer, sandbox: Sandbox, limits: Limits
) -> Verdict:
    """The verdict on `task`'s `number`th other fixtures: see `fresh`, and `verify` for the rest.

    Where the host fails at drawing them, they are drawn once more; `infra` where it failed again.
    """
    if stop is not StopReason.FINAL:
        return verify(task, stop, answer, sandbox, limits)
    try:
        try:
            judged = fresh(task, number, sandbox, limits)
        except SandboxError:
            judged = fresh(task, number, sandbox, limits)
    except SandboxError as error:
        return host_fault(error)
    return verify(judged, stop, answer, sandbox, limits)
