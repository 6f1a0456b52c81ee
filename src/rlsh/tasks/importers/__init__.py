"""Public sets of broken functions, read as problems. Nothing of them is run here; `env/importing.py` tries them."""

from collections.abc import Callable
from pathlib import Path

from rlsh.tasks.importers.humanevalfix import read_humanevalfix
from rlsh.tasks.importers.mbpp import read_mbpp
from rlsh.tasks.importers.problem import Problem
from rlsh.tasks.importers.quixbugs import read_quixbugs

READERS: dict[str, Callable[[Path], tuple[list[Problem], dict[str, list[str]]]]] = {
    "humanevalfix": read_humanevalfix,
    "quixbugs": read_quixbugs,
    "mbpp": read_mbpp,
}

__all__ = ["READERS", "Problem", "read_humanevalfix", "read_mbpp", "read_quixbugs"]
