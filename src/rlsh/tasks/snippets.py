"""Python tasks before anything was run: a function with a fault, and the arguments that may show it."""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import random
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Literal, get_args

from rlsh.tasks.catalogue import Reference
from rlsh.tasks.checks import Case, PythonCheck, Raised, Returns
from rlsh.tasks.inputs import Draw
from rlsh.tasks.mutation import FAMILY, Mutant, double_fault, mutants
from rlsh.tasks.task import Split, Task
from rlsh.tasks.values import same, to_tagged
from rlsh.tasks.world import pool_of, text
from rlsh.types import Entry, ToolCall

Form = Literal["call", "script", "assertion"]
TRAINED = "python"  # the set of tasks whose faults are trained on
HELD_OUT_FAULTS = {"boolean", "exceptions", "mapping"}  # families of operators that no training task has
NEEDS_ARGUMENTS = "aliasing"  # such faults mostly show in what is left of the arguments
DOUBLES = 4  # every so many-th task of a function has two faults
INPUTS = 28  # arguments drawn for each function
INPUT_CHARS = 1500  # of one call's arguments as JSON
SHOWN_CHARS = 80  # of the failing call, and of the value that it should have, in an instruction


@dataclass(frozen=True)
class Origin:
    """Where a function comes from."""

    source: str = "rlsh"
    licence: str = "MIT"


@dataclass(frozen=True)
class Snippet:
    """A faulty function as somebody would meet it. `inputs` are the arguments of calls, some of which may show it."""

    reference: Reference
    mutant: Mutant
    inputs: tuple[tuple[object, ...], ...]
    split: Split
    seed: int
    origin: Origin = Origin()

    @property
    def faults(self) -> tuple[str, ...]:
        """The families of the mutant's operators."""
        return tuple(FAMILY[operator] for operator in self.mutant.operators)

    @property
    def family(self) -> str:
        return f"python_{self.faults[0] if len(self.faults) == 1 else 'two_faults'}"

    @property
    def set(self) -> str:
        return set_of(self.mutant)

    @property
    def returns(self) -> Returns:
        return "arguments" if NEEDS_ARGUMENTS in self.faults else "value"

    @property
    def rng(self) -> random.Random:
        """For how the task is put into words."""
        return random.Random(f"{self.reference.name} {self.seed} {self.split}")

    @property
    def file(self) -> str:
        """Named after the function, its topic or nothing, never like a module of the standard library."""
        names = (self.reference.name, self.reference.topic, "tools", "helpers")
        free = [name for name in names if name.isidentifier() and name not in sys.stdlib_module_names]
        return f"{self.rng.choice(free)}.py"

    @property
    def key(self) -> str:
        """Names everything that the task is made from."""
        parts = (self.reference.source, self.mutant.source, self.inputs, self.split, self.seed, self.origin.source)
        return hashlib.sha256(json.dumps(to_tagged(parts)).encode()).hexdigest()[:16]

    def check(self, inputs: Sequence[tuple[object, ...]]) -> PythonCheck:
        """Calls with these arguments, nothing expected yet."""
        return PythonCheck(self.file, self.reference.name, tuple(map(Case, inputs)), None, self.returns)


@dataclass(frozen=True)
class Example:
    """The call that fails before the policy's eyes, and the outcome that it should have."""

    snippet: Snippet
    case: Case

    @property
    def call(self) -> str:
        return f"{self.snippet.reference.name}({', '.join(map(literal, self.case.args))})"

    @property
    def value(self) -> object:
        """What the call should return, or `Raised`."""
        match self.case.expected:
            case Raised() as raised:
                return raised
            case (value, _) if self.snippet.returns == "arguments":
                return value
        return self.case.expected

    @property
    def usable(self) -> bool:
        """Whether a line of Python can say it, and the function is not meant to change its arguments."""
        try:
            said = "" if isinstance(self.value, Raised) else literal(self.value)
            short = len(self.call) <= SHOWN_CHARS and len(said) <= SHOWN_CHARS
        except ValueError:
            return False
        kept = self.snippet.returns == "value" or same(self.case.expected, (self.value, self.case.args))
        return short and (kept or isinstance(self.value, Raised))

    @property
    def wish(self) -> str:
        """What should come of the call, as the end of a sentence."""
        if isinstance(self.value, Raised):
            return f"{self.call} should raise {self.value.type}"
        unchanged = " and change none of its arguments" if self.snippet.returns == "arguments" else ""
        return f"{self.call} should return {literal(self.value)}{unchanged}"

    def statements(self) -> list[str]:
        """A program that shows what comes of it, but for the import."""
        if self.snippet.returns == "arguments":
            arguments = f"[{', '.join(map(literal, self.case.args))}]"
            return [f"arguments = {arguments}", f"print({self.snippet.reference.name}(*arguments), arguments)"]
        return [f"print(repr({self.call}))" if isinstance(self.value, str) else f"print({self.call})"]


def quoted(code: str) -> str:
    """One word of a command line; in double quotes where that reads better and changes nothing."""
    return f'"{code}"' if "'" in code and not set('"$`\\\\!') & set(code) else shlex.quote(code)


def literal(value: object) -> str:
    """Python text for a value, sets in a fixed order. Raises ValueError where there is none: for NaN, say."""
    text = written(value)
    ast.literal_eval(text)
    return text


def written(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{written(key)}: {written(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(written, value)) + "]"
        case (single,):
            return f"({written(single)},)"
        case tuple():
            return "(" + ", ".join(map(written, value)) + ")"
        case set() if value:
            return "{" + ", ".join(sorted(map(written, value))) + "}"
    return repr(value)


def split_of(function: str) -> Split:
    """Where every task of a function goes: by its name's checksum, one function in five is held out."""
    return pool_of(function)


def snippets(reference: Reference, set: str, seed: int, origin: Origin = Origin()) -> Iterator[Snippet]:
    """The faulty versions of a function that belong to `set`, in an order that `seed` decides.

    Single faults come family by family, so that the few of a rare family are not crowded out; where faults of every
    kind but the held-out ones are wanted, every DOUBLES-th version has two.
    """
    rng = random.Random(f"{reference.name} {seed}")
    found = one_fault(reference, rng, set)
    if set == TRAINED:
        found = with_doubles(found, reference, rng)
    inputs, split = drawn_inputs(reference, seed), split_of(reference.name)
    for number, mutant in enumerate(found):
        yield Snippet(reference, mutant, inputs, split, number, origin)


def one_fault(reference: Reference, rng: random.Random, set: str) -> Iterator[Mutant]:
    groups: dict[str, list[Mutant]] = {}
    for one in mutants(reference.source, reference.name):
        if set_of(one) == set:
            groups.setdefault(FAMILY[one.operators[0]], []).append(one)
    for group in groups.values():
        rng.shuffle(group)
    families = rng.sample(list(groups.values()), len(groups))
    return (one for turn in zip_longest(*families) for one in turn if one is not None)


def with_doubles(singles: Iterator[Mutant], reference: Reference, rng: random.Random) -> Iterator[Mutant]:
    while some := list(islice(singles, DOUBLES - 1)):
        yield from some
        double = double_fault(reference.source, reference.name, rng)
        if double is not None and set_of(double) == TRAINED:
            yield double


def set_of(mutant: Mutant) -> str:
    never_met = HELD_OUT_FAULTS.intersection(FAMILY[name] for name in mutant.operators)
    return f"{TRAINED}_never_met" if never_met else TRAINED


def drawn_inputs(reference: Reference, seed: int | str) -> tuple[tuple[object, ...], ...]:
    """Distinct arguments for a function, none of them large."""
    rng = random.Random(f"inputs {reference.name} {seed}")
    found: dict[str, tuple[object, ...]] = {}
    for _ in range(4 * INPUTS):
        arguments = reference.draw(Draw(rng))
        written = json.dumps(to_tagged(arguments))
        if len(written) <= INPUT_CHARS:
            found[written] = arguments
        if len(found) == INPUTS:
            break
    return tuple(found.values())


def task_of(example: Example, hidden: PythonCheck) -> Task:
    """The task in words, its error not recorded yet.

    An assertion cannot show that an exception is missing, nor what is left of arguments: there the call stands alone.
    """
    snippet = example.snippet
    reference, file, rng = snippet.reference, snippet.file, snippet.rng
    form: Form = rng.choice(get_args(Form))
    if form == "assertion" and (isinstance(example.value, Raised) or snippet.returns == "arguments"):
        form = "script"
    head = f"from {file.removesuffix('.py')} import {reference.name}"
    files = {file: Entry(snippet.mutant.source.encode())}
    match form:
        case "call":
            broken = f"python3 -c {quoted('; '.join([head, *example.statements()]))}"
        case "script":
            shown = f"try_{reference.name}.py"
            files[shown], broken = text(head, "", *example.statements()), f"python3 {shown}"
        case "assertion":
            shown = f"check_{reference.name}.py"
            assertion = f"assert {example.call} == {literal(example.value)}"
            files[shown], broken = text(head, "", assertion), f"python3 {shown}"
    wording = rng.choice(
        (
            "Repair {file}: {wish}.",
            "Find what is wrong with {name} in {file}, and repair it: {wish}.",
            "{file} is broken: {wish}. The docstring of {name} says what it is for.",
            "Repair {name} in {file}, so that it does what its docstring says; {wish}.",
        )
    )
    return Task(
        id="",
        family=snippet.family,
        set=snippet.set,
        split=snippet.split,
        seed=snippet.seed,
        instruction=wording.format(wish=example.wish, file=file, name=reference.name),
        broken=broken,
        error="",
        files=files,
        checks=(hidden,),
        reference=(edit_call(file, snippet.mutant.source, reference.source),),
        source=snippet.origin.source,
        licence=snippet.origin.licence,
        operators=snippet.mutant.operators,
    )


def edit_call(file: str, old: str, new: str) -> ToolCall:
    """The `edit` that turns the text `old` of `file` into `new`."""
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), file, file)
    return ToolCall("edit", {"file_path": file, "edit_content": "".join(lines)})
