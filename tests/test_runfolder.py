"""The run folder: never overwritten, never shared by two writers, never holding half a line or a secret."""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rlsh.runfolder import RunFolder, read_records, redact
from rlsh.types import RlshError

CONFIG = 'name = "x"\nsteps = 4\n\n[optim]\nlr = 0.1\n'


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(RlshError) as caught:
        act()
    message = str(caught.value)
    assert "\n" not in message
    return message


def start(path: Path, steps: int = 3) -> Path:
    with RunFolder.create(path, CONFIG) as run:
        for step in range(1, steps + 1):
            run.append("metrics", {"step": step, "reward": step / 10})
            run.append("trajectories", {"step": step, "ids": [step, 7]})
    return path


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file grows past `size` bytes, as if the disk were full: a write takes what fits, the next fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# --- starting and resuming


def test_records_come_back_in_order(tmp_path: Path) -> None:
    path = start(tmp_path / "deep" / "run")
    assert (path / "config.toml").read_text(encoding="utf-8") == CONFIG
    with RunFolder.create(path, CONFIG, resume=True) as run:
        run.append("metrics", {"step": 4, "text": "π ≈ 3"})
        assert [record["step"] for record in run.read("metrics")] == [1, 2, 3, 4]
        assert run.read("metrics")[3]["text"] == "π ≈ 3"
        assert run.read("eval") == []
    assert read_records(path / "trajectories.jsonl")[0] == {"step": 1, "ids": [1, 7]}
    assert "π".encode() in (path / "metrics.jsonl").read_bytes()


def test_an_existing_run_is_never_overwritten(tmp_path: Path) -> None:
    path = start(tmp_path)
    before = {file.name: file.read_bytes() for file in path.iterdir() if file.name != "lock"}
    message = refusal(lambda: RunFolder.create(path, "steps = 9\n"))
    assert str(path) in message and "--resume" in message and "another path" in message
    assert {file.name: file.read_bytes() for file in path.iterdir() if file.name != "lock"} == before
    RunFolder.create(path, CONFIG, resume=True).close()  # the refusal let go of the lock


def test_resume_of_nothing_starts(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "new", CONFIG, resume=True) as run:
        assert run.read("metrics") == []


def test_records_without_a_config_are_not_a_run(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text("{}\n", encoding="utf-8")
    for resume in (False, True):
        message = refusal(lambda: RunFolder.create(tmp_path, CONFIG, resume))  # noqa: B023
        assert "metrics.jsonl but no config.toml" in message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("lr = 0.1", "lr = 0.2", "optim.lr was 0.1 and is now 0.2"),
        ("steps = 4", "steps = 4.0", "steps was 4 and is now 4.0"),
        ("steps = 4\n", "", "steps was 4 and is now not set"),
        ("steps = 4", "steps = 4\ncap = 1", "cap was not set and is now 1"),
    ],
)
def test_resume_with_another_config_names_the_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = start(tmp_path)
    message = refusal(lambda: RunFolder.create(path, CONFIG.replace(old, new), resume=True))
    assert said in message and str(path) in message


def test_nan_in_a_config_equals_itself(tmp_path: Path) -> None:
    RunFolder.create(tmp_path, "cap = nan\n").close()
    RunFolder.create(tmp_path, "cap = nan\n", resume=True).close()


def test_a_damaged_config_is_named(tmp_path: Path) -> None:
    (start(tmp_path) / "config.toml").write_text("steps =", encoding="utf-8")
    assert "config.toml: not valid TOML" in refusal(lambda: RunFolder.create(tmp_path, CONFIG, resume=True))


# --- lines


def test_json_has_no_nan(tmp_path: Path) -> None:
    record = {"step": 1, "kl": math.nan, "deep": {"a": [math.inf, (-math.inf, 1.5)]}}
    assert "NaN" in json.dumps(record)  # what the standard library writes, and JSON parsers refuse
    with RunFolder.create(tmp_path, CONFIG) as run:
        run.append("metrics", record)
    line = (tmp_path / "metrics.jsonl").read_text(encoding="utf-8")
    assert line == '{"step": 1, "kl": null, "deep": {"a": [null, [null, 1.5]]}}\n'


@pytest.mark.parametrize("text", ["a\u2028b\u0085c\r\nd\x0b", "undecodable \udc80\udcff", "\x00\x1b[0m", "🙂"])
def test_any_text_survives_on_one_line(tmp_path: Path, text: str) -> None:
    with RunFolder.create(tmp_path, CONFIG) as run:
        run.append("metrics", {"step": 1, "out": text})
        run.append("metrics", {"step": 2, "out": text})
        assert [record["out"] for record in run.read("metrics")] == [text, text]
    assert (tmp_path / "metrics.jsonl").read_bytes().decode("utf-8").count("\n") == 2


def test_a_record_that_cannot_be_written_leaves_no_trace(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, CONFIG) as run:
        run.append("metrics", {"step": 1})
        for record, error in [
            ({"reward": 1}, KeyError),
            ({"step": "2"}, TypeError),
            ({"step": 2, "x": {1}}, TypeError),
        ]:
            with pytest.raises(error):
                run.append("metrics", record)
        assert run.read("metrics") == [{"step": 1}]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = start(tmp_path)
    for damage in (b"\x00\x00\n", b"[1]\n", b"{}\n", b"\xff\n"):
        (path / "metrics.jsonl").write_bytes(b'{"step": 1}\n' + damage + b'{"step": 3}\n')
        assert "metrics.jsonl, line 2: " in refusal(lambda: read_records(path / "metrics.jsonl"))


# --- kill and rewind


def test_a_line_cut_anywhere_is_dropped_at_resume(tmp_path: Path) -> None:
    path = start(tmp_path, steps=2)
    file = path / "metrics.jsonl"
    whole = file.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole)):
        file.write_bytes(whole[:cut])
        assert [record["step"] for record in read_records(file)] == [1]
        with RunFolder.create(path, CONFIG, resume=True) as run:
            run.append("metrics", {"step": 2})
            assert [record["step"] for record in run.read("metrics")] == [1, 2]


def test_without_the_repair_a_cut_line_spoils_the_next(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, CONFIG) as run:
        (tmp_path / "metrics.jsonl").write_bytes(b'{"step": 1}\n{"ste')  # cut while it is open: no repair
        run.append("metrics", {"step": 2})
        assert "line 2" in refusal(lambda: run.read("metrics"))


def test_rewind_drops_later_steps_of_every_file(tmp_path: Path) -> None:
    with RunFolder.create(start(tmp_path, steps=5), CONFIG, resume=True) as run:
        before = (tmp_path / "metrics.jsonl").read_bytes().splitlines(keepends=True)
        run.rewind(3)
        assert (tmp_path / "metrics.jsonl").read_bytes() == b"".join(before[:3])
        assert [record["step"] for record in run.read("trajectories")] == [1, 2, 3]
        run.append("metrics", {"step": 4})
        run.rewind(0)
        assert run.read("metrics") == run.read("trajectories") == []


def killed_at(point: str, when: str, act: Callable[[], object]) -> None:
    """Run `act` in a child that kills itself before or after its first call of `os.<point>`."""
    child = os.fork()
    if child == 0:
        real = getattr(os, point)

        def last(*args: object, **kwargs: object) -> None:
            if when == "after":
                real(*args, **kwargs)
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(os, point, last)
        act()
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", ["fsync", "replace"])
def test_rewind_killed_midway_keeps_all_or_drops_all(tmp_path: Path, point: str, when: str) -> None:
    path = start(tmp_path, steps=5)
    with RunFolder.create(path, CONFIG, resume=True) as run:
        killed_at(point, when, lambda: run.rewind(3))
        steps = [record["step"] for record in run.read("metrics")]
        assert steps == ([1, 2, 3] if (point, when) == ("replace", "after") else [1, 2, 3, 4, 5])
        run.rewind(3)  # what the resumed run does
        assert len(run.read("metrics")) == len(run.read("trajectories")) == 3


def test_rewind_forces_all_bytes_to_disk_before_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunFolder.create(start(tmp_path), CONFIG, resume=True) as run:
        synced: list[int] = []
        monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
        run.rewind(2)
        assert synced == [(tmp_path / f"{name}.jsonl").stat().st_size for name in ("metrics", "trajectories")]


def test_a_rewind_in_place_fails_that_test(tmp_path: Path) -> None:
    file = start(tmp_path, steps=5) / "metrics.jsonl"

    def naive() -> None:
        with file.open("wb") as out:
            out.write(b'{"step": 1}\n{"st')
            out.flush()
            os.fsync(out.fileno())

    killed_at("fsync", "before", naive)
    assert [record["step"] for record in read_records(file)] not in ([1, 2, 3], [1, 2, 3, 4, 5])


# --- disk


def test_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    with RunFolder.create(start(tmp_path), CONFIG, resume=True) as run:
        file = tmp_path / "metrics.jsonl"
        before = file.read_bytes()
        with largest_file(len(before) + 10):  # ten bytes of the line fit
            message = refusal(lambda: run.append("metrics", {"step": 4, "text": "long enough"}))
            assert str(file) in message and "free some space" in message and "--resume" in message
            assert file.read_bytes() == before
        with largest_file(20):
            assert "free some space" in refusal(lambda: run.rewind(2))
            assert file.read_bytes() == before
        assert not list(tmp_path.glob(".*"))  # the half-written copy does not stay to fill the disk
        run.append("metrics", {"step": 4})
        assert len(run.read("metrics")) == 4


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        message = refusal(lambda: RunFolder.create(path, CONFIG))  # noqa: B023
        assert str(path) in message and "choose a folder you may write to" in message

    def read_only(*_: object, **__: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", read_only)
    assert "Read-only file system" in refusal(lambda: RunFolder.create(tmp_path / "new", CONFIG))


# --- secrets


def test_secrets_are_masked_in_records_and_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quoted = 'p"a\\ss\nwörd'  # JSON and TOML would each write this differently
    monkeypatch.setenv("HF_TOKEN", "hf_abcdefgh")
    monkeypatch.setenv("db_password", quoted)
    monkeypatch.setenv("A_KEY", "hf_abcdefgh_and_more")  # contains another secret
    monkeypatch.setenv("SHORT_KEY", "1234567")
    monkeypatch.setenv("EDITOR", "nano_editor")
    record = {
        "step": 1,
        "out": f"say {quoted} and hf_abcdefgh_and_more.",
        "hf_abcdefgh": [{"x": ("hf_abcdefgh",)}],
        "kept": "1234567 nano_editor",
    }
    with RunFolder.create(tmp_path, 'url = "https://hf_abcdefgh@host"\nx = nan\n[a]\nb = ["hf_abcdefgh"]\n') as run:
        run.append("trajectories", record)
        assert run.read("trajectories") == [
            {
                "step": 1,
                "out": "say [redacted] and [redacted].",
                "[redacted]": [{"x": ["[redacted]"]}],
                "kept": "1234567 nano_editor",
            }
        ]
    config = (tmp_path / "config.toml").read_text(encoding="utf-8")
    assert "hf_" not in config and 'url = "https://[redacted]@host"' in config
    assert redact("hf_abcdefgh nano_editor") == "[redacted] nano_editor"


# --- one writer

HOLDER = """
import sys, pathlib
from rlsh.runfolder import RunFolder
run = RunFolder.create(pathlib.Path(sys.argv[1]), sys.argv[2])
run.append("metrics", {"step": 1})
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_told_who_writes(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), CONFIG], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        for resume in (False, True):
            message = refusal(lambda: RunFolder.create(tmp_path, CONFIG, resume))  # noqa: B023
            assert f"process {holder.pid}:" in message and str(tmp_path) in message
        assert len(read_records(tmp_path / "metrics.jsonl")) == 1  # reading needs no lock
        holder.kill()
    with RunFolder.create(tmp_path, CONFIG, resume=True) as run:  # the lock died with its holder
        assert len(run.read("metrics")) == 1


def test_two_writers_in_one_process(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("999999999999\n", encoding="utf-8")  # left by a dead process of a longer PID
    run = RunFolder.create(tmp_path, CONFIG)
    opened = len(list(Path("/dev/fd").iterdir()))
    assert f"process {os.getpid()}:" in refusal(lambda: RunFolder.create(tmp_path, CONFIG, resume=True))
    assert len(list(Path("/dev/fd").iterdir())) == opened  # the refused one closed its descriptor
    run.close()
    RunFolder.create(tmp_path, CONFIG, resume=True).close()


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    assert "No locks available" in refusal(lambda: RunFolder.create(tmp_path, CONFIG))
