"""Trees and bytes as JSON: text where it is UTF-8, so that people can read a task's file."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, get_args

from rlsh.types import Entry, EntryKind, Tree


def tree_to_json(tree: Tree) -> dict[str, Any]:
    return {path: {"mode": e.mode, "kind": e.kind, **bytes_to_json(e.content)} for path, e in tree.items()}


def bytes_to_json(raw: bytes) -> dict[str, str]:
    try:
        return {"text": raw.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def bytes_from_json(value: Mapping[str, Any]) -> bytes:
    """Raises KeyError, TypeError or ValueError on anything else than `bytes_to_json` gives."""
    return str(value["text"]).encode() if "text" in value else base64.b64decode(value["base64"], validate=True)


def tree_from_json(value: Mapping[str, Any]) -> Tree:
    tree = {}
    for path, e in value.items():
        if e["kind"] not in get_args(EntryKind):
            raise ValueError(f"kind {e['kind']!r} of {path!r} is none of {', '.join(get_args(EntryKind))}")
        tree[path] = Entry(bytes_from_json(e), int(e["mode"]), e["kind"])
    return tree
