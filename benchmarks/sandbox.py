"""What a sandboxed command costs, beside the barest loops that isolate at all, in one run.

    python benchmarks/sandbox.py [--seconds 5]

An episode is three shell commands and one verification in a fresh workspace. The peers run the same four commands
without workspaces, limits, captured output or verdict: `bwrap` started for each (cold), and a small process that forks
into fresh namespaces for each (warm). All use as many processes at a time as there are CPUs. Then the time of one
command, alone, beside plain `bash -c`.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from rlsh.attacks.targets import ShellTarget, shell_target
from rlsh.sandbox.base import Limits, Sandbox
from rlsh.sandbox.linux import LinuxSandbox, find_bwrap, unshare_argv
from rlsh.sandbox.worker import kernel
from rlsh.types import Entry

CPUS = os.cpu_count() or 1
COMMANDS = ("ls", "cat a.txt", "sort -n a.txt", "sort -n a.txt")  # the last as the answer
SHELL = ("bash", "--norc", "--noprofile", "-c")
FILES = {"a.txt": Entry(b"10\n9\n200\n")}


def per_second(job: Callable[[], object], seconds: float) -> float:
    """How many `job`s end a second, one thread a CPU."""
    end = time.monotonic() + seconds

    def repeat(_: int) -> int:
        done = 0
        while time.monotonic() < end:
            job()
            done += 1
        return done

    began = time.monotonic()
    with ThreadPoolExecutor(CPUS) as pool:
        return sum(pool.map(repeat, range(CPUS))) / (time.monotonic() - began)


def target_in(sandbox: Sandbox) -> ShellTarget:
    wanted, broken, repair = "Sort a.txt by number.", "sort a.txt", COMMANDS[-1]
    return shell_target(sandbox, wanted, broken, repair, FILES, FILES, ("stdout", "tree"))


def episode(sandbox: Sandbox, target: ShellTarget) -> None:
    with sandbox.open(FILES, Limits()) as workspace:
        for command in COMMANDS[:-1]:
            workspace.exec(command)
    assert target.judge(COMMANDS[-1], {}, sandbox, Limits()).reward == 1.0


def bare_bwrap(folder: Path) -> Callable[[], None]:
    roots = [Path("/", name) for name in ("bin", "lib", "lib64")]
    links = [("--symlink", str(path.readlink()), str(path)) for path in roots if path.is_symlink()]
    options = [word for link in links for word in link]
    argv = [str(find_bwrap()), "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", *options]
    argv += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", str(folder), "/work", "--chdir", "/work"]

    def run() -> None:
        for command in COMMANDS:
            subprocess.run([*argv, "--", *SHELL, command], stdin=subprocess.DEVNULL, capture_output=True, check=True)

    return run


ZYGOTE = """
import os, sys
sys.path.insert(0, sys.argv[1])
import kernel
os.chdir(sys.argv[2])
done = open(os.devnull, "w")
while sys.stdin.readline():
    for command in sys.argv[3:]:
        pid = kernel.fork_into_namespaces()
        if pid == 0:
            os.dup2(done.fileno(), 1)
            inner = os.fork()
            if inner == 0:
                os.execvp("bash", ["bash", "--norc", "--noprofile", "-c", command])
            os.waitpid(inner, 0)
            os._exit(0)
        os.waitpid(pid, 0)
    os.write(1, b".")
"""


class BareZygote:
    """Asked over a pipe, as ours is over a socket."""

    def __init__(self, folder: Path) -> None:
        here = str(Path(kernel.__file__).parent)
        argv = [*unshare_argv(), sys.executable, "-I", "-S", "-c", ZYGOTE, here, str(folder), *COMMANDS]
        self.processes = [
            subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) for _ in range(CPUS)
        ]
        self.free = list(self.processes)

    def __call__(self) -> None:
        process = self.free.pop()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"\n")
        assert process.stdout.read(1) == b"."
        self.free.append(process)

    def close(self) -> None:
        for process in self.processes:
            process.communicate()


def median_ms(job: Callable[[], object], repeats: int = 60) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        job()
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    print(f"{CPUS} CPUs, {platform.machine()}, Linux {os.uname().release}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.txt").write_bytes(FILES["a.txt"].content)
        folder.chmod(0o755)
        zygote = BareZygote(folder)
        peers = {"cold": bare_bwrap(folder), "warm": zygote}
        print(f"{'':6}{'episodes/s':>12}{'bare loop/s':>13}{'ratio':>8}")
        for kind, peer in peers.items():
            with LinuxSandbox(kind) as sandbox:  # type: ignore[arg-type]
                ours_once = partial(episode, sandbox, target_in(sandbox))
                ours_once()
                pairs = [[per_second(job, arguments.seconds) for job in (ours_once, peer)] for _ in range(3)]
            ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
            print(f"{kind:6}{ours:12.1f}{theirs:13.1f}{ours / theirs:8.2f}")
        zygote.close()
        plain = median_ms(lambda: subprocess.run([*SHELL, "true"], stdin=subprocess.DEVNULL, capture_output=True))
        print(f"plain `bash -c true` {plain:.1f} ms")
        for kind in peers:
            with LinuxSandbox(kind, 1) as sandbox, sandbox.open(FILES, Limits()) as workspace:  # type: ignore[arg-type]
                workspace.exec("true")
                print(f"{kind}: {median_ms(lambda: workspace.exec('true')) - plain:+.1f} ms")


if __name__ == "__main__":
    main()
