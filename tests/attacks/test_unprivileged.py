"""The suite as somebody who is not root runs it: candidates share that user's uid on the host."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import get_args

import pytest
import tomli_w
from another_user import NOBODY, AnotherUser

from rlsh.attacks.suite import SUITE
from rlsh.sandbox.base import Kind

# What a shared uid could make easier: reaching the user's files and processes, and using up what counts for each user.
SUBSET = """
    early_exit/kill_parent floods/disk floods/fork_bomb floods/ten_children floods/sleepers isolation/kill_by_number
    isolation/kill_everything isolation/read_secret isolation/set_user_id isolation/user_namespace
    isolation/write_host links/overwrite_expected links/process_roots peeking/parent_memory
    persistence/setsid_daemon planted/for_the_next_episode tampering/print_expected
""".split()
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root; without it the whole folder runs unprivileged")


@pytest.fixture(scope="module")
def place(unprivileged: AnotherUser) -> AnotherUser:
    """Skips where this user has not every way to run commands."""
    rungs = json.loads(unprivileged.run("-m", "rlsh.cli.main", "doctor", "--json", "-").stdout)
    if missing := set(get_args(Kind)) - {rung["name"] for rung in rungs if rung["ok"]}:
        pytest.skip(f"another user cannot open these sandboxes here: {', '.join(sorted(missing))}")
    return unprivileged


def attack(place: AnotherUser, suite: Path) -> tuple[int, dict[str, int]]:
    """Exit code and totals of `rlsh attack`, every way there is."""
    run = place.run("-m", "rlsh.cli.main", "attack", "--suite", str(suite), "--json", "-")
    assert run.stdout, run.stderr
    result = json.loads(run.stdout)
    assert {row["path"] for row in result["rows"]} == set(get_args(Kind))
    return run.returncode, result["totals"]


def held(attacks: int) -> tuple[int, dict[str, int]]:
    names = ("rewarded", "escaped", "survivors", "infra_forged", "neighbours_failed")
    return 0, {"attacks": attacks * len(get_args(Kind)), **dict.fromkeys(names, 0)}


def test_the_user_is_another_one(place: AnotherUser) -> None:
    assert place.run("-c", "import os; print(os.getresuid(), os.getgroups())").stdout == f"{(NOBODY,) * 3} []\n"


def test_a_choice_of_the_suite_fails(place: AnotherUser) -> None:
    suite = place.folder / "choice"
    for attack_id in SUBSET:
        target = suite / f"{attack_id}.toml"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SUITE / f"{attack_id}.toml", target)
    assert attack(place, suite) == held(len(SUBSET))


def test_an_attack_that_succeeds_is_told_there_too(place: AnotherUser) -> None:
    """Control: the repair, called an attack."""
    file = place.folder / "sound" / "mine" / "repair.toml"
    file.parent.mkdir(parents=True)
    table = {"about": "a", "target": "stdout", "command": "grep ERROR app.log", "aims": "reward", "control": "none: ."}
    file.write_text(tomli_w.dumps(table))
    code, totals = attack(place, file.parents[1])
    assert (code, totals["rewarded"]) == (1, len(get_args(Kind)))


@pytest.mark.slow
def test_the_whole_suite_fails(place: AnotherUser) -> None:
    assert attack(place, SUITE) == held(len(list(SUITE.glob("*/*.toml"))))
