"""Git repositories for fixtures, written without git: loose objects, one branch, no remote, no index.

The formats are those of git's documentation (gitformat-loose, git-hash-object); the same commits give the same
names of objects everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from rlsh.tasks.shell.packed import zlibbed
from rlsh.tasks.world import text
from rlsh.types import Entry, Tree

CONFIG = ("[core]", "\trepositoryformatversion = 0", "\tfilemode = true", "\tbare = false")
MODES = {0o644: "100644", 0o755: "100755"}


@dataclass(frozen=True)
class Commit:
    """All files as they are at this commit. `author` is one lower-case word, `time` seconds since 1970, UTC."""

    files: Tree
    author: str
    time: int
    message: str


def repository(commits: Sequence[Commit], tags: Sequence[tuple[str, int]] = ()) -> dict[str, Entry]:
    """The `.git` of a branch `main` with these commits, oldest first, and the files of the last beside it.

    A tag is a name and the index of its commit.
    """
    objects: dict[str, Entry] = {}
    names: list[str] = []
    for commit in commits:
        who = f"{commit.author.capitalize()} <{commit.author}@mail.net> {commit.time} +0000"
        head = [f"tree {_write_tree(commit.files, objects)}", *(f"parent {name}" for name in names[-1:])]
        body = "\n".join([*head, f"author {who}", f"committer {who}", "", commit.message, ""])
        names.append(_write("commit", body.encode(), objects))
    refs = {f".git/refs/tags/{tag}": text(names[at]) for tag, at in tags}
    return {
        ".git/HEAD": text("ref: refs/heads/main"),
        ".git/config": text(*CONFIG),
        ".git/refs/heads/main": text(names[-1]),
        **refs,
        **objects,
        **commits[-1].files,
    }


def _write(kind: str, content: bytes, objects: dict[str, Entry]) -> str:
    """Adds an object; its name, in hexadecimal."""
    raw = f"{kind} {len(content)}\0".encode() + content
    name = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
    objects[f".git/objects/{name[:2]}/{name[2:]}"] = Entry(zlibbed(raw), 0o444)
    return name


def _write_tree(files: Tree, objects: dict[str, Entry]) -> str:
    """Adds the tree of `files`, blobs and subtrees included; its name."""
    folders: dict[str, dict[str, Entry]] = {}
    rows: dict[str, bytes] = {}  # by what git sorts them by: a folder as if its name ended in a slash
    for path, entry in files.items():
        top, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(top, {})[rest] = entry
        else:
            blob = _write("blob", entry.content, objects)
            rows[top] = f"{MODES[entry.mode]} {top}\0".encode() + bytes.fromhex(blob)
    for top, inner in folders.items():
        rows[f"{top}/"] = f"40000 {top}\0".encode() + bytes.fromhex(_write_tree(inner, objects))
    return _write("tree", b"".join(rows[key] for key in sorted(rows)), objects)
