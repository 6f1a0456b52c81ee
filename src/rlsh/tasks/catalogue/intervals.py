"""Intervals: lists of a start and an end; unless said otherwise the end does not belong to them."""

import heapq

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.intervals(0, 30), d.number(0, 3)))
def merge_intervals(intervals: list[list[int]], gap: int) -> list[list[int]]:
    """Merge intervals that overlap, touch or are at most `gap` apart, and return the result sorted, as new lists."""
    merged: list[list[int]] = []
    for start, end in sorted(intervals):
        if merged and start - merged[-1][1] <= gap:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


@reference(lambda d: (d.interval(0, 20), d.intervals(0, 20, 4)))
def subtract_intervals(whole: list[int], holes: list[list[int]]) -> list[list[int]]:
    """Return, sorted, the intervals of more than no length that are left of `whole` without all `holes`."""
    left = []
    start, end = whole
    for low, high in sorted(holes):
        if low >= end:
            break
        if low == high:
            continue
        if low > start:
            left.append([start, low])
        start = max(start, high)
    if start < end:
        left.append([start, end])
    return left


@reference(
    lambda d: (
        [[a, a + d.number(1, 5)] for a in range(0, 20, 6)][: d.number(0, 4)],
        [[a, a + d.number(1, 6)] for a in range(d.number(0, 9), 24, 7)],
    )
)
def intersect(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    """Return the intersection of two sorted lists of intervals that do not overlap within a list, without empty
    ones."""
    shared = []
    i = j = 0
    while i < len(left) and j < len(right):
        start = max(left[i][0], right[j][0])
        end = min(left[i][1], right[j][1])
        if start < end:
            shared.append([start, end])
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return shared


@reference(lambda d: (d.intervals(0, 12),))
def most_at_once(visits: list[list[int]]) -> tuple[int, int | None]:
    """Return the largest number of visits that go on at the same time and the earliest time when that many do;
    somebody leaving at a time is gone before others come; (0, None) if no visit has any length."""
    changes = []
    for start, end in visits:
        if start < end:
            changes += [(start, 1), (end, -1)]
    most, when = 0, None
    present = 0
    for time, change in sorted(changes):
        present += change
        if present > most:
            most, when = present, time
    return most, when


@reference(lambda d: (d.many(lambda: d.number(-3, 12), 9),))
def format_ranges(numbers: list[int]) -> str:
    """Write the different `numbers`, sorted, with runs of three or more as in "1-3,5,7,8"; a negative one is put in
    parentheses, as in "(-2)-1"."""

    def show(number: int) -> str:
        return f"({number})" if number < 0 else str(number)

    ordered = sorted(set(numbers))
    parts = []
    i = 0
    while i < len(ordered):
        last = i
        while last + 1 < len(ordered) and ordered[last + 1] == ordered[last] + 1:
            last += 1
        if last - i >= 2:
            parts.append(f"{show(ordered[i])}-{show(ordered[last])}")
        else:
            parts += [show(number) for number in ordered[i : last + 1]]
        i = last + 1
    return ",".join(parts)


@reference(lambda d: (d.intervals(0, 14),))
def assign_rooms(meetings: list[list[int]]) -> list[int]:
    """Give each meeting the lowest room, counted from 1, that is free then, in order of start, then of end, then as
    given; a room is free again at the end of a meeting; return the rooms in the given order."""
    order = sorted(range(len(meetings)), key=lambda i: meetings[i])
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    rooms = [0] * len(meetings)
    for i in order:
        start, end = meetings[i]
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        rooms[i] = heapq.heappop(free) if free else len(busy) + 1
        heapq.heappush(busy, (end, rooms[i]))
    return rooms


@reference(lambda d: (d.intervals(0, 15),))
def most_meetings(meetings: list[list[int]]) -> list[list[int]]:
    """Choose as many meetings as possible that do not overlap, always taking the one that ends first, and of these
    the one that starts first, among those that begin no earlier than the last one taken ends; return them in
    order."""
    chosen: list[list[int]] = []
    for start, end in sorted(meetings, key=lambda meeting: (meeting[1], meeting[0])):
        if not chosen or start >= chosen[-1][1]:
            chosen.append([start, end])
    return chosen


@reference(
    lambda d: (
        d.many(lambda: [low := d.number(0, 20), low + d.number(1, 5)], 4),
        d.number(6, 9),
        d.number(12, 20),
        d.number(1, 4),
    )
)
def free_slots(busy: list[list[int]], start: int, end: int, length: int) -> list[int]:
    """Return the first time of each stretch between `start` and `end` that has no `busy` interval in it and is at
    least `length` long, in order."""
    slots = []
    current = start
    for low, high in sorted(busy):
        if min(low, end) - current >= length:
            slots.append(current)
        current = max(current, high)
    if end - current >= length:
        slots.append(current)
    return slots
