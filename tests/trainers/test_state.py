"""Kill the save at every system call, fill the disk, damage the files: nothing complete is lost."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from rlsh.trainers.state import (
    MANIFEST,
    CheckpointError,
    latest_checkpoint,
    load_trainer_state,
    restore_rng_state,
    rng_state,
    save_checkpoint,
    save_trainer_state,
    verify_checkpoint,
)

Save = Callable[[Path, int, Callable[[Path], None], int], object]


def writer(content: str) -> Callable[[Path], None]:
    """A checkpoint of two files; the larger is written in two parts, so that a kill can come between them."""

    def write(folder: Path) -> None:
        file = os.open(folder / "model.bin", os.O_WRONLY | os.O_CREAT)
        os.write(file, content.encode() * 100)
        os.write(file, content.encode() * 100)
        os.close(file)
        (folder / "sub").mkdir()
        (folder / "sub" / "more.txt").write_text(content, encoding="utf-8")

    return write


def content(folder: Path | None) -> str | None:
    return (folder / "sub" / "more.txt").read_text(encoding="utf-8") if folder else None


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(CheckpointError) as caught:
        act()
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- killed at any instant

CALLS = ("write", "fsync", "rename", "mkdir", "unlink", "rmdir")


def kill_at(k: int, when: str, act: Callable[[], object]) -> bool:
    """Run `act` in a child that SIGKILLs itself before or after its k-th call of CALLS; False: made fewer."""
    child = os.fork()
    if child == 0:
        calls = itertools.count()

        def trap(real: Callable[..., object]) -> Callable[..., object]:
            def call(*args: object, **kwargs: object) -> object:
                mine = next(calls) == k
                if mine and when == "before":
                    os.kill(os.getpid(), signal.SIGKILL)
                try:
                    return real(*args, **kwargs)
                finally:
                    if mine:
                        os.kill(os.getpid(), signal.SIGKILL)

            return call

        for name in CALLS:
            setattr(os, name, trap(getattr(os, name)))
        try:
            act()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def kill_everywhere(tmp_path: Path, prepare: Callable[[Path], None], save: Save, allowed: set[str | None]) -> int:
    """Kill one save of step 10 at every call; count the kills after which something complete was lost."""
    lost = 0
    for when in ("before", "after"):
        for k in itertools.count():
            root = tmp_path / f"{when}{k}" / "checkpoints"
            root.mkdir(parents=True)
            prepare(root)
            if not kill_at(k, when, lambda: save(root, 10, writer("new"), 1)):  # noqa: B023
                break
            newest = latest_checkpoint(root)
            try:
                for folder in {*root.glob("step-*"), *([newest] if newest else [])}:
                    verify_checkpoint(folder)
                lost += content(newest) not in allowed
            except (CheckpointError, OSError):
                lost += 1
            save_checkpoint(root, 11, writer("next"), keep=1)  # the next save tidies up after the dead one
            assert [path.name for path in root.iterdir()] == ["step-000011"]
        assert k > 10
    return lost


def nothing(root: Path) -> None:
    pass


def an_older_one(root: Path) -> None:
    save_checkpoint(root, 5, writer("old"))


def the_same_step(root: Path) -> None:
    save_checkpoint(root, 10, writer("old"))


def leftovers(root: Path) -> None:
    """Step 10 had stepped aside for its replacement when the process died."""
    save_checkpoint(root, 10, writer("old"))
    (root / "step-000010").rename(root / ".old-step-000010")
    (root / ".tmp-step-000010-1").mkdir()
    writer("half")(root / ".tmp-step-000010-1")


def both_leftovers(root: Path) -> None:
    """The replacement had arrived, and the old step 10 was being deleted."""
    leftovers(root)
    save_checkpoint(root.parent / "other", 10, writer("old")).rename(root / "step-000010")
    (root / ".old-step-000010" / "model.bin").unlink()


@pytest.mark.parametrize("prepare", [nothing, an_older_one, the_same_step, leftovers, both_leftovers])
def test_killed_at_any_call(tmp_path: Path, prepare: Callable[[Path], None]) -> None:
    before = None if prepare is nothing else "old"
    assert kill_everywhere(tmp_path, prepare, save_checkpoint, {before, "new"}) == 0


def save_in_place(root: Path, step: int, write: Callable[[Path], None], keep: int) -> None:
    final = root / f"step-{step:06d}"
    final.mkdir(exist_ok=True)
    write(final)
    save_checkpoint(root.parent / "other", step, write)
    (root.parent / "other" / final.name / MANIFEST).rename(final / MANIFEST)


def test_a_save_in_place_fails_that_test(tmp_path: Path) -> None:
    assert kill_everywhere(tmp_path, an_older_one, save_in_place, {"old", "new"}) > 0


def test_bytes_reach_the_disk_before_the_name_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[object] = []
    real_fsync, real_rename = os.fsync, os.rename

    def fsync(descriptor: int) -> None:
        events.append(os.fstat(descriptor).st_ino)
        real_fsync(descriptor)

    def rename(old: Path, new: Path) -> None:
        events.append("rename")
        real_rename(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", rename)
    final = save_checkpoint(tmp_path, 10, writer("new"))
    published = events.index("rename")
    assert set(events[:published]) == {path.stat().st_ino for path in [final, *final.rglob("*")]}
    assert events[published + 1 :] == [tmp_path.stat().st_ino]


# --- what is kept


def test_the_newest_are_kept(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path / "gone") is None
    for step in (5, 999_999, 1_000_000):  # past six digits, names no longer sort like numbers
        folder = save_checkpoint(tmp_path, step, writer(str(step)))
        assert latest_checkpoint(tmp_path) == folder
        verify_checkpoint(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-1000000", "step-999999"]
    with pytest.raises(ValueError, match="keep = 0"):
        save_checkpoint(tmp_path, 1_000_001, writer("x"), keep=0)


def test_a_step_saved_twice_holds_the_second(tmp_path: Path) -> None:
    the_same_step(tmp_path)
    opened = len(list(Path("/dev/fd").iterdir()))
    assert content(save_checkpoint(tmp_path, 10, writer("new"))) == "new"
    assert len(list(Path("/dev/fd").iterdir())) == opened
    assert [path.name for path in tmp_path.iterdir()] == ["step-000010"]


def test_one_that_had_stepped_aside_gets_its_name_back(tmp_path: Path) -> None:
    leftovers(tmp_path)
    assert content(latest_checkpoint(tmp_path)) == "old"
    save_checkpoint(tmp_path, 11, writer("new"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000010", "step-000011"]


def test_later_steps_of_an_abandoned_history_go(tmp_path: Path) -> None:
    for step in (10, 20, 30):
        save_checkpoint(tmp_path, step, writer("abandoned"), keep=9)
    save_checkpoint(tmp_path, 15, writer("new"), keep=2)
    assert content(latest_checkpoint(tmp_path)) == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000010", "step-000015"]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    old = save_checkpoint(tmp_path, 5, writer("old"))

    def interrupted(folder: Path) -> None:
        writer("half")(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(tmp_path, 10, interrupted)
    assert list(tmp_path.iterdir()) == [old]


def test_a_full_disk_keeps_the_old_one(tmp_path: Path) -> None:
    def plain(folder: Path) -> None:
        (folder / "model.bin").write_bytes(b"x" * 100_000)

    def state(folder: Path) -> None:
        save_trainer_state(folder / "trainer.pt", {"moments": torch.zeros(100_000)})

    old = save_checkpoint(tmp_path, 5, state)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for write in (plain, state):
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))  # a write takes what fits, the next one fails
        try:
            message = refusal(lambda: save_checkpoint(tmp_path, 10, write))  # noqa: B023
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert "step-000010" in message and "File too large" in message and "--resume" in message
        assert list(tmp_path.iterdir()) == [old]
        verify_checkpoint(old)
    with pytest.raises(RuntimeError, match="unexpected pos"):  # what torch says by itself
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
        try:
            torch.save({"moments": torch.zeros(100_000)}, tmp_path / "naive.pt")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_root_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    message = refusal(lambda: save_checkpoint(tmp_path / "file", 10, writer("new")))
    assert f"cannot save {tmp_path / 'file' / 'step-000010'}" in message and "from the start" in message


# --- damage


@pytest.mark.parametrize("name", ["model.bin", "sub/more.txt", MANIFEST])
@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_damage_is_found_and_the_way_out_named(tmp_path: Path, name: str, damage: str) -> None:
    earlier = save_checkpoint(tmp_path, 5, writer("old"))
    folder = save_checkpoint(tmp_path, 10, writer("new"))
    verify_checkpoint(folder)
    file = folder / name
    whole = file.read_bytes()
    if damage == "remove":
        file.unlink()
    else:
        file.write_bytes(whole[:-2] if damage == "cut" else bytes([whole[0] ^ 1]) + whole[1:])
    message = refusal(lambda: verify_checkpoint(folder))
    assert message.startswith(f"{file}: ")
    assert message.endswith(f"remove {folder} and --resume continues from {earlier}")
    assert "start a new run" in refusal(lambda: verify_checkpoint(tmp_path / "step-000001"))


def test_the_manifest_lists_every_file(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path, 10, writer("new"))
    assert set(json.loads((folder / MANIFEST).read_bytes())) == {"model.bin", "sub/more.txt"}


# --- trainer state


def test_state_round_trip(tmp_path: Path) -> None:
    weights = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(weights.parameters(), lr=0.1)
    weights(torch.ones(3)).sum().backward()
    optimizer.step()
    state: dict[str, Any] = {
        "step": 3,
        "best": 0.1 + 0.2,
        "cursor": (1, [2, None]),
        "optimizer": optimizer.state_dict(),
    }
    save_trainer_state(tmp_path / "trainer.pt", state)
    loaded = load_trainer_state(tmp_path / "trainer.pt")
    assert loaded["optimizer"]["param_groups"] == state["optimizer"]["param_groups"]
    for index, moments in optimizer.state_dict()["state"].items():
        for name, value in moments.items():
            assert torch.equal(loaded["optimizer"]["state"][index][name], value)
    del loaded["optimizer"], state["optimizer"]
    assert loaded == state


def test_what_could_not_be_loaded_is_refused_when_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"trainer.pt: pathlib\.\S+ could not be loaded again"):
        save_trainer_state(tmp_path / "trainer.pt", {"path": Path("x")})


def test_a_state_cut_anywhere_is_an_error(tmp_path: Path) -> None:
    earlier = save_checkpoint(tmp_path, 5, writer("old"))
    folder = save_checkpoint(tmp_path, 10, lambda at: save_trainer_state(at / "t.pt", {"w": torch.ones(50)}))
    file = folder / "t.pt"
    whole = file.read_bytes()
    for size in [*range(0, len(whole), 61), len(whole) - 1]:
        file.write_bytes(whole[:size])
        message = refusal(lambda: load_trainer_state(file))
        assert message.startswith(f"{file}: damaged") and message.endswith(f"continues from {earlier}")
    file.unlink()
    assert refusal(lambda: load_trainer_state(file)).startswith(f"{file}: no such file; remove {folder}")


def test_a_flipped_byte_never_escapes_as_another_error(tmp_path: Path) -> None:
    file = tmp_path / "trainer.pt"
    save_trainer_state(file, {"a": [1, "two", 3.0], "w": torch.arange(4)})
    whole = file.read_bytes()
    for at in range(0, len(whole), 3):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            load_trainer_state(file)  # padding may change unnoticed; `verify_checkpoint` is there for that
        except CheckpointError as error:
            assert "start a new run" in str(error)


def test_a_state_cannot_run_code(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "pwned"),)

    torch.save({"x": Evil()}, tmp_path / "evil.pt")
    assert "damaged" in refusal(lambda: load_trainer_state(tmp_path / "evil.pt"))
    (tmp_path / "old.pt").write_bytes(pickle.dumps(Evil(), protocol=2))
    refusal(lambda: load_trainer_state(tmp_path / "old.pt"))
    assert not (tmp_path / "pwned").exists()


# --- random streams


def test_streams_continue_where_they_were(tmp_path: Path) -> None:
    streams = {name: torch.Generator().manual_seed(seed) for seed, name in enumerate(["data", "sampling"])}
    torch.rand(7, generator=streams["data"])
    save_trainer_state(tmp_path / "t.pt", {"rng": rng_state(streams)})
    expected = {name: torch.rand(5, generator=stream) for name, stream in streams.items()}
    fresh = {name: torch.Generator() for name in ("sampling", "data")}
    restore_rng_state(fresh, load_trainer_state(tmp_path / "t.pt")["rng"])
    for name, stream in fresh.items():
        assert torch.equal(torch.rand(5, generator=stream), expected[name])


def test_other_streams_are_refused() -> None:
    saved = rng_state({"data": torch.Generator(), "tasks": torch.Generator()})
    message = refusal(lambda: restore_rng_state({"data": torch.Generator()}, saved))
    assert "data, tasks" in message and "draws from data:" in message
