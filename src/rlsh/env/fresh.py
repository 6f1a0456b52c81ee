"""Fixtures and inputs drawn anew for one episode's verdict: to know the stored ones by heart is worth nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from rlsh.env.python_check import UnfitAnswerError, agree, ask, record_expected
from rlsh.env.snippets import FAILING
from rlsh.env.verify import Answer, answer_of, host_fault, judge, run_hidden, verify
from rlsh.sandbox.base import Limits, Sandbox, SandboxError
from rlsh.tasks.catalogue import Reference, references
from rlsh.tasks.checks import Case, PythonCheck, ShellCheck
from rlsh.tasks.shell import redrawn
from rlsh.tasks.snippets import drawn_inputs, edit_call
from rlsh.tasks.task import Task
from rlsh.types import RlshError, StopReason, Verdict


def fresh(task: Task, number: int, sandbox: Sandbox, limits: Limits) -> Task:
    """`task` with its `number`th other hidden fixtures or inputs, and what the reference makes of them.

    The task with its stored check where this program does not draw it, where the reference fails on the others, and
    where they cannot tell it from what is broken. Raises SandboxError where the host fails.
    """
    match task.checks:
        case (ShellCheck(),):
            return fresh_fixtures(task, number, sandbox, limits)
        case (PythonCheck() as check,):
            return fresh_inputs(task, check, number, sandbox, limits)
    return task


def fresh_fixtures(task: Task, number: int, sandbox: Sandbox, limits: Limits) -> Task:
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


def fresh_inputs(task: Task, check: PythonCheck, number: int, sandbox: Sandbox, limits: Limits) -> Task:
    reference = catalogue().get(check.function)
    faulty = task.files[check.file].content.decode()
    if (
        task.source != "rlsh"
        or reference is None
        or task.reference != (edit_call(check.file, faulty, reference.source),)
    ):
        return task
    inputs = drawn_inputs(reference, f"{task.seed} again {number}")[: len(check.cases)]
    asked = replace(check, cases=tuple(map(Case, inputs)))
    try:
        asked = record_expected(asked, reference.source.encode(), sandbox, limits)
    except SandboxError:
        raise
    except RlshError:
        return task
    answers, answered = ask(asked, task.files, sandbox, limits)
    if answered.infra:
        raise SandboxError(answered.reasons[0])
    fails = [not agree(case.expected, got, check.tolerance) for case, got in zip(asked.cases, answers, strict=False)]
    return replace(task, checks=(asked,)) if sum(fails) >= FAILING else task


@cache
def catalogue() -> Mapping[str, Reference]:
    return {one.name: one for one in references()}


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
