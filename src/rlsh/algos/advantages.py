"""Rewards of a group -> advantages."""

from __future__ import annotations

import torch
from torch import Tensor


def group_advantages(rewards: Tensor, group_size: int, *, valid: Tensor | None = None, eps: float = 1e-4) -> Tensor:
    """A = (r - mean) / (std + eps) within each group; std with ddof = 1 (GRPO, arXiv 2402.03300, section 4.1.2).

    `rewards` (P * G,) lie group after group. Rows where `valid` (P * G,) is False (the environment failed, not the
    policy) get A = 0 and leave the mean and std of their siblings; a group with fewer than two valid rows, or
    with equal rewards, gets A = 0 throughout. Raises ValueError for a group size below 2 (one sample has no
    baseline, and its raw reward must not pass for an advantage) and for a valid reward that is NaN or infinite.
    """
    if group_size < 2:
        raise ValueError(f"group_size = {group_size}: a group needs at least 2 samples to have a baseline")
    if rewards.dim() != 1 or len(rewards) % group_size:
        raise ValueError(f"rewards of shape {tuple(rewards.shape)} do not divide into groups of {group_size}")
    ok = torch.ones_like(rewards, dtype=torch.bool) if valid is None else valid.bool()
    if ok.shape != rewards.shape:
        raise ValueError(f"valid has shape {tuple(ok.shape)}, rewards {tuple(rewards.shape)}")
    if not rewards[ok].isfinite().all():
        raise ValueError(f"rewards must be finite on valid rows; got {rewards[ok].tolist()}")
    r_PG = torch.where(ok, rewards, 0.0).view(-1, group_size)  # select before any arithmetic: NaN * 0 is NaN
    ok_PG = ok.view(-1, group_size)
    n_P1 = ok_PG.sum(dim=1, keepdim=True)
    mean_P1 = r_PG.sum(dim=1, keepdim=True) / n_P1.clamp(min=1)
    centred_PG = torch.where(ok_PG, r_PG - mean_P1, 0.0)
    var_P1 = centred_PG.square().sum(dim=1, keepdim=True) / (n_P1 - 1).clamp(min=1)
    # equal rewards: the mean may round, and a rounding error over eps is a gradient out of nothing
    low, high = torch.where(ok_PG, r_PG, torch.inf), torch.where(ok_PG, r_PG, -torch.inf)
    varied_P1 = low.amin(dim=1, keepdim=True) < high.amax(dim=1, keepdim=True)
    advantages_PG = torch.where(varied_P1, centred_PG / (var_P1.sqrt() + eps), 0.0)
    return advantages_PG.flatten()  # (P * G,)
