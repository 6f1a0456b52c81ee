"""Folders below the system's temporary one: what a killed owner leaves there, the next start removes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

from rlsh.sandbox.base import Closing

NEW = "new-"  # before the name of a folder that is not held yet


class HeldFolder(Closing):
    """A new folder of our own, `path`, mode 0700. Those of the same prefix that nobody holds are removed before."""

    def __init__(self, prefix: str) -> None:
        """Raises OSError where none can be made."""
        remove_abandoned(prefix)
        fresh = Path(tempfile.mkdtemp(prefix=NEW + prefix))
        self._fd = hold(fresh)
        # named last: another start would take it for abandoned until it is held
        self.path = fresh.rename(fresh.with_name(fresh.name.removeprefix(NEW)))

    def close(self) -> None:
        """Only the first call does anything."""
        if self._fd >= 0:
            remove(self.path)
            os.close(self._fd)
            self._fd = -1


def hold(folder: Path) -> int:
    """A descriptor that marks the folder as in use. Raises OSError where somebody else uses or owns it."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(fd).st_uid != os.geteuid():
            raise PermissionError(f"{folder} is another user's")
    except OSError:
        os.close(fd)
        raise
    return fd


def remove_abandoned(prefix: str) -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            fd = hold(folder)
            remove(folder)
            os.close(fd)


def remove(folder: Path) -> None:
    """Whatever a command has made of it: by the two programs that mind neither modes nor depth."""
    for command in ("chmod -R u+rwX --", "rm -rf --"):
        subprocess.run([*command.split(), str(folder)], stderr=subprocess.DEVNULL, check=False)
