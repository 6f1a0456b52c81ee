"""Families: a short script with one fault."""

from __future__ import annotations

from rlsh.tasks.shell import fixtures as fx
from rlsh.tasks.shell.draft import STDOUT, Draft
from rlsh.tasks.shell.repair import Fault, script_task
from rlsh.tasks.shell.words import CITIES, GIVEN, NOUNS, SERVICES, one, some
from rlsh.tasks.world import World, script, text
from rlsh.types import Tree


def tight_brackets(w: World) -> Draft:
    """`[ $a=b ]`, which is one word and true."""
    name, table, team = fx.script_name(w), fx.file_name(w, "csv"), w.rng.choice(fx.TEAMS)
    run = f"{fx.shell(w)} {name}"
    column, value = w.rng.choice((("team", team), ("city", one(w, CITIES))))

    def data(v: World) -> Tree:
        rows = fx.people(v, v.size(6, 14))
        for row in rows[:3]:
            row[2 if column == "city" else 3] = value
        v.rng.shuffle(rows)
        return {table: fx.table(fx.PEOPLE, rows)}

    return script_task(
        w.rng.choice(
            (
                f"{name} should print the mail address of everybody in {table} whose {column} is {value}, and of nobody"
                " else. Repair it.",
                f"Mend {name}: of the people in {table} it has to print only the emails whose {column} is {value}.",
                f"Why does {name} print everybody? It should list the emails in {table} whose {column} is {value}.",
            )
        ),
        run,
        name,
        (
            "#!/bin/sh",
            f"# prints the mail addresses of one {column}",
            f"wanted={value}",
            f"tail -n +2 {table} |",
            "while IFS=, read -r id name city team age email; do",
            Fault(
                f"    if [ ${column}=$wanted ]; then",
                f"    if [ ${column} = $wanted ]; then",
                f"    if [ {column} = $wanted ]; then",
            ),
            '        echo "$email"',
            "    fi",
            "done",
        ),
        data,
        faults=("bracket_spacing",),
    )


def text_as_number(w: World) -> Draft:
    """`-eq` between words."""
    name, table, status = fx.script_name(w), fx.file_name(w, "csv"), w.rng.choice(fx.STATUSES)
    run = f"{fx.shell(w)} {name}"
    wrong, right = w.rng.choice((("-eq", "="), ("-ne", "!=")))
    which = "" if right == "=" else "not "

    def data(v: World) -> Tree:
        rows = fx.orders(v, v.size(6, 14))
        for row in rows[:2]:
            row[5] = status
        rows[2][5] = next(other for other in fx.STATUSES if other != status)
        v.rng.shuffle(rows)
        return {table: fx.table(fx.ORDERS, rows)}

    return script_task(
        w.rng.choice(
            (
                f"{name} should print order and customer of every order in {table} that is {which}{status}. Repair it.",
                f"Mend {name}. For each line of {table} whose status is {which}'{status}' it has to print"
                " 'ORDER CUSTOMER'.",
                f"The test in {name} fails on every line of {table}; it should pass those that are {which}{status}.",
            )
        ),
        run,
        name,
        (
            "#!/bin/sh",
            f"# orders that are {which}{status}",
            "while IFS=, read -r order customer product quantity price status; do",
            '    [ "$order" = order ] && continue',
            Fault(
                f'    if [ "$status" {wrong} "{status}" ]; then',
                f'    if [ "$status" {right} "{status}" ]; then',
                f'    if [ "$order" {right} "{status}" ]; then' if right == "=" else '    if [ -n "$status" ]; then',
            ),
            '        echo "$order $customer"',
            "    fi",
            f"done < {table}",
        ),
        data,
        faults=("numeric_test_on_strings",),
    )


def other_variable(w: World) -> Draft:
    """A variable that is spelt otherwise where it is read."""
    name, folder, level = fx.script_name(w), one(w, NOUNS), w.rng.choice(fx.LEVELS)
    run = f"{fx.shell(w)} {name}"
    set_as, read_as = w.rng.choice((("file", "files"), ("path", "file"), ("count", "counts"), ("log", "name")))
    loop: tuple[str | Fault, ...] = (
        (
            f"for log in {folder}/*.log; do",
            f"    count=$(grep -c {level} $log)",
            Fault('    echo "$log: $counts"', '    echo "$log: $count"', '    echo "$log: count"'),
            "done",
        )
        if set_as == "count"
        else (
            f"for {set_as} in {folder}/*.log; do",
            Fault(
                f'    count=$(grep -c {level} "${read_as}")',
                f'    count=$(grep -c {level} "${set_as}")',
                f'    count=$(grep -c {level} "{set_as}")',
            ),
            f'    echo "${set_as}: $count"',
            "done",
        )
    )

    def data(v: World) -> Tree:
        return {
            f"{folder}/{service}.log": text(
                *fx.app_log(v, v.size(3, 25)), f"{fx.day(v)} 23:59:59 {level} {service}: end"
            )
            for service in some(v, SERVICES, v.size(2, 5))
        }

    return script_task(
        w.rng.choice(
            (
                f"{name} should print 'FILE: N' for every log in {folder}, N its number of {level} lines. Repair it.",
                f"Mend {name}, which has to count the lines with {level} of each file {folder}/*.log.",
                f"The counts of {level} lines that {name} prints for the logs in {folder} are missing. Put that right.",
            )
        ),
        run,
        name,
        ("#!/bin/sh", f"# counts {level} lines", *loop),
        data,
        faults=("wrong_variable",),
    )


def carriage_returns(w: World) -> Draft:
    """A script whose lines end as on Windows: no interpreter has a name like that."""
    name, table = fx.script_name(w), fx.file_name(w, "csv")
    interpreter = w.rng.choice(("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash"))
    n = w.size(2, 4)
    body = w.rng.choice(
        (
            (f"head -n {n} {table}", f"echo end of {table}"),
            (f"cut -d, -f2 {table}", f"wc -l {table}"),
            (f"sort {table}", f"tail -n {n} {table}"),
        )
    )
    file = script(*(f"{line}\r" for line in (interpreter, f"# on {table}", *body)), mode=0o755)
    return Draft(
        w.rng.choice(
            (
                f"./{name} came from a Windows machine and does not start. Make it run as it is called here.",
                f"Somebody saved {name} with an editor for Windows. Repair the file, so that ./{name} works.",
                f"./{name} should run; the file is there and executable. Mend it, and leave what it does as it is.",
            )
        ),
        f"./{name}",
        f"sed -i 's/\\r$//' {name}",
        lambda v: {table: fx.table(fx.READINGS, fx.readings(v, v.size(5, 15))), name: file},
        STDOUT,
        looks=(f"head -n 1 {name} | od -c", f"cat -A {name}"),
        slips=(f"chmod +x {name}", f"sed -i '1s/\\r$//' {name}"),
        faults=("crlf_shebang",),
        script=name,
    )


def no_execute_bit(w: World) -> Draft:
    """A script that may not be executed."""
    name, table, at = fx.script_name(w), fx.file_name(w, "csv"), w.rng.choice((2, 3))
    called = fx.ORDERS[at - 1]
    return script_task(
        w.rng.choice(
            (
                f"Make {name} executable, so that ./{name} prints each {called} of {table} and how often it is there.",
                f"./{name} has to work just like that, without naming a shell. See to it.",
                f"Others will call ./{name} for the {called} column of {table}: it must be allowed to run.",
            )
        ),
        f"./{name}",
        name,
        ("#!/bin/sh", f"# counts orders by {called}", f"tail -n +2 {table} | cut -d, -f{at} | sort | uniq -c"),
        lambda v: {table: fx.table(fx.ORDERS, fx.orders(v, v.size(5, 20)))},
        faults=("execute_bit",),
        executable=False,
    )


def hidden_failure(w: World) -> Draft:
    """A pipeline whose first program fails unseen."""
    name, parts = fx.script_name(w), some(w, CITIES, 5)
    n = w.size(2, 4)
    filter_, kept = w.rng.choice(
        (
            (f"sed -n '1,{n}p'", f"first {n} lines"),
            ("cut -d, -f1,3", "columns 1 and 3"),
            ("awk -F, '{print $5, $1}'", "prices and orders"),
        )
    )

    def data(v: World) -> Tree:
        there = v.rng.sample(parts, v.size(2, 3))
        return {
            **{f"{part}.csv": fx.table(fx.ORDERS, fx.orders(v, v.size(5, 12))) for part in there},
            **{f"{part}.out": text(*fx.notes(v, v.size(1, 3))) for part in parts},
        }

    return script_task(
        w.rng.choice(
            (
                f"{name} writes the {kept} of each city's .csv, sorted, to its .out. Where there is no .csv it has to"
                " print 'kept CITY.out' and leave the old .out as it is. It does not: repair it.",
                f"Mend {name}: if a .csv is missing, the old .out must stay and 'kept CITY.out' must be printed."
                f" (Of the others it sorts the lines and takes the {kept}.)",
            )
        ),
        f"bash {name}",
        name,
        (
            "#!/bin/bash",
            Fault("set -u", "set -u -o pipefail", "set -u -e"),
            f"# {kept} of every city, sorted",
            f"for city in {' '.join(parts)}; do",
            f"    if sort $city.csv | {filter_} > new.out; then",
            "        mv new.out $city.out",
            "    else",
            "        rm new.out",
            '        echo "kept $city.out"',
            "    fi",
            "done",
        ),
        data,
        faults=("pipefail",),
    )


def loop_over_ls(w: World) -> Draft:
    """`for f in $(ls …)`, which splits names at their spaces."""
    name, folder, extension = fx.script_name(w), one(w, NOUNS), w.rng.choice(("txt", "md", "log"))
    listing = w.rng.choice((f"$(ls {folder}/*.{extension})", f"`ls {folder}/*.{extension}`"))
    given = one(w, GIVEN)
    action, wanted = w.rng.choice(
        (
            ('echo "$file: $(wc -l < "$file")"', "name and number of lines"),
            ('head -n 1 "$file"', "first line"),
            (f'echo "$file: $(grep -c {given} "$file")"', f"name and number of lines with {given}"),
        )
    )

    def data(v: World) -> Tree:
        stems = [*(" ".join(some(v, NOUNS, 2)) for _ in range(v.size(1, 3))), *some(v, SERVICES, v.size(1, 3))]
        return {
            f"{folder}/{stem}.{extension}": text(*fx.notes(v, v.size(2, 9)), *[f"{given} will rest"] * v.size(1, 5))
            for stem in stems
        }

    return script_task(
        w.rng.choice(
            (
                f"{name} should print the {wanted} of all .{extension} files in {folder}, whatever they are called."
                " Repair it.",
                f"Some names in {folder} have spaces, and {name} stumbles over them. It has to print the {wanted}"
                f" of each .{extension} file there, in the order of the names.",
            )
        ),
        f"{fx.shell(w)} {name}",
        name,
        (
            "#!/bin/sh",
            f"# {wanted} of the files in {folder}",
            Fault(
                f"for file in {listing}; do",
                f"for file in {folder}/*.{extension}; do",
                f'for file in "$(ls {folder}/*.{extension})"; do',
            ),
            f"    {action}",
            "done",
        ),
        data,
        faults=("loop_over_ls",),
    )
