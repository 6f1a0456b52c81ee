"""Looking at the processes that come from one, and ending them."""

# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import contextlib
import os
import signal
import time

SETTLE_S = 0.005  # what ends by itself within this is no process left behind: `head -1 <(seq 9)` has one for a moment
GONE = (FileNotFoundError, ProcessLookupError)


def children(pid: int) -> list[int]:
    """Of all threads of `pid`; none where it is gone, or where the kernel keeps no such list."""
    found: list[int] = []
    with contextlib.suppress(*GONE):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    return found


def reap_all(pid: int) -> int:
    """Kill and wait for what is left of `pid` and of its orphans, which become ours. Its exit code, or -signal.

    A namespace's first process is reported dead only after all others in it, so nothing outlives this call. Killing
    by hand covers a bwrap that died before it said what its children inherit; where the kernel keeps no list of
    children, the death signal is all there is.
    """
    code = 0
    while True:
        for child in children(os.getpid()):
            os.kill(child, signal.SIGKILL)
        try:
            died, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return code
        if died == pid:
            code = os.waitstatus_to_exitcode(status)


def below(pid: int) -> list[int]:
    """All processes that come from `pid`."""
    found, stack = [], [pid]
    while stack:
        inner = children(stack.pop())
        found += inner
        stack += inner
    return found


def is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1] in b"ZX"
    except GONE:
        return True


def left_over(first: int | None) -> int:
    """How many processes of the command are still there although it has ended, its first process apart."""
    if first is None:
        return 0
    if found := [pid for pid in below(first) if not is_zombie(pid)]:
        time.sleep(SETTLE_S)
        found = [pid for pid in below(first) if not is_zombie(pid)]
    return len(found)


def memory_kib(pids: list[int]) -> int:
    """Anonymous and shared memory that these have in use; what several share counts for each."""
    total = 0
    for pid in pids:
        with contextlib.suppress(*GONE), open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith((b"RssAnon:", b"RssShmem:")):
                    total += int(line.split()[1])
    return total
