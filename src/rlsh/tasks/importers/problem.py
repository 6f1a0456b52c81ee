"""A broken function, its repair and its tests, as every public set has them, and the task they make."""

from __future__ import annotations

import ast
import difflib
import keyword
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rlsh.tasks.checks import Check
from rlsh.tasks.importers.claims import Claim
from rlsh.tasks.task import Task
from rlsh.tasks.values import same
from rlsh.types import Entry, ToolCall

PURPOSE_CHARS = 240


@dataclass(frozen=True)
class Broken:
    """A source that is wrong, and what was done to it, where that is known."""

    source: str
    operators: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """What a set says of one function. `broken` are alternatives: the first that its tests turn down is taken.

    `claims` come from its hidden tests and `examples` from its documentation. `script` is the test code, "" where the
    set has none, and `rest` says what is in it beside the claims.
    """

    name: str  # in its set
    function: str
    purpose: str  # one sentence
    right: str
    broken: tuple[Broken, ...]
    claims: tuple[Claim, ...]
    examples: tuple[Claim, ...]
    script: str
    rest: tuple[str, ...]
    set: str
    source: str
    licence: str
    seed: int = 0
    left_out: int = 0  # cases that are no claims, because what is right takes too long for them

    @property
    def file(self) -> str:
        """Named like the function, unless an import would then find something else."""
        taken = self.function in sys.stdlib_module_names or keyword.iskeyword(self.function)
        return f"{self.function}{'_function' if taken else ''}.py"


def task_of(problem: Problem, broken: Broken, command: str, checks: Sequence[Check]) -> Task:
    """The task, unrecorded. `command` shows the failure. Raises ValueError as Task does."""
    return Task(
        id="",
        family=problem.function,
        set=problem.set,
        split="held_out",
        seed=problem.seed,
        instruction=f"{problem.function} in {problem.file} is wrong: {problem.purpose} Repair it.",
        broken=command,
        error="",
        files={problem.file: Entry(broken.source.encode())},
        checks=tuple(checks),
        reference=(edit(problem.file, broken.source, problem.right),),
        source=problem.source,
        licence=problem.licence,
        operators=broken.operators,
    )


def edit(file: str, old: str, new: str) -> ToolCall:
    """The call that makes `new` of `old`; both end with a newline."""
    lines = difflib.unified_diff(cut(old), cut(new), file, file)
    return ToolCall("edit", {"file_path": file, "edit_content": "".join(lines)})


def cut(text: str) -> list[str]:
    """Lines with their ends, cut at newlines only, as a patch sees them."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def shown_call(problem: Problem, claim: Claim) -> str | None:
    """The command that makes the claim's call and prints what comes of it; None where it cannot be written so."""
    if not all(_literal(value) for value in (*claim.args, *claim.kwargs.values())):
        return None
    arguments = [*map(repr, claim.args), *(f"{name}={value!r}" for name, value in claim.kwargs.items())]
    call = f"{problem.function}({', '.join(arguments)})"
    shown = f"list({call})" if claim.items else call
    code = f"from {problem.file.removesuffix('.py')} import {problem.function}; print({shown})"
    return f"python3 -c {shlex.quote(code)}"


def _literal(value: object) -> bool:
    """Whether its `repr` is an expression for it, which that of nan is not."""
    try:
        return same(value, ast.literal_eval(repr(value)))
    except (ValueError, SyntaxError):
        return False


def sentence(text: str) -> str:
    """The first sentence of a documentation, on one line and with a full stop; "" where there is none."""
    words = " ".join(re.split(r"\n\s*\n|>>>", text.strip())[0].split())
    first = re.split(r"(?<=[.!?])\s", words)[0][:PURPOSE_CHARS].rstrip()
    return first if not first or first[-1] in ".!?" else f"{first.rstrip(':;,')}."


def normal_end(text: str) -> str:
    """`text` with one newline at its end, and no carriage returns."""
    return text.replace("\r\n", "\n").rstrip() + "\n"


def without_function(source: str, function: str) -> str:
    """What a source has beside the function: imports and helpers that its tests may use."""
    lines = cut(source)
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            del lines[first - 1 : node.end_lineno]
    return "".join(lines)
