"""A run is a folder, written by one process at a time: `config.toml` and append-only `*.jsonl` records.

    config.toml          the full configuration, as it was when the run began
    metrics.jsonl        one line per step
    trajectories.jsonl   one line per episode
    checkpoints/         see trainers/state.py
    lock                 held while a process writes; contains its PID

Every string written here is redacted first: see `redact`.
"""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import tomli_w

from rlsh.config import flatten
from rlsh.types import RlshError

SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
SECRET_LENGTH = 8  # shorter values ("true", "1") are settings, and masking them would riddle every record


class RunFolder:
    """The one writer of a run. Make it with `create`, and close it (or use `with`) to release the lock."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock  # file descriptor; the kernel frees the lock when the process dies, however it dies

    @classmethod
    def create(cls, path: Path, config_toml: str, resume: bool = False) -> Self:
        """Start a run at `path`, or with `resume` go on with the one there (if there is one).

        Raises RlshError if a run is there and `resume` is False, if its config differs from `config_toml`, if
        another process writes it, or if the folder cannot be written.
        """
        with _explained(path):
            path.mkdir(parents=True, exist_ok=True)
            run = cls(path, _acquire(path / "lock"))
        try:
            run._open(config_toml, resume)
        except BaseException:
            run.close()
            raise
        return run

    def _open(self, config_toml: str, resume: bool) -> None:
        config = self.path / "config.toml"
        records = sorted(self.path.glob("*.jsonl"))
        if config.exists():
            if not resume:
                raise RlshError(f"{self.path} already holds a run: add --resume to go on, or choose another path")
            keep_config(config, config_toml)
            for file in records:
                with _explained(file):
                    _drop_half_line(file)
        elif records:
            raise RlshError(f"{self.path} holds {records[0].name} but no config.toml: choose another path")
        else:
            keep_config(config, config_toml)

    def append(self, name: str, record: Mapping[str, Any]) -> None:
        """Add one line to `{name}.jsonl`. `record["step"]` is what `rewind` goes by.

        The line reaches the kernel before this returns, so killing the process loses nothing. If it does not
        fit on the disk, the file is cut back to what it held before and RlshError is raised.
        """
        if not isinstance(record["step"], int):
            raise TypeError(f"step of a {name} record: expected an int, got {record['step']!r}")
        text = json.dumps(_clean_json(record), ensure_ascii=False, allow_nan=False)
        # A lone surrogate (undecodable output of a command) becomes \udcXX, which is also its JSON escape.
        line = text.encode("utf-8", "backslashreplace") + b"\n"
        file = self.path / f"{name}.jsonl"
        with _explained(file), file.open("ab", buffering=0) as out:
            size = out.tell()
            try:
                while line:  # a nearly full disk takes part of it, and says so only at the next write
                    line = line[out.write(line) :]
            except OSError:
                out.truncate(size)
                raise

    def rewind(self, step: int) -> None:
        """Drop every record of a later step than `step`: what a resumed run is about to write again."""
        for file in sorted(self.path.glob("*.jsonl")):
            with _explained(file):
                _replace(file, (line for line, record in _lines(file) if record["step"] <= step))

    def read(self, name: str) -> list[dict[str, Any]]:
        """All records of `{name}.jsonl`, oldest first; none if there is no such file."""
        return read_records(self.path / f"{name}.jsonl")

    def close(self) -> None:
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def keep_config(file: Path, config_toml: str) -> None:
    """Write `config_toml` to `file`, or see that it is what `file` holds. RlshError names a key that differs."""
    clean = _clean_toml(config_toml)
    if file.exists():
        _same_config(file, clean)
    else:
        with _explained(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            _replace(file, [clean.encode()])


def write_whole(path: Path, text: str, way_out: str, doing: str = "write") -> None:
    """Write `path` so that it holds all of `text` or what it held before: its existence says that it is complete.

    Raises RlshError with `way_out` where it cannot be written.
    """
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise RlshError(f"{path}: cannot {doing} ({error.strerror}); {way_out}") from None


def read_records(file: Path) -> list[dict[str, Any]]:
    """Records of one `.jsonl`, without a lock: a report may be made while the run still writes."""
    with _explained(file):
        return [record for _, record in _lines(file)] if file.exists() else []


def redact(text: str) -> str:
    """`text` with the values of environment variables that look like secrets masked."""
    return _mask(text, _secrets())


# --- what may be written ------------------------------------------------------------------------------------


def _secrets() -> list[str]:
    """Longest first, so that a secret which contains another is masked whole."""
    values = {value for name, value in os.environ.items() if SECRET_NAME.search(name)}
    return sorted((value for value in values if len(value) >= SECRET_LENGTH), key=len, reverse=True)


def _mask(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "[redacted]")
    return text


def _map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {change(key): _map_leaves(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_map_leaves(item, change) for item in value]
    return change(value)


# Both mask strings before they are encoded: escapes would hide a secret that holds a quote or a backslash.


def _clean_json(record: Mapping[str, Any]) -> Any:
    secrets = _secrets()

    def change(leaf: Any) -> Any:
        if isinstance(leaf, float) and not math.isfinite(leaf):
            return None  # JSON has no NaN and no infinity
        return _mask(leaf, secrets) if isinstance(leaf, str) else leaf

    return _map_leaves(record, change)


def _clean_toml(text: str) -> str:
    secrets = _secrets()
    table = _map_leaves(tomllib.loads(text), lambda leaf: _mask(leaf, secrets) if isinstance(leaf, str) else leaf)
    return tomli_w.dumps(table)


# --- files --------------------------------------------------------------------------------------------------


def _acquire(path: Path) -> int:
    """Lock `path` for this process and leave its PID there. Raises RlshError if another process holds it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        holder = os.pread(lock, 32, 0).decode().strip()
        os.close(lock)
        if isinstance(error, BlockingIOError):
            raise RlshError(
                f"{path.parent} is being written by process {holder}: let it finish, stop it (kill {holder}) "
                "or choose another path"
            ) from error
        raise
    return lock


def _same_config(file: Path, config_toml: str) -> None:
    with _explained(file):
        before = file.read_text(encoding="utf-8")
    try:
        old = flatten(tomllib.loads(before))
    except tomllib.TOMLDecodeError as error:
        raise RlshError(f"{file}: not valid TOML ({error}): restore it, or choose another path") from error
    new = flatten(tomllib.loads(config_toml))
    for key in new | old:
        was, now = (repr(table[key]) if key in table else "not set" for table in (old, new))
        if was != now:  # compared as text: nan equals nan, and 1 is neither 1.0 nor true
            raise RlshError(
                f"{file.parent} was started with another config: {key} was {was} and is now {now}; "
                "resume with the old value, or choose another path"
            )


def _lines(file: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """(line, record) per complete line. A last line without its end was cut short by a kill: left out."""
    with file.open("rb") as lines:  # bytes: text mode also splits at characters that JSON strings may hold
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                record = json.loads(line)
                record["step"]
            except (ValueError, TypeError, KeyError) as error:
                raise RlshError(f"{file}, line {number}: not a record of a run: remove the line") from error
            yield line, record


def _drop_half_line(file: Path) -> None:
    with file.open("r+b") as lines:
        lines.truncate(sum(len(line) for line in lines if line.endswith(b"\n")))


def _replace(file: Path, lines: Iterable[bytes]) -> None:
    """Write `file` anew: after a kill at any instant it holds all of the old lines or all of the new ones."""
    new = file.with_name(f".{file.name}.new")
    try:
        with new.open("wb") as out:
            out.writelines(lines)
            out.flush()
            os.fsync(out.fileno())
        new.replace(file)
    except OSError:
        new.unlink(missing_ok=True)  # on a full disk the half-written copy is what must go first
        raise


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn an OSError into one line that names the path and the way out."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        way_out = "free some space, then go on with --resume" if full else "choose a folder you may write to"
        raise RlshError(f"cannot write {path} ({error.strerror or error}): {way_out}") from error
