"""Every attack succeeds where its one defence is off, and every naive arrangement is one that can tell."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from rlsh.attacks.controls import CONTROLS, naive, unfiltered, unlimited
from rlsh.attacks.suite import Attack, load_attacks
from rlsh.attacks.targets import PythonTarget, Target, built_in
from rlsh.sandbox import linux
from rlsh.sandbox.base import Sandbox, SandboxError
from rlsh.sandbox.linux import LinuxSandbox
from rlsh.sandbox.probe import open_sandbox

ATTACKS = [attack for attack in load_attacks() if not attack.control.startswith("none: ")]
ALLOW_ALL = b"\x06\0\0\0\0\0\xff\x7f"  # return SECCOMP_RET_ALLOW


@pytest.fixture(scope="module")
def outer() -> Iterator[Sandbox]:
    try:
        opened = open_sandbox(1)
    except SandboxError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def targets(outer: Sandbox) -> dict[str, Target]:
    return built_in(outer)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_attack_succeeds_without_its_defence(
    attack: Attack, outer: Sandbox, targets: dict[str, Target], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = targets[attack.target]
    if attack.control == "git_history" and shutil.which("git") is None:
        pytest.skip("no git here, so no history")
    if attack.control == "unfiltered":
        monkeypatch.setattr(linux, "filter_program", lambda machine: ALLOW_ALL)
        with LinuxSandbox("warm", 1) as sandbox:
            assert unfiltered(attack, target, sandbox)
    elif attack.control.startswith("limit: "):
        assert unlimited(attack.control.removeprefix("limit: "), attack, target, outer)
    else:
        assert naive(attack.control, attack.command, attack.source, target, outer)


USED = sorted({(attack.control, attack.target) for attack in ATTACKS if attack.control in CONTROLS})


@pytest.mark.parametrize(("control", "name"), USED)
def test_naive_arrangement_tells_the_repair_from_what_is_broken(
    control: str, name: str, outer: Sandbox, targets: dict[str, Target]
) -> None:
    if control == "git_history" and shutil.which("git") is None:
        pytest.skip("no git here, so no history")
    target = targets[name]
    if isinstance(target, PythonTarget):
        command, source = ":", target.task.files[target.check.file].content.decode()
    else:
        command, source = target.words["broken"], None
    assert not naive(control, command, source, target, outer)
    assert naive(control, *target.honest, target, outer) == CONTROLS[control].pays


def test_every_control_is_used() -> None:
    assert {attack.control for attack in ATTACKS if ":" not in attack.control} - {"unfiltered"} == CONTROLS.keys()
