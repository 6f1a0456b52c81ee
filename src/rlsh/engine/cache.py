"""What attention remembers of past tokens: one slot a row, one more position than a row can use."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


class KVCache:
    """(layers, slots, capacity + 1, width): of each token the `width` numbers that its attention layer asks for.

    The extra position is a bin: padding of ragged batches is written there and never read.
    """

    def __init__(
        self, layers: int, slots: int, capacity: int, width: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.store = torch.zeros((layers, slots, capacity + 1, width), dtype=dtype, device=device)
        self.slots, self.capacity = slots, capacity

    def span(self, low: int, high: int, positions: Tensor, keys: int) -> list[SpanCache]:
        """Per layer, slots [low, high) to be written at `positions` (n, T) and read up to position `keys`."""
        rows = torch.arange(high - low, device=self.store.device)[:, None] * (self.capacity + 1)  # (n, 1)
        index = (rows + positions).flatten()  # (n T)
        return [SpanCache(layer[low:high], index, keys) for layer in self.store.unbind()]

    def fork(self, slot: int, copies: range, length: int) -> None:
        """Copies the first `length` positions of `slot` into every slot of `copies`."""
        self.store[:, copies.start : copies.stop, :length] = self.store[:, slot : slot + 1, :length]

    def swap(self, a: int, b: int, length: int) -> None:
        """Exchanges two slots as far as position `length`."""
        held = self.store[:, a, :length].clone()
        self.store[:, a, :length] = self.store[:, b, :length]
        self.store[:, b, :length] = held


@dataclass(frozen=True)
class SpanCache:
    """One layer of a span of slots, as attention sees it (a `LayerCache`)."""

    store: Tensor  # (n, capacity + 1, W), a view
    index: Tensor  # (n T): where in the first two axes, flattened, the new tokens go
    keys: int

    def update(self, new: Tensor) -> Tensor:
        """Stores (n, T, W) and returns all so far, (n, keys, W)."""
        self.store.flatten(0, 1).index_copy_(0, self.index, new.flatten(0, 1))  # one kernel: indexing takes five
        return self.store[:, : self.keys]
