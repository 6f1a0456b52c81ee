"""Families: one line whose quotes, or whose patterns for file names, are not what was meant."""

from __future__ import annotations

from rlsh.tasks.shell import fixtures as fx
from rlsh.tasks.shell.draft import STDOUT, TREE, Draft
from rlsh.tasks.shell.words import CITIES, GIVEN, NOUNS, SERVICES, one, some
from rlsh.tasks.world import World, text
from rlsh.types import Tree


def spaced_path(w: World) -> Draft:
    """A name with a space, given to a program as two."""
    (first, second), folder = some(w, NOUNS, 2), one(w, CITIES)
    name = f"{first} {second}.{w.rng.choice(('txt', 'md'))}"
    broken, repair, slip, wanted, compare = w.rng.choice(
        (
            (
                f"tail -n 2 {name}",
                f"tail -n 2 '{name}'",
                f"tail -n 2 {first}",
                (f"Print the last 2 lines of the file '{name}'.", f"How does '{name}' end? Print two lines."),
                STDOUT,
            ),
            (
                f'file="{name}"; sort $file',
                f'file="{name}"; sort "$file"',
                f"file='{name}'; sort '$file'",
                (f"Sort the lines of '{name}'.", f"Print the file '{name}' with its lines in order."),
                STDOUT,
            ),
            (
                f"mv {name} {folder}/",
                f"mv '{name}' {folder}/",
                f"mv {second}* {folder}/",
                (f"Move the file '{name}' into {folder}.", f"Put '{name}' into the folder {folder}."),
                TREE,
            ),
            (
                f'title="{first} {second}"; mkdir $title',
                f'title="{first} {second}"; mkdir "$title"',
                f"mkdir '{first}/{second}'",
                (f"Make a folder called '{first} {second}'.", f"Create the folder '{first} {second}', space included."),
                TREE,
            ),
        )
    )

    def fixtures(v: World) -> Tree:
        return {name: text(*fx.notes(v, v.size(3, 9))), f"{folder}/{fx.file_name(v, 'txt')}": text(one(v, NOUNS))}

    return Draft(
        w.rng.choice(wanted), broken, repair, fixtures, compare, looks=("ls",), slips=(slip,), faults=("quoting",)
    )


def variable_in_quotes(w: World) -> Draft:
    """A variable in quotes that keep the shell from reading it."""
    name, key, number = fx.file_name(w, "conf", "env"), f"{one(w, SERVICES)}_port".upper(), w.rng.randint(1024, 9999)
    service, city = one(w, SERVICES), one(w, CITIES)
    broken, slip, wanted = w.rng.choice(
        (
            (
                f"port={number}; sed 's/^{key}=.*/{key}=$port/' {name}",
                f"port={number}; sed s/$port/{key}/ {name}",
                (
                    f"Print {name} with the value of {key} set to {number}.",
                    f"Show {name} as it would be if {key} were {number}.",
                ),
            ),
            (
                f"city={city}; grep '$city' {name}",
                f"city={city}; grep city {name}",
                (f"Print the lines of {name} that mention {city}.", f"Search {name} for {city}."),
            ),
            (
                f"service={service}; echo '# $service' | cat - {name}",
                f"service={service}; echo # $service | cat - {name}",
                (
                    f"Print {name} below a first line '# {service}'.",
                    f"Print the line '# {service}' and then all of {name}.",
                ),
            ),
        )
    )

    def fixtures(v: World) -> Tree:
        lines = fx.settings(v, (key, str(v.rng.randint(1024, 9999))), more=v.size(2, 8))
        lines += [f"{other.upper()}_CITY={city}" for other in some(v, SERVICES, v.size(2, 4))]
        v.rng.shuffle(lines)
        return {name: text(*lines)}

    return Draft(
        w.rng.choice(wanted),
        broken,
        broken.replace("'", '"'),
        fixtures,
        looks=(f"cat {name}",),
        slips=(slip,),
        faults=("quoting",),
    )


def awk_in_double_quotes(w: World) -> Draft:
    """An awk program in double quotes: the shell reads its fields as variables of its own."""
    name, city, at = fx.file_name(w, "csv"), one(w, CITIES), w.rng.choice((2, 4, 5, 6))
    column = fx.PEOPLE[at - 1]
    program, wanted = w.rng.choice(
        (
            (f"{{print ${at}}}", f"Print column {at} ({column}) of every line of {name}."),
            (f"NR > 1 {{print ${at}}}", f"Print the column {column} of {name} without the header."),
            (f"NR > 1 {{print $1, ${at}}}", f"Print id and {column} of everybody in {name}, with a space between."),
            (f"$3 ~ /{city}/ {{print ${at}}}", f"Print the {column} of everybody in {name} whose city is {city}."),
        )
    )

    def fixtures(v: World) -> Tree:
        rows = fx.people(v, v.size(6, 15))
        for row in rows[:3]:
            row[2] = city
        v.rng.shuffle(rows)
        return {name: fx.table(fx.PEOPLE, rows)}

    return Draft(
        wanted,
        f'awk -F, "{program}" {name}',
        f"awk -F, '{program}' {name}",
        fixtures,
        looks=(f"head -n 2 {name}",),
        slips=(f"awk '{program}' {name}", f"awk -F, {{print ${at}}} {name}"),
        faults=("quoting",),
    )


def glob_for_find(w: World) -> Draft:
    """A pattern meant for `find` that the shell expands first."""
    extension, folder = w.rng.choice(("py", "c", "md", "csv", "txt", "sh")), one(w, NOUNS)

    def fixtures(v: World) -> Tree:
        here, there = some(v, NOUNS, v.size(1, 3)), some(v, SERVICES, v.size(2, 4))
        paths = [*here, *(f"{folder}/{name}" for name in there), f"{folder}/{one(v, CITIES)}/{one(v, GIVEN)}"]
        return {
            **{f"{path}.{extension}": text(one(v, NOUNS)) for path in paths},
            f"{folder}/{one(v, CITIES)}.bak": text(one(v, NOUNS)),
        }

    return Draft(
        w.rng.choice(
            (
                f"List all .{extension} files below {folder}, sorted.",
                f"Print the sorted paths of the .{extension} files in {folder} and in all folders below it.",
                f"Which .{extension} files are there anywhere in {folder}? Print their paths, sorted.",
            )
        ),
        f"find {folder} -name *.{extension} | sort",
        f"find {folder} -name '*.{extension}' | sort",
        fixtures,
        looks=("ls", f"ls {folder}"),
        slips=(f"ls *.{extension}", f"find {folder} | sort"),
        faults=("globbing",),
    )


def glob_in_quotes(w: World) -> Draft:
    """A pattern in quotes, which the shell leaves alone."""
    folder, word, extension = one(w, NOUNS), one(w, GIVEN), w.rng.choice(("log", "txt", "csv"))
    place = w.rng.choice((folder, f"the folder {folder}"))
    broken, wanted = w.rng.choice(
        (
            (f"wc -l '{folder}/*.{extension}'", f"Count the lines of every .{extension} file in {place}."),
            (f'cat "{folder}/*.{extension}" | sort', f"Print the lines of all .{extension} files in {place}, sorted."),
            (
                f"grep -h {word} '{folder}/*.{extension}' | sort",
                f"Print the lines with {word} of the .{extension} files in {place}, sorted, without file names.",
            ),
            (f'head -n 1 "{folder}/*.{extension}"', f"Print the first line of each .{extension} file in {place}."),
        )
    )

    def fixtures(v: World) -> Tree:
        def lines() -> list[str]:
            found = [*fx.notes(v, v.size(2, 6)), f"{word} will {fx.to_do(v)}"]
            v.rng.shuffle(found)
            return found

        names = some(v, SERVICES, v.size(2, 4))
        return {
            **{f"{folder}/{name}.{extension}": text(*lines()) for name in names},
            f"{folder}/{one(v, CITIES)}.bak": text(*lines()),
        }

    repair = broken.replace("'", "").replace('"', "")
    return Draft(
        wanted,
        broken,
        repair,
        fixtures,
        looks=(f"ls {folder}",),
        slips=(repair.replace(f"*.{extension}", "*"), repair.replace(f"{folder}/", "")),
        faults=("globbing",),
    )


def open_ended(w: World) -> Draft:
    """A quote that is opened and never closed."""
    name, given = fx.file_name(w, "txt", "log", "list"), one(w, GIVEN)
    program, argument, rest, wanted = w.rng.choice(
        (
            ("grep", f"{given} will", f"{name} | sort", f"Print the lines of {name} with '{given} will', sorted."),
            ("sed", "s/ will / did /", name, f"Print {name} with 'did' for 'will'."),
            ("grep -v", f"{given} will", name, f"Print the lines of {name} without '{given} will'."),
            ("sort -t", " ", f"-k3,3 -k4 {name}", f"Sort {name} by the third word and then by the rest of the line."),
            ("awk", "{print $1}", name, f"Print the first word of every line of {name}."),
        )
    )
    quote = "'" if program == "awk" else w.rng.choice("'\"")  # in double quotes the shell would read $1

    def fixtures(v: World) -> Tree:
        lines = [*fx.notes(v, v.size(4, 9)), *(f"{given} will {fx.to_do(v)}" for _ in range(v.size(2, 9)))]
        v.rng.shuffle(lines)
        return {name: text(*lines)}

    return Draft(
        wanted,
        f"{program} {quote}{argument} {rest}",
        f"{program} {quote}{argument}{quote} {rest}",
        fixtures,
        looks=(f"head -n 3 {name}",),
        slips=(f"{program} {argument} {rest}",),
        faults=("unclosed_quote",),
    )


def path_in_sed(w: World) -> Draft:
    """Slashes in a pattern that slashes enclose."""
    name = fx.file_name(w, "conf", "list", "sh")
    (a, b, c), root = some(w, NOUNS, 3), w.rng.choice(("var", "usr", "opt", "home"))
    old, new = f"/{root}/{a}", w.rng.choice((f"/srv/{b}", f"/mnt/{b}/{c}"))

    def fixtures(v: World) -> Tree:
        lines = [f"{one(v, SERVICES).upper()}_DIR={old}/{one(v, NOUNS)}" for _ in range(v.size(3, 8))]
        lines += [f"{one(v, SERVICES).upper()}_DIR=/{root}/{one(v, CITIES)}" for _ in range(v.size(2, 4))]
        v.rng.shuffle(lines)
        return {name: text(*lines)}

    return Draft(
        w.rng.choice(
            (
                f"Print {name} with the path {old} replaced by {new}.",
                f"In what is printed of {name}, {new} should stand for {old}.",
                f"Show {name} as it would be if {old} moved to {new}.",
            )
        ),
        f"sed 's/{old}/{new}/' {name}",
        f"sed 's|{old}|{new}|' {name}",
        fixtures,
        looks=(f"cat {name}",),
        slips=(f"sed 's|{new}|{old}|' {name}", f"sed 's|/{root}|{new}|' {name}"),
        faults=("sed_delimiter",),
    )
