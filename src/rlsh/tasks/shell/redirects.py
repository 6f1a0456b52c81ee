"""Families: one line that sends output to the wrong place, or hands names on in the wrong form."""

from __future__ import annotations

from rlsh.tasks.shell import fixtures as fx
from rlsh.tasks.shell.draft import STDOUT, TREE, Draft
from rlsh.tasks.shell.words import CITIES, GIVEN, NOUNS, SERVICES, TASKS, one, some
from rlsh.tasks.world import World, script, text
from rlsh.types import Tree


def kept_lines(w: World) -> Draft:
    """`>` where `>>` was meant: what was in the file is lost."""
    name, other, service = fx.file_name(w, "txt", "md"), f"{one(w, GIVEN)}.txt", one(w, SERVICES)
    line = f"{fx.day(w)} deployed {service}"
    command, wanted = w.rng.choice(
        (
            (
                f"echo '{line}'",
                (f"Add the line '{line}' at the end of {name}.", f"Note '{line}' as a new last line of {name}."),
            ),
            (
                f"sort {other}",
                (f"Append the lines of {other}, sorted, to {name}.", f"Sort {other}; the result goes below {name}."),
            ),
            (
                f"head -n 2 {other}",
                (f"Append the first 2 lines of {other} to {name}.", f"Put the first 2 lines of {other} below {name}."),
            ),
            (
                f"cat {other}",
                (f"Append all of {other} to {name}.", f"Put the lines of {other} below those of {name}."),
            ),
        )
    )

    def fixtures(v: World) -> Tree:
        return {name: text(*fx.notes(v, v.size(3, 9))), other: text(*fx.notes(v, v.size(3, 9)))}

    return Draft(
        w.rng.choice(wanted),
        f"{command} > {name}",
        f"{command} >> {name}",
        fixtures,
        TREE,
        looks=(f"cat {name}", "wc -l *"),
        slips=(f"{command} {name}",),
        faults=("truncating_redirect",),
    )


def collected_in_loop(w: World) -> Draft:
    """`>` inside of a loop: only what the last round wrote is left."""
    folder, name = one(w, NOUNS), f"{one(w, CITIES)}.txt"
    action, wanted = w.rng.choice(
        (
            ("head -n 1 $file", "first line"),
            ("tail -n 1 $file", "last line"),
            ("wc -l < $file", "number of lines"),
            ("sort $file | head -n 1", "alphabetically first line"),
        )
    )

    def command(inside: str, after: str) -> str:
        return f"for file in {folder}/*.log; do {action}{inside}; done{after}"

    def fixtures(v: World) -> Tree:
        return {f"{folder}/{service}.log": text(*fx.app_log(v, v.size(3, 12))) for service in some(v, SERVICES, 4)}

    return Draft(
        w.rng.choice(
            (
                f"Write the {wanted} of every .log file in {folder} to {name}, in the order of the file names.",
                f"Collect in {name} the {wanted} of each log in {folder}, one line a file, files in order.",
                f"{name} should hold the {wanted} of all the files {folder}/*.log, in order of their names.",
            )
        ),
        command(f" > {name}", ""),
        command("", f" > {name}"),
        fixtures,
        TREE,
        looks=(f"ls {folder}", f"wc -l {folder}/*.log"),
        slips=(command("", f" | tail -n 1 > {name}"), command("", "")),
        faults=("truncating_redirect",),
    )


def both_streams(w: World) -> Draft:
    """`2>&1` before the redirection, or the pipe, that it should follow."""
    name, log = f"{one(w, NOUNS)}_check.sh", f"{one(w, NOUNS)}.log"
    folder, needed = one(w, CITIES), some(w, SERVICES, 6)
    broken, repair, slip, wanted, compare = w.rng.choice(
        (
            (
                f"sh {name} 2>&1 > {log}",
                f"sh {name} > {log} 2>&1",
                f"sh {name} > {log}",
                (
                    f"Run {name} and keep all it says, complaints too, in {log}; nothing is to be printed.",
                    f"Everything that {name} prints to either stream belongs into {log} and not on the screen.",
                ),
                STDOUT,
            ),
            (
                f"sh {name} 2>&1 >> {log}",
                f"sh {name} >> {log} 2>&1",
                f"sh {name} 2>&1",
                (
                    f"Run {name} and append both its output and its errors to {log}, without printing anything.",
                    f"Add to {log} what {name} prints, the errors with the rest, and print nothing.",
                ),
                STDOUT,
            ),
            (
                f"sh {name} | sort 2>&1 > {log}",
                f"sh {name} 2>&1 | sort > {log}",
                f"sh {name} | sort > {log}",
                (
                    f"Write all that {name} prints, errors too, sorted to {log}.",
                    f"Sort the output of {name} together with its errors into {log}.",
                ),
                TREE,
            ),
        )
    )

    def fixtures(v: World) -> Tree:
        there = v.rng.sample(needed, v.size(2, 4))
        return {
            name: script(
                "#!/bin/sh",
                f"for service in {' '.join(needed)}; do",
                f"    if [ -e {folder}/$service.conf ]; then",
                f"        grep -c LIMIT {folder}/$service.conf",
                "    else",
                '        echo "$service is not configured" >&2',
                "    fi",
                "done",
            ),
            **({log: text(*fx.notes(v, v.size(1, 4)))} if ">>" in broken else {}),
            **{f"{folder}/{service}.conf": text(*fx.settings(v, more=v.size(1, 9))) for service in there},
        }

    return Draft(
        w.rng.choice(wanted),
        broken,
        repair,
        fixtures,
        compare,
        looks=(f"cat {name}", f"sh {name}"),
        slips=(slip,),
        faults=("redirection_order",),
    )


def names_with_spaces(w: World) -> Draft:
    """`xargs` without -0, which splits names at their spaces."""
    folder, (old, new) = one(w, NOUNS), some(w, GIVEN, 2)
    extension, action, wanted = w.rng.choice(
        (
            ("tmp", "rm", (f"Delete all .tmp files below {folder}.", f"Remove every .tmp file in {folder} or deeper.")),
            (
                "txt",
                f"sed -i 's/{old} will/{new} did/'",
                (
                    f"Change '{old} will' to '{new} did' in every .txt file below {folder}.",
                    f"In the .txt files below {folder}, '{new} did' should stand for '{old} will'.",
                ),
            ),
            (
                "md",
                "chmod 600",
                (f"Give every .md file below {folder} the mode 600.", f"chmod 600 all .md files below {folder}."),
            ),
        )
    )
    ending = w.rng.choice(("", " -print0"))
    find = f"find {folder} -name '*.{extension}'"

    def fixtures(v: World) -> Tree:
        def note() -> list[str]:
            return [f"{old} will {fx.to_do(v)}", *fx.notes(v, v.size(1, 5))]

        spaced = [" ".join(some(v, NOUNS, 2)) for _ in range(v.size(2, 3))]
        return {
            **{f"{folder}/{stem}.{extension}": text(*note()) for stem in spaced},
            f"{folder}/{one(v, SERVICES)}/{one(v, GIVEN)}.{extension}": text(*note()),
            f"{folder}/{one(v, CITIES)} {one(v, GIVEN)}.log": text(*note()),
        }

    return Draft(
        w.rng.choice(wanted),
        f"{find}{ending} | xargs {action}",
        f"{find} -print0 | xargs -0 {action}",
        fixtures,
        TREE,
        looks=(find, f"ls {folder}"),
        slips=(f"{find} | xargs -0 {action}", f"{action} {folder}/*.{extension}"),
        faults=("missing_null",),
    )


def edited_where_found(w: World) -> Draft:
    """`find -exec` that does not end."""
    folder, (old, new) = one(w, NOUNS), some(w, SERVICES, 2)
    pattern, action, wanted = w.rng.choice(
        (
            (
                "*.conf",
                f"sed -i 's/{old}/{new}/g'",
                (f"Replace {old} by {new} in all .conf files below {folder}.",),
            ),
            (
                "*.tmp",
                "rm",
                (f"Delete all .tmp files below {folder}.", f"Remove every *.tmp in {folder}, deep or not."),
            ),
            (
                "*.sh",
                "chmod 755",
                (f"Give all .sh files below {folder} the mode 755.", f"chmod 755 every shell script below {folder}."),
            ),
            (
                "*.md",
                "sed -i 1d",
                (
                    f"Delete the first line of every .md file below {folder}.",
                    f"Drop line 1 of all .md files below {folder}.",
                ),
            ),
        )
    )
    command = f"find {folder} -name '{pattern}' -exec {action} {{}}"

    def fixtures(v: World) -> Tree:
        places = [folder, *(f"{folder}/{noun}" for noun in some(v, NOUNS, v.size(1, 3)))]
        return {
            f"{place}/{one(v, TASKS)}{pattern[1:] if kind else '.txt'}": text(
                f"# {old}", f"{one(v, CITIES)}={old}", *fx.settings(v, more=2)
            )
            for place in places
            for kind in (1, 1, 0)
        }

    return Draft(
        w.rng.choice(wanted),
        command,
        f"{command} \\;",
        fixtures,
        TREE,
        looks=(f"find {folder} -name '{pattern}'", f"ls {folder}"),
        slips=(command.partition(" -exec")[0], f"find {folder} -name '{pattern}' | {action}"),
        faults=("missing_exec_end",),
    )
