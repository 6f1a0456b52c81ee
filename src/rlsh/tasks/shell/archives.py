"""Families: archives, compressed files and git repositories."""

from __future__ import annotations

from rlsh.tasks.shell import fixtures as fx
from rlsh.tasks.shell.draft import STDOUT, TREE, Draft
from rlsh.tasks.shell.drills import misspelt
from rlsh.tasks.shell.gitstore import Commit, repository
from rlsh.tasks.shell.packed import gzipped, tarred, zipped
from rlsh.tasks.shell.words import CITIES, GIVEN, NOUNS, SERVICES, TASKS, one, some
from rlsh.tasks.world import World, text
from rlsh.types import Entry, Tree

SPRING = 1_740_000_000  # seconds since 1970: February 2025


def tar_member(w: World) -> Draft:
    """A file of a tar archive without the folder it lies in there."""
    name, folder, (member, *others) = f"{one(w, CITIES)}-{one(w, NOUNS)}", one(w, NOUNS), some(w, SERVICES, 4)
    packed = w.rng.random() < 0.5
    archive = f"{name}.tar.gz" if packed else f"{name}.tar"
    options, wanted, compare = w.rng.choice(
        (
            ("-x", f"Extract {member}.conf from {archive}, to the path that it has there.", TREE),
            ("-x", f"Get {member}.conf, and it alone, out of {archive}; it keeps its path.", TREE),
            ("-xO", f"Print {member}.conf as it is in {archive}, without extracting it to disk.", STDOUT),
        )
    )
    z = "z" if packed else ""

    def fixtures(v: World) -> Tree:
        files = {f"{folder}/{stem}.conf": text(*fx.settings(v, more=v.size(2, 9))) for stem in (member, *others)}
        files |= {f"{noun}.md": fx.markdown(v, *fx.notes(v, v.size(1, 25))) for noun in some(v, NOUNS, v.size(1, 9))}
        raw = tarred(files)
        return {archive: Entry(gzipped(raw) if packed else raw)}

    return Draft(
        wanted,
        f"tar {options}{z}f {archive} {member}.conf",
        f"tar {options}{z}f {archive} {folder}/{member}.conf",
        fixtures,
        compare,
        looks=(f"tar -t{z}f {archive}",),
        slips=(f"tar {options}{z}f {archive} ./{member}.conf", f"tar -t{z}f {archive} {folder}/{member}.conf"),
        must_look=True,
        faults=("mistyped_path",),
    )


def unpacked_elsewhere(w: World) -> Draft:
    """`tar -C` into a folder that does not exist."""
    archive, place = f"{one(w, NOUNS)}.tar.gz", f"{w.rng.choice(('build', 'restore', 'unpacked'))}/{one(w, CITIES)}"
    folder = one(w, SERVICES)

    def fixtures(v: World) -> Tree:
        files = {f"{folder}/{stem}.txt": text(*fx.notes(v, v.size(1, 6))) for stem in some(v, NOUNS, v.size(2, 5))}
        return {archive: Entry(gzipped(tarred(files)))}

    return Draft(
        w.rng.choice(
            (
                f"Unpack {archive} into the new folder {place}.",
                f"Extract all of {archive} below {place}, which has to be made first.",
                f"Put the contents of {archive} into {place}; there is no such folder yet.",
            )
        ),
        f"tar -xzf {archive} -C {place}",
        f"mkdir -p {place} && tar -xzf {archive} -C {place}",
        fixtures,
        TREE,
        looks=("ls", f"tar -tzf {archive}"),
        slips=(f"mkdir -p {place}", f"mkdir {place} && tar -xzf {archive} -C {place}"),
        faults=("missing_parents",),
    )


def kind_of_archive(w: World) -> Draft:
    """An option of tar that does not go with the archive, or with what is wanted."""
    stem, service = f"{one(w, NOUNS)}-{one(w, CITIES)}", one(w, SERVICES)
    suffix, wrong, right, slip, wanted = w.rng.choice(
        (
            ("tar", "-xzf", "-xf", "-tf", ("Unpack {} here.", "Extract all of {} into this folder.")),
            ("tar.gz", "-xjf", "-xzf", "-tzf", ("Unpack {}.", "Extract {} here.")),
            ("tar", "-cf", "-tf", "-tzf", ("List what is in {}.", "Print the names in {}.")),
            ("tar", "-tzf", "-tf", "-tjf", ("List the members of {}.", "Show which files and folders {} holds.")),
        )
    )
    archive = f"{stem}.{suffix}"

    def fixtures(v: World) -> Tree:
        files = {f"{service}/{noun}.md": fx.markdown(v) for noun in some(v, NOUNS, v.size(2, 9))}
        files[f"{one(v, TASKS)}.txt"] = text(*fx.notes(v, v.size(2, 40)))
        raw = tarred(files)
        return {archive: Entry(gzipped(raw) if archive.endswith("gz") else raw)}

    return Draft(
        w.rng.choice(wanted).format(archive),
        f"tar {wrong} {archive}",
        f"tar {right} {archive}",
        fixtures,
        TREE if right.startswith("-x") else STDOUT,
        looks=("ls", f"head -c 2 {archive} | od -An -tx1"),
        slips=(f"tar {slip} {archive}",),
        faults=("mistyped_flag",),
    )


def compressed_log(w: World) -> Draft:
    """A compressed file given to a program that reads text."""
    name, level = f"{one(w, SERVICES)}-{one(w, NOUNS)}.log.gz", w.rng.choice(fx.LEVELS)
    service = one(w, SERVICES)
    command, wanted = w.rng.choice(
        (
            (f"grep {level}", f"Print the {level} lines of {name}."),
            (f"grep -n {level}", f"Print the {level} lines of {name} with their numbers."),
            ("tail -n 3", f"How does the log in {name} end? Print its last 3 lines."),
            (f"sed -n '/{service}/p'", f"Print the lines of {name} that mention {service}."),
        )
    )

    def fixtures(v: World) -> Tree:
        lines = [
            *fx.app_log(v, v.size(8, 30)),
            *(f"{fx.day(v)} 23:59:59 {level} {service}: {n}" for n in fx.notes(v, 2)),
        ]
        return {name: Entry(gzipped("".join(f"{line}\n" for line in lines).encode()))}

    return Draft(
        wanted,
        f"{command} {name}",
        f"gzip -dc {name} | {command}",
        fixtures,
        looks=("ls", f"gzip -dc {name} | head -n 3"),
        slips=(f"cat {name} | {command}", f"gzip -dc {name} | head -n 2"),
        faults=("compressed_input",),
    )


def zip_member(w: World) -> Draft:
    """A file of a zip archive without the folder it lies in there."""
    archive, folder, (member, other) = f"{one(w, NOUNS)}-{one(w, SERVICES)}.zip", one(w, CITIES), some(w, NOUNS, 2)
    rest = w.rng.choice(("", " | sort", " | tail -n 2"))
    ending = {"": "", " | sort": ", its lines sorted", " | tail -n 2": ", the last 2 lines only"}[rest]

    def fixtures(v: World) -> Tree:
        files = {f"{folder}/{stem}.txt": text(*fx.notes(v, v.size(3, 9))) for stem in (member, other)}
        return {archive: Entry(zipped({**files, "README.md": fx.markdown(v)}))}

    return Draft(
        w.rng.choice((f"Print {member}.txt out of {archive}{ending}.", f"Show {member}.txt from {archive}{ending}.")),
        f"unzip -p {archive} {member}.txt{rest}",
        f"unzip -p {archive} {folder}/{member}.txt{rest}",
        fixtures,
        looks=(f"unzip -l {archive}",),
        slips=(f"unzip -p {archive} {folder}/{other}.txt{rest}",),
        must_look=True,
        faults=("mistyped_path",),
    )


def history(v: World, files: list[str], authors: list[str], n: int) -> list[Commit]:
    """`n` commits that rewrite one or two of `files` each, the first all of them."""
    state: dict[str, Entry] = {}
    commits = []
    for number in range(n):
        changed = files if number == 0 else v.rng.sample(files, v.size(1, 2))
        state = {**state, **{path: text(*fx.settings(v, more=v.size(2, 6))) for path in changed}}
        author = authors[number] if number < len(authors) else v.rng.choice(authors)
        message = f"{one(v, TASKS).capitalize()} the {one(v, NOUNS)} {one(v, NOUNS)}"
        commits.append(Commit(state, author, SPRING + 86_400 * number + v.size(0, 80_000), message))
    return commits


def file_at_tag(w: World) -> Draft:
    """A path of a git revision without the folder it lies in."""
    folder, (name, other), tag = one(w, NOUNS), some(w, SERVICES, 2), f"v{w.rng.randint(1, 9)}.{w.rng.randint(0, 9)}"
    paths = [f"{folder}/{name}.conf", f"{folder}/{other}.conf"]

    def fixtures(v: World) -> Tree:
        commits = history(v, paths, some(v, GIVEN, 2), v.size(2, 3))
        last = {path: text(*fx.settings(v, more=v.size(2, 6))) for path in paths}
        commits.append(Commit(last, commits[-1].author, SPRING + 90 * 86_400, f"Replace the {one(v, NOUNS)}"))
        return repository(commits, [(tag, len(commits) - 2)])

    return Draft(
        w.rng.choice(
            (
                f"Print {name}.conf as it was at the tag {tag}.",
                f"What did {name}.conf say at {tag}? Print it.",
                f"Show the version {tag} of {name}.conf; the files here are to stay as they are.",
            )
        ),
        f"git show {tag}:{name}.conf",
        f"git show {tag}:{folder}/{name}.conf",
        fixtures,
        looks=(f"git ls-tree -r --name-only {tag}", "git log --oneline"),
        slips=(f"cat {folder}/{name}.conf", f"git show {tag}:{folder}/{other}.conf"),
        must_look=True,
        faults=("mistyped_path",),
    )


def log_option(w: World) -> Draft:
    """A mistyped option of `git log`."""
    folder, authors = one(w, NOUNS), some(w, GIVEN, 3)
    author = authors[1]
    options, at, wanted = w.rng.choice(
        (
            ((f"author={author}", "format=%s"), 0, f"Print the subjects of the commits by {author}, newest first."),
            (("reverse", "format=%an: %s"), 0, "Print 'AUTHOR: SUBJECT' of all commits, oldest first."),
            (("format=%ad %s", "date=short"), 0, "Print the day and the subject of every commit, newest first."),
            ((f"author={author}", "oneline"), 1, f"List the commits by {author}, a line each: short hash, subject."),
        )
    )

    def command(*chosen: str) -> str:
        return " ".join(["git log", *(f"'--{option}'" if "%" in option else f"--{option}" for option in chosen)])

    word, equals, value = options[at].partition("=")
    wrong = [f"{misspelt(w, word)}{equals}{value}" if i == at else option for i, option in enumerate(options)]

    def fixtures(v: World) -> Tree:
        return repository(
            history(v, [f"{folder}/{one(v, SERVICES)}.conf", f"{one(v, CITIES)}.conf"], authors, v.size(4, 6))
        )

    return Draft(
        w.rng.choice((wanted, f"This is the repository of {folder}. {wanted}")),
        command(*wrong),
        command(*options),
        fixtures,
        looks=("git log --oneline", "ls"),
        slips=(command(*(option for i, option in enumerate(options) if i != at)),),
        faults=("mistyped_flag",),
    )
