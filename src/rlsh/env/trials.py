"""What came of every attempt at a task, kept, so that a build that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rlsh.runfolder import RunFolder
from rlsh.tasks.task import Task, from_json, to_json

PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Trial:
    """An attempt's outcome: a task, or the reason why there is none."""

    key: str
    task: Task | None
    reason: str = ""


class Trials:
    """Outcomes by key. Without a folder they are forgotten."""

    def __init__(self, run: RunFolder | None = None) -> None:
        self._run, self._found = run, dict[str, Trial]()
        self._rules = rules() if run is not None else ""
        for record in run.read("trials") if run is not None else ():
            if record["rules"] == self._rules:  # other rules, other outcomes
                task = None if record["task"] is None else from_json(record["task"])
                self._found[record["key"]] = Trial(record["key"], task, record["reason"])

    def get(self, key: str) -> Trial | None:
        return self._found.get(key)

    def keep(self, trial: Trial) -> None:
        """Raises RlshError where it cannot be written."""
        if self._run is not None and trial.key not in self._found:
            task = None if trial.task is None else to_json(trial.task)
            record = {"step": 0, "rules": self._rules, "key": trial.key, "reason": trial.reason, "task": task}
            self._run.append("trials", record)
            self._found[trial.key] = trial


@contextmanager
def kept_in(folder: Path) -> Iterator[Trials]:
    """The outcomes that `folder` holds and gets. Raises RlshError where it cannot be written, or another writes it."""
    with RunFolder.create(folder, "", resume=True) as run:
        yield Trials(run)


def rules() -> str:
    """Names the code that tasks are drawn and tried by."""
    digest = hashlib.sha256()
    for name in ("env", "sandbox", "tasks"):
        for path in sorted((PACKAGE / name).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
