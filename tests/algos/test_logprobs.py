"""Chunked log-probs against one full log_softmax, in value, gradient and memory."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from rlsh.algos import logprobs, token_logprobs

N, C, V = 21, 5, 17


def case(dtype=torch.float32, n=N, scale=1.0):
    g = torch.Generator().manual_seed(0)
    hidden = (scale * torch.randn(n, C, generator=g, dtype=dtype)).requires_grad_()
    head = torch.randn(V, C, generator=g, dtype=dtype).requires_grad_()
    return hidden, head, torch.randint(V, (n,), generator=g)


def full(hidden, head, targets, temperature=1.0):
    logp = F.log_softmax(hidden @ head.T / temperature, -1)
    return logp.gather(1, targets[:, None])[:, 0], -(logp.exp() * logp).sum(-1)


@pytest.mark.parametrize("temperature", [1.0, 0.6])
@pytest.mark.parametrize("chunk", [1, 3, 7, 20, 21, 2048])
def test_chunked_equals_full(chunk, temperature):
    hidden, head, targets = case(torch.float64)
    logp, entropy = token_logprobs(hidden, head, targets, temperature=temperature, chunk=chunk)
    exact, exact_entropy = full(hidden, head, targets, temperature)
    torch.testing.assert_close(logp, exact, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(entropy, exact_entropy, rtol=1e-12, atol=1e-13)
    weights = torch.linspace(-1, 2, N, dtype=torch.float64)
    got = torch.autograd.grad((weights * logp).sum(), (hidden, head))
    expected = torch.autograd.grad((weights * exact).sum(), (hidden, head))
    for g, e in zip(got, expected, strict=True):
        torch.testing.assert_close(g, e, rtol=1e-12, atol=1e-13)
    # control: a scorer that forgets the temperature speaks of another distribution
    assert temperature == 1.0 or (logp - full(hidden, head, targets)[0]).abs().max() > 0.1


@pytest.mark.parametrize("chunk", [2, 2048])
def test_gradcheck(chunk):
    hidden, head, targets = case(torch.float64, n=5)
    inner = lambda h, w: token_logprobs(h, w, targets, temperature=0.7, chunk=chunk)[0]  # noqa: E731
    assert torch.autograd.gradcheck(inner, (hidden, head))


def test_entropy_is_exact_at_its_extremes_and_carries_no_gradient():
    hidden, head = torch.tensor([[0.0], [1.0]], requires_grad=True), torch.tensor([[1e4], [0.0], [0.0]])
    logp, entropy = token_logprobs(hidden, head, torch.tensor([0, 0]))
    assert entropy.tolist() == pytest.approx([torch.tensor(3.0).log().item(), 0.0])  # p = 0 counts as 0, not NaN
    assert logp[1] == 0.0 and not entropy.requires_grad


def test_reduction_is_fp32_for_bf16_weights():
    hidden, head, targets = (x.bfloat16() if x.is_floating_point() else x for x in case(scale=3.0))
    logp, entropy = token_logprobs(hidden, head, targets)
    assert logp.dtype == entropy.dtype == torch.float32
    logits = F.linear(hidden, head)
    exact = F.log_softmax(logits.double(), -1).gather(1, targets[:, None])[:, 0]
    assert (logp - exact).abs().max() < 1e-5
    # control: reducing in bf16
    assert (F.log_softmax(logits, -1).gather(1, targets[:, None])[:, 0] - exact).abs().max() > 1e-3


class Widest(TorchDispatchMode):
    """The most elements any operation returned, forward and backward."""

    numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for x in out if isinstance(out, tuple | list) else [out]:
            if isinstance(x, torch.Tensor):
                self.numel = max(self.numel, x.numel())
        return out


def kept_for_backward(chunk):
    """Elements of the tensors that the forward pass keeps for the backward one."""
    hidden, head, targets = case(n=64)
    kept = []

    def keep(x):
        kept.append(x.numel())
        return x

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        token_logprobs(hidden, head, targets, chunk=chunk)
    return sum(kept)


def test_no_tensor_is_wider_than_a_chunk():
    hidden, head, targets = case(n=64)
    for chunk in (8, 32):
        with Widest() as widest:
            logp, _ = token_logprobs(hidden, head, targets, chunk=chunk)
            logp.sum().backward()
        assert widest.numel <= max(chunk * V, hidden.numel())
    with Widest() as widest:  # control: it sees the full (N, V)
        full(hidden, head, targets)[0].sum().backward()
    assert widest.numel == 64 * V


def test_logits_are_not_kept_but_computed_again(monkeypatch):
    assert kept_for_backward(chunk=8) < 64 * V
    monkeypatch.setattr(logprobs, "checkpoint", lambda f, *args, use_reentrant: f(*args))
    assert kept_for_backward(chunk=8) >= 64 * V  # control: chunks alone keep every logit


def test_no_targets():
    hidden, head, _ = case(n=3)
    logp, entropy = token_logprobs(hidden[:0], head, torch.zeros(0, dtype=torch.long))
    assert logp.shape == entropy.shape == (0,)
    logp.sum().backward()
    assert (hidden.grad == 0).all()
