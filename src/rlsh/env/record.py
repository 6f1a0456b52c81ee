"""Running what `tasks` draws: sessions into text."""

from __future__ import annotations

import hashlib
import shlex

from rlsh.sandbox.base import Limits, Sandbox, SandboxError
from rlsh.tasks.sessions import Session
from rlsh.text.dialect import clean


def record_session(sandbox: Sandbox, session: Session, limits: Limits, limit: int = 120) -> str:
    """The session as a terminal would show it, outputs real, each cut to `limit` characters.

    All commands run in one sandbox, each by its own `bash -c`, so their errors read as anywhere else. Raises
    SandboxError where not every command got to its end.
    """
    # between outputs stands the session's own digest: a file of the session cannot contain it
    mark = hashlib.sha256(repr(session).encode()).hexdigest()
    lines = []
    for use in session.uses:
        lines += [f"bash -c {shlex.quote(use.command)} 2>&1", f"printf {mark}"]
    with sandbox.open(session.files, limits) as workspace:
        result = workspace.exec("\n".join(lines))
    *outputs, rest = result.stdout.split(mark.encode())
    if len(outputs) != len(session.uses) or rest:
        raise SandboxError(f"{len(outputs)} of {len(session.uses)} commands of a session came to their end")
    shown = []
    for use, output in zip(session.uses, outputs, strict=True):
        if use.comment:
            shown.append(f"# {use.comment}")
        shown.append(f"$ {use.command}")
        text = clean(output, limit).rstrip("\n")
        if text:
            shown.append(text)
    return "\n".join(shown) + "\n"
