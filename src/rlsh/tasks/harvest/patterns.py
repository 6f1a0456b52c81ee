"""Texts that match a regular expression, as far as simple means go: its operators replaced by an example of each.

Good enough for the patterns of scripts; one that its sample does not match costs a draw, nothing else.
"""

from __future__ import annotations

import re

CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
PLAIN = {r"\d": "7", r"\w": "abc", r"\s": " ", r"\n": "\n", r"\t": "\t", r"\r": "\r", "[[:space:]]": " "}
TRIED = "a7 -#]_."  # members of a class that is none of its own examples
REPEATED = re.compile(r"(\\.|[^\\()\[\]])\{(\d),?\d*\}")
# What is left out: groups' names and flags, anchors, and operators as basic syntax and as all others write them.
GROUPS = re.compile(r"\(\?(?:[aiLmsux]+\)|[:=!>]|<[=!]|P?<\w+>)")
BASIC = re.compile(r"\\[()+?<>b]|(?<!\\)[\^$*]")
OTHERS = re.compile(r"\\[<>bBAZ]|(?<!\\)[\^$()*+?]")


def sample(pattern: str, basic: bool = False) -> str:
    """A text that `pattern` mostly matches: of alternatives the first, of what may be repeated one.

    `basic` is the syntax of grep and sed without -E, in which operators have a backslash and `+` is a plus.
    """
    if basic:
        pattern = re.sub(r"\\([{}])", r"\1", pattern)
    pattern = re.split(r"\\\|" if basic else r"(?<!\\)\|", pattern)[0]
    pattern = GROUPS.sub("(", pattern).replace("[[:space:]]", r"\s")
    pattern = re.sub(CLASS, lambda found: _member(found[0]), pattern)
    pattern = REPEATED.sub(lambda found: found[1] * int(found[2]), pattern)
    pattern = re.sub(r"(?<!\\)\.[*+]?", "some", pattern)
    pattern = (BASIC if basic else OTHERS).sub("", pattern)
    return re.sub(r"\\(.)", lambda found: PLAIN.get(found[0], found[1]), pattern)


def _member(set_of: str) -> str:
    """A character of a class, escaped; nothing where none of a few is in it."""
    inside = "" if set_of[1] == "^" else re.sub(r"\\.", "", set_of[1:-1])
    try:
        found = [character for character in inside + TRIED if re.fullmatch(set_of, character)]
    except re.error:  # of a syntax that is not Python's
        return ""
    return re.escape(found[0]) if found else ""
