"""Names and what they depend on or lead to."""

import heapq
from collections import deque

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.mapping(lambda: d.pick("abcdef"), lambda: d.many(lambda: d.pick("uvwxyzab"), 3), 5),))
def build_order(needs: dict[str, list[str]]) -> list[str]:
    """Order all names, keys and those in the lists, so that each comes after what it needs, always taking the first
    name in alphabetical order that is possible; raise ValueError if names need each other in a circle."""
    missing = {name: set(needed) for name, needed in needs.items()}
    for needed in needs.values():
        for name in needed:
            missing.setdefault(name, set())
    order: list[str] = []
    while missing:
        ready = sorted(name for name, needed in missing.items() if not needed)
        if not ready:
            raise ValueError("a circle: " + ", ".join(sorted(missing)))
        order.append(ready[0])
        del missing[ready[0]]
        for open_needs in missing.values():
            open_needs.discard(ready[0])
    return order


@reference(
    lambda d: (
        d.mapping(lambda: d.pick("abcde"), lambda: d.many(lambda: d.pick("abcdef"), 4), 12, 6),
        d.pick("ab"),
        d.pick("bcdef"),
    )
)
def shortest_path(links: dict[str, list[str]], start: str, goal: str) -> list[str] | None:
    """Return the names on a path of the fewest links from `start` to `goal`, both included, trying the links of a
    name in their order; None if there is no path."""
    previous: dict[str, str | None] = {start: None}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        if name == goal:
            break
        for other in links.get(name, []):
            if other not in previous:
                previous[other] = name
                queue.append(other)
    if goal not in previous:
        return None
    path = []
    step: str | None = goal
    while step is not None:
        path.append(step)
        step = previous[step]
    return path[::-1]


@reference(lambda d: (d.many(lambda: (d.pick("aabcd"), d.pick("abcde"), d.number(1, 9)), 8), "a"))
def travel_times(roads: list[tuple[str, str, int]], start: str) -> dict[str, int]:
    """Return the least total time from `start` to every place that can be reached, `start` itself included, over
    roads (from, to, time) that lead one way."""
    times: dict[str, int] = {}
    waiting = [(0, start)]
    while waiting:
        time, place = heapq.heappop(waiting)
        if place in times:
            continue
        times[place] = time
        for source, target, length in roads:
            if source == place and target not in times:
                heapq.heappush(waiting, (time + length, target))
    return times


@reference(lambda d: (d.many(lambda: (d.pick("abcdef"), d.pick("bcdefg")), 6),))
def connected_groups(pairs: list[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of names that `pairs` link directly or over others, each group sorted and the groups
    sorted."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        parent.setdefault(name, name)
        while parent[name] != name:
            name = parent[name]
        return name

    for left, right in pairs:
        parent[root(left)] = root(right)
    groups: dict[str, list[str]] = {}
    for name in sorted(parent):
        groups.setdefault(root(name), []).append(name)
    return sorted(groups.values())


@reference(lambda d: (d.mapping(lambda: d.pick("abcde"), lambda: d.many(lambda: d.pick("abcdef"), 3), 7, 2),))
def find_cycle(needs: dict[str, list[str]]) -> list[str]:
    """Return the first circle met when following the lists from each key in alphabetical order and their names in
    their order, depth first, as the names on it from the one where it was entered; an empty list if there is none."""
    done = set()

    def follow(name: str, path: list[str]) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        if name in done:
            return []
        for other in needs.get(name, []):
            cycle = follow(other, [*path, name])
            if cycle:
                return cycle
        done.add(name)
        return []

    for name in sorted(needs):
        cycle = follow(name, [])
        if cycle:
            return cycle
    return []


@reference(lambda d: (d.many(lambda: (d.pick("abcde"), d.pick("bcdef")), 5),))
def two_teams(rivals: list[tuple[str, str]]) -> dict[str, int] | None:
    """Put the names into teams 0 and 1 so that no two `rivals` share one, the first name in alphabetical order of
    those connected by rivalries into team 0; None if that is impossible."""
    against: dict[str, set[str]] = {}
    for left, right in rivals:
        against.setdefault(left, set()).add(right)
        against.setdefault(right, set()).add(left)
    teams: dict[str, int] = {}
    for start in sorted(against):
        if start in teams:
            continue
        teams[start] = 0
        waiting = [start]
        while waiting:
            name = waiting.pop()
            for other in sorted(against[name]):
                if other not in teams:
                    teams[other] = 1 - teams[name]
                    waiting.append(other)
                elif teams[other] == teams[name]:
                    return None
    return teams


@reference(
    lambda d: (
        {child: d.pick("abcdefgh"[:i]) for i, child in enumerate("abcdefgh") if i and d.chance(0.85)}
        | d.pick(({}, {}, {}, {"a": "d"})),
        d.pick("bdefgh"),
        d.pick("cdefgh"),
    )
)
def common_ancestor(parents: dict[str, str], left: str, right: str) -> str | None:
    """Return the nearest name that is both `left` or above it and `right` or above it, where `parents` maps a name to
    the one above it; None if there is none, and raise ValueError if following `parents` runs in a circle."""

    def line(name: str) -> list[str]:
        names = [name]
        while name in parents:
            name = parents[name]
            if name in names:
                raise ValueError(f"{name} is above itself")
            names.append(name)
        return names

    above_right = line(right)
    for name in line(left):
        if name in above_right:
            return name
    return None


@reference(
    lambda d: (
        {
            task: (d.number(1, 9), [name for name in "abcd"[:i] if d.chance(0.4)])
            for i, task in enumerate("abcde"[: d.number(1, 5)])
        },
    )
)
def finish_times(tasks: dict[str, tuple[int, list[str]]]) -> dict[str, int]:
    """Return when each of the tasks, which map a name to a duration and the tasks to wait for, ends if all start at 0
    or, if they wait, when the last of those has ended."""
    ends: dict[str, int] = {}

    def end_of(name: str) -> int:
        if name not in ends:
            duration, needed = tasks[name]
            ends[name] = duration + max((end_of(other) for other in needed), default=0)
        return ends[name]

    for name in tasks:
        end_of(name)
    return ends
