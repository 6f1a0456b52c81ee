"""References against the standard library, numpy or brute force, on what their own makers draw: text and numbers."""

import calendar
import csv
import difflib
import fnmatch
import ipaddress
import itertools
import math
import posixpath
import re
import shlex
import statistics
import textwrap
from collections import Counter, deque
from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import PurePosixPath
from urllib.parse import parse_qs

import numpy as np
import pytest
from dateutil import easter


def runs(values):
    """All slices of one or more neighbouring values, by end and then from the longest, as (start, end)."""
    return [(i, j) for j in range(1, len(values) + 1) for i in range(j)]


def days(first, last):
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    return [start + timedelta(i) for i in range((end - start).days + 1)]


def glob(names, pattern):
    return [n for n in names if fnmatch.fnmatchcase(n, pattern) and n.startswith(".") <= pattern.startswith(".")]


def without_top_slashes(path):
    return re.sub("^/+", "/", path)


def unescaped(text):
    simple = {"n": "\n", "t": "\t", "\\": "\\"}
    return re.sub(r"\\(\\|n|t|x[0-9A-Fa-f]{2})", lambda m: simple.get(m[1]) or chr(int(m[1][1:], 16)), text)


def rails(text, count):
    turn = [*range(count), *range(count - 2, 0, -1)]
    return "".join(char for _, char in sorted(zip(itertools.cycle(turn), text), key=lambda pair: pair[0]))


def distance(left, right):
    if not left or not right:
        return len(left) + len(right)
    if left[0] == right[0]:
        return distance(left[1:], right[1:])
    pairs = [(left[1:], right), (left, right[1:]), (left[1:], right[1:])]
    return 1 + min(distance(*pair) for pair in pairs)


def largest_drop(prices):
    drops = [(prices[i] - prices[j], i, j) for i, j in itertools.combinations(range(len(prices)), 2)]
    best = max((drop for drop in drops if drop[0] > 0), key=lambda drop: (drop[0], -drop[2], -drop[1]), default=None)
    return best or (0, -1, -1)


def percentile(values, percent):
    if len(values) == 1 or percent in (0, 100):
        return float(max(values) if percent == 100 else min(values))
    return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1], 2)


def fit_line(points):
    if len({x for x, _ in points}) < 2:
        return None
    mean_x, mean_y = (Fraction(sum(values), len(points)) for values in zip(*points, strict=True))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return round(float(slope), 3), round(float(mean_y - slope * mean_x), 3)


def gaps_filled(values):
    known = [i for i, value in enumerate(values) if value is not None]
    if not known:
        return values
    line = np.interp(range(len(values)), known, [values[i] for i in known])
    return [round(float(line[i]), 2) if known[0] <= i <= known[-1] else None for i in range(len(values))]


def working_days(start, end, holidays):
    after = date.fromisoformat(end) + timedelta(1)
    return int(np.busday_count(start, after, holidays=holidays)) if start <= end else 0


def next_run(now, first, second):
    moment = datetime.fromisoformat(now) + timedelta(minutes=1)
    while moment.strftime("%H:%M") not in (first, second):
        moment += timedelta(minutes=1)
    return moment.isoformat(timespec="minutes")


def shifted(clock, minutes):
    start = datetime.strptime(f"2024-01-15 {clock}", "%Y-%m-%d %H:%M")
    moment = start + timedelta(minutes=minutes)
    crossed = (moment.date() - start.date()).days
    return moment.strftime("%H:%M") + (f" ({crossed:+d})" if crossed else "")


def offset(text):
    return round(datetime.strptime(text, "%z").utcoffset().total_seconds()) // 60


def sizes(files):
    found = Counter({".": 0})
    for path, size in files.items():
        found.update({str(parent): size for parent in PurePosixPath(path).parents})
    return dict(found)


def bits(number, width):
    text = bin(number)[2:]
    places = [i for i, bit in enumerate(reversed(text)) if bit == "1"]
    return text.zfill(width), places, max(map(len, text.split("0")))


def fletcher(data):
    weighted = sum((len(data) - i) * byte for i, byte in enumerate(data))
    return weighted % 255 * 256 + sum(data) % 255, int(np.bitwise_xor.reduce([0, *data]))


def network(address, prefix):
    found = ipaddress.IPv4Network(f"{address}/{prefix}", strict=False)
    return str(found[0]), str(found[-1])


def palindromes(text):
    found = [text[i:j] for i, j in runs(text) if text[i:j] == text[i:j][::-1]]
    return max(found, key=len, default="")


def longest_rise(values):
    rising = [values[i:j] for i, j in runs(values) if all(a < b for a, b in itertools.pairwise(values[i:j]))]
    return max(rising, key=len, default=[])


def best_run(values):
    found = [(sum(values[i:j]), i, j) for i, j in runs(values)]
    return max(found, key=lambda run: run[0], default=(0, 0, 0))


def shared_run(left, right):
    match = difflib.SequenceMatcher(None, left, right, autojunk=False).find_longest_match()
    return left[match.a : match.a + match.size]


def split_on(items, separator):
    return [[ord(c) for c in part] for part in "".join(map(chr, items)).split(chr(separator))]


def rotated(items, steps):
    ring = deque(items)
    ring.rotate(steps)
    return list(ring)


def interleaved(lists):
    return [item for column in itertools.zip_longest(*lists) for item in column if item is not None]


def nth_weekday(year, month, weekday, n):
    found = [week[weekday] for week in calendar.monthcalendar(year, month) if week[weekday]]
    return date(year, month, found[n if n < 0 else n - 1]).isoformat() if n <= len(found) else None


ROUTES = {
    "wrap_words": lambda t, w: textwrap.wrap(" ".join(t.split()), w, break_long_words=False, break_on_hyphens=False),
    "common_prefix": posixpath.commonprefix,
    "longest_palindrome": palindromes,
    "compare_sorted": lambda a, b: tuple(
        sorted(part.elements()) for part in (Counter(a) - Counter(b), Counter(b) - Counter(a), Counter(a) & Counter(b))
    ),
    "primes_between": lambda a, b: [n for n in range(max(a, 2), b + 1) if all(n % i for i in range(2, n))],
    "simplify_fraction": lambda a, b: str(Fraction(a, b)),
    "pascal_row": lambda n: [math.comb(n, k) for k in range(n + 1)],
    "evaluate_polynomial": lambda cs, x: sum(c * x**i for i, c in enumerate(cs)),
    "moving_average": lambda v, n: [round(statistics.fmean(v[i : i + n]), 2) for i in range(len(v) - n + 1)],
    "percentile": percentile,
    "modes": lambda v: (sorted(statistics.multimode(v)), max(map(v.count, v), default=0)),
    "largest_drop": largest_drop,
    "ranks": lambda v: [sum(o > x for o in v) + (v.count(x) + 1) / 2 for x in v],
    "longest_rise": longest_rise,
    "grades": lambda scores, bounds, letters: "".join(letters[sum(s >= b for b in bounds)] for s in scores),
    "fill_gaps": gaps_filled,
    "fit_line": fit_line,
    "rotate": rotated,
    "interleave": interleaved,
    "split_on": split_on,
    "transpose_ragged": lambda rows, fill: [list(c) for c in itertools.zip_longest(*rows, fillvalue=fill)],
    "pairs_with_sum": lambda v, t: sorted({tuple(sorted(p)) for p in itertools.combinations(v, 2) if sum(p) == t}),
    "longest_shared_run": shared_run,
    "best_run": best_run,
    "missing_numbers": lambda v: sorted({*range(min(v, default=0), max(v, default=0))} - {*v}),
    "majority": lambda v: next(((x, v.count(x)) for x in v if 2 * v.count(x) > len(v)), (None, 0)),
    "linked_pairs": lambda bs: dict(
        Counter("+".join(p) for b in bs for p in itertools.combinations(sorted({*b.split()}), 2))
    ),
    "working_days": working_days,
    "next_weekday": lambda day, name: next(
        d.isoformat() for d in days(day, "2025-01-01")[1:] if d.strftime("%A").lower().startswith(name.lower())
    ),
    "month_weeks": lambda y, m, sunday: calendar.Calendar(6 if sunday else 0).monthdayscalendar(y, m),
    "date_range": lambda a, b, step: [d.isoformat() for d in days(a, b)[::step]],
    "easter": lambda year: easter.easter(year).isoformat(),
    "nth_weekday": nth_weekday,
    "shift_clock": shifted,
    "utc_offset": offset,
    "next_run": next_run,
    "normalise_path": lambda path: posixpath.normpath(without_top_slashes(path)),
    "relative_path": lambda start, target: posixpath.relpath(target, start),
    "matching_names": glob,
    "folder_sizes": sizes,
    "parse_csv_line": lambda line: next(csv.reader([line], strict=True)) or [""],
    "parse_query": lambda q: {k: v for k, v in parse_qs(q.removeprefix("?"), keep_blank_values=True).items() if k},
    "shell_words": shlex.split,
    "unescape": unescaped,
    "make_change": lambda amount, coins: (
        [c for c, n in greedy(amount, coins) for _ in range(n)] if greedy(amount, coins)[-1][0] == 0 else None
    ),
    "caesar": lambda text, shift: text.translate(
        {ord(c): chr((ord(c) - b + shift) % 26 + b) for b in (65, 97) for c in map(chr, range(b, b + 26))}
    ),
    "rail_fence": rails,
    "edit_distance": distance,
    "bit_report": bits,
    "checksums": fletcher,
    "network_bounds": network,
}


def greedy(amount, coins):
    """How many of each coin, largest first, and at the end a coin of 0 if nothing is left, else of 1."""
    taken = []
    for coin in reversed(coins):
        taken.append((coin, amount // coin))
        amount %= coin
    return [*taken, (min(amount, 1), 0)]


@pytest.mark.parametrize("name", sorted(ROUTES))
def test_another_way_gives_the_same(against_route, name):
    against_route(name, ROUTES[name])
