"""Archives for fixtures, byte for byte the same on every machine: no time, no owner, and a deflate of our own, since
versions of zlib compress differently."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
import zlib

from rlsh.tasks.world import with_parents
from rlsh.types import Tree

# The fixed Huffman code of every byte (RFC 1951, 3.2.6): what is packed cannot be read, or searched, as it is.
CODES = [f"{0b00110000 + byte:08b}" if byte < 144 else f"{0b110010000 + byte - 144:09b}" for byte in range(256)]
FINAL_FIXED, END_OF_BLOCK = "110", "0000000"


def deflated(raw: bytes) -> bytes:
    """`raw` as a deflate stream of one block of literals."""
    bits = FINAL_FIXED + "".join(CODES[byte] for byte in raw) + END_OF_BLOCK
    return int(bits[::-1], 2).to_bytes(-(-len(bits) // 8), "little")  # the first bit is the lowest of the first byte


def gzipped(raw: bytes) -> bytes:
    """`raw` as a gzip file (RFC 1952)."""
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + deflated(raw) + struct.pack("<II", zlib.crc32(raw), len(raw))


def zlibbed(raw: bytes) -> bytes:
    """`raw` as a zlib stream (RFC 1950)."""
    return b"\x78\x01" + deflated(raw) + struct.pack(">I", zlib.adler32(raw))


def tarred(files: Tree) -> bytes:
    """A tar archive of `files` and the folders above them, in the order of their names, not padded to a full record."""
    out, blocks = io.BytesIO(), 2
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, entry in with_parents(files).items():
            member = tarfile.TarInfo(path)
            member.mode, member.size = entry.mode, len(entry.content)
            if entry.kind == "dir":
                member.type = tarfile.DIRTYPE
            archive.addfile(member, io.BytesIO(entry.content))
            blocks += 1 + -(-member.size // tarfile.BLOCKSIZE)
    return out.getvalue()[: blocks * tarfile.BLOCKSIZE]


def zipped(files: Tree) -> bytes:
    """A zip archive of `files`, in the order of their names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, entry in sorted(files.items()):
            member = zipfile.ZipInfo(path)
            member.create_system, member.external_attr = 3, (0o100000 | entry.mode) << 16
            archive.writestr(member, entry.content)
    return out.getvalue()
