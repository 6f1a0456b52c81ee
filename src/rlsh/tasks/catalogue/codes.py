"""Numerals, ciphers, and how far strings are apart."""

from itertools import groupby

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.letters("aaab1", 12),))
def run_length(text: str) -> str:
    """Shorten runs of the same character: one of three or more becomes its length and the character, shorter ones
    stay; a digit is always written with its length and in quotes, so that two 1 in a row give 2'1'."""
    result = ""
    for char, group in groupby(text):
        count = len(list(group))
        if char.isdigit():
            result += f"{count}'{char}'"
        elif count >= 3:
            result += f"{count}{char}"
        else:
            result += char * count
    return result


@reference(
    lambda d: ("".join(d.many(lambda: d.pick(("a", "3b", "12c", "x", "0d", "2 ")), 5)) + d.pick(("", "", "", "7")),)
)
def run_length_decode(text: str) -> str:
    """Replace each number and the character after it by that many of the character, other characters standing once;
    raise ValueError if there is no character after a number."""
    result = ""
    digits = ""
    for char in text:
        if char.isdigit():
            digits += char
            continue
        result += char * (int(digits) if digits else 1)
        digits = ""
    if digits:
        raise ValueError(f"nothing after {digits}")
    return result


@reference(lambda d: (d.pick((d.number(1, 60), d.number(1, 3999), 4000, 0, 49, 1994)),))
def to_roman(number: int) -> str:
    """Write a number from 1 to 3999 in Roman numerals, with IV, IX, XL, XC, CD and CM for the fours and nines; raise
    ValueError for any other number."""
    if not 1 <= number <= 3999:
        raise ValueError(f"{number} is not from 1 to 3999")
    values = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1]
    signs = ["M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"]
    text = ""
    for value, sign in zip(values, signs, strict=True):
        while number >= value:
            text += sign
            number -= value
    return text


@reference(
    lambda d: (
        d.pick(("IV", "mcmxciv", "XLII", "VX", "IIII", "", "ABC")) if d.chance(0.3) else d.letters("MDCLXVI", 4, 1),
    )
)
def from_roman(text: str) -> int:
    """Return the value of Roman numerals in either case: add the values of the letters, but subtract that of a letter
    right before one of more value, whatever the order otherwise; raise ValueError for another letter, and 0 for no
    letter."""
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    previous = 0
    for letter in reversed(text.upper()):
        if letter not in values:
            raise ValueError(f"no numeral: {letter}")
        value = values[letter]
        if value < previous:
            total -= value
        else:
            total += value
        previous = value
    return total


@reference(lambda d: (d.pick((d.number(1, 30), d.number(1, 20000), 0, 26, 27, 702, 703)),))
def column_name(number: int) -> str:
    """Return the name of a spreadsheet's column, A for 1, Z for 26, AA for 27; raise ValueError for a `number` below
    1."""
    if number < 1:
        raise ValueError(f"no column {number}")
    name = ""
    while number > 0:
        number, place = divmod(number - 1, 26)
        name = chr(ord("A") + place) + name
    return name


@reference(lambda d: (d.sentence(), d.pick((0, 3, 13, -1, 29))))
def caesar(text: str, shift: int) -> str:
    """Move the letters A-Z and a-z of `text` on by `shift` places in the alphabet, around its end and keeping their
    case, and leave everything else."""
    result = []
    for char in text:
        if not ("a" <= char.lower() <= "z"):
            result.append(char)
            continue
        base = ord("A") if char.isupper() else ord("a")
        result.append(chr((ord(char) - base + shift) % 26 + base))
    return "".join(result)


@reference(lambda d: (d.sentence(), d.number(1, 5)))
def rail_fence(text: str, rails: int) -> str:
    """Write `text` in a zigzag down and up over `rails` lines, the first and the last of which are met once at each
    turn, and return the lines one after the other."""
    lines = [""] * rails
    line, step = 0, 1
    for char in text:
        lines[line] += char
        if not 0 <= line + step < rails:
            step = -step
        if rails > 1:
            line += step
    return "".join(lines)


@reference(
    lambda d: (
        d.pick((d.word(), "kitten", "sitting", d.letters("abc", 6))),
        d.pick((d.word(), "sitting", d.letters("abc", 6))),
    )
)
def edit_distance(left: str, right: str) -> int:
    """Return the smallest number of characters to insert, delete or replace that turns `left` into `right`."""
    previous = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        current = [i]
        for j, b in enumerate(right, start=1):
            replace = previous[j - 1] + (a != b)
            current.append(min(previous[j] + 1, current[j - 1] + 1, replace))
        previous = current
    return previous[-1]


@reference(
    lambda d: (
        d.pick((d.word(), d.letters("ab", 5), "Night")),
        d.many(lambda: d.pick((d.word(), d.letters("ab", 5), "nacht", "light", "NIGHTS")), 5),
    )
)
def most_similar(word: str, candidates: list[str]) -> tuple[str, float]:
    """Return the first candidate most similar to `word` and its similarity, rounded to 3 places: the share of
    neighbouring pairs of letters, in lower case and each counted once, that both have among all that either has, 0.0
    if neither has any; and ("", 0.0) if there are no candidates."""

    def pairs(text: str) -> set[str]:
        lowered = text.lower()
        return {lowered[i : i + 2] for i in range(len(lowered) - 1)}

    best, similarity = "", -1.0
    for candidate in candidates:
        one, other = pairs(word), pairs(candidate)
        share = len(one & other) / max(len(one | other), 1)
        if share > similarity:
            best, similarity = candidate, share
    return best, round(max(similarity, 0.0), 3)
