"""Plain text that lies on a Debian machine: manuals, shell scripts, Python sources.

| source  | where                              | licences (each package's is in /usr/share/doc/PACKAGE/copyright)      |
|---------|------------------------------------|-----------------------------------------------------------------------|
| manuals | /usr/share/man/man1                | GPL-3.0-or-later (bash, coreutils, diffutils, grep, sed, tar, gzip),  |
|         |                                    | GFDL-1.3-no-invariants-or-later (findutils), GPL-2.0 (mawk),          |
|         |                                    | BSD-3-Clause (dash), GPL-2.0-or-later or public domain (debianutils)  |
| scripts | /usr/bin, /usr/sbin, /etc/init.d   | what the packages there have: mostly GPL-2.0-or-later and             |
|         |                                    | GPL-3.0-or-later (gzip, grep, debianutils, dpkg, procps), also MIT    |
|         |                                    | (xdg-utils), BSD (bzip2, zstd), MPL-2.0, public domain                |
| python  | the interpreter's standard library | PSF-2.0                                                               |
"""

from __future__ import annotations

import gzip
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from rlsh.types import RlshError

MANUALS = """
bash cat chmod cp cut date df diff du echo env false find grep gzip head id ln ls mkdir mv nl od paste printf
pwd rm rmdir sed seq sh sort stat tail tar tee test touch tr true uniq wc which xargs awk mawk dash comm join
""".split()
_COMMENT = re.compile(r"^[.']?\\\".*\n?|\\\".*", re.MULTILINE)
_REQUEST = re.compile(r"^[.']\s*\S*\s?")
# font, size and string escapes with their argument; then a named glyph; then one character
_ESCAPE = re.compile(r"\\(?:f(?:\(..|\[[^]]*\]|.)|s[-+]?\d+|\*(?:\(..|\[[^]]*\]|.)|\((..)|(.))")
_GLYPHS = {"aq": "'", "cq": "'", "oq": "'", "dq": '"', "lq": '"', "rq": '"', "rs": "\\", "ti": "~", "ha": "^"}
_CHARACTERS = {"e": "\\", "\\": "\\", "-": "-", ".": ".", "'": "'", "`": "`", " ": " ", "~": " ", "0": " "}


def _unescaped(escape: re.Match[str]) -> str:
    glyph, character = escape.groups(default="")
    return _GLYPHS.get(glyph, "") + _CHARACTERS.get(character, "")


def manual_text(source: str) -> str:
    """Roff source -> readable text: comments, requests and font changes dropped, the words and examples kept."""
    lines = [
        _REQUEST.sub("", line) if line[:1] in (".", "'") else line for line in _COMMENT.sub("", source).splitlines()
    ]
    text = "\n".join(_ESCAPE.sub(_unescaped, line).rstrip() for line in lines)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def manuals() -> Iterator[str]:
    """The texts of `MANUALS`, those that are installed."""
    for name in MANUALS:
        for path in (Path(f"/usr/share/man/man1/{name}.1.gz"), Path(f"/usr/share/man/man1/{name}.1posix.gz")):
            if path.exists():
                yield manual_text(gzip.decompress(path.read_bytes()).decode(errors="replace"))


def scripts() -> Iterator[str]:
    """Shell scripts of at most 40,000 bytes."""
    for folder in ("/usr/bin", "/usr/sbin", "/etc/init.d"):
        for path in sorted(Path(folder).glob("*")):
            if path.is_symlink() or not path.is_file() or path.stat().st_size > 40_000:
                continue
            head = path.read_bytes()[:64]
            if head.startswith(b"#!") and re.match(rb"#!\s*\S*/(?:env )?(?:ba|da)?sh\b", head):
                yield path.read_text(encoding="utf-8", errors="replace")


def python_sources(limit: int = 25) -> Iterator[str]:
    """The standard library's first `limit` modules by name."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:limit]:
        yield path.read_text(encoding="utf-8", errors="replace")


def debian_texts(chunk: int = 1500) -> Iterator[str]:
    """Documents of at most `chunk` characters, cut at line ends, sources one after another."""
    for source in (manuals, scripts, python_sources):
        for text in source():
            yield from chunks(text, chunk)


def chunks(text: str, size: int) -> Iterator[str]:
    """`text` in pieces of at most `size` characters, cut at line ends; a longer line is a piece of its own."""
    held: list[str] = []
    length = 0
    for line in text.splitlines(keepends=True):
        if length + len(line) > size and held:
            yield "".join(held)
            held, length = [], 0
        held.append(line)
        length += len(line)
    if held:
        yield "".join(held)


def texts_under(paths: list[Path], chunk: int = 1500) -> Iterator[str]:
    """Documents of the UTF-8 files at or below `paths`. Raises RlshError on a path that is missing or not text."""
    for root in paths:
        if not root.exists():
            raise RlshError(f"{root}: no such file or folder")
        for path in sorted(p for p in root.rglob("*") if p.is_file()) if root.is_dir() else [root]:
            try:
                yield from chunks(path.read_text(encoding="utf-8"), chunk)
            except UnicodeDecodeError:
                if path == root:
                    raise RlshError(f"{path}: not UTF-8 text") from None
