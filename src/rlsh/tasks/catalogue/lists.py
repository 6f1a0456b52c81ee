"""Rearranging, splitting and joining lists."""

from typing import Any

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.ints(0, 9, 9), d.number(-1, 4), d.pick((None, 0))))
def chunked(items: list[int], size: int, fill: int | None) -> list[list[int]]:
    """Cut `items` into lists of `size`, the last one shorter, or filled up with `fill` unless that is None; raise
    ValueError if `size` is below 1."""
    if size < 1:
        raise ValueError(f"chunks of {size} items")
    chunks = [items[i : i + size] for i in range(0, len(items), size)]
    if chunks and fill is not None:
        missing = size - len(chunks[-1])
        chunks[-1] = chunks[-1] + [fill] * missing
    return chunks


@reference(lambda d: (d.many(lambda: d.pick(("Tea", "tea ", " sea", "SEA", "ant", "")), 7),))
def unique_names(names: list[str]) -> list[str]:
    """Strip `names`, drop empty ones, and keep of those that differ only in case the first one, in the given
    order."""
    seen = set()
    result = []
    for name in names:
        name = name.strip()
        key = name.lower()
        if not name or key in seen:
            continue
        seen.add(key)
        result.append(name)
    return result


@reference(lambda d: (d.ints(0, 9, 7), d.number(-9, 9)))
def rotate(items: list[int], steps: int) -> list[int]:
    """Move the last item to the front `steps` times, or the first to the end if `steps` is negative, and return the
    result as a new list."""
    if not items:
        return []
    steps %= len(items)
    return items[len(items) - steps :] + items[: len(items) - steps]


@reference(lambda d: (d.many(lambda: d.ints(0, 9, 4), 4),))
def interleave(lists: list[list[int]]) -> list[int]:
    """Take the first items of all `lists` in turn, then the second ones, and so on, passing over lists that have run
    out."""
    result = []
    longest = max((len(items) for items in lists), default=0)
    for i in range(longest):
        for items in lists:
            if i < len(items):
                result.append(items[i])
    return result


@reference(lambda d: (d.ints(0, 5, 9), d.number(0, 3)))
def split_on(items: list[int], separator: int) -> list[list[int]]:
    """Split `items` at every `separator`, which is dropped, like str.split with a separator: two in a row, or one at
    either end, give an empty list."""
    parts: list[list[int]] = [[]]
    for item in items:
        if item == separator:
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


@reference(lambda d: ([*d.rows([lambda: d.number(0, 9)] * 3, 3), d.ints(0, 9, 4)], d.pick((0, -1, 5))))
def transpose_ragged(rows: list[list[int]], fill: int) -> list[list[int]]:
    """Turn rows into columns, putting `fill` where a row is shorter than the longest one."""
    width = max((len(row) for row in rows), default=0)
    columns = []
    for i in range(width):
        column = []
        for row in rows:
            try:
                column.append(row[i])
            except IndexError:
                column.append(fill)
        columns.append(column)
    return columns


@reference(lambda d: (d.many(lambda: d.number(0, 7), 9), d.number(4, 9)))
def pairs_with_sum(numbers: list[int], target: int) -> list[tuple[int, int]]:
    """Return the pairs of numbers at different places that add up to `target`, each pair of values once, the smaller
    number first, in rising order."""
    seen: set[int] = set()
    pairs = set()
    for number in numbers:
        other = target - number
        if other in seen:
            pairs.add((min(number, other), max(number, other)))
        seen.add(number)
    return sorted(pairs)


@reference(lambda d: (d.ints(0, 9, 6), d.ints(-7, 7, 4)))
def without_positions(items: list[int], positions: list[int]) -> list[int]:
    """Return `items` without those at `positions`, negative ones counting from the end as in Python; positions that
    do not exist, and repetitions, have no effect."""
    dropped = set()
    for position in positions:
        if position < 0:
            position += len(items)
        dropped.add(position)
    return [item for i, item in enumerate(items) if i not in dropped]


@reference(lambda d: (d.ints(0, 2, 8), d.ints(0, 2, 8)))
def longest_shared_run(left: list[int], right: list[int]) -> list[int]:
    """Return the longest run of neighbouring items that occurs in both lists, the one that starts first in `left` if
    several are longest."""
    best: list[int] = []
    for i in range(len(left)):
        for j in range(len(right)):
            length = 0
            while i + length < len(left) and j + length < len(right) and left[i + length] == right[j + length]:
                length += 1
            if length > len(best):
                best = left[i : i + length]
    return best


@reference(lambda d: (d.ints(-9, 9),))
def best_run(values: list[int]) -> tuple[int, int, int]:
    """Find the run of one or more neighbouring values with the largest sum; return the sum and the start and end of
    the run as a slice, for equal sums the one that ends first and then the longest; (0, 0, 0) for no values."""
    if not values:
        return 0, 0, 0
    best = (values[0], 0, 1)
    total, start = 0, 0
    for i, value in enumerate(values):
        if total < 0:
            total, start = 0, i
        total += value
        if total > best[0]:
            best = (total, start, i + 1)
    return best


@reference(lambda d: (d.ints(0, 4),))
def zeros_last(values: list[int]) -> tuple[list[int], int]:
    """Return a new list with all zeros moved to the end and the other values in their order, and how many values
    other than 0 changed their place."""
    result = list(values)
    place = moved = 0
    for i, value in enumerate(values):
        if value == 0:
            continue
        if place != i:
            result[place], result[i] = result[i], result[place]
            moved += 1
        place += 1
    return result, moved


@reference(lambda d: (d.ints(-5, 9, 6),))
def missing_numbers(values: list[int]) -> list[int]:
    """Return the whole numbers between the smallest and the largest of `values` that are not among them, in order."""
    if not values:
        return []
    present = set(values)
    return [number for number in range(min(values), max(values)) if number not in present]


@reference(lambda d: (d.rows([d.name, lambda: d.number(0, 5)], 6), d.number(0, 4)))
def top_with_ties(scores: list[list[Any]], places: int) -> list[str]:
    """Return the names of the [name, score] pairs with the `places` highest scores, and of all others who tie with
    the last of these, by falling score and then by name."""
    ordered = sorted(scores, key=lambda pair: (-pair[1], pair[0]))
    if places < 1 or not ordered:
        return []
    limit = ordered[min(places, len(ordered)) - 1][1]
    return [name for name, score in ordered if score >= limit]


@reference(lambda d: (d.many(lambda: d.pick((0, 0, 1, 2)), 9),))
def majority(votes: list[int]) -> tuple[int | None, int]:
    """Return the value that makes up more than half of `votes` and how many of them are for it, or (None, 0) if there
    is no such value."""
    candidate, lead = None, 0
    for vote in votes:
        if lead == 0:
            candidate = vote
        lead += 1 if vote == candidate else -1
    count = sum(1 for vote in votes if vote == candidate)
    return (candidate, count) if count > len(votes) / 2 else (None, 0)
