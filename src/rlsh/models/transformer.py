"""The decoder: embeddings, blocks, head. Parts are looked up in one table; `forward` never asks which it got."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from rlsh.models.attention import LayerCache, MultiHeadAttention, Step
from rlsh.models.config import ModelConfig
from rlsh.models.ffn import GeluMLP
from rlsh.models.norm import LayerNorm
from rlsh.models.position import LearnedPositions
from rlsh.types import RlshError

PARTS: dict[str, dict[str, Callable[..., nn.Module]]] = {
    "attention": {"mha": MultiHeadAttention},
    "ffn": {"gelu": GeluMLP},
    "norm": {"layernorm": LayerNorm},
    "position": {"learned": LearnedPositions},
}


def part(kind: str, name: str) -> Callable[..., Any]:
    """The class of a part. Raises RlshError with the names there are."""
    if name not in PARTS[kind]:
        raise RlshError(f"model.{kind} = {name!r} is unknown; one of: {', '.join(PARTS[kind])}")
    return PARTS[kind][name]


class Block(nn.Module):
    """Pre-norm residual block."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.ln_1 = part("norm", config.norm)(config)
        self.attn = part("attention", config.attention)(config, layer)
        self.ln_2 = part("norm", config.norm)(config)
        self.mlp = part("ffn", config.ffn)(config)

    def forward(self, x: Tensor, step: Step) -> Tensor:
        """(B, T, C) -> (B, T, C)."""
        x = x + self.attn(self.ln_1(x), step)
        x = x + self.mlp(self.ln_2(x))
        return x


class Decoder(nn.Module):
    """A decoder-only transformer with the head tied to the token embedding.

    `hidden` and `logits` are apart so that the head can run on the rows that need it, in chunks.
    """

    def __init__(self, config: ModelConfig, generator: torch.Generator | None = None) -> None:
        """Weights are drawn from `generator` (GPT-2's recipe); without one from torch's global generator."""
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.position = part("position", config.position)(config)
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.n_layer))
        self.ln_f = part("norm", config.norm)(config)
        self._init_weights(generator)

    @torch.no_grad()
    def _init_weights(self, generator: torch.Generator | None) -> None:
        for name, p in self.named_parameters():
            if name.endswith("bias"):
                p.zero_()
            elif p.dim() >= 2:
                # the residual stream sums 2 * n_layer projections: keep its variance at depth (GPT-2, section 2.3)
                std = 0.02 / math.sqrt(2 * self.config.n_layer) if name.endswith("c_proj.weight") else 0.02
                p.normal_(0.0, std, generator=generator)

    @property
    def head_weight(self) -> Tensor:
        """Rows of the tied head that may be sampled or scored. (V, C)"""
        return self.wte.weight[: self.config.valid_vocab]

    @property
    def cache_shape(self) -> tuple[int, int]:
        """Vectors a token leaves in each layer's cache, and their width."""
        shape: tuple[int, int] = self.blocks[0].attn.cache_shape  # type: ignore[union-attr, assignment]
        return shape

    @property
    def device(self) -> torch.device:
        return self.wte.weight.device

    def hidden(
        self,
        ids: Tensor,
        *,
        positions: Tensor | None = None,
        mask: Tensor | None = None,
        caches: Sequence[LayerCache] | None = None,
    ) -> Tensor:
        """Final normalised states (B, T, C) of `ids` (B, T).

        Without `positions` each row starts at 0 and attends causally to itself, so rows padded on the right are
        exact. With a cache, give `positions` and the `mask` over its slots (see `mask_from_positions`).
        Raises ValueError beyond `block_size`.
        """
        B, T = ids.shape
        if positions is None:
            if self.config.block_size < T:
                raise ValueError(f"{T} tokens exceed block_size = {self.config.block_size}")
            positions = torch.arange(T, device=ids.device).expand(B, T)  # (B, T)
        step = Step(positions, mask, caches)
        x = self.position(self.wte(ids), positions)  # (B, T, C)
        x = F.dropout(x, self.config.dropout, self.training)
        for block in self.blocks:
            x = block(x, step)
        out: Tensor = self.ln_f(x)
        return out

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., C) -> (..., V) over the valid vocabulary, in the weights' dtype."""
        return F.linear(hidden, self.head_weight)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (B, T, V) of every position: for oracles and small jobs; training never builds this tensor."""
        return self.logits(self.hidden(ids))
