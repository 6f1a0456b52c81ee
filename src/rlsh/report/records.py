"""Reading the append-only files of a run, which a kill can leave with a line cut in half."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]  # one decoded JSON object; the keys each file has are listed in docs and in html.py


@dataclass(frozen=True)
class Line:
    """One line of a JSONL file: its number (from 1), its byte offset, and its record if it is whole."""

    number: int
    offset: int
    record: Record | None


def read_jsonl(path: Path) -> Iterator[Line]:
    """Every non-empty line of `path`; none if the file is not there (a run that has not come that far)."""
    if not path.exists():
        return
    offset = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if raw.strip():
                yield Line(number, offset, _record(raw))
            offset += len(raw)


def record_at(path: Path, offset: int) -> Record:
    """The record whose line starts at byte `offset`, as `read_jsonl` reported it."""
    with path.open("rb") as file:
        file.seek(offset)
        record = _record(file.readline())
    assert record is not None, f"{path} changed while it was read"
    return record


def read_json(path: Path) -> Record | None:
    """The object in `path`; None if the file is not there or is not whole yet."""
    return _record(path.read_bytes()) if path.exists() else None


def _record(raw: bytes) -> Record | None:
    try:
        decoded = json.loads(raw.decode("utf-8", errors="replace"))
    except json.JSONDecodeError:
        return None
    return decoded if isinstance(decoded, dict) else None
