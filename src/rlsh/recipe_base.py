"""How the shipped base is made: text and sessions -> tokenizer and shards -> pretraining -> cold start."""

from __future__ import annotations

import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import torch

from rlsh.config import to_toml
from rlsh.data.shards import MANIFEST, write_shards
from rlsh.data.sources import debian_texts, texts_under
from rlsh.env.admission import LIMITS
from rlsh.env.build import build_tasks
from rlsh.env.episode import EnvConfig
from rlsh.env.record import Recorded, as_chat, as_terminal, record_session
from rlsh.env.traces import traces, write_traces
from rlsh.policy import load_policy, save_policy
from rlsh.runfolder import RunFolder
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.sessions import session
from rlsh.text.chat import encode
from rlsh.text.tokenizer import Tokenizer
from rlsh.trainers.pretrain import PretrainConfig, pretrain
from rlsh.trainers.progress import Progress
from rlsh.trainers.sft import SftConfig, sft
from rlsh.types import Message, RlshError

WORKERS = os.cpu_count() or 2


@dataclass(frozen=True)
class BaseConfig:
    out: Path = Path("runs/base")
    vocab: int = 768
    sessions: int = 25_000
    demonstrations: int = 500
    replay: int = 4_000  # sessions, as chats, that the cold start goes on seeing
    seed: int = 0
    env: EnvConfig = EnvConfig()
    pretrain: PretrainConfig = PretrainConfig(steps=2000)
    sft: SftConfig = SftConfig()


def record_sessions(folder: Path, sandbox: Sandbox, count: int) -> list[list[Recorded]]:
    """The first `count` sessions, really run. `folder` keeps them as they come: a second call goes on there."""
    with RunFolder.create(folder, "", resume=True) as run, ThreadPoolExecutor(WORKERS) as pool:
        sessions = [[Recorded(**turn) for turn in record["turns"]] for record in run.read("sessions")]
        progress = Progress("sessions", count, len(sessions))
        for at in range(len(sessions), count, 256):
            seeds = range(at, min(at + 256, count))
            found = list(pool.map(lambda s: record_session(sandbox, session(s), LIMITS), seeds))
            for seed, turns in zip(seeds, found, strict=True):
                run.append("sessions", {"step": seed, "turns": [asdict(turn) for turn in turns]})
            sessions += found
            progress.update(seeds.stop)
    return sessions[:count]


def prepare_data(
    out: Path, sandbox: Sandbox | None, *, vocab: int | Literal["gpt2"], sessions: int, paths: list[Path] | None = None
) -> Path:
    """Tokenizer and shards in `out`, from `paths` (None: what a Debian machine holds) and recorded sessions.

    The tokenizer is GPT-2's or one of `vocab` ids, trained on the plain text alone, so that names of both word pools
    are cut alike and copying a held-out name is no other task than copying a known one. Of three sessions two read as
    a chat, one as a terminal.
    """
    asked = {"vocab": vocab, "sessions": sessions, "paths": None if paths is None else [str(p) for p in paths]}
    if (out / MANIFEST).exists():
        there = json.loads((out / MANIFEST).read_text(encoding="utf-8"))["asked"]
        if there != asked:
            raise RlshError(f"{out} was prepared from {there}, not from {asked}: choose another folder")
        return out
    plain = list(debian_texts() if paths is None else texts_under(paths))
    recorded = [] if sandbox is None else record_sessions(out, sandbox, sessions)
    tokenizer = Tokenizer.gpt2() if vocab == "gpt2" else Tokenizer.train(plain, vocab)
    documents = tokenizer.encode_batch(plain)
    for i, turns in enumerate(recorded):
        if i % 3:
            documents.append(encode(tokenizer, as_chat(turns, random.Random(f"chat {i}")))[0])
        else:
            documents.append(tokenizer.encode(as_terminal(turns)))
    random.Random("documents").shuffle(documents)  # validation documents are of every kind
    write_shards(out, tokenizer, documents, {"asked": asked, "plain_documents": len(plain)})
    return out


def write_replay(path: Path, sandbox: Sandbox, count: int, folder: Path) -> None:
    """`count` sessions as conversations, for a cold start that must not forget them; `folder` keeps the sessions."""
    sessions = record_sessions(folder, sandbox, count)
    write_traces(path, [as_chat(turns[:3], random.Random(f"replay {i}")) for i, turns in enumerate(sessions)])


def demonstrations(sandbox: Sandbox, count: int, seed: int, env: EnvConfig) -> list[list[Message]]:
    """Traces of the demonstrated families only, from tasks with negative seeds: a demo trains and tests on others."""
    progress = Progress("demonstrations", count)
    tasks, _ = build_tasks(
        sandbox, ["demonstrated"], count, seed=-1 - seed, split="train", workers=WORKERS, progress=progress.update
    )
    return traces(tasks, sandbox, env)


def make_base(config: BaseConfig, sandbox: Sandbox, resume: bool = False) -> Path:
    """Every stage is skipped where its result exists; returns the folder of what ships, in bf16:
    `base`, and `pretrained`, the same model before its cold start.

    Raises RlshError where `config.out` holds a run and `resume` is False, or one of another configuration.
    """
    with RunFolder.create(config.out, to_toml(config), resume):
        data = prepare_data(config.out / "data", sandbox, vocab=config.vocab, sessions=config.sessions)
        pretrained = config.out / "pretrain" / "best"
        if not (config.out / "pretrain" / "done").exists():
            pretrain(replace(config.pretrain, data=data, out=pretrained.parent), resume)
            (config.out / "pretrain" / "done").touch()
        traces = config.out / "traces.jsonl"
        if not traces.exists():
            write_traces(traces, demonstrations(sandbox, config.demonstrations, config.seed, config.env))
        replay = config.out / "replay.jsonl"
        if not replay.exists():
            write_replay(replay, sandbox, config.replay, data)
        tuned = config.out / "sft" / "best"
        if not (config.out / "sft" / "done").exists():
            sft(replace(config.sft, model=str(pretrained), traces=traces, replay=replay, out=tuned.parent), resume)
            (config.out / "sft" / "done").touch()
        shipped = config.out / "shipped"
        for name, folder in (("base", tuned), ("pretrained", pretrained)):
            (shipped / name).mkdir(parents=True, exist_ok=True)
            save_policy(shipped / name, load_policy(folder), torch.bfloat16)
    return shipped
