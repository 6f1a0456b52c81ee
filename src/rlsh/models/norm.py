"""Normalisation layers, computed in fp32 whatever the weights' dtype."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from rlsh.models.config import ModelConfig


class LayerNorm(nn.Module):
    """Layer normalisation with an optional bias (Ba et al. 2016); eps 1e-5 as in GPT-2."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.n_embd))
        self.bias = nn.Parameter(torch.zeros(config.n_embd)) if config.bias else None

    def forward(self, x: Tensor) -> Tensor:
        """(..., C) -> (..., C), in the dtype of `x`."""
        bias = None if self.bias is None else self.bias.float()
        return F.layer_norm(x.float(), self.weight.shape, self.weight.float(), bias, 1e-5).to(x.dtype)
