"""Applying a unified diff to one file, strictly: context is checked, nothing is guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADER = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")


class PatchError(ValueError):
    """The diff does not apply; the message is what the policy reads."""


@dataclass(frozen=True)
class _Hunk:
    begin: int  # how many lines of the file come before it
    lines: list[tuple[str, str]]  # (' ', '-' or '+', the line with its end)


def apply_patch(old: str, diff: str) -> str:
    """`old` after `diff`. Raises PatchError naming the first thing that does not fit; nothing is applied then.

    A hunk is tried where its header puts it and nowhere else (`patch --fuzz=0` would search). Where the diff is
    silent the file decides: a diff without carriage returns matches CRLF lines and its new lines get them, too, and
    a last line without newline is matched without `\\ No newline at end of file`.
    """
    source, hunks = _split(old), _parse(diff)
    literal = any(line.endswith("\r\n") for hunk in hunks for _, line in hunk.lines)
    out: list[str] = []
    cursor = 0
    for number, hunk in enumerate(hunks, 1):
        if hunk.begin < cursor:
            raise PatchError(f"hunk {number} starts before the end of the hunk ahead of it")
        if hunk.begin > len(source):
            raise PatchError(f"hunk {number} starts after the end of the file, which has {len(source)} lines")
        out += source[cursor : hunk.begin]
        cursor = hunk.begin
        touched = source[cursor : cursor + sum(kind != "+" for kind, _ in hunk.lines)]
        end = _end([line for line in touched if line.endswith("\n")] or source)  # ends may be mixed: the nearest count
        for kind, line in hunk.lines:
            if kind == "+":
                out.append(line if literal else line.replace("\n", end))
                continue
            if cursor == len(source):
                raise PatchError(f"the file ends after line {cursor}, the diff expects {_shown(line)}")
            found = source[cursor]
            if line not in (found, found + "\n") and (literal or line != found.replace("\r\n", "\n")):
                raise PatchError(f"line {cursor + 1} is {_shown(found)}, the diff expects {_shown(line)}")
            if kind == " ":
                out.append(found)
            cursor += 1
    out += source[cursor:]
    # what was the last line may have got others behind it
    return "".join([line if line.endswith("\n") else line + _end(source) for line in out[:-1]] + out[-1:])


def _split(text: str) -> list[str]:
    """Lines with their ends; unlike str.splitlines this cuts at newlines only."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _end(lines: list[str]) -> str:
    """How the first of these lines ends; a line feed where it has no end."""
    return "\r\n" if lines and lines[0].endswith("\r\n") else "\n"


def _shown(line: str) -> str:
    """A line in a message: without its newline, but one that has none says so."""
    return repr(line[:-1]) if line.endswith("\n") else f"{line!r} without a newline"


def _parse(diff: str) -> list[_Hunk]:
    rows = diff.removesuffix("\n").split("\n")
    if any(_HEADER.match(row) and row.endswith("\r") for row in rows):
        rows = [row.removesuffix("\r") for row in rows]  # the diff itself went through CRLF
    lines: list[str] = []
    for row in rows:
        if row.startswith("\\") and lines:  # "\ No newline at end of file" speaks of the line before
            lines[-1] = lines[-1].removesuffix("\n")
        else:
            lines.append(row + "\n")
    hunks: list[_Hunk] = []
    rest = iter(lines)
    for line in rest:
        if header := _HEADER.match(line):
            start, old, new = int(header[1]), int(header[2] or 1), int(header[3] or 1)
            # "-3,0" stands after line 3, "-3,1" on it
            hunks.append(_Hunk(start if old == 0 else start - 1, []))
            while old or new:
                line = next(rest, "")
                if not line:
                    raise PatchError(f"hunk {len(hunks)} ends early: {old} old and {new} new lines are missing")
                kind, body = (" ", line) if line == "\n" else (line[0], line[1:])
                if kind not in " -+":
                    raise PatchError(f"hunk {len(hunks)}: {_shown(line)} must start with ' ', '-' or '+'")
                old, new = old - (kind != "+"), new - (kind != "-")
                if old < 0 or new < 0:
                    raise PatchError(f"hunk {len(hunks)} has more lines than its header says: {_shown(line)}")
                hunks[-1].lines.append((kind, body))
        elif hunks and line.strip():
            raise PatchError(
                f"{_shown(line)} after hunk {len(hunks)}: its header counts fewer lines, or another file begins"
            )
    if not any(kind != " " for hunk in hunks for kind, _ in hunk.lines):
        raise PatchError("the diff changes nothing; write '@@ -a,b +c,d @@', then lines with ' ', '-' or '+'")
    if any(hunk.begin < 0 for hunk in hunks):
        raise PatchError("a hunk starts at line 0, but lines count from 1")
    return hunks
