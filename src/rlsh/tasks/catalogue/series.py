"""Statistics of lists of numbers, and series of measurements."""

import itertools
import math
from bisect import bisect_right
from collections import Counter

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.ints(-5, 20), d.number(0, 4)))
def moving_average(values: list[int], window: int) -> list[float]:
    """Return the means, rounded to 2 places, of all runs of `window` neighbouring values; no mean if there are fewer
    values; raise ValueError if `window` is below 1."""
    if window < 1:
        raise ValueError("the window has no values")
    if len(values) < window:
        return []
    total = sum(values[:window])
    means = [round(total / window, 2)]
    for i in range(window, len(values)):
        total += values[i] - values[i - window]
        means.append(round(total / window, 2))
    return means


@reference(lambda d: (d.ints(0, 30, 9), d.pick((0, 25, 50, 90, 100, 101, -1, d.number(0, 100), d.number(0, 100)))))
def percentile(values: list[int], percent: int) -> float:
    """Return the percentile of `values`, rounded to 2 places and interpolated linearly between the two values next to
    it in sorted order; raise ValueError if there are no values or `percent` is not from 0 to 100."""
    if not values or not 0 <= percent <= 100:
        raise ValueError("no such percentile")
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    between = ordered[low] + (ordered[high] - ordered[low]) * (position - low)
    return round(between, 2)


@reference(lambda d: (d.ints(0, 4, 9),))
def modes(values: list[int]) -> tuple[list[int], int]:
    """Return the most frequent values in rising order and how often each occurs; ([], 0) for no values."""
    if not values:
        return [], 0
    counts = Counter(values)
    most = max(counts.values())
    return sorted(value for value, count in counts.items() if count == most), most


@reference(lambda d: (d.ints(-12, 30), d.pick((1, 5, 10))))
def histogram(values: list[int], width: int) -> list[tuple[int, int]]:
    """Count `values` in bins of `width` that start at multiples of it, negative ones too; return pairs of start and
    count for all bins from the lowest to the highest value, empty bins between them included."""
    counts: dict[int, int] = {}
    for value in values:
        start = value // width * width
        counts[start] = counts.get(start, 0) + 1
    if not counts:
        return []
    return [(start, counts.get(start, 0)) for start in range(min(counts), max(counts) + 1, width)]


@reference(lambda d: (d.ints(0, 50),))
def largest_drop(prices: list[int]) -> tuple[int, int, int]:
    """Find the largest fall from a price to a later one; return the fall and the indices of both prices, the earliest
    later price and then the earliest first price if several fit, or (0, -1, -1) if no price ever falls."""
    best = (0, -1, -1)
    peak = 0
    for i, price in enumerate(prices):
        if price > prices[peak]:
            peak = i
        drop = prices[peak] - price
        if drop > best[0]:
            best = (drop, peak, i)
    return best


@reference(lambda d: (d.ints(0, 20), d.number(0, 10), d.number(5, 20)))
def rescale(values: list[int], low: int, high: int) -> list[float]:
    """Map `values` linearly so that the smallest becomes `low` and the largest `high`, rounded to 2 places; if all
    are equal, every one becomes the middle of the two."""
    if not values:
        return []
    smallest, largest = min(values), max(values)
    if smallest == largest:
        return [(low + high) / 2] * len(values)
    span = largest - smallest
    return [round(low + (value - smallest) * (high - low) / span, 2) for value in values]


@reference(lambda d: (d.ints(0, 6),))
def ranks(values: list[int]) -> list[float]:
    """Return the rank of each value, 1 for the largest; equal values share the mean of the ranks they take up."""
    ordered = sorted(values, reverse=True)
    result = []
    for value in values:
        first = ordered.index(value) + 1
        last = first + ordered.count(value) - 1
        result.append((first + last) / 2)
    return result


@reference(lambda d: (d.ints(0, 9, 10),))
def longest_rise(values: list[int]) -> list[int]:
    """Return the longest run of neighbouring values in which each is greater than the one before, the first such run
    if several are longest."""
    best: list[int] = []
    start = 0
    for i in range(len(values)):
        if i > 0 and values[i] <= values[i - 1]:
            start = i
        if i + 1 - start > len(best):
            best = values[start : i + 1]
    return best


@reference(lambda d: (d.many(lambda: d.number(0, 6), 9), d.pick((0, 0, 1, 2))))
def peaks(values: list[int], margin: int) -> list[int]:
    """Return the indices of the values that exceed each neighbour by more than `margin`; the first and the last value
    have one neighbour, and a value alone is no peak."""
    found = []
    for i, value in enumerate(values):
        neighbours = values[max(0, i - 1) : i] + values[i + 1 : i + 2]
        if neighbours and all(value - other > margin for other in neighbours):
            found.append(i)
    return found


@reference(lambda d: (d.ints(-10, 40, 9), d.pick((0, 1, 1, 2))))
def trimmed_mean(values: list[int], cut: int) -> float | None:
    """Return the mean, rounded to 2 places, of what is left without the `cut` smallest and the `cut` largest values;
    None if nothing is left."""
    kept = sorted(values)[cut : len(values) - cut] if len(values) > 2 * cut else []
    if not kept:
        return None
    return round(sum(kept) / len(kept), 2)


@reference(lambda d: (d.ints(0, 100), d.pick(([50, 60, 80], [60], [10, 90])), "FDBA"))
def grades(scores: list[int], bounds: list[int], letters: str) -> str:
    """Return one letter for each score: the first of `letters` below the lowest of the rising `bounds`, the next from
    that bound on, and so forth."""
    result = ""
    for score in scores:
        result += letters[bisect_right(bounds, score)]
    return result


@reference(lambda d: (d.many(lambda: d.pick((None, d.number(0, 9), d.number(0, 9))), 9),))
def fill_gaps(values: list[int | None]) -> list[float | None]:
    """Replace each None between two numbers by the linear interpolation between them, rounded to 2 places, and return
    all numbers as floats; None before the first and after the last number stays."""
    result = [None if value is None else float(value) for value in values]
    known = [(i, value) for i, value in enumerate(values) if value is not None]
    for (i, low), (j, high) in itertools.pairwise(known):
        for k in range(i + 1, j):
            result[k] = round(low + (high - low) * (k - i) / (j - i), 2)
    return result


@reference(lambda d: (d.rows([lambda: d.number(0, 9), lambda: d.number(-9, 20)], 6),))
def fit_line(points: list[list[int]]) -> tuple[float, float] | None:
    """Fit a line through [x, y] points by least squares; return slope and intercept, each rounded to 3 places, or
    None where the points have fewer than two different x."""
    n = len(points)
    sum_x = sum(x for x, _ in points)
    sum_y = sum(y for _, y in points)
    sum_xx = sum(x * x for x, _ in points)
    sum_xy = sum(x * y for x, y in points)
    spread = n * sum_xx - sum_x**2
    if spread == 0:
        return None
    slope = (n * sum_xy - sum_x * sum_y) / spread
    intercept = (sum_y * sum_xx - sum_x * sum_xy) / spread
    return round(slope, 3), round(intercept, 3)


@reference(lambda d: (d.letters("WWLD", 10),))
def streaks(results: str) -> tuple[int, int, str]:
    """Return, for a string of results W, L and D, the longest run of wins, the longest run without a win, and the
    current run as its letter and length such as "W3", or "" if there are no results."""
    wins = winless = best_wins = best_winless = 0
    for result in results:
        if result == "W":
            wins, winless = wins + 1, 0
        else:
            wins, winless = 0, winless + 1
        best_wins = max(best_wins, wins)
        best_winless = max(best_winless, winless)
    if not results:
        return 0, 0, ""
    last = results[-1]
    current = len(results) - len(results.rstrip(last))
    return best_wins, best_winless, f"{last}{current}"
