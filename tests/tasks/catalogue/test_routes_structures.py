"""References against the standard library, numpy or brute force, on what their own makers draw: structures."""

import itertools
import math

import numpy as np
import pytest


def subsets(items):
    """All choices of items, by size and then in lexicographic order of their places."""
    return [chosen for size in range(len(items) + 1) for chosen in itertools.combinations(items, size)]


def units(intervals):
    return {unit for low, high in intervals for unit in range(low, high)}


def covered(cells):
    """The sorted intervals that cover the unit cells."""
    edges = sorted(
        {unit for unit in cells if unit - 1 not in cells} | {unit + 1 for unit in cells if unit + 1 not in cells}
    )
    starts = [edge for edge in edges if edge in cells and edge - 1 not in cells]
    ends = [edge for edge in edges if edge - 1 in cells and edge not in cells]
    return [list(pair) for pair in zip(starts, ends, strict=True)]


def spiral(grid):
    if not grid or not grid[0]:
        return []
    return grid[0] + spiral([list(row) for row in zip(*grid[1:], strict=True)][::-1])


def neighbours(field, mark):
    """How many of the eight cells around each cell are `mark`."""
    marks = np.pad(np.array([[cell == mark for cell in row] for row in field], dtype=int), 1)
    height, width = len(field), len(field[0])
    shifts = [(r, c) for r in range(3) for c in range(3) if (r, c) != (1, 1)]
    return sum(marks[r : r + height, c : c + width] for r, c in shifts)


def life_step(grid):
    around = neighbours(grid, "#")
    return [
        "".join("#" if n == 3 or (n == 2 and cell == "#") else "." for cell, n in zip(row, counts, strict=True))
        for row, counts in zip(grid, around, strict=True)
    ]


def mine_counts(field):
    around = neighbours(field, "*")
    return [
        "".join(cell if cell == "*" or n == 0 else str(n) for cell, n in zip(row, counts, strict=True))
        for row, counts in zip(field, around, strict=True)
    ]


def reach(maze):
    """The cells that can be entered after 0, 1, … steps, by adding all neighbours at once."""
    free = {(r, c) for r, row in enumerate(maze) for c, cell in enumerate(row) if cell != "#"}
    goal = (len(maze) - 1, len(maze[0]) - 1)
    here = {(0, 0)} & free
    for steps in range(len(free) + 1):
        if goal in here:
            return steps
        here |= {(r + a, c + b) for r, c in here for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0))} & free
    return None


def flooded(grid, row, column, value):
    area = {(row, column)}
    for _ in range(len(grid) * len(grid[0])):
        area |= {
            (r, c)
            for r, line in enumerate(grid)
            for c, cell in enumerate(line)
            if cell == grid[row][column] and area & {(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)}
        }
    return [[value if (r, c) in area else cell for c, cell in enumerate(line)] for r, line in enumerate(grid)]


def diagonals(grid, rising):
    array, height, width = np.array(grid), len(grid), len(grid[0])
    if rising:
        return [np.diagonal(array[::-1], k).tolist() for k in range(1 - height, width)]
    return [np.diagonal(array, k).tolist() for k in range(width - 1, -height, -1)]


def most_at_once(visits):
    loads = [(sum(low <= t < high for low, high in visits), -t) for t in range(13)]
    most, when = max(loads)
    return (most, -when) if most else (0, None)


def rooms(meetings):
    given = [0] * len(meetings)
    order = sorted(range(len(meetings)), key=lambda i: meetings[i])
    for place, i in enumerate(order):
        taken = {given[j] for j in order[:place] if meetings[j][1] > meetings[i][0]}
        given[i] = next(room for room in itertools.count(1) if room not in taken)
    return given


def waits(jobs, workers):
    free, found = [0] * workers, [0] * len(jobs)
    for i in sorted(range(len(jobs)), key=lambda i: (jobs[i][0], i)):
        worker = free.index(min(free))
        found[i] = max(free[worker] - jobs[i][0], 0)
        free[worker] = jobs[i][0] + found[i] + jobs[i][1]
    return found


def turns(bursts, length):
    """By listing whose unit of time it is."""
    units_of = [[(turn // length, i) for turn in range(need)] for i, need in enumerate(bursts)]
    order = [i for _, i in sorted(unit for units_of_one in units_of for unit in units_of_one)]
    return [len(order) - order[::-1].index(i) if i in order else 0 for i in range(len(bursts))]


def coins(kinds, amount):
    sums = {0}
    for count in range(amount + 1):
        if amount in sums:
            return count
        sums = {total + kind for total in sums for kind in kinds}
    return None


def following(values):
    arrangements = sorted({*itertools.permutations(values)})
    place = arrangements.index(tuple(values)) + 1
    return list(arrangements[place]) if place < len(arrangements) else None


def rising(values):
    found = [s for s in subsets(values) if all(a < b for a, b in itertools.pairwise(s))]
    longest = max(map(len, found))
    return longest, min((s[-1] for s in found if len(s) == longest and s), default=None)


def shortest(links, start, goal):
    """The first of the shortest paths, all of which are listed in the order of their links."""
    paths = [[start]]
    for _ in range(7):
        for path in paths:
            if path[-1] == goal:
                return path
        paths = [[*path, other] for path in paths for other in links.get(path[-1], []) if other not in path]
    return None


def travel(roads, start):
    times = {start: 0}
    for _ in roads:
        for source, target, length in roads:
            if source in times:
                times[target] = min(times.get(target, 99), times[source] + length)
    return times


def groups(pairs):
    found = [{name} for pair in pairs for name in pair]
    for pair in pairs:
        joined = set().union(*(group for group in found if group & {*pair}))
        found = [group for group in found if not group & {*pair}] + [joined]
    return sorted(sorted(group) for group in found)


def teams(rivals):
    names = sorted({name for pair in rivals for name in pair})
    for choice in itertools.product((0, 1), repeat=len(names)):
        found = dict(zip(names, choice, strict=True))
        if all(found[a] != found[b] for a, b in rivals):
            return found  # the first in this order has 0 wherever it is free to
    return None


def finish(tasks):
    ends = dict.fromkeys(tasks, 0)
    for _ in tasks:
        ends = {name: length + max([ends[n] for n in needed], default=0) for name, (length, needed) in tasks.items()}
    return ends


def circle(people, step):
    left, order, place = list(range(1, people + 1)), [], 0
    while left:
        place = (place + step - 1) % len(left)
        order.append(left.pop(place))
    return order


def hits(requests, capacity):
    count, held = 0, []
    for key in requests:
        count += key in held
        held = [*(other for other in held if other != key), key][-capacity:] if capacity else []
    return count, "".join(held)


def automaton(cells, rule):
    table = f"{rule:08b}"[::-1]
    ring = cells[-1] + cells + cells[0]
    return "".join(table[int(ring[i : i + 3], 2)] for i in range(len(cells)))


def climbs(stairs, steps):
    """By choosing how often each step is taken, and then the order."""
    total = 0
    for counts in itertools.product(*(range(stairs // step + 1) for step in steps)):
        if sum(n * step for n, step in zip(counts, steps, strict=True)) == stairs:
            total += math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))
    return total


ROUTES = {
    "multiply": lambda a, b: (np.array(a) @ np.array(b)).tolist(),
    "rotate_grid": lambda grid, turns: np.rot90(grid, -turns).tolist(),
    "spiral": spiral,
    "determinant": lambda m: round(float(np.linalg.det(np.array(m)))) if m else 1,
    "life_step": life_step,
    "mine_counts": mine_counts,
    "flood_fill": flooded,
    "shortest_walk": reach,
    "diagonals": diagonals,
    "subtract_intervals": lambda whole, holes: covered(units([whole]) - units(holes)),
    "most_at_once": most_at_once,
    "assign_rooms": rooms,
    "queue_waits": waits,
    "round_robin": turns,
    "free_slots": lambda busy, start, end, length: [
        low for low, high in covered({*range(start, end)} - units(busy)) if high - low >= length
    ],
    "find_range": lambda v, t: (v.index(t), len(v) - 1 - v[::-1].index(t)) if t in v else (-1, -1),
    "nearest": lambda v, t: min(v, key=lambda x: (abs(x - t), x), default=None),
    "count_inversions": lambda v: (sorted(v), sum(a > b for a, b in itertools.combinations(v, 2))),
    "insertion_passes": lambda words, n: sorted(words[: n + 1], key=len) + words[n + 1 :],
    "three_sum": lambda v, t: sorted({tuple(sorted(c)) for c in itertools.combinations(v, 3) if sum(c) == t}),
    "rising_subsequence": rising,
    "pack": lambda items, room: max(sum(v for _, v in s) for s in subsets(items) if sum(w for w, _ in s) <= room),
    "fewest_coins": coins,
    "days_until_warmer": lambda v: [next((j - i for j in range(i, len(v)) if v[j] > v[i]), 0) for i in range(len(v))],
    "next_permutation": following,
    "best_subset": lambda v, limit: list(max((s for s in subsets(v) if sum(s) <= limit), key=sum)),
    "integer_root": lambda n, k: next((r, r**k == n) for r in range(n + 1) if (r + 1) ** k > n),
    "shortest_path": shortest,
    "travel_times": travel,
    "connected_groups": groups,
    "two_teams": teams,
    "finish_times": finish,
    "arrangements": lambda text: sorted({"".join(p) for p in itertools.permutations(text)}),
    "partitions": lambda total, largest: sorted(
        (
            sorted(parts, reverse=True)
            for size in range(total + 1)
            for parts in itertools.combinations_with_replacement(range(1, largest + 1), size)
            if sum(parts) == total
        ),
        reverse=True,
    ),
    "count_climbs": climbs,
    "josephus": circle,
    "cache_hits": hits,
    "automaton_step": automaton,
}


@pytest.mark.parametrize("name", sorted(ROUTES))
def test_another_way_gives_the_same(against_route, name):
    against_route(name, ROUTES[name])
