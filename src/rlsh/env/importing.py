"""Public sets of broken functions become tasks: what is right answers, and then everything is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from rlsh.env.admission import LIMITS, admit, record
from rlsh.env.python_check import record_expected, run_python_check
from rlsh.env.script_check import record_calls
from rlsh.sandbox.base import Sandbox, SandboxError
from rlsh.tasks.checks import Case, Check, PythonCheck, Raised, ScriptCheck
from rlsh.tasks.importers import READERS, Problem
from rlsh.tasks.importers.claims import Claim, ContradictionError, LooseClaimError, check_of, grouped, settled
from rlsh.tasks.importers.problem import Broken, shown_call, task_of
from rlsh.tasks.task import Task
from rlsh.types import Entry, RlshError, Tree

TRIALS = 3  # runs of the reference, of what is broken and of doing nothing
ALONE = replace(LIMITS, cpu_s=1)  # for one case: a slow task would hold up every episode
HANGS = "timeout -v 1 "  # before a command that would not end by itself, so that something is shown


@dataclass
class ImportReport:
    """What was turned down, reason -> names, and of how many problems some cases were left out, name -> cases."""

    rejected: dict[str, list[str]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass
class Settlement:
    """What the right source makes of claims: those with the value that their call has to have, and the others."""

    kept: list[tuple[Claim, object]] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    loose: int = 0
    slow: int = 0


def import_tasks(
    kind: str,
    path: Path,
    sandbox: Sandbox,
    *,
    workers: int = 2,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[list[Task], ImportReport]:
    """Admitted tasks of the set at `path`, in its order. `kind` is a key of READERS.

    Raises RlshError where the kind is unknown or the set cannot be read, SandboxError where the host fails.
    """
    if kind not in READERS:
        raise RlshError(f"{kind}: no set of this kind can be imported, only {', '.join(READERS)}")
    problems, rejected = READERS[kind](path)
    report, tasks = ImportReport(rejected), []

    def attempt(problem: Problem) -> tuple[Task, int] | str:
        try:
            return import_problem(problem, sandbox)
        except SandboxError:
            raise
        except (RlshError, ValueError) as error:
            return str(error)

    with ThreadPoolExecutor(workers) as pool:
        for done, (problem, outcome) in enumerate(zip(problems, pool.map(attempt, problems), strict=True), 1):
            if isinstance(outcome, str):
                report.rejected.setdefault(outcome, []).append(problem.name)
            else:
                tasks.append(outcome[0])
                if outcome[1]:
                    report.left_out[problem.name] = outcome[1]
            progress(done, len(problems))
    return tasks, report


def import_problem(problem: Problem, sandbox: Sandbox) -> tuple[Task, int]:
    """The admitted task of a problem, and how many of its cases were left out because what is right is slow there.

    Raises RlshError or ValueError where it makes none, with the reason, and SandboxError where the host fails.
    """
    found = settle(problem, problem.claims, sandbox)
    if found.contradictions:
        raise RlshError(f"what should be right {found.contradictions[0]}")
    checks: list[Check] = list(checks_of(problem, found.kept))
    if problem.rest or found.loose:
        draft = ScriptCheck(problem.file, problem.function, problem.script)
        checks.append(record_calls(draft, problem.right.encode(), sandbox, LIMITS))
    if not checks:
        raise RlshError("no test of it is answered in time")
    reason = "there is nothing broken"
    for broken in problem.broken:
        command = failing_command(problem, broken, found.kept, checks, sandbox)
        if command is None:
            reason = "no call shows a failure"
            continue
        task = replace(record(task_of(problem, broken, command, checks), sandbox), checks=tuple(checks))
        reason = next(filter(None, (admit(task, sandbox) for _ in range(TRIALS))), "")
        if not reason:
            return task, found.slow + problem.left_out
    raise RlshError(reason)


def settle(problem: Problem, claims: Sequence[Claim], sandbox: Sandbox) -> Settlement:
    """The claims, tried on the right source. Raises SandboxError where the host fails."""
    found = Settlement()
    for group in grouped(claims):
        for claim, answer in answers(problem, group, sandbox):
            if answer is None:
                found.slow += 1
                continue
            try:
                found.kept.append((claim, settled(claim, answer.expected)))
            except ContradictionError as error:
                found.contradictions.append(str(error))
            except LooseClaimError:
                found.loose += 1
    return found


def answers(problem: Problem, group: Sequence[Claim], sandbox: Sandbox) -> Iterator[tuple[Claim, Case | None]]:
    """Each claim and its case as the right source answers it, None where it does not in time.

    Where one case holds up the others they are asked one by one, each within a budget of its own.
    """
    draft, limits = check_of(problem.file, problem.function, group), LIMITS if len(group) > 1 else ALONE
    try:
        together = record_expected(draft, problem.right.encode(), sandbox, limits)
        for claim, case in zip(group, together.cases, strict=True):
            yield claim, None if case.expected == Raised("MemoryError") else case
    except SandboxError:
        raise
    except RlshError:
        if len(group) == 1:
            yield group[0], None
        else:
            for claim in group:
                yield from answers(problem, [claim], sandbox)


def checks_of(problem: Problem, kept: Sequence[tuple[Claim, object]]) -> Iterator[PythonCheck]:
    expected = {claim.key: value for claim, value in kept}
    for group in grouped([claim for claim, _ in kept]):
        yield check_of(problem.file, problem.function, group, [expected[claim.key] for claim in group])


def failing_command(
    problem: Problem,
    broken: Broken,
    kept: Sequence[tuple[Claim, object]],
    checks: Sequence[Check],
    sandbox: Sandbox,
) -> str | None:
    """A command that shows the failure; None where no single call does.

    An example of the documentation, if one fails. Otherwise a hidden case, the shortest: its arguments are seen then,
    and not what is expected.
    """
    scripts = [check for check in checks if isinstance(check, ScriptCheck)]
    calls = [Claim(call.args, dict(call.kwargs), "alike") for check in scripts for call in check.calls]
    hidden = sorted(kept, key=lambda pair: len(pair[0].key)) or settle(problem, calls, sandbox).kept
    tree = {problem.file: Entry(broken.source.encode())}
    for claim, expected in [*settle(problem, problem.examples, sandbox).kept, *hidden]:
        command = shown_call(problem, claim)
        check = check_of(problem.file, problem.function, [claim], [expected])
        if command is None or passes(check, tree, sandbox):
            continue
        with sandbox.open(tree, LIMITS) as workspace:
            return HANGS + command if workspace.exec(command).timed_out else command
    return None


def passes(check: PythonCheck, tree: Tree, sandbox: Sandbox) -> bool:
    verdict = run_python_check(check, tree, sandbox, LIMITS)
    if verdict.infra:
        raise SandboxError(verdict.reasons[0])
    return verdict.reward == 1.0
