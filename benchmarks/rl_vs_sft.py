"""What reward taught, against the same wall-clock of more supervised training on the same demonstrations.

    python benchmarks/rl_vs_sft.py runs/demo [runs/demo-seed1 …] --out runs/rl-vs-sft [--replay-share 0]

For each finished demo: its seconds of GRPO are measured, the base is trained on for as long on the demonstrations
and the replay it was made from (or less of the replay), and both are compared task by task on the demo's held-out
tasks: SFT's last weights, and those of its lowest validation loss. Prints pass@1 by set with the paired difference and
its 95% interval, and writes it all to OUT/result.json.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

from rlsh.config import find_recipe, load
from rlsh.demo import SAMPLES, SETS, TRAINED
from rlsh.env.episode import EnvConfig
from rlsh.env.traces import write_traces
from rlsh.policy import load_policy
from rlsh.recipe_base import BaseConfig, demonstrations, write_replay
from rlsh.rollout.collect import RolloutConfig
from rlsh.rollout.evaluate import evaluate
from rlsh.runfolder import read_records
from rlsh.sandbox.probe import open_sandbox
from rlsh.stats import paired_gain
from rlsh.tasks.task import read_tasks
from rlsh.trainers.optim import OptimConfig
from rlsh.trainers.sft import sft

CALIBRATION_STEPS = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("demos", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/rl-vs-sft"))
    parser.add_argument("--lr", type=float, default=2e-4)
    parser.add_argument("--replay-share", type=float, help="of SFT's rows; default: the cold start's")
    arguments = parser.parse_args()
    base = load(BaseConfig, find_recipe("base"))
    replay_share = base.sft.replay_share if arguments.replay_share is None else arguments.replay_share
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = []
    with open_sandbox() as sandbox:
        traces = arguments.out / "traces.jsonl"  # of this recipe: give another recipe another OUT
        if not traces.exists():
            write_traces(traces, demonstrations(sandbox, base.demonstrations, base.seed, base.env))
        replay = arguments.out / "replay.jsonl"
        if not replay.exists():
            write_replay(replay, sandbox, base.replay, arguments.out / "sessions")

        def train(name: str, steps: int, eval_every: int, seed: int = 0) -> float:
            began = time.monotonic()
            sft(
                replace(
                    base.sft,
                    model="base",
                    traces=traces,
                    replay=replay,
                    replay_share=replay_share,
                    out=arguments.out / name,
                    seed=seed,
                    steps=steps,
                    eval_every=eval_every,
                    optim=OptimConfig(lr=arguments.lr, schedule="cosine", min_lr=arguments.lr / 10, weight_decay=0.1),
                )
            )
            return time.monotonic() - began

        calibration = f"calibration-{time.time_ns()}"
        per_step = train(calibration, CALIBRATION_STEPS, CALIBRATION_STEPS) / CALIBRATION_STEPS
        for demo in arguments.demos:
            budget = sum(r["seconds"]["total"] for r in read_records(demo / "metrics.jsonl"))
            steps = int(budget / per_step)
            seed = json.loads((demo / "summary.json").read_text())["seed"]
            name = f"sft-{seed}-{time.time_ns()}"
            spent = train(name, steps, max(1, steps // 20), seed)
            held_out = read_tasks(demo / "tasks" / "held_out.jsonl")
            reinforced = json.loads((demo / "eval-after.json").read_text())
            row = {"demo": str(demo), "seed": seed, "grpo_seconds": budget, "sft_seconds": spent, "sft_steps": steps}
            row["replay_share"] = replay_share
            for which, folder in (("last", arguments.out / name), ("best", arguments.out / name / "best")):
                supervised = evaluate(
                    load_policy(folder), held_out, sandbox, EnvConfig(), RolloutConfig(), seed=seed, samples=SAMPLES
                )
                for label, sets in (("trained sets", TRAINED), *((s, (s,)) for s in SETS)):
                    sft_score, grpo_score = (
                        (r if sets == TRAINED else r["by_set"][label])["pass_at_1"]["value"]
                        for r in (supervised, reinforced)
                    )
                    d = paired_gain(supervised, reinforced, sets, seed=seed).as_dict()
                    row[f"{which}, {label}"] = {"sft": sft_score, "grpo": grpo_score, "grpo_minus_sft": d}
                    print(
                        f"seed {seed}  {which}  {label:13} SFT {sft_score:.3f}  GRPO {grpo_score:.3f}"
                        f"  difference {d['value']:+.3f} [{d['low']:+.3f}, {d['high']:+.3f}]",
                        flush=True,
                    )
            results.append(row)
            (arguments.out / "result.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
