"""Key and value storage: one slot a row, one more position than a row can use."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from rlsh.models.config import ModelConfig


class KVCache:
    """(layers, slots, heads, capacity + 1, head_dim) keys and values.

    The extra position is a bin: padding of ragged batches is written there and never read.
    """

    def __init__(self, config: ModelConfig, slots: int, capacity: int, dtype: torch.dtype, device: torch.device):
        shape = (config.n_layer, slots, config.n_head, capacity + 1, config.head_dim)
        self.k = torch.zeros(shape, dtype=dtype, device=device)
        self.v = torch.zeros(shape, dtype=dtype, device=device)
        self.slots, self.capacity = slots, capacity

    def span(self, low: int, high: int, positions: Tensor, keys: int) -> list[SpanCache]:
        """Per layer, slots [low, high) to be written at `positions` (n, T) and read up to position `keys`."""
        rows = torch.arange(high - low, device=self.k.device)[:, None]  # (n, 1)
        return [SpanCache(k[low:high], v[low:high], rows, positions, keys) for k, v in zip(self.k, self.v, strict=True)]

    def fork(self, slot: int, copies: range, length: int) -> None:
        """Copies the first `length` positions of `slot` into every slot of `copies`."""
        for store in (self.k, self.v):
            store[:, copies.start : copies.stop, :, :length] = store[:, slot : slot + 1, :, :length]

    def swap(self, a: int, b: int, length: int) -> None:
        """Exchanges two slots as far as position `length`."""
        for store in (self.k, self.v):
            held = store[:, a, :, :length].clone()
            store[:, a, :, :length] = store[:, b, :, :length]
            store[:, b, :, :length] = held


@dataclass(frozen=True)
class SpanCache:
    """One layer of a span of slots, as attention sees it (a `LayerCache`)."""

    k: Tensor  # (n, H, capacity + 1, D), a view
    v: Tensor
    rows: Tensor  # (n, 1)
    positions: Tensor  # (n, T)
    keys: int

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Stores new (n, H, T, D) and returns all keys and values so far, (n, H, keys, D)."""
        self.k[self.rows, :, self.positions] = k.transpose(1, 2)
        self.v[self.rows, :, self.positions] = v.transpose(1, 2)
        return self.k[:, :, : self.keys], self.v[:, :, : self.keys]
