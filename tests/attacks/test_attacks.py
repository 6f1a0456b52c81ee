"""Every attack of the suite fails, on every backend, while its honest neighbour passes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
import tomli_w

from rlsh.attacks.stage import WORDS, Stage, fill, new_marker
from rlsh.attacks.suite import WORKERS, Attack, exceeded, load_attacks, run_attack, totals
from rlsh.attacks.targets import Target, built_in, literal_tree
from rlsh.attacks.watch import marked
from rlsh.cli.main import main
from rlsh.sandbox.base import Kind, Limits, Sandbox, SandboxError
from rlsh.sandbox.probe import open_sandbox
from rlsh.types import Entry, RlshError

ATTACKS = load_attacks()


@pytest.fixture(scope="module", params=get_args(Kind))
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def attacked(path: Kind) -> Iterator[Sandbox]:
    try:
        opened = open_sandbox(WORKERS, path)
    except SandboxError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def targets(attacked: Sandbox) -> dict[str, Target]:
    return built_in(attacked)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_attack_fails(attack: Attack, attacked: Sandbox, targets: dict[str, Target], path: str) -> None:
    row = run_attack(attack, targets[attack.target], attacked, path)
    assert not row.rewarded, row
    assert row.escaped == (), row
    assert row.survivors == 0, row
    assert not row.infra_forged, row
    assert row.neighbour, row
    assert row.held and set(totals([row]).values()) <= {0, 1}
    assert row.why, "an attack that earns nothing is told why"


def test_suite_is_large_and_covers_every_class() -> None:
    groups = Counter(attack.group for attack in ATTACKS)
    assert len(ATTACKS) >= 60
    assert len(groups) == 19 and min(groups.values()) >= 3
    assert len({attack.about for attack in ATTACKS}) == len({attack.text for attack in ATTACKS}) == len(ATTACKS)


def test_everything_that_is_reached_is_seen(tmp_path: Path) -> None:
    with Stage({"hidden/stdout": Entry(b"3\n")}) as stage:
        folder = stage.folder
        assert stage.reached(b"") == []
        with socket.create_connection(("127.0.0.1", int(stage.words["port"]))):
            pass
        Path(stage.words["host_file"]).write_text("changed")
        os.kill(int(stage.words["victim_pid"]), signal.SIGKILL)
        stage.process.wait()
        assert Path(stage.words["hidden_path"], "stdout").read_text() == "3\n"
        seen = Path(stage.words["secret_path"]).read_bytes()
        assert stage.reached(seen) == [
            "read the secret",
            "changed the host's files",
            "connected to the host",
            "killed a process of the host",
        ]
    assert not folder.exists()


def test_the_folder_of_a_killed_attack_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = "from rlsh.attacks.stage import Stage; stage = Stage({}); print(stage.process.pid, flush=True); input()"
    command, pipe = [sys.executable, "-c", script], subprocess.PIPE
    variables = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=variables) as killed, Stage({}) as living:
        assert killed.stdout is not None
        keeper = int(killed.stdout.readline())
        killed.kill()
        killed.wait()
        os.kill(keeper, signal.SIGKILL)
        assert len(list(tmp_path.iterdir())) == 2  # control: nothing else removes it
        with Stage({}) as stage:
            assert set(tmp_path.iterdir()) == {living.folder, stage.folder}
    assert not list(tmp_path.iterdir())


def test_a_limit_that_does_not_hold_is_seen() -> None:
    limits = Limits(processes=32, inodes=512)
    assert exceeded({"processes": 64.0, "inodes": 1024.0}, limits) == []  # the sandbox's own processes count, too
    assert exceeded({"processes": 65.0}, limits) == ["used 65 of 32 processes"]


def test_a_survivor_is_seen() -> None:
    marker = new_marker()
    assert marked(marker) == []
    with subprocess.Popen(["sleep", "20", marker]) as process:
        while process.poll() is None and not marked(marker):  # a moment after its start it has no arguments yet
            pass
        assert marked(marker) == [process.pid]
        process.kill()


# --- files ----------------------------------------------------------------------------------------------------

GOOD = {"about": "a", "target": "stdout", "command": "true", "aims": "reward", "control": "exit_code"}


def written(folder: Path, **changes: object) -> Path:
    table = {key: value for key, value in (GOOD | changes).items() if value is not None}
    path = folder / "mine" / "one.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(tomli_w.dumps(table))
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"comand": "true"}, "unknown key 'comand'; known are about, aims, command,"),
        ({"control": None}, "control is missing"),
        ({"command": None}, "it needs a command or a source"),
        ({"aims": "win"}, "aims = 'win' is none of reward, escape, survive, infra, exhaust"),
        ({"target": "perl"}, "target = 'perl' is none of stdout, tree, python"),
        ({"generic": "yes"}, "generic = 'yes' is not of type bool"),
        ({"about": 3}, "about = 3 is not of type str"),
        ({"source": "x = 1"}, "a source is for the target python, not for stdout"),
        ({"limits": {"walls": 1}}, "there is no limit 'walls'"),
    ],
)
def test_a_faulty_file_is_one_clear_line(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    path = written(tmp_path, **changes)
    with pytest.raises(RlshError) as caught:
        load_attacks(tmp_path)
    assert str(caught.value).startswith(f"{path}: {said}") and "\n" not in str(caught.value)


def test_what_is_no_toml_and_what_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(RlshError, match="no attacks here"):
        load_attacks(tmp_path)
    written(tmp_path).write_text("about = ")
    with pytest.raises(RlshError, match=r"one\.toml: cannot read this attack"):
        load_attacks(tmp_path)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    written(tmp_path, generic=True, limits={"wall_s": 0.5})
    (attack,) = load_attacks(tmp_path)
    assert (attack.id, attack.generic, attack.limits) == ("mine/one", True, {"wall_s": 0.5})


# --- words ----------------------------------------------------------------------------------------------------


def test_every_word_is_known(targets: dict[str, Target]) -> None:
    with Stage({}) as stage:
        assert set(stage.words).union(*(target.words for target in targets.values())) == WORDS


def test_a_word_brings_its_own_braces_along() -> None:
    assert fill("{broken} {file} {other}", {"broken": "f'{file}'", "file": "a.py"}) == "f'{file}' a.py {other}"


def test_a_literal_tree_is_the_tree(sandbox: Sandbox) -> None:
    tree = {
        "a": Entry(b"", 0o700, "dir"),
        "a/it's": Entry(b"x\0\xff\n", 0o640),
        "link": Entry(b"a/it's", 0o777, "link"),
    }
    with sandbox.open({"old": Entry(b"1"), ".old": Entry(b"2")}, Limits(wall_s=20)) as workspace:
        assert workspace.exec(literal_tree(tree)).exit_code == 0
        assert workspace.export() == tree


# --- the command ------------------------------------------------------------------------------------------------


def test_attack_command_prints_rows_and_totals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, command=r"touch $'\377'")
    assert main(["attack", "--suite", str(tmp_path), "--sandbox", "warm", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    (row,) = result["rows"]
    assert (row["class"], row["attack"], row["path"], row["neighbour_passed"]) == ("mine", "one", "warm", True)
    assert row["why"] == ["stdout differs", "tree differs at \\udcff"]
    zeros = dict.fromkeys(("rewarded", "escaped", "survivors", "infra_forged", "neighbours_failed"), 0)
    assert result["totals"] == {"attacks": 1, **zeros}
    assert "mine" in err


def test_attack_command_fails_where_an_attack_is_rewarded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, command="grep ERROR app.log")  # the repair, for once called an attack
    assert main(["attack", "--suite", str(tmp_path), "--sandbox", "warm"]) == 1
    out, err = capsys.readouterr()
    assert "1 attacks, 1 rewarded, 0 escaped" in out
    assert err == "rlsh: 1 attacks were not held off: mine/one\n"
