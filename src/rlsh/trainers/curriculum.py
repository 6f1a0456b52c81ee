"""Which tasks come next: what always passes or never does teaches a group nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from rlsh.tasks.task import Task
from rlsh.types import RlshError, Trajectory

FLOOR = 0.05  # weight of a family or task that always or never passes, beside 0.25 for one that does every other time
PACE = 0.3  # of the running pass rates of families: about three steps of memory
UNKNOWN = 0.5


@dataclass(frozen=True)
class PassRates:
    """Running pass rates of families, and what each task passed at when it was last played."""

    families: Mapping[str, float] = field(default_factory=dict)
    tasks: Mapping[str, float] = field(default_factory=dict)

    @staticmethod
    def measured(path: Path) -> PassRates:
        """What an evaluation of the training tasks found: `rlsh eval MODEL --tasks FILE --json PATH`.

        Raises RlshError where `path` holds none.
        """
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            families = {name: of["pass_at_1"] for name, of in found["by_family"].items()}
            tasks = {name: of["pass_at_1"] for name, of in found["per_task"].items()}
            return PassRates(
                {name: float(rate["value"]) for name, rate in families.items() if rate is not None},
                {name: float(rate) for name, rate in tasks.items() if rate is not None},
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            way_out = "make one with: rlsh eval MODEL --tasks FILE --json PATH"
            raise RlshError(f"difficulty = {path}: no evaluation ({error!r}); {way_out}") from None

    def family(self, name: str) -> float:
        return self.families.get(name, UNKNOWN)

    def task(self, task: Task) -> float:
        """Half of it the family's, which is up to date, half what this task last passed at, which may be long ago."""
        family = self.family(task.family)
        return (family + self.tasks.get(task.id, family)) / 2

    def followed(self, trajectories: Sequence[Trajectory]) -> PassRates:
        """Families moved by PACE towards the mean reward of the episodes just played, tasks set to theirs."""
        families: dict[str, list[float]] = defaultdict(list)
        tasks: dict[str, list[float]] = defaultdict(list)
        for t in trajectories:
            if not t.verdict.infra:
                families[t.family].append(t.verdict.reward)
                tasks[t.task_id].append(t.verdict.reward)
        moved = {name: self.family(name) + PACE * (fmean(of) - self.family(name)) for name, of in families.items()}
        return PassRates({**self.families, **moved}, {**self.tasks, **{name: fmean(of) for name, of in tasks.items()}})

    def as_dict(self) -> dict[str, Any]:
        return {"families": dict(self.families), "tasks": dict(self.tasks)}


def worth(rates: Sequence[float]) -> torch.Tensor:
    """p (1 - p) + FLOOR of each pass rate p, (n,).

    p (1 - p), the variance of the reward, is what a group can teach (Foster et al. 2025, arXiv:2502.12272,
    "learnability").
    """
    p = torch.tensor(rates, dtype=torch.float64)
    return p * (1 - p) + FLOOR


def pick_tasks(tasks: Sequence[Task], count: int, rates: PassRates, generator: torch.Generator) -> list[Task]:
    """`count` distinct tasks, or all: families in proportion to what they are worth, then tasks of each likewise.

    Families by systematic sampling, so that with equal rates as many tasks as families are one of each.
    """
    left: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        left[task.family].append(task)
    names = sorted(left)
    picked: list[Task] = []
    while (missing := min(count, len(tasks)) - len(picked)) > 0:
        weights = worth([rates.family(f) for f in names]) * torch.tensor([bool(left[f]) for f in names])
        steps = (weights.cumsum(0) / weights.sum()).clamp(max=1.0)  # (families,)
        points = (torch.arange(missing) + torch.rand(1, generator=generator, dtype=torch.float64)) / missing
        for f in torch.searchsorted(steps, points, right=True).clamp(max=len(names) - 1).tolist():
            family = left[names[f]]
            if family:
                shares = worth([rates.task(task) for task in family])
                picked.append(family.pop(int(torch.multinomial(shares, 1, generator=generator))))
    return picked
