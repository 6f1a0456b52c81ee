"""The decoder by its properties: causal, exact under right padding, initialised as GPT-2, silent in eval mode."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from rlsh.models import Decoder, ModelConfig
from rlsh.models.attention import mask_from_positions
from rlsh.models.norm import LayerNorm
from rlsh.types import RlshError

SHAPE = {"vocab_size": 40, "block_size": 24, "n_layer": 3, "n_head": 2, "n_embd": 16}
CONFIG = ModelConfig(**SHAPE)


def loud(config=CONFIG):
    """Random weights large enough for mistakes to show."""
    model = Decoder(config, torch.Generator().manual_seed(0)).eval().requires_grad_(False)
    for p in model.parameters():
        p.mul_(4.0)
    return model


def ids(rows, length, seed=1):
    return torch.randint(0, CONFIG.vocab_size, (rows, length), generator=torch.Generator().manual_seed(seed))


def test_the_future_is_not_seen_and_the_past_is():
    model, x = loud(), ids(2, 20)
    changed = x.clone()
    changed[:, 12] = (x[:, 12] + 1) % CONFIG.vocab_size
    apart = (model(x) - model(changed)).abs().amax(dim=(0, 2))
    assert apart[:12].max() == 0 and apart[12:].min() > 1e-2


def test_right_padding_is_exact():
    model, x = loud(), ids(1, 9)
    padded = torch.cat([x, ids(1, 11, seed=2)], dim=1)
    assert (model(padded)[:, :9] - model(x)).abs().max() <= 1e-5
    # control: padding on the left without position ids is another input
    assert (model(torch.cat([torch.zeros(1, 3, dtype=torch.long), x], 1))[:, 3:] - model(x)).abs().max() > 0.1


def test_positions_are_absolute():
    model, x = loud(), ids(1, 6)
    shifted = model.hidden(x, positions=torch.arange(4, 10)[None])
    assert (shifted - model.hidden(x)).abs().max() > 0.1
    assert torch.equal(model.hidden(x, positions=torch.arange(6)[None]), model.hidden(x))


def test_a_query_sees_its_own_position_and_those_before():
    mask = mask_from_positions(torch.tensor([[2, 3], [0, 1]]), 5, torch.float32)
    assert mask.shape == (2, 1, 2, 5) and mask.dtype == torch.float32
    assert mask.exp().int().tolist() == [[[[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]], [[[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]]]]


def test_dropout_is_off_in_eval_mode_only():
    config = ModelConfig(**SHAPE, dropout=0.1)
    model, x = loud(config), ids(2, 10)
    assert torch.equal(model(x), model(x)) and torch.equal(model(x), loud()(x))
    model.train()
    assert (model(x) - model(x)).abs().max() > 0.1


@pytest.mark.parametrize("where", ["embedding", "attention weights", "attention output", "mlp output"])
def test_dropout_lies_where_gpt2_has_it(monkeypatch, where):
    """Four places a layer sees; each is found by switching the other three off."""
    model = loud(ModelConfig(**SHAPE, dropout=0.5)).train()
    silent = loud()(ids(2, 10))
    real_dropout, real_sdpa = F.dropout, F.scaled_dot_product_attention
    calls = {"n": 0}

    def dropout(x, p, training):
        place = "embedding" if calls["n"] == 0 else ("attention output", "mlp output")[(calls["n"] - 1) % 2]
        calls["n"] += 1
        return real_dropout(x, p, training) if place == where else x

    def sdpa(*args, dropout_p, **kwargs):
        return real_sdpa(*args, dropout_p=dropout_p if where == "attention weights" else 0.0, **kwargs)

    monkeypatch.setattr(F, "dropout", dropout)
    monkeypatch.setattr(F, "scaled_dot_product_attention", sdpa)
    assert (model(ids(2, 10)) - silent).abs().max() > 0.1
    assert calls["n"] == 1 + 2 * CONFIG.n_layer


def test_initial_weights_are_gpt2s():
    model = Decoder(ModelConfig(vocab_size=400, block_size=200, n_layer=8, n_head=2, n_embd=64))
    for name, p in model.state_dict().items():
        if name.endswith("bias"):
            assert (p == 0).all(), name
        elif p.dim() == 1:
            assert (p == 1).all(), name
        else:
            std = 0.02 / math.sqrt(16) if "c_proj" in name else 0.02
            assert float(p.std()) == pytest.approx(std, rel=0.05), name
            assert abs(float(p.mean())) < 5 * std / math.sqrt(p.numel()), name


def test_a_generator_fixes_the_weights():
    make = lambda seed: Decoder(CONFIG, torch.Generator().manual_seed(seed)).state_dict()  # noqa: E731
    one, same, other = make(0), make(0), make(1)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["wte.weight"], other["wte.weight"])


def test_the_head_is_the_embedding_cut_to_the_valid_vocabulary():
    model = loud(ModelConfig(**SHAPE, valid_vocab=33))
    x = ids(1, 7) % 33
    torch.testing.assert_close(model(x), loud()(x)[..., :33], rtol=0, atol=1e-6)
    assert not any("head" in name for name in model.state_dict())
    hidden = model.hidden(x)
    assert torch.equal(model.logits(hidden), hidden @ model.wte.weight[:33].T)


@pytest.mark.parametrize(
    ("shape", "millions"),
    [
        ({"n_layer": 12, "n_head": 12, "n_embd": 768, "bias": False, "vocab_size": 50304}, 124.4),
        ({"n_layer": 24, "n_head": 24, "n_embd": 1536, "bias": False, "vocab_size": 50304}, 758.4),
        ({"n_layer": 24, "n_head": 24, "n_embd": 1536, "bias": True, "vocab_size": 50304}, 758.8),
    ],
)
def test_parameter_counts(shape, millions):
    with torch.device("meta"):
        model = Decoder(ModelConfig(block_size=1024, **shape))
    count = sum(p.numel() for p in model.parameters())
    assert count / 1e6 == pytest.approx(millions, abs=0.05)


def test_norms_are_computed_in_fp32():
    norm = LayerNorm(ModelConfig(**SHAPE)).bfloat16()
    x = (100 + torch.randn(50, 16, generator=torch.Generator().manual_seed(0))).bfloat16()
    exact = F.layer_norm(x.double(), (16,))
    got = norm(x)
    assert got.dtype == torch.bfloat16 and (got.double() - exact).abs().max() < 0.02
    centred = x - x.mean(-1, keepdim=True)  # control: the same in bf16
    assert (centred / centred.square().mean(-1, keepdim=True).sqrt() - exact).abs().max() > 0.05


def test_norm_eps_is_gpt2s():
    norm = LayerNorm(ModelConfig(**SHAPE, bias=False))
    x = 1e-3 * torch.randn(4, 16, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(norm(x), F.layer_norm(x, (16,), eps=1e-5))
    assert norm.bias is None


def test_too_many_tokens():
    with pytest.raises(ValueError, match="25 tokens exceed block_size = 24"):
        loud()(ids(1, 25))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_head": 3}, "n_embd = 16 is not a multiple of n_head = 3"),
        ({"valid_vocab": 41}, "valid_vocab = 41 lies outside 1..vocab_size = 40"),
        ({"valid_vocab": 0}, "valid_vocab = 0"),
        ({"dropout": 1.0}, "dropout = 1.0"),
        ({"dropout": -0.1}, "dropout = -0.1"),
    ],
)
def test_impossible_shapes(change, message):
    with pytest.raises(RlshError, match=message):
        ModelConfig(**{**SHAPE, **change})


@pytest.mark.parametrize("kind", ["attention", "ffn", "norm", "position"])
def test_unknown_parts_name_the_known_ones(kind):
    with pytest.raises(RlshError, match=rf"model\.{kind} = 'none' is unknown; one of: \w+"):
        Decoder(ModelConfig(**SHAPE, **{kind: "none"}))


def test_head_dim():
    assert CONFIG.head_dim == 8
