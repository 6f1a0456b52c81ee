"""The live line of a long command, and Ctrl-C that waits for the step it interrupts."""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType
from typing import Self


class Progress:
    """One line, rewritten in place on a terminal, printed now and then elsewhere. Goes to stderr."""

    def __init__(self, label: str, total: int, start: int = 0) -> None:
        self.label, self.total, self.start = label, total, start
        self._began = self._printed = time.monotonic()
        self._live = sys.stderr.isatty()

    def update(self, step: int, text: str = "") -> None:
        now = time.monotonic()
        last = step >= self.total
        if now - self._printed < (0.2 if self._live else 15.0) and not last:
            return
        self._printed = now
        done = step - self.start
        left = (now - self._began) / done * (self.total - step) if done else 0.0
        line = f"{self.label} {step}/{self.total}  {text}  {_clock(now - self._began)} gone, {_clock(left)} left"
        end = "\n" if last or not self._live else ""
        print(f"\r\x1b[2K{line}" if self._live else line, end=end, file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


class Interruptible:
    """Within it the first Ctrl-C sets `stop` (the loop finishes its step and saves); the second interrupts."""

    def __init__(self) -> None:
        self.stop = False

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.stop:
            raise KeyboardInterrupt
        self.stop = True
        print("\nstopping after this step; Ctrl-C again to stop at once", file=sys.stderr, flush=True)
