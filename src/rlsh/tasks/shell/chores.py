"""Families: a short script with two faults that moves, renames or gathers files."""

from __future__ import annotations

from rlsh.tasks.shell import fixtures as fx
from rlsh.tasks.shell.draft import TREE, Draft
from rlsh.tasks.shell.drills import misspelt
from rlsh.tasks.shell.repair import Fault, script_task
from rlsh.tasks.shell.words import CITIES, GIVEN, NOUNS, SERVICES, one, some
from rlsh.tasks.world import World, text
from rlsh.types import Tree


def stored_notes(w: World) -> Draft:
    """`mkdir` of a path without -p, and a name that is not quoted."""
    name, folder, place = fx.script_name(w), one(w, NOUNS), f"{one(w, CITIES)}/{w.rng.randint(2019, 2026)}"
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
        f"{fx.shell(w)} {name}",
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


def tidy_names(w: World) -> Draft:
    """A name that is not quoted, and `sed` without g."""
    name, folder, extension = fx.script_name(w), one(w, NOUNS), w.rng.choice(("txt", "md", "csv"))
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
        f"{fx.shell(w)} {name}",
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
    name, table, n = fx.script_name(w), fx.file_name(w, "csv"), w.size(2, 4)
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
                f"Called like that, ./{name} should print {wanted}, from {table}. Repair it.",
                f"See to it that ./{name} can be called, and then that it prints {wanted} of {table}.",
                f"./{name} has never run yet. Of {table} it has to print {wanted}.",
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
    name, folder, out = fx.script_name(w), one(w, NOUNS), f"{one(w, CITIES)}.md"
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
        f"{fx.shell(w)} {name}",
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
