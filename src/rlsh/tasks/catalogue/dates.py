"""Calendar days as ISO strings."""

from calendar import monthrange
from datetime import date, datetime, timedelta

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.day(), d.number(-14, 26)))
def add_months(day: str, months: int) -> str:
    """Return the ISO date `months` months after `day`, or before it if negative; where that month is too short, its
    last day."""
    start = date.fromisoformat(day)
    index = start.year * 12 + start.month - 1 + months
    year, month = divmod(index, 12)
    month += 1
    last = monthrange(year, month)[1]
    return date(year, month, min(start.day, last)).isoformat()


@reference(
    lambda d: (
        d.day("2023-01-20", "2023-02-10"),
        d.day("2023-01-25", "2023-02-20"),
        d.many(lambda: d.day("2023-01-28", "2023-02-08"), 3),
    )
)
def working_days(start: str, end: str, holidays: list[str]) -> int:
    """Count the days from `start` to `end`, both included, that are neither Saturday or Sunday nor in `holidays`; 0
    if `end` is before `start`."""
    current, last = date.fromisoformat(start), date.fromisoformat(end)
    count = 0
    while current <= last:
        if current.weekday() < 5 and current.isoformat() not in holidays:
            count += 1
        current += timedelta(days=1)
    return count


@reference(
    lambda d: (
        d.pick((d.day("1996-02-20", "2004-03-05"), "2000-02-29", "2023-03-01")),
        d.pick((d.day(), "2023-02-28", "2023-03-01")),
    )
)
def age_on(born: str, day: str) -> int:
    """Return the age in whole years on `day` of somebody born on `born`, who, if born on 29 February, is a year older
    on 1 March in other years; raise ValueError for a `day` before the birth."""
    birth, today = date.fromisoformat(born), date.fromisoformat(day)
    if today < birth:
        raise ValueError("not born yet")
    age = today.year - birth.year
    if (today.month, today.day) < (birth.month, birth.day):
        age -= 1
    return age


@reference(lambda d: (d.day(), d.pick(("Monday", "friday", "sun", "WED", "Tues", "sat", "day", "fr"))))
def next_weekday(day: str, name: str) -> str:
    """Return the ISO date of the first day after `day` that is the weekday `name`, an English name or its first three
    or more letters in any case; raise ValueError for any other name."""
    names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    matches = [i for i, full in enumerate(names) if len(name) >= 3 and full.startswith(name.lower())]
    if not matches:
        raise ValueError(f"no weekday {name}")
    start = date.fromisoformat(day)
    ahead = (matches[0] - start.weekday()) % 7
    return (start + timedelta(days=ahead or 7)).isoformat()


@reference(lambda d: (d.day(),))
def quarter_bounds(day: str) -> tuple[str, str, int]:
    """Return the first and the last day of the quarter that `day` is in, as ISO dates, and how many days of it are
    left after `day`."""
    current = date.fromisoformat(day)
    month = (current.month - 1) // 3 * 3 + 1
    first = date(current.year, month, 1)
    following = date(current.year + 1, 1, 1) if month == 10 else date(current.year, month + 3, 1)
    last = following - timedelta(days=1)
    return first.isoformat(), last.isoformat(), (last - current).days


@reference(lambda d: (d.number(2019, 2025), d.pick((2, d.number(1, 12))), d.chance(0.5)))
def month_weeks(year: int, month: int, sunday_first: bool) -> list[list[int]]:
    """Return the weeks of a month as lists of seven day numbers, Monday to Sunday, or from Sunday if `sunday_first`,
    with 0 for the days of other months."""
    first, count = monthrange(year, month)
    if sunday_first:
        first = (first + 1) % 7
    days = [0] * first + list(range(1, count + 1))
    while len(days) % 7:
        days.append(0)
    return [days[i : i + 7] for i in range(0, len(days), 7)]


@reference(lambda d: (d.day("2024-02-25", "2024-03-03"), d.day("2024-02-27", "2024-03-12"), d.number(-1, 5)))
def date_range(start: str, end: str, step: int) -> list[str]:
    """Return the ISO dates from `start` on, every `step` days, up to and including `end`; raise ValueError if `step`
    is below 1."""
    if step < 1:
        raise ValueError("the step is below one day")
    current, last = date.fromisoformat(start), date.fromisoformat(end)
    days = []
    while current <= last:
        days.append(current.isoformat())
        current += timedelta(days=step)
    return days


@reference(
    lambda d: (
        d.pick(
            (
                "31/12/2020",
                "2020-02-30",
                "2021-3-04",
                "5.6.2022",
                "Feb 3, 2024",
                " 2019-01-01 ",
                "12/31/2020",
                "Mar 31, 2023",
                d.day(),
            )
        ),
    )
)
def read_date(text: str) -> str | None:
    """Read a date written as 2020-12-31, 31/12/2020, 31.12.2020 or Dec 31, 2020, perhaps with blanks around it or
    without leading zeros, and return it in ISO form; None if no such day exists."""
    for pattern in ("%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%b %d, %Y"):
        try:
            return datetime.strptime(text.strip(), pattern).date().isoformat()
        except ValueError:
            continue
    return None


@reference(lambda d: (d.pick((d.number(1583, 4200), d.number(1583, 4200), 1954, 1981, 2049, 2076, 2106)),))
def easter(year: int) -> str:
    """Return the ISO date of Easter Sunday in the Gregorian calendar by the method known as Meeus, Jones and
    Butcher."""
    a = year % 19
    b, c = divmod(year, 100)
    d, e = divmod(b, 4)
    f = (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    j = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * j) // 451
    month, day = divmod(h + j - 7 * m + 114, 31)
    return date(year, month, day + 1).isoformat()


@reference(lambda d: (d.number(2019, 2025), d.number(1, 12), d.number(0, 6), d.pick((1, 2, 3, 4, 5, -1))))
def nth_weekday(year: int, month: int, weekday: int, n: int) -> str | None:
    """Return the ISO date of the `n`-th `weekday`, 0 for Monday, of a month, or of the last one for an `n` of -1;
    None if the month has no such day."""
    first, count = monthrange(year, month)
    days = list(range(1 + (weekday - first) % 7, count + 1, 7))
    if n > len(days):
        return None
    day = days[n - 1] if n > 0 else days[-1]
    return date(year, month, day).isoformat()


@reference(lambda d: (d.many(lambda: d.day("2024-02-26", "2024-03-04"), 8),))
def longest_streak(days: list[str]) -> tuple[str, int] | None:
    """Return the first day and the length of the longest run of consecutive days among `days`, which are in any order
    and may repeat, the earliest run if several are longest; None for no days."""
    ordered = sorted({date.fromisoformat(day) for day in days})
    best, length = None, 0
    for i, day in enumerate(ordered):
        if i == 0 or day - ordered[i - 1] > timedelta(days=1):
            length = 0
        length += 1
        if best is None or length > best[1]:
            best = (day - timedelta(days=length - 1), length)
    return None if best is None else (best[0].isoformat(), best[1])


@reference(lambda d: (d.many(lambda: (d.day("2023-11-28", "2024-03-02"), d.number(1, 40)), 7),))
def monthly_totals(entries: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Add up (date, amount) entries by month; return pairs of the month, such as "2024-02", and its total for all
    months from the first to the last, 0 for those without an entry."""
    totals: dict[str, int] = {}
    for day, amount in entries:
        month = day[:7]
        totals[month] = totals.get(month, 0) + amount
    if not totals:
        return []
    result = []
    month, last = min(totals), max(totals)
    while month <= last:
        result.append((month, totals.get(month, 0)))
        year, number = int(month[:4]), int(month[5:])
        month = f"{year + number // 12}-{number % 12 + 1:02}"
    return result
