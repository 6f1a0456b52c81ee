"""References and broken pipelines from scripts that somebody wrote: read as text, never imported, never run here."""

from rlsh.tasks.harvest.files import Skipped, SourceFile, SourceTree, source_tree
from rlsh.tasks.harvest.outcome import Harvested, Rejected, UnfitError
from rlsh.tasks.harvest.python import harvest_python, loading_mutants
from rlsh.tasks.harvest.secrets import secret_in
from rlsh.tasks.harvest.shell import HarvestedPipeline, harvest_shell

__all__ = [
    "Harvested",
    "HarvestedPipeline",
    "Rejected",
    "Skipped",
    "SourceFile",
    "SourceTree",
    "UnfitError",
    "harvest_python",
    "harvest_shell",
    "loading_mutants",
    "secret_in",
    "source_tree",
]
