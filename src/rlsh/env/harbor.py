"""Tasks as Harbor's task directories, for trainers and harnesses that read those: https://harborframework.com/docs/tasks

    ID/task.toml  ID/instruction.md                       what Harbor and the agent read
    ID/environment/Dockerfile  ID/environment/workspace/  the files, copied to WORKDIR
    ID/tests/test.sh  ID/tests/verify.py  …               uploaded when the agent has ended; they write the reward
    ID/tests/rlsh.json                                    the whole record, with all that is expected
    ID/solution/solve.sh                                  the reference

A command that is judged on files nobody has seen has to be handed in: Harbor looks at a container, not at a transcript.
Its instruction therefore asks for the command in a file, ANSWER.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomli_w

from rlsh.env import harbor_verifier, python_check, script_check
from rlsh.env.verify import read_tree, tree_differences
from rlsh.sandbox.base import Limits
from rlsh.tasks import values
from rlsh.tasks.checks import ShellCheck
from rlsh.tasks.task import Task, from_json, to_json
from rlsh.types import Entry, RlshError, ToolCall, Tree

IMAGE = "python:3.11-bookworm"  # with git, make, patch and the like, which tasks may need
WORKDIR, LOGS = "/work", "/logs/verifier"
ANSWER = "answer.sh"
REQUEST = f"\nWrite the command to {ANSWER} in {WORKDIR}. It will be run on other files of the same names.\n"
RECORD = "tests/rlsh.json"
FOREIGN = (
    "no tests/rlsh.json: a test.sh from elsewhere runs what was answered beside itself, where a reward can be forged"
)
TEST = f"""\
#!/bin/bash
# Arguments, for a trial outside a container: the folder that was worked in, and where the reward goes.
here=$(cd "$(dirname "$0")" && pwd)
logs=${{2:-{LOGS}}}
mkdir -p "$logs"
chmod -R go= "$here"
export PATH=/usr/local/bin:/usr/bin:/bin
reward=$(python3 -I "$here/verify.py" "$here/{Path(RECORD).name}" "${{1:-{WORKDIR}}}" {ANSWER}) || exit 1
echo "$reward" >"$logs/reward.txt"
"""
VERIFIER = "".join(Path(str(m.__file__)).read_text(encoding="utf-8") for m in (values, harbor_verifier))
LIMITS = Limits(workspace_mb=64)  # of a directory that is read


def harbor_tree(task: Task) -> Tree:
    """The task's directory: relative path -> entry. Raises RlshError where a file of the task is named like ANSWER."""
    handed_in = asks_for_answer(task)
    if handed_in and ANSWER in task.files:
        raise RlshError(f"{task.id}: its files hold {ANSWER}, which is where Harbor's agents have to put their answer")
    texts = {
        "task.toml": tomli_w.dumps(configuration(task)),
        "instruction.md": f"{task.prompt}\n" + (REQUEST if handed_in else ""),
        "environment/Dockerfile": f"FROM {IMAGE}\nWORKDIR {WORKDIR}\nCOPY workspace/ {WORKDIR}/\n",
        "tests/verify.py": VERIFIER,
        "tests/call.py": python_check.DRIVER,
        "tests/script.py": script_check.DRIVER,
        RECORD: json.dumps(to_json(task), indent=1) + "\n",
    }
    tree = {path: Entry(text.encode()) for path, text in texts.items()}
    tree["tests/test.sh"] = Entry(TEST.encode(), 0o755)
    tree["solution/solve.sh"] = Entry(solution(task).encode(), 0o755)
    tree["environment/workspace"] = Entry(mode=0o755, kind="dir")
    return {**tree, **{f"environment/workspace/{path}": entry for path, entry in task.files.items()}}


def asks_for_answer(task: Task) -> bool:
    """Whether the last command itself is judged, so that it has to be handed in."""
    return any(isinstance(check, ShellCheck) and not check.script for check in task.checks)


def configuration(task: Task) -> dict[str, Any]:
    return {
        "schema_version": "1.1",
        "task": {"name": f"rlsh/{task.id}", "description": task.instruction, "keywords": [task.set, task.family]},
        "metadata": {
            "set": task.set,
            "split": task.split,
            "operators": list(task.operators),
            "source": task.source,
            "licence": task.licence,
        },
        "verifier": {"timeout_sec": 300.0},
        "agent": {"timeout_sec": 600.0},
        "environment": {"build_timeout_sec": 600.0, "cpus": 1, "memory_mb": 1024, "storage_mb": 4096},
    }


def solution(task: Task) -> str:
    """A script that does in WORKDIR what the reference does, and hands in its last command where that is judged."""
    commands = [call.arguments["command"] for call in task.reference if call.name == "exec"]
    lines = ["#!/bin/bash", f'cd "${{1:-{WORKDIR}}}" || exit 1', *map(_as_shell, task.reference)]
    if asks_for_answer(task):
        lines.append(f"printf %s {shlex.quote(commands[-1])} >{ANSWER}")
    return "\n".join(lines) + "\n"


def _as_shell(call: ToolCall) -> str:
    if call.name == "exec":
        return f"bash -c {shlex.quote(call.arguments['command'])}"
    path, diff = call.arguments["file_path"], call.arguments["edit_content"]
    return f"printf %s {shlex.quote(diff)} | patch --silent --fuzz=0 {shlex.quote(path)}"


def export_harbor(tasks: Sequence[Task], folder: Path) -> None:
    """Writes a directory for each task, named by its id. Raises RlshError where one is there or cannot be written."""
    for task in tasks:
        tree = harbor_tree(task)
        try:
            (folder / task.id).mkdir(parents=True)
            for path, entry in sorted(tree.items()):
                _write(folder / task.id / path, entry)
            for path, entry in sorted(tree.items(), reverse=True):  # a folder may be one that nobody may write to
                if entry.kind == "dir":
                    (folder / task.id / path).chmod(entry.mode)
        except OSError as error:
            raise RlshError(f"{folder / task.id}: cannot export ({error.strerror}); choose another --out") from None


def _write(path: Path, entry: Entry) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if entry.kind == "dir":
        path.mkdir(exist_ok=True)
    elif entry.kind == "link":
        path.symlink_to(os.fsdecode(entry.content))
    else:
        path.write_bytes(entry.content)
        path.chmod(entry.mode)


def import_harbor(folder: Path) -> tuple[list[Task], dict[str, list[str]]]:
    """The tasks that were exported to `folder`, and what was turned down: reason -> names of directories.

    Raises RlshError where `folder` holds no task directory at all.
    """
    directories = sorted(path.parent for path in folder.glob("*/task.toml"))
    if not directories:
        raise RlshError(f"{folder}: no task directory of Harbor's in it (none has a task.toml)")
    tasks: list[Task] = []
    rejected: dict[str, list[str]] = {}
    for directory in directories:
        try:
            tasks.append(read_harbor(directory))
        except RlshError as error:
            rejected.setdefault(str(error), []).append(directory.name)
    return tasks, rejected


def read_harbor(directory: Path) -> Task:
    """The task of one directory. Raises RlshError where it is not what rlsh writes: the record alone would then be
    another task than the files, which is what others run."""
    record = directory / RECORD
    if not record.is_file():
        raise RlshError(FOREIGN)
    try:
        task = from_json(json.loads(record.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RlshError(f"{RECORD}: {error}") from None
    differing = tree_differences(contents(harbor_tree(task)), contents(read_tree(directory, LIMITS)))
    if differing:
        raise RlshError(f"not as its record says: {differing[0]}")
    return task


def contents(tree: Tree) -> Tree:
    """What a transport keeps: contents and links. Folders that hold something, and modes, may change."""
    return {path: Entry(entry.content, 0, entry.kind) for path, entry in tree.items() if entry.kind != "dir"}
