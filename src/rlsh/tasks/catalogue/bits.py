"""Bits, bytes and check digits."""

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.pick((d.letters("0123456789", 12), "4539 1488 0343 6467", "79927398713", "4111-1111", "12a")),))
def luhn(number: str) -> tuple[int, bool]:
    """Return the Luhn sum of a number, every second digit from the right doubled and reduced by 9 if above 9, and
    whether the number is valid, the sum being a multiple of 10; blanks and hyphens do not count, and raise ValueError
    if anything else is no digit or there is no digit."""
    digits = number.replace(" ", "").replace("-", "")
    if not digits.isdigit():
        raise ValueError(f"no number: {number!r}")
    total = 0
    for i, digit in enumerate(reversed(digits)):
        value = int(digit)
        if i % 2 == 1:
            value *= 2
            if value > 9:
                value -= 9
        total += value
    return total, total % 10 == 0


@reference(
    lambda d: (
        d.pick(
            (
                d.letters("0123456789", 9, 9),
                d.letters("0123456789", 9, 9),
                d.letters("0123456789", 12, 12),
                d.letters("0123456789", 12, 12),
                d.letters("0123456789X", 10),
            )
        ),
    )
)
def isbn_check_digit(digits: str) -> str:
    """Return the check digit of the first 9 digits of an ISBN-10, 11 minus the sum of 10 times the first, 9 times the
    second and so on modulo 11, as 0 for 11 and X for 10; or of the first 12 of an ISBN-13, what the sum of the
    digits, every second one times 3, lacks to a multiple of 10; raise ValueError for anything else."""
    if not digits.isdigit() or len(digits) not in (9, 12):
        raise ValueError(f"neither 9 nor 12 digits: {digits}")
    if len(digits) == 9:
        total = sum((10 - i) * int(digit) for i, digit in enumerate(digits))
        check = -total % 11
        return "X" if check == 10 else str(check)
    total = sum(int(digit) * (3 if i % 2 else 1) for i, digit in enumerate(digits))
    return str(-total % 10)


@reference(lambda d: (d.number(0, 1023), d.number(0, 10)))
def bit_report(number: int, width: int) -> tuple[str, list[int], int]:
    """Return `number` in binary with at least `width` digits, the positions of its set bits, 0 being the lowest, in
    rising order, and the length of its longest run of set bits."""
    positions = []
    longest = run = 0
    rest = number
    position = 0
    while rest:
        if rest & 1:
            positions.append(position)
            run += 1
            longest = max(longest, run)
        else:
            run = 0
        rest >>= 1
        position += 1
    return f"{number:0{width}b}", positions, longest


@reference(
    lambda d: ("".join(d.pick((c, c, "-")) for c in d.pick(("rwxrwxrwx",) * 5 + ("rwxrwxrwt", "rwx", "xwrrwxrwx"))),)
)
def mode_number(text: str) -> str:
    """Return file permissions such as "rwxr-x---" as three octal digits such as "750"; raise ValueError unless each
    of the nine characters is the letter that belongs there, rwx three times, or a hyphen."""
    if len(text) != 9:
        raise ValueError(f"not nine characters: {text}")
    digits = ""
    for start in range(0, 9, 3):
        digit = 0
        for letter, wanted in zip(text[start : start + 3], "rwx", strict=False):
            digit *= 2
            if letter == wanted:
                digit += 1
            elif letter != "-":
                raise ValueError(f"{letter} is not {wanted}")
        digits += str(digit)
    return digits


@reference(lambda d: (d.pick((d.sentence().encode(), bytes(d.ints(0, 255, 9)))),))
def checksums(data: bytes) -> tuple[int, int]:
    """Return the Fletcher-16 checksum of `data`, the sum of the bytes modulo 255 plus 256 times the sum of all these
    sums modulo 255, and the exclusive or of all bytes."""
    first = second = parity = 0
    for byte in data:
        first = (first + byte) % 255
        second = (second + first) % 255
        parity ^= byte
    return second * 256 + first, parity


@reference(
    lambda d: (
        d.pick(
            (f"{d.number(0, 255)}.168.{d.number(0, 255)}.{d.number(0, 255)}",) * 9
            + ("1.2.3", "1.2.3.4.5", "1.256.0.1", "1.2.-3.4")
        ),
        d.pick((0, 8, 20, 24, 27, 30, 31, 32, 33, -1)),
    )
)
def network_bounds(address: str, prefix: int) -> tuple[str, str]:
    """Return the first and the last IPv4 address whose first `prefix` bits are those of `address`; raise ValueError
    if that is not four numbers from 0 to 255 or `prefix` is not from 0 to 32."""
    parts = [int(part) for part in address.split(".")]
    if len(parts) != 4 or not all(0 <= part <= 255 for part in parts) or not 0 <= prefix <= 32:
        raise ValueError(f"no network: {address}/{prefix}")
    number = 0
    for part in parts:
        number = number << 8 | part
    hosts = (1 << (32 - prefix)) - 1
    bounds = []
    for value in (number & ~hosts, number | hosts):
        bounds.append(".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0)))
    return bounds[0], bounds[1]


@reference(lambda d: (d.many(lambda: d.pick((d.number(0, 300), 127, 128, 16383, 16384, 70000)), 5),))
def varint_encode(numbers: list[int]) -> bytes:
    """Encode each number in groups of 7 bits, lowest first, one byte each, with the highest bit set in all bytes of a
    number but its last one."""
    data = []
    for number in numbers:
        while number > 127:
            data.append(number & 127 | 128)
            number >>= 7
        data.append(number)
    return bytes(data)
