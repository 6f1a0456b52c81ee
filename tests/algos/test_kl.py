"""What each KL estimator is worth, by exact expectation over six outcomes in float64.

Sampled tokens are an expectation over pi, which is enumerated here: the gradient that training follows on average
is sum_x pi(x) * grad f(x), with pi(x) itself held fixed, since sampling is not differentiated.
"""

from __future__ import annotations

import pytest
import torch

from rlsh.algos import grpo_loss, k1, k3

V = 6


@pytest.fixture
def policies():
    """Logits of pi (a leaf) and log-probs of ref, far apart enough for the forms to differ."""
    g = torch.Generator().manual_seed(0)
    logits = torch.randn(V, generator=g, dtype=torch.float64).requires_grad_()
    ref = torch.randn(V, generator=g, dtype=torch.float64).log_softmax(-1)
    return logits, ref


def gradient(value, logits):
    return torch.autograd.grad(value, logits, retain_graph=True)[0]


def reverse_kl(logp, ref):
    return (logp.exp() * (logp - ref)).sum()


def forward_kl(logp, ref):
    return (ref.exp() * (ref - logp)).sum()


def expected_loss(logp, ref, advantages, beta):
    """grpo_loss of one token each of the six outcomes, weighted as sampling would."""
    weights = logp.detach().exp()
    return sum(
        weights[x]
        * grpo_loss(
            logp[x].view(1, 1),
            logp[x].detach().view(1, 1),
            ref[x].view(1, 1),
            advantages[x].view(1),
            torch.ones(1, 1),
            beta=beta,
        )
        for x in range(V)
    )


def test_values_are_unbiased(policies):
    logits, ref = policies
    logp = logits.log_softmax(-1)
    for estimator in (k1, k3):
        expected = (logp.exp() * estimator(logp, ref)).sum()
        torch.testing.assert_close(expected, reverse_kl(logp, ref), rtol=1e-12, atol=0)


def test_k1_in_the_loss_pushes_nowhere(policies):
    logits, ref = policies
    logp = logits.log_softmax(-1)
    assert gradient((logp.detach().exp() * k1(logp, ref)).sum(), logits).abs().max() < 1e-15


def test_k3_in_the_loss_descends_the_forward_kl(policies):
    logits, ref = policies
    logp = logits.log_softmax(-1)
    got = gradient((logp.detach().exp() * k3(logp, ref)).sum(), logits)
    torch.testing.assert_close(got, gradient(forward_kl(logp, ref), logits), rtol=1e-12, atol=1e-15)
    # control: the two KLs are told apart
    assert (got - gradient(reverse_kl(logp, ref), logits)).abs().max() > 0.05


def test_the_loss_holds_k3_with_a_plus(policies):
    logits, ref = policies
    logp = logits.log_softmax(-1)
    zero = torch.zeros(V, dtype=torch.float64)
    got = gradient(expected_loss(logp, ref, zero, beta=0.5), logits)
    torch.testing.assert_close(got, 0.5 * gradient(forward_kl(logp, ref), logits), rtol=1e-12, atol=1e-15)


def test_k1_in_the_reward_descends_the_reverse_kl(policies):
    logits, ref = policies
    logp = logits.log_softmax(-1)
    got = gradient(expected_loss(logp, ref, -k1(logp, ref).detach(), beta=0.0), logits)
    torch.testing.assert_close(got, gradient(reverse_kl(logp, ref), logits), rtol=1e-12, atol=1e-15)


def test_the_policy_gradient_ascends_the_expected_reward(policies):
    logits, ref = policies
    logp = logits.log_softmax(-1)
    rewards = torch.tensor([1.0, 0.0, 0.0, 2.0, 0.0, -1.0], dtype=torch.float64)
    got = gradient(expected_loss(logp, ref, rewards, beta=0.0), logits)
    torch.testing.assert_close(got, -gradient((logp.exp() * rewards).sum(), logits), rtol=1e-12, atol=1e-15)


def test_k3_is_never_negative_in_fp32():
    size = torch.logspace(-9, 1, 200_001)
    d = torch.cat([-size, torch.zeros(1), size])
    got = k3(torch.zeros_like(d), d)
    assert got.min() >= 0
    as_written = torch.exp(d) - d - 1
    assert as_written.min() < -1e-8  # control: the textbook form dips below zero
    # and is accurate where the textbook form is noise
    exact = torch.expm1(d.double()) - d.double()
    assert ((got - exact).abs() / exact.clamp(min=1e-30))[d.abs() > 1e-3].max() < 1e-3
    assert ((as_written - exact).abs() / exact.clamp(min=1e-30))[d.abs() > 1e-3].max() > 1e-2


def test_k1_is_signed_towards_the_policy():
    assert k1(torch.tensor(-1.0), torch.tensor(-3.0)) == 2.0
