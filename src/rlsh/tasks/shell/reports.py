"""Families: a short script with two faults that reads tables or logs."""

from __future__ import annotations

from rlsh.tasks.shell import fixtures as fx
from rlsh.tasks.shell.draft import TREE, Draft
from rlsh.tasks.shell.repair import Fault, script_task
from rlsh.tasks.shell.words import CITIES, NOUNS, ROOMS, SERVICES, one, some
from rlsh.tasks.world import World, text
from rlsh.types import Tree


def merged_logs(w: World) -> Draft:
    """A variable that nobody set, and `>` in a loop."""
    name, folder, out, level = fx.script_name(w), one(w, NOUNS), f"{one(w, CITIES)}.txt", w.rng.choice(fx.LEVELS)

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
        f"{fx.shell(w)} {name}",
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
    name, table, n = fx.script_name(w), fx.file_name(w, "csv", "txt"), w.size(2, 4)
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
        f"{fx.shell(w)} {name}",
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


def frequent_rooms(w: World) -> Draft:
    """`[ $a=b ]`, and `uniq` of what is not sorted."""
    name, table, battery = fx.script_name(w), fx.file_name(w, "csv"), w.rng.choice(("low", "full", "weak"))

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
        f"{fx.shell(w)} {name}",
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
    name, log, level = fx.script_name(w), f"{one(w, NOUNS)}.log", w.rng.choice(fx.LEVELS)

    def data(v: World) -> Tree:
        lines = [f"{fx.day(v)} 00:00:00 {level} {one(v, SERVICES)}: start" for _ in range(v.size(1, 3))]
        return {log: text(*lines, *fx.app_log(v, v.size(6, 14)))}

    return script_task(
        w.rng.choice(
            (
                f"{name} should print the service (and its colon) of every line of {log} of level {level}. Repair it.",
                f"Mend {name}: for each {level} line of {log} it has to print the service (field 4, with its colon).",
                f"Of the lines of {log}, {name} should pick those of level {level} and print their fourth fields.",
            )
        ),
        f"{fx.shell(w)} {name}",
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
