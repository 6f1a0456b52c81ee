"""The verdict on a Python function: inputs go into a fresh sandbox, values come out and are compared out here."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from rlsh.env.runner import NO_ANSWER
from rlsh.env.values import from_tagged, same, to_tagged
from rlsh.sandbox.base import ExecResult, Limits, Sandbox, SandboxError
from rlsh.types import Entry, RlshError, Tree, Verdict

Returns = Literal["value", "arguments"]

PYTHON = "python3"  # of the sandbox, whose PATH holds nothing that a candidate can write
DRIVER = "".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("values.py", "runner.py"))
MAX_CASES = 100
LINE_BYTES = 1 << 17  # of one answer; with MAX_CASES below what stops a sandbox's stream
COMMAND_BYTES = 120_000  # Linux takes arguments up to 128 KiB
SOURCE_BYTES = 1 << 18
SHOWN_CHARS, SHOWN_CASES = 60, 3
HOOKS = {"sitecustomize", "usercustomize", "conftest"}

_FILE = re.compile(r"(\w[\w.-]*/)*\w[\w.-]*\.py", re.ASCII)


@dataclass(frozen=True)
class Raised:
    """The call ended in an exception of this type's name."""

    type: str


@dataclass(frozen=True)
class Case:
    """One call. `expected` is a plain value or `Raised`; it stays on this side.

    Where the check returns arguments it is a pair: the value, and the tuple of positional arguments after the call.
    """

    args: tuple[object, ...]
    kwargs: Mapping[str, object] = field(default_factory=dict)
    expected: object = None


@dataclass(frozen=True)
class PythonCheck:
    """What `function` of `file` has to return, and with `returns="arguments"` to leave of its arguments.

    Raises ValueError where a field is not what it has to be, a value is no plain data, or the inputs are too large
    for one command line.
    """

    file: str
    function: str
    cases: tuple[Case, ...]
    tolerance: float | None = None  # see `values.same`
    returns: Returns = "value"

    def __post_init__(self) -> None:
        if not _FILE.fullmatch(self.file):
            raise ValueError(f"file = {self.file!r} is not the relative path of a Python file")
        if not self.function.isidentifier():
            raise ValueError(f"function = {self.function!r} is not a name")
        if not 1 <= len(self.cases) <= MAX_CASES:
            raise ValueError(f"{len(self.cases)} cases: a check has 1 to {MAX_CASES}")
        if self.returns not in get_args(Returns):
            raise ValueError(f"returns = {self.returns!r} is none of {', '.join(get_args(Returns))}")
        if self.tolerance is not None and not (type(self.tolerance) is float and 0.0 < self.tolerance < 1.0):
            raise ValueError(f"tolerance = {self.tolerance!r} is neither null nor a float between 0 and 1")
        for case in self.cases:
            if type(case.args) is not tuple or not all(type(name) is str for name in case.kwargs):
                raise ValueError(f"{case!r:.80} has arguments that no call has")
            if len(json.dumps(_outcome_to_json(case.expected))) >= LINE_BYTES:
                raise ValueError(f"an expected value does not fit into {LINE_BYTES} bytes")
        if len(_command(self)) > COMMAND_BYTES:
            raise ValueError(f"the inputs do not fit into {COMMAND_BYTES} bytes: take smaller ones or fewer cases")


@dataclass(frozen=True)
class _Unusable:
    """An answer that equals nothing, and why."""

    reason: str


# --- JSON ---------------------------------------------------------------------------------------------------


def check_to_json(check: PythonCheck) -> dict[str, Any]:
    """What `check_from_json` reads."""
    return {
        "file": check.file,
        "function": check.function,
        "returns": check.returns,
        "tolerance": check.tolerance,
        "cases": [
            {
                "args": [to_tagged(value) for value in case.args],
                "kwargs": {name: to_tagged(value) for name, value in case.kwargs.items()},
                "expected": _outcome_to_json(case.expected),
            }
            for case in check.cases
        ],
    }


def check_from_json(value: Any) -> PythonCheck:
    """Raises ValueError on anything else than `check_to_json` gives."""
    file, function, returns, tolerance, cases = _fields(
        value, file=str, function=str, returns=str, tolerance=float | None, cases=list
    )
    return PythonCheck(file, function, tuple(map(_case_from_json, cases)), tolerance, returns)


def _case_from_json(value: Any) -> Case:
    args, kwargs, outcome = _fields(value, args=list, kwargs=dict, expected=dict)
    expected = _outcome_from_json(outcome)
    if isinstance(expected, _Unusable):
        raise ValueError(f"expected: {expected.reason}")
    return Case(tuple(map(from_tagged, args)), {name: from_tagged(item) for name, item in kwargs.items()}, expected)


def _fields(value: Any, **types: Any) -> list[Any]:
    if not isinstance(value, dict) or value.keys() != types.keys():
        raise ValueError(f"{value!r:.60} is not an object with the keys {', '.join(types)}")
    for name, kind in types.items():
        if not isinstance(value[name], kind):
            raise ValueError(f"{name} = {value[name]!r:.40} is of a wrong type")
    return [value[name] for name in types]


def _outcome_to_json(outcome: object) -> dict[str, Any]:
    return {"raised": outcome.type} if isinstance(outcome, Raised) else {"value": to_tagged(outcome)}


def _outcome_from_json(value: Any) -> object:
    """A value, Raised or _Unusable, as `runner.answer` wrote it. Raises ValueError where nobody did."""
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("an answer is an object with one key")
    ((key, content),) = value.items()
    if key == "value":
        return from_tagged(content)
    if type(content) is not str or key not in ("raised", "unloadable", "unreadable"):
        raise ValueError(f"an answer has no key {key!r:.40}")
    if key == "raised":
        return Raised(content)
    what = "the file cannot be loaded" if key == "unloadable" else "what it returned cannot be read"
    return _Unusable(f"{what}: {content!a:.{SHOWN_CHARS}}")


# --- running ------------------------------------------------------------------------------------------------


def _command(check: PythonCheck) -> str:
    """The command that answers every case of `check` on a line of its own. No expected value is in it."""
    cases = [to_tagged((case.args, dict(case.kwargs))) for case in check.cases]
    request = {"file": check.file, "function": check.function, "returns": check.returns, "cases": cases}
    text = json.dumps({**request, "line_bytes": LINE_BYTES})
    return f"exec {PYTHON} -I -S -B -c {shlex.quote(DRIVER)} {shlex.quote(text)}"


def _run(check: PythonCheck, source: bytes, sandbox: Sandbox, limits: Limits) -> ExecResult:
    """Raises SandboxError where the host failed, RlshError where `limits` leave no room for a source file."""
    room = replace(limits, output_bytes=len(check.cases) * LINE_BYTES)
    with sandbox.open({check.file: Entry(source)}, room) as workspace:
        return workspace.exec(_command(check))


def _answers(check: PythonCheck, result: ExecResult) -> list[object] | None:
    """A value, Raised or _Unusable per line. None where a line is one that `runner.py` would not write."""
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
    flags = tuple(f"shim: {path}" for path in sorted(tree) if path != check.file and _is_shim(path))
    entry = tree.get(check.file)
    if entry is None or entry.kind != "file":
        return Verdict(0.0, (f"{check.file} is {'missing' if entry is None else f'a {entry.kind}'}",), flags)
    if len(entry.content) > SOURCE_BYTES:
        return Verdict(0.0, (f"{check.file} is larger than {SOURCE_BYTES} bytes",), flags)
    try:
        result = _run(check, entry.content, sandbox, limits)
    except SandboxError as error:
        return Verdict(0.0, (f"the sandbox failed: {error}",), flags, infra=True)
    reasons, more = _judge(check, result)
    return Verdict(0.0 if reasons else 1.0, reasons, flags + more)


def _is_shim(path: str) -> bool:
    """Whether an import somewhere could find this file instead of what it looks for, or a start-up could run it."""
    name = PurePosixPath(path)
    top = name.parts[0].removesuffix(".py")
    return name.suffix == ".pth" or name.stem in HOOKS or (top in sys.stdlib_module_names and name.suffix == ".py")


def _judge(check: PythonCheck, result: ExecResult) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Reasons (none: it passed) and flags."""
    if result.timed_out:
        return ("timed out",), ()
    answers = _answers(check, result)
    if answers is None:
        return ("it wrote to the channel of the answers",), ("forged answers",)
    if len(answers) < len(check.cases):
        ended = f"case {len(answers) + 1}: its process ended without an answer (exit code {result.exit_code})"
        return (ended,), ("forced exit",) if result.exit_code in (0, NO_ANSWER) else ()  # not where a signal ended it
    if result.left_over:
        return (f"{result.left_over} processes were left behind",), ("background process",)
    if result.exit_code != 0:
        return (f"exit code {result.exit_code} after the last answer",), ()
    reasons = _differences(check, answers)
    forced = any(answer == Raised("SystemExit") for answer in answers) and reasons
    return reasons, ("forced exit",) if forced else ()


def _differences(check: PythonCheck, answers: Sequence[object]) -> tuple[str, ...]:
    """What is wrong, for people to read: it never reaches the policy."""
    found = []
    for number, (case, got) in enumerate(zip(check.cases, answers, strict=True), 1):
        if isinstance(got, _Unusable):
            found.append(f"case {number}: {got.reason}")
        elif not _agree(case.expected, got, check.tolerance):
            found.append(f"case {number}: {_shown(got)}, expected {_shown(case.expected)}")
    return tuple(found[:SHOWN_CASES] + ["…"] * (len(found) > SHOWN_CASES))


def _agree(expected: object, got: object, tolerance: float | None) -> bool:
    if isinstance(expected, Raised) or isinstance(got, Raised):
        return expected == got
    return same(expected, got, tolerance)


def _shown(outcome: object) -> str:
    """Not `repr`, which refuses large ints."""
    return json.dumps(_outcome_to_json(outcome))[:SHOWN_CHARS]


def record_expected(draft: PythonCheck, source: bytes, sandbox: Sandbox, limits: Limits) -> PythonCheck:
    """`draft` with the answers of the reference `source` as expected values, whatever it had for them.

    Raises SandboxError where the host fails, RlshError where the reference leaves a case without a usable answer.
    """
    result = _run(draft, source, sandbox, limits)
    answers = _answers(draft, result) or []
    unusable = [answer.reason for answer in answers if isinstance(answer, _Unusable)]
    if unusable or len(answers) != len(draft.cases) or result.exit_code != 0:
        said = unusable[0] if unusable else ascii(result.stderr.decode(errors="replace")[-200:])
        raise RlshError(
            f"the reference for {draft.function} in {draft.file} gave {len(answers) - len(unusable)} answers to "
            f"{len(draft.cases)} cases (exit code {result.exit_code}): {said}"
        )
    cases = (replace(case, expected=answer) for case, answer in zip(draft.cases, answers, strict=True))
    return replace(draft, cases=tuple(cases))
