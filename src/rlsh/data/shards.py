"""Token shards: flat files of uint16 ids, documents ended by the tokenizer's end-of-text id.

nanoGPT's headerless `.bin` and NumPy's `.npy` are both read; the `.npy` header is noticed, not read as tokens.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rlsh.text.tokenizer import FILE_NAME, Tokenizer
from rlsh.types import RlshError

MANIFEST = "manifest.json"
Ids = npt.NDArray[np.uint16]


def write_shards(
    folder: Path, tokenizer: Tokenizer, documents: Iterable[Sequence[int]], facts: dict[str, Any]
) -> dict[str, Any]:
    """Writes `documents` of ids as `train.bin` and `val.bin` (every 50th), with tokenizer and manifest beside.

    Each document gets its end-of-text id. Returns the manifest. Raises RlshError where the vocabulary does not fit
    16 bits, the documents are too few or the folder cannot be written.
    """
    if tokenizer.vocab_size > 2**16:
        raise RlshError(f"a vocabulary of {tokenizer.vocab_size} ids does not fit uint16 shards")
    parts: dict[str, list[Ids]] = {"train": [], "val": []}
    count = 0
    for ids in documents:
        parts["val" if count % 50 == 0 else "train"].append(np.array([*ids, tokenizer.eot], dtype=np.uint16))
        count += 1
    if not parts["train"]:
        raise RlshError(f"{folder}: {count} documents are too few to split into train and val")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, arrays in parts.items():
            np.concatenate(arrays).tofile(folder / f"{name}.bin")
        tokenizer.save(folder)
    except OSError as error:
        raise RlshError(f"{folder}: cannot write shards ({error.strerror}); choose another folder") from None
    manifest = {
        **facts,
        "documents": count,
        "tokens": {name: int(sum(map(len, arrays))) for name, arrays in parts.items()},
        "tokenizer": hashlib.sha256((folder / FILE_NAME).read_bytes()).hexdigest()[:16],
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return manifest


def open_shard(path: Path) -> Ids:
    """A memory map of one shard's ids. Raises RlshError on a missing, empty or foreign file."""
    try:
        with path.open("rb") as file:
            numpy_header = file.read(6) == b"\x93NUMPY"
        if numpy_header:
            found: Ids = np.load(path, mmap_mode="r")
        else:
            found = np.memmap(path, dtype=np.uint16, mode="r")
    except FileNotFoundError:
        raise RlshError(f"{path}: no such shard; make it with: rlsh data prepare") from None
    except (OSError, ValueError) as error:
        raise RlshError(f"{path}: not a token shard ({error})") from None
    if found.ndim != 1 or found.dtype != np.uint16:
        raise RlshError(f"{path}: shape {found.shape} of {found.dtype}; expected a flat array of uint16")
    return found


def _last_start(shard: Ids, length: int) -> int:
    if len(shard) < length:
        raise RlshError(
            f"a shard of {len(shard)} tokens holds no row of {length}; add data or make model.block_size smaller"
        )
    return len(shard) - length


def sample_rows(shard: Ids, rows: int, length: int, generator: torch.Generator) -> Tensor:
    """`rows` windows of `length` consecutive ids at random offsets. (rows, length) int64"""
    starts = torch.randint(_last_start(shard, length) + 1, (rows,), generator=generator).tolist()
    return torch.from_numpy(np.stack([shard[s : s + length].astype(np.int64) for s in starts]))


def fixed_rows(shard: Ids, rows: int, length: int) -> Tensor:
    """The same evenly spaced windows every time, for evaluation: no generator is touched. (rows, length) int64"""
    starts: Sequence[int] = np.linspace(0, _last_start(shard, length), rows).astype(int).tolist()
    return torch.from_numpy(np.stack([shard[s : s + length].astype(np.int64) for s in starts]))
