"""Applying a unified diff to one file, strictly: context is checked, nothing is guessed."""

from __future__ import annotations

import re

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class PatchError(ValueError):
    """The diff does not apply; the message is what the policy reads."""


def apply_patch(old: str, diff: str) -> str:
    """`old` after `diff`. Line ends are kept as they stand in the file, CRLF and a missing last newline included.

    Hunk positions are taken from the header, as `patch --fuzz=0` without offsets would. Raises PatchError naming
    the first line that does not match; nothing is applied then.
    """
    source = _split(old)
    lines = diff.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    out: list[str] = []
    cursor = at = hunks = 0
    while at < len(lines):
        header = _HUNK.match(lines[at])
        if header is None:
            if hunks and lines[at].strip():
                raise PatchError(
                    f"diff line {at + 1}: expected a hunk header '@@ -a,b +c,d @@', got {lines[at]!r}"
                )
            at += 1  # file headers and prose before the first hunk
            continue
        hunks += 1
        start, length = int(header[1]), int(header[2] or 1)
        new_length = int(header[4] or 1)
        begin = start - 1 if length else start
        if not cursor <= begin <= len(source):
            raise PatchError(f"hunk {hunks} starts at line {start}; the file has {len(source)} lines")
        out += source[cursor:begin]
        cursor = begin
        at += 1
        while length or new_length or (at < len(lines) and lines[at].startswith("\\")):
            if at == len(lines):
                raise PatchError(
                    f"hunk {hunks} ends early: {length} old and {new_length} new lines are missing"
                )
            kind, body = lines[at][:1] or " ", lines[at][1:]
            if kind == "\\":  # "\ No newline at end of file" speaks of the line before
                if at and lines[at - 1][:1] != "-" and out:
                    out[-1] = out[-1].rstrip("\r\n")
            elif kind in " -":
                if cursor == len(source):
                    raise PatchError(f"hunk {hunks}: {body!r} expected after the end of the file")
                if source[cursor].rstrip("\r\n") != body.rstrip("\r"):
                    raise PatchError(
                        f"line {cursor + 1} is {source[cursor].rstrip()!r}, the diff expects {body!r}"
                    )
                if kind == " ":
                    out.append(source[cursor])
                    new_length -= 1
                cursor += 1
                length -= 1
            elif kind == "+":
                out.append(body.rstrip("\r") + _newline(source, cursor))
                new_length -= 1
            else:
                raise PatchError(f"diff line {at + 1} starts with {kind!r}; expected ' ', '-', '+' or '\\'")
            if length < 0 or new_length < 0:
                raise PatchError(f"hunk {hunks} holds more lines than its header says")
            at += 1
    if not hunks:
        raise PatchError("no hunk in the diff; write '@@ -a,b +c,d @@' and its lines")
    return "".join(_closed(out + source[cursor:]))


def _split(text: str) -> list[str]:
    """Lines with their ends; unlike str.splitlines this cuts at newlines only."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _newline(source: list[str], cursor: int) -> str:
    """The line end that a new line takes over from its neighbour."""
    near = source[min(cursor, len(source) - 1)] if source else "\n"
    return "\r\n" if near.endswith("\r\n") else "\n"


def _closed(lines: list[str]) -> list[str]:
    """A line that was last without a newline and no longer is last gets one."""
    return [line if line.endswith("\n") else line + _newline(lines, 0) for line in lines[:-1]] + lines[-1:]
