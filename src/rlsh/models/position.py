"""Where positions enter the stream."""

from __future__ import annotations

import torch.nn as nn
from torch import Tensor

from rlsh.models.config import ModelConfig


class LearnedPositions(nn.Module):
    """One learned vector per absolute position, added to the token embedding (GPT-2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.table = nn.Embedding(config.block_size, config.n_embd)

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        """Token embeddings (B, T, C) at absolute `positions` (B, T) -> (B, T, C)."""
        out: Tensor = x + self.table(positions)
        return out
