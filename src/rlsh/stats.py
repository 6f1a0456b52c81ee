"""Error bars for pass rates: the unbiased pass@k, and bootstraps that respect families.

Tasks of one family come from one generator, so they are solved or failed together. An interval that treats
them as independent is too narrow, on popular evals up to threefold (Miller 2024, "Adding Error Bars to
Evals", arXiv:2411.00640). Every figure over tasks therefore goes through `cluster_bootstrap`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A share (or a difference of shares) with its confidence limits, all as fractions of 1."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """The form every JSON file of rlsh uses: `{"value", "low", "high"}`."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{100 * self.value:.1f}% [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def pass_at_k(n: int, c: int, k: int) -> float:
    """Chance that at least one of k samples passes, estimated from n samples of which c passed.

    Unbiased: 1 - C(n-c, k) / C(n, k) (Chen et al. 2021, arXiv:2107.03374, eq. 1). The plug-in 1 - (1 - c/n)^k
    is not. The counts stay integers until one division, which Python rounds correctly, so there is neither
    overflow nor cancellation. Raises ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass_at_k needs 0 <= c <= n and 1 <= k <= n, got n={n}, c={c}, k={k}")
    subsets = math.comb(n, k)
    return (subsets - math.comb(n - c, k)) / subsets


def cluster_bootstrap(
    values: Sequence[float],
    clusters: Sequence[str],
    *,
    seed: int,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """Percentile interval of the mean of `values`, one per task; `clusters[i]` is the family of task i.

    Two stages, both with replacement: draw as many families as there are, then from each drawn family as
    many tasks as it has (Davison & Hinkley 1997, *Bootstrap Methods and their Application*, section 3.8,
    strategy 2). Their strategy 1 keeps drawn families whole and its variance is nearer the truth when
    families are large and many; strategy 2 counts the spread inside a family once more, so it errs on the
    wide side. We take it because benchmarks have few families: with a single one it is the ordinary
    bootstrap over tasks, where strategy 1 would claim a width of zero. Families differ in size, so each
    resample's mean is a ratio: sum over its tasks / number of its tasks. The result depends on the seed and
    the order of tasks inside a family, not on how families are interleaved. With ten families or fewer any
    percentile interval still runs a little narrow.

    Raises ValueError on empty input or unequal lengths.
    """
    if not values or len(values) != len(clusters):
        raise ValueError(f"need one cluster per value and at least one, got {len(values)}, {len(clusters)}")
    x = np.asarray(values, dtype=np.float64)  # (N,)
    names, family_of = np.unique(np.asarray(clusters), return_inverse=True)  # (F,), (N,)
    sizes = np.bincount(family_of)  # (F,)
    rng = np.random.default_rng(seed)

    drawn = rng.integers(len(names), size=(resamples, len(names)))  # (R, F)
    sums = np.empty(drawn.shape)  # (R, F)
    for family, size in enumerate(sizes):
        members = x[family_of == family]  # (size,)
        where = drawn == family  # (R, F)
        picks = rng.integers(size, size=(int(where.sum()), size))  # (times drawn, size)
        sums[where] = members[picks].sum(axis=1)
    means: Floats = sums.sum(axis=1) / sizes[drawn].sum(axis=1)  # (R,)

    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(x.mean()), float(low), float(high))


def paired_bootstrap(
    before: Sequence[float],
    after: Sequence[float],
    clusters: Sequence[str],
    *,
    seed: int,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """Interval of mean(after) - mean(before) over the *same* tasks, in the same order.

    A resample keeps each task's two scores together, so how hard the drawn tasks are cancels; two separate
    intervals would carry it twice. The difference is real at this confidence when the interval leaves 0 out.
    Raises ValueError on empty input or unequal lengths.
    """
    if len(before) != len(after):
        raise ValueError(f"pairs need the same tasks on both sides, got {len(before)} and {len(after)}")
    change = [b - a for a, b in zip(before, after, strict=True)]
    return cluster_bootstrap(change, clusters, seed=seed, resamples=resamples, confidence=confidence)


def paired_gain(before: Mapping[str, Any], after: Mapping[str, Any], sets: Sequence[str], *, seed: int) -> Interval:
    """Difference of pass@1 between two evaluation records of the same tasks, over the tasks of `sets`.

    Paired by task, resampled by family. Tasks whose episodes were all lost to the host on either side are left
    out. Raises ValueError if none is left, KeyError if the records are of different tasks.
    """
    first, second, families = [], [], []
    for task_id, row in before["per_task"].items():
        a, b = row["pass_at_1"], after["per_task"][task_id]["pass_at_1"]
        family = task_id.rpartition("-")[0]
        if before["by_family"][family]["set"] in sets and a is not None and b is not None:
            first.append(a)
            second.append(b)
            families.append(family)
    return paired_bootstrap(first, second, families, seed=seed)
