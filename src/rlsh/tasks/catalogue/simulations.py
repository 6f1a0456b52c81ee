"""Queues, caches, accounts and games, step by step."""

import heapq
from collections import OrderedDict, deque
from typing import Any

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.letters("abcd", 12, 3), d.pick((0, 1, 2, 2, 3, 3))))
def cache_hits(requests: str, capacity: int) -> tuple[int, str]:
    """Count how many of the `requests` a cache of `capacity` keys already holds if it drops the least recently
    requested key when full; return the count and the keys held at the end, least recently requested first."""
    cache: OrderedDict[str, bool] = OrderedDict()
    hits = 0
    for key in requests:
        if key in cache:
            hits += 1
            cache.move_to_end(key)
            continue
        cache[key] = True
        if len(cache) > capacity:
            cache.popitem(last=False)
    return hits, "".join(cache)


@reference(
    lambda d: (
        d.many(
            lambda: d.pick((("put", d.number(1, 20)), ("put", d.number(1, 20)), ("take", d.number(1, 15)), ("put", 0))),
            8,
        ),
    )
)
def first_in_first_out(moves: list[tuple[str, int]]) -> list[int]:
    """Return the lots left in a store after ("put", n), which adds a lot of n unless n is 0, and ("take", n), which
    takes n from the oldest lots; raise ValueError if it holds less than what is to be taken."""
    lots: deque[int] = deque()
    for kind, amount in moves:
        if kind == "put":
            if amount > 0:
                lots.append(amount)
            continue
        if amount > sum(lots):
            raise ValueError(f"{amount} is more than there is")
        while amount > 0:
            taken = min(amount, lots[0])
            lots[0] -= taken
            amount -= taken
            if lots[0] == 0:
                lots.popleft()
    return list(lots)


@reference(lambda d: (d.number(0, 9), d.number(1, 5)))
def josephus(people: int, step: int) -> list[int]:
    """Return the order in which people 1 to `people` in a circle leave it if, from 1 on, every `step`-th one does."""
    circle = deque(range(1, people + 1))
    order = []
    while circle:
        circle.rotate(1 - step)
        order.append(circle.popleft())
    return order


@reference(
    lambda d: (
        d.pick(
            (
                d.ints(0, 10, 6) + d.pick(([], [10, 10, 10], [10, 3, 4, 10])) + d.ints(0, 5, 8, 4),
                [10] * d.number(9, 12),
                d.ints(0, 4, 24, 18),
            )
        ),
    )
)
def bowling_score(rolls: list[int]) -> list[int]:
    """Return the running total after each complete frame of ten-pin bowling, ten frames at most: a strike, 10 in the
    first roll, counts the next two rolls as well, a spare, 10 in two rolls, the next one; stop at a frame whose rolls
    are not all there."""
    totals: list[int] = []
    i = 0
    while len(totals) < 10 and i < len(rolls):
        strike = rolls[i] == 10
        spare = not strike and sum(rolls[i : i + 2]) == 10
        counted = rolls[i : i + 3] if strike or spare else rolls[i : i + 2]
        if len(counted) < (3 if strike or spare else 2):
            break
        before = totals[-1] if totals else 0
        totals.append(before + sum(counted))
        i += 1 if strike else 2
    return totals


@reference(lambda d: (d.letters("01", 12, 1), d.pick((30, 90, 110, d.number(0, 255)))))
def automaton_step(cells: str, rule: int) -> str:
    """Return the next row of an elementary cellular automaton on a ring: a cell and its left and right neighbours
    form a binary number, left one first, and the bit of `rule` with that number, the lowest being number 0, is the
    new cell."""
    size = len(cells)
    result = ""
    for i in range(size):
        pattern = cells[i - 1] + cells[i] + cells[(i + 1) % size]
        result += "1" if rule >> int(pattern, 2) & 1 else "0"
    return result


@reference(
    lambda d: (
        d.many(
            lambda: {
                "name": d.pick(("ada", "bo")),
                "kind": d.pick(("deposit", "deposit", "withdraw", "withdraw", "close")),
                "amount": d.pick((-5, 0, 10, 10, 20, 30)),
            },
            9,
        ),
    )
)
def run_accounts(events: list[dict[str, Any]]) -> tuple[dict[str, int], int]:
    """Return the balances of the accounts, which the first deposit opens, and how many events were refused: amounts
    not above 0 unless it is "close", withdrawals of more than the balance, and anything but a deposit without an
    account; "close" removes an account with the balance 0 and is refused otherwise."""
    balances: dict[str, int] = {}
    refused = 0
    for event in events:
        name, kind, amount = event["name"], event["kind"], event["amount"]
        if kind == "close":
            if balances.get(name) == 0:
                del balances[name]
            else:
                refused += 1
        elif amount <= 0 or (kind == "withdraw" and balances.get(name, 0) < amount):
            refused += 1
        elif kind == "deposit":
            balances[name] = balances.get(name, 0) + amount
        else:
            balances[name] -= amount
    return balances, refused


@reference(lambda d: (d.many(lambda: [d.number(0, 12), d.number(1, 6)], 6), d.number(1, 3)))
def queue_waits(jobs: list[list[int]], workers: int) -> list[int]:
    """Return how long each job [arrival, duration] waits if `workers` serve them in order of arrival, equal ones in
    the given order, each job starting as soon as it has arrived and a worker is free; in the given order."""
    ready = [0] * workers
    waits = [0] * len(jobs)
    for i in sorted(range(len(jobs)), key=lambda i: jobs[i][0]):
        arrival, duration = jobs[i]
        start = max(arrival, heapq.heappop(ready))
        waits[i] = start - arrival
        heapq.heappush(ready, start + duration)
    return waits


@reference(lambda d: (d.many(lambda: d.number(0, 7), 5), d.number(1, 3)))
def round_robin(bursts: list[int], slice_length: int) -> list[int]:
    """Run jobs that need `bursts` of time in turn, at most `slice_length` each before the next one's turn, until all
    are done; return when each job ends, 0 for one that needs no time."""
    ends = [0] * len(bursts)
    left = list(bursts)
    time = 0
    while any(left):
        for i, need in enumerate(left):
            if need == 0:
                continue
            run = min(need, slice_length)
            time += run
            left[i] -= run
            if left[i] == 0:
                ends[i] = time
    return ends
