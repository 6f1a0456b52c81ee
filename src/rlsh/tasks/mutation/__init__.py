"""Mutation: from a function that is right, functions that are wrong the way people get them wrong.

Text in, mutants out: nothing is run here, so whether a mutant behaves otherwise than its source is not known here.
"""

from rlsh.tasks.mutation.faults import Mutant, double_fault, mutants
from rlsh.tasks.mutation.normal import normalised
from rlsh.tasks.mutation.operators import FAMILY, OPERATORS
from rlsh.tasks.mutation.subject import MutationError

__all__ = ["FAMILY", "OPERATORS", "Mutant", "MutationError", "double_fault", "mutants", "normalised"]
