"""A model folder: what is saved is what is loaded, and every damage has its one line."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import load_file

from rlsh.models import Decoder, ModelConfig
from rlsh.policy import CONFIG, WEIGHTS, Policy, load_policy, resolve, save_policy
from rlsh.text import Tokenizer
from rlsh.types import RlshError

SHAPE = ModelConfig(vocab_size=270, block_size=16, n_layer=2, n_head=2, n_embd=8, dropout=0.1, valid_vocab=263)


@pytest.fixture
def policy():
    return Policy(Decoder(SHAPE, torch.Generator().manual_seed(0)), Tokenizer.of_bytes(), {"steps": 3, "on": "é"})


@pytest.fixture
def folder(policy, tmp_path):
    save_policy(tmp_path, policy)
    return tmp_path


def refusal(where):
    with pytest.raises(RlshError) as caught:
        load_policy(where)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 500
    return message


def edit_config(folder, change):
    about = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    change(about)
    (folder / CONFIG).write_text(json.dumps(about), encoding="utf-8")


def test_fp32_comes_back_bit_for_bit(policy, folder):
    loaded = load_policy(folder)
    before, after = policy.model.state_dict(), loaded.model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert loaded.model.config == SHAPE and loaded.facts == policy.facts
    assert loaded.tokenizer.reserved == policy.tokenizer.reserved
    assert not loaded.model.training  # dropout is off in what is loaded
    x = torch.arange(10)[None]
    assert torch.equal(loaded.model(x), policy.model.eval()(x))


def test_bf16_is_the_rounded_model_in_fp32(policy, tmp_path):
    save_policy(tmp_path, policy, torch.bfloat16)
    stored = load_file(tmp_path / WEIGHTS)
    assert {w.dtype for w in stored.values()} == {torch.bfloat16}
    assert all(p.dtype == torch.float32 for p in policy.model.parameters())  # saving left the model alone
    for name, w in load_policy(tmp_path).model.state_dict().items():
        assert w.dtype == torch.float32
        assert torch.equal(w, policy.model.state_dict()[name].bfloat16().float())


def test_the_tied_head_is_stored_once(folder):
    stored = load_file(folder / WEIGHTS)
    assert sum(w.shape[0] == SHAPE.vocab_size for w in stored.values()) == 1


def test_a_run_folder_means_its_newest_checkpoint(policy, tmp_path):
    for step in ("step-000002", "step-000010"):
        place = tmp_path / "checkpoints" / step
        place.mkdir(parents=True)
        policy.facts = {"step": step}
        save_policy(place, policy)
    assert resolve(tmp_path) == tmp_path / "checkpoints" / "step-000010"
    assert load_policy(tmp_path).facts == {"step": "step-000010"}


def test_a_missing_folder(tmp_path):
    message = refusal(tmp_path / "nowhere")
    assert "nowhere: no model here" in message and "base" in message


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "null", '{"model": {}}', '{"model": 3}', "\udcff"])
def test_an_unreadable_config(folder, content):
    (folder / CONFIG).write_bytes(content.encode("utf-8", "surrogateescape"))
    assert "config.json: not a model's config" in refusal(folder)


@pytest.mark.parametrize("key", ["model", "format", "facts"])
def test_a_config_that_lacks_a_part(folder, key):
    edit_config(folder, lambda about: about.pop(key))
    assert f"config.json: not a model's config ('{key}')" in refusal(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": 3}, "not a model's config .*'heads'"),
        ({"n_head": 3}, "n_embd = 8 is not a multiple of n_head = 3"),
        ({"attention": "none"}, "model.attention = 'none' is unknown; one of: mha"),
    ],
)
def test_a_config_of_no_model(folder, change, message):
    edit_config(folder, lambda about: about["model"].update(change))
    with pytest.raises(RlshError, match=message):
        load_policy(folder)


def test_another_chat_format(folder):
    edit_config(folder, lambda about: about.update(format="0123456789abcdef"))
    message = refusal(folder)
    assert "trained in chat format 0123456789abcdef" in message and "retrain" in message


@pytest.mark.parametrize("keep", [0, 4, 100, -8])
def test_truncated_weights(folder, keep):
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[:keep])
    assert "model.safetensors: missing or damaged" in refusal(folder)


def test_missing_weights(folder):
    (folder / WEIGHTS).unlink()
    assert "model.safetensors: missing or damaged" in refusal(folder)


@pytest.mark.parametrize("change", [{"vocab_size": 280}, {"n_layer": 3}, {"n_layer": 1}, {"bias": False}])
def test_weights_of_another_shape(folder, change):
    edit_config(folder, lambda about: about["model"].update(change))
    assert "model.safetensors: does not fit config.json" in refusal(folder)


def test_a_missing_tokenizer(folder):
    (folder / "tokenizer.json").unlink()
    assert "tokenizer.json: no such file" in refusal(folder)


def test_a_tokenizer_of_another_model(folder):
    Tokenizer.train(["other words entirely, so that there are merges"] * 9, 300).save(folder)
    assert "do not belong together" in refusal(folder)
