"""Small, realistic values with the cases mixed in that break code: none, one, twice the same, the ends of a range.

All of them are plain data: None, bool, int, float, str, bytes and containers of them.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any, TypeVar

T = TypeVar("T")
K = TypeVar("K", str, int)

WORDS = (
    "a an at be by in it of on to and the not red sea tea ant ace eel apple apply banana river stone level noon "
    "kayak garden winter summer silver bottle letter yellow planet Monday Berlin README error warning status value "
    "total count item label queue server worker deploy branch commit merge naïve Zoë größe über café"
).split()
NAMES = "Ada Alan Bo Grace Ines Ivan Jo Linus Mary Noor Olga Per Rosa Tim Ute Zoë".split()
SURNAMES = "Berg Cole Diaz Eng Fox Ito Kant Lee Moreau Novak Oduya Park Ruiz Šimić Wu".split()
KEYS = "name size color user host port path mode level debug limit owner price tags city".split()
EXTENSIONS = ".txt .py .md .csv .log .tar.gz .JPG".split()


class Draw:
    """Values from one random generator. Counts and bounds include both ends."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, options: Sequence[T]) -> T:
        """One of `options`, as a copy: what is drawn shares nothing with another draw."""
        return copy.deepcopy(self.rng.choice(options))

    def number(self, low: int, high: int) -> int:
        """An integer; one time in six an end of the range."""
        return self.rng.choice((low, high)) if self.chance(1 / 6) else self.rng.randint(low, high)

    def real(self, low: float, high: float, places: int = 1) -> float:
        """A float of at most `places` decimals."""
        unit = float(f"1e{places}")
        return self.number(round(low * unit), round(high * unit)) / unit

    def many(self, make: Callable[[], T], most: int = 6, least: int = 0) -> list[T]:
        """`least` to `most` values, the fewest one time in ten, now and then one of them twice."""
        count = least if least == most or self.chance(0.1) else self.rng.randint(least + 1, most)
        found = [make() for _ in range(count)]
        if count > 1 and self.chance(0.3):
            i, j = self.rng.sample(range(count), 2)
            found[i] = copy.deepcopy(found[j])
        return found

    def distinct(self, make: Callable[[], K], most: int = 6, least: int = 0) -> list[K]:
        """Like `many`, without repetition; fewer where `make` knows too few values."""
        return list(dict.fromkeys(self.many(make, most, least)))

    def ints(self, low: int, high: int, most: int = 8, least: int = 0) -> list[int]:
        """Integers, sometimes sorted, reversed or all equal."""
        return self._arranged(self.many(lambda: self.number(low, high), most, least))

    def reals(self, low: float, high: float, most: int = 8, least: int = 0, places: int = 1) -> list[float]:
        """Floats, arranged like `ints`."""
        return self._arranged(self.many(lambda: self.real(low, high, places), most, least))

    def _arranged(self, values: list[Any]) -> list[Any]:
        shape = self.rng.random()
        if shape < 0.15:
            return sorted(values, reverse=shape < 0.05)
        return values[:1] * len(values) if shape < 0.2 else values

    def word(self) -> str:
        return self.rng.choice(WORDS)

    def words(self, most: int = 6, least: int = 0) -> list[str]:
        return self.many(self.word, most, least)

    def letters(self, alphabet: str, most: int = 8, least: int = 0) -> str:
        """A string of characters of `alphabet`."""
        return "".join(self.many(lambda: self.rng.choice(alphabet), most, least))

    def key(self) -> str:
        return self.rng.choice(KEYS)

    def name(self) -> str:
        """A first name and mostly a surname."""
        first = self.rng.choice(NAMES)
        return first if self.chance(0.2) else f"{first} {self.rng.choice(SURNAMES)}"

    def sentence(self, most: int = 8) -> str:
        """Words with a capital, punctuation and sometimes more than one space in a row; now and then empty."""
        words = self.words(most)
        spaced = "".join(word + self.rng.choice((" ", " ", " ", ", ", "  ")) for word in words[:-1]) + "".join(
            words[-1:]
        )
        return spaced[:1].upper() + spaced[1:] + self.rng.choice((".", ".", "!", "?", "")) if words else ""

    def line(self, most: int = 4) -> str:
        """A few words; now and then empty, blank or indented."""
        return self.rng.choice(("", "", "", "", "", "", "  ", "\t")) + " ".join(self.words(most))

    def lines(self, most: int = 6, least: int = 0) -> list[str]:
        return self.many(self.line, most, least)

    def text(self, most: int = 6) -> str:
        """Lines, mostly with a newline after the last."""
        return "\n".join(self.lines(most)) + self.rng.choice(("\n", "\n", ""))

    def rows(self, columns: Sequence[Callable[[], object]], most: int = 5, least: int = 0) -> list[list[Any]]:
        """Rows of one value from each of `columns`."""
        return self.many(lambda: [make() for make in columns], most, least)

    def records(self, fields: dict[str, Callable[[], object]], most: int = 5, least: int = 0) -> list[dict[str, Any]]:
        """Dicts of one value for each of `fields`."""
        return self.many(lambda: {key: make() for key, make in fields.items()}, most, least)

    def mapping(self, key: Callable[[], K], value: Callable[[], T], most: int = 5, least: int = 0) -> dict[K, T]:
        return {k: value() for k in self.distinct(key, most, least)}

    def nested(self, leaf: Callable[[], object], depth: int = 3, most: int = 4) -> list[Any]:
        """Lists within lists, down to `depth` of them."""

        def item() -> object:
            return self.nested(leaf, depth - 1, most) if depth > 1 and self.chance(0.4) else leaf()

        return self.many(item, most)

    def config(self, leaf: Callable[[], object], depth: int = 2, most: int = 4) -> dict[str, Any]:
        """Dicts within dicts, down to `depth` of them, as settings have them."""

        def value() -> object:
            return self.config(leaf, depth - 1, most) if depth > 1 and self.chance(0.4) else leaf()

        return self.mapping(self.key, value, most)

    def matrix(self, cell: Callable[[], T], rows: int, columns: int) -> list[list[T]]:
        return [[cell() for _ in range(columns)] for _ in range(rows)]

    def interval(self, low: int, high: int) -> list[int]:
        """A start and an end, `low` <= start <= end <= `high`."""
        return sorted(self.number(low, high) for _ in range(2))

    def intervals(self, low: int, high: int, most: int = 6) -> list[list[int]]:
        return self.many(lambda: self.interval(low, high), most)

    def file(self) -> str:
        return self.word() + self.rng.choice(EXTENSIONS)

    def path(self, most: int = 4) -> str:
        """A POSIX path, relative or absolute, that need not be in normal form."""
        parts = [self.rng.choice(("src", "docs", "data", "a", "b", "..", ".", "")) for _ in range(self.number(0, most))]
        return self.rng.choice(("", "", "/")) + "/".join([*parts, self.file()])

    def day(self, first: str = "2019-12-01", last: str = "2024-03-31") -> str:
        """An ISO date; often the end of a month."""
        start, end = date.fromisoformat(first), date.fromisoformat(last)
        found = start + timedelta(self.number(0, (end - start).days))
        if self.chance(0.2):
            found = min(end, max(start, found.replace(day=1) - timedelta(1)))
        return found.isoformat()

    def clock(self) -> str:
        """A time of day as HH:MM."""
        return f"{self.number(0, 23):02}:{self.number(0, 59):02}"

    def damaged(self, text: str) -> str:
        """`text` with a character dropped, doubled or replaced."""
        if not text:
            return "?"
        i = self.rng.randrange(len(text))
        return text[:i] + self.rng.choice(("", text[i] * 2, "x", "-")) + text[i + 1 :]
