"""Per-token estimators of KL(pi || ref) from sampled tokens (Schulman, "Approximating KL divergence", 2020)."""

from __future__ import annotations

import torch
from torch import Tensor


def k1(logp: Tensor, logp_ref: Tensor) -> Tensor:
    """log pi - log ref (nats): unbiased in value, high variance, may be negative. Gradient in a loss: zero mean."""
    return logp - logp_ref


def k3(logp: Tensor, logp_ref: Tensor) -> Tensor:
    """exp(d) - d - 1 with d = log ref - log pi (nats): unbiased in value, never negative.

    In a loss its expected gradient is that of the *forward* KL(ref || pi), not of the KL it estimates.
    `expm1`, because exp(d) - 1 - d dips below zero in fp32 for small d.
    """
    d = logp_ref - logp
    return torch.expm1(d) - d
