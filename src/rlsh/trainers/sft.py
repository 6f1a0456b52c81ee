"""Supervised fine-tuning on traces: the cold start."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from rlsh.config import to_toml
from rlsh.env.traces import read_traces
from rlsh.models.transformer import Decoder
from rlsh.policy import load_policy
from rlsh.runfolder import RunFolder
from rlsh.text.chat import encode
from rlsh.trainers.optim import OptimConfig, lr_at, make_optimizer, optimizer_step
from rlsh.trainers.pretrain import replace_policy
from rlsh.trainers.progress import Interruptible, Progress
from rlsh.trainers.resume import resume_run, save_run, streams
from rlsh.trainers.scoring import micro_batches, score
from rlsh.types import RlshError

Rows = Sequence[tuple[list[int], list[int]]]


@dataclass(frozen=True)
class SftConfig:
    model: str = "base"
    traces: Path = Path("runs/traces.jsonl")
    replay: Path | None = None  # conversations of another kind, so that what was known is not forgotten
    replay_share: float = 0.5  # of each step's rows, where there is a replay file
    out: Path = Path("runs/sft")
    optim: OptimConfig = OptimConfig(lr=5e-4, schedule="cosine", min_lr=5e-5, warmup=20, weight_decay=0.1)
    steps: int = 400
    rows: int = 32  # traces a step
    val_share: float = 0.1  # of the traces, the last ones of the file
    eval_every: int = 25
    micro_batch_tokens: int = 8192
    seed: int = 0

    def __post_init__(self) -> None:
        if self.eval_every < 1 or not 0 < self.val_share < 1 or not 0 <= self.replay_share <= 1:
            raise RlshError(
                f"eval_every = {self.eval_every} must be at least 1 step, val_share = {self.val_share} within (0, 1), "
                f"replay_share = {self.replay_share} within [0, 1]"
            )


@torch.no_grad()
def mean_loss(model: Decoder, rows: Rows, token_budget: int) -> float:
    """Mean negative log-prob (nats) over all assistant tokens of `rows`."""
    model.eval()
    total, count = 0.0, 0
    for batch in micro_batches(rows, token_budget, model.device):
        logp, _ = score(model, batch)
        total -= float(logp.sum())
        count += batch.tokens
    return total / count


def draw_rows(rows: Rows, count: int, generator: torch.Generator) -> list[tuple[list[int], list[int]]]:
    """`count` of `rows`, drawn with replacement."""
    return [rows[i] for i in torch.randint(len(rows), (count,), generator=generator).tolist()] if count else []


def sft(config: SftConfig, resume: bool = False) -> Path:
    """Trains on assistant tokens only; returns the folder of the best model by validation loss on the traces.

    Raises RlshError where a file is missing or damaged, or fewer than two traces fit the context;
    KeyboardInterrupt after a Ctrl-C, the step finished and saved.
    """
    policy = load_policy(config.model)
    model = policy.model

    def read(path: Path) -> Rows:
        rows = [encode(policy.tokenizer, messages) for messages in read_traces(path)]
        usable = [(ids, mask) for ids, mask in rows if any(mask) and len(ids) <= model.config.block_size]
        if len(usable) < len(rows):
            left_out = f"{len(rows) - len(usable)} of {len(rows)} conversations are left out"
            print(f"{path}: {left_out}: over {model.config.block_size} tokens, or no assistant in it", file=sys.stderr)
        return usable

    rows = read(config.traces)
    if len(rows) < 2:
        raise RlshError(
            f"{config.traces}: {len(rows)} usable traces; at least 2 are needed, one to train on and one to validate"
        )
    replay = [] if config.replay is None else read(config.replay)
    replayed = round(config.rows * config.replay_share) if replay else 0
    held = max(1, int(len(rows) * config.val_share))
    train_rows, val_rows = rows[:-held], rows[-held:]
    generators = streams(config.seed, "data")
    optimizer = make_optimizer(model, config.optim)
    best_folder = config.out / "best"

    with RunFolder.create(config.out, to_toml(config), resume) as run, Interruptible() as interrupt:
        start, extra = resume_run(run, policy, optimizer, generators)
        best = extra.get("best", float("inf"))
        progress = Progress("sft", config.steps, start)
        for step in range(start + 1, config.steps + 1):
            began = time.monotonic()
            picked = draw_rows(train_rows, config.rows - replayed, generators["data"])
            picked += draw_rows(replay, replayed, generators["data"])
            batches = micro_batches(picked, config.micro_batch_tokens, model.device)
            denominator = sum(batch.tokens for batch in batches)
            loss = 0.0
            model.train()
            for batch in batches:
                logp, _ = score(model, batch)
                part = -logp.sum() / denominator
                part.backward()
                loss += part.item()
            lr = lr_at(step - 1, config.steps, config.optim)
            norm = optimizer_step(model, optimizer, lr, config.optim.grad_clip)
            record = {
                "step": step,
                "loss": loss,
                "lr": lr,
                "grad_norm": norm,
                "tokens_per_s": {"update": sum(b.ids.numel() for b in batches) / (time.monotonic() - began)},
            }
            if step % config.eval_every == 0 or step == config.steps:
                record["val_loss"] = mean_loss(model, val_rows, config.micro_batch_tokens)
                if record["val_loss"] < best:
                    best = record["val_loss"]
                    policy.facts |= {"sft_traces": len(train_rows), "sft_steps": step, "sft_val_loss": best}
                    replace_policy(best_folder, policy)
            run.append("metrics", record)
            progress.update(step, f"loss {loss:.3f}  best val {best:.3f}")
            stopping = interrupt.stop
            if step % config.eval_every == 0 or step == config.steps or stopping:
                save_run(run, step, policy, optimizer, generators, {"best": best})
            if stopping:
                raise KeyboardInterrupt
    return best_folder
