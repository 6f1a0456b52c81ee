"""Integers: factors, digits, bases and the like."""

import itertools
from math import gcd

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.pick((d.number(-2, 400), d.number(2, 30) * d.number(2, 12), 0, 1, 2, 4, 49, 8, 97)),))
def prime_factors(n: int) -> list[tuple[int, int]]:
    """Return the prime factors of `n`, smallest first, each as a pair with its exponent, and none for 1; raise
    ValueError for an `n` below 1."""
    if n < 1:
        raise ValueError(f"{n} has no prime factors")
    factors = []
    divisor = 2
    while divisor * divisor <= n:
        exponent = 0
        while n % divisor == 0:
            n //= divisor
            exponent += 1
        if exponent:
            factors.append((divisor, exponent))
        divisor += 1
    if n > 1:
        factors.append((n, 1))
    return factors


@reference(lambda d: (d.number(-3, 60), d.pick((d.number(0, 110), 2, 4, 9, 25, 49))))
def primes_between(low: int, high: int) -> list[int]:
    """Return the primes from `low` to `high`, both included, in order."""
    is_prime = [True] * (high + 1)
    for n in range(2, int(high**0.5) + 1):
        if not is_prime[n]:
            continue
        for multiple in range(n * n, high + 1, n):
            is_prime[multiple] = False
    return [n for n in range(max(low, 2), high + 1) if is_prime[n]]


@reference(lambda d: (d.pick((d.number(0, 20), d.number(21, 99999))),))
def digital_root(n: int) -> tuple[int, int]:
    """Sum the decimal digits of `n` and of every sum until one digit is left; return that digit and how many sums it
    took."""
    steps = 0
    while n > 9:
        total = 0
        while n:
            n, digit = divmod(n, 10)
            total += digit
        n = total
        steps += 1
    return n, steps


@reference(
    lambda d: (d.pick((d.number(-300, 5000), d.number(0, 40), 0)), d.pick((2, 3, 8, 16, 36, d.number(2, 36), 1, 37)))
)
def to_base(n: int, base: int) -> str:
    """Write `n` in `base` with the digits 0-9 and a-z, with a minus sign in front if it is negative; raise ValueError
    unless `base` is from 2 to 36."""
    if not 2 <= base <= 36:
        raise ValueError(f"base {base} is not from 2 to 36")
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    rest = abs(n)
    text = digits[rest % base]
    while rest >= base:
        rest //= base
        text = digits[rest % base] + text
    return "-" + text if n < 0 else text


@reference(lambda d: (d.number(-30, 60), d.number(-12, 24)))
def simplify_fraction(numerator: int, denominator: int) -> str:
    """Write a fraction in lowest terms as "n/d" with the sign in front, or as "n" if it is whole; raise
    ZeroDivisionError if `denominator` is 0."""
    if denominator == 0:
        raise ZeroDivisionError("the denominator is 0")
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    shared = gcd(numerator, denominator)
    numerator //= shared
    denominator //= shared
    return str(numerator) if denominator == 1 else f"{numerator}/{denominator}"


@reference(lambda d: (d.number(1, 60),))
def collatz_peak(n: int) -> tuple[int, int]:
    """Follow the Collatz rule, half of an even number and 3n + 1 of an odd one, from `n` to 1; return the number of
    steps and the largest number met, `n` itself counting."""
    steps, peak = 0, n
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        peak = max(peak, n)
        steps += 1
    return steps, peak


@reference(lambda d: (d.number(0, 12),))
def pascal_row(n: int) -> list[int]:
    """Return row `n` of Pascal's triangle; row 0 is [1]."""
    row = [1]
    for _ in range(n):
        following = [1]
        for left, right in itertools.pairwise(row):
            following.append(left + right)
        following.append(1)
        row = following
    return row


@reference(
    lambda d: (d.pick((d.number(0, 20), d.number(0, 999), d.number(1000, 999999), 19, 20, 21, 99, 100, 1000, 110)),)
)
def spell_number(n: int) -> str:
    """Spell a number from 0 to 999999 in English, such as "twenty-one" or "three thousand one hundred five": hyphens
    between tens and ones, no "and", single spaces."""
    ones = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen"
    ).split()
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    if n < 20:
        return ones[n]
    if n < 100:
        word = tens[n // 10 - 2]
        return f"{word}-{ones[n % 10]}" if n % 10 else word
    size, name = (1000, "thousand") if n >= 1000 else (100, "hundred")
    head, rest = divmod(n, size)
    words = f"{spell_number(head)} {name}"
    return f"{words} {spell_number(rest)}" if rest else words


@reference(lambda d: (d.ints(0, 50, 6),))
def percent_shares(counts: list[int]) -> list[int]:
    """Return what whole percentage of the total each count is, rounded down, and give the points missing to 100 one
    by one to the counts with the largest remainders, earlier ones first; all 0 if the total is 0."""
    total = sum(counts)
    if total == 0:
        return [0] * len(counts)
    shares = [count * 100 // total for count in counts]
    remainders = [count * 100 % total for count in counts]
    order = sorted(range(len(counts)), key=lambda i: -remainders[i])
    for i in order[: 100 - sum(shares)]:
        shares[i] += 1
    return shares


@reference(lambda d: (d.ints(-9, 9, 5), d.number(-4, 4)))
def evaluate_polynomial(coefficients: list[int], x: int) -> int:
    """Return the value at `x` of the polynomial with these coefficients, constant term first; 0 if there are none."""
    value = 0
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


@reference(lambda d: (d.ints(-3, 3, 5),))
def format_polynomial(coefficients: list[int]) -> str:
    """Write a polynomial given by its coefficients, constant term first, as in "2x^3 - x + 5": highest power first,
    without terms that are zero or a factor of 1 before x; "0" if nothing is left."""
    text = ""
    for power in range(len(coefficients) - 1, -1, -1):
        coefficient = coefficients[power]
        if coefficient == 0:
            continue
        size = abs(coefficient)
        factor = "" if size == 1 and power > 0 else str(size)
        variable = "" if power == 0 else "x" if power == 1 else f"x^{power}"
        if text:
            text += " - " if coefficient < 0 else " + "
        elif coefficient < 0:
            text = "-"
        text += factor + variable
    return text or "0"


@reference(lambda d: (d.number(0, 100), d.number(0, 30)))
def continued_fraction(numerator: int, denominator: int) -> list[int]:
    """Return the continued fraction of numerator/denominator by Euclid's algorithm: the whole parts of each division,
    until the remainder is 0; an empty list if `denominator` is 0."""
    terms = []
    while denominator:
        whole, rest = divmod(numerator, denominator)
        terms.append(whole)
        numerator, denominator = denominator, rest
    return terms


@reference(lambda d: (d.pick((d.number(0, 3000), 7, 19, 70, 97)),))
def happy_steps(n: int) -> tuple[int, bool]:
    """Replace `n` by the sum of the squares of its digits until a number comes up that came up before; return how
    many different numbers came up, `n` itself counting, and whether the last of them was 1."""
    seen = set()
    while n not in seen:
        seen.add(n)
        n = sum(int(digit) ** 2 for digit in str(n))
    return len(seen), n == 1
