"""Attention over the present tokens and, where a cache is given, over the past ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from rlsh.models.config import ModelConfig


class LayerCache(Protocol):
    """One layer's keys and values: stores the new ones, returns all that the mask speaks of."""

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]: ...


@dataclass(frozen=True)
class Step:
    """What the layers of one forward pass share.

    `positions` (B, T) are absolute. `mask` (B, 1, T, S) is True where query t may see key s; None means causal
    attention over the T tokens themselves, which needs no cache.
    """

    positions: Tensor
    mask: Tensor | None = None
    caches: Sequence[LayerCache] | None = None


class MultiHeadAttention(nn.Module):
    """Vaswani et al. 2017, section 3.2.2, with a fused qkv projection as in GPT-2."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.n_head, self.layer, self.dropout = config.n_head, layer, config.dropout
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)

    def forward(self, x: Tensor, step: Step) -> Tensor:
        B, T, C = x.shape
        heads = (B, T, self.n_head, C // self.n_head)
        q, k, v = (part.view(heads).transpose(1, 2) for part in self.c_attn(x).split(C, dim=2))  # (B, H, T, D)
        if step.caches is not None:
            k, v = step.caches[self.layer].update(k, v)  # (B, H, S, D)
        y = F.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=step.mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=step.mask is None,
        )  # (B, H, T, D)
        y = y.transpose(1, 2).reshape(B, T, C)
        return F.dropout(self.c_proj(y), self.dropout, self.training)


def mask_from_positions(positions: Tensor, keys: int) -> Tensor:
    """Which of the cache's `keys` slots each query sees: those at its own position or before. (B, 1, T, S) bool.

    Built from absolute positions because SDPA's `is_causal` aligns a short query with the *first* keys.
    """
    return (torch.arange(keys, device=positions.device) <= positions[:, :, None])[:, None]
