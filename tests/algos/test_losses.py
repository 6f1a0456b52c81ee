"""The loss: finite differences, hand-worked clips, and what lies at masked positions moves nothing."""

from __future__ import annotations

import math

import pytest
import torch

from rlsh.algos import clip_fraction, grpo_loss


def case(B, T, seed=0, dtype=torch.float64, spread=0.5):
    g = torch.Generator().manual_seed(seed)
    new, old, ref = (-1 - spread * torch.rand(B, T, generator=g, dtype=dtype) for _ in range(3))
    mask = torch.rand(B, T, generator=g) < 0.6
    mask[:, 0] = True
    return new.requires_grad_(), old, ref, torch.randn(B, generator=g, dtype=dtype), mask


def by_loop(new, old, ref, advantages, mask, eps, beta, eps_high):
    """The definition in scalar arithmetic, one token at a time."""
    new = new.detach()
    total, count = 0.0, 0
    for b in range(len(new)):
        for t in range(new.shape[1]):
            if mask[b, t]:
                ratio, A = math.exp(new[b, t] - old[b, t]), float(advantages[b])
                d = float(ref[b, t] - new[b, t])
                total -= min(ratio * A, min(max(ratio, 1 - eps), 1 + eps_high) * A)
                total += beta * (math.exp(d) - d - 1)
                count += 1
    return total / count


def selected_after(new, old, ref, advantages, mask, eps=0.2, beta=0.04):
    """The naive version: exponentials everywhere, masked positions dropped at the end."""
    ratio, A, d = (new - old).exp(), advantages[:, None], ref - new
    per_token = -torch.min(ratio * A, ratio.clamp(1 - eps, 1 + eps) * A) + beta * (torch.expm1(d) - d)
    return torch.where(mask, per_token, 0.0).sum() / mask.sum()


def value_and_gradient(loss, new):
    return loss, torch.autograd.grad(loss, new)[0]


@pytest.mark.parametrize("shape", [(4, 7), (5, 5), (6, 1), (1, 6), (1, 1)])
@pytest.mark.parametrize("eps_high", [None, 0.28])
def test_token_by_token(shape, eps_high):
    args = case(*shape, spread=2.0)
    got = grpo_loss(*args, eps_high=eps_high)
    assert got.shape == ()
    assert float(got.detach()) == pytest.approx(by_loop(*args, 0.2, 0.04, eps_high or 0.2), rel=1e-12)


def test_the_broadcast_that_is_silent_when_t_equals_b():
    """Control: (B, T) * (B,) pairs advantages with tokens instead of rows; the loop above tells the two apart."""
    new, old, ref, advantages, mask = case(5, 5)
    ratio = (new - old).exp()
    wrong = torch.where(mask, -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages), 0).sum() / mask.sum()
    right = grpo_loss(new, old, ref, advantages, mask, beta=0.0)
    assert abs(float(wrong - right)) > 0.01


@pytest.mark.parametrize(
    ("which", "shape"),
    [(3, (5, 1)), (3, (1, 5)), (3, (5, 5)), (3, (1,)), (3, ()), (4, (5,)), (4, (5, 1)), (1, (5,)), (2, (1, 5))],
)
def test_shapes_that_would_broadcast_are_refused(which, shape):
    args = list(case(5, 5))
    args[which] = torch.ones(shape)
    with pytest.raises(ValueError, match=r"must (share|have)"):
        grpo_loss(*args)


def test_rows_without_a_time_axis_are_refused():
    flat = torch.zeros(5)
    with pytest.raises(ValueError, match=r"\(B, T\)"):
        grpo_loss(flat, flat, flat, flat, flat)


@pytest.mark.parametrize("beta", [0.0, 0.04, 1.0])
def test_gradcheck(beta):
    new, old, ref, advantages, mask = case(4, 5, spread=2.0)
    assert torch.autograd.gradcheck(lambda x: grpo_loss(x, old, ref, advantages, mask, beta=beta), [new])


@pytest.mark.parametrize(
    ("ratio", "A", "eps_high", "slope"),
    [
        (1.0, 1.0, None, -1.0),
        (1.5, 1.0, None, 0.0),  # already likelier by more than eps: no further push
        (0.5, 1.0, None, -0.5),  # it fell, though it was good: pulled back up
        (1.5, -1.0, None, 1.5),  # it rose, though it was bad: pushed down, unclipped
        (0.5, -1.0, None, 0.0),
        (1.25, 1.0, None, 0.0),
        (1.25, 1.0, 0.28, -1.25),  # clip-higher leaves it room
        (0.75, -1.0, 0.28, 0.0),  # and does not touch the lower side
    ],
)
def test_the_clip_by_hand(ratio, A, eps_high, slope):
    new = torch.tensor([[math.log(ratio)]], dtype=torch.float64, requires_grad=True)
    zero, A = torch.zeros(1, 1, dtype=torch.float64), torch.tensor([A], dtype=torch.float64)
    mask = torch.ones(1, 1)
    loss = grpo_loss(new, zero, zero, A, mask, beta=0.0, eps_high=eps_high)
    assert float(torch.autograd.grad(loss, new)[0]) == pytest.approx(slope)
    clipped = clip_fraction(new, zero, A, mask, 0.2, 0.2 if eps_high is None else eps_high)
    assert int(clipped) == (slope == 0.0)


@pytest.mark.parametrize("junk", [math.nan, math.inf, -math.inf, 1e38, -1e38])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_what_lies_at_masked_positions(junk, which):
    new, old, ref, advantages, mask = case(4, 6, dtype=torch.float32)
    clean = value_and_gradient(grpo_loss(new, old, ref, advantages, mask), new)
    args = [new.detach().clone(), old.clone(), ref.clone()]
    args[which][~mask] = junk
    args[0].requires_grad_()
    dirty = value_and_gradient(grpo_loss(*args, advantages, mask), args[0])
    assert torch.equal(clean[0], dirty[0]) and torch.equal(clean[1], dirty[1])
    assert (dirty[1][~mask] == 0).all()
    assert int(clip_fraction(*args[:2], advantages, mask, 0.2, 0.2)) == int(
        clip_fraction(new, old, advantages, mask, 0.2, 0.2)
    )


def test_selecting_afterwards_is_too_late():
    """Control: the naive version agrees on clean rows, and sends NaN through the backward of a masked NaN."""
    new, old, ref, advantages, mask = case(4, 6)
    torch.testing.assert_close(
        selected_after(new, old, ref, advantages, mask), grpo_loss(new, old, ref, advantages, mask)
    )
    old = torch.where(mask, old, math.nan)
    loss, gradient = value_and_gradient(selected_after(new, old, ref, advantages, mask), new)
    assert loss.isfinite() and gradient.isnan().any()


@pytest.mark.parametrize("advantage", [3.0, 0.0, math.nan, math.inf])
def test_a_fully_masked_row_changes_nothing(advantage):
    new, old, ref, advantages, mask = case(4, 6)
    alone = value_and_gradient(grpo_loss(new, old, ref, advantages, mask), new)
    longer = [torch.cat([x.detach(), torch.full((1, 6), math.nan, dtype=x.dtype)]) for x in (new, old, ref)]
    longer[0].requires_grad_()
    more = torch.cat([advantages, torch.tensor([advantage], dtype=advantages.dtype)])
    joined = value_and_gradient(
        grpo_loss(*longer, more, torch.cat([mask, torch.zeros(1, 6, dtype=torch.bool)])), longer[0]
    )
    torch.testing.assert_close(joined[0], alone[0], rtol=1e-15, atol=0)
    torch.testing.assert_close(joined[1][:4], alone[1], rtol=1e-15, atol=0)
    assert (joined[1][4] == 0).all()


def test_an_all_masked_batch_has_loss_0():
    new, old, ref, advantages, mask = case(4, 6)
    loss, gradient = value_and_gradient(grpo_loss(new, old, ref, advantages, torch.zeros_like(mask)), new)
    assert float(loss) == 0.0 and (gradient == 0).all()


def test_equal_advantages_of_zero_leave_the_kl_only():
    new, old, ref, _, mask = case(4, 6)
    loss, gradient = value_and_gradient(grpo_loss(new, old, ref, torch.zeros(4), mask, beta=0.0), new)
    assert float(loss) == 0.0 and (gradient == 0).all()
    loss = grpo_loss(new, old, ref, torch.zeros(4), mask, beta=0.04)
    twice = grpo_loss(new, old, ref, torch.zeros(4), mask, beta=0.08)
    assert float(loss) > 0
    torch.testing.assert_close(twice, 2 * loss)


@pytest.mark.parametrize("as_tensor", [False, True])
def test_micro_batches_under_the_global_denominator(as_tensor):
    new, old, ref, advantages, _ = case(8, 9)
    mask = torch.arange(9) < torch.tensor([1, 9, 2, 8, 3, 3, 1, 5])[:, None]  # ragged
    whole = torch.autograd.grad(grpo_loss(new, old, ref, advantages, mask), new)[0]
    total = mask.sum() if as_tensor else float(mask.sum())

    def in_parts(denominator):
        rows = [[x[b : b + 1] for x in (new, old, ref, advantages, mask)] for b in range(8)]
        return torch.autograd.grad(sum(grpo_loss(*row, denominator=denominator) for row in rows), new)[0]

    torch.testing.assert_close(in_parts(total), whole, rtol=1e-6, atol=0)
    # control: the mean of per-micro-batch means weighs a token by the length of its row
    assert (in_parts(None) / 8 - whole).abs().max() > 1e-2


def test_on_policy_nothing_is_clipped_and_the_value_is_no_progress_metric():
    new, _, ref, advantages, mask = case(4, 6)
    assert int(clip_fraction(new, new.detach(), advantages, mask, 0.2, 0.2)) == 0
    balanced = torch.tensor([1.0, -1.0, 0.5, -0.5], dtype=torch.float64)
    loss, gradient = value_and_gradient(grpo_loss(new, new.detach(), ref, balanced, torch.ones(4, 6), beta=0.0), new)
    assert abs(float(loss)) < 1e-15
    torch.testing.assert_close(gradient, (-balanced / 24)[:, None].expand(4, 6))
