"""Families of broken shell commands.

A family draws a `Draft` from a `World`: what is wanted, the command somebody typed, the command that does it, and
a maker of fixtures that is called twice with the same names and other contents, once for the policy to see and
once for the verdict. What a family's fault is stands in its docstring. Long because it is a list: a function a family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rlsh.tasks.checks import Compare
from rlsh.tasks.task import TaskSet
from rlsh.tasks.world import World, script, text
from rlsh.types import Tree

STDOUT: tuple[Compare, ...] = ("stdout", "tree")
TREE: tuple[Compare, ...] = ("tree",)


@dataclass(frozen=True)
class Draft:
    """`looks` are sensible commands to look around with, `slips` plausible repairs that are wrong.

    With `must_look` the repair cannot be known before the first of `looks` has shown it.
    """

    instruction: str
    broken: str
    repair: str
    fixtures: Callable[[World], Tree]
    compare: tuple[Compare, ...] = STDOUT
    looks: tuple[str, ...] = ()
    slips: tuple[str, ...] = ()
    must_look: bool = False


def misspelt(w: World, word: str) -> str:
    """Two letters swapped, one dropped or one doubled."""
    while True:
        i = w.rng.randrange(len(word) - 1)
        wrong = w.rng.choice(
            (
                word[:i] + word[i + 1] + word[i] + word[i + 2 :],
                word[:i] + word[i + 1 :],
                word[:i] + word[i] + word[i:],
            )
        )
        if wrong != word and len(wrong) > 1:
            return wrong


def _text_lines(name: str, width: int = 2) -> Callable[[World], Tree]:
    return lambda w: {name: text(*w.lines(w.size(4, 6), width))}


def _with_key(
    name: str, key: str, make: Callable[[World, str], str] = lambda w, key: f"{key} {w.word()}"
) -> Callable[[World], Tree]:
    """A file in which some lines contain `key` and some do not."""

    def fixtures(w: World) -> Tree:
        lines = [make(w, key) for _ in range(w.size(1, 4))] + w.lines(w.size(2, 3))
        w.rng.shuffle(lines)
        return {name: text(*lines)}

    return fixtures


# --- demonstrated in the cold start ---------------------------------------------------------------------------


def program_typo(w: World) -> Draft:
    """A mistyped program name."""
    name, key, n = w.name(), w.word(), w.rng.randint(2, 3)
    program, arguments, wanted = w.rng.choice(
        (
            ("grep", f"{key} {name}", f"Print the lines of {name} that contain {key}."),
            ("head", f"-n {n} {name}", f"Print the first {n} lines of {name}."),
            ("tail", f"-n {n} {name}", f"Print the last {n} lines of {name}."),
            ("sort", name, f"Sort the lines of {name}."),
            ("cat", name, f"Print {name}."),
            ("wc", f"-w {name}", f"Count the words of {name}."),
        )
    )
    return Draft(wanted, f"{misspelt(w, program)} {arguments}", f"{program} {arguments}", _with_key(name, key))


def path_typo(w: World) -> Draft:
    """A mistyped file name; the folder shows the right one."""
    stem, extension = w.word(), w.rng.choice(("txt", "log", "md"))
    name = f"{stem}.{extension}"
    other = w.name("csv", "py")
    wrong = f"{misspelt(w, stem)}.{extension}"
    program, wanted = w.rng.choice((("cat", "Print"), ("sort", "Sort"), ("wc -l", "Count the lines of")))
    return Draft(
        f"{wanted} the {extension} file.",
        f"{program} {wrong}",
        f"{program} {name}",
        lambda v: {name: text(*v.lines(v.size())), other: text(v.word())},
        looks=("ls",),
        slips=(f"{program} {other}",),
        must_look=True,
    )


def copy_folder(w: World) -> Draft:
    """`cp` of a folder without -r."""
    source, target = w.words(2)
    return Draft(
        w.rng.choice((f"Copy the folder {source} to {target}.", f"Make a copy of {source} named {target}.")),
        f"cp {source} {target}",
        f"cp -r {source} {target}",
        lambda v: {f"{source}/{v.name()}": text(*v.lines(v.size(1, 3))) for _ in range(v.size(1, 2))},
        TREE,
        looks=("ls", f"ls {source}"),
        slips=(f"cp {target} {source}",),
    )


def nested_folder(w: World) -> Draft:
    """`mkdir` of a path whose parents are missing."""
    path = "/".join(w.words(w.rng.randint(2, 3)))
    keep = w.name()
    return Draft(
        w.rng.choice((f"Create the folder {path}.", f"Make the directory {path}.")),
        f"mkdir {path}",
        f"mkdir -p {path}",
        lambda v: {keep: text(*v.lines(v.size(1, 3)))},
        TREE,
        looks=("ls",),
        slips=(f"mkdir {path.split('/')[0]}",),
    )


def remove_folder(w: World) -> Draft:
    """`rm` or `rmdir` of a folder that is not empty."""
    target = w.word()
    keep = w.name()
    return Draft(
        w.rng.choice((f"Delete the folder {target}.", f"Remove {target} and all in it.")),
        f"{w.rng.choice(('rm', 'rmdir'))} {target}",
        f"rm -r {target}",
        lambda v: {
            keep: text(v.word()),
            **{f"{target}/{v.name()}": text(*v.lines(v.size(1, 2))) for _ in range(v.size(1, 2))},
        },
        TREE,
        looks=("ls", f"ls {target}"),
        slips=(f"rmdir {target}", f"rm {target}"),
    )


def replace_all(w: World) -> Draft:
    """`sed s///` without g: only the first of a line is replaced."""
    old, new = w.words(2)
    name = w.name()
    return Draft(
        w.rng.choice((f"Print {name} with every {old} replaced by {new}.", f"Replace all {old} by {new} in {name}.")),
        f"sed 's/{old}/{new}/' {name}",
        f"sed 's/{old}/{new}/g' {name}",
        _with_key(name, old, lambda v, key: f"{key} {v.word()} {key}"),
        looks=(f"cat {name}",),
        slips=(f"sed 's/{new}/{old}/g' {name}",),
    )


def open_quote(w: World) -> Draft:
    """A quote that is never closed."""
    first, second = w.words(2)
    name, quote = w.name(), w.rng.choice("'\"")
    return Draft(
        f"Print the lines of {name} that contain {first} {second}.",
        f"grep {quote}{first} {second} {name}",
        f"grep {quote}{first} {second}{quote} {name}",
        _with_key(name, first, lambda v, key: f"{key} {second} {v.word()}"),
        looks=(f"cat {name}",),
        slips=(f"grep {first} {second} {name}",),
    )


def spaced_name(w: World) -> Draft:
    """A file name with a space, unquoted."""
    first, second = w.words(2)
    name = f"{first} {second}.txt"
    program, wanted = w.rng.choice((("cat", "Print"), ("sort", "Sort"), ("wc -l", "Count the lines of")))
    return Draft(
        f"{wanted} the file {name}.",
        f"{program} {name}",
        f"{program} '{name}'",
        lambda v: {name: text(*v.lines(v.size()))},
        looks=("ls",),
        slips=(f"{program} {second}.txt",),
    )


def append_line(w: World) -> Draft:
    """`>` where `>>` was meant: the file is lost."""
    word, name = w.word(), w.name()
    return Draft(
        w.rng.choice((f"Append the line {word} to {name}.", f"Add {word} at the end of {name}.")),
        f"echo {word} > {name}",
        f"echo {word} >> {name}",
        lambda v: {name: text(*v.lines(v.size()))},
        TREE,
        looks=(f"cat {name}",),
        slips=(f"echo {word} {name}",),
    )


def find_exec(w: World) -> Draft:
    """`find -exec` without its terminator."""
    extension, place, stem = w.rng.choice(("txt", "log", "md")), *w.words(2)
    program, wanted = w.rng.choice(
        (("wc -l", "Count the lines of"), ("cat", "Print"), ("head -n 1", "Print the first line of"))
    )
    command = f"find {place} -name '*.{extension}' -exec {program} {{}}"
    return Draft(
        f"{wanted} each {extension} file in {place}.",
        command,
        f"{command} \\;",
        lambda v: {
            f"{place}/{stem}.{extension}": text(*v.lines(v.size(2, 6))),
            f"{place}/{v.name('csv')}": text(v.word()),
        },
        looks=("ls", f"ls {place}"),
        slips=(command.removesuffix(" {}"),),
    )


def swapped_arguments(w: World) -> Draft:
    """`grep FILE PATTERN`."""
    key, name = w.word(), w.name()
    return Draft(
        w.rng.choice((f"Print the lines of {name} that contain {key}.", f"Find {key} in {name}.")),
        f"grep {name} {key}",
        f"grep {key} {name}",
        _with_key(name, key),
        looks=("ls", f"cat {name}"),
        slips=(f"cat {name}",),
    )


def head_count(w: World) -> Draft:
    """`head 3 FILE`: the count is taken for a file."""
    n, name, end = w.rng.randint(2, 3), w.name(), w.rng.choice((("head", "first"), ("tail", "last")))
    return Draft(
        f"Print the {end[1]} {n} lines of {name}.",
        f"{end[0]} {n} {name}",
        f"{end[0]} -n {n} {name}",
        _text_lines(name),
        looks=(f"cat {name}",),
        slips=(f"{end[0]} {name}",),
    )


# --- met only through reward, in RL ---------------------------------------------------------------------------


def numeric_sort(w: World) -> Draft:
    """`sort` of numbers as text."""
    name = w.name()
    return Draft(
        w.rng.choice((f"Sort {name} by number.", f"Sort the numbers of {name}, smallest first.")),
        f"sort {name}",
        f"sort -n {name}",
        lambda v: {name: text(*v.numbers(v.size(4, 5)))},
    )


def alternatives(w: World) -> Draft:
    """`grep 'a|b'` without -E."""
    first, second = w.words(2)
    name = w.name()

    def fixtures(v: World) -> Tree:
        lines = [f"{first} {v.word()}", f"{second} {v.word()}", *v.lines(v.size(1, 3))]
        v.rng.shuffle(lines)
        return {name: text(*lines)}

    return Draft(
        f"Print the lines of {name} that contain {first} or {second}.",
        f"grep '{first}|{second}' {name}",
        f"grep -E '{first}|{second}' {name}",
        fixtures,
    )


def ignore_case(w: World) -> Draft:
    """`grep` misses lines in the other case."""
    key, name = w.word(), w.name()

    def fixtures(v: World) -> Tree:
        lines = [
            f"{key} {v.word()}",
            f"{key.capitalize()} {v.word()}",
            f"{key.upper()} {v.word()}",
            *v.lines(2),
        ]
        lines = v.rng.sample(lines[1:3], v.size(1, 2)) + lines[3:] + lines[:1] * v.size(0, 1)
        v.rng.shuffle(lines)
        return {name: text(*lines)}

    return Draft(
        w.rng.choice(
            (
                f"Print the lines of {name} that contain {key} in any case.",
                f"Find {key} in {name}, ignoring case.",
            )
        ),
        f"grep {key} {name}",
        f"grep -i {key} {name}",
        fixtures,
    )


def distinct_lines(w: World) -> Draft:
    """`uniq` on lines that are not sorted."""
    name = w.name()

    def fixtures(v: World) -> Tree:
        a, b, c = v.words(3)
        lines = [a, b, a, c, b][: v.size(4, 5)]
        return {name: text(*(lines if a > b else [b, a, b, c, a][: len(lines)]))}

    return Draft(
        w.rng.choice((f"Print each distinct line of {name} once, sorted.", f"Sort {name} without duplicates.")),
        f"uniq {name}",
        f"sort -u {name}",
        fixtures,
    )


def from_line(w: World) -> Draft:
    """`tail -n N` where `tail -n +N` was meant."""
    n, name = w.rng.randint(2, 3), w.name()
    return Draft(
        w.rng.choice((f"Print {name} from line {n} on.", f"Print all lines of {name} starting with line {n}.")),
        f"tail -n {n} {name}",
        f"tail -n +{n} {name}",
        lambda v: {name: text(*v.lines(2 * n + v.size(0, 2)))},
    )


def upper_case(w: World) -> Draft:
    """`tr` reads standard input only."""
    name = w.name()
    return Draft(
        w.rng.choice((f"Print {name} in upper case.", f"Convert {name} to capitals.")),
        f"tr a-z A-Z {name}",
        f"tr a-z A-Z < {name}",
        lambda v: {name: text(*v.lines(v.size()))},
    )


# --- never met before evaluation ------------------------------------------------------------------------------


def not_executable(w: World) -> Draft:
    """A script without its execute bit."""
    name = w.name("sh")
    return Draft(
        f"Run the script {name}.",
        f"./{name}",
        f"sh {name}",
        lambda v: {name: script("#!/bin/sh", f"echo {v.word()} {v.word()}")},
        ("stdout",),
    )


def count_matches(w: World) -> Draft:
    """`grep` prints the lines where their number was wanted."""
    key, name = w.word(), w.name()
    return Draft(
        f"Count the lines of {name} that contain {key}.",
        f"grep {key} {name}",
        f"grep -c {key} {name}",
        _with_key(name, key),
    )


def bare_glob(w: World) -> Draft:
    """`find -name *.txt`, expanded by the shell before find sees it."""
    extension, place = w.rng.choice(("txt", "log", "md")), w.word()

    def fixtures(v: World) -> Tree:
        here, there = v.words(2), v.words(v.size(1, 2))
        files = [f"{name}.{extension}" for name in here] + [f"{place}/{name}.{extension}" for name in there]
        return {path: text(v.word()) for path in [*files, f"{place}/{v.name('csv')}"]}

    return Draft(
        f"List all {extension} files in {place}.",
        f"find {place} -name *.{extension}",
        f"find {place} -name '*.{extension}'",
        fixtures,
    )


def in_place_sort(w: World) -> Draft:
    """A file that is read and written by one command."""
    name = w.name()

    def fixtures(v: World) -> Tree:
        lines = sorted(v.words(v.size(3, 5)), reverse=True)
        return {name: text(*lines)}

    return Draft(
        f"Sort {name} in place.",
        f"sort {name} > {name}",
        f"sort -o {name} {name}",
        fixtures,
        TREE,
    )


Family = Callable[[World], Draft]
SETS: dict[TaskSet, tuple[Family, ...]] = {
    "demonstrated": (
        program_typo,
        path_typo,
        copy_folder,
        nested_folder,
        remove_folder,
        replace_all,
        open_quote,
        spaced_name,
        append_line,
        find_exec,
        swapped_arguments,
        head_count,
    ),
    "reward_only": (numeric_sort, alternatives, ignore_case, distinct_lines, from_line, upper_case),
    "never_met": (not_executable, count_matches, bare_glob, in_place_sort),
}
SET_OF: dict[str, TaskSet] = {f.__name__: s for s, families in SETS.items() for f in families}
FAMILIES: dict[str, Family] = {f.__name__: f for families in SETS.values() for f in families}
