"""What a pipeline does, in English; and a text for it to work on, made of what its own patterns speak of."""

from __future__ import annotations

import re
from collections.abc import Callable

from rlsh.tasks.harvest.outcome import UnfitError
from rlsh.tasks.harvest.patterns import sample
from rlsh.tasks.harvest.pipeline import Pipeline, Stage, sed_scripts
from rlsh.tasks.world import World

SUBSTITUTION = re.compile(r"s(.)((?:(?!\1)[^\\]|\\.)*)\1((?:(?!\1)[^\\]|\\.)*)\1([gIi]*)")
MOST_LINES = 120


# --- what it does -----------------------------------------------------------------------------------------------


def described(pipeline: Pipeline) -> str:
    """What the stages do, one after the other, as an infinitive. Raises UnfitError where there are no words for one."""
    phrases = [phrase for stage in pipeline.stages if (phrase := _phrase(stage))]
    if not phrases:
        raise UnfitError("nothing says what it does", pipeline.stages[0].program)
    return ", then ".join(phrases)


def _phrase(stage: Stage) -> str:
    phrase = PHRASES[stage.program](stage) if stage.program in PHRASES else None
    if phrase is None:
        raise UnfitError("nothing says what it does", " ".join(word.raw for word in stage.words)[:60])
    return phrase


def _flags(stage: Stage) -> set[str]:
    return {name for name, _ in stage.options}


def _grep(stage: Stage) -> str | None:
    flags, patterns = _flags(stage), [a for name, a in stage.options if name == "e"]
    pattern = " or ".join(map(repr, patterns or [stage.operands[0].value]))
    if flags - set("EFGeivcownh"):
        return None
    means = "contain the word" if "w" in flags else "contain" if "F" in flags else "match"
    if "v" in flags:
        means = f"do not {means}"
    case = " in any case" if "i" in flags else ""
    if "o" in flags:
        return f"print each match of {pattern}{case} on a line of its own"
    if "c" in flags:
        return f"count the lines that {means} {pattern}{case}"
    return f"keep the lines that {means} {pattern}{case}" + (", with their line numbers" if "n" in flags else "")


def _sed(stage: Stage) -> str | None:
    phrases = []
    for part in (part for script in sed_scripts(stage) for part in re.split(r"\s*;\s*", script) if part):
        if found := SUBSTITUTION.fullmatch(part):
            which = "every match" if "g" in found[4] else "the first match in each line"
            phrases.append(f"replace {which} of {found[2]!r} by {found[3]!r}")
        elif found := re.fullmatch(r"/(.+)/d", part):
            phrases.append(f"delete the lines that match {found[1]!r}")
        elif found := re.fullmatch(r"(\d+)(?:,(\d+|\$))?([pd])", part):
            lines = f"line {found[1]}" + (f" to {found[2].replace('$', 'the last')}" if found[2] else "")
            if (found[3] == "p") != ("n" in _flags(stage)):
                return None
            phrases.append(f"keep {lines}" if found[3] == "p" else f"delete {lines}")
        else:
            return None
    return " and ".join(phrases)


def _awk(stage: Stage) -> str | None:
    program = stage.operands[0].value.strip()
    between = stage.option("F")
    by = f" of those separated by {between!r}" if between else ""
    if found := re.fullmatch(r"\{\s*print \$(\d+|NF);?\s*\}", program):
        return ("keep the last field" if found[1] == "NF" else f"keep field {found[1]}") + by
    if found := re.fullmatch(r"/(.+)/\s*\{\s*print \$(\d+);?\s*\}", program):
        return f"keep field {found[2]}{by} of the lines that match {found[1]!r}"
    if found := re.fullmatch(r"\{\s*(\w+) ?\+= ?\$(\d+);?\s*\}\s*END\s*\{\s*print \1;?\s*\}", program):
        return f"add up field {found[2]}{by}"
    return None


def _cut(stage: Stage) -> str | None:
    fields, characters = stage.option("f"), stage.option("c")
    if fields:
        between = stage.option("d")
        return f"keep field {fields} of those separated by {repr(between) if between else 'tabs'}"
    return f"keep characters {characters} of each line" if characters else None


def _sort(stage: Stage) -> str | None:
    flags, key = _flags(stage), stage.option("k")
    if flags - set("nrufktVh"):
        return None
    by = [" by number" * bool(flags & set("nh")), " by version" * ("V" in flags), f" by field {key}" if key else ""]
    if between := stage.option("t"):
        by.append(f" of those separated by {between!r}")
    more = [" in reverse" * ("r" in flags), " ignoring case" * ("f" in flags), " without duplicates" * ("u" in flags)]
    return "sort the lines" + "".join(by + more)


def _uniq(stage: Stage) -> str | None:
    means = {
        "": "keep one of equal lines in a row",
        "c": "count equal lines in a row",
        "d": "keep what is repeated in a row",
    }
    return means.get("".join(sorted(_flags(stage))))


def _tr(stage: Stage) -> str | None:
    sets, flags = [repr(word.value) for word in stage.operands], "".join(sorted(_flags(stage)))
    if flags == "" and len(sets) == 2:
        return f"turn the characters {sets[0]} into {sets[1]}"
    means = {
        "d": "delete the characters",
        "s": "squeeze repetitions of the characters",
        "cd": "delete all but the characters",
    }
    return f"{means[flags]} {sets[0]}" if flags in means and len(sets) == 1 else None


def _end(stage: Stage) -> str | None:
    if stage.option("c"):
        return None
    count, which = stage.option("n") or "10", {"head": "first", "tail": "last"}[stage.program]
    if count.startswith("+"):
        return f"keep everything from line {count[1:]} on"
    return f"keep the {which} {count} lines" if count.isdecimal() else None


def _wc(stage: Stage) -> str | None:
    means = {"l": "count the lines", "w": "count the words", "c": "count the bytes", "m": "count the characters"}
    return means.get("".join(sorted(_flags(stage))))


def _paste(stage: Stage) -> str | None:
    between = stage.option("d")
    one = "s" in _flags(stage) and len(stage.files) < 2
    return f"join all lines to one{f' with {between!r} between' if between else ''}" if one else None


PHRASES: dict[str, Callable[[Stage], str | None]] = {
    "grep": _grep,
    "sed": _sed,
    "awk": _awk,
    "cut": _cut,
    "sort": _sort,
    "uniq": _uniq,
    "tr": _tr,
    "head": _end,
    "tail": _end,
    "wc": _wc,
    "paste": _paste,
    "rev": lambda stage: "reverse each line",
    "fold": lambda stage: f"break lines after {stage.option('w')} characters" if stage.option("w") else None,
    "nl": lambda stage: None if stage.options else "number the lines",
    "cat": lambda stage: None if stage.options else "",
}


# --- what it works on -------------------------------------------------------------------------------------------


def samples(pipeline: Pipeline) -> list[str]:
    """Texts that the pipeline's patterns match, mostly."""
    found: list[str] = []
    for stage in pipeline.stages:
        flags = _flags(stage)
        if stage.program == "grep":
            given = [a for name, a in stage.options if name == "e"] or [stage.operands[0].value]
            if "F" in flags:
                found += given
            else:
                split = re.compile(r"\|" if "E" in flags else r"\\\|")
                found += [sample(part, "E" not in flags) for pattern in given for part in split.split(pattern)]
        elif stage.program == "sed":
            for script in sed_scripts(stage):
                patterns = [match[2] for match in SUBSTITUTION.finditer(script)]
                patterns += re.findall(r"(?:^|;)\s*/([^/]+)/", script)
                found += [sample(pattern, not flags & {"E", "r"}) for pattern in patterns]
        elif stage.program == "awk":
            found += map(sample, re.findall(r"/([^/]+)/", stage.operands[0].value))
        elif stage.program == "tr":
            found += [word.value[:1] for word in stage.operands[:1] if word.value[:1].isprintable()]
    return [text for text in found if text and text.isprintable()]


def delimiter(pipeline: Pipeline) -> str:
    flags = {"cut": "d", "awk": "F", "sort": "t"}
    found = [stage.option(flags[stage.program]) for stage in pipeline.stages if stage.program in flags]
    plain = [text for text in found if text and len(text) == 1]
    tabs = any(stage.program == "cut" and stage.option("f") and not stage.option("d") for stage in pipeline.stages)
    return plain[0] if plain else "\t" if tabs else " "


def fields(pipeline: Pipeline) -> int:
    """How many columns a line needs, and one more, so that a wrong one is not empty."""
    columnar = [stage for stage in pipeline.stages if stage.program in ("cut", "awk", "sort")]
    text = " ".join(word.raw for stage in columnar for word in stage.words)
    found = [int(n) for n in re.findall(r"(?:\$|-f ?|-k ?|,|-)(\d{1,2})\b", text)]
    return min(max([2, *found]) + 1, 12)


def _beyond(pipeline: Pipeline) -> int:
    """How many lines `head` and `tail` have to be given for what they leave out to be seen."""
    ends = [stage.option("n") or "10" for stage in pipeline.stages if stage.program in ("head", "tail")]
    counts = [int(count.strip("+-")) for count in ends if count.strip("+-").isdecimal()]
    return min(2 * max([0, *counts]), MOST_LINES)


def lines_for(pipeline: Pipeline, w: World) -> list[str]:
    """Lines of words and numbers in columns, some holding what the patterns match, some of them twice."""
    matched, between, columns = samples(pipeline), delimiter(pipeline), fields(pipeline)
    any_case = any(stage.program == "grep" and stage.option("i") is not None for stage in pipeline.stages)
    lines = []
    for at in range(w.size(6, 10) + _beyond(pipeline)):
        cells = [w.rng.choice((w.word(), w.word(), str(w.rng.randint(2, 300)))) for _ in range(columns)]
        if matched and (at < 2 or w.rng.random() < 0.6):
            text = w.rng.choice(matched)
            text = w.rng.choice((text, text.upper(), text.title())) if any_case else text
            cells[w.rng.randrange(columns)] = w.rng.choice((text, text, f"{text}{between}{text}", f"{text}{w.word()}"))
        lines.append(between.join(cells))
    lines += [w.rng.choice(lines) for _ in range(w.size(2, 4))]
    w.rng.shuffle(lines)
    return lines
