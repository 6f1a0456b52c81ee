"""Our decoder against transformers' GPT-2, and against checkpoints and logits that nanoGPT itself wrote."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from rlsh.models import Decoder, ModelConfig

CONFIG = ModelConfig(vocab_size=61, block_size=24, n_layer=3, n_head=4, n_embd=32)
TOLERANCE = 2e-5

SHARED = Path(os.environ.get("RLSH_SHARED", Path(__file__).parents[2] / ".." / "shared"))
NANOGPT = SHARED / "data" / "nanogpt"
needs_nanogpt = pytest.mark.skipif(
    not NANOGPT.exists(), reason=f"no nanoGPT checkpoints at {NANOGPT}; RLSH_SHARED names their folder"
)

# GPT-2's names -> ours; the rest of a name is the same
RENAMED = {"wpe.": "position.table.", "h.": "blocks."}


def our_name(name):
    name = name.removeprefix("_orig_mod.").removeprefix("transformer.")
    for theirs, ours in RENAMED.items():
        if name.startswith(theirs):
            return ours + name.removeprefix(theirs)
    return name


def hf_pair(activation):
    """A random GPT-2 of transformers and our decoder with its weights."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=CONFIG.vocab_size,
            n_positions=CONFIG.block_size,
            n_embd=CONFIG.n_embd,
            n_layer=CONFIG.n_layer,
            n_head=CONFIG.n_head,
            activation_function=activation,
            bos_token_id=0,
            eos_token_id=0,
        )
    ).eval()
    with torch.no_grad():
        for p in theirs.parameters():  # biases and norms away from 0 and 1, activations away from 0
            p.add_(0.2 * torch.randn_like(p))
    weights = {}
    for name, w in theirs.state_dict().items():
        if name == "lm_head.weight":
            assert torch.equal(w, theirs.transformer.wte.weight)  # tied
            continue
        transposed = w.dim() == 2 and name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))  # Conv1D
        weights[our_name(name)] = w.T if transposed else w
    ours = Decoder(CONFIG).eval()
    ours.load_state_dict(weights)  # strict: every weight of either side has a partner
    return ours, theirs


def test_logits_and_gradients_equal_transformers():
    ours, theirs = hf_pair("gelu")
    ids = torch.randint(0, CONFIG.vocab_size, (3, CONFIG.block_size), generator=torch.Generator().manual_seed(1))
    mine, other = ours(ids), theirs(ids).logits
    assert other.std() > 1  # not a comparison of noughts
    assert (mine - other).abs().max() <= TOLERANCE
    weight = torch.randn(mine.shape, generator=torch.Generator().manual_seed(2))
    (mine * weight).mean().backward()
    (other * weight).mean().backward()
    pairs = [
        (ours.wte.weight, theirs.transformer.wte.weight),
        (ours.position.table.weight, theirs.transformer.wpe.weight),
        (ours.blocks[0].attn.c_attn.bias, theirs.transformer.h[0].attn.c_attn.bias),
        (ours.blocks[1].mlp.c_fc.bias, theirs.transformer.h[1].mlp.c_fc.bias),
        (ours.blocks[2].ln_2.weight, theirs.transformer.h[2].ln_2.weight),
    ]
    for mine, other in pairs:
        torch.testing.assert_close(mine.grad, other.grad, rtol=1e-4, atol=1e-6)


def test_the_tanh_approximation_is_another_model():
    """Control: the tolerance tells the exact GELU from OpenAI's approximation of it."""
    ours, theirs = hf_pair("gelu_new")
    ids = torch.randint(0, CONFIG.vocab_size, (3, CONFIG.block_size), generator=torch.Generator().manual_seed(1))
    assert (ours(ids) - theirs(ids).logits).abs().max() > 10 * TOLERANCE


def nanogpt(name):
    saved = torch.load(NANOGPT / f"{name}.ckpt.pt", map_location="cpu", weights_only=True)
    model = Decoder(ModelConfig(**saved["model_args"]))
    weights = {our_name(key): w for key, w in saved["model"].items()}
    assert torch.equal(weights.pop("lm_head.weight"), weights["wte.weight"])  # tied, and both keys present
    model.load_state_dict(weights)
    return model.eval(), saved["model_args"]


@needs_nanogpt
@pytest.mark.parametrize("name", ["char_nobias", "char_compiled", "gpt2_padded_vocab"])
def test_nanogpt_logits(name):
    model, about = nanogpt(name)
    recorded = np.load(NANOGPT / f"{name}.logits.npz")
    with torch.no_grad():
        logits = model(torch.from_numpy(recorded["ids"]))
    columns = recorded["columns"] if "columns" in recorded else np.arange(about["vocab_size"])
    assert logits.shape[-1] == about["vocab_size"]
    assert np.abs(logits[..., columns].numpy() - recorded["logits"]).max() <= TOLERANCE
    assert np.abs(logits.logsumexp(-1).numpy() - recorded["logsumexp"]).max() <= TOLERANCE


@needs_nanogpt
def test_the_nanogpt_oracles_cover_the_variants():
    abouts = [nanogpt(name)[1] for name in ("char_nobias", "char_compiled", "gpt2_padded_vocab")]
    assert not abouts[0]["bias"] and abouts[1]["bias"]
    assert abouts[0]["dropout"] > 0 and abouts[2]["vocab_size"] == 50304


@needs_nanogpt
def test_padding_of_the_vocabulary_leaves_the_head():
    model, about = nanogpt("gpt2_padded_vocab")
    cut = Decoder(ModelConfig(**about, valid_vocab=50257)).eval()
    cut.load_state_dict(model.state_dict())
    ids = torch.from_numpy(np.load(NANOGPT / "gpt2_padded_vocab.logits.npz")["ids"])
    with torch.no_grad():
        torch.testing.assert_close(cut(ids), model(ids)[..., :50257], rtol=0, atol=1e-6)
