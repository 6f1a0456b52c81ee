"""Whole runs of the trainers on a tiny model: resume to the bit, kill -9, Ctrl-C, what is written."""

import inspect
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from rlsh.config import to_toml
from rlsh.data.shards import write_shards
from rlsh.env.build import build_tasks
from rlsh.env.episode import EnvConfig
from rlsh.env.traces import trace, write_traces
from rlsh.models import Decoder, ModelConfig
from rlsh.policy import Policy, load_policy, save_policy
from rlsh.rollout.collect import RolloutConfig
from rlsh.tasks.task import write_tasks
from rlsh.text import Tokenizer
from rlsh.trainers import sft as sft_module
from rlsh.trainers.grpo import GrpoConfig, grpo
from rlsh.trainers.optim import OptimConfig
from rlsh.trainers.pretrain import PretrainConfig, ShapeConfig, pretrain
from rlsh.trainers.sft import SftConfig, sft
from rlsh.types import RlshError, Verdict

TIMES = ("seconds", "tokens_per_s")


@pytest.fixture(scope="module")
def world(tmp_path_factory, sandbox):
    """A folder with tasks, traces, shards and a model too small to be good at anything; dropout is configured."""
    root = tmp_path_factory.mktemp("world")
    tasks, _ = build_tasks(sandbox, ["demonstrated"], 12, seed=3, split="train", workers=2)
    write_tasks(root / "tasks.jsonl", tasks)
    traces = [trace(t, sandbox, EnvConfig()) for t in tasks]
    write_traces(root / "traces.jsonl", traces)
    texts = [m.content for t in traces for m in t]
    tokenizer = Tokenizer.train(texts, 300)
    write_shards(root / "data", tokenizer, tokenizer.encode_batch(texts * 30), {})
    shape = ModelConfig(tokenizer.vocab_size, 256, n_layer=1, n_head=2, n_embd=16, dropout=0.1)
    (root / "model").mkdir()
    save_policy(root / "model", Policy(Decoder(shape, torch.Generator().manual_seed(0)), tokenizer))
    return root


def lottery(episode):
    """A verdict that any policy can win half the time, by what it wrote: a model this small earns no other."""
    return Verdict(float(zlib.crc32(repr([m.content for m in episode.messages]).encode()) % 2))


@pytest.fixture
def config(world, tmp_path, monkeypatch):
    monkeypatch.setattr("rlsh.env.episode.Episode.verdict", lottery)
    return GrpoConfig(
        model=str(world / "model"),
        tasks=world / "tasks.jsonl",
        out=tmp_path / "run",
        steps=6,
        prompts=3,
        group_size=2,
        updates=2,
        save_every=2,
        optim=OptimConfig(lr=1e-3, warmup=2),
        rollout=RolloutConfig(turn_tokens=6, tool_threads=2),
    )


class PowerCut(Exception):
    pass


def cut_after(step):
    def on_step(record):
        if record["step"] == step:
            raise PowerCut

    return on_step


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_policy(run).model.state_dict()


def records(run: Path, name: str = "metrics") -> list[dict]:
    lines = (run / f"{name}.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k not in TIMES} for line in lines]


def assert_same_run(a: Path, b: Path, *names: str) -> None:
    wa, wb = weights(a), weights(b)
    assert all(torch.equal(wa[k], wb[k]) for k in wa)
    for name in names:
        assert records(a, name) == records(b, name)


def test_grpo_resumes_to_the_bit(config, sandbox, tmp_path):
    """5 + 5 steps are 10 steps."""
    config = replace(config, steps=10, save_every=5)
    whole = replace(config, out=tmp_path / "whole")
    grpo(whole, sandbox)
    with pytest.raises(PowerCut):
        grpo(config, sandbox, on_step=cut_after(7))  # step 7 is recorded, the newest checkpoint is step 5's
    assert [path.name for path in (config.out / "checkpoints").iterdir()] == ["step-000005"]
    grpo(config, sandbox, resume=True)
    assert_same_run(whole.out, config.out, "metrics", "trajectories")
    before, after = load_policy(config.model).model.state_dict(), weights(config.out)
    assert not any(torch.equal(before[k], after[k]) for k in after)  # there was something to be equal in
    # control: other seeds play other episodes
    other = replace(config, out=tmp_path / "other", seed=1, steps=1)
    grpo(other, sandbox)
    played = records(other.out, "trajectories")
    assert played != records(whole.out, "trajectories")[: len(played)]


KILLER = """
import os, signal, sys
from pathlib import Path
import tests_config
from rlsh.trainers import state
name, before = sys.argv[1], sys.argv[2] == "before"
count = int(sys.argv[3])
real = getattr(state.os, name) if name == "fsync" else Path.rename
def deadly(*arguments, **more):
    global count
    count -= 1
    if count == 0 and before: os.kill(os.getpid(), signal.SIGKILL)
    result = real(*arguments, **more)
    if count == 0: os.kill(os.getpid(), signal.SIGKILL)
    return result
if name == "fsync": state.os.fsync = deadly
else: Path.rename = deadly
tests_config.run()
"""
CONFIG_MODULE = """
import zlib
from pathlib import Path
import rlsh.env.episode
from rlsh.config import load
from rlsh.types import Verdict
from rlsh.sandbox.probe import open_sandbox
from rlsh.trainers.grpo import GrpoConfig, grpo
{lottery}
rlsh.env.episode.Episode.verdict = lottery
def run():
    with open_sandbox(1) as sandbox:
        grpo(load(GrpoConfig, Path("config.toml")), sandbox, resume=True)
"""


@pytest.mark.parametrize(
    ("name", "when", "count"),
    [("fsync", "before", 9), ("fsync", "after", 15), ("rename", "before", 2), ("rename", "after", 2)],
)
def test_grpo_survives_kill_inside_a_checkpoint(config, sandbox, tmp_path, name, when, count):
    """Killed while the second checkpoint is being written; what resumes ends as if nothing had happened."""
    whole = replace(config, out=tmp_path / "whole")
    grpo(whole, sandbox)
    (tmp_path / "config.toml").write_text(to_toml(config))
    (tmp_path / "tests_config.py").write_text(CONFIG_MODULE.replace("{lottery}", inspect.getsource(lottery)))
    (tmp_path / "killer.py").write_text(KILLER)
    killed = subprocess.run([sys.executable, "killer.py", name, when, str(count)], cwd=tmp_path, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert len(records(config.out)) >= 2
    grpo(config, sandbox, resume=True)
    assert_same_run(whole.out, config.out, "metrics", "trajectories")


@pytest.mark.parametrize(("name", "room"), [("trajectories.jsonl", 10), ("model.safetensors", -9), ("trainer.pt", -9)])
def test_a_full_disk_is_one_error_and_the_run_goes_on(config, sandbox, tmp_path, name, room):
    """From step 4 on no file grows past the present size of `name` and `room`: what comes first fails there."""
    whole = replace(config, out=tmp_path / "whole")
    grpo(whole, sandbox)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(record):
        if record["step"] == 3:
            (file,) = config.out.rglob(name)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + room, hard))

    try:
        with pytest.raises(RlshError) as caught:
            grpo(config, sandbox, on_step=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    message = str(caught.value)
    assert name in message and "--resume" in message and "\n" not in message
    assert [r["step"] for r in records(config.out)] == ([1, 2, 3] if name == "trajectories.jsonl" else [1, 2, 3, 4])
    assert [path.name for path in (config.out / "checkpoints").iterdir()] == ["step-000002"]  # and no leftovers
    grpo(config, sandbox, resume=True)
    assert_same_run(whole.out, config.out, "metrics", "trajectories")


def test_a_flipped_bit_in_the_newest_checkpoint_stops_the_resume(config, sandbox, tmp_path):
    with pytest.raises(PowerCut):
        grpo(config, sandbox, on_step=cut_after(5))
    intact = shutil.copytree(config.out, tmp_path / "intact")
    earlier, newest = sorted((config.out / "checkpoints").iterdir())
    file = newest / "model.safetensors"
    sound = file.read_bytes()
    file.write_bytes(sound[:-4] + bytes([sound[-4] ^ 1]) + sound[-3:])  # the last bit of a weight
    load_policy(newest)  # the file by itself does not show it
    with pytest.raises(RlshError) as caught:
        grpo(config, sandbox, resume=True)
    way_out = f"remove {newest} and --resume continues from {earlier}"
    assert str(caught.value) == f"{file}: changed since it was saved; {way_out}"
    assert len(records(config.out)) == 5 and file.exists()  # nothing was dropped
    shutil.rmtree(newest)
    grpo(config, sandbox, resume=True)
    # control: with the bit as it was saved the run resumes, and to the same end
    shutil.move(config.out, tmp_path / "way out")
    shutil.move(intact, config.out)
    grpo(config, sandbox, resume=True)
    assert_same_run(tmp_path / "way out", config.out, "metrics", "trajectories")


def test_ctrl_c_finishes_the_step_and_saves(config, sandbox):
    with pytest.raises(KeyboardInterrupt):
        grpo(config, sandbox, on_step=lambda record: os.kill(os.getpid(), signal.SIGINT))
    assert len(records(config.out)) == 1
    assert (config.out / "checkpoints" / "step-000001").exists()


def test_on_policy_ratio_is_one_whatever_the_micro_batch(config, sandbox, tmp_path):
    """One update a batch: nothing is clipped and the first gap is rounding, though dropout is configured."""
    for tokens in (16, 100_000):
        run = replace(config, out=tmp_path / str(tokens), updates=1, steps=2, micro_batch_tokens=tokens)
        grpo(run, sandbox)
        for record in records(run.out):
            assert record["clip_fraction"] == 0
            assert record["logp_gap"] < 1e-5
    a, b = weights(tmp_path / "16"), weights(tmp_path / "100000")
    assert all(torch.allclose(a[k], b[k], atol=1e-5) for k in a)


def test_a_gap_beyond_the_limit_stops_the_run(config, sandbox):
    with pytest.raises(RlshError, match="sampler and trainer differ"):
        grpo(replace(config, max_logp_gap=1e-12), sandbox)


def test_kl_is_zero_before_the_first_update_and_grows(config, sandbox):
    grpo(replace(config, updates=1, steps=4), sandbox)
    kl = [r["kl_k3"] for r in records(config.out)]
    assert kl[0] < 1e-8 < kl[-1]


def test_truncated_support_is_refused(config):
    with pytest.raises(RlshError, match="truncated support"):
        replace(config, rollout=RolloutConfig(top_p=0.9))


def test_pretraining_resumes_to_the_bit_and_learns(world, tmp_path, monkeypatch):
    config = PretrainConfig(
        data=world / "data",
        out=tmp_path / "whole",
        model=ShapeConfig(block_size=32, n_layer=1, n_head=2, n_embd=16, dropout=0.1),
        steps=10,
        rows=4,
        eval_every=5,
        eval_rows=4,
        save_every=5,
    )
    pretrain(config)
    losses = [r["loss"] for r in records(config.out)]
    assert losses[-1] < losses[0]
    part = replace(config, out=tmp_path / "part")
    killed = RuntimeError("the power went out")

    def fail_at_seven(*arguments, real=torch.optim.AdamW.step, count=[0], **more):  # noqa: B006
        count[0] += 1
        if count[0] == 7:
            raise killed
        return real(*arguments, **more)

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="power"):
        patch.setattr(torch.optim.AdamW, "step", fail_at_seven)
        pretrain(part)
    pretrain(part, resume=True)
    assert_same_run(config.out, part.out, "metrics")


def test_sft_resumes_to_the_bit_and_learns(world, tmp_path, monkeypatch):
    config = SftConfig(
        model=str(world / "model"),
        traces=world / "traces.jsonl",
        out=tmp_path / "whole",
        steps=10,
        rows=4,
        eval_every=5,
    )
    sft(config)
    losses = [r["loss"] for r in records(config.out)]
    assert losses[-1] < losses[0]
    short = replace(config, out=tmp_path / "part")

    real, seen = sft_module.optimizer_step, []

    def interrupting(*arguments):
        seen.append(1)
        if len(seen) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return real(*arguments)

    monkeypatch.setattr(sft_module, "optimizer_step", interrupting)
    with pytest.raises(KeyboardInterrupt):
        sft(short)
    sft(short, resume=True)
    assert_same_run(config.out, short.out)


def test_a_second_run_over_the_first_is_refused(config, sandbox):
    with pytest.raises(PowerCut):
        grpo(config, sandbox, on_step=cut_after(1))
    with pytest.raises(RlshError, match="--resume"):
        grpo(config, sandbox)
