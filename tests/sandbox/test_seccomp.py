"""The filter: its numbers are the kernel's, and what it refuses is refused inside, which without it is not."""

from __future__ import annotations

import json
import os
import re
import shlex
import struct
from pathlib import Path
from typing import get_args

import pytest

from rlsh.sandbox import Limits, linux
from rlsh.sandbox.base import Kind
from rlsh.sandbox.linux import LinuxSandbox
from rlsh.sandbox.probe import probe, usable
from rlsh.sandbox.worker import seccomp

HEADERS = {
    "x86_64": (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), r"#define __NR_(\w+)\s+(\d+)$"),
    "aarch64": (Path("/usr/include/asm-generic/unistd.h"), r"#define __NR(?:3264)?_(\w+)\s+(\d+)$"),
}
ALL = (
    seccomp.REFUSED
    | seccomp.ABSENT
    | {
        "clone": seccomp.CLONE,
        "socket": seccomp.SOCKET,
        "socketpair": seccomp.SOCKETPAIR,
        "ioctl": seccomp.IOCTL,
    }
)
LADDER = probe()
sandboxed = pytest.mark.skipif(
    usable(LADDER) not in get_args(Kind) or os.uname().machine != "x86_64", reason=f"for x86_64 namespaces: {LADDER}"
)
# Errno of every call that is refused, made with zeros; then of a clone, a terminal's and two sockets' requests.
ASK = f"""
import ctypes, json, os
libc = ctypes.CDLL(None, use_errno=True)
def errno_of(*arguments):
    ctypes.set_errno(0)
    got = libc.syscall(*(ctypes.c_ulong(a) for a in arguments), *([ctypes.c_ulong(0)] * (7 - len(arguments))))
    if got == 0 and arguments[0] == 56:
        os._exit(0)  # a child, where a clone was not refused
    return ctypes.get_errno()
calls = { {name: numbers[0] for name, numbers in (seccomp.REFUSED | seccomp.ABSENT).items()} }
attach = 16  # a ptrace with zeros would have the parent trace us
found = {{name: errno_of(number, *[attach] * (name == "ptrace")) for name, number in calls.items()}}
found["clone into a user namespace"] = errno_of(56, 0x10000000 | 17)
found["typing into a terminal"] = errno_of(16, 0, 0x5412)
found["netlink"], found["unix"] = errno_of(41, 16, 3), errno_of(41, 1, 1)
fds = (ctypes.c_int * 2)()
found["pair of netlink"] = errno_of(53, 16, 3, 0, ctypes.addressof(fds))
found["pair of unix"] = errno_of(53, 1, 1, 0, ctypes.addressof(fds))
found["x32"] = errno_of(0x40000000 + 39)
print(json.dumps(found))
"""
REFUSED = (
    dict.fromkeys(seccomp.REFUSED, 1)
    | dict.fromkeys(seccomp.ABSENT, 38)
    | {"clone into a user namespace": 1, "typing into a terminal": 1, "netlink": 97, "unix": 0, "x32": 38}
    | {"pair of netlink": 97, "pair of unix": 0}
)


@pytest.mark.parametrize("machine", HEADERS)
def test_the_numbers_are_the_kernels(machine: str) -> None:
    path, pattern = HEADERS[machine]
    if not path.exists():
        pytest.skip(f"no {path}")
    kernels = {m[1]: int(m[2]) for m in re.finditer(pattern, path.read_text(), re.MULTILINE)}
    ours = {name: numbers[list(HEADERS).index(machine)] for name, numbers in ALL.items()}
    shared = ours.keys() & kernels.keys()
    assert len(shared) > 60
    assert {name: ours[name] for name in shared} == {name: kernels[name] for name in shared}
    assert all(ours[name] is None or name in kernels or ours[name] in (264, 265, 467) for name in ours)  # newer, older


def test_an_unknown_machine_gets_no_filter_and_no_sandbox() -> None:
    with pytest.raises(KeyError):
        seccomp.filter_program("riscv64")


def asked(kind: Kind) -> dict[str, int]:
    with LinuxSandbox(kind, 1) as sandbox, sandbox.open({}, Limits(wall_s=20)) as workspace:
        result = workspace.exec(f"python3 -c {shlex.quote(ASK)}")
    assert result.exit_code == 0, result
    found: dict[str, int] = json.loads(result.stdout)
    return found


@sandboxed
def test_what_is_refused_is_refused(kind: Kind) -> None:
    assert asked(kind) == REFUSED


@sandboxed
def test_without_the_filter_much_of_it_is_not(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a filter that allows everything."""
    allow = struct.pack("=HBBI", seccomp.RETURN, 0, 0, seccomp.ALLOW)
    monkeypatch.setattr(linux, "filter_program", lambda machine: allow)
    found = asked(kind)
    assert len([name for name in REFUSED if found[name] != REFUSED[name]]) > 25
    assert found["netlink"] == 0 and found["pair of netlink"] == 95 and found["memfd_create"] != 1
