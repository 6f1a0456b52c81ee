"""Each estimator against a figure worked out another way: enumeration, print, algebra, or simulation."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest

from rlsh.stats import Interval, cluster_bootstrap, paired_bootstrap, paired_gain, pass_at_k


def test_interval_prints_percent_and_round_trips() -> None:
    interval = Interval(0.412, 0.37, 0.455)
    assert str(interval) == "41.2% [37.0, 45.5]"
    assert Interval(**interval.as_dict()) == interval


@pytest.mark.parametrize("n", [1, 4, 7])
def test_pass_at_k_equals_the_share_of_subsets_with_a_pass(n: int) -> None:
    for c in range(n + 1):
        passed = [i < c for i in range(n)]
        for k in range(1, n + 1):
            subsets = list(combinations(passed, k))
            assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, subsets)) / len(subsets), abs=1e-15)


def test_pass_at_k_is_unbiased_where_the_plug_in_is_not() -> None:
    n, k, p = 6, 3, 0.3
    weights = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    truth = 1 - (1 - p) ** k
    ours = sum(w * pass_at_k(n, c, k) for c, w in enumerate(weights))
    plug_in = sum(w * (1 - (1 - c / n) ** k) for c, w in enumerate(weights))
    assert ours == pytest.approx(truth, abs=1e-12)
    assert abs(plug_in - truth) > 0.03  # the control


def test_pass_at_k_neither_overflows_nor_cancels() -> None:
    assert pass_at_k(10_000, 1, 5_000) == 0.5  # C(10000, 5000) has 3008 digits
    tiny = pass_at_k(10**9, 1, 1)
    assert tiny == 1e-9
    naive = 1 - (10**9 - 1) / 10**9
    assert naive != tiny  # the control: one minus a ratio has already lost half its digits


@pytest.mark.parametrize(("n", "c", "k"), [(4, 5, 1), (4, -1, 1), (4, 2, 5), (4, 2, 0)])
def test_pass_at_k_refuses_impossible_counts(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match=f"n={n}, c={c}, k={k}"):
        pass_at_k(n, c, k)


def normal_width(variance: float) -> float:
    """Width of a 95% interval of a normal variable."""
    return float(2 * NormalDist().inv_cdf(0.975) * variance**0.5)


def width(interval: Interval) -> float:
    return interval.high - interval.low


FAMILIES = [f"family-{f:02d}" for f in range(30)]


def test_both_stages_contribute_their_variance() -> None:
    """Balanced families: Var* = (variance of family means + mean variance of tasks / m) / F, exactly."""
    rng = np.random.default_rng(0)
    m = 5
    table = rng.normal(rng.normal(size=(30, 1)), 1.0, size=(30, m))  # (F, m)
    expected = (table.mean(axis=1).var() + table.var(axis=1).mean() / m) / 30
    interval = cluster_bootstrap(table.ravel().tolist(), np.repeat(FAMILIES, m).tolist(), seed=1, resamples=20_000)
    assert interval.value == pytest.approx(table.mean())
    assert width(interval) == pytest.approx(normal_width(expected), rel=0.03)


def test_one_family_is_the_ordinary_bootstrap() -> None:
    values = np.random.default_rng(0).normal(size=200)
    interval = cluster_bootstrap(values.tolist(), ["only"] * 200, seed=1, resamples=20_000)
    assert width(interval) == pytest.approx(normal_width(values.var() / 200), rel=0.03)


def test_twins_in_a_family_add_no_information() -> None:
    """Copying every task leaves the interval alone; the control, blind to families, shrinks by sqrt(2)."""
    scores = np.random.default_rng(0).random(30)
    single = cluster_bootstrap(scores.tolist(), FAMILIES, seed=1, resamples=20_000)
    copied, families = np.repeat(scores, 2).tolist(), np.repeat(FAMILIES, 2).tolist()
    assert width(cluster_bootstrap(copied, families, seed=1, resamples=20_000)) == pytest.approx(
        width(single), rel=0.03
    )
    blind = cluster_bootstrap(copied, ["all"] * 60, seed=1, resamples=20_000)
    assert width(blind) == pytest.approx(width(single) / 2**0.5, rel=0.05)


def test_the_mean_is_over_tasks_not_over_families() -> None:
    values, families = [1.0] * 9 + [0.0], ["large"] * 9 + ["small"]
    interval = cluster_bootstrap(values, families, seed=0)
    assert interval == Interval(0.9, 0.0, 1.0)
    # large + small, drawn once each, must weigh 9 to 1 in the resamples too: half of them are at 0.9.
    middle = cluster_bootstrap(values, families, seed=0, confidence=0.4)
    assert (middle.low, middle.high) == (0.9, 0.9)


def test_seeded_and_blind_to_how_families_interleave() -> None:
    values, families = [0.0, 0.2, 0.9, 1.0, 0.4, 0.5], ["b", "b", "a", "a", "c", "c"]
    order = [2, 0, 4, 1, 5, 3]  # inside each family the order stays
    first = cluster_bootstrap(values, families, seed=7)
    assert first == cluster_bootstrap(values, families, seed=7)
    shuffled = cluster_bootstrap([values[i] for i in order], [families[i] for i in order], seed=7)
    assert (shuffled.low, shuffled.high) == (first.low, first.high)
    assert cluster_bootstrap(values, families, seed=8) != first


def test_confidence_widens_the_interval() -> None:
    values = np.random.default_rng(0).random(30).tolist()
    narrow, wide = (cluster_bootstrap(values, FAMILIES, seed=1, confidence=c) for c in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_coverage_holds_for_correlated_families_and_fails_for_the_naive_bootstrap() -> None:
    """Families pass 90% or 10% of their tasks, by a coin: the mean over all possible families is 0.5."""
    rng = np.random.default_rng(0)
    families, m, trials = 20, 10, 300
    labels = np.repeat(FAMILIES[:families], m).tolist()
    hits = {"two-stage": 0, "naive": 0}
    for trial in range(trials):
        p = np.repeat(rng.choice([0.1, 0.9], size=families), m)
        values = (rng.random(families * m) < p).astype(float).tolist()
        for name, clusters in {"two-stage": labels, "naive": ["all"] * len(labels)}.items():
            interval = cluster_bootstrap(values, clusters, seed=trial, resamples=400)
            hits[name] += interval.low <= 0.5 <= interval.high
    assert hits["two-stage"] / trials > 0.90  # 0.93 here; nominal 0.95
    assert hits["naive"] / trials < 0.70  # the control


def test_pairing_removes_the_difficulty_of_the_tasks() -> None:
    rng = np.random.default_rng(0)
    before = rng.random(30)
    after = before + 0.05 + 0.01 * rng.normal(size=30)
    paired = paired_bootstrap(before.tolist(), after.tolist(), FAMILIES, seed=1)
    assert paired.value == pytest.approx(after.mean() - before.mean())
    assert 0 < paired.low < paired.value < paired.high
    # The control: unpaired, the same gain drowns.
    apart = [cluster_bootstrap(x.tolist(), FAMILIES, seed=1) for x in (before, after)]
    assert apart[0].high > apart[1].low


def test_paired_bootstrap_respects_families() -> None:
    gains = np.repeat(np.random.default_rng(0).normal(size=30), 4).tolist()
    zeros = [0.0] * 120
    families = np.repeat(FAMILIES, 4).tolist()
    aware = paired_bootstrap(zeros, gains, families, seed=1)
    assert width(aware) > 1.7 * width(paired_bootstrap(zeros, gains, ["all"] * 120, seed=1))


def test_ragged_input_is_refused() -> None:
    with pytest.raises(ValueError, match="got 0, 0"):
        cluster_bootstrap([], [], seed=0)
    with pytest.raises(ValueError, match="got 2, 1"):
        cluster_bootstrap([1.0, 0.0], ["a"], seed=0)
    with pytest.raises(ValueError, match="same tasks"):
        paired_bootstrap([1.0], [1.0, 0.0], ["a"], seed=0)


def test_paired_gain_pairs_tasks_and_keeps_to_its_sets() -> None:
    def record(rates: dict[str, float | None]) -> dict[str, object]:
        families = {"easy": {"set": "demonstrated"}, "hard": {"set": "never_met"}}
        return {"per_task": {i: {"pass_at_1": r} for i, r in rates.items()}, "by_family": families}

    before = record({"easy-1": 0.25, "easy-2": 0.5, "easy-3": None, "hard-1": 0.0})
    after = record({"easy-1": 0.75, "easy-2": 1.0, "easy-3": 1.0, "hard-1": 0.125})
    assert paired_gain(before, after, ["demonstrated"], seed=0) == Interval(0.5, 0.5, 0.5)
    assert paired_gain(before, after, ["never_met"], seed=0).value == 0.125
    assert paired_gain(before, after, ["demonstrated", "never_met"], seed=0).value == pytest.approx(1.125 / 3)
    with pytest.raises(KeyError):
        paired_gain(before, record({"easy-1": 1.0}), ["demonstrated"], seed=0)
