"""Records of a JSON-lines file, with its name and line in whatever is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rlsh.types import RlshError


def records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number (from 1) and object. Raises RlshError where the file or a line cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise RlshError(f"{path}: cannot read records ({error})") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise RlshError(f"{path}, line {number}: {error}") from None
            if not isinstance(record, dict):
                raise RlshError(f"{path}, line {number}: a record is a JSON object")
            yield number, record


def text_of(path: Path, number: int, record: dict[str, Any], key: str) -> str:
    """A string of the record. Raises RlshError where there is none."""
    if not isinstance(record.get(key), str):
        raise RlshError(f"{path}, line {number}: {key} is {'no string' if key in record else 'missing'}")
    return str(record[key])
