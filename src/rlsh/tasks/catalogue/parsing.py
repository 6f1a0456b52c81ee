"""Reading the small formats of everyday files."""

import re
from typing import Any

from rlsh.tasks.catalogue.reference import reference


@reference(
    lambda d: (
        d.pick((";", ",")).join(d.many(lambda: d.pick(("a=1", " b = 2 ", "a=3=4", "c", "=5", " ", "d=")), 5)),
        d.pick((";", ",")),
    )
)
def parse_pairs(text: str, separator: str) -> dict[str, str | None]:
    """Read "key=value" parts separated by `separator` into a dict, keys and values stripped, the last value of a key
    counting: None for a part without "=", and parts with an empty key are left out."""
    pairs: dict[str, str | None] = {}
    for part in text.split(separator):
        key, equals, value = part.partition("=")
        key = key.strip()
        if not key:
            continue
        pairs[key] = value.strip() if equals else None
    return pairs


@reference(
    lambda d: (
        ",".join(
            d.many(lambda: d.pick(("a", "", '"b,c"', '"d ""e"""', " f ", '""')), 5)
            + d.pick(([], [], [], [], ['"g'], ['"h"",']))
        ),
    )
)
def parse_csv_line(line: str) -> list[str]:
    """Split a CSV line at its commas, except those inside a field in double quotes, in which two quotes stand for
    one; take the quotes off, keep blanks, and raise ValueError if a quote is not closed."""
    fields = []
    field = ""
    quoted = False
    i = 0
    while i < len(line):
        char = line[i]
        if char == '"' and quoted and line[i + 1 : i + 2] == '"':
            field += '"'
            i += 1
        elif char == '"':
            quoted = not quoted
        elif char == "," and not quoted:
            fields.append(field)
            field = ""
        else:
            field += char
        i += 1
    if quoted:
        raise ValueError("unclosed quote")
    return [*fields, field]


@reference(
    lambda d: (
        "\n".join(
            d.many(
                lambda: d.pick(
                    ("[main]", " [ x ] ", "a = 1", " b=2", "; note", "# note", "", "c = d = e", "a =", "[a=b", "c=[d]")
                ),
                8,
            )
            + d.pick(([], [], [], ["word"], ["[open"]))
        ),
    )
)
def parse_ini(text: str) -> dict[str, dict[str, str]]:
    """Read INI text into a dict of sections, each a dict of stripped keys and values, with keys before any section
    under ""; blank lines and lines starting with ; or # do not count, and raise ValueError for a line that is none of
    these."""
    sections: dict[str, dict[str, str]] = {}
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line[0] in ";#":
            continue
        if line.startswith("[") and line.endswith("]"):
            current = line[1:-1].strip()
            sections.setdefault(current, {})
        elif "=" in line:
            key, value = line.split("=", 1)
            sections.setdefault(current, {})[key.strip()] = value.strip()
        else:
            raise ValueError(f"line {number}: {line}")
    return sections


@reference(
    lambda d: (
        d.pick(("", "?"))
        + "&".join(d.many(lambda: d.pick(("a=1", "b=x+y", "a=%20", "c", "=z", "a=2=3", "", "d=%C3%A9")), 6)),
    )
)
def parse_query(query: str) -> dict[str, list[str]]:
    """Read a query string, with or without the "?" in front, into a dict of the values of each name in order: + is a
    blank and %XX a byte of UTF-8, a name without "=" has the value "", and parts without a name are left out."""

    def decode(text: str) -> str:
        data = text.replace("+", " ").encode()
        return re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), data).decode()

    values: dict[str, list[str]] = {}
    for part in query.removeprefix("?").split("&"):
        name, _, value = part.partition("=")
        if not name:
            continue
        values.setdefault(decode(name), []).append(decode(value))
    return values


@reference(
    lambda d: (
        d.many(
            lambda: (
                f"{d.day()} {d.clock()} {d.pick(('INFO', 'ERROR', 'warn', 'DEBUG', '-'))}: {d.line()}"
                if d.chance(0.7)
                else d.line()
            ),
            7,
        ),
    )
)
def log_errors(lines: list[str]) -> list[tuple[str, str]]:
    """Return pairs of the time and the message, stripped, of the log lines such as "2024-01-31 09:05 ERROR: message"
    whose level is WARN or ERROR in any case; leave out lines of any other form."""
    found = []
    for line in lines:
        match = re.match(r"(\d{4}-\d\d-\d\d \d\d:\d\d) (\w+):(.*)", line)
        if match is None:
            continue
        moment, level, message = match.groups()
        if level.upper() in ("WARN", "ERROR"):
            found.append((moment, message.strip()))
    return found


@reference(
    lambda d: (d.many(lambda: d.pick(("-v", "--name=x", "--dry", "-n", "file", "--", "-abc", "--size=", "-", "2")), 6),)
)
def parse_arguments(arguments: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Split command-line arguments into options and the rest: "--name=value" gives a text, "--name" True, and "-abc"
    counts how often each of its letters occurs; everything after "--" belongs to the rest, and so does a single
    "-"."""
    options: dict[str, Any] = {}
    rest: list[str] = []
    for i, argument in enumerate(arguments):
        if argument == "--":
            rest += arguments[i + 1 :]
            break
        if argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            options[name] = value if equals else True
        elif argument.startswith("-") and len(argument) > 1:
            for letter in argument[1:]:
                options[letter] = options.get(letter, 0) + 1
        else:
            rest.append(argument)
    return options, rest


@reference(
    lambda d: (
        d.many(
            lambda: d.pick(
                (
                    "Host: a",
                    "Accept:  text/html ",
                    " more",
                    "\tand more",
                    "accept: x",
                    "X-No:",
                    "Host: b: c",
                    "Date: 1",
                    "broken",
                )
            ),
            6,
        ),
    )
)
def parse_headers(lines: list[str]) -> dict[str, str]:
    """Read "Name: value" lines into a dict with names in lower case: a line that starts with a blank or tab continues
    the value before it after a space, a repeated name adds its value after ", "; raise ValueError for any other
    line."""
    headers: dict[str, str] = {}
    name = ""
    for line in lines:
        if line[:1] in (" ", "\t") and name:
            headers[name] = f"{headers[name]} {line.strip()}"
            continue
        if ":" not in line:
            raise ValueError(f"no header: {line!r}")
        name, value = line.split(":", 1)
        name = name.lower()
        value = value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


@reference(
    lambda d: (
        " ".join(d.many(lambda: d.pick(("ls", "'a b'", '"c d"', "e\\ f", "g'h'i", '""', '"x\\"y"', "'z", "\\")), 5)),
    )
)
def shell_words(line: str) -> list[str]:
    """Split `line` at blanks as a shell does: not inside single or double quotes, nor after a backslash, which takes
    away the meaning of the next character but is itself one inside single quotes; raise ValueError for a quote not
    closed or a backslash at the end."""
    words = []
    word: str | None = None
    quote = ""
    characters = iter(line)
    for char in characters:
        if char == "\\" and quote != "'":
            following = next(characters, "")
            if not following:
                raise ValueError("nothing after the backslash")
            word = (word or "") + following
        elif char == quote:
            quote = ""
        elif char in "'\"" and not quote:
            quote = char
            word = word or ""
        elif char == " " and not quote:
            if word is not None:
                words.append(word)
            word = None
        else:
            word = (word or "") + char
    if quote:
        raise ValueError("unclosed quote")
    return words if word is None else [*words, word]


@reference(
    lambda d: (
        [
            "| name | size |",
            "|---|:-:|",
            *d.many(lambda: d.pick(("| a | 1 |", "|b|2|", "| c |", "| d | 4 | 5 |", "text", "| e \\| f | |")), 5),
        ],
    )
)
def markdown_rows(lines: list[str]) -> list[dict[str, str]]:
    """Return the rows of a Markdown table as dicts by the cells of its first line: skip the second line, stop at a
    line that does not start with "|", take \\| in a cell as |, give missing cells as "" and drop what is too many."""

    def cells(line: str) -> list[str]:
        inner = line.strip().removeprefix("|").removesuffix("|")
        return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)]

    header = cells(lines[0])
    rows = []
    for line in lines[2:]:
        if not line.startswith("|"):
            break
        values = cells(line)
        values += [""] * (len(header) - len(values))
        rows.append(dict(zip(header, values, strict=False)))
    return rows
