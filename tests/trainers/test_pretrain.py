"""Pretraining: which model is kept, and that one is kept whatever happens while it is replaced."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest
import torch

from rlsh import policy as policy_module
from rlsh.data.shards import fixed_rows, open_shard, write_shards
from rlsh.models import Decoder, ModelConfig
from rlsh.policy import Policy, load_policy, save_policy
from rlsh.text import Tokenizer
from rlsh.trainers.optim import OptimConfig
from rlsh.trainers.pretrain import PretrainConfig, ShapeConfig, evaluate, pretrain, replace_policy
from rlsh.types import RlshError

TOKENIZER = Tokenizer.of_bytes()


def test_the_best_is_the_checkpoint_of_the_lowest_validation_loss(tmp_path):
    """Trained on a's, validated on a's and b's: what is learned first helps, what follows does harm."""
    texts = ["ab" * 30 if i % 50 == 0 else "a" * 60 for i in range(100)]  # every 50th validates
    write_shards(tmp_path / "data", TOKENIZER, TOKENIZER.encode_batch(texts), {})
    config = PretrainConfig(
        data=tmp_path / "data",
        out=tmp_path / "run",
        model=ShapeConfig(block_size=16, n_layer=1, n_head=2, n_embd=16),
        optim=OptimConfig(lr=0.01),
        steps=16,
        rows=4,
        eval_every=2,
        eval_rows=6,
        save_every=16,
    )
    best = load_policy(pretrain(config))
    records = [json.loads(line) for line in (config.out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    losses = {r["step"]: r["val_loss"] for r in records if "val_loss" in r}
    assert list(losses) == [2, 4, 6, 8, 10, 12, 14, 16]
    lowest = min(losses, key=losses.get)
    assert best.facts == {"pretrain_steps": lowest, "pretrain_val_loss": losses[lowest]}
    rows = fixed_rows(open_shard(config.data / "val.bin"), 6, 17)
    assert evaluate(best.model, rows, 4) == pytest.approx(losses[lowest], rel=1e-6)
    # control: neither the first nor the last would have been right
    assert lowest not in (2, 16)
    last = evaluate(load_policy(config.out).model, rows, 4)
    assert last == pytest.approx(losses[16], rel=1e-6) and last > losses[lowest] + 0.1


# --- the best so far is replaced


def policy_of(step):
    shape = ModelConfig(TOKENIZER.vocab_size, 16, n_layer=1, n_head=2, n_embd=8)
    return Policy(Decoder(shape, torch.Generator().manual_seed(step)), TOKENIZER, {"step": step})


class PowerCut(BaseException):
    pass


CALLS = [(os, name) for name in ("mkdir", "rename", "unlink", "rmdir")]
CALLS += [(policy_module, "save_file"), (Path, "write_text")]


def cut_at(k, when, act):
    """`act()`, broken off before or after its k-th call of CALLS; False: made fewer."""
    calls = itertools.count()

    def trap(real):
        def call(*args, **kwargs):
            mine = next(calls) == k
            if mine and when == "before":
                raise PowerCut
            result = real(*args, **kwargs)
            if mine:
                raise PowerCut
            return result

        return call

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in CALLS:
            patch.setattr(owner, name, trap(getattr(owner, name)))
        try:
            act()
        except PowerCut:
            return True
    return False


def kept(folder):
    """The steps of the policies that can be loaded from `folder` and from where it may have stepped aside."""
    found = []
    for place in (folder, folder.with_name(".best.old")):
        try:
            found.append(load_policy(place).facts["step"])
        except RlshError:
            continue
    return found


def cut_everywhere(tmp_path, replacing):
    """Break off one replacement of step 1 by step 2 at every call; count the cuts after which neither is left."""
    lost = 0
    for when in ("before", "after"):
        for k in itertools.count():
            folder = tmp_path / f"{when}{k}" / "best"
            replace_policy(folder, policy_of(1))
            if not cut_at(k, when, lambda: replacing(folder, policy_of(2))):  # noqa: B023
                break
            left = kept(folder)
            assert not {*left} - {1, 2}
            lost += not left
            replace_policy(folder, policy_of(3))  # the next call tidies up after the dead one
            assert load_policy(folder).facts == {"step": 3}
            assert [path.name for path in folder.parent.iterdir()] == ["best"]
        assert kept(folder) == [2]
        assert k > 3
    return lost


def test_a_replacement_broken_off_anywhere_leaves_a_policy(tmp_path):
    assert cut_everywhere(tmp_path, replace_policy) == 0


def test_a_replacement_in_place_fails_that_test(tmp_path):
    def in_place(folder, policy):
        for file in sorted(folder.iterdir()):
            file.unlink()
        save_policy(folder, policy)

    assert cut_everywhere(tmp_path, in_place) > 0


def test_the_first_policy_needs_nothing_to_replace(tmp_path):
    replace_policy(tmp_path / "new" / "best", policy_of(1))
    assert kept(tmp_path / "new" / "best") == [1]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["best"]
