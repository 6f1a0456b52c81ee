"""The cold start: which model is kept, what share is replayed, which traces are of use."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from rlsh.env.traces import write_traces
from rlsh.models import Decoder, ModelConfig
from rlsh.policy import Policy, load_policy, save_policy
from rlsh.text import Tokenizer
from rlsh.text.chat import encode
from rlsh.trainers import sft as sft_module
from rlsh.trainers.optim import OptimConfig
from rlsh.trainers.sft import SftConfig, mean_loss, sft
from rlsh.types import Message, RlshError, ToolCall

BLOCK, TOKENIZER = 64, Tokenizer.of_bytes()


def conversation(command, said="done"):
    return [
        Message("user", "help"),
        Message("assistant", call=ToolCall("exec", {"command": command})),
        Message("tool", "ok"),
        Message("assistant", said),
    ]


TRACES = [conversation(f"ls {c}") for c in "abcdefg"]
REPLAY = [conversation("pwd", said=c) for c in "xyz"]
LONG = conversation("cat " + "a" * BLOCK)


@pytest.fixture
def config(tmp_path):
    """Two validation traces whose last word training never shows, and a rate that soon overshoots."""
    write_traces(tmp_path / "traces.jsonl", TRACES + [conversation("ls", said=w) for w in ("DONE", "FINE")])
    shape = ModelConfig(TOKENIZER.vocab_size, BLOCK, n_layer=1, n_head=2, n_embd=16)
    (tmp_path / "model").mkdir()
    save_policy(tmp_path / "model", Policy(Decoder(shape, torch.Generator().manual_seed(0)), TOKENIZER))
    return SftConfig(
        model=str(tmp_path / "model"),
        traces=tmp_path / "traces.jsonl",
        out=tmp_path / "run",
        optim=OptimConfig(lr=0.03),
        steps=16,
        rows=4,
        val_share=0.25,
        eval_every=2,
    )


def val_losses(run):
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return {r["step"]: r["val_loss"] for r in records if "val_loss" in r}


def test_the_best_is_the_checkpoint_of_the_lowest_validation_loss(config):
    best = load_policy(sft(config))
    losses = val_losses(config.out)
    assert list(losses) == [2, 4, 6, 8, 10, 12, 14, 16]
    lowest = min(losses, key=losses.get)
    assert best.facts == {"sft_traces": 7, "sft_steps": lowest, "sft_val_loss": losses[lowest]}
    rows = [encode(TOKENIZER, t) for t in (conversation("ls", said="DONE"), conversation("ls", said="FINE"))]
    assert mean_loss(best.model, rows, config.micro_batch_tokens) == pytest.approx(losses[lowest], rel=1e-6)
    # control: neither the first nor the last would have been right
    assert lowest not in (2, 16)
    last = mean_loss(load_policy(config.out).model, rows, config.micro_batch_tokens)
    assert last == pytest.approx(losses[16], rel=1e-6) and last > losses[lowest] + 0.1


@pytest.mark.parametrize(("share", "replayed"), [(0.0, 0), (0.25, 1), (0.5, 2), (1.0, 4), (None, 0)])
def test_the_share_of_replayed_rows(config, tmp_path, monkeypatch, share, replayed):
    write_traces(tmp_path / "replay.jsonl", REPLAY)
    if share is not None:  # without a file nothing is replayed, whatever the share
        config = replace(config, replay=tmp_path / "replay.jsonl", replay_share=share)
    drawn, trained = [], []
    draw, batches = sft_module.draw_rows, sft_module.micro_batches

    def draw_rows(rows, count, generator):
        drawn.append(draw(rows, count, generator))
        return list(drawn[-1])

    def micro_batches(rows, *more):
        trained.append(list(rows))
        return batches(rows, *more)

    monkeypatch.setattr(sft_module, "draw_rows", draw_rows)
    monkeypatch.setattr(sft_module, "micro_batches", micro_batches)
    sft(replace(config, steps=3, eval_every=3))
    old, new = ([encode(TOKENIZER, t) for t in traces] for traces in (REPLAY, TRACES))
    assert [len(rows) for rows in drawn] == [4 - replayed, replayed] * 3
    for step in range(3):
        fresh, repeated = drawn[2 * step : 2 * step + 2]
        assert all(row in new for row in fresh) and all(row in old for row in repeated)
        assert trained[step] == fresh + repeated


@pytest.mark.parametrize(("traces", "usable"), [([], 0), (TRACES[:1], 1), ([LONG, LONG, TRACES[0]], 1)])
def test_fewer_than_two_usable_traces_are_refused(config, traces, usable):
    write_traces(config.traces, traces)
    with pytest.raises(RlshError) as caught:
        sft(config)
    assert str(caught.value).startswith(f"{config.traces}: {usable} usable traces; at least 2 are needed")
    assert not config.out.exists()
    write_traces(config.traces, [*traces, *TRACES[: 2 - usable]])  # control: with two of them it trains
    assert load_policy(sft(replace(config, steps=1))).facts["sft_traces"] == 1


def test_conversations_beyond_the_context_are_left_out_and_counted(config, tmp_path, capsys):
    ids, _ = encode(TOKENIZER, LONG)
    model = load_policy(config.model).model
    with pytest.raises(ValueError, match="exceed block_size"):  # what one of them would do to a step
        mean_loss(model, [encode(TOKENIZER, LONG)], config.micro_batch_tokens)
    write_traces(config.traces, [*TRACES, LONG])
    write_traces(tmp_path / "replay.jsonl", [LONG, *REPLAY, LONG])
    config = replace(config, steps=2, replay=tmp_path / "replay.jsonl")
    assert load_policy(sft(config)).facts["sft_traces"] == 6  # the seventh validates
    said = capsys.readouterr().err
    assert f"{config.traces}: 1 of 8 conversations are left out: over {BLOCK} tokens" in said
    assert f"{config.replay}: 2 of 5 conversations are left out: over {BLOCK} tokens" in said
    # control: one that just fits stays, and nothing is said
    fits = conversation("ls " + "a" * (BLOCK - len(encode(TOKENIZER, conversation("ls "))[0])))
    assert len(encode(TOKENIZER, fits)[0]) == BLOCK < len(ids)
    write_traces(config.traces, [*TRACES, fits])
    assert load_policy(sft(replace(config, replay=None, out=tmp_path / "other"))).facts["sft_traces"] == 6
    assert "left out" not in capsys.readouterr().err
