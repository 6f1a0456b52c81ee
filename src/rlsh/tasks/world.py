"""Names and fixtures that tasks and sessions are drawn from.

Every word belongs to one of two disjoint pools by its checksum: what held-out tasks are named after and filled
with is never drawn anywhere else, so copying an unseen name is part of what they test.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass
from typing import Literal

from rlsh.types import Entry, Tree

Pool = Literal["train", "held_out"]

_ONSETS = "b c d f g h j k l m n p r s t v w z br ch cl dr fl gr pl pr sh sl sn st th tr".split()
_CODAS = ["", "", "", "n", "r", "l", "s", "t", "m", "k", "nd", "st"]


def pool_of(word: str) -> Pool:
    return "held_out" if zlib.crc32(word.encode()) % 5 == 0 else "train"


@dataclass(frozen=True)
class World:
    """A seeded source of names, lines and small files, all from one pool."""

    rng: random.Random
    pool: Pool

    def word(self) -> str:
        """An invented word of two syllables: about 200,000 exist, too many to be learned by heart, and what is
        known by heart is no longer copied."""
        while True:
            syllables = "".join(self.rng.choice(_ONSETS) + self.rng.choice("aeiou") for _ in range(2))
            word = syllables + self.rng.choice(_CODAS)
            if pool_of(word) == self.pool:
                return word

    def words(self, n: int) -> list[str]:
        """`n` distinct words."""
        found: dict[str, None] = {}
        while len(found) < n:
            found[self.word()] = None
        return list(found)

    def name(self, *extensions: str) -> str:
        return f"{self.word()}.{self.rng.choice(extensions or ('txt', 'log', 'md', 'dat'))}"

    def size(self, low: int = 3, high: int = 5) -> int:
        return self.rng.randint(low, high)

    def lines(self, n: int, width: int = 2) -> list[str]:
        """`n` lines of 1 to `width` words."""
        return [" ".join(self.word() for _ in range(self.rng.randint(1, width))) for _ in range(n)]

    def numbers(self, n: int) -> list[str]:
        """`n` distinct integers of one to three digits whose text order differs from their numeric order."""
        while True:
            found = self.rng.sample([*range(2, 10), *range(10, 100), *range(100, 400)], n)
            texts = [str(x) for x in found]
            by_number = [str(x) for x in sorted(found)]
            if sorted(texts) != by_number and texts != by_number:
                return texts


def text(*lines: str) -> Entry:
    """A text file of `lines`, each ended by a newline."""
    return Entry("".join(line + "\n" for line in lines).encode())


def folder() -> Entry:
    return Entry(b"", 0o755, "dir")


def script(*lines: str, mode: int = 0o644) -> Entry:
    return Entry("".join(line + "\n" for line in lines).encode(), mode)


def with_parents(files: Tree) -> dict[str, Entry]:
    """`files` with an entry for every folder that their paths pass through."""
    out: dict[str, Entry] = {}
    for path, entry in files.items():
        parts = path.split("/")
        for depth in range(1, len(parts)):
            out.setdefault("/".join(parts[:depth]), folder())
        out[path] = entry
    return dict(sorted(out.items()))
