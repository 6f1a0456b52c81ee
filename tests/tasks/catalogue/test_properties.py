"""What must hold of a result, whatever way leads to it."""

import csv
import itertools
import math
import random
import re
import stat
from datetime import date, timedelta
from fractions import Fraction

import pytest

from rlsh.tasks.inputs import Draw


def polynomial(text, coefficients):
    python = re.sub(r"(\d)x", r"\1*x", text).replace("^", "**")
    return all(eval(python, {"x": x}) == sum(c * x**i for i, c in enumerate(coefficients)) for x in range(-3, 4))


def is_continued(terms, numerator, denominator):
    value = None
    for term in reversed(terms):
        value = Fraction(term) if value is None else term + 1 / value
    return value == (Fraction(numerator, denominator) if denominator else None)


def spoken(words, number):
    """Whether the words say the number: tens and ones add up, "hundred" and "thousand" multiply what is before them."""
    names = dict(
        zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True)
    )
    teens = dict(zip("thir four fif six seven eigh nine".split(), range(13, 20), strict=True))
    names |= {stem + "teen": value for stem, value in teens.items()} | {"zero": 0}
    stems = zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True)
    names |= dict(stems)
    total = part = 0
    for word in words.replace("-", " ").split():
        if word == "thousand":
            total, part = part * 1000, 0
        else:
            part = part * 100 if word == "hundred" else part + names[word]
    return total + part == number


def is_order(order, needs):
    """Whether it has every name after its needs, and no name could have come before a greater one."""
    place = {name: i for i, name in enumerate(order)}
    late = any(place[needed] >= place[name] for name in needs for needed in needs[name])
    return (
        not late
        and all(a < b or a in needs.get(b, []) for a, b in itertools.pairwise(order))
        and {*place} == {*needs, *(n for needed in needs.values() for n in needed)}
    )


def is_cycle(names, needs):
    """Whether the names are a circle of needs; with no name, whether taking away what has no needs leaves nothing."""
    if names:
        return all(b in needs.get(a, []) for a, b in itertools.pairwise([*names, names[0]])) and len({*names}) == len(
            names
        )
    left = {name: {*needed} for name, needed in needs.items()}
    for _ in needs:
        left = {name: needed & left.keys() for name, needed in left.items() if needed & left.keys()}
    return not left


def are_meetings(chosen, meetings):
    """Whether they are some of the meetings, do not overlap, and are as many as any such choice."""

    def apart(some):
        return all(a[1] <= b[0] for a, b in itertools.pairwise(sorted(some, key=lambda m: (m[1], m[0]))))

    most = max(n for n in range(len(meetings) + 1) for some in itertools.combinations(meetings, n) if apart(some))
    return apart(chosen) and len(chosen) == most and all(chosen.count(m) <= meetings.count(m) for m in chosen)


def postfix_value(tokens, values):
    stack = []
    for token in tokens:
        if token in values:
            stack.append(values[token])
        else:
            right, left = stack.pop(), stack.pop()
            stack.append({"+": left + right, "-": left - right, "*": left * right, "^": left**right}[token])
    return stack.pop()


def moves_tower(moves, disks, pegs):
    towers = {peg: [] for peg in pegs}
    towers[pegs[0]] = list(range(disks, 0, -1))
    for source, target in (move.split(">") for move in moves):
        disk = towers[source].pop()
        if towers[target] and towers[target][-1] < disk:
            return False
        towers[target].append(disk)
    return len(towers[pegs[2]]) == disks and len(moves) == 2**disks - 1


def decoded(data):
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    return numbers


PROPERTIES = {
    "prime_factors": lambda r, n: (
        math.prod(p**e for p, e in r) == n and all(all(p % i for i in range(2, p)) for p, _ in r) and r == sorted(r)
    ),
    "digital_root": lambda r, n: r[0] == (n and (n - 1) % 9 + 1),
    "to_base": lambda r, n, base: int(r, base) == n and r == r.lower(),
    "continued_fraction": is_continued,
    "format_polynomial": polynomial,
    "spell_number": spoken,
    "percent_shares": lambda r, counts: (
        sum(r) == (100 if sum(counts) else 0)
        and all(abs(s * sum(counts) - 100 * c) < sum(counts) or not sum(counts) for s, c in zip(r, counts, strict=True))
    ),
    "justify_line": lambda r, words, width: r.split() == words and len(r) == max(width, len(" ".join(words))),
    "format_ranges": lambda r, v: (
        sorted({*v})
        == [
            n
            for low, high in re.findall(r"(\d+|\(-\d+\))(?:-(\d+|\(-\d+\)))?", r)
            for n in range(int(low.strip("()")), int((high or low).strip("()")) + 1)
        ]
    ),
    "split_bill": lambda r, cents, people: sum(r) == cents and len(r) == people and (not r or r[0] - r[-1] <= 1),
    "mode_number": lambda r, text: stat.filemode(0o100000 | int(r, 8))[1:] == text,
    "to_csv_line": lambda r, fields: (
        next(csv.reader([r.replace("\n", "\\n")]), [])
        == ([] if r == "" else [str(f).replace("\n", "\\n") if f is not None else "" for f in fields])
    ),
    "config_changes": lambda r, old, new: (r == []) == (old == new),
    "differing_paths": lambda r, left, right: (r == []) == (left == right),
    "add_months": lambda r, day, months: (
        int(r[:4]) * 12 + int(r[5:7]) == int(day[:4]) * 12 + int(day[5:7]) + months
        and (r[8:] == day[8:] or (date.fromisoformat(r) + timedelta(1)).day == 1)
    ),
    "build_order": is_order,
    "find_cycle": is_cycle,
    "most_meetings": are_meetings,
    "to_postfix": lambda r, text: (
        postfix_value(r, {"a": 2, "b": 3, "c": 1}) == eval(text.replace("^", "**"), {"a": 2, "b": 3, "c": 1})
    ),
    "evaluate_postfix": lambda r, text: (
        len(text.split()) > 3 or abs(eval("({0}) {2} ({1})".format(*text.split())) - r) < 1
    ),
    "hanoi": moves_tower,
    "varint_encode": lambda r, numbers: decoded(r) == numbers,
    "search_tree": lambda r, values: (
        sorted({*values}) == sorted(v for v, _ in r) and [d for _, d in r][:1] == [0][: len(r)]
    ),
    "isbn_check_digit": lambda r, digits: (
        sum((10 if c == "X" else int(c)) * (10 - i) for i, c in enumerate(digits + r)) % 11 == 0
        if len(digits) == 9
        else sum(map(int, (digits + r)[::2])) % 10 == -3 * sum(map(int, (digits + r)[1::2])) % 10
    ),
}


@pytest.mark.parametrize("name", sorted(PROPERTIES))
def test_the_result_is_what_was_asked_for(has_property, name):
    has_property(name, PROPERTIES[name])


def test_roman_numerals_and_columns_count_through(functions):
    values = range(1, 4000)
    assert [functions["from_roman"](functions["to_roman"](n)) for n in values] == list(values)
    names = ["".join(letters) for size in (1, 2) for letters in itertools.product(map(chr, range(65, 91)), repeat=size)]
    assert [functions["column_name"](n) for n in range(1, 703)] == names


def test_merging_and_patching_agree_where_nothing_is_removed(functions):
    """Two references that were written apart; the same for flattening keys and building them up again."""
    for seed in range(100):
        d = Draw(random.Random(seed))
        base, other = (d.config(lambda d=d: d.number(0, 9), 3) for _ in range(2))
        assert functions["merge_configs"](base, other) == functions["apply_patch"](base, other)
        pruned = functions["prune"](base)
        assert functions["unflatten_keys"](functions["flatten_keys"](pruned, ".")) == pruned
