"""Harvested functions and pipelines on trial: each is run in the sandbox, and kept if tasks can be made of it.

The same thing tried again comes to the same: inputs and fixtures are drawn by seeds that its own text decides.
"""

from __future__ import annotations

import hashlib
import json
import random
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rlsh.env.python_check import answers_as_written
from rlsh.sandbox.base import ExecResult, Limits, Sandbox
from rlsh.tasks.checks import Case, PythonCheck
from rlsh.tasks.harvest import Harvested, HarvestedPipeline, UnfitError, loading_mutants, secret_in
from rlsh.tasks.inputs import Draw
from rlsh.tasks.values import to_tagged
from rlsh.tasks.world import World, with_parents
from rlsh.types import Tree

Outcome = dict[str, Any]  # one key: value, raised, unloadable or unreadable
POOL, FEWEST = 32, 8  # distinct inputs
DRAWS = 200
INPUT_CHARS = 2_000  # of one input as a word of a command line: a task shows some of them
DISTINCT = 3  # outputs
RAISING = 0.5  # of the inputs, beyond which what was drawn does not fit the function
KEPT_RAISING = 0.25  # of the inputs that are kept
MUTANTS_TRIED, MUTANTS_TOLD = 12, 2
CPU_S = 0.5  # for CASES calls
CASES = 24
CRITERIA = (POOL, FEWEST, DISTINCT, RAISING, KEPT_RAISING, MUTANTS_TRIED, MUTANTS_TOLD, CPU_S, CASES)
LIMITS = Limits(wall_s=8.0, cpu_s=1)
# What a call with an argument of a wrong type ends in, or one that ran out of what the sandbox gives.
NO_ANSWER = {"TypeError", "AttributeError", "RecursionError", "MemoryError", "SystemExit", "KeyboardInterrupt"}
UNRESOLVED = {"NameError", "ImportError", "ModuleNotFoundError"}
ZONES = ("UTC0", "UTC0", "XXX-12:45")
TIMED = "( export TZ={zone}; {{}} ); code=$?; times >&2; exit $code"


# --- functions --------------------------------------------------------------------------------------------------


def pool_of(found: Harvested) -> list[tuple[object, ...]]:
    """Up to POOL distinct inputs, drawn by a seed that the source alone decides; all of them plain data."""
    seed = hashlib.sha256(found.reference.source.encode()).hexdigest()
    pool: dict[str, tuple[object, ...]] = {}
    for at in range(DRAWS):
        args = found.reference.draw(Draw(random.Random(f"{seed} {at}")))
        text = json.dumps(to_tagged(args))
        if len(shlex.quote(text)) <= INPUT_CHARS:
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
    expected = [first[i] for i in kept]
    distinct = len({json.dumps(outcome) for outcome in expected})
    if distinct < DISTINCT:
        raise UnfitError("few outputs", f"{distinct} distinct ones")
    for zone in ZONES[1:]:
        again, _ = _run(found, inputs, found.reference.source, sandbox, zone)
        if again != expected:
            raise UnfitError("not repeatable", "another run, another value" if zone == ZONES[0] else "the time zone")
    _check_mutants(found, inputs[:CASES], expected[:CASES], sandbox)
    return kept


def _run(
    found: Harvested, inputs: Sequence[tuple[object, ...]], source: str, sandbox: Sandbox, zone: str
) -> tuple[list[Outcome], ExecResult]:
    check = PythonCheck("harvested.py", found.reference.name, tuple(Case(args) for args in inputs))
    return answers_as_written(check, source.encode(), sandbox, LIMITS, TIMED.format(zone=zone))


def _check_run(found: Sequence[Outcome], result: ExecResult, count: int) -> None:
    """Raises UnfitError where not every input was answered, in time, by something that can be carried."""
    for outcome in found:
        if outcome.get("unloadable") or outcome.get("raised") in UNRESOLVED:
            raise UnfitError("does not load", outcome.get("unloadable") or outcome["raised"])
        if "unreadable" in outcome:
            raise UnfitError("no plain value", ascii(outcome["unreadable"])[:60])
    if result.timed_out:
        raise UnfitError("too slow", f"not done after {LIMITS.wall_s:g} s")
    if len(found) < count:
        raise UnfitError("its process ended", f"exit code {result.exit_code}")
    spent = _cpu_seconds(result.stderr.decode(errors="replace")) / count * CASES
    if spent > CPU_S:
        raise UnfitError("too slow", f"more than {CPU_S} CPU seconds for {CASES} calls")


def _cpu_seconds(times: str) -> float:
    """What bash's `times` says last: of the children, user and system, as 0m0.125s."""
    parts = [word.rstrip("s").split("m") for word in times.split()[-2:]]
    return sum(60 * float(minutes) + float(seconds) for minutes, seconds in parts)


def _kept(found: Sequence[Outcome]) -> list[int]:
    """Which inputs to keep: those with a value, and some of those with an exception that is an answer."""
    values = [i for i, outcome in enumerate(found) if "value" in outcome]
    raising = Counter(outcome["raised"] for outcome in found if "raised" in outcome)
    if len(values) < (1 - RAISING) * len(found):
        name, n = raising.most_common(1)[0]
        raise UnfitError("raises", f"{name} on {n} of {len(found)} inputs")
    answers = [i for i, outcome in enumerate(found) if outcome.get("raised", "TypeError") not in NO_ANSWER]
    most = int(len(values) * KEPT_RAISING / (1 - KEPT_RAISING))
    kept = sorted(values + answers[:most])
    if len(kept) < FEWEST:
        raise UnfitError("few inputs", f"{len(kept)} are answered")
    return kept


def _check_mutants(
    found: Harvested, inputs: Sequence[tuple[object, ...]], expected: Sequence[Outcome], sandbox: Sandbox
) -> None:
    """Raises UnfitError where too few faults show on these inputs. A mutant that does not load is no fault to find."""
    made = found.reference
    faults = loading_mutants(made.source, made.name)
    random.Random(made.source).shuffle(faults)
    told = set[str]()  # what they answer: two that do the same are one
    for mutant in faults[:MUTANTS_TRIED]:
        answers, _ = _run(found, inputs, mutant.source, sandbox, ZONES[0])
        if answers != list(expected) and not any("unloadable" in answer for answer in answers):
            told.add(json.dumps(answers))
        if len(told) == MUTANTS_TOLD:
            return
    raise UnfitError("few mutants", f"{len(told)} of {len(faults[:MUTANTS_TRIED])} are told apart")


# --- pipelines --------------------------------------------------------------------------------------------------


def showing(found: HarvestedPipeline, sandbox: Sandbox) -> list[str]:
    """The faults of a pipeline that change what comes out, on two fixtures.

    Raises UnfitError where the pipeline itself fails or gives nothing, or no fault shows; SandboxError where the host
    fails.
    """
    shown = []
    for fault in found.faults:
        w = World(random.Random(f"{found.source_id} {fault}"), "train")
        draft = found.draft(fault, w)
        one, other = with_parents(draft.fixtures(w)), with_parents(draft.fixtures(w))
        assert isinstance(draft.repair, str)  # a pipeline's is a pipeline
        right = [_effect(draft.repair, files, sandbox) for files in (one, other)]
        if any(code != 0 for code, _, _ in right):
            raise UnfitError("fails", f"exit code {max(code for code, _, _ in right)}")
        if not found.pipeline.target and any(not stdout.strip() for _, stdout, _ in right):
            raise UnfitError("few outputs", "it prints nothing")
        if right[0] == right[1]:
            raise UnfitError("few outputs", "the same on other files")
        if [_effect(draft.broken, files, sandbox) for files in (one, other)] != right:
            shown.append(fault)
    if not shown:
        raise UnfitError("no fault shows", ", ".join(found.faults))
    return shown


def _effect(command: str, files: Tree, sandbox: Sandbox) -> tuple[int, bytes, Tree]:
    """Exit code, output and the files that have changed."""
    with sandbox.open(files, LIMITS) as workspace:
        result = workspace.exec(command)
        changed = {path: entry for path, entry in workspace.export().items() if files.get(path) != entry}
        return result.exit_code, result.stdout, changed
