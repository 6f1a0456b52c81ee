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
    """What one layer keeps of each token, P vectors of W numbers: stores that of new tokens (B, P, T, W), returns
    that of all the mask speaks of (B, P, S, W). The layer's `cache_shape` is (P, W)."""

    def update(self, new: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Step:
    """What the layers of one forward pass share.

    `positions` (B, T) are absolute. `mask` (B, 1, T, S) is added to the scores: 0 where query t may see key s,
    -inf elsewhere; None means causal attention over the T tokens themselves, which needs no cache.
    """

    positions: Tensor
    mask: Tensor | None = None
    caches: Sequence[LayerCache] | None = None


class MultiHeadAttention(nn.Module):
    """Vaswani et al. 2017, section 3.2.2, with a fused qkv projection as in GPT-2."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.n_head, self.layer, self.dropout = config.n_head, layer, config.dropout
        self.cache_shape = (2 * config.n_head, config.head_dim)  # keys, then values
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)

    def forward(self, x: Tensor, step: Step) -> Tensor:
        """(B, T, C) -> (B, T, C)."""
        B, T, C = x.shape
        heads = self.c_attn(x).view(B, T, 3 * self.n_head, C // self.n_head).transpose(1, 2)  # (B, 3H, T, D)
        q, kv = heads.split([self.n_head, 2 * self.n_head], dim=1)
        if step.caches is not None:
            kv = step.caches[self.layer].update(kv)  # (B, 2H, S, D)
        k, v = kv.chunk(2, dim=1)
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


def mask_from_positions(positions: Tensor, keys: int, dtype: torch.dtype) -> Tensor:
    """Which of the cache's `keys` slots each query sees: those at its own position or before. (B, 1, T, S), additive.

    Built from absolute positions because SDPA's `is_causal` aligns a short query with the *first* keys; additive
    because SDPA would turn booleans into that anew in every layer.
    """
    hidden = torch.arange(keys, device=positions.device) > positions[:, None, :, None]
    return torch.zeros(hidden.shape, dtype=dtype, device=positions.device).masked_fill_(hidden, -torch.inf)
