"""Searching, sorting and choosing."""

from bisect import bisect_left
from itertools import combinations

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (sorted(d.many(lambda: d.number(0, 4), 9)), d.number(0, 4)))
def find_range(values: list[int], target: int) -> tuple[int, int]:
    """Return the indices of the first and the last `target` in sorted `values` by binary search; (-1, -1) if it does
    not occur."""

    def first_from(limit: int) -> int:
        low, high = 0, len(values)
        while low < high:
            middle = (low + high) // 2
            if values[middle] < limit:
                low = middle + 1
            else:
                high = middle
        return low

    first, after = first_from(target), first_from(target + 1)
    return (first, after - 1) if first < after else (-1, -1)


@reference(lambda d: (sorted(set(d.ints(0, 60, 9))), d.number(-3, 63)))
def nearest(values: list[int], target: int) -> int | None:
    """Return the value nearest to `target` in a sorted list, the smaller of two that are equally near, or None for an
    empty list."""
    if not values:
        return None
    place = bisect_left(values, target)
    if place == 0:
        return values[0]
    if place == len(values):
        return values[-1]
    below, above = values[place - 1], values[place]
    return below if target - below <= above - target else above


@reference(lambda d: (d.ints(0, 9, 8),))
def count_inversions(values: list[int]) -> tuple[list[int], int]:
    """Sort `values` by merging and return the sorted list and how many pairs of values stood in the wrong order,
    equal ones not counting."""
    if len(values) < 2:
        return list(values), 0
    middle = len(values) // 2
    left, inside_left = count_inversions(values[:middle])
    right, inside_right = count_inversions(values[middle:])
    merged = []
    count = inside_left + inside_right
    while left and right:
        if right[0] < left[0]:
            count += len(left)
            merged.append(right.pop(0))
        else:
            merged.append(left.pop(0))
    return merged + left + right, count


@reference(lambda d: (d.many(lambda: d.word().lower(), 8), d.number(0, 5)))
def insertion_passes(words: list[str], passes: int) -> list[str]:
    """Return the list after `passes` steps of insertion sort by length: step n moves the word at index n to the left
    past all longer words; there are as many steps as words after the first at most."""
    result = list(words)
    for i in range(1, min(passes + 1, len(result))):
        word = result[i]
        j = i - 1
        while j >= 0 and len(result[j]) > len(word):
            result[j + 1] = result[j]
            j -= 1
        result[j + 1] = word
    return result


@reference(lambda d: (d.many(lambda: d.number(-4, 4), 9, 2), d.number(-2, 3)))
def three_sum(numbers: list[int], target: int) -> list[tuple[int, int, int]]:
    """Return, sorted, all different triples of numbers at three different places that add up to `target`, each triple
    in rising order."""
    ordered = sorted(numbers)
    found = set()
    for i, first in enumerate(ordered):
        low, high = i + 1, len(ordered) - 1
        while low < high:
            total = first + ordered[low] + ordered[high]
            if total == target:
                found.add((first, ordered[low], ordered[high]))
            if total < target:
                low += 1
            else:
                high -= 1
    return sorted(found)


@reference(lambda d: (d.ints(0, 12, 9),))
def rising_subsequence(values: list[int]) -> tuple[int, int | None]:
    """Return the length of the longest strictly rising subsequence of `values` and the smallest value that one of
    this length can end with, None if there are no values."""
    ends: list[int] = []
    for value in values:
        place = bisect_left(ends, value)
        if place == len(ends):
            ends.append(value)
        else:
            ends[place] = value
    return len(ends), ends[-1] if ends else None


@reference(lambda d: (d.many(lambda: (d.number(1, 6), d.number(1, 20)), 6), d.number(0, 14)))
def pack(items: list[tuple[int, int]], capacity: int) -> int:
    """Return the largest total value of (weight, value) items, each taken once at most, whose weights add up to no
    more than `capacity`."""
    best = [0] * (capacity + 1)
    for weight, value in items:
        for room in range(capacity, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best[capacity]


@reference(
    lambda d: (d.pick(([1, 5, 10], [4, 5], [2, 6], [1, 3, 4], [7])), d.pick((-1, 0, d.number(1, 12), d.number(1, 24))))
)
def fewest_coins(coins: list[int], amount: int) -> int | None:
    """Return the smallest number of coins, each kind in any number, that add up to `amount`; None if none do."""
    if amount < 0:
        return None
    fewest: list[int | None] = [0] + [None] * amount
    for total in range(1, amount + 1):
        for coin in coins:
            before = fewest[total - coin] if coin <= total else None
            if before is None:
                continue
            current = fewest[total]
            if current is None or before + 1 < current:
                fewest[total] = before + 1
    return fewest[amount]


@reference(lambda d: (d.ints(0, 9, 8),))
def days_until_warmer(temperatures: list[int]) -> list[int]:
    """Return for each day how many days later it is warmer for the first time, 0 if it never is."""
    waits = [0] * len(temperatures)
    waiting: list[int] = []
    for day, temperature in enumerate(temperatures):
        while waiting and temperatures[waiting[-1]] < temperature:
            earlier = waiting.pop()
            waits[earlier] = day - earlier
        waiting.append(day)
    return waits


@reference(lambda d: (d.many(lambda: d.number(0, 4), 6, 1),))
def next_permutation(values: list[int]) -> list[int] | None:
    """Return the arrangement of `values` that follows in lexicographic order, or None after the last one."""
    i = len(values) - 2
    while i >= 0 and values[i] >= values[i + 1]:
        i -= 1
    if i < 0:
        return None
    result = list(values)
    j = len(values) - 1
    while result[j] <= result[i]:
        j -= 1
    result[i], result[j] = result[j], result[i]
    return result[: i + 1] + result[:i:-1]


@reference(lambda d: (d.ints(0, 20, 7), d.number(0, 40)))
def best_subset(values: list[int], limit: int) -> list[int]:
    """Return the values, in their order, whose sum comes closest to `limit` without exceeding it: the fewest of them,
    and then those whose places come first in lexicographic order."""
    best: list[int] = []
    for size in range(1, len(values) + 1):
        for chosen in combinations(values, size):
            if sum(best) < sum(chosen) <= limit:
                best = list(chosen)
    return best


@reference(
    lambda d: (d.pick((d.number(1, 400), d.number(-2, 40), -1, 0, 1, 2, 8, 16, 27, 64, 81, 256)), d.number(2, 4))
)
def integer_root(n: int, degree: int) -> tuple[int, bool]:
    """Return the largest integer whose `degree`-th power is at most `n`, by bisection, and whether the power equals
    `n`; raise ValueError for a negative `n`."""
    if n < 0:
        raise ValueError(f"no root of {n}")
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        if middle**degree <= n:
            low = middle
        else:
            high = middle
    return low, low**degree == n
