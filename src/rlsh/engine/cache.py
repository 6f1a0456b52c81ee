"""What attention remembers of past tokens: one slot a row, one more position than a row can use."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


class KVCache:
    """(layers, slots, P, capacity + 1, W): of each token P vectors of W numbers, as its attention layer asks for.

    One head's keys lie together, so that a query reads memory in order: decoding is bound by that. The extra
    position is a bin: padding of ragged batches is written there and never read.
    """

    def __init__(
        self, layers: int, slots: int, capacity: int, shape: tuple[int, int], dtype: torch.dtype, device: torch.device
    ) -> None:
        parts, width = shape
        self.store = torch.zeros((layers, slots, parts, capacity + 1, width), dtype=dtype, device=device)
        self.slots, self.parts, self.capacity = slots, parts, capacity

    def span(self, low: int, high: int, positions: Tensor, keys: int) -> list[SpanCache]:
        """Per layer, slots [low, high) to be written at `positions` (n, T) and read up to position `keys`."""
        n = high - low
        starts = torch.arange(n * self.parts, device=self.store.device).view(n, -1, 1) * (self.capacity + 1)
        index = (starts + positions[:, None]).flatten()  # (n P T)
        return [SpanCache(layer[low:high], index, keys) for layer in self.store.unbind()]

    def fork(self, slot: int, copies: range, length: int) -> None:
        """Copies the first `length` positions of `slot` into every slot of `copies`."""
        self.store[:, copies.start : copies.stop, :, :length] = self.store[:, slot : slot + 1, :, :length]

    def swap(self, a: int, b: int, length: int) -> None:
        """Exchanges two slots as far as position `length`."""
        held = self.store[:, a, :, :length].clone()
        self.store[:, a, :, :length] = self.store[:, b, :, :length]
        self.store[:, b, :, :length] = held


@dataclass(frozen=True)
class SpanCache:
    """One layer of a span of slots, as attention sees it (a `LayerCache`)."""

    store: Tensor  # (n, P, capacity + 1, W), a view
    index: Tensor  # (n P T): where in the first three axes, flattened, the new tokens go
    keys: int

    def update(self, new: Tensor) -> Tensor:
        """Stores (n, P, T, W) and returns all so far, (n, P, keys, W)."""
        self.store.flatten(0, 2).index_copy_(0, self.index, new.flatten(0, 2))  # one kernel: indexing takes five
        return self.store[:, :, : self.keys]
