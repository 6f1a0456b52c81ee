"""Harvested functions on trial: each is run in the sandbox on drawn inputs, and kept if tasks can be made of it.

What a run decides is written down at once, by the content of what was tried, so that a run that was stopped goes on
where it was.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rlsh.env.python_check import Unusable, outcomes
from rlsh.runfolder import RunFolder
from rlsh.sandbox.base import ExecResult, Limits, Sandbox
from rlsh.tasks.checks import Case, PythonCheck, Raised, expected_to_json
from rlsh.tasks.harvest import (
    Harvested,
    Rejected,
    SourceTree,
    UnfitError,
    harvest_python,
    secret_in,
    source_tree,
)
from rlsh.tasks.inputs import Draw
from rlsh.tasks.mutation import FAMILY, MutationError, mutants
from rlsh.tasks.values import to_tagged
from rlsh.types import RlshError

POOL, FEWEST = 32, 8  # distinct inputs
DRAWS = 200
INPUT_CHARS = 2_000  # of one input, written as JSON: a task shows some of them
DISTINCT = 3  # outputs
RAISING = 0.5  # of the inputs, beyond which what was drawn does not fit the function
KEPT_RAISING = 0.25  # of the inputs that are kept
MUTANTS_TRIED, MUTANTS_TOLD = 12, 2
CPU_S = 0.5  # for CASES calls
CASES = 24
LIMITS = Limits(wall_s=8.0, cpu_s=2)
# What a call with an argument of a wrong type ends in, or one that ran out of what the sandbox gives.
NO_ANSWER = {"TypeError", "AttributeError", "RecursionError", "MemoryError", "SystemExit", "KeyboardInterrupt"}
UNRESOLVED = {"NameError", "ImportError", "ModuleNotFoundError"}
ZONES = ("UTC0", "UTC0", "XXX-12:45")
TIMED = "( export TZ={zone}; {{}} ); code=$?; times >&2; exit $code"
TIMES = re.compile(r"(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$")


def trial(found: Harvested, sandbox: Sandbox) -> Harvested | Rejected:
    """`found` with a `draw` that gives nothing but inputs that it was seen to answer, or why it is of no use.

    The same function and inputs give the same outcome. Raises SandboxError where the host fails.
    """
    pool = pool_of(found)
    try:
        return with_pool(found, [pool[i] for i in usable(found, pool, sandbox)])
    except UnfitError as error:
        return rejected(found, error.kind, error.detail)


def with_pool(found: Harvested, pool: Sequence[tuple[object, ...]]) -> Harvested:
    return replace(found, reference=replace(found.reference, draw=lambda d: d.pick(pool)))


def rejected(found: Harvested, kind: str, detail: str) -> Rejected:
    return Rejected(found.source_id.split("::")[0], found.reference.name, kind, detail)


def pool_of(found: Harvested) -> list[tuple[object, ...]]:
    """Up to POOL distinct inputs, drawn by a seed that the source alone decides; all of them plain data."""
    seed = hashlib.sha256(found.reference.source.encode()).hexdigest()
    pool: dict[str, tuple[object, ...]] = {}
    for at in range(DRAWS):
        try:
            args = found.reference.draw(Draw(random.Random(f"{seed} {at}")))
            text = json.dumps(to_tagged(args))
        except (ValueError, RecursionError):
            continue
        if len(text) <= INPUT_CHARS:
            pool.setdefault(text, args)
        if len(pool) == POOL:
            break
    return list(pool.values())


def usable(found: Harvested, pool: Sequence[tuple[object, ...]], sandbox: Sandbox) -> list[int]:
    """Which inputs of the pool to keep. Raises UnfitError where the function is of no use with them."""
    if len(pool) < FEWEST:
        raise UnfitError("few inputs", f"{len(pool)} distinct ones were drawn")
    kind = secret_in(repr(pool))
    if kind:
        raise UnfitError("secret", kind)
    first, result = _run(found, pool, found.reference.source, sandbox, ZONES[0])
    _check_run(first, result, len(pool))
    kept = _kept(first)
    inputs = [pool[i] for i in kept]
    expected = [_text(first[i]) for i in kept]
    if len(set(expected)) < DISTINCT:
        raise UnfitError("few outputs", f"{len(set(expected))} distinct ones")
    for zone in ZONES[1:]:
        again, _ = _run(found, inputs, found.reference.source, sandbox, zone)
        if [_text(outcome) for outcome in again] != expected:
            raise UnfitError("not repeatable", "another run, another value" if zone == ZONES[0] else "the time zone")
    _check_mutants(found, inputs[:CASES], expected[:CASES], sandbox)
    return kept


def _run(
    found: Harvested, inputs: Sequence[tuple[object, ...]], source: str, sandbox: Sandbox, zone: str
) -> tuple[list[object], ExecResult]:
    check = PythonCheck("harvested.py", found.reference.name, tuple(Case(args) for args in inputs))
    return outcomes(check, source.encode(), sandbox, LIMITS, TIMED.format(zone=zone))


def _check_run(found: Sequence[object], result: ExecResult, count: int) -> None:
    """Raises UnfitError where not every input was answered, in time, by something that can be carried."""
    unusable = [outcome.reason for outcome in found if isinstance(outcome, Unusable)]
    if unusable:
        raise UnfitError("does not load" if "loaded" in unusable[0] else "no plain value", unusable[0])
    if result.timed_out:
        raise UnfitError("too slow", f"not done after {LIMITS.wall_s:g} s")
    if len(found) < count:
        raise UnfitError("its process ended", f"exit code {result.exit_code}")
    missing = sorted({o.type for o in found if isinstance(o, Raised)} & UNRESOLVED)
    if missing:
        raise UnfitError("does not load", missing[0])
    spent = _cpu_seconds(result.stderr.decode(errors="replace")) / count * CASES
    if spent > CPU_S:
        raise UnfitError("too slow", f"{spent:.1f} CPU s for {CASES} calls")


def _cpu_seconds(times: str) -> float:
    """What bash's `times` says of the children, user and system."""
    found = TIMES.search(times)
    if found is None:
        raise UnfitError("too slow", "killed before its time was taken")
    minutes, seconds, more, rest = map(float, found.groups())
    return 60 * (minutes + more) + seconds + rest


def _kept(found: Sequence[object]) -> list[int]:
    """Which inputs to keep: those with a value, and some of those with an exception that is an answer."""
    values = [i for i, outcome in enumerate(found) if not isinstance(outcome, Raised)]
    raising = Counter(outcome.type for outcome in found if isinstance(outcome, Raised))
    if len(values) < (1 - RAISING) * len(found):
        name, n = raising.most_common(1)[0]
        raise UnfitError("raises", f"{name} on {n} of {len(found)} inputs")
    answers = [i for i, o in enumerate(found) if isinstance(o, Raised) and o.type not in NO_ANSWER]
    most = int(len(values) * KEPT_RAISING / (1 - KEPT_RAISING))
    kept = sorted(values + answers[:most])
    if len(kept) < FEWEST:
        raise UnfitError("few inputs", f"{len(kept)} are answered")
    return kept


def _check_mutants(
    found: Harvested, inputs: Sequence[tuple[object, ...]], expected: Sequence[str], sandbox: Sandbox
) -> None:
    """Raises UnfitError where too few faults show on these inputs. A mutant that does not load is no fault to find."""
    made = found.reference
    try:
        faults = [m for m in mutants(made.source, made.name) if FAMILY[m.operators[0]] != "syntax"]
    except MutationError as error:
        raise UnfitError("cannot be mutated", str(error)[:80]) from None
    random.Random(made.source).shuffle(faults)
    told = 0
    for mutant in faults[:MUTANTS_TRIED]:
        answers, _ = _run(found, inputs, mutant.source, sandbox, ZONES[0])
        loads = not any(isinstance(answer, Unusable) for answer in answers)
        told += loads and [_text(answer) for answer in answers] != list(expected)
        if told == MUTANTS_TOLD:
            return
    raise UnfitError("few mutants", f"{told} of {len(faults[:MUTANTS_TRIED])} are told apart")


def _text(outcome: object) -> str:
    return outcome.reason if isinstance(outcome, Unusable) else json.dumps(expected_to_json(outcome), sort_keys=True)
