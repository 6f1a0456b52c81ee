"""Schedule, parameter groups and clipping."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch

from rlsh.models import Decoder, ModelConfig
from rlsh.trainers.optim import OptimConfig, lr_at, make_optimizer, optimizer_step


def test_warm_up_then_constant():
    config = OptimConfig(lr=1.0, warmup=3)
    assert [lr_at(step, 6, config) for step in range(6)] == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    assert lr_at(0, 6, OptimConfig(lr=0.3)) == 0.3


def test_warm_up_then_cosine_to_the_minimum():
    """nanoGPT's schedule: lr * (it + 1) / (warmup + 1), then a half cosine over what is left."""
    config = OptimConfig(lr=1.0, schedule="cosine", min_lr=0.2, warmup=2)
    got = [lr_at(step, 10, config) for step in range(11)]
    assert got[:3] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert got[4] == pytest.approx(0.2 + 0.8 * 0.5 * (1 + math.cos(math.pi / 4)))
    assert got[6] == pytest.approx(0.6)  # half way
    assert got[10] == pytest.approx(0.2)
    assert all(a > b for a, b in pairwise(got[2:]))


def test_a_schedule_that_is_all_warm_up():
    config = OptimConfig(lr=1.0, schedule="cosine", warmup=5)
    assert lr_at(5, 5, config) == 1.0


def small():
    return Decoder(ModelConfig(20, 8, 2, 2, 8), torch.Generator().manual_seed(0))


def test_decay_is_for_matrices_and_embeddings():
    model = small()
    model.ln_f.weight.requires_grad_(False)
    optimizer = make_optimizer(model, OptimConfig(lr=0.5, beta1=0.8, beta2=0.99, weight_decay=0.1))
    decayed, plain = optimizer.param_groups
    names = {id(p): name for name, p in model.named_parameters()}
    assert {names[id(p)] for p in plain["params"]} == {
        name for name, p in model.named_parameters() if ("bias" in name or "ln_" in name) and name != "ln_f.weight"
    }
    assert len(decayed["params"]) + len(plain["params"]) == len(names) - 1  # frozen weights are nobody's
    assert (decayed["weight_decay"], plain["weight_decay"]) == (0.1, 0.0)
    assert decayed["betas"] == (0.8, 0.99) and decayed["lr"] == 0.5


def test_a_step_is_adamws():
    """One step by the paper: sign-like update of size lr, and decay lr * wd * w on matrices alone."""
    model = small()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    optimizer = make_optimizer(model, OptimConfig(lr=9.0, weight_decay=0.1))
    optimizer_step(model, optimizer, 0.01, grad_clip=0.0)
    for name, p in model.named_parameters():
        decay = 0.1 if p.dim() >= 2 else 0.0
        torch.testing.assert_close(p.detach(), before[name] * (1 - 0.01 * decay) - 0.01, rtol=0, atol=1e-6)
        assert p.grad is None  # cleared


@pytest.mark.parametrize(("limit", "after"), [(1.0, 1.0), (100.0, 5.0), (0.0, 5.0)])
def test_clipping_by_global_norm(limit, after):
    model = torch.nn.Linear(2, 1)
    model.weight.grad, model.bias.grad = torch.tensor([[3.0, 0.0]]), torch.tensor([4.0])
    seen = []

    class Spy(torch.optim.SGD):
        def step(self, closure=None):
            seen.append(torch.cat([p.grad.flatten() for p in model.parameters()]))

    assert optimizer_step(model, Spy(model.parameters(), lr=1.0), 0.1, limit) == pytest.approx(5.0)
    assert float(seen[0].norm()) == pytest.approx(after, rel=1e-5)
    torch.testing.assert_close(seen[0] / seen[0].norm(), torch.tensor([0.6, 0.0, 0.8]))


def test_the_learning_rate_of_the_step_reaches_every_group():
    model = small()
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    optimizer = make_optimizer(model, OptimConfig(lr=1.0))
    optimizer_step(model, optimizer, 0.125, 1.0)
    assert [group["lr"] for group in optimizer.param_groups] == [0.125, 0.125]
