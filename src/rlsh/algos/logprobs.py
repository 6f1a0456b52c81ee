"""Log-probs of given tokens without ever holding (B, T, V) in memory."""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint


def _chunk(hidden: Tensor, head: Tensor, targets: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    logits = F.linear(hidden, head)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature  # (n, V)
    logp = F.log_softmax(logits, dim=-1)
    with torch.no_grad():
        entropy = -(logp.exp() * logp).sum(-1)  # (n,)
    return logp.gather(-1, targets[:, None])[:, 0], entropy  # (n,), (n,)


def token_logprobs(
    hidden: Tensor, head: Tensor, targets: Tensor, *, temperature: float = 1.0, chunk: int = 2048
) -> tuple[Tensor, Tensor]:
    """log p(target) and the entropy of its distribution, both (N,) nats, from `hidden` (N, C), `head` (V, C).

    Reduced in fp32, or in fp64 where the inputs are.

    The head runs on `chunk` rows at a time and is recomputed in the backward pass, so the peak is chunk * V
    whatever N is. Divided by the sampling temperature, so that sampler and scorer speak of one distribution.
    The entropy carries no gradient.
    """
    logps, entropies = [], []
    for start in range(0, len(targets), chunk):
        rows = slice(start, start + chunk)
        if torch.is_grad_enabled() and len(targets) > chunk:
            out = checkpoint(_chunk, hidden[rows], head, targets[rows], temperature, use_reentrant=False)
        else:
            out = _chunk(hidden[rows], head, targets[rows], temperature)
        logp, entropy = cast(tuple[Tensor, Tensor], out)
        logps.append(logp)
        entropies.append(entropy)
    if not logps:
        empty = hidden.float().sum() * 0.0 + torch.zeros(0, device=hidden.device)
        return empty, empty.detach()
    return torch.cat(logps), torch.cat(entropies)
