"""A task, its JSON form and the file it is stored in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from rlsh.runfolder import write_whole
from rlsh.tasks.checks import Check, check_from_json, one_of
from rlsh.tasks.tree_json import tree_from_json, tree_to_json
from rlsh.types import RlshError, ToolCall, Tree

SCHEMA = 2
TaskSet = Literal["demonstrated", "reward_only", "never_met"]


@dataclass(frozen=True)
class Task:
    """One broken command or snippet. `checks` and `reference` stay on the host side.

    All of the checks have to pass. Raises ValueError where there is none, or no reference.
    """

    id: str
    family: str
    set: TaskSet
    split: Literal["train", "held_out"]
    seed: int
    instruction: str
    broken: str
    error: str  # what the broken command printed, as the policy would see it
    files: Tree
    checks: tuple[Check, ...]
    reference: tuple[ToolCall, ...]
    source: str = "rlsh"
    licence: str = "MIT"

    def __post_init__(self) -> None:
        if not self.checks or not self.reference:
            raise ValueError("checks and reference must not be empty")

    @property
    def prompt(self) -> str:
        """The user's message: what is wanted, what was tried, what came of it."""
        return f"{self.instruction}\n$ {self.broken}\n{self.error}"

    @property
    def content_hash(self) -> str:
        """Names the generated specification, not what was recorded while running it."""
        spec = to_json(replace(self, checks=tuple(check.unrecorded() for check in self.checks)))
        del spec["error"], spec["id"]
        return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]


def to_json(task: Task) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "id": task.id,
        "family": task.family,
        "set": task.set,
        "split": task.split,
        "seed": task.seed,
        "instruction": task.instruction,
        "broken": task.broken,
        "error": task.error,
        "files": tree_to_json(task.files),
        "checks": [check.to_json() for check in task.checks],
        "reference": [{"name": c.name, "arguments": dict(c.arguments)} for c in task.reference],
        "source": task.source,
        "licence": task.licence,
    }


def from_json(value: Mapping[str, Any]) -> Task:
    """Raises KeyError, TypeError or ValueError on a malformed record; `read_tasks` turns them into one line."""
    if not isinstance(value, dict):
        raise TypeError(f"a task is a JSON object, not {value!r:.40}")
    if value["schema"] != SCHEMA:
        raise ValueError(f"schema = {value['schema']!r}; this version reads schema {SCHEMA}")
    task = Task(
        id="",
        family=str(value["family"]),
        set=one_of(value["set"], get_args(TaskSet), "set"),
        split=one_of(value["split"], ("train", "held_out"), "split"),
        seed=int(value["seed"]),
        instruction=str(value["instruction"]),
        broken=str(value["broken"]),
        error=str(value["error"]),
        files=tree_from_json(value["files"]),
        checks=tuple(map(check_from_json, value["checks"])),
        reference=tuple(ToolCall(c["name"], dict(c["arguments"])) for c in value["reference"]),
        source=str(value["source"]),
        licence=str(value["licence"]),
    )
    task = with_id(task)
    if value["id"] != task.id:
        raise ValueError(f"id {value['id']!r} does not match the content, whose id is {task.id!r}")
    return task


def with_id(task: Task) -> Task:
    return replace(task, id=f"{task.family}-{task.content_hash}")


def write_tasks(path: Path, tasks: Iterable[Task]) -> None:
    """One JSON object a line. Raises RlshError where the file cannot be written."""
    # ASCII, because a file's name need not be Unicode: its stray bytes are lone surrogates here
    text = "".join(json.dumps(to_json(t)) + "\n" for t in tasks)
    write_whole(path, text, "choose another --out", "write tasks")


def read_tasks(path: Path) -> list[Task]:
    """Raises RlshError naming file, line and fault."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")  # splitlines() would also cut at U+2028
    except FileNotFoundError:
        raise RlshError(f"{path}: no such task file; build one with: rlsh tasks build --out {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RlshError(f"{path}: cannot read tasks ({error})") from None
    tasks: list[Task] = []
    lines_of: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            tasks.append(from_json(json.loads(line)))
            if lines_of.setdefault(tasks[-1].id, number) != number:
                raise ValueError(f"the task of line {lines_of[tasks[-1].id]} again: remove one of them")
        except KeyError as error:
            raise RlshError(f"{path}, line {number}: key {error} is missing") from None
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise RlshError(f"{path}, line {number}: {error}") from None
    if not tasks:
        raise RlshError(f"{path}: no task in it")
    return tasks
