"""A script with faults, and what is drawn from it: how it is run, the edit that repairs it, repairs that do not."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from rlsh.tasks.checks import Compare
from rlsh.tasks.shell.draft import STDOUT, Draft
from rlsh.tasks.world import World, script
from rlsh.types import ToolCall, Tree, exec_call


@dataclass(frozen=True)
class Fault:
    """One line as it was written, as it should be, and as a plausible wrong repair would have it ("": none)."""

    wrong: str
    right: str
    slip: str = ""


def script_task(
    instruction: str,
    run: str,
    name: str,
    lines: Sequence[str | Fault],
    data: Callable[[World], Tree],
    *,
    faults: tuple[str, ...],
    compare: tuple[Compare, ...] = STDOUT,
    executable: bool = True,
) -> Draft:
    """The draft whose script `name` has these lines beside the files that `data` makes; `run` runs it.

    The reference edits all faulty lines at once. Of several faults, every repair of one alone is a slip. Where it is
    not executable that is the first fault, and the reference makes it so.
    """
    wrong = [line.wrong if isinstance(line, Fault) else line for line in lines]
    right = [line.right if isinstance(line, Fault) else line for line in lines]
    faulty = {at: line for at, line in enumerate(lines) if isinstance(line, Fault)}
    calls = [] if executable else [exec_call(f"chmod +x {name}")]
    if faulty:
        calls.append(ToolCall("edit", {"file_path": name, "edit_content": edit(wrong, right)}))
    kept = {at: line.right for at, line in faulty.items()}
    slips = [rewrite(name, {**kept, at: line.slip}) for at, line in faulty.items() if line.slip]
    if len(faulty) > 1 or not executable:
        slips += [rewrite(name, {at: line}) for at, line in kept.items()]
    if not executable:
        slips.append(f"chmod +x {name}" if faulty else f"sh {name}")
    file = script(*wrong, mode=0o755 if executable else 0o644)
    return Draft(
        instruction,
        run,
        tuple(calls),
        lambda v: {**data(v), name: file},
        compare,
        looks=(f"cat {name}", "ls"),
        slips=tuple(slips),
        must_look=bool(faulty),
        faults=faults,
        script=name,
    )


def edit(old: Sequence[str], new: Sequence[str]) -> str:
    """The unified diff from `old` to `new`, one line of context, without the lines that name the files."""
    return "\n".join([*unified_diff(old, new, n=1, lineterm="")][2:]) + "\n"


def rewrite(name: str, lines: dict[int, str]) -> str:
    """The command that puts these lines, counted from 0, in place of what the file has there."""
    orders = [f"{at + 1}c\\{line.replace(chr(92), chr(92) * 2)}" for at, line in sorted(lines.items())]
    return " ".join(["sed -i", *(f"-e {shlex.quote(order)}" for order in orders), name])
