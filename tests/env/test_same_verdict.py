"""The same verdict every time: whatever the trainer's hash seed and time zone are, and however many are in flight."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import pytest

from rlsh.env.build import LIMITS
from rlsh.env.verify import verify_command
from rlsh.sandbox.base import Kind, Sandbox, SandboxError
from rlsh.sandbox.probe import open_sandbox
from rlsh.tasks.task import Task, write_tasks
from rlsh.types import Verdict

HASH_SEEDS, ZONES = ("0", "1", "4711"), ("UTC", "JST-9")  # the latter is nine hours ahead
COPIES = 16
# What a trainer's process is told apart by, in a plain subprocess and in a sandbox. `date` is what the zone says.
LEAKS = "date -d @0 +%FT%H:%M; env | grep -E '^(TZ|PYTHONHASHSEED)=' | sort"
JUDGE = """
import json, subprocess, sys
from pathlib import Path
from rlsh.env.build import LIMITS
from rlsh.env.python_check import run_python_check
from rlsh.env.verify import verify_command
from rlsh.sandbox.probe import open_sandbox
from rlsh.tasks.checks import Case, PythonCheck
from rlsh.tasks.task import read_tasks
from rlsh.types import Entry
kind, path, repeats, leaks = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
SOURCE = b'''
import datetime
def f(words, stamp):
    return {w: len(w) for w in words}, set(words), datetime.datetime.fromtimestamp(stamp).isoformat(), float("nan")
'''
WORDS = ["fig", "plum", "quince", "sloe", "damson", "medlar"]
def case(stamp, said):
    return Case((WORDS, stamp), {}, ({w: len(w) for w in WORDS}, set(WORDS), said, float("nan")))
CHECK = PythonCheck("f.py", "f", (case(0, "1970-01-01T00:00:00"), case(86399, "1970-01-01T23:59:59")))
def told(name, verdict):
    return [name, verdict.reward, verdict.reasons, verdict.flags, verdict.infra]
def judged(sandbox):
    for task in read_tasks(path):
        for name, command in (("reference", task.reference[-1].arguments["command"]), ("broken", task.broken)):
            yield told(f"{task.family}: {name}", verify_command(task, command, sandbox, LIMITS))
    for name, source in (("python: reference", SOURCE), ("python: broken", SOURCE.replace(b"len(w)", b"len(words)"))):
        yield told(name, run_python_check(CHECK, {"f.py": Entry(source)}, sandbox, LIMITS))
with open_sandbox(2, kind) as sandbox:
    rounds = [list(judged(sandbox)) for _ in range(repeats)]
    with sandbox.open({}, LIMITS) as workspace:
        inside = workspace.exec(leaks).stdout.decode()
outside = subprocess.run(["bash", "-c", leaks], capture_output=True, text=True).stdout
print(json.dumps({"rounds": rounds, "inside": inside, "outside": outside, "hash": hash("rlsh")}))
"""


@pytest.fixture(params=get_args(Kind), scope="module")
def own(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Fewer workers than copies in flight."""
    try:
        opened = open_sandbox(3, request.param)
    except SandboxError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


def judge_elsewhere(kind: str, tasks: Path, repeats: int, hash_seed: str, zone: str) -> dict[str, Any]:
    """The verdicts that a trainer with this hash seed, in this time zone, comes to."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": zone}
    command = [sys.executable, "-c", JUDGE, kind, str(tasks), str(repeats), LEAKS]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    told: dict[str, Any] = json.loads(run.stdout)
    return told


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("repeats", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_the_trainers_hash_seed_and_time_zone_change_no_verdict(
    kind: str, repeats: int, family_tasks: Mapping[str, Task], tmp_path: Path
) -> None:
    try:
        open_sandbox(1, kind).close()  # type: ignore[arg-type]
    except SandboxError as error:
        pytest.skip(str(error))
    path = tmp_path / "tasks.jsonl"
    write_tasks(path, list(family_tasks.values()))
    places = list(itertools.product(HASH_SEEDS, ZONES))
    told = [judge_elsewhere(kind, path, repeats, *place) for place in places]

    first = told[0]["rounds"][0]
    assert len(first) == 2 * (len(family_tasks) + 1)
    for one in told:
        assert one["rounds"] == [first] * repeats
    for name, reward, reasons, flags, infra in first:
        assert (reward == 1.0) == name.endswith("reference"), (name, reasons)
        assert flags == [] and not infra

    # Nothing of either comes in; control: both are there, and differ, where a command is a plain subprocess.
    assert {one["inside"] for one in told} == {"1970-01-01T00:00\nTZ=UTC\n"}
    for (hash_seed, zone), one in zip(places, told, strict=True):
        hour = "00" if zone == "UTC" else "09"
        assert one["outside"] == f"1970-01-01T{hour}:00\nPYTHONHASHSEED={hash_seed}\nTZ={zone}\n"
    assert len({one["hash"] for one in told}) == len(HASH_SEEDS)


def several(family_tasks: Mapping[str, Task]) -> list[Task]:
    return list(family_tasks.values())[::2]


def reference_of(task: Task) -> str:
    return task.reference[-1].arguments["command"]


def test_sixteen_copies_at_once_all_pass(own: Sandbox, family_tasks: Mapping[str, Task]) -> None:
    for task in several(family_tasks):

        def judged(_: int, task: Task = task) -> Verdict:
            return verify_command(task, reference_of(task), own, LIMITS)

        with ThreadPoolExecutor(COPIES) as pool:
            assert list(pool.map(judged, range(COPIES))) == [Verdict(1.0)] * COPIES, task.family


def test_copies_that_shared_a_workspace_would_not(own: Sandbox, family_tasks: Mapping[str, Task]) -> None:
    """Control: what is right the first time is wrong where an earlier copy has been."""
    spoilt = []
    for task in several(family_tasks):
        with own.open(task.files, LIMITS) as workspace:
            first, second = ((workspace.exec(reference_of(task)), workspace.export()) for _ in range(2))
        if first != second:
            spoilt.append(task.family)
    assert spoilt
