"""Rows of tokens -> log-probs of the tokens that count, in micro-batches of a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rlsh.algos.logprobs import token_logprobs
from rlsh.models.transformer import Decoder


@dataclass(frozen=True)
class Batch:
    """Right-padded rows. `mask[b, t]` is True where `ids[b, t]` was sampled and has a prefix to be scored from."""

    rows: list[int]  # which rows of the caller's list these are
    ids: Tensor  # (B, T)
    mask: Tensor  # (B, T) bool

    @property
    def tokens(self) -> int:
        return int(self.mask.sum())


def micro_batches(
    rows: Sequence[tuple[Sequence[int], Sequence[int]]], token_budget: int, device: torch.device
) -> list[Batch]:
    """Rows of (ids, mask) sorted by length and cut so that a batch's padded size stays within `token_budget`.

    A row longer than the budget is a batch of its own.
    """
    order = sorted(range(len(rows)), key=lambda i: (len(rows[i][0]), i))
    groups: list[list[int]] = []
    for i in order:
        if groups and (len(groups[-1]) + 1) * len(rows[i][0]) <= token_budget:
            groups[-1].append(i)
        else:
            groups.append([i])
    batches = []
    for group in groups:
        T = max(len(rows[i][0]) for i in group)
        ids = torch.zeros(len(group), T, dtype=torch.long)
        mask = torch.zeros(len(group), T, dtype=torch.bool)
        for b, i in enumerate(group):
            row, sampled = rows[i]
            ids[b, : len(row)] = torch.tensor(row)
            mask[b, : len(row)] = torch.tensor(sampled, dtype=torch.bool)
        mask[:, 0] = False  # nothing precedes the first token
        batches.append(Batch(group, ids.to(device), mask.to(device)))
    return batches


def score(model: Decoder, batch: Batch, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
    """Log-probs (B, T) of the tokens where `batch.mask` is True, 0 elsewhere, and entropies (B, T) likewise.

    `logp[b, t]` belongs to `ids[b, t]`, predicted from the positions before it. The head runs on the counted
    tokens only.
    """
    hidden = model.hidden(batch.ids[:, :-1])  # (B, T - 1, C)
    counted = batch.mask[:, 1:]
    logp, entropy = token_logprobs(
        hidden[counted], model.head_weight, batch.ids[:, 1:][counted], temperature=temperature
    )  # (N,), (N,)
    full_logp = torch.zeros(batch.ids.shape, device=logp.device).masked_scatter(batch.mask, logp)
    full_entropy = torch.zeros(batch.ids.shape, device=logp.device).masked_scatter(batch.mask, entropy)
    return full_logp, full_entropy  # (B, T), (B, T)
