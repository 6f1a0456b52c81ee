"""A small run folder to report on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
SETS = {"demonstrated": ["wrong-flag", "missing-dir"], "reward_only": ["off-by-one"], "never_met": ["bom"]}


def share(value: float, half: float = 0.05) -> Json:
    return {"value": value, "low": max(0.0, value - half), "high": min(1.0, value + half)}


def evaluation(value: float, half: float = 0.05) -> Json:
    metrics = {"pass_at_1": share(value, half), "greedy": share(value), "pass_at_8": share(value)}
    return {
        "checkpoint": "base",
        "seed": 7,
        "tasks": 40,
        "samples": 8,
        "seconds": 3.0,
        **metrics,
        "by_set": {name: {"tasks": 10, **metrics} for name in SETS},
        "by_family": {f: {"set": s, "tasks": 5, **metrics} for s, fs in SETS.items() for f in fs},
    }


def metrics(step: int) -> Json:
    return {
        "step": step,
        "reward": 0.5,
        "pass_rate": 0.01 * step,
        "informative": 0.4,
        "kl_k1": 0.001,
        "kl_k3": 0.002,
        "entropy": 0.8,
        "clip_fraction": 0.02,
        "logp_gap": 1e-6,
        "loss": 0.0,
        "grad_norm": 0.5,
        "lr": 1e-5,
        "episodes": 8,
        "turns": 2.5,
        "completion_tokens": 50.0,
        "prompt_tokens": 300.0,
        "truncated": 0.125,
        "infra": 1,
        "retried": 2,
        "flags": 0,
        "by_set": {"demonstrated": 0.02 * step, "reward_only": 0.005 * step},
        "seconds": {"decode": 6.0, "tools": 1.0, "reference": 1.0, "update": 1.5, "total": 10.0},
        "tokens_per_s": {"decode": 300.0, "update": 2000.0},
    }


def trajectory(step: int = 1, family: str = "wrong-flag", sample: int = 0, **changes: Any) -> Json:
    call = {"name": "exec", "arguments": {"command": "ls -l out"}}
    record = {
        "step": step,
        "task_id": f"{family}/000",
        "family": family,
        "set": "demonstrated",
        "sample": sample,
        "reward": 1.0,
        "reasons": ["out/a.csv has the right bytes"],
        "flags": [],
        "infra": False,
        "stop": "final",
        "advantage": 0.5,
        "turns": 2,
        "ids": list(range(10)),
        "logps": [0.0, 0.0, 0.0, -0.5, -1.5, 0.0, 0.0, -0.25, -0.25, -9.0],
        "mask": [0, 0, 0, 1, 1, 0, 0, 1, 1, 1],
        "messages": [
            {"role": "user", "content": "Repair: ls --l out", "call": None},
            {"role": "assistant", "content": "", "call": call},
            {"role": "tool", "content": "a.csv", "call": None},
            {"role": "assistant", "content": "Repaired.", "call": None},
        ],
    }
    return record | changes


def make_run(
    parent: Path,
    rows: Iterable[Json] = (),
    trajectories: Iterable[Json] = (),
    before: Json | None = None,
    after: Json | None = None,
) -> Path:
    """`parent/demo` with the files a trainer leaves."""
    run = parent / "demo"
    run.mkdir()
    (run / "config.toml").write_text('seed = 1\n[grpo]\nbeta = 0.04  # "<&>"\n', encoding="utf-8")
    for name, records in (("metrics", rows), ("trajectories", trajectories)):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (run / f"{name}.jsonl").write_text(text, encoding="utf-8")
    for name, result in (("before", before), ("after", after)):
        if result is not None:
            (run / f"eval-{name}.json").write_text(json.dumps(result), encoding="utf-8")
    return run
