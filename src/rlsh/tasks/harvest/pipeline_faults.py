"""Faults of a pipeline, the way people mistype them: each is a change of its words, and says what it is by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rlsh.tasks.shell.drills import misspelt
from rlsh.tasks.world import World

Line = list[list[str]]  # the words of every stage, as they are written; a last one may begin with > or >>
Change = Callable[[World, Line], Iterator[Line]]

# Flags whose absence changes what comes out, not only how it looks.
TELLING = {
    "grep": "EioFvcwxn",
    "sed": "nE",
    "sort": "nrufVh",
    "uniq": "cdiu",
    "tr": "dsc",
    "wc": "lwcm",
    "paste": "s",
    "cut": "s",
}


def broken(fault: str, w: World, line: Line) -> str | None:
    """The line with this fault, where `w` chooses among several places; None where it has no place for it."""
    found = [text for changed in FAULTS[fault](w, line) if (text := written(changed)) != written(line)]
    return w.rng.choice(found) if found else None


def written(line: Line) -> str:
    return " | ".join(" ".join(stage) for stage in line)


def _put(line: Line, stage: int, word: int, text: str) -> Line:
    """The line with one word replaced, or left out where `text` is empty."""
    words = line[stage][:word] + ([text] if text else []) + line[stage][word + 1 :]
    return [*line[:stage], words, *line[stage + 1 :]]


def _words(line: Line, *programs: str) -> Iterator[tuple[int, int, str]]:
    """(stage, word, text) of the arguments of these programs, of all where none is named."""
    for s, stage in enumerate(line):
        if not programs or stage[0] in programs:
            yield from ((s, at, text) for at, text in enumerate(stage) if at)


def mistyped_program(w: World, line: Line) -> Iterator[Line]:
    for s, stage in enumerate(line):
        if len(stage[0]) > 2:
            yield _put(line, s, 0, misspelt(w, stage[0]))


def dropped_flag(w: World, line: Line) -> Iterator[Line]:
    for s, at, text in _words(line):
        if re.fullmatch(r"-[A-Za-z]+", text):
            for letter in sorted(set(text[1:]) & set(TELLING.get(line[s][0], ""))):
                rest = text.replace(letter, "")
                yield _put(line, s, at, "" if rest == "-" else rest)


def wrong_field(w: World, line: Line) -> Iterator[Line]:
    for s, at, text in _words(line, "cut", "sort"):
        flag = "-f" if line[s][0] == "cut" else "-k"
        if (found := re.search(r"\d+", text)) and (text.startswith(flag) or line[s][at - 1] == flag):
            yield _put(line, s, at, text[: found.start()] + str(int(found[0]) + 1) + text[found.end() :])
    for s, at, text in _words(line, "awk"):
        for found in re.finditer(r"\$(\d+)", text):
            yield _put(line, s, at, f"{text[: found.start()]}${int(found[1]) + 1}{text[found.end() :]}")


def wrong_delimiter(w: World, line: Line) -> Iterator[Line]:
    flags = {"cut": "-d", "awk": "-F", "sort": "-t"}
    for s, at, text in _words(line, *flags):
        flag = flags[line[s][0]]
        other = w.rng.choice([quoted for quoted in ("','", "';'", "':'", "'|'") if quoted[1] not in text])
        if text == flag and at + 1 < len(line[s]):
            yield _put(line, s, at + 1, other)
        elif text.startswith(flag):
            yield _put(line, s, at, flag + other)


def first_match_only(w: World, line: Line) -> Iterator[Line]:
    """`sed s///` without its g."""
    for s, at, text in _words(line, "sed"):
        for found in re.finditer(r"(?<=[^\w\s\\])g(?=[\s;'\"}]|$)", text):
            yield _put(line, s, at, text[: found.start()] + text[found.end() :])


def unsorted_uniq(w: World, line: Line) -> Iterator[Line]:
    for s in range(1, len(line)):
        if line[s][0] == "uniq" and line[s - 1][0] == "sort" and s > 1:
            yield [*line[: s - 1], *line[s:]]


def open_quote(w: World, line: Line) -> Iterator[Line]:
    for s, at, text in _words(line):
        if text[-1] in "'\"" and text.count(text[-1]) == 2:
            yield _put(line, s, at, text[:-1])


def overwriting(w: World, line: Line) -> Iterator[Line]:
    """`>` where `>>` was meant."""
    for s, at, text in _words(line):
        if text == ">>":
            yield _put(line, s, at, ">")


def count_as_file(w: World, line: Line) -> Iterator[Line]:
    """`head 3`."""
    for s, at, text in _words(line, "head", "tail"):
        if text == "-n":
            yield _put(line, s, at, "")
        elif re.fullmatch(r"-n?\d+", text):
            yield _put(line, s, at, text.lstrip("-n"))


def other_end(w: World, line: Line) -> Iterator[Line]:
    """`head` for `tail`, and the other way round."""
    for s, stage in enumerate(line):
        if stage[0] in ("head", "tail") and "+" not in "".join(stage):
            yield _put(line, s, 0, "tail" if stage[0] == "head" else "head")


FAULTS: dict[str, Change] = {
    change.__name__: change
    for change in (
        mistyped_program,
        dropped_flag,
        wrong_field,
        wrong_delimiter,
        first_match_only,
        unsorted_uniq,
        open_quote,
        overwriting,
        count_as_file,
        other_end,
    )
}
