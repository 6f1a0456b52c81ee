"""Families: one line that searches, cuts, sorts or counts text."""

from __future__ import annotations

from rlsh.tasks.shell import fixtures as fx
from rlsh.tasks.shell.draft import TREE, Draft
from rlsh.tasks.shell.drills import misspelt
from rlsh.tasks.shell.words import CITIES, GIVEN, NOUNS, SERVICES, one, some
from rlsh.tasks.world import World, text
from rlsh.types import Tree


def program_in_pipeline(w: World) -> Draft:
    """A mistyped program somewhere in a pipeline."""
    name, team, n = fx.file_name(w, "csv"), w.rng.choice(fx.TEAMS), w.size(3, 5)
    stages, slip, wanted = w.rng.choice(
        (
            (
                (f"tail -n +2 {name}", "cut -d, -f4", "sort", "uniq -c"),
                "uniq",
                w.rng.choice(
                    (
                        f"Count the people of each team in {name}, whose first line is a header.",
                        f"How many people has each team in {name}? Skip the header, sort by team.",
                    )
                ),
            ),
            (
                (f"grep ,{team}, {name}", "cut -d, -f2", "sort"),
                "sort -r",
                w.rng.choice(
                    (
                        f"Print the names of everybody in team {team} of {name}, sorted.",
                        f"Who is in team {team}? Print the names from {name} in alphabetical order.",
                    )
                ),
            ),
            (
                (f"tail -n +2 {name}", "cut -d, -f5", "sort -n", f"head -n {n}"),
                f"tail -n {n}",
                w.rng.choice(
                    (
                        f"Print the {n} lowest ages in {name}, lowest first; its first line is a header.",
                        f"What are the {n} smallest values of the column age in {name}? Print them in order.",
                    )
                ),
            ),
        )
    )
    at = w.rng.randrange(len(stages))
    program, space, rest = stages[at].partition(" ")
    wrong = f"{misspelt(w, program)}{space}{rest}"

    def fixtures(v: World) -> Tree:
        rows = fx.people(v, v.size(10, 24))
        for row in rows[:4]:
            row[3] = team
        v.rng.shuffle(rows)
        return {name: fx.table(fx.PEOPLE, rows)}

    return Draft(
        wanted,
        " | ".join((*stages[:at], wrong, *stages[at + 1 :])),
        " | ".join(stages),
        fixtures,
        looks=(f"head -n 3 {name}",),
        slips=(" | ".join((*stages[:-1], slip)),),
        faults=("mistyped_program",),
    )


def long_option(w: World) -> Draft:
    """A mistyped long option."""
    name, key, n = fx.file_name(w, "txt", "md", "log"), one(w, GIVEN), w.size(2, 4)
    program, option, rest, wanted = w.rng.choice(
        (
            ("sort", "reverse", name, (f"Sort {name} in reverse.", f"Print the lines of {name} from Z to A.")),
            (
                "grep",
                "ignore-case",
                f"{key} {name}",
                (f"Print the lines of {name} with {key}, in capitals or not.", f"Search {name} for {key} in any case."),
            ),
            (
                "grep",
                "invert-match",
                f"{key} {name}",
                (f"Print the lines of {name} that do not mention {key}.", f"Show {name} without the lines on {key}."),
            ),
            (
                "grep",
                "line-number",
                f"{key} {name}",
                (f"Print the lines of {name} with {key} and their numbers.", f"On which lines of {name} is {key}?"),
            ),
            ("cat", "number", name, (f"Print {name} with line numbers.", f"Number the lines of {name}.")),
            (
                "head",
                f"lines={n}",
                name,
                (f"Print the first {n} lines of {name}.", f"Show how {name} begins: {n} lines."),
            ),
            (
                "tail",
                f"lines={n}",
                name,
                (f"Print the last {n} lines of {name}.", f"Show how {name} ends: {n} lines."),
            ),
        )
    )
    word, equals, value = option.partition("=")

    def fixtures(v: World) -> Tree:
        lines = fx.notes(v, v.size(12, 20))
        for i, form in enumerate((key, key.upper(), key.capitalize(), key)):
            lines[i] = f"{form} will {fx.to_do(v)}"
        v.rng.shuffle(lines)
        return {name: text(*lines)}

    return Draft(
        w.rng.choice(wanted),
        f"{program} --{misspelt(w, word)}{equals}{value} {rest}",
        f"{program} --{option} {rest}",
        fixtures,
        looks=(f"head -n 4 {name}", f"{program} --help | grep -e --{word[0]}"),
        slips=(f"{program} {rest}",),
        faults=("mistyped_flag",),
    )


def every_match(w: World) -> Draft:
    """`sed s///` without g."""
    name = fx.file_name(w, "txt", "conf", "csv")
    (old, new), before, after = some(w, SERVICES, 2), *w.rng.choice(((";", ","), ("_", "-"), (":", "=")))
    in_place = w.rng.random() < 0.5
    old, new, wanted = w.rng.choice(
        (
            (old, new, (f"Replace every {old} by {new} in", f"Rename the service {old} to {new} throughout")),
            (before, after, (f"Turn every '{before}' into '{after}' in", f"Replace all '{before}' by '{after}' in")),
        )
    )
    ending = f"{name}." if in_place else f"{name} and print the result; the file stays as it is."
    option = "-i " if in_place else ""

    def fixtures(v: World) -> Tree:
        def line() -> str:
            return f"{one(v, NOUNS)} {old} {one(v, CITIES)}{v.rng.choice((' ', ' to '))}{one(v, GIVEN)} {old} end"

        return {name: text(*(line() for _ in range(v.size(4, 12))), *fx.notes(v, v.size(1, 5)))}

    return Draft(
        f"{w.rng.choice(wanted)} {ending}",
        f"sed {option}'s/{old}/{new}/' {name}",
        f"sed {option}'s/{old}/{new}/g' {name}",
        fixtures,
        looks=(f"cat {name}", f"grep -n '{old}' {name}"),
        slips=(f"sed {option}'s/{old}/{new}/2' {name}", f"sed {option}'s/{new}/{old}/g' {name}"),
        faults=("sed_without_g",),
    )


def either_level(w: World) -> Draft:
    """`grep 'a|b'` without -E."""
    name = f"{one(w, SERVICES)}-{one(w, NOUNS)}.log"
    first, second = w.rng.sample(fx.LEVELS, 2)
    option, ending = w.rng.choice((("", "."), ("-n ", ", with their numbers.")))
    wanted = w.rng.choice(
        (f"Print the {first} and {second} lines of {name}", f"Show all lines of {name} with level {first} or {second}")
    )

    def fixtures(v: World) -> Tree:
        lines = fx.app_log(v, v.size(12, 40))
        extra = [f"{fx.day(v)} 00:00:00 {level} {one(v, SERVICES)}: {fx.log_message(v)}" for level in fx.LEVELS]
        return {name: text(*extra, *lines)}

    return Draft(
        f"{wanted}{ending}",
        f"grep {option}'{first}|{second}' {name}",
        f"grep {option}-E '{first}|{second}' {name}",
        fixtures,
        looks=(f"head -n 3 {name}", f"wc -l {name}"),
        slips=(f"grep {option}'{first}' {name}", f"grep {option}-F '{first}|{second}' {name}"),
        faults=("grep_without_extended",),
    )


def repeated_digits(w: World) -> Draft:
    """`+` or `{n}` in a pattern that is no extended one."""
    name, digits = f"{one(w, SERVICES)}-{one(w, NOUNS)}.log", w.rng.choice((3, 4))
    options, pattern, slip, wanted = w.rng.choice(
        (
            (
                "",
                f" [0-9]{{{digits}}} ms",
                " [0-9]* ms",
                (
                    f"Print the lines of {name} in which something took a time of {digits} digits in ms.",
                    f"Which lines of {name} give a number of {digits} digits before ' ms'?",
                ),
            ),
            (
                "-o ",
                "[0-9]+ ms",
                "[0-9]* m",
                (
                    f"Print only the durations ('120 ms') in {name}, one a line.",
                    f"List every time in ms that {name} mentions, with its unit and nothing else.",
                ),
            ),
            (
                "-o ",
                "user [a-z]+",
                "user [a-z]*.",
                (
                    f"Print 'user NAME' for every user that {name} mentions, one a line.",
                    f"From {name} print just the words 'user' and the name after it, for each line that has them.",
                ),
            ),
        )
    )

    def fixtures(v: World) -> Tree:
        lines = fx.app_log(v, v.size(10, 30))
        for _ in range(v.size(2, 3)):
            lines += [
                f"{fx.day(v)} 23:59:59 INFO {one(v, SERVICES)}: job {one(v, NOUNS)} finished in {ms} ms"
                for ms in (v.size(20, 99), v.size(100, 999), v.size(1000, 9999))
            ]
            lines.append(f"{fx.day(v)} 23:59:59 INFO {one(v, SERVICES)}: user {one(v, GIVEN)} signed out")
        return {name: text(*lines)}

    return Draft(
        w.rng.choice(wanted),
        f"grep {options}'{pattern}' {name}",
        f"grep {options}-E '{pattern}' {name}",
        fixtures,
        looks=(f"head -n 5 {name}", f"grep -c ' ms' {name}"),
        slips=(f"grep {options}-F '{pattern}' {name}", f"grep {options}'{slip}' {name}"),
        faults=("grep_without_extended",),
    )


def rewritten_file(w: World) -> Draft:
    """A file that one command reads and the shell empties for its output."""
    name, word, n = fx.file_name(w, "txt", "list", "md"), one(w, GIVEN), w.size(3, 6)
    command, wanted = w.rng.choice(
        (
            (f"sort {name}", (f"Sort the lines of {name}, in the file itself.", f"Leave {name} sorted.")),
            (f"sort -r {name}", (f"Sort {name} from Z to A, in place.", f"Reverse-sort the file {name} itself.")),
            (
                f"grep -v {word} {name}",
                (f"Delete the lines with {word} from {name}.", f"Remove from {name} every line that mentions {word}."),
            ),
            (
                f"head -n {n} {name}",
                (f"Keep only the first {n} lines of {name}.", f"Cut {name} down to its first {n} lines."),
            ),
            (
                f"tail -n +{n} {name}",
                (f"Drop everything before line {n} from {name}.", f"Let {name} begin with what is now its line {n}."),
            ),
        )
    )

    def fixtures(v: World) -> Tree:
        lines = [*fx.notes(v, v.size(7, 16)), *(f"{word} will {fx.to_do(v)}" for _ in range(v.size(2, 4)))]
        v.rng.shuffle(lines)
        return {name: text(*lines)}

    return Draft(
        w.rng.choice(wanted),
        f"{command} > {name}",
        f"{command} > {name}.new && mv {name}.new {name}",
        fixtures,
        TREE,
        looks=(f"wc -l {name}", f"cat {name}"),
        slips=(f"{command} > {name}.new",),
        faults=("read_write_same_file",),
    )
