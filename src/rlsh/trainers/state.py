"""Checkpoints that survive a kill at any instant.

A checkpoint is a folder, `checkpoints/step-000010/`. It is written under a name nobody reads, forced to disk,
and renamed; a rename either happened or did not. Pruning is the same backwards: rename away, then delete. So
every `step-*` folder is complete at every moment, and the newest of them is where a run resumes.

One process at a time may save under a root: the run folder's lock sees to that.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from rlsh.types import RlshError

MANIFEST = "manifest.json"  # file name relative to the checkpoint -> sha256
NAME = re.compile(r"(?:\.old-)?step-(\d{6,})")  # `.old-`: see _publish


class CheckpointError(RlshError):
    """A checkpoint that cannot be written, or is not what was written."""


def save_checkpoint(root: Path, step: int, write: Callable[[Path], None], keep: int = 2) -> Path:
    """Save the checkpoint of `step` under `root` and return its folder; `write` fills the folder it is given.

    Afterwards the newest `keep` are left. Checkpoints of later steps go too: a run that went back to an
    earlier step has abandoned them, and resuming from one would jump to a history its records do not hold.
    Raises CheckpointError if the disk is full or not writable; what was complete before still is.
    """
    if keep < 1:
        raise ValueError(f"keep = {keep}: a checkpoint must outlive its own saving")
    final = root / f"step-{step:06d}"
    new = root / f".tmp-{final.name}-{os.getpid()}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        _tidy(root)
        new.mkdir()
        write(new)
        _seal(new)
        _publish(new, final)
        complete = _complete(root)
        for old in [at for at in complete if at > step] + [at for at in complete if at <= step][:-keep]:
            gone = root / f".tmp-{complete[old].name}"
            complete[old].rename(gone)
            shutil.rmtree(gone)
    except OSError as error:
        raise CheckpointError(
            f"cannot save {final} ({error.strerror or error}): make room or make it writable, and --resume "
            f"continues from {latest_checkpoint(root) or 'the start'}"
        ) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)  # there only if something above failed
    return final


def latest_checkpoint(root: Path) -> Path | None:
    """The newest complete checkpoint under `root`, or None. Whether it is intact: `verify_checkpoint`."""
    return next(reversed(_complete(root).values()), None)


def verify_checkpoint(path: Path) -> None:
    """Raise CheckpointError unless every file of the checkpoint `path` is what was saved (sha256)."""
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
    except OSError as error:
        raise CheckpointError(f"{path / MANIFEST}: {error.strerror}; {_way_out(path)}") from error
    except ValueError as error:
        raise CheckpointError(f"{path / MANIFEST}: damaged; {_way_out(path)}") from error
    for name, digest in manifest.items():
        try:
            intact = _sha256(path / name) == digest
        except OSError as error:
            raise CheckpointError(f"{path / name}: {error.strerror}; {_way_out(path)}") from error
        if not intact:
            raise CheckpointError(f"{path / name}: changed since it was saved; {_way_out(path)}")


def save_trainer_state(path: Path, state: dict[str, Any]) -> None:
    """Write tensors, numbers, strings and containers of them to the file `path`.

    Raises CheckpointError if the disk is full, and TypeError for an object `load_trainer_state` would refuse.
    """
    try:
        with path.open("wb") as out:
            torch.save(state, out)
    except (OSError, RuntimeError) as error:
        # torch reports a full disk as "unexpected pos"; the OSError it came from is still attached.
        cause = error if isinstance(error, OSError) else error.__context__
        reason = cause.strerror if isinstance(cause, OSError) else str(error).splitlines()[0]
        raise CheckpointError(f"cannot write {path} ({reason}): make room, then --resume") from error
    try:
        torch.load(path, weights_only=True, mmap=True)  # mmap: the tensors' bytes are not read
    except pickle.UnpicklingError as error:
        refused = re.search(r"GLOBAL (\S+)", str(error))
        raise TypeError(f"{path}: {refused[1] if refused else error} could not be loaded again") from error


def load_trainer_state(path: Path) -> dict[str, Any]:
    """What `save_trainer_state` wrote, on the CPU. Raises CheckpointError if it is missing or damaged."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise CheckpointError(f"{path}: no such file; {_way_out(path.parent)}") from error
    except Exception as error:  # unpickling damaged bytes may raise anything
        raise CheckpointError(f"{path}: damaged or truncated; {_way_out(path.parent)}") from error
    return state


def rng_state(generators: Mapping[str, torch.Generator]) -> dict[str, torch.Tensor]:
    """The state of each random stream, for `save_trainer_state`."""
    return {name: generator.get_state() for name, generator in generators.items()}


def restore_rng_state(generators: Mapping[str, torch.Generator], state: Mapping[str, torch.Tensor]) -> None:
    """Put each generator back where `rng_state` found it. Raises CheckpointError if the streams differ."""
    if generators.keys() != state.keys():
        held, used = (", ".join(sorted(names)) for names in (state, generators))
        raise CheckpointError(
            f"the checkpoint holds the random streams {held}, and this run draws from {used}: "
            "resume with the version and config that saved it"
        )
    for name, generator in generators.items():
        generator.set_state(state[name])


# --- the folder ---------------------------------------------------------------------------------------------


def _complete(root: Path) -> dict[int, Path]:
    """Step -> folder, oldest first. A `step-N` wins over the `.old-step-N` it replaces."""
    found = [(int(match[1]), path) for path in root.glob("*") if (match := NAME.fullmatch(path.name))]
    return dict(sorted(found, key=lambda item: (item[0], not item[1].name.startswith("."))))


def _tidy(root: Path) -> None:
    """Clear away what a killed save left behind."""
    for leftover in root.glob(".tmp-*"):
        shutil.rmtree(leftover)
    for old in root.glob(".old-*"):
        final = root / old.name.removeprefix(".old-")
        if final.exists():
            shutil.rmtree(old)
        else:
            old.rename(final)


def _seal(folder: Path) -> None:
    """Write the manifest and force the whole folder to disk: a rename may not overtake what it publishes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digests = {path.relative_to(folder).as_posix(): _sha256(path) for path in files}
    (folder / MANIFEST).write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
    for path in folder.rglob("*"):
        _fsync(path)
    _fsync(folder)


def _publish(new: Path, final: Path) -> None:
    """Give `new` its final name. A checkpoint already there (a step saved twice) steps aside until then."""
    old = final.with_name(f".old-{final.name}")
    if final.exists():
        final.rename(old)
    new.rename(final)
    _fsync(final.parent)
    if old.exists():
        shutil.rmtree(old)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _way_out(folder: Path) -> str:
    """What to do about the damaged checkpoint `folder`."""
    match = NAME.fullmatch(folder.name)
    earlier = [path for step, path in _complete(folder.parent).items() if match and step < int(match[1])]
    if earlier:
        return f"remove {folder} and --resume continues from {earlier[-1]}"
    return "there is no earlier checkpoint: start a new run"
