"""One page for one run: the verdict, the curves, the episodes, the config. One file, no script, no request.

Trajectories hold what a policy wrote while it tried things. `visible` turns control and formatting
characters into signs one can read, jinja2 escapes the markup, and the page's own content policy forbids
scripts and loads.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from rlsh.report.charts import column, draw_all, window
from rlsh.report.episodes import index, shelves
from rlsh.report.records import Record, read_json, read_jsonl
from rlsh.runfolder import write_whole
from rlsh.stats import Interval, paired_gain
from rlsh.types import RlshError

METRICS = {"pass_at_1": "pass@1", "greedy": "greedy", "pass_at_8": "pass@8"}
SETS = ("demonstrated", "reward_only", "never_met")  # from what imitation saw to what nothing saw
LONGEST = 6_000  # characters shown of one message
ENDS = 10  # steps averaged at each end of a curve when there is no evaluation to quote


class ReportError(RlshError):
    """The run folder cannot be reported on."""


@dataclass(frozen=True)
class Cell:
    """One metric of one row, before and after; either may be missing."""

    before: Interval | None
    after: Interval | None


@dataclass(frozen=True)
class Row:
    """A line of the evaluation table: all tasks, one set, or one family."""

    label: str
    tasks: int
    cells: tuple[Cell, ...]  # in the order of METRICS


def write_run_report(run: Path) -> Path:
    """Write `run/report.html` from what the folder holds so far, and return its path.

    Same files, same bytes. Any file may be missing, and a line of the append-only ones may be half-written.
    Raises ReportError if `run` is not a folder.
    """
    if not run.is_dir():
        raise ReportError(f"no run folder at {run}: give the folder that holds metrics.jsonl")
    target = run / "report.html"
    write_whole(target, render(run), f"make room, then: rlsh report {run}")  # a browser never meets half a page
    return target


def render(run: Path) -> str:
    """The page as a string."""
    rows, broken_metrics = read_metrics(run / "metrics.jsonl")
    trajectories, config = run / "trajectories.jsonl", run / "config.toml"
    entries, broken_trajectories = index(trajectories)
    before, after = read_json(run / "eval-before.json"), read_json(run / "eval-after.json")
    summary = read_json(run / "summary.json")
    headline, detail = verdict(before, after, rows)
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=visible,  # every value that reaches the page, not only those somebody thought of
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shorten": shorten, "words": words}
    return environment.get_template("run.html").render(
        name=run.resolve().name,
        headline=headline,
        detail=detail,
        facts=facts(rows),
        metrics=list(METRICS.values()),
        table=table(before, after),
        evaluations={k: e for k, e in {"before": before, "after": after}.items() if e is not None},
        charts=draw_all(rows),
        window=window(len(rows)),
        shelves=shelves(entries, trajectories),
        config=config.read_text(encoding="utf-8", errors="replace") if config.exists() else "",
        summary=json.dumps(summary, indent=2, ensure_ascii=False) if summary else "",
        broken={"metrics.jsonl": broken_metrics, "trajectories.jsonl": broken_trajectories},
    )


def read_metrics(path: Path) -> tuple[list[Record], list[int]]:
    """One row per step (the later one, where a resumed run repeated it) and the numbers of broken lines."""
    lines = list(read_jsonl(path))
    by_step = {line.record["step"]: line.record for line in lines if line.record is not None}
    return list(by_step.values()), [line.number for line in lines if line.record is None]


def verdict(before: Record | None, after: Record | None, rows: Sequence[Record]) -> tuple[str, str]:
    """The run in one sentence, and how far to believe it. Evaluations are quoted before training curves."""
    if before is not None and after is not None:
        a, b = interval(before["pass_at_1"]), interval(after["pass_at_1"])
        headline = f"pass@1 on held-out tasks {a.value:.0%} → {b.value:.0%}"
        if "per_task" in before and "per_task" in after:
            gain = paired_gain(before, after, SETS[:2], seed=0)
            sure = "away from zero" if gain.low > 0 or gain.high < 0 else "which includes zero: this may be noise"
            points = f"{100 * gain.value:+.1f} points [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"
            return headline, f"Before {a}, after {b}. Task by task the change is {points}, {sure}."
        if b.low > a.high:
            trust = "the gain is larger than the error bars."
        elif b.high < a.low:
            trust = "the policy got worse, by more than the error bars."
        else:
            trust = "the intervals overlap, so this may be noise: compare the checkpoints task by task."
        return headline, f"Before {a}, after {b}: {trust}"
    if before is not None or after is not None:
        known, when = (before, "before training") if after is None else (after, "after training")
        assert known is not None
        only = interval(known["pass_at_1"])
        return (
            f"pass@1 on held-out tasks {only.value:.0%} {when}",
            f"{only}. Without the other evaluation there is no gain to speak of.",
        )
    if not rows:
        return "No steps yet", "The run has not finished its first step; this page fills as it does."
    for key, label, form in (
        ("pass_rate", "Pass rate in training", "{:.0%}"),
        ("val_loss", "Validation loss", "{:.3f}"),
        ("loss", "Training loss", "{:.3f}"),
    ):
        y = column(rows, key)
        y = y[np.isfinite(y)]
        if len(y) == 1:
            return f"{label} {form.format(y[0])}", "One value so far, and no evaluation on held-out tasks."
        if len(y):
            n = min(ENDS, max(1, len(y) // 3))
            first, last = form.format(y[:n].mean()), form.format(y[-n:].mean())
            ends = "the first and the last value" if n == 1 else f"means of the first and the last {n} values"
            return f"{label} {first} → {last}", f"These are {ends}; no evaluation on held-out tasks was run."
    return f"{len(rows)} steps", "The metrics hold neither a pass rate nor a loss."


def facts(rows: Sequence[Record]) -> list[tuple[str, str]]:
    """The few totals one asks for first; those the metrics do not record are left out."""
    found = [("steps", f"{len(rows):,}")] if rows else []
    episodes, lost = column(rows, "episodes"), column(rows, "infra")
    for label, values in (
        ("episodes", episodes),
        ("tokens sampled", column(rows, "completion_tokens") * (episodes - lost)),  # a mean over those not lost
        ("played again", column(rows, "retried")),
        ("host failures", lost),
        ("flagged", column(rows, "flags")),
    ):
        if np.isfinite(values).any():
            found.append((label, f"{np.nansum(values):,.0f}"))
    seconds = column(rows, "seconds.total")
    if np.isfinite(seconds).any():
        found.append(("training time", duration(float(np.nansum(seconds)))))
    return found


def table(before: Record | None, after: Record | None) -> list[tuple[str, list[Row]]]:
    """The evaluation in blocks (title, rows): everything and each set, then the families of each set."""
    known = [e for e in (before, after) if e is not None]
    if not known:
        return []
    sets = sorted({name for e in known for name in e["by_set"]}, key=rank)
    set_of = {family: part["set"] for e in known for family, part in e["by_family"].items()}

    def row(label: str, *path: str) -> Row:
        a, b = dig(before, path), dig(after, path)
        tasks = next(part["tasks"] for part in (b, a) if part is not None)
        return Row(label, tasks, tuple(Cell(metric_of(a, m), metric_of(b, m)) for m in METRICS))

    blocks = [("", [row("all held-out tasks"), *(row(words(name), "by_set", name) for name in sets)])]
    for name in sets:
        families = sorted(family for family, its in set_of.items() if its == name)
        if families:
            blocks.append((f"families: {words(name)}", [row(f, "by_family", f) for f in families]))
    return blocks


def dig(evaluation: Record | None, path: Sequence[str]) -> Record | None:
    """The part of an evaluation at `path`; None where it was not evaluated."""
    node = evaluation
    for key in path:
        node = node.get(key) if node is not None else None
    return node


def metric_of(part: Record | None, metric: str) -> Interval | None:
    """One metric of a part; pass@8 is absent when fewer than eight samples were drawn."""
    return interval(part[metric]) if part is not None and metric in part else None


def interval(record: Record) -> Interval:
    """The inverse of `Interval.as_dict`."""
    return Interval(record["value"], record["low"], record["high"])


def rank(set_name: str) -> tuple[int, str]:
    """Known sets in their order of difficulty, others after them by name."""
    return (SETS.index(set_name) if set_name in SETS else len(SETS), set_name)


def words(name: str) -> str:
    """A key as a reader says it."""
    return name.replace("_", " ")


def duration(seconds: float) -> str:
    """`47 s`, `12 min`, `3 h 05 min`."""
    minutes = round(seconds / 60)
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def shorten(text: str) -> str:
    """Head and tail of a long text, with the number of characters left out between them."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"


def visible(value: object) -> object:
    """Text with its unprintable characters, newline and tab apart, as escapes: `\\x1b`, `\\u202e` (it would
    turn the line around), `\\ud800` (UTF-8 cannot hold it). Markup and numbers pass untouched.
    """
    if isinstance(value, Markup) or not isinstance(value, str) or value.isprintable():
        return value
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in value)
