"""Running what `tasks` draws: sessions into text."""

from __future__ import annotations

import shlex

from rlsh.sandbox.base import Limits, Sandbox
from rlsh.tasks.sessions import Session
from rlsh.text.dialect import clean

_MARK = "\x1e"  # record separator: `clean` strips it from output, so no file can forge it


def record_session(sandbox: Sandbox, session: Session, limits: Limits, limit: int = 120) -> str:
    """The session as a terminal would show it, outputs real, each cut to `limit` characters.

    All commands run in one sandbox, each by its own `bash -c`, so their errors read as anywhere else.
    """
    lines = []
    for use in session.uses:
        lines += [f"bash -c {shlex.quote(use.command)} 2>&1", f"printf '{_MARK}'"]
    with sandbox.open(session.files, limits) as workspace:
        result = workspace.exec("\n".join(lines))
    shown = []
    for use, output in zip(session.uses, result.stdout.split(_MARK.encode()), strict=False):
        if use.comment:
            shown.append(f"# {use.comment}")
        shown.append(f"$ {use.command}")
        text = clean(output, limit).rstrip("\n")
        if text:
            shown.append(text)
    return "\n".join(shown) + "\n"
