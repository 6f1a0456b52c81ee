"""Tables, bars and other text for people to read."""

from typing import Any

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: ([["name", "n"], *d.rows([d.word, lambda: d.pick((d.number(-99, 999), d.real(0, 9), ""))], 4)],))
def format_table(rows: list[list[Any]]) -> list[str]:
    """Lay out rows of equal length as lines with columns two blanks apart, each as wide as its widest cell, numbers
    on the right and texts on the left of it, without blanks at the end of a line."""
    widths = [0] * len(rows[0])
    for row in rows:
        for i, cell in enumerate(row):
            widths[i] = max(widths[i], len(str(cell)))
    lines = []
    for row in rows:
        cells = []
        for cell, width in zip(row, widths, strict=True):
            number = isinstance(cell, int | float)
            cells.append(str(cell).rjust(width) if number else cell.ljust(width))
        lines.append("  ".join(cells).rstrip())
    return lines


@reference(lambda d: (d.number(-5, 120), d.pick((0, 7, 60, 100)), d.number(1, 12)))
def progress_bar(done: int, total: int, width: int) -> str:
    """Draw how much of `total` is done, such as "[###> ] 42%": `width` characters between brackets, "#" for each that
    is complete, ">" for the next unless all are, then a space and the percentage, rounded down, to three places;
    `done` counts as 0 below and `total` above that range, and a `total` of 0 as complete."""
    done = max(0, min(done, total))
    if total == 0:
        done = total = 1
    filled = width * done // total
    bar = "#" * filled
    if filled < width:
        bar += ">"
    return f"[{bar:<{width}}] {100 * done // total:3d}%"


@reference(lambda d: (d.mapping(d.word, lambda: d.pick((d.number(0, 60), 7, 0)), 6), d.number(1, 20)))
def bar_chart(counts: dict[str, int], width: int) -> list[str]:
    """Draw one line "NAME | ### COUNT" for each count, largest first and names in order for equal ones: names padded
    to the longest, `width` marks for the largest count and the others in proportion, rounded down but 1 at least for
    a count above 0, without the space after the marks if there are none."""
    if not counts:
        return []
    longest = max(len(name) for name in counts)
    largest = max(counts.values())
    lines = []
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        marks = max(1, width * count // largest) if count > 0 else 0
        bar = "#" * marks + " " if marks else ""
        lines.append(f"{name:<{longest}} | {bar}{count}")
    return lines


@reference(lambda d: (d.many(lambda: d.pick((d.word(), "a,b", 'say "hi"', " x", None, 3, "", "two\nlines")), 5),))
def to_csv_line(fields: list[Any]) -> str:
    """Join `fields` with commas, None as an empty field, and put those in double quotes that contain a comma, a
    quote, a newline, or a blank at either end, with each quote inside doubled."""
    cells = []
    for field in fields:
        text = "" if field is None else str(field)
        if any(char in text for char in ',"\n') or text != text.strip(" "):
            text = '"' + text.replace('"', '""') + '"'
        cells.append(text)
    return ",".join(cells)


@reference(lambda d: (d.lines(4), d.pick(("", d.word())), d.number(0, 14)))
def text_box(lines: list[str], title: str, width: int) -> list[str]:
    """Draw a box of + - and | around `lines`, one blank inside on either side, as wide as the longest of the lines,
    the title and `width` require; the title, if any, stands in the top border after "+-" with a blank before and
    after it."""
    heading = f" {title} " if title else ""
    inner = max([width, len(heading) - 1, *(len(line) for line in lines)])
    top = "+-" + heading + "-" * (inner + 1 - len(heading)) + "+"
    body = [f"| {line}{' ' * (inner - len(line))} |" for line in lines]
    return [top, *body, "+" + "-" * (inner + 2) + "+"]


@reference(lambda d: (d.words(9), d.number(4, 30)))
def name_columns(names: list[str], width: int) -> list[str]:
    """List `names` downwards in as many columns as fit into `width`, at least one: all columns as wide as the longest
    name, two blanks apart, each but the last full, with as few lines as that allows and no blanks at the ends of
    lines."""
    if not names:
        return []
    cell = max(len(name) for name in names)
    columns = max(1, (width + 2) // (cell + 2))
    height = (len(names) + columns - 1) // columns
    lines = []
    for row in range(height):
        shown = names[row::height]
        lines.append("  ".join(name.ljust(cell) for name in shown).rstrip())
    return lines


@reference(lambda d: (d.config(lambda: None, 3),))
def draw_tree(tree: dict[str, Any]) -> list[str]:
    """Draw nested dicts, whose other values are None, as lines in the order of the keys: "|-- key", or "`-- key" for
    the last of a dict, below a key indented by four more characters, "|" and blanks where more keys of a dict
    follow."""
    lines = []
    for i, (name, below) in enumerate(tree.items()):
        last = i == len(tree) - 1
        lines.append(("`-- " if last else "|-- ") + name)
        if below is not None:
            indent = "    " if last else "|   "
            lines += [indent + line for line in draw_tree(below)]
    return lines


@reference(
    lambda d: (
        d.pick((d.sentence().encode(), bytes(d.many(lambda: d.pick((d.number(0, 255), 31, 32, 126, 127)), 20)))),
        d.pick((4, 8, 16)),
    )
)
def hex_dump(data: bytes, width: int) -> list[str]:
    """Show `data` in lines of `width` bytes: the offset in 4 hexadecimal digits, two blanks, the bytes in hexadecimal
    with blanks between them, padded to a full line, two blanks, and the bytes as ASCII with "." for what is not
    printable."""
    lines = []
    for offset in range(0, len(data), width):
        chunk = data[offset : offset + width]
        digits = " ".join(f"{byte:02x}" for byte in chunk)
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in chunk)
        lines.append(f"{offset:04x}  {digits:<{width * 3 - 1}}  {shown}")
    return lines


@reference(
    lambda d: (
        d.pick(("{name} is {size}", "{{x}} {port}", "{none}", "{name", "}{", "{name}{name}", "{}", "a {{{size}}}")),
        d.mapping(d.key, d.word, 9),
    )
)
def fill_template(template: str, values: dict[str, str]) -> str:
    """Replace each {name} in `template` by its value, leaving it as it is if there is none, and {{ and }} by single
    braces; other braces stay."""
    result = ""
    i = 0
    while i < len(template):
        if template[i : i + 2] in ("{{", "}}"):
            result += template[i]
            i += 2
            continue
        end = template.find("}", i)
        if template[i] == "{" and template[i + 1 : end] in values and end > i:
            result += values[template[i + 1 : end]]
            i = end + 1
        else:
            result += template[i]
            i += 1
    return result


@reference(lambda d: (d.nested(lambda: d.pick((d.word(), d.number(0, 9))), 3, 3),))
def outline(items: list[Any]) -> list[str]:
    """Number a nested list as lines "1. item", "2. item", with a list numbered one level deeper, "2.1. item", under
    the item before it, or under number 0 if it comes first."""

    def number(part: list[Any], prefix: str) -> list[str]:
        lines = []
        count = 0
        for item in part:
            if isinstance(item, list):
                lines += number(item, f"{prefix}{count}.")
                continue
            count += 1
            lines.append(f"{prefix}{count}. {item}")
        return lines

    return number(items, "")


@reference(lambda d: (d.ints(0, 100, 9),))
def sparkline(values: list[int]) -> str:
    """Draw each value as one of the characters _.-=^ : "_" for the smallest and "^" for the largest, the range
    between them being divided into five equal steps, and all as "-" if they are equal."""
    marks = "_.-=^"
    low, high = min(values, default=0), max(values, default=0)
    if low == high:
        return "-" * len(values)
    span = high - low
    return "".join(marks[min((value - low) * len(marks) // span, len(marks) - 1)] for value in values)


@reference(lambda d: (d.number(0, (last := d.number(1, 14)) + 1), last, d.number(0, 2)))
def page_links(current: int, last: int, around: int) -> list[int | None]:
    """Return the page numbers to link to, in order: 1, `last` and the pages up to `around` away from `current`, with
    None for a gap of several pages, and the page itself for a gap of one; raise ValueError if `current` is no
    page."""
    if not 1 <= current <= last:
        raise ValueError(f"no page {current} of {last}")
    links: list[int | None] = []
    previous = 0
    for page in range(1, last + 1):
        if page not in (1, last) and abs(page - current) > around:
            continue
        if page - previous == 2:
            links.append(page - 1)
        elif page - previous > 2:
            links.append(None)
        links.append(page)
        previous = page
    return links
