"""What candidates see of this machine beside its system: folders of the user's programs, and perhaps a Python.

Both are bound by a worker, before the candidate's uid is taken on: they may lie in a home that nobody else can enter.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rlsh.sandbox.worker.launch import ENVIRONMENT, LINKS
from rlsh.types import RlshError

PACKAGE = Path(__file__).parents[1]
SYSTEM_PYTHON = Path("/usr/bin/python3")
OLDEST_PYTHON = (3, 8)  # what `env/runner.py` is written for
PYTHON_VERSION = "import sys; print(*sys.version_info[:3])"
TOOLS = "/opt/tools"
ALONE = "name a folder that holds the programs alone"
KERNELS = ("/proc", "/sys", "/dev", "/run")
MOUNTED_OVER = ("/dev", "/etc", "/proc", "/tmp", "/work")  # inside, by what is the sandbox's own
SECRET_NAMES = {".git", ".env", ".netrc", ".ssh", ".gnupg", ".aws"}  # histories, keys and passwords


@dataclass(frozen=True)
class View:
    """What a worker is told of the root that it makes for candidates."""

    bound: Mapping[str, str] = field(default_factory=dict)  # place inside -> folder of the host, read-only
    hidden: tuple[str, ...] = ()  # folders that candidates find empty
    path: str = ENVIRONMENT["PATH"]
    python: str = ""  # what `python3` is made a link to; "" where PATH leads to the right one by itself


def look(tools: Sequence[Path] = ()) -> View:
    """The view of candidates who are offered `tools`. Raises RlshError as `offered` does."""
    bound = {place: str(folder) for place, folder in offered(tools).items()}
    path = search_path(bound)
    # Candidates can read /usr. An installed rlsh may lie there, or a clone with its task files and their checks.
    here = [Path.cwd()] if len(Path.cwd().parts) > 3 else []  # not /usr/bin itself
    hidden = [folder for folder in (PACKAGE, *here) if folder.is_relative_to("/usr")]
    python, prefix = choose_python()
    if prefix is not None:
        bound[str(prefix)] = str(prefix)
        hidden += site_packages(prefix)
    found = shutil.which("python3", path=ENVIRONMENT["PATH"])
    if not python or (found is not None and Path(found).samefile(python)):
        return View(bound, tuple(map(str, hidden)), path)
    return View(bound, tuple(map(str, hidden)), f"{LINKS}:{path}", python)


def search_path(tools: Iterable[str]) -> str:
    """The candidates' PATH. What users bring comes last: it cannot stand in for `ls`."""
    return ":".join([ENVIRONMENT["PATH"], *tools])


# --- the user's tools ----------------------------------------------------------------------------------------


def offered(tools: Sequence[Path], private: Iterable[Path] = ()) -> dict[str, Path]:
    """The folders that `tools` names, links resolved, by the place where candidates find them: /opt/tools/NAME.

    `private` are files and folders that no candidate may read, as are always the working directory, the temporary
    one, the home and rlsh itself. Raises RlshError where a folder is none, holds what it should not show, or cannot
    stand on a PATH.
    """
    found: dict[str, Path] = {}
    private = [*never_shown(), PACKAGE, *private]
    for tool in tools:
        place = f"{TOOLS}/{tool.name}"
        why = objection(tool, private)
        if why is None and place in found:
            why = f"would be {place}, as {found[place]} is: name one of them through a link of another name"
        if why is not None:
            raise RlshError(f"tools: {tool} {why}")
        found[place] = tool.resolve()
    return found


def never_shown() -> list[Path]:
    """The working directory, where runs and tasks lie, everybody's temporary one, and the home, if there is one."""
    found = [Path.cwd(), Path(tempfile.gettempdir())]
    with contextlib.suppress(RuntimeError):
        found.append(Path.home())
    return found


def objection(tool: Path, private: Iterable[Path]) -> str | None:
    """Why a folder may not be offered to candidates, and the way out."""
    if not tool.is_absolute():
        return f"is relative: write {Path.cwd() / tool}"
    try:
        mode = tool.stat().st_mode
    except OSError as error:
        return f"cannot be used ({error.strerror}): name a folder that is there"
    if not stat.S_ISDIR(mode):
        return "is no folder: name the one that holds it, and nothing else"
    if not re.fullmatch(r"\w[\w.+-]*", tool.name, re.ASCII):
        return "has a name that a PATH may not hold: name it through a link of another name"
    folder = tool.resolve()
    if secret := next((path for path in private if path.resolve().is_relative_to(folder)), None):
        return f"holds {secret}, which no candidate may read: {ALONE}"
    if any(folder.is_relative_to(path) for path in KERNELS):
        return f"is the kernel's, not a folder of programs: {ALONE}"
    if os.geteuid() == 0 and mode & 0o5 != 0o5:
        return f"cannot be read by candidates, who are never root: chmod o+rx {tool}"
    return next((f"holds {path}, {why}: {ALONE}" for path, why in misplaced(folder)), None)


def misplaced(folder: Path) -> Iterator[tuple[Path, str]]:
    """What lies below `folder` and may not be shown, and why."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if name in SECRET_NAMES:
                yield path, "which holds secrets"
            elif stat.S_IFMT(path.lstat().st_mode) in (stat.S_IFSOCK, stat.S_IFIFO):
                yield path, "through which candidates would reach what listens there"  # read-only mounts do not help


# --- the candidates' Python ----------------------------------------------------------------------------------


def python_version(python: Path) -> tuple[int, ...]:
    """(3, 11, 2), say; () where it does not run."""
    command = [str(python), "-I", "-S", "-c", PYTHON_VERSION]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        return tuple(map(int, run.stdout.split()))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ()


def choose_python() -> tuple[str, Path | None]:
    """The Python that candidates get, and the folder that has to be bound for it if it is not the system's.

    The running interpreter's is bound where it lies, since an installation may know its own place. ("", None) where
    there is none, or that would show too much, or be mounted over: candidates then have what their PATH leads to.
    """
    if python_version(SYSTEM_PYTHON) >= OLDEST_PYTHON:
        return str(SYSTEM_PYTHON), None
    prefix = Path(sys.base_prefix).resolve()
    python = prefix / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    if not python.exists():
        return "", None
    if prefix.is_relative_to("/usr"):
        return str(python), None
    private = [*never_shown(), *([] if "site-packages" in PACKAGE.parts else [PACKAGE])]
    shown = any(path.resolve().is_relative_to(prefix) for path in private)
    if shown or any(prefix.is_relative_to(path) for path in MOUNTED_OVER):
        return "", None
    return str(python), prefix


def site_packages(prefix: Path) -> set[Path]:
    """What is installed into a Python is not part of it, and rlsh may be."""
    found = {path.resolve() for path in prefix.glob("lib*/python*/site-packages")}
    return {path for path in found if path.is_relative_to(prefix)}
