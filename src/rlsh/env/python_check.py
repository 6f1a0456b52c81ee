"""The verdict on a Python function: inputs go into a fresh sandbox, values come out and are compared out here."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from rlsh.env import runner
from rlsh.env.runner import NO_ANSWER
from rlsh.sandbox.base import ExecResult, Limits, Sandbox, SandboxError
from rlsh.tasks import values
from rlsh.tasks.checks import LINE_BYTES, PythonCheck, Raised, expected_from_json, expected_to_json
from rlsh.tasks.values import same
from rlsh.types import Entry, RlshError, Tree, Verdict

PYTHON = "python3"  # of the sandbox, whose PATH holds nothing that a candidate can write
DRIVER = "".join(Path(str(module.__file__)).read_text(encoding="utf-8") for module in (values, runner))
SOURCE_BYTES = 1 << 18
SHOWN_CHARS, SHOWN_CASES = 60, 3
HOOKS = {"sitecustomize", "usercustomize", "conftest"}


class UnfitAnswerError(RlshError):
    """There is nothing to judge, or it cannot be read: the answer's own fault."""


def file_in(tree: Tree, path: str) -> Entry:
    """Raises UnfitAnswerError where there is no regular file at `path`."""
    entry = tree.get(path)
    if entry is None or entry.kind != "file":
        raise UnfitAnswerError(f"{path} is {'missing' if entry is None else f'a {entry.kind}'}")
    return entry


@dataclass(frozen=True)
class Unusable:
    """An answer that equals nothing, and why."""

    reason: str


def _outcome_from_json(value: Any) -> object:
    """A value, Raised or Unusable, as `runner.answer` wrote it. Raises ValueError where nobody did."""
    match value:
        case {"unloadable": str(why), **rest} if not rest:
            return Unusable(f"the file cannot be loaded: {why!a:.{SHOWN_CHARS}}")
        case {"unreadable": str(why), **rest} if not rest:
            return Unusable(f"what it returned cannot be read: {why!a:.{SHOWN_CHARS}}")
    return expected_from_json(value)


def _command(check: PythonCheck) -> str:
    """The command that answers every case of `check` on a line of its own. No expected value is in it."""
    request = {"file": check.file, "function": check.function, "returns": check.returns, "cases": check.inputs()}
    text = json.dumps({**request, "line_bytes": LINE_BYTES})
    return f"exec {PYTHON} -I -S -B -c {shlex.quote(DRIVER)} {shlex.quote(text)}"


def _run(check: PythonCheck, source: bytes, sandbox: Sandbox, limits: Limits, around: str = "{}") -> ExecResult:
    """`around` is a command line with a place for the command that answers.

    Raises SandboxError where the host failed, RlshError where `limits` leave no room for a source file."""
    room = replace(limits, output_bytes=len(check.cases) * LINE_BYTES)
    with sandbox.open({check.file: Entry(source)}, room) as workspace:
        return workspace.exec(around.format(_command(check)))


def _answers(check: PythonCheck, result: ExecResult) -> list[object] | None:
    """A value, Raised or Unusable per line. None where a line is one that `runner.py` would not write."""
    *lines, rest = result.stdout.split(b"\n")
    if rest or len(lines) > len(check.cases):
        return None
    try:
        return [_outcome_from_json(_parse(line)) for line in lines]
    except (ValueError, RecursionError):  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        return None


def _parse(line: bytes) -> Any:
    if len(line) > LINE_BYTES:
        raise ValueError(f"a line longer than {LINE_BYTES} bytes")
    return json.loads(line.decode("ascii"))


def run_python_check(check: PythonCheck, tree: Tree, sandbox: Sandbox, limits: Limits) -> Verdict:
    """Reward 1 if `check.file`, alone in a fresh sandbox, answers every case as expected, else 0 with reasons.

    `tree` is what the candidate left; no other file of it is used, but import hooks among them are flagged. Every
    fault of the candidate's is a 0, SandboxError alone is `infra`.
    """
    answers, verdict = ask(check, tree, sandbox, limits)
    if verdict.reward != 1.0:
        return verdict
    reasons = _differences(check, answers)
    forced = any(answer == Raised("SystemExit") for answer in answers) and reasons
    return Verdict(0.0 if reasons else 1.0, reasons, verdict.flags + (("forced exit",) if forced else ()))


def ask(check: PythonCheck, tree: Tree, sandbox: Sandbox, limits: Limits) -> tuple[list[object], Verdict]:
    """What `check.file` answers to the cases, whatever is expected: a value, Raised or Unusable for each.

    The verdict is 1 where they all were answered; otherwise it is final, and there are no answers.
    """
    flags = tuple(f"shim: {path}" for path in sorted(tree) if path != check.file and _is_shim(path))
    try:
        entry = file_in(tree, check.file)
    except UnfitAnswerError as error:
        return [], Verdict(0.0, (str(error),), flags)
    if len(entry.content) > SOURCE_BYTES:
        return [], Verdict(0.0, (f"{check.file} is larger than {SOURCE_BYTES} bytes",), flags)
    try:
        result = _run(check, entry.content, sandbox, limits)
    except SandboxError as error:
        return [], Verdict(0.0, (f"the sandbox failed: {error}",), flags, infra=True)
    answers, reason, flag = _read(check, result)
    if reason:
        return [], Verdict(0.0, (reason,), flags + ((flag,) if flag else ()))
    return answers, Verdict(1.0, flags=flags)


def _is_shim(path: str) -> bool:
    """Whether an import somewhere could find this file instead of what it looks for, or a start-up could run it."""
    name = PurePosixPath(path)
    top = name.parts[0].removesuffix(".py")
    return name.suffix == ".pth" or name.stem in HOOKS or (top in sys.stdlib_module_names and name.suffix == ".py")


def _read(check: PythonCheck, result: ExecResult) -> tuple[list[object], str, str]:
    """The answers, or the reason why there are not as many as cases and the flag that goes with it ("": none)."""
    if result.timed_out:
        return [], "timed out", ""
    answers = _answers(check, result)
    if answers is None:
        return [], "it wrote to the channel of the answers", "forged answers"
    if len(answers) < len(check.cases):
        ended = f"case {len(answers) + 1}: its process ended without an answer (exit code {result.exit_code})"
        return [], ended, "forced exit" if result.exit_code in (0, NO_ANSWER) else ""  # not where a signal ended it
    if result.left_over:
        return [], f"{result.left_over} processes were left behind", "background process"
    if result.exit_code != 0:
        return [], f"exit code {result.exit_code} after the last answer", ""
    return answers, "", ""


def _differences(check: PythonCheck, answers: Sequence[object]) -> tuple[str, ...]:
    """What is wrong, for people to read: it never reaches the policy."""
    found = []
    for number, (case, got) in enumerate(zip(check.cases, answers, strict=True), 1):
        if isinstance(got, Unusable):
            found.append(f"case {number}: {got.reason}")
        elif not agree(case.expected, got, check.tolerance):
            found.append(f"case {number}: {_shown(got)}, expected {_shown(case.expected)}")
    return tuple(found[:SHOWN_CASES] + ["…"] * (len(found) > SHOWN_CASES))


def agree(expected: object, got: object, tolerance: float | None) -> bool:
    """Whether `got`, of `ask`, is what a case expects."""
    if isinstance(expected, Raised) or isinstance(got, Raised):
        return expected == got
    return same(expected, got, tolerance)


def _shown(outcome: object) -> str:
    """Not `repr`, which refuses large ints."""
    return json.dumps(expected_to_json(outcome))[:SHOWN_CHARS]


def record_expected(draft: PythonCheck, source: bytes, sandbox: Sandbox, limits: Limits) -> PythonCheck:
    """`draft` with the answers of the reference `source` as expected values, whatever it had for them.

    Raises SandboxError where the host fails, RlshError where the reference leaves a case without a usable answer.
    """
    result = _run(draft, source, sandbox, limits)
    answers = _answers(draft, result) or []
    unusable = [answer.reason for answer in answers if isinstance(answer, Unusable)]
    if unusable or len(answers) != len(draft.cases) or result.exit_code != 0:
        said = unusable[0] if unusable else ascii(result.stderr.decode(errors="replace")[-200:])
        raise RlshError(
            f"the reference for {draft.function} in {draft.file} gave {len(answers) - len(unusable)} answers to "
            f"{len(draft.cases)} cases (exit code {result.exit_code}): {said}"
        )
    cases = (replace(case, expected=answer) for case, answer in zip(draft.cases, answers, strict=True))
    return replace(draft, cases=tuple(cases))


def answers_as_written(
    check: PythonCheck, source: bytes, sandbox: Sandbox, limits: Limits, around: str
) -> tuple[list[dict[str, Any]], ExecResult]:
    """What `source` answers to each case as `runner.answer` says it, until its process ended, and how the run went.

    Nothing is expected yet, and what is of no use is told as well. Errors and `around`: as `_run`.
    """
    result = _run(check, source, sandbox, limits, around)
    written = [] if _answers(check, result) is None else result.stdout.split(b"\n")[:-1]
    return [_parse(line) for line in written], result
