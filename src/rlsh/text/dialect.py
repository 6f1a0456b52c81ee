"""What a tool's outcome looks like to the policy, in two dialects.

`rlsh` shows both streams and the exit code. `iclaw` speaks as the user's own agent does (lzwjava/iclaw 0.1.0):
one stream, no code unless nothing was printed; a policy trained in it meets the same strings there.
These strings are part of the frozen format: a checkpoint carries their hash.
"""

from __future__ import annotations

import re
from typing import Literal

Dialect = Literal["rlsh", "iclaw"]

# CSI and OSC sequences, other escapes (`tput sgr0` ends in one), then every control character but newline and tab
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


def clean(raw: bytes, limit: int) -> str:
    """Bytes -> text the policy may read: decoded with replacement, control sequences gone, head and tail kept.

    `limit` is in characters. CRLF becomes LF with the other control characters.
    """
    text = _CONTROL.sub("", raw.decode("utf-8", errors="replace"))
    if len(text) <= limit:
        return text
    head = limit // 2
    return f"{text[:head]}\n[... {len(text) - limit} characters left out ...]\n{text[len(text) - (limit - head) :]}"


def exec_observation(
    dialect: Dialect, stdout: bytes, stderr: bytes, exit_code: int, timeout_s: float | None, limit: int
) -> str:
    """The tool message after an `exec`. `timeout_s` is the budget it ran past, None if it ended by itself."""
    out, err = clean(stdout, limit), clean(stderr, limit)
    if dialect == "iclaw":
        if timeout_s is not None:
            return f"Error: Command timed out after {timeout_s:g} seconds."
        shown = out if exit_code == 0 else err
        return shown if shown.strip() else f"(Process exited with code {exit_code})"
    ending = f"[exit {exit_code}]" if timeout_s is None else f"[timed out after {timeout_s:g} s]"
    return "".join(part if part.endswith("\n") else part + "\n" for part in (out, err) if part) + ending


def edit_observation(dialect: Dialect, path: str, error: str | None) -> str:
    """The tool message after an `edit`; iclaw reports success whatever happened."""
    if dialect == "iclaw":
        return f"Successfully edited {path}"
    return f"edited {path}" if error is None else f"error: {error}"


def bad_call_observation(reason: str) -> str:
    return f"error: {reason}"
