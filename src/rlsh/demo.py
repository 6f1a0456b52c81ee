"""The demo: tasks, the base on held-out tasks, GRPO, the same again, a summary and a report."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from rlsh.config import to_toml
from rlsh.env.taskset import Part, build_set
from rlsh.policy import load_policy
from rlsh.report import write_run_report
from rlsh.rollout.evaluate import evaluate
from rlsh.runfolder import keep_config, read_records, write_whole
from rlsh.sandbox.base import Sandbox
from rlsh.stats import paired_gain
from rlsh.tasks.shell import TaskSet
from rlsh.tasks.task import read_tasks
from rlsh.trainers.grpo import GrpoConfig, grpo
from rlsh.trainers.progress import Progress
from rlsh.types import RlshError

TRAINED: tuple[TaskSet, ...] = ("demonstrated", "reward_only")
SETS: tuple[TaskSet, ...] = get_args(TaskSet)
SAMPLES = 8


@dataclass(frozen=True)
class DemoConfig:
    """`grpo.out` is the demo's folder; its tasks are built there, whatever `grpo.tasks` says."""

    train_tasks: int = 400
    held_out_tasks: int = 256
    never_met_tasks: int = 64
    grpo: GrpoConfig = GrpoConfig(out=Path("runs/demo"))

    def __post_init__(self) -> None:
        for name in ("train_tasks", "held_out_tasks", "never_met_tasks"):
            if vars(self)[name] < 1:
                raise RlshError(f"{name} = {vars(self)[name]}: the demo needs at least 1")


def run_demo(config: DemoConfig, sandbox: Sandbox, resume: bool) -> dict[str, Any]:
    """Every stage leaves a file; with `resume` a stage whose file is there is not run again. Returns the summary."""
    run, seed = config.grpo.out, config.grpo.seed
    if run.exists() and any(run.iterdir()) and not resume:
        raise RlshError(f"{run} already holds a run: add --resume to go on, or choose another with grpo.out=PATH")
    keep_config(run / "demo.toml", to_toml(config))
    seconds_file = run / "tasks" / "seconds.json"  # the last that is written of the tasks
    if not seconds_file.exists():
        began = time.monotonic()
        counts: dict[Part, int] = {
            "train": config.train_tasks,
            "held_out": config.held_out_tasks,
            "never_met": config.never_met_tasks,
        }
        progress = Progress("tasks", sum(counts.values()))
        build_set("drills", counts, sandbox, seed=seed, progress=progress.update).write(run / "tasks")
        write_json(seconds_file, time.monotonic() - began)
    before = scored(config, sandbox, run / "eval-before.json", config.grpo.model)
    grpo(replace(config.grpo, tasks=run / "tasks" / "train.jsonl"), sandbox, resume=True)
    after = scored(config, sandbox, run / "eval-after.json", str(run))
    seconds = [
        json.loads(seconds_file.read_text(encoding="utf-8")),
        before["seconds"],
        *(r["seconds"]["total"] for r in read_records(run / "metrics.jsonl")),
        after["seconds"],
    ]
    summary = summarise(before, after, seed) | {"seconds": sum(seconds)}
    write_json(run / "summary.json", summary)
    write_run_report(run)
    return summary


def scored(config: DemoConfig, sandbox: Sandbox, path: Path, model: str) -> dict[str, Any]:
    """The evaluation of `model` on the held-out tasks, kept in `path`."""
    if not path.exists():
        held_out = read_tasks(config.grpo.out / "tasks" / "held_out.jsonl")
        progress = Progress(path.stem.replace("-", " "), len(held_out) * (1 + SAMPLES))
        result = evaluate(
            load_policy(model),
            held_out,
            sandbox,
            config.grpo.env,
            config.grpo.rollout,
            samples=SAMPLES,
            seed=config.grpo.seed,
            checkpoint=model,
            progress=progress.update,
        )
        write_json(path, result)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def write_json(path: Path, value: Any) -> None:
    """Its existence says that its stage is done."""
    write_whole(path, json.dumps(value, indent=1) + "\n", "make room, then --resume")


def summarise(before: Mapping[str, Any], after: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The figures of two evaluations of the same tasks, side by side. `gain` is in pass@1, paired by task."""
    sets = [s for s in SETS if s in before["by_set"]]
    return {
        "seed": seed,
        "tasks": before["tasks"],
        "base": headline(before),
        "trained": headline(after),
        "held_out_families": {
            name: headline(result["by_set"]["never_met"]) for name, result in (("base", before), ("trained", after))
        },
        "by_set": {s: {"base": headline(before["by_set"][s]), "trained": headline(after["by_set"][s])} for s in sets},
        "gain": {"trained_sets": paired_gain(before, after, TRAINED, seed=seed).as_dict()}
        | {s: paired_gain(before, after, [s], seed=seed).as_dict() for s in sets},
    }


def headline(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Plain numbers; None where the host failed so often that there is none."""
    p, greedy, pass_at_8 = ((scores[name] or {}) for name in ("pass_at_1", "greedy", "pass_at_8"))
    return {name: p.get(key) for name, key in (("pass_at_1", "value"), ("low", "low"), ("high", "high"))} | {
        "greedy": greedy.get("value"),
        "pass_at_8": pass_at_8.get("value"),
    }


def score_lines(result: Mapping[str, Any], families: bool = True) -> list[str]:
    """An evaluation as lines of text, in percent with 95% intervals."""
    k = result["samples"]
    names = ("pass_at_1", "greedy", f"pass_at_{k}")

    def line(name: str, row: Mapping[str, Any]) -> str:
        cells = [row[n] for n in names]  # None where the host failed too often
        shown = [
            f"{100 * c['value']:5.1f} [{100 * c['low']:5.1f}, {100 * c['high']:5.1f}]" if c else "-" for c in cells
        ]
        return f"{name:22}{row['tasks']:6}  " + "  ".join(f"{text:>21}" for text in shown)

    head = f"{'':22}{'tasks':>6}  " + "  ".join(f"{n.replace('_at_', '@') + ' %':>21}" for n in names)
    lines = [head, line("trained sets", result), *(line(s, row) for s, row in result["by_set"].items())]
    if families:
        by_set = sorted(result["by_family"].items(), key=lambda item: (item[1]["set"], item[0]))
        lines += [line("  " + family, row) for family, row in by_set]
    return lines


def table_lines(run: Path) -> list[str]:
    """Before and after, set by set."""
    lines = []
    for name in ("before", "after"):
        result = json.loads((run / f"eval-{name}.json").read_text(encoding="utf-8"))
        lines += [f"{name}:", *score_lines(result, families=False)]
    return lines
