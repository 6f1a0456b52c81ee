"""What a family of broken shell commands draws, from which a task is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rlsh.tasks.checks import Compare
from rlsh.tasks.world import World
from rlsh.types import Tree

STDOUT: tuple[Compare, ...] = ("stdout", "tree")
TREE: tuple[Compare, ...] = ("tree",)


@dataclass(frozen=True)
class Draft:
    """What is wanted, the command somebody typed, the command that does it, and a maker of fixtures that is called
    with the same names and other contents: once for the policy to see, then for the verdict.

    `looks` are sensible commands to look around with, `slips` plausible repairs that are wrong.

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


Family: TypeAlias = Callable[[World], Draft]
