"""Shell lines that are pipelines of text tools and nothing else. What is not surely understood is refused by name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rlsh.tasks.harvest.outcome import UnfitError

# Of each program: flags without an argument, flags with one, and how many operands come before its files
# (None: it reads no file that it is given).
PROGRAMS: dict[str, tuple[str, str, int | None]] = {
    "grep": ("EFGiIvwxcnlohHqs", "eABCm", 1),
    "sed": ("nErsu", "e", 1),
    "awk": ("", "Fv", 1),
    "sort": ("nrufbdgVshM", "kt", 0),
    "uniq": ("cdiu", "fsw", 0),
    "cut": ("s", "dfcb", 0),
    "tr": ("cdsC", "", None),
    "head": ("qv", "nc", 0),
    "tail": ("qv", "nc", 0),
    "wc": ("lwcmL", "", 0),
    "paste": ("s", "d", 0),
    "join": ("i", "12tao", 0),
    "comm": ("123i", "", 0),
    "tee": ("a", "", 0),
    "rev": ("", "", 0),
    "nl": ("p", "bwsvi", 0),
    "fold": ("sb", "w", 0),
    "cat": ("nbsAET", "", 0),
    "echo": ("neE", "", None),
    "printf": ("", "", None),
    "seq": ("w", "s", None),
    "xargs": ("0rt", "nIdL", None),
    "basename": ("a", "s", None),
    "dirname": ("", "", None),
}
LONGEST = 300  # characters
INPUT = "input.txt"  # what a file is called that has no name of its own
WITHOUT_INPUT = {"echo", "printf", "seq", "basename", "dirname"}
TOKEN = re.compile(
    r"""\s*(?:
      (?P<comment>\#.*)
    | (?P<quiet>2>\s*(?:/dev/null|&1))
    | (?P<operator>\|\||&&|\|&|>>|<<|[|<>;&()])
    | (?P<variable>"\$(?:\w+|[@*]|\{\w+(?:\[[@*]\])?\})"|\$\w+|\$\{\w+\})(?=[\s|<>;)]|$)
    | (?P<word>(?:'[^']*'|"(?:[^"\\$`]|\\.)*"|\\.|\{\}|[\w./:=,+%@^-])+)
    )""",
    re.VERBOSE,
)
REFUSED = {"$": "variable", "`": "command substitution", "*": "glob", "?": "glob", "[": "glob", "~": "home directory"}
OPERATORS = {"||": "several commands", "&&": "several commands", ";": "several commands", "&": "background process"}
AWK_OUTSIDE = re.compile(r"\b(system|getline|ENVIRON|systime|strftime|s?rand|close)\b|print[^;}]*>|\|")
# What is left of a sed program when substitutions, deletions, printing and their addresses are taken out.
SED_KNOWN = re.compile(
    r"(?:(?:\d+|\$|/(?:[^/\\]|\\.)*/)(?:,(?:\d+|\$|/(?:[^/\\]|\\.)*/))?!?)?"
    r"(?:s(.)(?:(?!\1)[^\\]|\\.)*\1(?:(?!\1)[^\\]|\\.)*\1[gIip\d]*|[dpq=]|y/[^/]*/[^/]*/)\s*(?:;\s*|$)"
)


@dataclass(frozen=True)
class Word:
    """As it stands in the line, and as the program sees it; a variable stands for a value that nobody knows."""

    raw: str
    value: str
    variable: bool = False


@dataclass(frozen=True)
class Stage:
    """One program of a pipeline, `words[0]`. `options` are (flag, its argument or ""), `files` indices into `words`."""

    program: str
    words: tuple[Word, ...]
    options: tuple[tuple[str, str], ...] = ()
    operands: tuple[Word, ...] = ()
    files: tuple[int, ...] = ()

    def option(self, flag: str) -> str | None:
        return next((argument for name, argument in self.options if name == flag), None)


@dataclass(frozen=True)
class Pipeline:
    """Programs that hand text on. `source` is what the first reads by `<`, `target` what the last writes."""

    stages: tuple[Stage, ...]
    source: str = ""
    target: str = ""
    appends: bool = False


@dataclass
class _Segment:
    words: list[Word] = field(default_factory=list)
    source: str = ""
    target: str = ""
    appends: bool = False


def parse_pipeline(line: str) -> Pipeline:
    """Raises UnfitError where `line` is anything else than a pipeline of text tools that reads some text."""
    if len(line) > LONGEST:
        raise UnfitError("too long", f"{len(line)} characters")
    segments = _segments(line)
    if any(s.source for s in segments[1:]) or any(s.target for s in segments[:-1]):
        raise UnfitError("not understood", "a redirection within the pipeline")
    source = segments[0].source
    if len(segments) > 1 and not source and _prints_variable(segments[0].words):  # some text: a file of it will do
        source, segments = INPUT, segments[1:]
    stages = tuple(_stage(segment.words) for segment in segments)
    if stages[0].program in WITHOUT_INPUT | {"xargs"} or any(s.program in WITHOUT_INPUT for s in stages):
        raise UnfitError("reads no input", stages[0].program)
    if any(stage.files for stage in stages[1:] if stage.program != "tee"):
        raise UnfitError("not understood", "a later program reads a file")
    if not source and not stages[0].files:
        source = INPUT  # its standard input
    return Pipeline(stages, source, segments[-1].target, segments[-1].appends)


def _prints_variable(words: Sequence[Word]) -> bool:
    """`echo "$TEXT"` or `printf '%s\\n' "$TEXT"`."""
    return bool(words) and words[0].value in ("echo", "printf") and words[-1].variable and len(words) <= 3


def _segments(line: str) -> list[_Segment]:
    segments, pending = [_Segment()], ""
    for kind, text in tokens(line):
        here = segments[-1]
        if pending and kind in ("word", "variable"):
            name = file_name(_word(kind, text))
            here.source, here.target = (name, here.target) if pending == "<" else (here.source, name)
            here.appends = pending == ">>"
            pending = ""
        elif pending:
            raise UnfitError("not understood", f"what follows {pending}")
        elif kind == "operator":
            if text == "|":
                segments.append(_Segment())
            elif text in ("<", ">", ">>"):
                pending = text
            else:
                raise UnfitError(OPERATORS.get(text, "not understood"), text)
        else:
            here.words.append(_word(kind, text))
    if pending or not all(segment.words for segment in segments):
        raise UnfitError("not understood", "an empty command")
    return segments


def tokens(line: str) -> Iterator[tuple[str, str]]:
    """(kind, text) of word, variable and operator. Raises UnfitError at what is none of them."""
    at = 0
    while line[at:].strip():
        found = TOKEN.match(line, at)
        if found is None:
            rest = line[at:].strip()
            bad = next((character for character in rest if character in REFUSED), rest[0])
            if "$(" in rest:
                raise UnfitError("command substitution")
            raise UnfitError(REFUSED.get(bad, "not understood"), rest[:20] if bad not in "$~" else "")
        at = found.end()
        kind = str(found.lastgroup)
        if kind == "comment":
            return
        if kind != "quiet":
            yield kind, found[kind]


def _word(kind: str, text: str) -> Word:
    if kind == "variable":
        return Word(text, "", variable=True)
    return Word(text, "".join(shlex.split(text)))


def file_name(word: Word) -> str:
    """The last part of a path: that is what the fixture is called. A variable's file has none."""
    if word.value.startswith("/dev/"):
        raise UnfitError("device", word.value)
    return INPUT if word.variable else word.value.rstrip("/").rpartition("/")[2]


def _stage(words: Sequence[Word]) -> Stage:
    program = words[0].value
    if program not in PROGRAMS or words[0].variable:
        raise UnfitError("external program", program[:40] or "in a variable")
    plain, valued, before = PROGRAMS[program]
    options: list[tuple[str, str]] = []
    operands: list[int] = []
    at = 1
    while at < len(words):
        text = words[at].value
        if program == "xargs" and operands:  # what it runs has flags of its own
            operands.append(at)
        elif re.fullmatch(r"-\d+", text) and program in ("head", "tail"):
            options.append(("n", text[1:]))
        elif re.fullmatch(r"-[A-Za-z0-9].*", text) and not words[at].variable:
            at = _option(words, at, plain, valued, options)
        elif text.startswith("--"):
            raise UnfitError("unknown option", f"{program} {text}")
        else:
            operands.append(at)
        at += 1
    if any(name == "e" for name, _ in options):
        before = 0
    files = tuple(i for i in operands[before:] if words[i].value != "-") if before is not None else ()
    stage = Stage(program, tuple(words), tuple(options), tuple(words[i] for i in operands), files)
    _check_stage(stage)
    return stage


def _option(words: Sequence[Word], at: int, plain: str, valued: str, options: list[tuple[str, str]]) -> int:
    """Reads the flags of one word, and the next where the last of them takes it. Where reading goes on after."""
    letters = words[at].value[1:]
    for i, letter in enumerate(letters):
        if letter in valued:
            rest = letters[i + 1 :]
            if not rest:
                at += 1
                if at == len(words) or words[at].variable:
                    raise UnfitError("variable" if at < len(words) else "not understood", f"the value of -{letter}")
                rest = words[at].value
            options.append((letter, rest))
            return at
        if letter not in plain:
            raise UnfitError("unknown option", f"{words[0].value} -{letter}")
        options.append((letter, ""))
    return at


def _check_stage(stage: Stage) -> None:
    named = set(stage.files)
    for at, word in enumerate(stage.words):
        if word.variable and at not in named:
            raise UnfitError("variable", word.raw)
    script = stage.operands[0].value if stage.operands else ""
    if stage.program == "awk" and AWK_OUTSIDE.search(script):
        raise UnfitError("outside world", "an awk program that runs, reads or writes something")
    if stage.program == "sed" and any(SED_KNOWN.sub("", text) for text in sed_scripts(stage)):
        raise UnfitError("not understood", "a sed program")
    if stage.program == "xargs" and stage.operands and stage.operands[0].value not in WITHOUT_INPUT:
        raise UnfitError("external program", f"xargs {stage.operands[0].value}"[:40])


def sed_scripts(stage: Stage) -> list[str]:
    given = [argument for name, argument in stage.options if name == "e"]
    return given or [word.value for word in stage.operands[:1]]
