"""Logits -> tokens, with the log-prob under the distribution that was really sampled from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from rlsh.types import RlshError

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class SamplingParams:
    """`temperature` 0 is greedy. `top_k` 0 and `top_p` 1 mean full support, which training requires."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if self.temperature < 0 or self.top_k < 0 or not 0 < self.top_p <= 1:
            raise RlshError(
                f"sampling: temperature = {self.temperature} must be >= 0, top_k = {self.top_k} >= 0, "
                f"top_p = {self.top_p} in (0, 1]"
            )

    @property
    def full_support(self) -> bool:
        return self.temperature > 0 and self.top_k == 0 and self.top_p == 1.0


def uniforms(keys: npt.NDArray[np.uint64], counters: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """One uniform in [0, 1) per (key, counter): splitmix64 (Steele et al. 2014) as a counter-based generator.

    A row's draws depend on its own key and token count alone, so they are the same whatever shares the batch.
    """
    with np.errstate(over="ignore"):
        z = _mix(keys + _GOLDEN * (_mix(counters + _GOLDEN) | np.uint64(1)))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def support(logp: Tensor, params: SamplingParams) -> Tensor:
    """`logp` (n, V) restricted to the top-k and top-p (nucleus) support and renormalised."""
    if params.top_k and params.top_k < logp.shape[-1]:
        kth = logp.topk(params.top_k, dim=-1).values[:, -1:]  # (n, 1)
        logp = logp.masked_fill(logp < kth, -torch.inf)
    if params.top_p < 1.0:
        ordered, order = logp.log_softmax(-1).sort(dim=-1, descending=True)
        before = ordered.exp().cumsum(-1) - ordered.exp()  # mass ahead of each token, best first
        gone = torch.zeros_like(logp, dtype=torch.bool).scatter(-1, order, before >= params.top_p)
        logp = logp.masked_fill(gone, -torch.inf)
    return logp.log_softmax(-1)


def sample(logits: Tensor, params: SamplingParams, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """Token ids (n,) and their log-probs (n,) in nats from `logits` (n, V) and `uniform` (n,) in [0, 1).

    By inversion of the cumulative distribution: one uniform a row. Greedy has log-prob 0: it was certain.
    """
    logits = logits.float()
    if params.temperature == 0:
        return logits.argmax(-1), torch.zeros(len(logits), device=logits.device)
    logp = F.log_softmax(logits / params.temperature, dim=-1)  # (n, V)
    if not params.full_support:
        logp = support(logp, params)
    cdf = logp.exp().cumsum(-1)
    # strictly below the total, so that the first index past the threshold exists and has mass
    threshold = uniform.to(cdf)[:, None] * (1 - 2.0**-22) * cdf[:, -1:]
    ids = torch.searchsorted(cdf, threshold, right=True)  # (n, 1)
    return ids[:, 0], logp.gather(-1, ids)[:, 0]
