"""Sizes, versions, ranges, colors and key paths written as text."""

import re
from fractions import Fraction

from rlsh.tasks.catalogue.reference import reference


@reference(
    lambda d: (
        d.pick(
            (
                "10K",
                "1.5M",
                "0",
                "7 KiB",
                "2gb",
                "512",
                "1T",
                "-1K",
                "K",
                "1.5.5M",
                "3X",
                "0.3K",
                f"{d.number(1, 2000)}{d.pick(('K', 'MB', 'kb', ''))}",
            )
        ),
    )
)
def parse_size(text: str) -> int:
    """Return the bytes in a size such as "10K", "1.5 MiB" or "2gb": K, M, G and T are powers of 1024, in any case and
    with an optional B or iB behind; round down to whole bytes and raise ValueError for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])(?:i?b)?)?", text.strip().lower())
    if match is None:
        raise ValueError(f"no size: {text!r}")
    number, unit = match.groups()
    power = "kmgt".index(unit) + 1 if unit else 0
    return int(Fraction(number) * 1024**power)


@reference(
    lambda d: (
        d.pick((0, 1, 1023, 1024, 1536, 10239, 10240, 1048575, 1048576, d.number(0, 1 << 14), d.number(0, 1 << 34))),
    )
)
def format_size(size: int) -> str:
    """Write a size in bytes in the largest of B, K, M, G and T in which it is at least 1, such as "512B", "1.5K" or
    "20M": with one decimal, cut off, below 10 in units other than B, and without decimals, cut off, otherwise."""
    unit = 1
    for letter in "BKMGT":
        if size < unit * 1024 or letter == "T":
            break
        unit *= 1024
    if letter == "B" or size >= 10 * unit:
        return f"{size // unit}{letter}"
    tenths = size * 10 // unit
    return f"{tenths // 10}.{tenths % 10}{letter}"


VERSIONS = (
    "1.2.3",
    "1.2",
    "1.10.0",
    "v1.2.0",
    "1.2.3-rc.1",
    "1.2.3-rc.2",
    "1.2.3-rc.10",
    "1.2.3-alpha",
    "2",
    "1.2.3-1",
    "2.0.0",
    "0.0",
)


@reference(lambda d: (d.pick(VERSIONS), d.pick(VERSIONS)))
def compare_versions(left: str, right: str) -> str:
    """Return "<", "=" or ">" for two versions: compare the numbers between dots, missing ones being 0, then count one
    with a part after "-" as less, then compare these parts dot by dot, numbers as numbers and before texts, a part
    that runs out first being less; a leading v does not count."""

    def key(version: str) -> tuple[list[int], bool, list[tuple[bool, int, str]]]:
        release, dash, extra = version.removeprefix("v").partition("-")
        numbers = [int(part) for part in release.split(".")]
        while numbers and numbers[-1] == 0:
            numbers.pop()
        parts = [(False, int(p), "") if p.isdigit() else (True, 0, p) for p in extra.split(".")]
        return numbers, not dash, parts

    one, other = key(left), key(right)
    if one == other:
        return "="
    return "<" if one < other else ">"


@reference(
    lambda d: (
        d.pick(
            (
                "1.2.3",
                "0.9.9",
                "1.10",
                "0.0.7",
                d.pick(("1", "2.4", "1.2.3.4", "1.x", "")),
                f"{d.number(0, 9)}.{d.number(0, 12)}.{d.number(0, 9)}",
            )
        ),
        d.pick(("major", "minor", "patch", "build")),
    )
)
def bump_version(version: str, part: str) -> str:
    """Return a version of three numbers with `part`, "major", "minor" or "patch", raised by one and the numbers after
    it set to 0; raise ValueError for another part, or if `version` is not up to three numbers with dots, missing ones
    0."""
    numbers = [int(number) for number in version.split(".")]
    if len(numbers) > 3:
        raise ValueError(f"no version: {version}")
    numbers += [0] * (3 - len(numbers))
    index = ["major", "minor", "patch"].index(part)
    numbers[index] += 1
    for i in range(index + 1, 3):
        numbers[i] = 0
    return ".".join(str(number) for number in numbers)


@reference(
    lambda d: (
        d.pick(
            (
                "1-3,7",
                "5",
                "3-1",
                "1-2,2-4",
                " 8 , 9-9 ",
                "a",
                "1-",
                "",
                "4,,5",
                f"{d.number(0, 9)}-{d.number(0, 19)},{d.number(0, 9)}",
            )
        ),
    )
)
def parse_ranges(text: str) -> list[int]:
    """Return the sorted numbers, each once, that a list such as "1-3,7" names: numbers and ranges with both ends
    included, blanks allowed and empty parts skipped; raise ValueError for a range that falls or anything else."""
    numbers: set[int] = set()
    for part in text.split(","):
        if not part.strip():
            continue
        low, dash, high = part.partition("-")
        first = int(low)
        last = int(high) if dash else first
        if last < first:
            raise ValueError(f"{part} runs backwards")
        numbers.update(range(first, last + 1))
    return sorted(numbers)


@reference(
    lambda d: (
        d.pick(
            (
                "#fff",
                "#12ab9F",
                "rgb(1, 2,3)",
                "rgb(256,0,0)",
                "red",
                "#ff",
                "BLUE",
                "rgb(1,2)",
                "",
                "#ggg",
                f"#{d.number(0, 4095):03x}",
                f"rgb({d.number(0, 300)},9,8)",
            )
        ),
    )
)
def parse_color(text: str) -> tuple[int, int, int] | None:
    """Return red, green and blue from 0 to 255 of a color written #rgb, where each digit stands for two, #rrggbb,
    rgb(r, g, b), or as red, green or blue, in any case; None for anything else."""
    names = {"red": "#f00", "green": "#0f0", "blue": "#00f"}
    text = names.get(text.lower(), text.lower())
    if re.fullmatch("#[0-9a-f]{3}", text):
        text = "#" + "".join(digit * 2 for digit in text[1:])
    if re.fullmatch("#[0-9a-f]{6}", text):
        return int(text[1:3], 16), int(text[3:5], 16), int(text[5:], 16)
    match = re.fullmatch(r"rgb\((\d+),\s*(\d+),\s*(\d+)\)", text)
    if match is None:
        return None
    red, green, blue = (int(part) for part in match.groups())
    return (red, green, blue) if max(red, green, blue) <= 255 else None


@reference(
    lambda d: (
        d.pick(
            (
                f"{d.key()}.{d.key()}[{d.number(0, 20)}]",
                f"{d.key()}[{d.number(0, 9)}].{d.key()}",
                "a.b[1][2]",
                f"[{d.number(0, 99)}]",
                d.key(),
                f"{d.key()}.x_1",
                "a[-1]",
                "a..b",
                "a[b]",
                "tags[0]x",
            )
        ),
    )
)
def parse_key_path(path: str) -> list[str | int]:
    """Split a path such as "items[0].id" into keys, which are letters, digits and _, and list indices, as in
    ["items", 0, "id"]; raise ValueError if any part of it is malformed."""
    parts: list[str | int] = []
    part = re.compile(r"\[(\d+)\]|(\.?)(\w+)")
    position = 0
    while position < len(path):
        match = part.match(path, position)
        if match is None or (match[3] and bool(match[2]) != bool(parts)):
            raise ValueError(f"{path!r} at {position}")
        parts.append(match[3] if match[3] else int(match[1]))
        position = match.end()
    return parts
