"""Attack files, and what becomes of each against a sandbox and a verdict: seen from outside, never as it claims."""

from __future__ import annotations

import contextlib
import time
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from rlsh.attacks.stage import Stage, fill, words_in
from rlsh.attacks.targets import Target
from rlsh.attacks.watch import Watch, marked
from rlsh.sandbox.base import Limits, Sandbox, SandboxError, WorkspaceError
from rlsh.types import RlshError, Verdict

SUITE = Path(__file__).with_name("suite")
Aim = Literal["reward", "escape", "survive", "infra", "exhaust"]
WORKERS = 3  # that a sandbox under attack must have: an attack, its neighbour, and one to spare
BASE = Limits(wall_s=1.0, tree_memory_mb=128)
PATIENT = Limits(wall_s=20.0)  # the neighbour's: what it must not do is fail
PAUSE_S = 0.2  # between two honest neighbours
# How far over a limit counts as an escape. Memory is looked at now and then, processes include the sandbox's own.
TOLERATED = 2.0
STARTED = "python3 -B {file}"
EDITED = b"edited\n"


@dataclass(frozen=True)
class Attack:
    """One file of the suite. `group`, the class of attacks, is the folder that it lies in."""

    group: str
    name: str
    about: str
    target: Literal["stdout", "tree", "python"]
    aims: Aim
    control: str  # see `controls.py`; "none: REASON" where an attack cannot be let succeed
    command: str  # without one, a source is started on its own
    source: str | None = None  # of the file that the Python target names
    generic: bool = False  # makes sense against any task that has its words
    limits: dict[str, Any] = field(default_factory=dict)  # laid over BASE

    @property
    def id(self) -> str:
        return f"{self.group}/{self.name}"

    @property
    def text(self) -> str:
        return self.command + (self.source or "")

    @property
    def needs(self) -> set[str]:
        """Words that a target must have: what the text leaves open, and the file that a source is for."""
        return words_in(self.text) | ({"file"} if self.source is not None else set())


@dataclass(frozen=True)
class Row:
    """What became of one attack on one backend."""

    attack: Attack
    path: str  # how commands are started: cold or warm
    rewarded: bool
    escaped: tuple[str, ...]  # what was reached
    survivors: int
    infra_forged: bool
    seconds: float
    neighbour: bool  # the repair passed all the while
    neighbour_seconds: float  # the slowest
    why: tuple[str, ...]  # the verdict's reasons and flags

    @property
    def held(self) -> bool:
        bad = self.rewarded or self.escaped or self.survivors or self.infra_forged
        return not bad and self.neighbour

    def as_json(self) -> dict[str, object]:
        return {
            "class": self.attack.group,
            "attack": self.attack.name,
            "backend": "container" if self.path == "container" else "linux",
            "path": self.path,
            "aims": self.attack.aims,
            "rewarded": self.rewarded,
            "escaped": bool(self.escaped),
            "reached": list(self.escaped),
            "survivors": self.survivors,
            "infra_forged": self.infra_forged,
            "seconds": round(self.seconds, 3),
            "neighbour_passed": self.neighbour,
            "neighbour_seconds": round(self.neighbour_seconds, 3),
            # names of files need not be Unicode
            "why": [reason.encode(errors="backslashreplace").decode() for reason in self.why],
        }


def totals(rows: Sequence[Row]) -> dict[str, int]:
    return {
        "attacks": len(rows),
        "rewarded": sum(row.rewarded for row in rows),
        "escaped": sum(bool(row.escaped) for row in rows),
        "survivors": sum(row.survivors for row in rows),
        "infra_forged": sum(row.infra_forged for row in rows),
        "neighbours_failed": sum(not row.neighbour for row in rows),
    }


# --- files --------------------------------------------------------------------------------------------------


def load_attacks(folder: Path = SUITE) -> list[Attack]:
    """`folder/CLASS/NAME.toml`, sorted. Raises RlshError naming the file and what is wrong with it."""
    paths = sorted(folder.glob("*/*.toml"))
    if not paths:
        raise RlshError(f"{folder}: no attacks here; one is a file CLASS/NAME.toml")
    return [load_attack(path) for path in paths]


def load_attack(path: Path) -> Attack:
    """Raises RlshError naming the file and what is wrong with it."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RlshError(f"{path}: cannot read this attack ({error})") from None
    known = {f.name for f in fields(Attack)} - {"group", "name"}
    if unknown := sorted(table.keys() - known):
        raise RlshError(f"{path}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    if missing := [key for key in ("about", "target", "aims", "control") if key not in table]:
        raise RlshError(f"{path}: {missing[0]} is missing")
    if "command" not in table and "source" not in table:
        raise RlshError(f"{path}: it needs a command or a source")
    hints = get_type_hints(Attack)
    for key, value in table.items():
        allowed = get_args(hints[key]) if key in ("target", "aims") else ()
        if allowed and value not in allowed:
            raise RlshError(f"{path}: {key} = {value!r} is none of {', '.join(allowed)}")
        wanted = {"generic": bool, "limits": dict}.get(key, str)
        if not isinstance(value, wanted):
            raise RlshError(f"{path}: {key} = {value!r:.40} is not of type {wanted.__name__}")
    if "source" in table and table["target"] != "python":
        raise RlshError(f"{path}: a source is for the target python, not for {table['target']}")
    if wrong := sorted(table.get("limits", {}).keys() - {f.name for f in fields(Limits)}):
        raise RlshError(f"{path}: there is no limit {wrong[0]!r}")
    return Attack(path.parent.name, path.stem, **{"command": STARTED} | table)


# --- one attack -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """Of one try: all that came out of its sandbox, and the verdict."""

    seen: bytes
    verdict: Verdict
    output: int = 0  # bytes of the longer stream


def run_attack(attack: Attack, target: Target, sandbox: Sandbox, path: str) -> Row:
    """Tries `attack` while honest neighbours repair the same target in the same sandbox. Raises SandboxError where
    the host fails apart from the attack."""
    limits = replace(BASE, **attack.limits)
    with Stage(target.answers) as stage, ThreadPoolExecutor(1) as pool:
        words = target.words | stage.words
        command = fill(attack.command, words)
        source = None if attack.source is None else fill(attack.source, words)
        uses_marker = stage.marker in command + (source or "")
        with Watch(stage.marker if uses_marker else None, attack.aims == "exhaust") as watch:
            began = time.monotonic()
            trying = pool.submit(attempt, target, command, source, sandbox, limits)
            passed, slowest = honest_neighbours(target, sandbox, lambda: bool(wait([trying], PAUSE_S).done))
            outcome = trying.result()
            seconds = time.monotonic() - began
        escaped = stage.reached(outcome.seen) + ["held capabilities"] * bool(watch.privileged)
        escaped += exceeded({**watch.peak, "output_bytes": outcome.output}, limits)
        return Row(
            attack=attack,
            path=path,
            rewarded=outcome.verdict.reward > 0.0 and not outcome.verdict.infra,
            escaped=tuple(escaped),
            survivors=len(marked(stage.marker)) + (planted(stage.marker, sandbox) if uses_marker else 0),
            infra_forged=outcome.verdict.infra,
            seconds=seconds,
            neighbour=passed,
            neighbour_seconds=slowest,
            why=outcome.verdict.reasons + outcome.verdict.flags,
        )


def attempt(target: Target, command: str, source: str | None, sandbox: Sandbox, limits: Limits) -> Outcome:
    """As an episode goes: the command on the visible files, a look at what it left, then the verdict."""
    seen, tree = b"", {}
    try:
        with sandbox.open(target.workspace(source), limits) as workspace:
            result = workspace.exec(command)
            seen = result.stdout + result.stderr
            with contextlib.suppress(WorkspaceError):  # more than a workspace may hold
                tree = dict(workspace.export())
            seen += b"".join(entry.content for entry in tree.values() if entry.kind == "file")
            for path in target.task.files:  # what the edit tool does; a link may stand there now
                with contextlib.suppress(WorkspaceError):
                    seen += workspace.read(path)
                    workspace.write(path, EDITED)
        verdict = target.judge(command, tree, sandbox, limits)
        return Outcome(seen, verdict, max(len(result.stdout), len(result.stderr)))
    except SandboxError as error:
        return Outcome(seen, Verdict(0.0, (f"the sandbox failed: {error}",), infra=True))


def honest_neighbours(target: Target, sandbox: Sandbox, over: Callable[[], bool]) -> tuple[bool, float]:
    """Whether the repair passes, again and again until `over`, and how long it took at the most."""
    command, source = target.honest
    passed, slowest = True, 0.0
    while passed:
        began = time.monotonic()
        passed = attempt(target, command, source, sandbox, PATIENT).verdict.reward == 1.0
        slowest = max(slowest, time.monotonic() - began)
        if over():
            break
    return passed, slowest


def exceeded(peak: dict[str, float], limits: Limits) -> list[str]:
    """Limits that did not hold. Time is not among them: what a command's wall clock does not end ends its worker."""
    over = {key: used for key, used in peak.items() if used > TOLERATED * vars(limits)[key]}
    return [f"used {used:.0f} of {vars(limits)[key]} {key}" for key, used in over.items()]


def planted(marker: str, sandbox: Sandbox) -> int:
    """Files named after `marker` that another episode finds, whichever worker it comes to."""
    look = "ls -A / /work /tmp /var/tmp /dev/shm /run /etc 2>/dev/null"
    with contextlib.ExitStack() as stack:
        places = [stack.enter_context(sandbox.open({}, PATIENT)) for _ in range(WORKERS)]
        return sum(place.exec(look).stdout.count(marker.encode()) for place in places)
