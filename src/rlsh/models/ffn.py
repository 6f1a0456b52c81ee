"""Feed-forward blocks."""

from __future__ import annotations

import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from rlsh.models.config import ModelConfig


class GeluMLP(nn.Module):
    """Two projections around an exact GELU, as nanoGPT has it (OpenAI's GPT-2 uses the tanh approximation)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.dropout = config.dropout
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) -> (B, T, C)."""
        x = self.c_proj(F.gelu(self.c_fc(x)))  # (B, T, C)
        return F.dropout(x, self.dropout, self.training)
