"""Batched decoding of many conversations that grow by turns.

The engine knows rows of tokens, not messages. A row's life: `add_groups` (prompts, forked) -> `step` until its
turn ends -> the caller appends what the environment said with `resume` -> `step` … -> `release`. Active rows lie
at the front of the cache, so a batch is a slice and nothing is gathered; a row that waits for a tool moves behind
them and keeps its cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch
from torch import Tensor

from rlsh.engine.cache import KVCache
from rlsh.engine.sampler import SamplingParams, sample, uniforms
from rlsh.models.attention import mask_from_positions
from rlsh.models.transformer import Decoder
from rlsh.types import RlshError


class TurnStop(StrEnum):
    END = "end"  # a stop token was sampled
    LENGTH = "length"  # the turn's token budget ended
    CONTEXT = "context"  # the row's cache is full


@dataclass(eq=False)
class Row:
    """One growing sequence. `ids`, `logps`, `mask` are aligned; mask is 1 where the engine sampled."""

    key: int  # names the row's random stream
    slot: int
    ids: list[int]
    logps: list[float]
    mask: list[int]
    cached: int  # positions already in the cache; ids[cached:] are pending
    sampled: int = 0
    turn_start: int = 0  # where the present turn begins in `ids`
    stop: TurnStop | None = None

    @property
    def turn_ids(self) -> list[int]:
        """What the policy wrote in the present turn, without the stop token."""
        end = len(self.ids) - (1 if self.stop is TurnStop.END else 0)
        return self.ids[self.turn_start : end]


class Engine:
    """Decodes for one model. `slots` rows at once, each up to `capacity` tokens (default: the block size)."""

    def __init__(self, model: Decoder, slots: int, params: SamplingParams, stop_ids: Sequence[int], turn_tokens: int):
        self.model, self.params, self.turn_tokens = model, params, turn_tokens
        self.capacity = model.config.block_size
        self.dtype = model.wte.weight.dtype
        self.cache = KVCache(model.config.n_layer, slots, self.capacity, model.cache_shape, self.dtype, model.device)
        self._stop_ids = frozenset(stop_ids)
        self._rows: list[Row] = []  # index = slot; the first `_active` are decoding
        self._active = 0

    @property
    def active(self) -> int:
        return self._active

    @property
    def free(self) -> int:
        return self.cache.slots - len(self._rows)

    @torch.inference_mode()
    def add_groups(self, prompts: Sequence[Sequence[int]], keys: Sequence[Sequence[int]]) -> list[list[Row]]:
        """Active rows, one a key; the i-th group shares `prompts[i]`, which is computed once, all in one batch.

        Raises RlshError where they do not fit.
        """
        wanted = sum(map(len, keys))
        if wanted > self.free:
            raise RlshError(f"{wanted} rows asked for, {self.free} slots free; raise the number of slots")
        for prompt in prompts:
            if not 0 < len(prompt) < self.capacity:
                raise RlshError(f"the prompt has {len(prompt)} tokens; the context holds 1 to {self.capacity - 1}")
        first = len(self._rows)
        # all but the last token once, then the forks; the last is each row's own pending token
        if any(len(prompt) > 1 for prompt in prompts):
            self._forward(first, [list(prompt[:-1]) for prompt in prompts], [0] * len(prompts))
        groups: list[list[Row]] = []
        copies = first + len(prompts)
        for i, (prompt, group) in enumerate(zip(prompts, keys, strict=True)):
            shared, more = len(prompt) - 1, range(copies, copies + len(group) - 1)
            self.cache.fork(first + i, more, shared)
            groups.append(
                [
                    Row(key, slot, [*prompt], [0.0] * len(prompt), [0] * len(prompt), shared, turn_start=len(prompt))
                    for key, slot in zip(group, (first + i, *more), strict=True)
                ]
            )
            copies = more.stop
        self._rows += sorted((row for rows in groups for row in rows), key=lambda row: row.slot)
        for row in self._rows[first:]:
            self._activate(row)
        return groups

    def resume(self, row: Row, forced: Sequence[int]) -> bool:
        """Appends tokens the environment wrote and makes `row` active; False where the context cannot hold them."""
        if len(row.ids) + len(forced) >= self.capacity:
            row.stop = TurnStop.CONTEXT
            return False
        row.ids += forced
        row.logps += [0.0] * len(forced)
        row.mask += [0] * len(forced)
        row.turn_start, row.stop = len(row.ids), None
        self._activate(row)
        return True

    @torch.inference_mode()
    def step(self) -> list[Row]:
        """One token for every active row; returns the rows whose turn ended with it, in order of their keys."""
        if not self._active:
            return []
        rows = self._rows[: self._active]
        # rows that just came in have several pending tokens and lie behind those that decode one by one
        fresh = next((i for i, r in enumerate(rows) if len(r.ids) - r.cached > 1), len(rows))
        parts = []
        for low, high in ((0, fresh), (fresh, len(rows))):
            if low < high:
                span = rows[low:high]
                parts.append(self._forward(low, [r.ids[r.cached :] for r in span], [r.cached for r in span]))
        logits = self.model.logits(torch.cat(parts))  # (n, V)
        keys = np.array([r.key for r in rows], dtype=np.uint64)
        counters = np.array([r.sampled for r in rows], dtype=np.uint64)
        ids, logps = sample(logits, self.params, torch.from_numpy(uniforms(keys, counters)))
        for row, i, logp in zip(rows, ids.tolist(), logps.tolist(), strict=True):
            row.cached = len(row.ids)
            row.ids.append(i)
            row.logps.append(logp)
            row.mask.append(1)
            row.sampled += 1
            if i in self._stop_ids:
                row.stop = TurnStop.END
            elif len(row.ids) >= self.capacity:
                row.stop = TurnStop.CONTEXT
            elif len(row.ids) - row.turn_start >= self.turn_tokens:
                row.stop = TurnStop.LENGTH
        done = [row for row in rows if row.stop is not None]
        for row in done:
            self._deactivate(row)
        return sorted(done, key=lambda r: r.key)

    def release(self, row: Row) -> None:
        """Gives the row's slot back."""
        if row.slot < self._active:
            self._deactivate(row)
        self._exchange(row.slot, len(self._rows) - 1)
        self._rows.pop()

    def _forward(self, low: int, pending: list[list[int]], starts: list[int]) -> Tensor:
        """Runs ragged `pending` tokens of the slots from `low` on; hidden states (n, C) of each row's last token."""
        device, n, T = self.model.device, len(pending), max(map(len, pending))
        lengths = torch.tensor([len(p) for p in pending], device=device)
        ids = torch.tensor([p + [0] * (T - len(p)) for p in pending], device=device)  # (n, T)
        steps = torch.arange(T, device=device)
        positions = torch.tensor(starts, device=device)[:, None] + steps  # (n, T)
        padding = steps >= lengths[:, None]
        keys = max(s + len(p) for s, p in zip(starts, pending, strict=True))
        caches = self.cache.span(low, low + n, positions.masked_fill(padding, self.capacity), keys)
        positions = positions.masked_fill(padding, 0)
        mask = mask_from_positions(positions, keys, self.dtype)
        x = self.model.hidden(ids, positions=positions, mask=mask, caches=caches)  # (n, T, C)
        return x[torch.arange(n, device=device), lengths - 1]

    def _activate(self, row: Row) -> None:
        self._exchange(row.slot, self._active)
        self._active += 1

    def _deactivate(self, row: Row) -> None:
        self._exchange(row.slot, self._active - 1)
        self._active -= 1

    def _exchange(self, a: int, b: int) -> None:
        if a == b:
            return
        rows = self._rows
        self.cache.swap(a, b, max(rows[a].cached, rows[b].cached))
        rows[a], rows[b] = rows[b], rows[a]
        rows[a].slot, rows[b].slot = a, b
