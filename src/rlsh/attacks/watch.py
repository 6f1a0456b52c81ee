"""Looking at processes from outside: which of them carry a mark, with what rights, and how much they take."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from rlsh.sandbox.worker.process import below, children, memory_kib

TICK_S = 0.02
PLACES = ("work", "tmp", "dev/shm")  # where a candidate can write
GONE = (FileNotFoundError, ProcessLookupError, PermissionError)


def marked(marker: str) -> list[int]:
    """Processes of which one argument is exactly `marker`, zombies not counted: they have none."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(*GONE):
            if marker.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def status(pid: int) -> dict[str, str]:
    """/proc/PID/status; empty where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except GONE:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def measure(pids: list[int]) -> dict[str, float]:
    """What these take, by the field of `Limits` that bounds it."""
    used: dict[str, float] = defaultdict(float)
    used["processes"] = len(pids)
    used["tree_memory_mb"] = memory_kib(pids) / 1024
    for pid in pids:
        seen = status(pid)
        with contextlib.suppress(*GONE):
            used["open_files"] = max(used["open_files"], len(os.listdir(f"/proc/{pid}/fd")))  # noqa: PTH208
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime, stime
            used["cpu_s"] = max(used["cpu_s"], seconds)
            used["memory_mb"] = max(used["memory_mb"], int(seen.get("VmPeak", "0 kB").split()[0]) / 1024)
        with contextlib.suppress(OSError):
            root = Path(f"/proc/{pid}/root")
            if root.stat().st_dev == Path("/").stat().st_dev:
                continue  # it is still on its way into the sandbox
            for disk in [os.statvfs(root / place) for place in PLACES]:
                megabytes = (disk.f_blocks - disk.f_bfree) * disk.f_frsize / 2**20
                used["workspace_mb"] = max(used["workspace_mb"], megabytes)
                used["inodes"] = max(used["inodes"], disk.f_files - disk.f_ffree)
    return used


@dataclass
class Watch:
    """Looks every few milliseconds until it is left.

    `privileged` holds marked processes that had a capability; `peak` the most that one sandbox worker's processes
    took, in units of `Limits`. Only one attack may run in this process meanwhile.
    """

    marker: str | None  # None: no need to look for one
    usage: bool

    def __post_init__(self) -> None:
        self.privileged: set[int] = set()
        self.peak: dict[str, float] = {}
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._left.wait(TICK_S):
            if self.marker is not None:
                self.privileged |= {p for p in marked(self.marker) if int(status(p).get("CapEff", "0"), 16)}
            if self.usage:
                for worker in children(os.getpid()):
                    for key, value in measure(below(worker)).items():
                        self.peak[key] = max(self.peak.get(key, 0.0), value)

    def __enter__(self) -> Self:
        if self.marker is not None or self.usage:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        if self._thread.is_alive():
            self._thread.join()
