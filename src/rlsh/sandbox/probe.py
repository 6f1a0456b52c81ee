"""What of the sandbox works on this machine, rung by rung; and the one way to get it: whole, or an error."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from rlsh.sandbox.base import Backend, Limits, Sandbox, SandboxError
from rlsh.sandbox.linux import LinuxSandbox, bwrap_version, find_bwrap, unshare_argv
from rlsh.sandbox.view import OLDEST_PYTHON, offered

if TYPE_CHECKING:
    from rlsh.sandbox.container import ContainerSandbox

CONTAINER = "run rlsh in a Linux container or virtual machine"
SELF_TEST = """
echo "uid $(id -u)"
grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status
tail -n +2 /proc/net/route
for node in null zero urandom; do [ -c /dev/$node ] && [ -w /dev/$node ] || echo "no device /dev/$node"; done
(: >/usr/rlsh-probe || : >/rlsh-probe) 2>/dev/null && echo "wrote outside /work"
unshare --user true 2>/dev/null && echo "made a user namespace"
echo done >out && cat out
"""
PYTHON = """python3 -I -S -c 'import os, sys; print(sys.version.split()[0], os.path.realpath(sys.executable))'"""
SELF_TEST_OUTPUT = "uid 1000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\ndone\n"


@dataclass(frozen=True)
class Rung:
    """One step of the ladder: what was tried, whether it held, what was seen, and the way out if not."""

    name: str
    ok: bool
    verdict: str
    way_out: str = ""


def read_setting(name: str) -> str:
    """A sysctl as text, "" where this kernel has none of that name."""
    path = Path("/proc/sys", *name.split("."))
    return path.read_text().strip() if path.exists() else ""


def way_out_of(privileged: bool, setting: Callable[[str], str] = read_setting) -> str:
    """What allows the namespaces that were refused to a process with, or without, root's capabilities."""
    if not privileged and setting("kernel.apparmor_restrict_unprivileged_userns") == "1":
        return "Ubuntu 24.04 and later: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    if not privileged and setting("kernel.unprivileged_userns_clone") == "0":
        return "sudo sysctl -w kernel.unprivileged_userns_clone=1"
    if setting("user.max_user_namespaces") == "0":
        return "sudo sysctl -w user.max_user_namespaces=15000"
    return (
        "if this is a container without CAP_SYS_ADMIN, start it with --cap-add SYS_ADMIN "
        "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
    )


def climb(tools: Sequence[Path] = ()) -> Iterator[Rung]:
    """The ladder, rung by rung; what rests on a rung that failed is not tried."""
    platform = probe_platform()
    yield platform
    if platform.ok:
        unshare = probe_unshare()
        yield unshare
        if unshare.ok:
            yield probe_run("warm", tools)
            bwrap = probe_bwrap()
            yield bwrap
            if bwrap.ok:
                yield probe_run("cold", tools)
    engine = probe_engine()
    yield engine
    if engine.ok:
        yield probe_run("container", tools)


def probe() -> list[Rung]:
    """All rungs. The machine has a sandbox if one of them is a backend and ok: see `usable`."""
    return list(climb())


def usable(rungs: Iterable[Rung]) -> str | None:
    """The first backend that holds."""
    return next((rung.name for rung in rungs if rung.ok and rung.name in get_args(Backend)), None)


def probe_platform() -> Rung:
    if sys.platform == "linux":
        return Rung("platform", True, f"linux {os.uname().release}")
    return Rung("platform", False, f"{sys.platform} has no namespaces", CONTAINER)


def probe_unshare() -> Rung:
    if shutil.which("unshare") is None:
        return Rung("unshare", False, "no unshare on PATH", "install util-linux")
    command = [*unshare_argv(), "true"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return Rung("unshare", True, "a private mount namespace" + (" as root" if os.geteuid() == 0 else ""))
    return Rung("unshare", False, run.stderr.strip(), way_out_of(privileged=os.geteuid() == 0))


def probe_bwrap() -> Rung:
    def describe() -> str:
        bwrap = find_bwrap()
        return f"{'.'.join(map(str, bwrap_version(bwrap)))} at {bwrap}"

    return found("bwrap", describe)


def probe_engine() -> Rung:
    from rlsh.sandbox.container import find_engine

    return found("engine", lambda: f"{find_engine()} answers")


def found(name: str, describe: Callable[[], str]) -> Rung:
    """A rung that holds where `describe` finds what it describes."""
    try:
        return Rung(name, True, describe())
    except SandboxError as error:
        verdict, _, way_out = str(error).rpartition(": ")
        return Rung(name, False, verdict, way_out)


def make(kind: Backend, workers: int | None, tools: Sequence[Path]) -> LinuxSandbox | ContainerSandbox:
    """Raises SandboxError where it is known beforehand that there is none of this kind."""
    if kind != "container":
        return LinuxSandbox(kind, workers, tools=tools)
    # imported where there is an engine: it takes longer than the rest of the command line
    from rlsh.sandbox.container import ContainerSandbox, find_engine

    return ContainerSandbox(find_engine(), tools=tools)


def probe_run(kind: Backend, tools: Sequence[Path]) -> Rung:
    """A real command: unprivileged, no capabilities, no network, a read-only system, a writable workspace."""
    # whoever we are, candidates' namespaces are made without root's rights
    way_out = CONTAINER if kind == "container" else way_out_of(privileged=False)
    try:
        with make(kind, 1, tools) as sandbox, sandbox.open({}, Limits(wall_s=20)) as workspace:
            result, python = workspace.exec(SELF_TEST), workspace.exec(PYTHON)
    except SandboxError as error:
        return Rung(kind, False, str(error), way_out)
    seen = result.stdout.decode(errors="replace")
    if seen != SELF_TEST_OUTPUT:
        return Rung(kind, False, f"expected {SELF_TEST_OUTPUT!r}, saw {seen!r}", CONTAINER)
    verdict = "uid 1000, no capabilities, seccomp, no network, read-only system; "
    return Rung(kind, True, verdict + describe_python(python.stdout.decode(errors="replace")))


def describe_python(printed: str) -> str:
    """What `PYTHON` printed in a sandbox, for people: what candidates' `python3` is."""
    version, _, place = printed.strip().partition(" ")
    if not place:
        return "no python3: Python tasks will fail"
    old = tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST_PYTHON
    return f"python3 is {version}, {place}" + (": too old for Python tasks" if old else "")


def open_sandbox(
    workers: int | None = None,
    kind: Backend | None = None,
    tools: Sequence[Path] = (),
    private: Sequence[Path] = (),
) -> Sandbox:
    """The sandbox of this `kind`, or the first that the ladder offers; each is tried before it is given.

    `tools` are folders whose programs candidates may run, and `private` what those must not hold: see `view.offered`.
    Errors: SandboxError naming the rung that failed and the way out, RlshError for tools that may not be offered.
    """
    offered(tools, private)
    failed = []
    for rung in climb(tools):
        if rung.ok and rung.name in get_args(Backend) and kind in (None, rung.name):
            return make(cast(Backend, rung.name), workers, tools)
        if not rung.ok and (kind in (None, rung.name) or rung.name not in get_args(Backend)):
            failed.append(rung)
    raise SandboxError(f"no sandbox: {failed[0].name}: {failed[0].verdict}; {failed[0].way_out}")
