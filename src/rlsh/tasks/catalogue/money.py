"""Amounts of money and other measures."""

import re
from fractions import Fraction

from rlsh.tasks.catalogue.reference import reference


@reference(
    lambda d: (
        d.pick(
            (
                "$1,234.50",
                "12",
                "(3.00)",
                "-$5",
                "$0.7",
                "1,000,000",
                ".5",
                "1.234",
                "",
                "$-",
                f"{d.number(0, 9999)}.{d.number(0, 99):02}",
            )
        ),
    )
)
def parse_cents(text: str) -> int:
    """Return the cents in an amount such as "$1,234.50", with one, two or no decimals, where "-" in front or
    parentheses around make it negative and commas do not count; raise ValueError for anything else."""
    match = re.fullmatch(r"(-|\()?\$?(\d[\d,]*)(?:\.(\d\d?))?(\))?", text)
    if match is None or (match[1] == "(") != (match[4] == ")"):
        raise ValueError(f"no amount: {text!r}")
    units = int(match[2].replace(",", ""))
    cents = int((match[3] or "").ljust(2, "0"))
    total = units * 100 + cents
    return -total if match[1] else total


@reference(lambda d: (d.number(0, 20000), d.number(0, 6)))
def split_bill(cents: int, people: int) -> list[int]:
    """Share `cents` among `people` as evenly as whole cents allow, larger shares first; raise ValueError for no
    people unless there is nothing to share, which gives an empty list."""
    if people == 0:
        if cents == 0:
            return []
        raise ValueError("nobody to pay")
    share, extra = divmod(cents, people)
    return [share + 1] * extra + [share] * (people - extra)


@reference(
    lambda d: (
        d.number(0, 90000),
        d.pick(([(10000, 0), (40000, 20), (None, 40)], [(None, 25)], [(5000, 10), (None, 50)])),
    )
)
def income_tax(income: int, bands: list[tuple[int | None, int]]) -> int:
    """Return the tax on `income`, rounded down, for rising bands (limit, percent): each percentage is taken of the
    part of the income between the limit before it, 0 for the first, and its own, None standing for no limit."""
    hundredths = 0
    lower = 0
    for limit, percent in bands:
        upper = income if limit is None else min(income, limit)
        if upper <= lower:
            break
        hundredths += (upper - lower) * percent
        lower = upper
    return hundredths // 100


@reference(lambda d: (d.number(0, 400), d.pick(([1, 2, 5, 10, 20, 50, 100], [1, 5, 10, 25], [5, 20], [3, 4]))))
def make_change(amount: int, coins: list[int]) -> list[int] | None:
    """Pay `amount` by always taking the largest of `coins`, in rising order, that still fits; return the coins taken,
    or None if that leaves a rest."""
    taken = []
    for coin in reversed(coins):
        while amount >= coin:
            taken.append(coin)
            amount -= coin
    return taken if amount == 0 else None


@reference(
    lambda d: (
        d.pick(("1 1/2", "3/4", "2", "0.25", "1/0", "-1/2", "x", "1/2/3", f"{d.number(0, 5)} {d.number(1, 7)}/8")),
        d.number(1, 6),
    )
)
def scale_quantity(text: str, factor: int) -> str:
    """Multiply a quantity such as "2", "0.25", "3/4" or "1 1/2" by `factor` and write the result in lowest terms as a
    whole number, a fraction, or both with a space between; return "?" for a quantity that is negative or none of
    these."""
    try:
        amount = sum((Fraction(part) for part in text.split()), Fraction(0)) * factor
    except (ValueError, ZeroDivisionError):
        return "?"
    if amount < 0:
        return "?"
    whole, rest = divmod(amount, 1)
    if not rest:
        return str(whole)
    return f"{whole} {rest}" if whole else str(rest)


@reference(lambda d: (d.real(-50, 120), d.pick("CCFFKX"), d.pick("CFFKKX")))
def convert_temperature(degrees: float, source: str, target: str) -> float:
    """Convert a temperature between C, F and K, rounded to 1 place: F is 1.8 C + 32 and K is C + 273.15; raise
    ValueError for another unit or a temperature below 0 K."""
    if target not in ("C", "F", "K"):
        raise ValueError(f"no unit {target}")
    if source == "C":
        celsius = degrees
    elif source == "F":
        celsius = (degrees - 32) / 1.8
    elif source == "K":
        celsius = degrees - 273.15
    else:
        raise ValueError(f"no unit {source}")
    if celsius < -273.15:
        raise ValueError("below absolute zero")
    if target == "F":
        return round(celsius * 1.8 + 32, 1)
    return round(celsius + 273.15 if target == "K" else celsius, 1)
