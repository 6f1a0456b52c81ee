"""A stream of a command's output, cut to its cap in bounded memory."""

from __future__ import annotations

FLOOD_BYTES = 16 << 20  # a stream that reaches this is stopped: the cut is the same on every machine


class Capture:
    """The first and the last half of `cap` bytes of a stream, in bounded memory."""

    def __init__(self, cap: int) -> None:
        self.head_cap, self.tail_cap = cap // 2, cap - cap // 2
        self.head, self.tail, self.total = bytearray(), bytearray(), 0

    @property
    def flooded(self) -> bool:
        return self.total >= FLOOD_BYTES

    def feed(self, chunk: bytes) -> None:
        chunk = chunk[: FLOOD_BYTES - self.total]
        self.total += len(chunk)
        room = self.head_cap - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        if len(self.tail) > self.tail_cap:
            del self.tail[: len(self.tail) - self.tail_cap]

    def value(self) -> bytes:
        left_out = self.total - len(self.head) - len(self.tail)
        marker = b"\n[... %d bytes left out ...]\n" % left_out if left_out else b""
        return bytes(self.head) + marker + bytes(self.tail)
