"""The verdict of a test script: the candidate answers calls in its sandbox, the assertions are made in another.

In the usual design both are one process, in which the candidate can end the run, replace the assertions or return an
object that equals everything. Here values alone go from the one to the other, in rounds: the script runs until it
makes a call that has no answer, the candidate is asked, the script runs again.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from rlsh.env import script_runner
from rlsh.env.python_check import PYTHON, Unusable, ask
from rlsh.env.script_runner import ASKED, REQUEST
from rlsh.sandbox.base import Limits, Sandbox, SandboxError
from rlsh.tasks import values
from rlsh.tasks.checks import LINE_BYTES, MAX_CASES, Case, PythonCheck, ScriptCheck, call_from_tagged, expected_to_json
from rlsh.tasks.values import to_tagged
from rlsh.types import Entry, RlshError, Tree, Verdict

DRIVER = "".join(Path(str(module.__file__)).read_text(encoding="utf-8") for module in (values, script_runner))
COMMAND = f"exec {PYTHON} -I -S -B -c {shlex.quote(DRIVER)}"
ANSWER_BYTES = 1 << 20  # of all answers: they have to fit into the script's sandbox
MAX_NEW_CALLS = 8  # that a candidate's answers may lead to, beside the recorded ones
MAX_CALLS = 300  # of a reference
SHOWN_CHARS = 120

Answers = list[tuple[Any, dict[str, Any]]]  # a tagged call, its outcome as JSON


def run_script_check(check: ScriptCheck, tree: Tree, sandbox: Sandbox, limits: Limits) -> Verdict:
    """Reward 1 if the script comes to its end on what `check.file` answers, else 0 with reasons.

    Every fault of the candidate's is a 0; `infra` where the sandbox failed.
    """
    try:
        return _play(check, tree, sandbox, limits, MAX_NEW_CALLS)[1]
    except SandboxError as error:
        return Verdict(0.0, (f"the sandbox failed: {error}",), infra=True)


def record_calls(check: ScriptCheck, source: bytes, sandbox: Sandbox, limits: Limits) -> ScriptCheck:
    """`check` with the calls that its script makes when the reference `source` answers.

    Raises SandboxError where the host fails, RlshError where the script does not come to its end.
    """
    calls, verdict = _play(replace(check, calls=()), {check.file: Entry(source)}, sandbox, limits, MAX_CALLS)
    if verdict.infra:
        raise SandboxError(verdict.reasons[0])
    if verdict.reward != 1.0:
        raise RlshError(f"the reference for {check.function} in {check.file} fails its tests: {verdict.reasons[0]}")
    return replace(check, calls=tuple(calls))


def _play(check: ScriptCheck, tree: Tree, sandbox: Sandbox, limits: Limits, more: int) -> tuple[list[Case], Verdict]:
    """All calls that the script made, and the verdict. Raises SandboxError where the script's sandbox failed."""
    calls, answers = list(check.calls), Answers()
    flags: tuple[str, ...] = ()
    waiting = calls
    for _ in range(more + 1):
        for start in range(0, len(waiting), MAX_CASES):
            given, verdict = _ask(check, waiting[start : start + MAX_CASES], tree, sandbox, limits)
            if verdict.reward != 1.0:
                return calls, verdict
            answers, flags = answers + given, verdict.flags
        if len(json.dumps(answers)) > ANSWER_BYTES:
            return calls, Verdict(0.0, (f"its answers are larger than {ANSWER_BYTES} bytes",), flags)
        failure, call = _run(check, answers, sandbox, limits)
        if call is None:
            return calls, Verdict(0.0 if failure else 1.0, (failure,) if failure else (), flags)
        waiting = [call]
        calls = [*calls, call]
    return calls, Verdict(0.0, (f"the tests make more than {more} further calls",), flags)


def _ask(
    check: ScriptCheck, calls: list[Case], tree: Tree, sandbox: Sandbox, limits: Limits
) -> tuple[Answers, Verdict]:
    """The candidate's answers to these calls; none of them without the verdict's reward."""
    try:
        questions = PythonCheck(check.file, check.function, tuple(calls))
    except ValueError as error:  # what the candidate answered is part of the question, and is large
        return [], Verdict(0.0, (str(error),))
    given, verdict = ask(questions, tree, sandbox, limits)
    unusable = [answer.reason for answer in given if isinstance(answer, Unusable)]
    if unusable:
        return [], Verdict(0.0, (unusable[0],), verdict.flags)
    tagged = [to_tagged((call.args, dict(call.kwargs))) for call in calls]
    return list(zip(tagged, map(expected_to_json, given), strict=False)), verdict


def _run(check: ScriptCheck, answers: Answers, sandbox: Sandbox, limits: Limits) -> tuple[str, Case | None]:
    """Why the script failed ("": it did not), and the call that it needs an answer to."""
    request = {"function": check.function, "script": check.script, "answers": answers}
    room = replace(limits, output_bytes=2 * LINE_BYTES)
    with sandbox.open({REQUEST: Entry(json.dumps(request).encode())}, room) as workspace:
        result = workspace.exec(COMMAND)
    if result.timed_out:
        return "the tests timed out", None
    if result.exit_code == 0:
        return "", None
    try:
        said = json.loads(result.stdout)
        if result.exit_code == ASKED:
            return "", call_from_tagged(said["ask"])
        return f"the tests failed: {said['failed']!a:.{SHOWN_CHARS}}", None
    except (ValueError, KeyError):  # killed for its memory, say, or an argument too long to be written down
        return f"the tests ended with exit code {result.exit_code}", None
