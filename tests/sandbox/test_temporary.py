"""Folders of killed owners go at the next start; those that somebody holds, or that are another user's, stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from another_user import NOBODY

from rlsh.sandbox import temporary
from rlsh.sandbox.temporary import HeldFolder, hold, remove_abandoned

PREFIX = "rlsh-test-"
OWNER = f"""
from rlsh.sandbox.temporary import HeldFolder
print(HeldFolder({PREFIX!r}).path, flush=True)
input()
"""
Owner = Callable[[], tuple[Path, "subprocess.Popen[str]"]]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def owner() -> Iterator[Owner]:
    """Starts processes that hold a folder each until they are killed."""
    started = []

    def start() -> tuple[Path, subprocess.Popen[str]]:
        pipe = subprocess.PIPE
        process = subprocess.Popen([sys.executable, "-c", OWNER], stdin=pipe, stdout=pipe, text=True)
        started.append(process)
        assert process.stdout is not None
        return Path(process.stdout.readline().strip()), process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_the_folder_of_a_killed_owner_goes_and_that_of_a_living_one_stays(owner: Owner, place: Path) -> None:
    (left, killed), (living, _) = owner(), owner()
    (place / "rlsh-others").mkdir()
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert left.is_dir()  # control: nothing else removes it
    with HeldFolder(PREFIX) as ours:
        assert {path.name for path in place.iterdir()} == {living.name, ours.path.name, "rlsh-others"}
        assert ours.path.stat().st_mode & 0o777 == 0o700
    assert not ours.path.exists()
    ours.close()


def test_a_folder_is_held_before_it_can_be_taken_for_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    def after_another_start(folder: Path) -> int:
        monkeypatch.setattr(temporary, "hold", hold)
        remove_abandoned(PREFIX)
        return hold(folder)

    monkeypatch.setattr(temporary, "hold", after_another_start)
    with HeldFolder(PREFIX) as folder:
        assert folder.path.is_dir() and folder.path.name.startswith(PREFIX)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who alone could remove what is another user's")
def test_another_users_folder_stays(place: Path) -> None:
    for name, uid in (("theirs", NOBODY), ("ours", 0)):
        (place / f"{PREFIX}{name}").mkdir()
        os.chown(place / f"{PREFIX}{name}", uid, uid)
    remove_abandoned(PREFIX)
    assert [path.name for path in place.iterdir()] == [f"{PREFIX}theirs"]


def test_a_link_is_not_followed(place: Path) -> None:
    (place / "elsewhere").mkdir()
    (place / f"{PREFIX}link").symlink_to(place / "elsewhere")
    remove_abandoned(PREFIX)
    assert (place / "elsewhere").is_dir()
