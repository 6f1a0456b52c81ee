"""How the shipped base is made: text and sessions -> tokenizer and shards -> pretraining -> cold start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from rlsh.data.shards import MANIFEST, write_shards
from rlsh.data.sources import debian_texts, texts_under
from rlsh.env.build import LIMITS, build_tasks
from rlsh.env.episode import EnvConfig
from rlsh.env.record import record_session
from rlsh.env.traces import trace, write_traces
from rlsh.policy import load_policy, save_policy
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.sessions import session
from rlsh.text.tokenizer import Tokenizer
from rlsh.trainers.pretrain import PretrainConfig, pretrain
from rlsh.trainers.progress import Progress
from rlsh.trainers.sft import SftConfig, sft
from rlsh.types import Message

WORKERS = os.cpu_count() or 2


@dataclass(frozen=True)
class BaseConfig:
    out: Path = Path("runs/base")
    vocab: int = 1024
    sessions: int = 40_000
    demonstrations: int = 3_000
    seed: int = 0
    env: EnvConfig = EnvConfig()
    pretrain: PretrainConfig = PretrainConfig(steps=3000)
    sft: SftConfig = SftConfig()


def recorded_sessions(sandbox: Sandbox, count: int, first: int = 0) -> Iterator[str]:
    """Sessions number `first` to `first + count`, really run. Session seeds and their words never meet a held-out task."""
    progress = Progress("sessions", count)
    with ThreadPoolExecutor(WORKERS) as pool:
        for at in range(first, first + count, 256):
            seeds = range(at, min(at + 256, first + count))
            yield from pool.map(lambda s: record_session(sandbox, session(s), LIMITS), seeds)
            progress.update(seeds.stop - first)


def prepare_data(
    out: Path, sandbox: Sandbox | None, *, vocab: int, sessions: int, paths: list[Path] | None = None
) -> Path:
    """Tokenizer and shards in `out`, from `paths` (None: what a Debian machine holds) and recorded sessions."""
    if (out / MANIFEST).exists():
        return out
    plain = list(debian_texts() if paths is None else texts_under(paths))
    recorded = list(recorded_sessions(sandbox, sessions)) if sandbox is not None and sessions else []
    tokenizer = Tokenizer.train(plain[::4] + recorded[:8000], vocab)
    # interleaved, so that the validation documents are of both kinds
    every = max(1, len(recorded) // max(1, len(plain)))
    documents: list[str] = []
    for i, text in enumerate(plain):
        documents += [text, *recorded[i * every : (i + 1) * every]]
    documents += recorded[len(plain) * every :]
    facts = {"plain_documents": len(plain), "sessions": len(recorded)}
    write_shards(out, tokenizer, documents, facts)
    return out


def demonstrations(sandbox: Sandbox, count: int, seed: int, env: EnvConfig) -> list[list[Message]]:
    """Traces of the demonstrated families only."""
    progress = Progress("demonstrations", count)
    tasks, _ = build_tasks(
        sandbox, ["demonstrated"], count, seed=seed, split="train", workers=WORKERS, progress=progress.update
    )
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(lambda task: trace(task, sandbox, env), tasks))


def make_base(config: BaseConfig, sandbox: Sandbox, resume: bool = False) -> Path:
    """Every stage is skipped where its result exists; returns the folder of the base (bf16)."""
    data = prepare_data(config.out / "data", sandbox, vocab=config.vocab, sessions=config.sessions)
    pretrained = config.out / "pretrain" / "best"
    if not (config.out / "pretrain" / "done").exists():
        pretrain(replace(config.pretrain, data=data, out=pretrained.parent), resume)
        (config.out / "pretrain" / "done").touch()
    traces = config.out / "traces.jsonl"
    if not traces.exists():
        write_traces(traces, demonstrations(sandbox, config.demonstrations, config.seed + 1, config.env))
    tuned = config.out / "sft" / "best"
    if not (config.out / "sft" / "done").exists():
        sft(replace(config.sft, model=str(pretrained), traces=traces, out=tuned.parent), resume)
        (config.out / "sft" / "done").touch()
    shipped = config.out / "model"
    shipped.mkdir(exist_ok=True)
    save_policy(shipped, load_policy(tuned), torch.bfloat16)
    return shipped


