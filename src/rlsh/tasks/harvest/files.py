"""Which files of a tree are scripts: read as text, never imported and never run."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rlsh.types import RlshError

Language = Literal["python", "shell"]

MAX_BYTES = 200_000
NOT_ENTERED = set(
    ".git .hg .svn .venv venv .tox .nox node_modules site-packages __pycache__ .mypy_cache .pytest_cache .ruff_cache "
    ".eggs".split()
)
SUFFIXES: dict[str, Language] = {".py": "python", ".sh": "shell", ".bash": "shell"}
SHEBANG = re.compile(rb"#!\s*\S*?/(?:env\s+(?:-S\s+)?)?(?:(python)[\d.]*|(?:ba|da|k|z)?sh)\b")
HEAD_BYTES = 128  # holds a shebang
LICENCES = {
    "MIT": "Permission is hereby granted, free of charge",
    "Apache-2.0": "Apache License",
    "GPL-3.0": "GNU GENERAL PUBLIC LICENSE Version 3",
    "GPL-2.0": "GNU GENERAL PUBLIC LICENSE Version 2",
    "BSD": "Redistribution and use in source and binary forms",
    "MPL-2.0": "Mozilla Public License",
    "Unlicense": "This is free and unencumbered software",
}


@dataclass(frozen=True)
class SourceFile:
    """A script: its path relative to the root, with slashes, and its text with newlines alone as line ends."""

    path: str
    language: Language
    text: str


@dataclass(frozen=True)
class Skipped:
    path: str
    reason: str


@dataclass(frozen=True)
class SourceTree:
    """The scripts of a tree and everything else in it, both sorted by path."""

    files: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...]
    licence: str


def source_tree(root: Path) -> SourceTree:
    """Reads the scripts under `root`; writes nothing. Links are not followed: what they lead to inside is met anyway.

    Raises RlshError where `root` is no folder that can be read.
    """
    if not root.is_dir():
        raise RlshError(f"{root} is not a folder: name one that holds scripts")
    found: list[SourceFile | Skipped] = sorted(_walk(root, root.resolve()), key=lambda file: file.path)
    files = tuple(file for file in found if isinstance(file, SourceFile))
    return SourceTree(files, tuple(file for file in found if isinstance(file, Skipped)), _licence(root))


def _walk(root: Path, real: Path) -> Iterator[SourceFile | Skipped]:
    refused: list[Skipped] = []

    def unreadable(error: OSError) -> None:
        refused.append(Skipped(Path(error.filename).relative_to(root).as_posix(), f"unreadable: {error.strerror}"))

    for at, folders, names in os.walk(root, onerror=unreadable):
        here = Path(at)
        for name in sorted(folders):
            path = (here / name).relative_to(root).as_posix()
            if (here / name).is_symlink():
                yield Skipped(path, _of_link(here / name, real))
            elif name in NOT_ENTERED or (here / name / "pyvenv.cfg").is_file():
                folders.remove(name)
                yield Skipped(f"{path}/", "not the tree's own: not entered")
        for name in names:
            yield _read(here / name, (here / name).relative_to(root).as_posix(), real)
    yield from refused


def _read(file: Path, path: str, real: Path) -> SourceFile | Skipped:
    try:
        info = file.lstat()
        if stat.S_ISLNK(info.st_mode):
            return Skipped(path, _of_link(file, real))
        if not stat.S_ISREG(info.st_mode):  # opening a pipe would wait for ever
            return Skipped(path, "no regular file")
        language = SUFFIXES.get(file.suffix) or _by_shebang(file, info.st_mode)
        if language is None:
            return Skipped(path, "no script")
        if info.st_size > MAX_BYTES:
            return Skipped(path, f"larger than {MAX_BYTES} bytes")
        content = file.read_bytes()
    except OSError as error:
        return Skipped(path, f"unreadable: {error.strerror}")
    if b"\0" in content:
        return Skipped(path, "binary")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Skipped(path, "not UTF-8")
    return SourceFile(path, language, text.replace("\r\n", "\n").replace("\r", "\n"))


def _of_link(link: Path, real: Path) -> str:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: a loop, up to Python 3.12
        return "link that leads nowhere"
    return "link inside the tree" if target.is_relative_to(real) else "link that leaves the tree"


def _by_shebang(file: Path, mode: int) -> Language | None:
    if file.suffix or not mode & 0o111:
        return None
    with file.open("rb") as opened:
        found = SHEBANG.match(opened.read(HEAD_BYTES))
    if found is None:
        return None
    return "python" if found[1] else "shell"


def _licence(root: Path) -> str:
    """The SPDX name of the licence in the root, "unknown" where there is none that is recognised."""
    for file in sorted(root.iterdir()):
        if re.fullmatch(r"(licen[cs]e|copying)(\.(txt|md|rst))?", file.name, re.IGNORECASE) and _readable(file):
            text = " ".join(file.read_text(encoding="utf-8", errors="replace").split())
            for name, phrase in LICENCES.items():
                if phrase in text:
                    return name
    return "unknown"


def _readable(file: Path) -> bool:
    return stat.S_ISREG(file.lstat().st_mode) and file.stat().st_size <= MAX_BYTES and os.access(file, os.R_OK)
