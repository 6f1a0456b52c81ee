"""Which episodes are chosen, and what is shown of their tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from run_folder import trajectory

from rlsh.report.episodes import BAR_HEIGHT, PER_STEP, Entry, choose, contrast, index, shelves, split, view


def entry(offset: int, task: str, reward: float, **changes: Any) -> Entry:
    fields = {"step": 1, "family": task, "sample": 0, "infra": False, "flagged": False}
    return Entry(offset=offset, task_id=task, reward=reward, **(fields | changes))


def test_contrast_takes_the_widest_group_and_no_void_rows() -> None:
    entries = [
        entry(0, "flat", 1.0),
        entry(1, "flat", 1.0),
        entry(2, "half", 0.5),
        entry(3, "wide", 1.0),
        entry(4, "half", 0.0),
        entry(5, "wide", 0.0),
        entry(6, "half", 9.0, infra=True),
    ]
    best, worst = contrast(entries)
    assert (best.entry.offset, best.why) == (3, "best of its group")
    assert (worst.entry.offset, worst.why) == (5, "worst of its group")
    assert contrast(entries[:2]) == []
    assert contrast([]) == []


def test_flags_come_first_and_nobody_twice() -> None:
    entries = [entry(0, "a", 1.0), entry(1, "a", 0.0, flagged=True), entry(2, "b", 1.0), entry(3, "b", 1.0)]
    assert [(c.entry.offset, c.why) for c in choose(entries)] == [
        (1, "flagged"),
        (0, "best of its group"),
        (2, "one per family"),
    ]


def test_a_step_is_capped() -> None:
    assert len(choose([entry(i, f"family-{i}", 1.0) for i in range(50)])) == PER_STEP


def test_first_middle_and_last_step_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.jsonl"
    records = [trajectory(step, family=f"é{step}") for step in (10, 10, 30, 40, 50, 20)]
    text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)
    path.write_text(text, encoding="utf-8")
    entries, broken = index(path)
    shown = shelves(entries, path)
    assert [(s.step, s.total) for s in shown] == [(10, 2), (30, 1), (50, 1)]
    assert [s.episodes[0].family for s in shown] == ["é10", "é30", "é50"]  # found again by byte offset
    assert broken == []
    assert shelves([], path) == []


def test_sampled_and_forced_tokens_are_told_apart() -> None:
    episode = view("why", trajectory())
    assert [(s.sampled, s.tokens) for s in episode.segments] == [(False, 3), (True, 2), (False, 2), (True, 3)]
    assert (episode.sampled, episode.forced) == (5, 5)
    assert [t.note for t in episode.turns] == [
        "",
        "2 tokens sampled, log p -2.0, least -1.5",
        "",
        "3 tokens sampled, log p -9.5, least -9.0",
    ]


def test_a_bar_is_as_high_as_the_surprisal() -> None:
    (segment,) = split(np.array([True] * 3), np.array([0.0, -1.5, -50.0]))
    assert segment.bars == "M0 24v-2h2v2zM3 24v-13h2v13zM6 24v-24h2v24z"
    assert BAR_HEIGHT == 24
    assert split(np.array([False]), np.array([0.0]))[0].bars == ""


def test_notes_are_withheld_where_stretches_and_messages_disagree() -> None:
    record = trajectory(mask=[1] * 10)  # one stretch, two assistant messages
    assert [t.note for t in view("why", record).turns] == [""] * 4


def test_an_episode_the_host_lost_before_its_first_token() -> None:
    record = trajectory(ids=[], logps=[], mask=[], messages=[], infra=True, advantage=None, stop="infra")
    episode = view("why", record)
    assert (episode.segments, episode.turns, episode.infra, episode.advantage) == ((), (), True, None)
