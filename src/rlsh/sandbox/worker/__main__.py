"""`python -I -S worker/ …` starts a worker: see `serve`.

Started by path, with neither site-packages nor the directory above: rlsh cannot be imported here, and need not be.
The packages on the way to `serve` are stood in for by empty ones, so that its imports read as anywhere else and
nothing but the files of this directory is loaded: a worker is forked at every command, and small forks are fast.
"""

import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
for name, folder in (("rlsh", HERE.parents[1]), ("rlsh.sandbox", HERE.parent), ("rlsh.sandbox.worker", HERE)):
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package

from rlsh.sandbox.worker.serve import main  # noqa: E402

main()
