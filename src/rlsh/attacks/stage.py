"""What lies around a sandbox for an attack to reach, and how to see from outside that it was reached."""

from __future__ import annotations

import re
import secrets
import select
import shutil
import socket
import subprocess
from types import TracebackType
from typing import Self

from rlsh.sandbox.temporary import HeldFolder
from rlsh.types import Tree

UNTOUCHED = "untouched\n"
PLACE = re.compile(r"\{(\w+)\}")
WORDS = set(  # of the stage, and of targets
    "abstract hidden_path host_file marker padding port secret_path victim_pid "
    "broken faulty file function shown visible_answer visible_tree".split()
)
PADDING = "x" * 140_000  # more than Linux lets one argument have


def new_marker() -> str:
    """A number next to nothing, so that `sleep 1000 MARKER` is a process like no other on this machine."""
    return f"0.000000000{secrets.randbelow(10**18):018d}"


def fill(text: str, words: dict[str, str]) -> str:
    """`text` with each `{word}` replaced; other braces stay as they are, also those that a word brought along."""
    return PLACE.sub(lambda found: words.get(found[1], found[0]), text)


def words_in(text: str) -> set[str]:
    """The words for which `text` has a place."""
    return set(PLACE.findall(text)) & WORDS


class Stage:
    """On this host, open to every user: a secret (in a file, and as a process's name and variable), a file that may
    be written, a listener on TCP and one on an abstract socket, and the answers of the task."""

    def __init__(self, answers: Tree) -> None:
        self.marker, self.secret = new_marker(), secrets.token_hex(16)
        self._held = HeldFolder("rlsh-attack-")
        self.folder = self._held.path
        self.folder.chmod(0o755)
        (self.folder / "secret").write_text(self.secret)
        self.file = self.folder / "file"
        self.file.write_text(UNTOUCHED)
        self.file.chmod(0o666)
        for path, entry in sorted(answers.items()):
            if entry.kind == "file":
                place = self.folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(entry.content)
        self.before = self._state()
        tcp, abstract = socket.socket(), socket.socket(socket.AF_UNIX)
        tcp.bind(("127.0.0.1", 0))
        abstract.bind(f"\0{self.folder.name}")
        self.listeners = [tcp, abstract]
        for listener in self.listeners:
            listener.listen()
        self.process = subprocess.Popen(
            [f"keeper-{self.secret}", "600"], executable=shutil.which("sleep"), env={"SECRET": self.secret}
        )
        self.words = {
            "marker": self.marker,
            "secret_path": str(self.folder / "secret"),
            "host_file": str(self.file),
            "hidden_path": str(self.folder / "hidden"),
            "port": str(tcp.getsockname()[1]),
            "abstract": self.folder.name,
            "victim_pid": str(self.process.pid),
            "padding": PADDING,
        }

    def _state(self) -> dict[str, tuple[int, bytes]]:
        """Everything in the folder: mode and content."""
        return {
            str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
            for path in sorted(self.folder.rglob("*"))
        }

    def reached(self, seen: bytes) -> list[str]:
        """What an attack reached, given all that came out of its sandbox."""
        contacted = select.select(self.listeners, [], [], 0)[0]
        found = {
            "read the secret": self.secret.encode() in seen,
            "changed the host's files": self._state() != self.before,
            "connected to the host": bool(contacted),
            "killed a process of the host": self.process.poll() is not None,
        }
        return [what for what, true in found.items() if true]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for listener in self.listeners:
            listener.close()
        self.process.kill()
        self.process.wait()
        self._held.close()
