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
        x = x + self.table(positions)  # (B, T, C)
        return x
