"""Ordinary shell sessions: the plain text a base model learns to speak shell from.

A session is a small folder and a few commands somebody might type in it, each under a comment that says what it is
for. Some are slips put right at once, all of faults that the cold start demonstrates too. Of families that are met
only through reward, or never, sessions hold uses and no repairs: a fault and its cure are not found in one session
(`Use.apart`), so no text shows one becoming the other, and what the cure is good for is said in several ways, none of
them the family's tasks' own: the words are the same, the sentences are not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rlsh.tasks.shell.drills import misspelt
from rlsh.tasks.world import World, script, text, with_parents
from rlsh.types import Entry, Tree


@dataclass(frozen=True)
class Use:
    """One command and why. Two uses with the same `apart` name never share a session."""

    comment: str
    command: str
    apart: str | None = None


@dataclass(frozen=True)
class Session:
    files: Tree
    uses: tuple[Use, ...]


@dataclass(frozen=True)
class Place:
    """The files a session plays in, by kind."""

    prose: str
    numbers: str
    folder: str
    inner: str
    script: str
    spaced: str
    keys: tuple[str, str]
    files: Tree


def _place(w: World) -> Place:
    a, b = w.words(2)
    prose, numbers, directory, inner, run = w.name(), w.name(), w.word(), w.name(), w.name("sh")
    spaced = f"{w.word()} {w.word()}.txt"
    lines = [f"{a} {w.word()}", f"{b} {w.word()}", *w.lines(w.size(1, 3))]
    if w.rng.random() < 0.3:
        lines.append(f"{a.capitalize()} {w.word()}")
    w.rng.shuffle(lines)
    files: dict[str, Entry] = {
        prose: text(*lines),
        numbers: text(*w.numbers(w.size(3, 5))),
        f"{directory}/{inner}": text(*w.lines(w.size(1, 3))),
        run: script("#!/bin/sh", f"echo {w.word()}"),
        spaced: text(*w.lines(w.size(1, 3))),
    }
    kept = dict(w.rng.sample(sorted(files.items()), min(w.size(2, 4), len(files))))
    kept.setdefault(prose, files[prose])
    return Place(prose, numbers, directory, inner, run, spaced, (a, b), with_parents(kept))


def _uses(w: World, p: Place) -> Sequence[Callable[[], Use | tuple[Use, ...]]]:
    """Everything that makes sense in this place, as thunks."""
    f, (a, b), n = p.prose, p.keys, w.rng.randint(1, 4)
    pick = w.rng.choice
    found: list[Callable[[], Use | tuple[Use, ...]]] = [
        lambda: Use(pick((f"Print {f}.", f"Show {f}.")), f"cat {f}"),
        lambda: Use(f"Print the first {n} lines of {f}.", f"head -n {n} {f}"),
        lambda: Use(f"Print the last {n} lines of {f}.", f"tail -n {n} {f}", f"tail {f}"),
        lambda: Use(
            pick(
                (
                    f"Show the lines of {f} from line {n} on.",
                    f"Show {f} starting with line {n}.",
                    f"Print what {f} has from line {n} on.",
                    f"Skip to line {n} of {f}.",
                )
            ),
            f"tail -n +{n} {f}",
            f"tail {f}",
        ),
        lambda: Use(f"Sort the lines of {f}.", f"sort {f}", f"sort {f}"),
        lambda: Use(f"Sort {f} in reverse.", f"sort -r {f}"),
        lambda: Use(
            pick(
                (
                    f"Show each line of {f} once, sorted.",
                    f"Print the distinct lines of {f}, sorted.",
                    f"Sort the lines of {f}, without duplicates.",
                    f"Print {f} without duplicates.",
                )
            ),
            pick((f"sort -u {f}", f"sort {f} | uniq")),
            f"uniq {f}",
        ),
        lambda: Use(f"Count equal neighbours of {f}.", f"uniq -c {f}", f"uniq {f}"),
        lambda: Use(f"Count the lines of {f}.", f"wc -l {f}"),
        lambda: Use(f"Count the words of {f}.", f"wc -w {f}"),
        lambda: Use(f"Count the bytes of {f}.", f"wc -c {f}"),
        lambda: Use(f"Print the lines of {f} that contain {a}.", f"grep {a} {f}", f"grep {f}"),
        lambda: Use(f"Print the lines of {f} that do not contain {a}.", f"grep -v {a} {f}"),
        lambda: Use(
            pick(
                (
                    f"Search {f} for {a} in any case.",
                    f"Show the lines of {f} that have {a}, in any case.",
                    f"Print the lines with {a} in {f}, ignoring case.",
                    f"Search {f} for {a}, ignoring case.",
                )
            ),
            f"grep -i {a} {f}",
            f"grep {f}",
        ),
        lambda: Use(
            pick((f"How many lines of {f} contain {a}?", f"Count the lines with {a} in {f}.")),
            f"grep -c {a} {f}",
            f"grep {f}",
        ),
        lambda: Use(
            pick(
                (
                    f"Search {f} for {a} or {b}.",
                    f"Find {a} or {b} in {f}.",
                    f"Print the lines with {a} or {b} in {f}.",
                    f"Show the lines of {f} that have {a} or {b}.",
                )
            ),
            f"grep -E '{a}|{b}' {f}",
            f"grep {f}",
        ),
        lambda: Use(f"Print the lines of {f} that contain {a} {b}.", f"grep '{a} {b}' {f}", f"grep {f}"),
        lambda: Use(
            pick(
                (
                    f"Show {f} in capitals.",
                    f"Print all of {f} in capitals.",
                    f"Convert {f} to upper case.",
                    f"Show all of {f} in upper case.",
                )
            ),
            f"tr a-z A-Z < {f}",
            f"tr {f}",
        ),
        lambda: Use(f"Print {f} in lower case.", f"tr A-Z a-z < {f}", f"tr {f}"),
        lambda: Use(f"Replace the first {a} of each line of {f} by {b}.", f"sed 's/{a}/{b}/' {f}"),
        lambda: Use(f"Replace all {a} by {b} in {f}.", f"sed 's/{a}/{b}/g' {f}"),
        lambda: Use(f"Append the line {b} to {f}.", f"echo {b} >> {f}"),
        lambda: Use(
            pick((f"Sort {f} and keep the result in it.", f"Sort the lines of {f} in place.")),
            f"sort -o {f} {f}",
            f"sort {f}",
        ),
        lambda: Use("List the files.", "ls"),
        lambda: Use(f"Create the folder {a}/{b}.", f"mkdir -p {a}/{b}"),
        lambda: Use(f"Create the folder {b}.", f"mkdir {b}"),
        lambda: Use("Find every text file.", "find . -name '*.txt'", "find"),
        lambda: Use("Print the first line of each log file.", "find . -name '*.log' -exec head -n 1 {} \\;", "find"),
        lambda: Use(f"Copy {f} to {a}.txt.", f"cp {f} {a}.txt"),
        lambda: Use(f"Write {a} to {b}.txt.", f"echo {a} > {b}.txt"),
        lambda: _mistyped(w, Use(f"Print the last {n} lines of {f}.", f"tail -n {n} {f}", f"tail {f}")),
        lambda: _mistyped(w, Use(f"Count the lines of {f}.", f"wc -l {f}")),
        lambda: _slip(f"mkdir {b}/{a}", Use(f"Create the folder {b}/{a}.", f"mkdir -p {b}/{a}")),
        lambda: _lost(w, p, "Print", "cat"),
        lambda: _lost(w, p, "Sort", "sort", f"sort {f}"),
        lambda: _lost(w, p, "Count the lines of", "wc -l"),
    ]
    if p.numbers in p.files:
        g = p.numbers
        found += [
            lambda: Use(
                pick(
                    (
                        f"Sort the lines of {g} by number.",
                        f"Order {g} by number, smallest first.",
                        f"Print the numbers of {g}, smallest first.",
                        f"Print {g}, sorted by number.",
                    )
                ),
                f"sort -n {g}",
                f"sort {g}",
            ),
            lambda: Use(f"Sort the numbers of {g}, largest first.", f"sort -rn {g}", f"sort {g}"),
            lambda: Use(f"Sort {g} as text.", f"sort {g}", f"sort {g}"),
            lambda: Use(f"Print {g}.", f"cat {g}"),
        ]
    if p.folder in p.files:
        d, e = p.folder, p.inner.rpartition(".")[2]
        found += [
            lambda: Use(f"List the folder {d}.", f"ls {d}"),
            lambda: Use(f"Print {d}/{p.inner}.", f"cat {d}/{p.inner}"),
            lambda: Use(f"Copy the folder {d} to {b}.", f"cp -r {d} {b}"),
            lambda: Use(f"Delete the folder {d}.", f"rm -r {d}"),
            lambda: Use(
                pick((f"Find all {e} files in {d}.", f"List the {e} files below {d}.")),
                f"find {d} -name '*.{e}'",
                "find",
            ),
            lambda: Use(f"Print each {e} file in {d}.", f"find {d} -name '*.{e}' -exec cat {{}} \\;", "find"),
            lambda: Use(
                f"Count the lines of each {e} file in {d}.", f"find {d} -name '*.{e}' -exec wc -l {{}} \\;", "find"
            ),
            lambda: _slip(pick((f"rm {d}", f"rmdir {d}")), Use(f"Delete the folder {d}.", f"rm -r {d}")),
        ]
    if p.spaced in p.files:
        t = p.spaced
        found += [
            lambda: Use(f"Print the file {t}.", f"cat '{t}'"),
            lambda: Use(f"Sort the file {t}.", f"sort '{t}'"),
            lambda: Use(f"Count the lines of the file {t}.", f"wc -l '{t}'"),
            lambda: _slip(f"cat {t}", Use(f"Print the file {t}.", f"cat '{t}'")),
        ]
    if p.script in p.files:
        s = p.script
        found += [
            lambda: Use(pick((f"Run {s}.", f"Execute the script {s}.")), pick((f"sh {s}", f"bash {s}")), f"run {s}"),
            lambda: Use(f"Print {s}.", f"cat {s}"),
        ]
    return found


def _slip(wrong: str, use: Use) -> tuple[Use, ...]:
    """`wrong` is typed first, then what was meant."""
    return replace(use, command=wrong), replace(use, comment="")


def _mistyped(w: World, use: Use) -> tuple[Use, ...]:
    program, rest = use.command.split(" ", 1)
    return _slip(f"{misspelt(w, program)} {rest}", use)


def _lost(w: World, p: Place, wanted: str, program: str, apart: str | None = None) -> tuple[Use, ...]:
    """A misspelt file name, and the look around that finds the right one."""
    stem, _, extension = p.prose.partition(".")
    wrong = f"{program} {misspelt(w, stem)}.{extension}"
    return (
        Use(f"{wanted} the {extension} file.", wrong),
        Use("", "ls"),
        Use("", f"{program} {p.prose}", apart),
    )


def session(seed: int) -> Session:
    """The session that `seed` names; three to six uses, the same seed giving the same one."""
    w = World(random.Random(f"session {seed}"), "train")
    place = _place(w)
    thunks = list(_uses(w, place))
    w.rng.shuffle(thunks)
    uses: list[Use] = []
    taken: set[str] = set()
    for thunk in thunks[: w.size(3, 6)]:
        drawn = thunk()
        group = drawn if isinstance(drawn, tuple) else (drawn,)
        names = {u.apart for u in group if u.apart is not None}
        if names & taken:
            continue
        taken |= names
        uses += group
    return Session(place.files, tuple(uses))
