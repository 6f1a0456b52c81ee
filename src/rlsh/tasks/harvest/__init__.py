"""References and broken pipelines from scripts that somebody wrote: read as text, never imported, never run here."""

from rlsh.tasks.harvest.files import Skipped, SourceFile, SourceTree, source_tree
from rlsh.tasks.harvest.outcome import Harvested, Rejected, UnfitError
from rlsh.tasks.harvest.python import harvest_python
from rlsh.tasks.harvest.secrets import secret_in

__all__ = [
    "Harvested",
    "Rejected",
    "Skipped",
    "SourceFile",
    "SourceTree",
    "UnfitError",
    "harvest_python",
    "secret_in",
    "source_tree",
]
