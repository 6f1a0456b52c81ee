"""System calls that Python has no name for: mounts, namespaces, prctl."""

# ruff: noqa: PTH106, PTH123

from __future__ import annotations

import ctypes
import os
import signal
import struct

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC = 2, 4, 8, 4096, 16384  # <sys/mount.h>
MNT_DETACH = 2
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4  # <linux/mount.h>
AT_RECURSIVE, AT_FDCWD = 0x8000, -100  # <linux/mount.h>, <fcntl.h>
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 24, 36, 38  # <sys/prctl.h>
PR_SET_DUMPABLE, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 4, 22, 2
CLONE_NEW = 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000  # all of <sched.h>
CAP_LAST = 40  # CAP_CHECKPOINT_RESTORE; later ones are refused with EINVAL where the kernel has fewer
SYS = {  # of the machines that a seccomp filter is known for
    "x86_64": {"pivot_root": 155, "capset": 126, "mount_setattr": 442, "clone": 56},
    "aarch64": {"pivot_root": 41, "capset": 91, "mount_setattr": 442, "clone": 220},
}

LIBC = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    arguments = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    check(
        LIBC.mount(*arguments, ctypes.c_ulong(flags), None if data is None else data.encode()),
        f"mount {kind or source} at {target}",
    )


def mount_tmpfs(target: str, options: str) -> None:
    mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options)


def unmount(target: str) -> None:
    check(LIBC.umount2(os.fsencode(target), MNT_DETACH), f"unmount {target}")
    os.rmdir(target)


def syscall(name: str, *arguments: object) -> int:
    return check(LIBC.syscall(SYS[os.uname().machine][name], *arguments), name)


def make_read_only(target: str, *, recursive: bool) -> None:
    """The mount at `target`, and all below it where `recursive`; needs Linux 5.12."""
    attributes = struct.pack("=QQQQ", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, 0, 0)
    flags = AT_RECURSIVE if recursive else 0
    syscall("mount_setattr", AT_FDCWD, os.fsencode(target), flags, attributes, ctypes.c_size_t(len(attributes)))


def bind_read_only(source: str, target: str) -> None:
    """What is mounted below `source` comes with it, and is as read-only."""
    mount(source, target, None, MS_BIND | MS_REC)
    make_read_only(target, recursive=True)


def pivot_into(root: str) -> None:
    """`root`, a mount, becomes `/`; what was `/` is gone from this namespace."""
    os.chdir(root)
    syscall("pivot_root", b".", b".")
    check(LIBC.umount2(b".", MNT_DETACH), "unmount the old root")
    os.chdir("/")


def set_hostname(name: str) -> None:
    check(LIBC.sethostname(name.encode(), ctypes.c_size_t(len(name))), "sethostname")


def raise_loopback() -> None:
    """Sets the one interface of a new network namespace up."""
    fd = check(LIBC.socket(2, 2, 0), "socket")  # AF_INET, SOCK_DGRAM
    try:
        request = struct.pack("16sh22x", b"lo", 1)  # struct ifreq: IFF_UP
        check(LIBC.ioctl(fd, ctypes.c_ulong(0x8914), request), "set loopback up")  # SIOCSIFFLAGS
    finally:
        os.close(fd)


def prctl(option: int, value: int, *, what: str) -> None:
    check(LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl({what})")


def drop_capabilities() -> None:
    """None is left, and no exec brings one back."""
    for capability in range(CAP_LAST + 1):
        LIBC.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
    prctl(PR_SET_NO_NEW_PRIVS, 1, what="PR_SET_NO_NEW_PRIVS")
    header = struct.pack("=Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this thread
    syscall("capset", header, bytes(24))


def load_filter(program: bytes) -> None:
    """A seccomp filter (classic BPF, eight bytes an instruction) for this process and all that come from it."""
    buffer = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    check(LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, fprog, 0, 0), "prctl(PR_SET_SECCOMP)")


def fork_into_namespaces() -> int:
    """Like os.fork, the child in namespaces of its own and first of its processes.

    By the bare system call: unlike os.fork it runs nothing in between, which a single-threaded caller can do with.
    """
    return syscall("clone", ctypes.c_ulong(CLONE_NEW | signal.SIGCHLD), None, None, None, None)


def hide_arguments(shown: bytes) -> None:
    """Overwrite this process's command line, which a candidate reads in /proc/1/cmdline of a forked init."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])  # arg_start, arg_end: fields 48 and 49 of proc(5)
    if 0 < start < end:
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, shown, min(len(shown), end - start - 2))
        ctypes.memset(end - 1, 1, 1)  # not NUL: the kernel then shows what comes before the first NUL, and no more
