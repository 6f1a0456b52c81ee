"""Families: a short script with two faults."""

from __future__ import annotations

from rlsh.tasks.shell import fixtures as fx
from rlsh.tasks.shell.draft import TREE, Draft
from rlsh.tasks.shell.drills import misspelt
from rlsh.tasks.shell.repair import Fault, script_task
from rlsh.tasks.shell.scripts import script_name
from rlsh.tasks.shell.words import CITIES, GIVEN, NOUNS, ROOMS, SERVICES, one, some
from rlsh.tasks.world import World, text
from rlsh.types import Tree


def shell(w: World) -> str:
    return w.rng.choice(("sh", "bash"))


def merged_logs(w: World) -> Draft:
    """A variable that nobody set, and `>` in a loop."""
    name, folder, out, level = script_name(w), one(w, NOUNS), f"{one(w, CITIES)}.txt", w.rng.choice(fx.LEVELS)

    def data(v: World) -> Tree:
        return {
            f"{folder}/{service}.log": text(
                *fx.app_log(v, v.size(2, 9)), f"{fx.day(v)} 23:59:59 {level} {service}: end"
            )
            for service in some(v, SERVICES, v.size(3, 5))
        }

    return script_task(
        w.rng.choice(
            (
                f"{name} should collect the {level} lines of all logs in {folder} in {out}, log after log in the order"
                " of their names. Repair it.",
                f"Mend {name}: afterwards {out} has to hold every {level} line of {folder}/*.log, file by file.",
                f"{out} lacks lines after {name} has run: all {level} lines of the logs in {folder} belong there.",
            )
        ),
        f"{shell(w)} {name}",
        name,
        (
            "#!/bin/sh",
            f"# {level} lines of every log",
            f"out={out}",
            f"level={level}",
            ': > "$out"',
            f"for log in {folder}/*.log; do",
            Fault('    found=$(grep "$levels" "$log")', '    found=$(grep "$level" "$log")'),
            Fault('    echo "$found" > "$out"', '    echo "$found" >> "$out"'),
            "done",
        ),
        data,
        compare=TREE,
        faults=("wrong_variable", "truncating_redirect"),
    )


def best_orders(w: World) -> Draft:
    """A delimiter that the table does not have, and `sort` of numbers as text."""
    name, table, n = script_name(w), fx.file_name(w, "csv", "txt"), w.size(2, 4)
    right, wrong = w.rng.sample((";", ":", ","), 2)
    order, slip, which = w.rng.choice((("rn", "n", "highest"), ("n", "rn", "lowest")))

    return script_task(
        w.rng.choice(
            (
                f"{name} should print the {n} {which} prices in {table}, {which} first. Repair it.",
                f"Mend {name}: of the column price in {table} it has to show the {n} {which} values, {which} first.",
                f"What {name} prints is not the {n} {which} prices of {table} in order. Make it so.",
            )
        ),
        f"{shell(w)} {name}",
        name,
        (
            "#!/bin/sh",
            f"# the {which} prices",
            f"table={table}",
            f"count={n}",
            'tail -n +2 "$table" |',
            Fault(f"cut -d'{wrong}' -f5 |", f"cut -d'{right}' -f5 |"),
            Fault(f"sort{' -r' if 'r' in order else ''} |", f"sort -{order} |", f"sort -{slip} |"),
            'head -n "$count"',
        ),
        lambda v: {table: fx.table(fx.ORDERS, fx.orders(v, v.size(8, 16)), right)},
        faults=("wrong_delimiter", "sort_without_n"),
    )


def stored_notes(w: World) -> Draft:
    """`mkdir` of a path without -p, and a name that is not quoted."""
    name, folder, place = script_name(w), one(w, NOUNS), f"{one(w, CITIES)}/{w.rng.randint(2019, 2026)}"
    program, verb = w.rng.choice((("cp", "copy"), ("mv", "move")))

    def data(v: World) -> Tree:
        stems = [" ".join(some(v, NOUNS, 2)), " ".join(some(v, NOUNS, 2)), *some(v, SERVICES, v.size(1, 3))]
        return {f"{folder}/{stem}.txt": text(*fx.notes(v, v.size(1, 5))) for stem in stems}

    return script_task(
        w.rng.choice(
            (
                f"{name} should {verb} every .txt file of {folder} into the new folder {place}. Repair it.",
                f"Mend {name}, which has to {verb} all of {folder}/*.txt to {place}, names with spaces too.",
                f"After {name} has run, all .txt files of {folder} should be in {place} ({verb} them).",
            )
        ),
        f"{shell(w)} {name}",
        name,
        (
            "#!/bin/sh",
            f"# puts the notes of {folder} away",
            f"place={place}",
            Fault('mkdir "$place"', 'mkdir -p "$place"', f'mkdir "{place.split("/")[0]}"'),
            f"for note in {folder}/*.txt; do",
            Fault(
                f'    {program} $note "$place"', f'    {program} "$note" "$place"', f"    {program} '$note' \"$place\""
            ),
            "done",
        ),
        data,
        compare=TREE,
        faults=("missing_parents", "quoting"),
    )


def frequent_rooms(w: World) -> Draft:
    """`[ $a=b ]`, and `uniq` of what is not sorted."""
    name, table, battery = script_name(w), fx.file_name(w, "csv"), w.rng.choice(("low", "full", "weak"))

    def data(v: World) -> Tree:
        rows = fx.readings(v, v.size(16, 32))
        for at, row in enumerate(rows):
            row[4] = battery if at % 2 else v.rng.choice(("good", "unknown"))
        # one room is there twice with this battery, with another room between
        rows[1][2], rows[3][2] = some(v, ROOMS, 2)
        rows[5][2] = rows[1][2]
        return {table: fx.table(fx.READINGS, rows)}

    return script_task(
        w.rng.choice(
            (
                f"{name} should count by room the readings in {table} whose battery is {battery}, sorted by room."
                " Repair it.",
                f"Mend {name}: it has to print, sorted by room, how many readings of each room in {table} have the"
                f" battery '{battery}'.",
                f"{name} lists rooms of {table} twice and counts lines whose battery is not {battery}. Fix both: one"
                " line a room, sorted by room.",
            )
        ),
        f"{shell(w)} {name}",
        name,
        (
            "#!/bin/sh",
            f"# rooms with a battery that is {battery}",
            f"tail -n +2 {table} |",
            "while IFS=, read -r time sensor room celsius battery; do",
            Fault(
                f"    if [ $battery={battery} ]; then",
                f"    if [ $battery = {battery} ]; then",
                f"    if [ $battery != {battery} ]; then",
            ),
            '        echo "$room"',
            "    fi",
            Fault("done | uniq -c", "done | sort | uniq -c", "done | uniq -c | sort"),
        ),
        data,
        faults=("bracket_spacing", "uniq_unsorted"),
    )


def failed_services(w: World) -> Draft:
    """`-eq` between words, and the wrong field of a log."""
    name, log, level = script_name(w), f"{one(w, NOUNS)}.log", w.rng.choice(fx.LEVELS)

    def data(v: World) -> Tree:
        lines = [f"{fx.day(v)} 00:00:00 {level} {one(v, SERVICES)}: start" for _ in range(v.size(1, 3))]
        return {log: text(*lines, *fx.app_log(v, v.size(6, 14)))}

    return script_task(
        w.rng.choice(
            (
                f"{name} should print the service of every line of {log} whose level is {level}. Repair it.",
                f"Mend {name}: for each {level} line of {log} it has to print the service (field 4, with its colon).",
                f"Of the lines of {log}, {name} should pick those of level {level} and print the services they are of.",
            )
        ),
        f"{shell(w)} {name}",
        name,
        (
            "#!/bin/sh",
            "# fields of the log: day, time, level, service with a colon, message",
            "while read -r line; do",
            "    set -- $line",
            Fault(
                f'    if [ "$3" -eq {level} ]; then',
                f'    if [ "$3" = {level} ]; then',
                f'    if [ "$2" = {level} ]; then',
            ),
            Fault('        echo "$5"', '        echo "$4"'),
            "    fi",
            f"done < {log}",
        ),
        data,
        faults=("numeric_test_on_strings", "wrong_field"),
    )


def tidy_names(w: World) -> Draft:
    """A name that is not quoted, and `sed` without g."""
    name, folder, extension = script_name(w), one(w, NOUNS), w.rng.choice(("txt", "md", "csv"))
    mark, called = w.rng.choice((("_", "underscores"), ("-", "hyphens")))

    def data(v: World) -> Tree:
        stems = [" ".join(some(v, NOUNS, 3)) for _ in range(v.size(2, 3))]
        return {
            **{f"{folder}/{stem}.{extension}": text(*fx.notes(v, v.size(1, 4))) for stem in stems},
            f"{folder}/{one(v, SERVICES)}.{extension}": text(*fx.notes(v, v.size(1, 4))),
        }

    return script_task(
        w.rng.choice(
            (
                f"{name} should put {called} for all spaces in the names of the .{extension} files of {folder}."
                " Repair it.",
                f"Mend {name}: every space in the names of {folder}/*.{extension} has to become '{mark}'.",
                f"After {name} no .{extension} file in {folder} should have a space in its name, but '{mark}' instead.",
            )
        ),
        f"{shell(w)} {name}",
        name,
        (
            "#!/bin/sh",
            f"# {called} for spaces",
            f"for file in {folder}/*' '*.{extension}; do",
            Fault(
                f"    new=$(echo \"$file\" | sed 's/ /{mark}/')",
                f"    new=$(echo \"$file\" | sed 's/ /{mark}/g')",
                "    new=$(echo \"$file\" | sed 's/ //g')",
            ),
            Fault('    mv $file "$new"', '    mv "$file" "$new"', "    mv '$file' \"$new\""),
            "done",
        ),
        data,
        compare=TREE,
        faults=("quoting", "sed_without_g"),
    )


def checked_release(w: World) -> Draft:
    """A script that may not be executed and, once it may, calls a mistyped program."""
    name, table, n = script_name(w), fx.file_name(w, "csv"), w.size(2, 4)
    stages, wanted = w.rng.choice(
        (
            (("cut -d, -f3", "sort", "uniq -c"), "every product and how often it was ordered"),
            (("cut -d, -f2", "sort", "uniq"), "all customers, each once"),
            (("cut -d, -f5", "sort -n", f"tail -n {n}"), f"the {n} highest prices"),
        )
    )
    at = w.rng.randrange(len(stages))
    right = [*(f"{stage} |" for stage in stages[:-1]), stages[-1]]
    program, space, rest = right[at].partition(" ")
    wrong = Fault(f"{misspelt(w, program)}{space}{rest}", right[at])
    return script_task(
        w.rng.choice(
            (
                f"./{name} should print {wanted} from {table}, called like that. Repair it.",
                f"See to it that ./{name} can be called, and then that it prints {wanted} of {table}.",
                f"./{name} has never run yet. It has to print {wanted} in {table}.",
            )
        ),
        f"./{name}",
        name,
        ("#!/bin/sh", f"# {wanted}", f"table={table}", 'tail -n +2 "$table" |', *right[:at], wrong, *right[at + 1 :]),
        lambda v: {table: fx.table(fx.ORDERS, fx.orders(v, v.size(6, 16)))},
        faults=("execute_bit", "mistyped_program"),
        executable=False,
    )


def gathered_notes(w: World) -> Draft:
    """`find -exec` that does not end, and `>` where `>>` was meant."""
    name, folder, out = script_name(w), one(w, NOUNS), f"{one(w, CITIES)}.md"
    (old, new), title = some(w, GIVEN, 2), one(w, NOUNS)

    def data(v: World) -> Tree:
        places = [folder, *(f"{folder}/{service}" for service in some(v, SERVICES, v.size(1, 2)))]
        return {
            f"{place}/{one(v, NOUNS)}.txt": text(f"{old} will {fx.to_do(v)}", *fx.notes(v, v.size(1, 4)))
            for place in places
        }

    return script_task(
        w.rng.choice(
            (
                f"{name} should change '{old} will' to '{new} did' in all .txt files below {folder}, then write to"
                f" {out} a heading and the sorted lines of all of them. Repair it.",
                f"Mend {name}. In {out} it has to leave the heading and below it the sorted lines of the .txt files in"
                f" {folder}, in which '{old} will' has become '{new} did'.",
            )
        ),
        f"{shell(w)} {name}",
        name,
        (
            "#!/bin/sh",
            f"# marks what {old} has done, and gathers the notes",
            f"out={out}",
            Fault(
                f"find {folder} -name '*.txt' -exec sed -i 's/{old} will/{new} did/' {{}}",
                f"find {folder} -name '*.txt' -exec sed -i 's/{old} will/{new} did/' {{}} \\;",
                f"find {folder} -name '*.txt' -exec sed 's/{old} will/{new} did/' {{}} \\;",
            ),
            f'echo "# {title}" > "$out"',
            Fault(
                f"find {folder} -name '*.txt' -exec cat {{}} \\; | sort > \"$out\"",
                f"find {folder} -name '*.txt' -exec cat {{}} \\; | sort >> \"$out\"",
            ),
        ),
        data,
        compare=TREE,
        faults=("missing_exec_end", "truncating_redirect"),
    )
