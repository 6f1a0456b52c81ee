"""Families: one line that finds, copies, moves or makes files and folders."""

from __future__ import annotations

from rlsh.tasks.shell import fixtures as fx
from rlsh.tasks.shell.draft import TREE, Draft
from rlsh.tasks.shell.drills import misspelt
from rlsh.tasks.shell.words import CITIES, GIVEN, NOUNS, SERVICES, TASKS, one, some
from rlsh.tasks.world import World, text
from rlsh.types import Tree

MONTHS = ("january", "february", "march", "april", "may", "june")


def module_path(w: World) -> Draft:
    """A mistyped folder on the way to a source file."""
    (module, decoy), (package, *others), top = some(w, SERVICES, 2), some(w, NOUNS, 3), w.rng.choice(("src", "lib"))
    extension = w.rng.choice(("py", "c"))
    program, wanted = w.rng.choice(
        (
            ("grep -n return", f"Print the lines of {module}.{extension} with 'return', and their numbers."),
            ("head -n 6", f"Print the first 6 lines of the file {module}.{extension} below {top}."),
            ("tail -n 3", f"How does {module}.{extension} end? Print its last 3 lines; it is somewhere in {top}."),
        )
    )
    make = fx.python_module if extension == "py" else fx.c_source
    right = f"{top}/{package}/{module}.{extension}"

    def fixtures(v: World) -> Tree:
        more = [f"# {fx.to_do(v)}" if extension == "py" else f"/* {fx.to_do(v)} */" for _ in range(v.size(1, 9))]
        return {
            right: make(v, *more),
            **{f"{top}/{other}/{decoy}.{extension}": make(v) for other in others},
            "README.md": fx.markdown(v),
        }

    return Draft(
        wanted,
        f"{program} {top}/{misspelt(w, package)}/{module}.{extension}",
        f"{program} {right}",
        fixtures,
        looks=(f"find {top} -name {module}.{extension}", "ls", f"ls {top}"),
        slips=(f"{program} {module}.{extension}", f"{program} {top}/{others[0]}/{decoy}.{extension}"),
        must_look=True,
        faults=("mistyped_path",),
    )


def whole_folder(w: World) -> Draft:
    """`cp` or `rm` of a folder that is not told to go into it."""
    (folder, inner), place = some(w, NOUNS, 2), w.rng.choice(("backup", "archive", "old"))
    broken, repair, slip, wanted = w.rng.choice(
        (
            (
                f"cp {folder} {place}/",
                f"cp -r {folder} {place}/",
                f"cp -p {folder} {place}/",
                (f"Copy the folder {folder} into {place}.", f"Put a copy of {folder}, with all in it, into {place}."),
            ),
            (
                f"cp {folder} {inner}",
                f"cp -r {folder} {inner}",
                f"cp {folder}/* {inner}",
                (f"Make a copy of the folder {folder} called {inner}.", f"Copy all of {folder} to a new {inner}."),
            ),
            (
                f"rm {folder}",
                f"rm -r {folder}",
                f"rm {folder}/*",
                (f"Delete the folder {folder} and what is in it.", f"Remove {folder} completely."),
            ),
        )
    )

    def fixtures(v: World) -> Tree:
        return {
            f"{place}/{fx.file_name(v, 'txt')}": text(*fx.notes(v, v.size(1, 3))),
            **{f"{folder}/{fx.file_name(v, 'txt', 'md')}": text(*fx.notes(v, v.size(1, 4))) for _ in range(v.size())},
            f"{folder}/{one(v, SERVICES)}/{fx.file_name(v, 'conf')}": text(*fx.settings(v)),
        }

    return Draft(
        w.rng.choice(wanted),
        broken,
        repair,
        fixtures,
        TREE,
        looks=("ls", f"find {folder}"),
        slips=(slip,),
        faults=("missing_recursive",),
    )


def searched_folder(w: World) -> Draft:
    """`grep` of a folder without -r."""
    folder, name, option = one(w, NOUNS), one(w, GIVEN), w.rng.choice(("", "-n ", "-l ", "-c "))
    wanted = {
        "": "lines with {0} in all files below {1}, after the path of each file, sorted",
        "-n ": "lines with {0} in all files below {1}, after path and line number, sorted",
        "-l ": "paths of all files below {1} that mention {0}, sorted",
        "-c ": "number of lines with {0} for every file below {1}, as PATH:NUMBER, sorted",
    }[option].format(name, folder)

    def fixtures(v: World) -> Tree:
        def lines(*more: str) -> list[str]:
            found = [*fx.notes(v, v.size(3, 6)), *more]
            v.rng.shuffle(found)
            return found

        places = (folder, f"{folder}/{one(v, SERVICES)}", f"{folder}/{one(v, SERVICES)}/{one(v, CITIES)}")
        hits = [f"{place}/{fx.file_name(v, 'txt', 'md')}" for place in places]
        return {
            **{path: text(*lines(*[f"{name} will {fx.to_do(v)}"] * v.size(1, 2))) for path in hits},
            f"{folder}/{fx.file_name(v, 'log')}": text(*lines()),
            fx.file_name(v, "txt"): text(*lines(f"{name} will {fx.to_do(v)}")),
        }

    return Draft(
        w.rng.choice((f"Print the {wanted}.", f"I need the {wanted}.")),
        f"grep {option}{name} {folder} | sort",
        f"grep -r {option}{name} {folder} | sort",
        fixtures,
        looks=(f"ls {folder}", f"find {folder} -type f"),
        slips=(f"grep {option}{name} {folder}/* | sort", f"grep -rh {option}{name} . | sort"),
        faults=("missing_recursive",),
    )


def deep_folder(w: World) -> Draft:
    """A path of folders of which the upper ones are missing, too."""
    name, kind = fx.file_name(w, "csv", "txt"), w.rng.choice(("reports", "data", "exports"))
    path = f"{kind}/{w.rng.randint(2019, 2026)}/{w.rng.choice(MONTHS)}"
    program, wanted = w.rng.choice(
        (
            ("cp", (f"Copy {name} into the new folder {path}.", f"Make the folder {path} and copy {name} there.")),
            ("mv", (f"Move {name} into the new folder {path}.", f"Make the folder {path} and move {name} there.")),
        )
    )

    def fixtures(v: World) -> Tree:
        return {
            name: fx.table(fx.READINGS, fx.readings(v, v.size(3, 9))),
            fx.file_name(v, "md"): fx.markdown(v),
        }

    return Draft(
        w.rng.choice(wanted),
        f"mkdir {path} && {program} {name} {path}/",
        f"mkdir -p {path} && {program} {name} {path}/",
        fixtures,
        TREE,
        looks=("ls", "find ."),
        slips=(f"mkdir {kind} && {program} {name} {path}/", f"mkdir -p {path}; {program} {path}/ {name}"),
        faults=("missing_parents",),
    )


def backed_up_folder(w: World) -> Draft:
    """`mkdir` without -p and then `cp` without -r: two faults in one line."""
    folder, place = one(w, NOUNS), f"{w.rng.choice(('backup', 'mirror', 'copies'))}/{one(w, CITIES)}"

    def command(parents: str, recursive: str) -> str:
        return f"mkdir {parents}{place} && cp {recursive}{folder} {place}/"

    def fixtures(v: World) -> Tree:
        return {
            **{f"{folder}/{fx.file_name(v, 'txt', 'md')}": text(*fx.notes(v, v.size(1, 4))) for _ in range(v.size())},
            f"{folder}/{one(v, TASKS)}/{fx.file_name(v, 'csv')}": fx.table(fx.ORDERS, fx.orders(v, v.size(3, 6))),
        }

    return Draft(
        w.rng.choice(
            (
                f"Back up the folder {folder}, with all in it, into the new folder {place}.",
                f"Make the folder {place} and put a full copy of the folder {folder} into it.",
                f"There should be a copy of {folder} in {place}, which does not exist yet.",
            )
        ),
        command("", ""),
        command("-p ", "-r "),
        fixtures,
        TREE,
        looks=("ls", f"find {folder}"),
        slips=(command("-p ", ""), command("", "-r ")),
        faults=("missing_parents", "missing_recursive"),
    )


def other_way_round(w: World) -> Draft:
    """Source and target in the wrong order."""
    first, second = some(w, NOUNS, 2)
    service, version = one(w, SERVICES), f"{w.rng.randint(1, 9)}.{w.rng.randint(0, 20)}"
    files: tuple[str, ...]
    broken, repair, slip, wanted, files = w.rng.choice(
        (
            (
                f"cp {service}.conf {service}.conf.{first}",
                f"cp {service}.conf.{first} {service}.conf",
                f"cp {service}.conf.{first} .",
                (
                    f"Restore {service}.conf from its copy {service}.conf.{first}, which stays.",
                    f"Overwrite {service}.conf with {service}.conf.{first} and keep both files.",
                ),
                (f"{service}.conf", f"{service}.conf.{first}"),
            ),
            (
                f"mv {second}.txt {first}.txt",
                f"mv {first}.txt {second}.txt",
                f"cp {first}.txt {second}.txt",
                (
                    f"Rename {first}.txt to {second}.txt.",
                    f"The file {first}.txt should be called {second}.txt from now on.",
                ),
                (f"{first}.txt",),
            ),
            (
                f"ln -s {service} {service}-{version}",
                f"ln -s {service}-{version} {service}",
                f"ln {service}-{version} {service}",
                (
                    f"Make {service} a symbolic link to the folder {service}-{version}.",
                    f"Create a symbolic link called {service} that points to {service}-{version}.",
                ),
                (f"{service}-{version}/{first}.conf", f"{service}-{version}/{second}.conf"),
            ),
        )
    )

    def fixtures(v: World) -> Tree:
        return {
            **{path: text(*fx.settings(v, more=v.size(2, 6))) for path in files},
            f"{one(v, CITIES)}.md": fx.markdown(v),
        }

    return Draft(
        w.rng.choice(wanted),
        broken,
        repair,
        fixtures,
        TREE,
        looks=("ls",),
        slips=(slip,),
        faults=("argument_order",),
    )


def file_first(w: World) -> Draft:
    """The file before the pattern, script or format."""
    name, (old, new), rest = fx.file_name(w, "txt", "log", "list"), some(w, GIVEN, 2), w.rng.choice(("", " | sort"))
    program, argument, wanted = w.rng.choice(
        (
            ("grep", f"'{old} will'", (f"Print the lines of {name} that contain '{old} will'",)),
            (
                "sed",
                f"'s/{old} will/{new} did/'",
                (
                    f"Print {name} with '{new} did' for '{old} will'",
                    f"Show {name}, '{old} will' changed to '{new} did'",
                ),
            ),
            (
                "awk",
                "'{print $NF}'",
                (f"Print the last word of every line of {name}", f"From each line of {name} print the last word"),
            ),
        )
    )
    ending = ", sorted." if rest else "."

    def fixtures(v: World) -> Tree:
        lines = [*fx.notes(v, v.size(4, 9)), *(f"{old} will {fx.to_do(v)}" for _ in range(v.size(2, 9)))]
        v.rng.shuffle(lines)
        return {name: text(*lines)}

    return Draft(
        f"{w.rng.choice(wanted)}{ending}",
        f"{program} {name} {argument}{rest}",
        f"{program} {argument} {name}{rest}",
        fixtures,
        looks=("ls", f"head -n 3 {name}"),
        slips=(f"cat {name}{rest}", f"{program} {argument}{rest}"),
        faults=("argument_order",),
    )
