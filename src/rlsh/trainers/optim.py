"""Optimiser, schedule and gradient clipping."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn as nn


@dataclass(frozen=True)
class OptimConfig:
    """AdamW (Loshchilov and Hutter 2019). `min_lr` is where the cosine ends."""

    lr: float = 1e-3
    schedule: Literal["constant", "cosine"] = "constant"
    min_lr: float = 0.0
    warmup: int = 0  # steps
    beta1: float = 0.9
    beta2: float = 0.95
    weight_decay: float = 0.0
    grad_clip: float = 1.0  # global norm; 0 leaves gradients alone


def make_optimizer(model: nn.Module, config: OptimConfig) -> torch.optim.AdamW:
    """AdamW with weight decay on matrices and embeddings only (dim >= 2), as nanoGPT groups them."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=config.lr, betas=(config.beta1, config.beta2), fused=True)


def lr_at(step: int, steps: int, config: OptimConfig) -> float:
    """Learning rate of `step` (0-based) of `steps`: linear warm-up, then constant or a cosine down to `min_lr`."""
    if step < config.warmup:
        return config.lr * (step + 1) / (config.warmup + 1)
    if config.schedule == "constant":
        return config.lr
    done = (step - config.warmup) / max(1, steps - config.warmup)
    return config.min_lr + 0.5 * (1 + math.cos(math.pi * done)) * (config.lr - config.min_lr)


def optimizer_step(model: nn.Module, optimizer: torch.optim.Optimizer, lr: float, grad_clip: float) -> float:
    """Clips, steps, clears. Returns the gradient norm before clipping."""
    limit = grad_clip if grad_clip else math.inf
    norm = float(nn.utils.clip_grad_norm_(model.parameters(), limit))
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return norm
