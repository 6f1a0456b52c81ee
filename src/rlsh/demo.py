"""The demo: tasks, the base on held-out tasks, GRPO, the same again, a summary and a report."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlsh.env.build import BuildReport, build_tasks
from rlsh.policy import load_policy
from rlsh.report import write_run_report
from rlsh.rollout.evaluate import evaluate
from rlsh.runfolder import read_records
from rlsh.sandbox.base import Sandbox
from rlsh.stats import paired_bootstrap
from rlsh.tasks.task import TaskSet, read_tasks, write_tasks
from rlsh.trainers.grpo import GrpoConfig, grpo
from rlsh.trainers.progress import Progress

TRAINED: tuple[TaskSet, ...] = ("demonstrated", "reward_only")
SAMPLES = 8


@dataclass(frozen=True)
class DemoConfig:
    """`grpo.tasks` is ignored: the demo builds its own under `grpo.out`."""

    train_tasks: int = 400
    held_out_tasks: int = 256
    never_met_tasks: int = 64
    grpo: GrpoConfig = field(default_factory=lambda: GrpoConfig(out=Path("runs/demo")))


def build_task_files(
    out: Path, sandbox: Sandbox, *, train: int, held_out: int, never_met: int, seed: int
) -> dict[str, BuildReport]:
    """`train.jsonl` (both trained sets) and `held_out.jsonl` (the same from the other pool, and never-met families)."""
    workers = os.cpu_count() or 2
    progress = Progress("tasks", train + held_out + never_met)
    training, r1 = build_tasks(
        sandbox, TRAINED, train, seed=seed, split="train", workers=workers, progress=progress.update
    )
    unseen, r2 = build_tasks(
        sandbox,
        TRAINED,
        held_out,
        seed=seed,
        split="held_out",
        workers=workers,
        progress=lambda n: progress.update(train + n),
    )
    never, r3 = build_tasks(
        sandbox,
        ["never_met"],
        never_met,
        seed=seed,
        split="held_out",
        workers=workers,
        progress=lambda n: progress.update(train + held_out + n),
    )
    write_tasks(out / "train.jsonl", training)
    write_tasks(out / "held_out.jsonl", [*unseen, *never])
    return {"train": r1, "held_out": r2, "never_met": r3}


def run_demo(config: DemoConfig, sandbox: Sandbox, resume: bool) -> dict[str, Any]:
    """Every stage leaves a file and is skipped where that file exists (with `resume`); returns the summary."""
    from dataclasses import replace

    run, seed = config.grpo.out, config.grpo.seed
    if run.exists() and any(run.iterdir()) and not resume:
        from rlsh.types import RlshError

        raise RlshError(f"{run} already holds a run: add --resume to go on, or choose another with grpo.out=PATH")
    tasks = run / "tasks"
    clock_file = run / "seconds.json"
    seconds: dict[str, float] = json.loads(clock_file.read_text()) if clock_file.exists() else {}

    def timed(stage: str, began: float) -> None:
        seconds[stage] = time.monotonic() - began
        clock_file.write_text(json.dumps(seconds))

    if not (tasks / "held_out.jsonl").exists():
        began = time.monotonic()
        run.mkdir(parents=True, exist_ok=True)
        build_task_files(
            tasks,
            sandbox,
            train=config.train_tasks,
            held_out=config.held_out_tasks,
            never_met=config.never_met_tasks,
            seed=seed,
        )
        timed("tasks", began)
    held_out = read_tasks(tasks / "held_out.jsonl")

    def scored(name: str, model: str) -> dict[str, Any]:
        path = run / f"eval-{name}.json"
        if not path.exists():
            progress = Progress(f"eval {name}", len(held_out) * (1 + SAMPLES))
            result = evaluate(
                load_policy(model),
                held_out,
                sandbox,
                config.grpo.env,
                config.grpo.rollout,
                samples=SAMPLES,
                seed=seed,
                checkpoint=model,
                progress=progress.update,
            )
            seconds[f"eval {name}"] = result["seconds"]
            partial = path.with_suffix(".partial")
            partial.write_text(json.dumps(result, indent=1), encoding="utf-8")
            partial.replace(path)
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    before = scored("before", config.grpo.model)
    grpo(replace(config.grpo, tasks=tasks / "train.jsonl"), sandbox, resume=True)
    after = scored("after", str(run))
    trained_s = sum(r["seconds"]["total"] for r in read_records(run / "metrics.jsonl"))
    summary = {
        "seed": seed,
        "tasks": before["tasks"],
        "base": headline(before),
        "trained": headline(after),
        "held_out_families": {
            "base": headline(before["by_set"]["never_met"]),
            "trained": headline(after["by_set"]["never_met"]),
        },
        "by_set": {
            s: {"base": headline(before["by_set"][s]), "trained": headline(after["by_set"][s])} for s in TRAINED
        },
        "gain": {s: gain(before, after, s, seed) for s in (*TRAINED, "never_met")},
        "seconds": trained_s + before["seconds"] + after["seconds"] + seconds.get("tasks", 0.0),
    }
    (run / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    write_run_report(run)
    return summary


def headline(scores: dict[str, Any]) -> dict[str, Any]:
    p = scores["pass_at_1"]
    return {
        "pass_at_1": p["value"],
        "low": p["low"],
        "high": p["high"],
        "greedy": scores["greedy"]["value"],
        "pass_at_8": scores["pass_at_8"]["value"],
    }


def gain(before: dict[str, Any], after: dict[str, Any], task_set: str, seed: int) -> dict[str, float]:
    """Difference of pass@1 over one set's tasks, paired by task."""
    families = {f for f, row in before["by_family"].items() if row["set"] == task_set}
    pairs = [
        (before["per_task"][i]["pass_at_1"], after["per_task"][i]["pass_at_1"], i.rsplit("-", 1)[0])
        for i in before["per_task"]
    ]
    kept = [(a, b, f) for a, b, f in pairs if f in families and a is not None and b is not None]
    first, second, clusters = zip(*kept, strict=True)
    return paired_bootstrap(first, second, clusters, seed=seed).as_dict()


def score_lines(result: dict[str, Any]) -> list[str]:
    """An evaluation as a table of text."""
    k = result["samples"]
    names = ("pass_at_1", "greedy", f"pass_at_{k}")

    def line(name: str, row: dict[str, Any]) -> str:
        cells = (
            f"{100 * row[n]['value']:5.1f} [{100 * row[n]['low']:5.1f}, {100 * row[n]['high']:5.1f}]" for n in names
        )
        return f"{name:22}{row['tasks']:6}  " + "  ".join(cells)

    head = f"{'':22}{'tasks':>6}  " + "  ".join(f"{n.replace('_at_', '@') + ' %':>21}" for n in names)
    overall = {n: result[n] for n in ("tasks", *names)}
    return [
        head,
        line("trained sets", overall),
        *(line(s, row) for s, row in result["by_set"].items()),
        *(line("  " + f, row) for f, row in sorted(result["by_family"].items(), key=lambda x: (x[1]["set"], x[0]))),
    ]


def table_lines(run: Path) -> list[str]:
    """Before and after, set by set."""
    rows: Sequence[tuple[str, dict[str, Any]]] = [
        (name, json.loads((run / f"eval-{name}.json").read_text(encoding="utf-8"))) for name in ("before", "after")
    ]
    return [line for name, result in rows for line in (f"{name}:", *score_lines(result)[: 2 + len(result["by_set"])])]
