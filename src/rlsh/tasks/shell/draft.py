"""What a family of broken shell commands draws, from which a task is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rlsh.tasks.checks import Compare
from rlsh.tasks.world import World
from rlsh.types import ToolCall, Tree, exec_call

STDOUT: tuple[Compare, ...] = ("stdout", "tree")
TREE: tuple[Compare, ...] = ("tree",)


@dataclass(frozen=True)
class Draft:
    """What is wanted, the command somebody typed, the command (or calls, in order) that does it, and a maker of
    fixtures that is called with the same names and other contents: once for the policy to see, then for the verdict.

    `looks` are sensible commands to look around with, `slips` plausible repairs that are wrong, `faults` the kinds of
    what is broken.

    With `must_look` the repair cannot be known before the first of `looks` has shown it. With `script` the fault is in
    that file of the fixtures: `broken` runs it, and does so again on the repaired one for the verdict.
    """

    instruction: str
    broken: str
    repair: str | tuple[ToolCall, ...]
    fixtures: Callable[[World], Tree]
    compare: tuple[Compare, ...] = STDOUT
    looks: tuple[str, ...] = ()
    slips: tuple[str, ...] = ()
    must_look: bool = False
    faults: tuple[str, ...] = ()
    script: str = ""

    @property
    def reference(self) -> tuple[ToolCall, ...]:
        look = (exec_call(self.looks[0]),) if self.must_look else ()
        return (*look, exec_call(self.repair)) if isinstance(self.repair, str) else (*look, *self.repair)


Family: TypeAlias = Callable[[World], Draft]
