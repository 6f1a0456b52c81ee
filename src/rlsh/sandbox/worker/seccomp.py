"""The system calls that no candidate gets: a seccomp filter as classic BPF.

A list of what is refused, not of what is allowed: candidates are ordinary programs, and what is dangerous is known
better than what they need. Refused are: making namespaces and mounts, looking into other processes, loading code
into the kernel, its wide and young interfaces (io_uring, bpf, perf, keys, userfaultfd), clocks and host name, and
memory that belongs to no process (memfd, System V), which a watch over processes would not see.
"""

from __future__ import annotations

import errno
import struct

from rlsh.sandbox.worker.kernel import CLONE_NEW

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # <linux/audit.h>
X32 = 0x40000000  # x86_64's second set of numbers for the same calls
REFUSED = {  # name -> number on x86_64, on aarch64 (None: it has no such call)
    # namespaces, mounts, other roots
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "move_pages": (279, 239), "migrate_pages": (256, 238),
    # the kernel
    "bpf": (321, 280), "perf_event_open": (298, 241), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "userfaultfd": (323, 282), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "syslog": (103, 116), "acct": (163, 89), "swapon": (167, 224), "swapoff": (168, 225), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "fanotify_init": (300, 262), "vhangup": (153, 58),
    "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None), "uselib": (134, None),
    "_sysctl": (156, None), "sysfs": (139, None), "ustat": (136, None), "personality": (135, 92),
    # the machine's clocks and names
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162),
    # memory outside processes, memory policies
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "mbind": (237, 235), "set_mempolicy": (238, 237),
    "get_mempolicy": (239, 236),
}  # fmt: skip
ABSENT = {  # refused as if the kernel were older, so that callers fall back to something else
    "clone3": (435, 435),  # its flags lie in memory, where a filter cannot look
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
}  # fmt: skip
CLONE, SOCKET, SOCKETPAIR, IOCTL = (56, 220), (41, 198), (53, 199), (16, 29)
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6; AF_NETLINK, AF_PACKET, AF_ALG and the rest are not needed
TIOCSTI, TIOCLINUX = 0x5412, 0x541C  # typing into somebody's terminal

LOAD, JUMP_EQUAL, JUMP_GREATER_OR_EQUAL, JUMP_IF_SET, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # <linux/bpf_common.h>
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000  # <linux/seccomp.h>
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data


def filter_program(machine: str) -> bytes:
    """The filter for `machine` as os.uname() names it. Raises KeyError where it is not known."""
    architecture = AUDIT_ARCH[machine]
    column = list(AUDIT_ARCH).index(machine)
    out: list[tuple[int, int, int, int]] = []

    def refuse(condition: int, value: int, code: int) -> None:
        out.append((condition, 0, 1, value))
        out.append((RETURN, 0, 0, ERRNO | code))

    def when(number: int, body: list[tuple[int, int, int, int]]) -> None:
        out.append((JUMP_EQUAL, 0, len(body), number))
        out.extend(body)

    out += [(LOAD, 0, 0, ARCHITECTURE), (JUMP_EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL)]
    out.append((LOAD, 0, 0, NUMBER))
    if machine == "x86_64":
        refuse(JUMP_GREATER_OR_EQUAL, X32, errno.ENOSYS)
    for table, code in ((REFUSED, errno.EPERM), (ABSENT, errno.ENOSYS)):
        for numbers in table.values():
            number = numbers[column]
            if number is not None:
                refuse(JUMP_EQUAL, number, code)
    allow, refused = (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ERRNO | errno.EPERM)
    flags = (LOAD, 0, 0, ARGUMENTS)
    when(CLONE[column], [flags, (JUMP_IF_SET, 0, 1, CLONE_NEW), refused, allow])
    request = (LOAD, 0, 0, ARGUMENTS + 8)
    when(IOCTL[column], [request, (JUMP_EQUAL, 1, 0, TIOCSTI), (JUMP_EQUAL, 0, 1, TIOCLINUX), refused, allow])
    family = [flags, *((JUMP_EQUAL, len(FAMILIES) - i, 0, value) for i, value in enumerate(FAMILIES))]
    for call in (SOCKET, SOCKETPAIR):  # the second too loads the module of a family that it then has no pair for
        when(call[column], [*family, (RETURN, 0, 0, ERRNO | errno.EAFNOSUPPORT), allow])
    out.append(allow)
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in out)
