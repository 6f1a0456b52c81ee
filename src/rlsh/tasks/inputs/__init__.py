"""Inputs for Python functions: drawn by hand-written makers, or by what a signature tells."""

from rlsh.tasks.inputs.draw import Draw
from rlsh.tasks.inputs.signature import from_annotations, from_name

__all__ = ["Draw", "from_annotations", "from_name"]
