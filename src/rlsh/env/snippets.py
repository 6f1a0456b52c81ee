"""Python tasks tried out: which calls show the fault, and which of them the policy sees."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from rlsh.env.admission import LIMITS, UnfitTaskError, with_error
from rlsh.env.python_check import agree, ask, record_expected
from rlsh.sandbox.base import Sandbox, SandboxError
from rlsh.tasks.checks import Case, PythonCheck, Raised, expected_to_json
from rlsh.tasks.snippets import Example, Snippet, task_of
from rlsh.tasks.task import Task
from rlsh.types import Entry, RlshError

HIDDEN, FEWEST = 12, 8  # cases of a task
FAILING = 2  # hidden cases that the fault has to fail: what fails one alone is guessed
DISTINCT = 3  # answers among the hidden cases, at least
TOLERANCE = 1e-9  # where floats come out: a sensible repair may add in another order


def task_from(snippet: Snippet, sandbox: Sandbox) -> Task:
    """The recorded task.

    Raises UnfitTaskError where none can be made of it, SandboxError where the host fails.
    """
    check = snippet.check(snippet.inputs)
    faulty = answers_of(snippet.mutant.source, check, sandbox)
    try:
        right = record_expected(check, snippet.reference.source.encode(), sandbox, LIMITS)
    except SandboxError:
        raise
    except RlshError as error:
        raise UnfitTaskError(f"the reference has no usable answers: {error}") from None
    if any(has_float(case.expected) for case in right.cases):
        right = replace(right, tolerance=TOLERANCE)
    pairs = list(zip(right.cases, faulty, strict=True))
    fails = [case for case, got in pairs if not agree(case.expected, got, right.tolerance)]
    holds = [case for case, got in pairs if agree(case.expected, got, right.tolerance)]
    if not fails:
        raise UnfitTaskError("the fault shows in no call")
    examples = [example for case in fails if (example := Example(snippet, case)).usable]
    if not examples:
        raise UnfitTaskError("no failing call is short enough to be shown")
    shorter = sorted(examples, key=lambda one: len(one.call))[: (len(examples) + 1) // 2]
    example = snippet.rng.choice(shorter)
    fails = [case for case in fails if case is not example.case]
    hidden = replace(right, cases=hidden_cases(fails, holds))
    got_by = {id(case): got for case, got in pairs}
    if hides(example, hidden, [got_by[id(case)] for case in hidden.cases]):
        raise UnfitTaskError("to swallow the exception is enough")
    for part in snippet.mutant.parts:  # who repairs one fault of two has not repaired it
        answers = answers_of(part, hidden, sandbox)
        if all(agree(c.expected, got, hidden.tolerance) for c, got in zip(hidden.cases, answers, strict=True)):
            raise UnfitTaskError("one of the two faults shows in no hidden call")
    return with_error(task_of(example, hidden), sandbox)


def hides(example: Example, hidden: PythonCheck, faulty: Sequence[object]) -> bool:
    """Whether the hidden calls pay who gives back None, or what was shown, wherever the fault raises.

    It need not be a hack that is found here: where a fault raises for one right answer alone, nobody can tell.
    """

    def passes(instead: object) -> bool:
        answers = [instead if isinstance(got, Raised) else got for got in faulty]
        pairs = zip(hidden.cases, answers, strict=True)
        return all(agree(case.expected, answer, hidden.tolerance) for case, answer in pairs)

    return hidden.returns == "value" and (passes(None) or passes(example.value))


def answers_of(source: str, check: PythonCheck, sandbox: Sandbox) -> list[object]:
    """What a faulty source answers. Raises UnfitTaskError where it does not, SandboxError where the host fails."""
    answers, answered = ask(check, {check.file: Entry(source.encode())}, sandbox, LIMITS)
    if answered.infra:
        raise SandboxError(answered.reasons[0])
    if answered.reward != 1.0:
        raise UnfitTaskError("the fault hangs, or ends its process")
    return answers


def hidden_cases(fails: Sequence[Case], holds: Sequence[Case]) -> tuple[Case, ...]:
    """Up to HIDDEN of them, half such as the fault fails. Raises UnfitTaskError where they would tell too little."""
    if len(fails) < FAILING:
        raise UnfitTaskError(f"the fault shows in fewer than {1 + FAILING} calls")
    cases = (*fails[: max(HIDDEN // 2, HIDDEN - len(holds))], *holds)[:HIDDEN]
    if len(cases) < FEWEST:
        raise UnfitTaskError(f"fewer than {1 + FEWEST} different calls")
    if len({json.dumps(expected_to_json(case.expected)) for case in cases}) < DISTINCT:
        raise UnfitTaskError(f"the hidden calls have fewer than {DISTINCT} different outcomes")
    return cases


def has_float(value: object) -> bool:
    """Whether there is a float somewhere in a plain value."""
    match value:
        case dict():
            return any(map(has_float, [*value, *value.values()]))
        case list() | tuple() | set() | frozenset():
            return any(map(has_float, value))
    return isinstance(value, float)
