"""Next-token training on shards. Load, loop, log."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from rlsh.algos.logprobs import token_logprobs
from rlsh.config import to_toml
from rlsh.data.shards import fixed_rows, open_shard, sample_rows
from rlsh.models.config import ModelConfig
from rlsh.models.transformer import Decoder
from rlsh.policy import Policy, save_policy
from rlsh.runfolder import RunFolder
from rlsh.text.tokenizer import Tokenizer
from rlsh.trainers.optim import OptimConfig, lr_at, make_optimizer, optimizer_step
from rlsh.trainers.progress import Interruptible, Progress
from rlsh.trainers.resume import resume_run, save_run, streams
from rlsh.types import RlshError


@dataclass(frozen=True)
class ShapeConfig:
    """A model without its vocabulary, which the tokenizer decides."""

    block_size: int = 256
    n_layer: int = 4
    n_head: int = 4
    n_embd: int = 128
    bias: bool = True
    dropout: float = 0.0


@dataclass(frozen=True)
class PretrainConfig:
    data: Path = Path("runs/data")
    out: Path = Path("runs/pretrain")
    model: ShapeConfig = ShapeConfig()
    optim: OptimConfig = OptimConfig(lr=2e-3, schedule="cosine", min_lr=2e-4, warmup=50, weight_decay=0.1)
    steps: int = 2000
    rows: int = 32  # of block_size + 1 tokens each, a step
    eval_every: int = 200
    eval_rows: int = 64
    save_every: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        if self.eval_every < 1 or self.save_every < 1:
            raise RlshError(f"eval_every = {self.eval_every}, save_every = {self.save_every}: at least 1 step each")


def next_token_loss(model: Decoder, rows: Tensor) -> Tensor:
    """Mean negative log-prob (nats) of every token of `rows` (B, T + 1) but the first."""
    hidden = model.hidden(rows[:, :-1])  # (B, T, C)
    logp, _ = token_logprobs(hidden.flatten(0, 1), model.head_weight, rows[:, 1:].flatten())
    return -logp.mean()


@torch.no_grad()
def evaluate(model: Decoder, rows: Tensor, at_once: int) -> float:
    """Mean negative log-prob (nats) a token of `rows` (B, T + 1), `at_once` of them in a batch."""
    model.eval()
    losses = [float(next_token_loss(model, part)) * len(part) for part in rows.split(at_once)]
    return sum(losses) / len(rows)


def pretrain(config: PretrainConfig, resume: bool = False) -> Path:
    """Trains from scratch; returns the folder of the best model by validation loss.

    Raises RlshError where the data are missing or too short for one row; KeyboardInterrupt after a Ctrl-C, the
    step finished and saved.
    """
    tokenizer = Tokenizer.load(config.data)
    train, val = open_shard(config.data / "train.bin"), open_shard(config.data / "val.bin")
    length = config.model.block_size + 1
    val_rows = fixed_rows(val, config.eval_rows, length)
    generators = streams(config.seed, "init", "data")
    shape = ModelConfig(vocab_size=tokenizer.vocab_size, **vars(config.model))
    policy = Policy(Decoder(shape, generators["init"]), tokenizer)
    model = policy.model
    optimizer = make_optimizer(model, config.optim)
    best_folder = config.out / "best"

    with RunFolder.create(config.out, to_toml(config), resume) as run, Interruptible() as interrupt:
        start, extra = resume_run(run, policy, optimizer, generators)
        best = extra.get("best", float("inf"))
        progress = Progress("pretrain", config.steps, start)
        for step in range(start + 1, config.steps + 1):
            began = time.monotonic()
            model.train()
            rows = sample_rows(train, config.rows, length, generators["data"])
            loss = next_token_loss(model, rows)
            loss.backward()
            lr = lr_at(step - 1, config.steps, config.optim)
            norm = optimizer_step(model, optimizer, lr, config.optim.grad_clip)
            seconds = time.monotonic() - began
            record = {
                "step": step,
                "loss": loss.item(),
                "lr": lr,
                "grad_norm": norm,
                "tokens_per_s": {"update": rows.numel() / seconds},
            }
            if step % config.eval_every == 0 or step == config.steps:
                record["val_loss"] = evaluate(model, val_rows, config.rows)
                if record["val_loss"] < best:
                    best = record["val_loss"]
                    policy.facts = {"pretrain_steps": step, "pretrain_val_loss": best}
                    replace_policy(best_folder, policy)
            run.append("metrics", record)
            progress.update(step, f"loss {record['loss']:.3f}  best val {best:.3f}")
            stopping = interrupt.stop
            if step % config.save_every == 0 or step == config.steps or stopping:
                save_run(run, step, policy, optimizer, generators, {"best": best})
            if stopping:
                raise KeyboardInterrupt
    return best_folder


def replace_policy(folder: Path, policy: Policy) -> None:
    """Writes `policy` to `folder`; the one that was there steps aside until the new one is complete."""
    fresh, old = (folder.with_name(f".{folder.name}.{name}") for name in ("new", "old"))
    if old.exists() and not folder.exists():
        old.rename(folder)  # a kill came between the two renames below
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir(parents=True)
    save_policy(fresh, policy)
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
