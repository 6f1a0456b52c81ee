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

_WORDS = """
account acorn alert alley amber anchor apple april apron arch armor arrow aspen atlas autumn badge bagel bakery
bamboo banjo barley barn basil basket batch beach beacon bear berry birch blanket bloom board bottle branch bread
breeze brick bridge bronze brook broom brush bucket budget butter button cabin cable cactus camel camera candle
canyon carbon cargo carpet carrot castle cedar cellar chalk chart cherry chess chorus cider circle citrus clay
cliff clock cloud clover coast cobalt cobra coffee comet copper coral cotton cousin crane crater crayon cream
creek cricket crystal daisy dawn delta desert diary dolphin dragon drum eagle earth echo elbow ember engine fabric
falcon feather fennel fern ferry fiddle field finch flame flute forest fossil fox garden garlic gate geyser ginger
glacier goose granite grape gravel guitar hammer harbor hazel heron honey hotel igloo indigo invoice iron island
ivory jacket jasmine jungle kernel kettle kitten ladder lagoon lantern laurel leaf ledger lemon lily linen lizard
lobster lotus magnet mango maple marble market meadow melon mentor meteor mill mint mirror mitten monkey morning
mosaic moss motor museum mustard napkin nectar needle nickel night north notes nutmeg oak oasis ocean olive onion
orange orbit orchid order otter owl oyster paddle palace panda paper parrot pasta peach pearl pebble pencil pepper
piano picnic pigeon pillow pine planet plum pocket polar pony poplar poppy prism pumpkin quartz queen rabbit radar
radish rain raven record ribbon river robin rocket rope rose ruby saddle saffron sailor salmon sand satin scarf
school season shadow shell shore signal silk silver sky slate snow socket spark spice spruce squash stable staff
station stone storm summer sun swan table tango teapot thunder ticket tiger timber tomato torch tower trail train
tulip tunnel turkey turtle valley vanilla velvet vessel violet wagon walnut water whale wheat willow window winter
wolf wood yarn yellow zebra zinc
""".split()
_ONSETS = "b c d f g h j k l m n p r s t v w z br ch cl dr fl gr pl pr sh sl sn st th tr".split()
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "oo"]
_CODAS = ["", "", "", "n", "r", "l", "s", "t", "m", "k", "nd", "st"]
ENGLISH = 0.15


def pool_of(word: str) -> Pool:
    return "held_out" if zlib.crc32(word.encode()) % 5 == 0 else "train"


@dataclass(frozen=True)
class World:
    """A seeded source of names, lines and small files, all from one pool."""

    rng: random.Random
    pool: Pool

    def word(self) -> str:
        """A word of this pool, English or invented. Few are English: a list that short is learned by heart, and
        what is known by heart is no longer copied."""
        while True:
            word = self.rng.choice(_WORDS) if self.rng.random() < ENGLISH else self._invented()
            if pool_of(word) == self.pool:
                return word

    def _invented(self) -> str:
        syllables = self.rng.choice((1, 2, 2, 3))
        return "".join(self.rng.choice(_ONSETS) + self.rng.choice(_VOWELS) for _ in range(syllables)) + (
            self.rng.choice(_CODAS)
        )

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
