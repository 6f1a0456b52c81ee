"""What the classic text tools do, on lists of lines."""

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.many(lambda: d.pick((d.line(), d.line(), "", "  ")), 7), d.pick((d.number(0, 99), 8, 9, 98))))
def number_lines(lines: list[str], start: int) -> list[str]:
    """Put a number and a colon in front of every line that is not blank, counting such lines from `start`;
    right-align the numbers to the widest of them and leave blank lines empty."""
    filled = [line for line in lines if line.strip()]
    width = len(str(start + len(filled) - 1)) if filled else 0
    result = []
    number = start
    for line in lines:
        if not line.strip():
            result.append("")
            continue
        result.append(f"{number:>{width}}: {line}")
        number += 1
    return result


@reference(lambda d: ([d.pick(("a", "b", "B", "")) for _ in range(d.number(0, 8))], d.chance(0.5)))
def count_repeats(lines: list[str], ignore_case: bool) -> list[str]:
    """Collapse equal neighbouring lines into one line "COUNT LINE", shown as the first of them was; with
    `ignore_case` upper and lower case are the same."""
    result: list[str] = []
    first, count = "", 0
    for line in lines:
        same = line.lower() == first.lower() if ignore_case else line == first
        if count and same:
            count += 1
            continue
        if count:
            result.append(f"{count} {first}")
        first, count = line, 1
    if count:
        result.append(f"{count} {first}")
    return result


@reference(lambda d: (d.lines(8), d.number(0, 4), d.number(0, 4)))
def head_and_tail(lines: list[str], head: int, tail: int) -> list[str]:
    """Return the first `head` and the last `tail` lines with "... N more ..." between them for the N lines left out,
    or all lines if none is left out."""
    hidden = len(lines) - head - tail
    if hidden <= 0:
        return list(lines)
    shown = lines[:head]
    shown.append(f"... {hidden} more ...")
    return shown + lines[len(lines) - tail :]


@reference(
    lambda d: (
        d.many(lambda: d.pick(("hit", "x", "y", "a hit", "z")), 12),
        d.pick(("hit", "hit", "a", "none")),
        d.number(0, 2),
    )
)
def grep_context(lines: list[str], needle: str, around: int) -> list[str]:
    """Return the lines that contain `needle` with up to `around` lines before and after each, no line twice, and a
    line "--" wherever lines were skipped between two of those returned."""
    wanted: set[int] = set()
    for i, line in enumerate(lines):
        if needle in line:
            wanted.update(range(max(0, i - around), min(len(lines), i + around + 1)))
    result: list[str] = []
    last = -1
    for i in sorted(wanted):
        if result and i > last + 1:
            result.append("--")
        result.append(lines[i])
        last = i
    return result


@reference(
    lambda d: (
        d.pick((":", ",")).join(d.words(5)),
        d.pick(("1", "2", "1,3", "2-3", "3-", "-2", "4,1-2", "2-2,9")),
        d.pick((":", ",")),
    )
)
def cut_fields(line: str, spec: str, separator: str) -> str:
    """Return the fields of `line` that `spec` lists, such as "1,3-5" counted from 1, where an open end as in "-2" or
    "3-" means from the first or to the last; keep each once, in the order of the line, joined by `separator`."""
    fields = line.split(separator)
    chosen: set[int] = set()
    for part in spec.split(","):
        low, dash, high = part.partition("-")
        first = int(low) if low else 1
        last = int(high) if high else len(fields)
        if not dash:
            last = first
        chosen.update(range(first, last + 1))
    return separator.join(field for i, field in enumerate(fields, start=1) if i in chosen)


@reference(
    lambda d: (
        d.many(
            lambda: d.pick(
                ("a = 1", "b = 2 # two", "# note", "", "  ", "c = '#3'", "d='x' #'", "#", "e # f # g", "'h # i")
            ),
            7,
        ),
    )
)
def strip_comments(lines: list[str]) -> list[str]:
    """Cut comments, which start at a # outside single quotes, and blanks at the end from all lines, and drop the
    lines that are empty then."""
    result = []
    for line in lines:
        quoted = False
        end = len(line)
        for i, char in enumerate(line):
            if char == "'":
                quoted = not quoted
            elif char == "#" and not quoted:
                end = i
                break
        kept = line[:end].rstrip()
        if kept:
            result.append(kept)
    return result


@reference(lambda d: ([d.word() + d.pick(("\\", " \\", "", "", "\\\\")) for _ in range(d.number(0, 7))],))
def join_continuations(lines: list[str]) -> list[str]:
    """Join every line that ends in a backslash with the line after it, without the backslash; at the end of the last
    line a backslash is just dropped."""
    result = []
    pending = ""
    open_line = False
    for line in lines:
        open_line = line.endswith("\\")
        if open_line:
            pending += line[:-1]
        else:
            result.append(pending + line)
            pending = ""
    if open_line:
        result.append(pending)
    return result


@reference(lambda d: (d.pick(("", "\n")) + "\n".join(d.many(lambda: d.pick((d.line(), "", "", "  ")), 9)),))
def split_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of `text`, which blank lines separate, with the lines of each stripped and joined by
    single spaces."""
    paragraphs = []
    current: list[str] = []
    for line in [*text.split("\n"), ""]:
        stripped = line.strip()
        if stripped:
            current.append(stripped)
        elif current:
            paragraphs.append(" ".join(current))
            current = []
    return paragraphs


@reference(lambda d: (d.many(lambda: " ".join([d.word()] + [str(n) for n in d.ints(0, 20, 2)]), 6), d.number(1, 3)))
def sort_by_field(lines: list[str], field: int) -> list[str]:
    """Sort `lines` by the integer in their blank-separated `field`, counted from 1; lines where it is missing or no
    integer come last, and lines that compare equal keep their order."""

    def key(line: str) -> tuple[bool, int]:
        parts = line.split()
        try:
            return False, int(parts[field - 1])
        except (IndexError, ValueError):
            return True, 0

    return sorted(lines, key=key)


@reference(lambda d: (sorted(d.words(6)), sorted(d.words(6))))
def compare_sorted(left: list[str], right: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Compare two sorted lists like comm does: return what is only in `left`, only in `right`, and in both, pairing
    equal lines one to one."""
    only_left, only_right, both = [], [], []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            both.append(left[i])
            i += 1
            j += 1
        elif left[i] < right[j]:
            only_left.append(left[i])
            i += 1
        else:
            only_right.append(right[j])
            j += 1
    return only_left + left[i:], only_right + right[j:], both


@reference(
    lambda d: (
        [
            *d.lines(2),
            d.pick(("BEGIN", " BEGIN", "BEGIN ", "x")),
            *d.many(lambda: d.pick(("x", "y", "BEGIN", "z")), 4),
            d.pick(("END", "END ", "y", " END")),
            *d.many(lambda: d.pick(("END", "x")), 2),
        ],
        d.chance(0.4),
    )
)
def extract_block(lines: list[str], inclusive: bool) -> list[str]:
    """Return the lines between the first line "BEGIN" and the next line "END" after it, with these two only if
    `inclusive` is true, ignoring blanks around the marks; raise ValueError where either is missing."""
    stripped = [line.strip() for line in lines]
    start = stripped.index("BEGIN")
    end = stripped.index("END", start)
    return lines[start : end + 1] if inclusive else lines[start + 1 : end]


@reference(
    lambda d: (
        d.many(lambda: d.pick(("a = 1", "long_name=2", "# c", "key =  x = y", "", "b: 3")), 6),
        d.pick(("=", ":")),
    )
)
def align_on(lines: list[str], separator: str) -> list[str]:
    """Line up the first `separator` of all lines that have one: pad what is before it, stripped, to the longest such
    part, then a space, the separator, a space and the rest, stripped; leave other lines alone."""
    width = max((len(line.split(separator)[0].strip()) for line in lines if separator in line), default=0)
    result = []
    for line in lines:
        if separator not in line:
            result.append(line)
            continue
        left, right = line.split(separator, 1)
        result.append(f"{left.strip():<{width}} {separator} {right.strip()}")
    return result


@reference(
    lambda d: (
        d.letters("abcxyz-", 7),
        d.pick(("a-c", "abx", "c-", "a-bx-z", "xa-cz")),
        d.pick(("A-C", "XYZ", "_", "12", "x-zA-C")),
    )
)
def translate(text: str, source: str, target: str) -> str:
    """Replace each character of `text` that is in `source` by the one at the same place in `target`, where "a-c"
    stands for "abc" in both and a shorter `target` is padded with its last character; a hyphen at an end is just a
    hyphen."""

    def expand(spec: str) -> str:
        result = ""
        i = 0
        while i < len(spec):
            if i + 2 < len(spec) and spec[i + 1] == "-":
                result += "".join(chr(code) for code in range(ord(spec[i]), ord(spec[i + 2]) + 1))
                i += 3
            else:
                result += spec[i]
                i += 1
        return result

    old, new = expand(source), expand(target)
    new += new[-1] * (len(old) - len(new))
    table = dict(zip(old, new, strict=False))
    return "".join(table.get(char, char) for char in text)


@reference(lambda d: (text := d.text(5), d.pick((text, d.damaged(text), d.damaged(text), text + d.line()))))
def first_difference(left: str, right: str) -> tuple[int, str, str] | None:
    """Return the number, counted from 1, of the first line in which two texts differ and that line of either,
    stripped on the right, with "" where a text has no such line; None if no line differs but in blanks at its end."""
    a, b = left.splitlines(), right.splitlines()
    for i in range(max(len(a), len(b))):
        one = a[i].rstrip() if i < len(a) else ""
        two = b[i].rstrip() if i < len(b) else ""
        if one != two:
            return i + 1, one, two
    return None
