"""A thousand episodes, eight at a time, while sandboxes are killed, commands hang and output floods: what is left?

    python benchmarks/soak.py [--episodes 1000] [--kind warm] [--seed 0]

Every episode runs a disturbing command, then its answer, and is judged. Meanwhile a thread kills processes of the
sandbox at random, one for every so many episodes: what holds a command, and now and then a whole worker. Prints how
the episodes ended and what this process has more of than before: children, descriptors, mounts, entries of the
temporary folder, memory. Exits with 1 if anything was left, an episode ended as none of pass, fail and infra, or
nothing was killed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import get_args

from rlsh.env.build import build_tasks
from rlsh.env.verify import verify_command
from rlsh.sandbox.base import Kind, Limits, SandboxError
from rlsh.sandbox.linux import LinuxSandbox
from rlsh.sandbox.worker.process import below, children
from rlsh.tasks.task import Task

IN_FLIGHT = 8
EPISODES_A_KILL = 16  # about 60 of 1,000
LIMITS = Limits(wall_s=1.0)
DISTURBANCES = (
    "true",
    "ls -l",
    "yes",  # a flood
    "sleep 9",  # a timeout
    "(setsid sleep 99 &) ; (sleep 99 &)",
    "kill -9 -1",
    "head -c 9M /dev/zero > big; head -c 99M /dev/zero | tail",
    "bomb() { while :; do sleep 9 & done; }; bomb & bomb",
)
MEMORY_SLACK_MIB = 16  # an allocator keeps some


def state() -> dict[str, int]:
    status = Path("/proc/self/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return {
        "processes": len(below(os.getpid())),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "temporary entries": len(list(Path(tempfile.gettempdir()).iterdir())),
        "memory MiB": resident // 1024,
    }


def kill_at_random(rng: random.Random, due: threading.Semaphore, stop: threading.Event, killed: Counter[str]) -> None:
    """One whenever one is due: nine times of ten what a worker runs, else the worker."""
    while due.acquire() and not stop.is_set():
        kind = "workers" if rng.random() < 0.1 else "sandboxes"
        while not stop.is_set():
            if kill_one(rng, kind):
                killed[kind] += 1
                break
            time.sleep(0.001)  # nothing runs at this moment


def kill_one(rng: random.Random, kind: str) -> bool:
    found = children(os.getpid())
    if kind == "sandboxes":  # bwrap or the first process, and what that has started: the outermost two
        outer = [pid for worker in found for pid in children(worker)]
        found = outer + [pid for first in outer for pid in children(first)]
    if not found:
        return False
    # half of the time the newest: a command that has hardly started is killed as often as one that hangs
    victim = max(found) if rng.random() < 0.5 else rng.choice(found)
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def play(sandbox: LinuxSandbox, task: Task, rng: random.Random) -> str:
    answer = task.reference[-1].arguments["command"] if rng.random() < 0.7 else task.broken
    try:
        with sandbox.open(task.files, LIMITS) as workspace:
            workspace.exec(rng.choice(DISTURBANCES))
    except SandboxError:
        return "infra"
    verdict = verify_command(task, answer, sandbox, LIMITS)
    return "infra" if verdict.infra else "pass" if verdict.reward == 1.0 else "fail"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--kind", choices=get_args(Kind), default="warm")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with LinuxSandbox(arguments.kind) as sandbox:
        tasks, _ = build_tasks(sandbox, ["demonstrated", "reward_only"], 36, seed=0, split="train", workers=2)
    before, began = state(), time.monotonic()
    due, stop, killed = threading.Semaphore(0), threading.Event(), Counter[str]()
    ended: Counter[str] = Counter()
    with LinuxSandbox(arguments.kind, IN_FLIGHT) as sandbox:
        killer = threading.Thread(target=kill_at_random, args=(random.Random(arguments.seed), due, stop, killed))
        killer.start()
        try:
            with ThreadPoolExecutor(IN_FLIGHT) as pool:
                jobs = (
                    pool.submit(play, sandbox, tasks[i % len(tasks)], random.Random(f"{arguments.seed} {i}"))
                    for i in range(arguments.episodes)
                )
                for number, job in enumerate(as_completed(list(jobs)), 1):
                    ended[job.result()] += 1
                    if number % EPISODES_A_KILL == 0:
                        due.release()
        finally:
            stop.set()
            due.release()
            killer.join()
    after = state()
    print(f"{arguments.kind}: {arguments.episodes} episodes in {time.monotonic() - began:.0f} s: {dict(ended)}")
    print(f"killed: {dict(killed)}")
    left = {name: after[name] - before[name] for name in before}
    print(f"left: {left}")
    left["memory MiB"] = max(0, left["memory MiB"] - MEMORY_SLACK_MIB)
    sys.exit(any(count > 0 for count in left.values()) or ended.total() != arguments.episodes or not killed)


if __name__ == "__main__":
    main()
