"""Which episodes of a run are worth reading, and their form on the page.

A run's trajectories can be gigabytes: one pass keeps an index line per episode, then only the chosen
ones are read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np

from rlsh.report.records import Record, read_jsonl, record_at

PER_STEP = 20  # three steps are shown: about sixty episodes, a page that still opens on a phone
SURPRISAL_CAP = 3.0  # nats; a token less likely than 5% draws the full bar
BAR_WIDTH, BAR_HEIGHT = 3, 24  # pixels per sampled token


@dataclass(frozen=True)
class Entry:
    """What choosing needs to know of one episode, and where to find the rest."""

    offset: int
    step: int
    task_id: str
    family: str
    sample: int
    reward: float
    infra: bool
    flagged: bool


@dataclass(frozen=True)
class Choice:
    """A chosen episode and why it was."""

    entry: Entry
    why: str


@dataclass(frozen=True)
class Segment:
    """A run of tokens of one origin. `bars` is an SVG path, one bar a sampled token; empty if forced."""

    sampled: bool
    tokens: int
    bars: str

    @property
    def width(self) -> int:
        return BAR_WIDTH * self.tokens


@dataclass(frozen=True)
class Turn:
    """One message. `note` sums up the tokens the policy sampled for it."""

    role: str
    text: str
    tool: str
    arguments: tuple[tuple[str, str], ...]
    note: str


@dataclass(frozen=True)
class Episode:
    """One episode as the page shows it."""

    why: str
    task_id: str
    family: str
    set_name: str
    sample: int
    reward: float
    advantage: float | None
    infra: bool
    stop: str
    reasons: tuple[str, ...]
    flags: tuple[str, ...]
    turns: tuple[Turn, ...]
    segments: tuple[Segment, ...]
    sampled: int
    forced: int


@dataclass(frozen=True)
class Shelf:
    """The chosen episodes of one step."""

    step: int
    total: int
    episodes: tuple[Episode, ...]


def index(path: Path) -> tuple[list[Entry], list[int]]:
    """One small entry per whole line of trajectories.jsonl, in file order; and the broken lines' numbers."""
    entries, broken = [], []
    for line in read_jsonl(path):
        if (r := line.record) is None:
            broken.append(line.number)
            continue
        entries.append(
            Entry(
                offset=line.offset,
                step=r["step"],
                task_id=r["task_id"],
                family=r["family"],
                sample=r["sample"],
                reward=r["reward"],
                infra=r["infra"],
                flagged=bool(r["flags"]),
            )
        )
    return entries, broken


def shelves(entries: Sequence[Entry], path: Path) -> list[Shelf]:
    """First, middle and last recorded step, each with its chosen episodes."""
    steps = sorted({e.step for e in entries})
    shown = sorted({steps[0], steps[len(steps) // 2], steps[-1]}) if steps else []
    found = []
    for step in shown:
        here = [e for e in entries if e.step == step]
        episodes = tuple(view(c.why, record_at(path, c.entry.offset)) for c in choose(here))
        found.append(Shelf(step, len(here), episodes))
    return found


def choose(entries: Sequence[Entry]) -> list[Choice]:
    """At most PER_STEP of one step: tampering first, then the most contrasting group, then every family."""
    flagged = [Choice(e, "flagged") for e in entries if e.flagged][:2]
    families: dict[str, Entry] = {}
    for entry in entries:
        families.setdefault(entry.family, entry)
    wanted = [*flagged, *contrast(entries), *(Choice(e, "one per family") for e in families.values())]
    first_reason: dict[int, Choice] = {}
    for choice in wanted:
        first_reason.setdefault(choice.entry.offset, choice)
    return list(first_reason.values())[:PER_STEP]


def contrast(entries: Sequence[Entry]) -> list[Choice]:
    """Best and worst of the group with the widest rewards, [] if all groups are flat (A = 0 everywhere)."""
    by_task = sorted((e for e in entries if not e.infra), key=lambda e: e.task_id)
    pairs = [
        (max(group, key=lambda e: e.reward), min(group, key=lambda e: e.reward))
        for group in (list(g) for _, g in groupby(by_task, key=lambda e: e.task_id))
    ]
    best, worst = max(pairs, key=lambda pair: pair[0].reward - pair[1].reward, default=(None, None))
    if best is None or worst is None or best.reward == worst.reward:
        return []
    return [Choice(best, "best of its group"), Choice(worst, "worst of its group")]


def view(why: str, record: Record) -> Episode:
    """The page's form of one record of trajectories.jsonl."""
    mask, logps = np.array(record["mask"], dtype=bool), np.array(record["logps"], dtype=np.float64)  # (T,)
    segments = split(mask, logps)
    return Episode(
        why=why,
        task_id=record["task_id"],
        family=record["family"],
        set_name=record["set"],
        sample=record["sample"],
        reward=record["reward"],
        advantage=record["advantage"],
        infra=record["infra"],
        stop=record["stop"],
        reasons=tuple(record["reasons"]),
        flags=tuple(record["flags"]),
        turns=read_turns(record["messages"], sampled_notes(mask, logps)),
        segments=tuple(segments),
        sampled=int(mask.sum()),
        forced=int((~mask).sum()),
    )


def runs(mask: np.ndarray) -> list[slice]:
    """The stretches of equal mask, in order, as slices of 0..T."""
    if not len(mask):
        return []
    cuts = [0, *(np.flatnonzero(np.diff(mask)) + 1).tolist(), len(mask)]
    return [slice(a, b) for a, b in pairwise(cuts)]


def split(mask: np.ndarray, logps: np.ndarray) -> list[Segment]:
    """Tokens by origin; a sampled one gets a bar as high as its surprisal, -log p in nats."""
    segments = []
    for run in runs(mask):
        sampled = bool(mask[run.start])
        bars = ""
        if sampled:
            surprisal = np.clip(-logps[run], 0, SURPRISAL_CAP)
            heights = np.rint(2 + (BAR_HEIGHT - 2) * surprisal / SURPRISAL_CAP).astype(int)  # sure: 2 px
            bars = "".join(f"M{BAR_WIDTH * i} {BAR_HEIGHT}v-{h}h2v{h}z" for i, h in enumerate(heights))
        segments.append(Segment(sampled, run.stop - run.start, bars))
    return segments


def sampled_notes(mask: np.ndarray, logps: np.ndarray) -> list[str]:
    """One phrase per sampled stretch: its length, and how sure the policy was of it."""
    return [
        f"{run.stop - run.start} tokens sampled, log p {logps[run].sum():.1f}, least {logps[run].min():.1f}"
        for run in runs(mask)
        if mask[run.start]
    ]


def read_turns(messages: Sequence[Record], notes: Sequence[str]) -> tuple[Turn, ...]:
    """Messages in order. The i-th assistant message is the i-th sampled stretch where their numbers agree."""
    spoken = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
    note_of = dict(zip(spoken, notes, strict=True)) if len(spoken) == len(notes) else {}
    turns = []
    for i, message in enumerate(messages):
        call = message["call"]
        turns.append(
            Turn(
                role=message["role"],
                text=message["content"],
                tool=call["name"] if call else "",
                arguments=tuple((str(k), str(v)) for k, v in call["arguments"].items()) if call else (),
                note=note_of.get(i, ""),
            )
        )
    return tuple(turns)
