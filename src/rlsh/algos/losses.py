"""The loss. Everything else in this project exists to feed it."""

from __future__ import annotations

import torch
from torch import Tensor

from rlsh.algos.kl import k3


def grpo_loss(
    logp_new: Tensor,
    logp_old: Tensor,
    logp_ref: Tensor,
    advantages: Tensor,
    mask: Tensor,
    eps: float = 0.2,
    beta: float = 0.04,
    *,
    eps_high: float | None = None,
    denominator: float | Tensor | None = None,
) -> Tensor:
    """GRPO with an explicit KL term (DeepSeekMath, arXiv 2402.03300, eq. 3 and 4), token mean. Scalar.

        ratio = exp(logp_new - logp_old)
        pg    = -min(ratio * A, clip(ratio, 1 - eps, 1 + eps_high) * A)
        loss  = sum((pg + beta * k3(logp_new, logp_ref)) * mask) / denominator

    `logp_new, logp_old, logp_ref, mask` are (B, T), `advantages` (B,). `mask` is 1 on tokens that the policy
    sampled; what lies at masked positions (NaN included) moves neither loss nor gradient. `denominator` is the
    number of sampled tokens of the whole batch, over all micro-batches and ranks; None takes this call's own
    mask sum, which is right only where one call holds the batch. `eps_high` defaults to `eps` (DAPO's
    clip-higher, arXiv 2503.14476, eq. 10, sets 0.28). Raises ValueError on shapes that would broadcast silently.
    """
    shape = logp_new.shape
    if logp_new.dim() != 2 or not shape == logp_old.shape == logp_ref.shape == mask.shape:
        raise ValueError(
            "logp_new, logp_old, logp_ref and mask must share one shape (B, T); got "
            f"{tuple(shape)}, {tuple(logp_old.shape)}, {tuple(logp_ref.shape)}, {tuple(mask.shape)}"
        )
    if advantages.shape != shape[:1]:
        raise ValueError(f"advantages must have shape ({shape[0]},), got {tuple(advantages.shape)}")
    on = mask.bool()
    # `where` on the inputs: selecting after an exp still sends NaN through its backward
    logp_new, logp_old, logp_ref = (torch.where(on, x, 0.0) for x in (logp_new, logp_old, logp_ref))
    A = advantages[:, None]  # (B, 1)
    ratio = torch.exp(logp_new - logp_old)  # (B, T)
    clipped = ratio.clamp(1 - eps, 1 + (eps if eps_high is None else eps_high))
    per_token = -torch.minimum(ratio * A, clipped * A)
    if beta:
        per_token = per_token + beta * k3(logp_new, logp_ref)
    if denominator is None:
        denominator = on.sum().clamp(min=1)  # an all-masked batch has loss 0
    return torch.where(on, per_token, 0.0).sum() / denominator


def clip_fraction(
    logp_new: Tensor, logp_old: Tensor, advantages: Tensor, mask: Tensor, eps: float, eps_high: float
) -> Tensor:
    """Number of sampled tokens whose gradient the clip removes (a count: sum over micro-batches, then divide)."""
    ratio = torch.exp(logp_new - logp_old)  # NaN compares false
    A = advantages[:, None]
    gone = ((A > 0) & (ratio > 1 + eps_high)) | ((A < 0) & (ratio < 1 - eps))
    return (gone & mask.bool()).sum()
