"""Times of day, durations and schedules."""

import re
from datetime import datetime, timedelta

from rlsh.tasks.catalogue.reference import reference


@reference(
    lambda d: (
        d.pick(
            (
                f"{d.number(0, 99)}m{d.number(0, 99)}s",
                f"{d.number(0, 9)}d {d.number(0, 99)}h",
                f" {d.number(0, 99)}h{d.number(0, 9)}s ",
                str(d.number(0, 900)),
                "1h30m",
                "45s",
                "3x",
                "",
                "h",
                "1h-2m",
            )
        ),
    )
)
def parse_duration(text: str) -> int:
    """Return the seconds in a duration such as "1d 2h30m5s", any of whose parts may be missing, or a bare number of
    seconds; raise ValueError for anything else."""
    text = text.strip()
    if text.isdigit():
        return int(text)
    match = re.fullmatch(r"(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+)s)?", text)
    if not text or match is None:
        raise ValueError(f"no duration: {text!r}")
    total = 0
    for group, unit in zip(match.groups(), (86400, 3600, 60, 1), strict=True):
        total += int(group or 0) * unit
    return total


@reference(
    lambda d: (d.pick((d.number(0, 200), d.number(0, 9000), d.number(0, 300000), 3600, 86400, 90061)), d.number(1, 3))
)
def format_duration(seconds: int, parts: int) -> str:
    """Write a duration as in "1 day, 2 hours, 1 second": the units day, hour, minute and second that are not 0, at
    most the first `parts` of them, the rest being cut off; "0 seconds" if nothing is there to write."""
    found = []
    for name, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            found.append(f"{count} {name}" if count == 1 else f"{count} {name}s")
    return ", ".join(found[:parts]) or "0 seconds"


@reference(
    lambda d: (
        d.pick(
            (
                "12:00 am",
                "12:30 PM",
                "0:05 am",
                f"{d.number(0, 23)}:{d.number(0, 59):02}",
                "24:00",
                "0:60",
                "13:00 pm",
                f"{d.number(1, 12)}:{d.number(0, 59):02}{d.pick(('am', ' pm', ' AM'))}",
                f"{d.number(1, 12)}:05 pm",
                d.clock(),
                f" {d.clock()} ",
            )
        ),
    )
)
def minutes_of_day(text: str) -> int:
    """Return the minutes since midnight at a time such as "23:05", "9:05" or "3:05 pm", where 12 am is midnight and
    12 pm noon; raise ValueError for anything that is no such time."""
    match = re.fullmatch(r"(\d{1,2}):(\d\d)\s*(am|pm)?", text.strip().lower())
    if not match:
        raise ValueError(f"no time of day: {text!r}")
    hour, minute, half = int(match[1]), int(match[2]), match[3]
    if minute > 59 or hour > 23 or (half and not 1 <= hour <= 12):
        raise ValueError(f"no time of day: {text!r}")
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return hour * 60 + minute


@reference(lambda d: (d.clock(), d.number(-3000, 3000)))
def shift_clock(clock: str, minutes: int) -> str:
    """Return the time of day `minutes` after `clock`, or before it if negative, as HH:MM, followed by " (+1)", "
    (-2)" or the like if that is on another day."""
    hour, minute = clock.split(":")
    days, rest = divmod(int(hour) * 60 + int(minute) + minutes, 24 * 60)
    text = f"{rest // 60:02}:{rest % 60:02}"
    return f"{text} ({days:+d})" if days else text


@reference(
    lambda d: (
        d.pick(
            (
                59,
                60,
                61,
                -59,
                -60,
                3599,
                3600,
                86399,
                86400,
                7199,
                d.number(-9000, 9000),
                d.number(0, 900000),
                d.number(60, 4000),
            )
        ),
    )
)
def time_ago(seconds: int) -> str:
    """Say how long ago something was: "just now" below a minute, else "N minutes ago", hours from 60 minutes on and
    days from 24 hours on, rounded down, with the singular for 1; "in N minutes" and so on if `seconds` is
    negative."""
    amount = abs(seconds)
    if amount < 60:
        return "just now"
    size, name = 60, "minute"
    if amount >= 86400:
        size, name = 86400, "day"
    elif amount >= 3600:
        size, name = 3600, "hour"
    count = amount // size
    phrase = f"{count} {name}{'' if count == 1 else 's'}"
    return f"{phrase} ago" if seconds > 0 else f"in {phrase}"


@reference(
    lambda d: (
        d.pick(
            (
                "*",
                "5",
                "1-5",
                "*/15",
                "10-20/5",
                "0,30",
                "5,1-3,*/20",
                f"{d.number(0, 9)}-{d.number(9, 23)}/{d.number(1, 9)}",
                f"{d.number(0, 23)},{d.number(0, 59)}",
                "7-3",
                "60",
                "x",
                "*/0",
                "5/2",
            )
        ),
        d.pick(((0, 59), (0, 59), (0, 23), (1, 12))),
    )
)
def cron_values(field: str, bounds: tuple[int, int]) -> list[int]:
    """Return the sorted values that a cron field allows: comma-separated numbers, ranges "a-b" and "*" for the whole
    of `bounds`, the latter two with "/n" for every n-th; raise ValueError for anything else or outside `bounds`."""
    low, high = bounds
    allowed: set[int] = set()
    for part in field.split(","):
        span, slash, step = part.partition("/")
        if span == "*":
            first, last = low, high
        elif "-" in span:
            first, last = map(int, span.split("-"))
        else:
            first = last = int(span)
        every = int(step) if slash else 1
        if not low <= first <= last <= high or every < 1 or (slash and span.isdigit()):
            raise ValueError(f"no cron field: {field}")
        allowed.update(range(first, last + 1, every))
    return sorted(allowed)


@reference(
    lambda d: (
        d.many(
            lambda: (
                d.pick(("Ada", "Bo")),
                d.pick(("in", "out", "in", "out", "in", "out", "break")),
                d.number(0, 1440),
            ),
            10,
        ),
    )
)
def hours_worked(stamps: list[tuple[str, str, int]]) -> dict[str, float]:
    """Return the hours, rounded to 2 places, for each person in (name, "in" or "out", minute) stamps, in order of
    time: from each "in" while out to the next "out"; ignore an "out" without "in", an "in" while in, and other
    stamps."""
    started: dict[str, int] = {}
    minutes: dict[str, int] = {}
    for name, kind, minute in sorted(stamps, key=lambda stamp: stamp[2]):
        minutes.setdefault(name, 0)
        if kind == "in":
            started.setdefault(name, minute)
        elif kind == "out" and name in started:
            minutes[name] += minute - started.pop(name)
    return {name: round(total / 60, 2) for name, total in minutes.items()}


@reference(
    lambda d: (
        d.pick(
            (
                "Z",
                f"{d.pick('+-')}{d.number(0, 14):02}{d.pick((':', ''))}{d.number(0, 59):02}",
                f"{d.pick('+-')}{d.number(0, 12):02}:{d.pick((0, 15, 30))}0",
                "-00:15",
                "+14:00",
                f"+{d.number(0, 9):02}30",
                "-14:01",
                "+1:00",
                "+05:60",
                "utc",
            )
        ),
    )
)
def utc_offset(text: str) -> int:
    """Return the minutes that an offset such as "+05:30", "-0800" or "Z" is ahead of UTC; raise ValueError for
    anything else, minutes above 59, and more than 14 hours either way."""
    if text == "Z":
        return 0
    match = re.fullmatch(r"([+-])(\d\d):?(\d\d)", text)
    if match is None or int(match[3]) > 59:
        raise ValueError(f"no offset: {text}")
    total = int(match[2]) * 60 + int(match[3])
    if total > 14 * 60:
        raise ValueError(f"no offset: {text}")
    return -total if match[1] == "-" else total


@reference(lambda d: (d.number(0, 8), d.pick((1, 2, 5)), d.pick((2, 3)), d.pick((10, 30, 100))))
def retry_delays(retries: int, first: int, factor: int, cap: int) -> list[int]:
    """Return the seconds to wait before each of `retries` retries: `first` and then `factor` times more each time,
    but never more than `cap`, and no more retries once the waits together would exceed four times `cap`."""
    delays: list[int] = []
    delay = first
    while len(delays) < retries:
        wait = min(delay, cap)
        if sum(delays) + wait > 4 * cap:
            break
        delays.append(wait)
        delay *= factor
    return delays


@reference(lambda d: (sorted(d.ints(0, 40, 10)), d.number(1, 3), d.number(1, 10)))
def rate_limited(times: list[int], limit: int, window: int) -> list[bool]:
    """Say for each of the rising `times` in seconds whether a request is let through: only if fewer than `limit` were
    let through in the `window` seconds before, one made exactly `window` seconds ago no longer counting."""
    passed: list[int] = []
    answers = []
    for time in times:
        recent = [other for other in passed if other > time - window]
        allowed = len(recent) < limit
        if allowed:
            passed.append(time)
        answers.append(allowed)
    return answers


@reference(
    lambda d: (
        f"{d.day('2024-02-27', '2024-03-02')}T{(now := d.clock())}",
        d.pick((now, d.clock(), d.clock())),
        d.clock(),
    )
)
def next_run(now: str, first: str, second: str) -> str:
    """Return the first moment after `now`, as YYYY-MM-DDTHH:MM, at which the clock shows `first` or `second`, both
    given as HH:MM; at `now` itself is too late."""
    moment = datetime.fromisoformat(now)
    candidates = []
    for day in (moment, moment + timedelta(days=1)):
        for clock in (first, second):
            hour, minute = map(int, clock.split(":"))
            candidate = day.replace(hour=hour, minute=minute)
            if candidate > moment:
                candidates.append(candidate)
    return min(candidates).isoformat(timespec="minutes")
