"""The page as a reader and as a browser meets it: complete, self-contained, inert, reproducible."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from run_folder import Json, evaluation, make_run, metrics, share, trajectory

from rlsh.report import write_run_report
from rlsh.report.html import ReportError, duration, shorten, table, verdict, visible

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Tags, attributes and text of a page; fails where tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def page_of(run: Path) -> Page:
    return Page(write_run_report(run).read_text(encoding="utf-8"))


@pytest.fixture
def full(tmp_path: Path) -> Path:
    trajectories = [
        trajectory(step, family, sample, reward=float(sample))
        for step in (1, 20, 40)
        for family in ("wrong-flag", "missing-dir")
        for sample in (0, 1)
    ]
    rows = [metrics(step) for step in range(1, 41)]
    run = make_run(tmp_path, rows, trajectories, evaluation(0.31), evaluation(0.84))
    (run / "summary.json").write_text('{"best_step": 40}', encoding="utf-8")
    return run


def test_every_section_is_there(full: Path) -> None:
    page = page_of(full)
    ids = [value for name, value in page.attributes if name == "id"]
    assert {"evaluation", "curves", "episodes", "config"} <= set(ids)
    charts = ["pass", "loss", "kl", "entropy", "informative", "clip", "grad", "lr", "gap", "length", "turns"]
    assert [i for i in ids if i.startswith("chart-")] == [
        f"chart-{c}" for c in [*charts, "truncated", "trouble", "speed", "phases"]
    ]
    for phrase in (
        "pass@1 on held-out tasks 31% → 84%",
        "the gain is larger than the error bars",
        "reward only",
        "families: never met",
        "[26, 36] → [79, 89]",
        "Step 1 ",
        "Step 20 ",
        "Step 40 ",
        "best of its group",
        "worst of its group",
        "one per family",
        "ls -l out",
        "out/a.csv has the right bytes",
        "beta = 0.04",
        '"best_step": 40',
        "14,000",  # tokens: 40 steps of 7 episodes of 50, the eighth lost to the host
        "played again80",  # of 40 steps two, and one lost
        "host failures40",
        "7 min",  # 40 steps of 10 s
    ):
        assert phrase in page.text, phrase
    assert "There are no steps yet" not in page.text
    assert not (full / "report.html.partial").exists()


def test_the_page_needs_nothing_outside_itself(full: Path) -> None:
    text = write_run_report(full).read_text(encoding="utf-8")
    page = Page(text)
    assert not {"script", "link", "iframe", "img", "object", "embed", "base"} & set(page.tags)
    links = [v for name, v in page.attributes if name in ("src", "href", "xlink:href", "data", "action")]
    assert links and all(link.startswith("#") for link in links)
    assert not re.search(r"https?://|@import|url\((?!#)", text)
    assert ("http-equiv", "Content-Security-Policy") in page.attributes
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes


def test_ids_are_unique_and_references_resolve(full: Path) -> None:
    text = write_run_report(full).read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    references = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text))
    assert any(left for left, _ in references)  # clip paths do occur
    assert {left or right for left, right in references} <= set(ids)


def test_colours_follow_the_page(full: Path) -> None:
    text = write_run_report(full).read_text(encoding="utf-8")
    body = text[text.index("<body>") :]
    assert not re.search(r"(?<!&)#[0-9a-f]{6}\b", body)
    defined = set(re.findall(r"(--\w+):", text))
    assert set(re.findall(r"var\((--\w+)\)", text)) <= defined
    assert "prefers-color-scheme: dark" in text


MARKUP = '</pre></details><script>alert(1)</script><img src="http://evil/x.png" onerror=x>&amp;'
HOSTILE = MARKUP + "\x1b[2J\x00\x9b\u202e\ud800"
SHOWN = MARKUP + r"\x1b[2J\x00\x9b\u202e\ud800"


def test_hostile_text_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    messages = [
        {"role": "tool", "content": HOSTILE, "call": None},
        {"role": "assistant", "content": HOSTILE, "call": None},
        {"role": "assistant", "content": "", "call": {"name": HOSTILE, "arguments": {HOSTILE: HOSTILE}}},
    ]
    names = {key: HOSTILE for key in ("task_id", "family", "set", "stop")}
    lists = {"reasons": [HOSTILE], "flags": [HOSTILE], "messages": messages}
    run = make_run(tmp_path, [metrics(1)], [trajectory() | names | lists])
    (run / "config.toml").write_bytes(HOSTILE.encode("utf-8", "surrogatepass") + b"\xff")
    (run / "summary.json").write_text(json.dumps({"note": HOSTILE}), encoding="utf-8")
    text = write_run_report(run).read_text(encoding="utf-8")
    page = Page(text)
    assert not {"script", "img"} & set(page.tags)
    assert not any(name.startswith("on") for name, _ in page.attributes)
    assert all(c.isprintable() or c in "\n\t" for c in text)
    # Two texts, one call with a name and a value, task, family, set, stop, reason, and the flag twice.
    assert page.text.count(SHOWN) == 12
    assert page.text.count("alert(1)") == 14  # and the config, where a lone surrogate is no UTF-8; and the summary
    with pytest.raises(UnicodeEncodeError):  # the control: escaping markup alone could not even be written
        HOSTILE.encode("utf-8")


def test_same_files_same_bytes(full: Path) -> None:
    program = "import sys, pathlib; from rlsh.report import write_run_report as w; w(pathlib.Path(sys.argv[1]))"
    pages = []
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-c", program, str(full)]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": hash_seed}, check=True)
        pages.append((full / "report.html").read_bytes())
    assert pages[0] == pages[1] == write_run_report(full).read_bytes()
    assert b"\r" not in pages[0]


@pytest.mark.parametrize("tail", [b'{"step": 3, "pass_r', '{"step": 3, "note": "é'.encode()[:-1], b"3"])
def test_a_half_written_line_is_left_out_and_named(tmp_path: Path, tail: bytes) -> None:
    run = make_run(tmp_path, [metrics(1), metrics(2)], [trajectory(1)])
    whole = page_of(run)
    for name in ("metrics.jsonl", "trajectories.jsonl"):
        path = run / name
        path.write_bytes(path.read_bytes() + tail)
    page = page_of(run)
    assert "metrics.jsonl: line 3 was not whole" in page.text
    assert "trajectories.jsonl: line 2 was not whole" in page.text
    assert "was not whole" not in whole.text
    assert page.text[: page.text.index("metrics.jsonl: line")].strip() == whole.text.strip()


def test_a_run_resumed_after_a_cut_keeps_what_follows(tmp_path: Path) -> None:
    run = make_run(tmp_path, [metrics(1)])
    cut = json.dumps(metrics(2))[:30]
    rest = json.dumps(metrics(3)) + "\n" + json.dumps(metrics(3) | {"pass_rate": 0.9}) + "\n"
    (run / "metrics.jsonl").write_text(json.dumps(metrics(1)) + "\n" + cut + "\n\n" + rest, encoding="utf-8")
    page = page_of(run)
    assert "metrics.jsonl: line 2 was" in page.text
    assert "Pass rate in training 1% → 90%" in page.text  # of a repeated step, the later row


def test_an_empty_run_says_so(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for run in (make_run(tmp_path), bare):
        page = page_of(run)
        for phrase in (
            "No steps yet",
            "There are no steps yet",
            "No episodes were recorded",
            "No evaluation",
        ):
            assert phrase in page.text
        assert "figure" not in page.tags
    assert "holds no config.toml" in page.text


def test_a_missing_folder_is_a_plain_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"no run folder at .*nowhere: give the folder"):
        write_run_report(tmp_path / "nowhere")


def test_a_supervised_run_has_its_two_curves(tmp_path: Path) -> None:
    rows: list[Json] = [{"step": s, "loss": 3.0 - 0.01 * s, "lr": 1e-3, "tokens_per_s": 900} for s in range(30)]
    for s in (0, 15, 29):
        rows[s]["val_loss"] = 3.1 - 0.01 * s
    page = page_of(make_run(tmp_path, rows))
    assert "Validation loss 3.100 → 2.810" in page.text
    ids = [v for name, v in page.attributes if name == "id" and v.startswith("chart-")]
    assert ids == ["chart-loss", "chart-lr", "chart-speed"]


@pytest.mark.parametrize(
    ("before", "after", "headline", "trust"),
    [
        (
            evaluation(0.31),
            evaluation(0.84),
            "pass@1 on held-out tasks 31% → 84%",
            "larger than the error bars",
        ),
        (evaluation(0.84), evaluation(0.31), "pass@1 on held-out tasks 84% → 31%", "got worse"),
        (evaluation(0.31, 0.2), evaluation(0.4, 0.2), "pass@1 on held-out tasks 31% → 40%", "may be noise"),
        (evaluation(0.4, 0.2), evaluation(0.31, 0.2), "pass@1 on held-out tasks 40% → 31%", "may be noise"),
        (None, evaluation(0.84), "pass@1 on held-out tasks 84% after training", "no gain to speak of"),
        (evaluation(0.31), None, "pass@1 on held-out tasks 31% before training", "no gain to speak of"),
    ],
)
def test_verdict(before: Json | None, after: Json | None, headline: str, trust: str) -> None:
    said, detail = verdict(before, after, [metrics(1)])
    assert said == headline
    assert trust in detail


@pytest.mark.parametrize(("rate", "trust"), [(0.875, "+50.0 points [+50.0, +50.0], away from zero"), (0.375, "noise")])
def test_verdict_pairs_tasks_where_it_can(rate: float, trust: str) -> None:
    def record(rate: float) -> Json:
        tasks = {f"typo-{i}": {"pass_at_1": rate, "greedy": 1.0} for i in range(4)}
        return evaluation(rate) | {"per_task": tasks, "by_family": {"typo": {"set": "demonstrated"}}}

    said, detail = verdict(record(0.375), record(rate), [])
    assert said == f"pass@1 on held-out tasks 38% → {rate:.0%}"
    assert trust in detail


def test_verdict_without_an_evaluation_says_what_it_averages() -> None:
    rates = [0.2] * 10 + [0.6] * 80 + [0.8] * 10
    said, detail = verdict(None, None, [{"step": s, "pass_rate": r} for s, r in enumerate(rates)])
    assert said == "Pass rate in training 20% → 80%"
    assert "means of the first and the last 10 values" in detail
    assert verdict(None, None, [metrics(50)])[0] == "Pass rate in training 50%"
    assert verdict(None, None, [{"step": 1}])[0] == "1 steps"


def test_table_orders_sets_by_difficulty_and_leaves_gaps_open(tmp_path: Path) -> None:
    before, after = evaluation(0.31), evaluation(0.84)
    del before["by_family"]["bom"], before["pass_at_8"]
    before["tasks"] = 30
    blocks = table(before, after)
    assert [title for title, _ in blocks] == [
        "",
        "families: demonstrated",
        "families: reward only",
        "families: never met",
    ]
    assert [row.label for row in blocks[0][1]] == [
        "all held-out tasks",
        "demonstrated",
        "reward only",
        "never met",
    ]
    assert [row.label for row in blocks[1][1]] == ["missing-dir", "wrong-flag"]
    overall, (bom,) = blocks[0][1][0], blocks[3][1]
    assert overall.tasks == 40 and bom.tasks == 5
    assert overall.cells[2].before is None and overall.cells[2].after is not None
    assert bom.cells[0].before is None
    assert [title for title, _ in table(None, after | {"by_family": {}})] == [""]
    assert "? → 84%" in page_of(make_run(tmp_path, [], [], before, after)).text


def test_intervals_are_drawn_to_scale(tmp_path: Path) -> None:
    result = evaluation(0.5)
    result["pass_at_1"] = share(0.5, 0.25)
    text = write_run_report(make_run(tmp_path, after=result)).read_text(encoding="utf-8")
    assert '<path d="M45.0 16H125.0"' in text  # 5 + 160 * 0.25, 5 + 160 * 0.75
    assert '<circle cx="85.0" cy="16"' in text


def test_long_texts_keep_both_ends() -> None:
    text = "a" * 5000 + "b" * 5000
    short = shorten(text)
    assert short.startswith("aaa") and short.endswith("bbb")
    assert "4,000 characters left out" in short and len(short) < 6100
    assert shorten("a" * 6000) == "a" * 6000


def test_visible_leaves_ordinary_text_alone() -> None:
    assert visible("naïve → 日本語\tx\n") == "naïve → 日本語\tx\n"
    assert visible("\r\u200b\U000e0001") == r"\r\u200b\U000e0001"
    assert visible(3) == 3


def test_durations() -> None:
    assert [duration(s) for s in (47.2, 400, 11_100)] == ["47 s", "7 min", "3 h 05 min"]
