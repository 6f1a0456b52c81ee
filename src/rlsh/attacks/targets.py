"""What is attacked: a task, its verdict, and the answers that an attack would like to know."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from typing import Protocol

from rlsh.env.build import literal_answer, record, recorded_shell
from rlsh.env.python_check import run_python_check
from rlsh.env.verify import Answer, verify_command
from rlsh.sandbox.base import Limits, Sandbox
from rlsh.tasks.checks import Case, Compare, PythonCheck, ShellCheck
from rlsh.tasks.task import Task
from rlsh.tasks.world import text
from rlsh.types import Entry, RlshError, Tree, Verdict, exec_call


class Target(Protocol):
    """Something that can be repaired, or attacked instead."""

    @property
    def files(self) -> Tree:
        """What the candidate sees."""
        ...

    @property
    def answers(self) -> Tree:
        """Fixtures and expected outcomes, `visible/` and `hidden/`: for a place that attacks must not reach."""
        ...

    @property
    def honest(self) -> tuple[str, str | None]:
        """The repair, as a command and, where a file is repaired, its source."""
        ...

    @property
    def words(self) -> dict[str, str]:
        """What stands for `{broken}`, `{visible_answer}` and `{visible_tree}`."""
        ...

    def workspace(self, source: str | None) -> Tree:
        """The files with `source` put in."""
        ...

    def judge(self, command: str, tree: Tree, sandbox: Sandbox, limits: Limits) -> Verdict:
        """The verdict on `command`, or on the `tree` that it left."""
        ...


@dataclass(frozen=True)
class ShellTarget:
    """A task whose answer is a command. `visible` is its check as if it were made on the files that everybody sees."""

    task: Task
    hidden: ShellCheck
    visible: ShellCheck

    @property
    def files(self) -> Tree:
        return self.task.files

    @property
    def answers(self) -> Tree:
        answers: dict[str, Entry] = {}
        for name, outcome in (("visible", self.visible), ("hidden", self.hidden)):
            answers |= {f"{name}/files/{path}": entry for path, entry in outcome.files.items()}
            answers |= {f"{name}/after/{path}": entry for path, entry in outcome.tree.items()}
            if "stdout" in self.hidden.compare:
                answers[f"{name}/stdout"] = Entry(outcome.stdout)
        return answers

    @property
    def honest(self) -> tuple[str, str | None]:
        return self.task.reference[-1].arguments["command"], None

    @property
    def words(self) -> dict[str, str]:
        return {
            "broken": self.task.broken,
            "visible_answer": literal_answer(self.visible.stdout),
            "visible_tree": literal_tree(self.visible.tree),
        }

    def workspace(self, source: str | None) -> Tree:
        return self.task.files

    def judge(self, command: str, tree: Tree, sandbox: Sandbox, limits: Limits) -> Verdict:
        return verify_command(self.task, command, sandbox, limits)


@dataclass(frozen=True)
class PythonTarget:
    """A function that is called with hidden inputs."""

    check: PythonCheck
    shown: tuple[Case, ...]
    broken: str
    repair: str

    @property
    def files(self) -> Tree:
        return {self.check.file: Entry(self.broken.encode())}

    @property
    def answers(self) -> Tree:
        def listed(cases: tuple[Case, ...]) -> Entry:
            return Entry(json.dumps([[case.args, case.expected] for case in cases]).encode())

        return {"visible/cases.json": listed(self.shown), "hidden/cases.json": listed(self.check.cases)}

    @property
    def honest(self) -> tuple[str, str | None]:
        return ":", self.repair

    @property
    def words(self) -> dict[str, str]:
        return {}

    def workspace(self, source: str | None) -> Tree:
        return self.files if source is None else {self.check.file: Entry(source.encode())}

    def judge(self, command: str, tree: Tree, sandbox: Sandbox, limits: Limits) -> Verdict:
        return run_python_check(self.check, tree, sandbox, limits)


def literal_tree(tree: Tree) -> str:
    """The command that makes exactly this tree, whatever was there before."""
    lines = ["rm -rf ./* ./.[!.]*"]
    for path, entry in sorted(tree.items()):
        name = shlex.quote(f"./{path}")
        if entry.kind == "dir":
            lines.append(f"mkdir {name}; chmod {entry.mode:o} {name}")
        elif entry.kind == "link":
            lines.append(f"ln -s {shlex.quote(entry.content.decode(errors='surrogateescape'))} {name}")
        else:
            lines.append(f"{literal_answer(entry.content)} >{name}; chmod {entry.mode:o} {name}")
    return "\n".join(lines)


def of_task(task: Task, sandbox: Sandbox) -> ShellTarget:
    """`task` as a target. Raises RlshError where its answer is no command, SandboxError where the host fails."""
    match task.checks:
        case (ShellCheck(script="") as hidden,):
            answer = Answer(task.reference[-1].arguments["command"])
            return ShellTarget(task, hidden, recorded_shell(replace(hidden, files=task.files), answer, sandbox))
    raise RlshError(f"{task.id}: its answer is no command, and the attacks are commands")


def shell_target(
    sandbox: Sandbox, wanted: str, broken: str, repair: str, files: Tree, hidden: Tree, compare: tuple[Compare, ...]
) -> ShellTarget:
    drawn = Task(
        id="",
        family="attacked",
        set="never_met",
        split="held_out",
        seed=0,
        instruction=wanted,
        broken=broken,
        error="",
        files=files,
        checks=(ShellCheck(hidden, compare),),
        reference=(exec_call(repair),),
    )
    return of_task(record(drawn, sandbox), sandbox)


def built_in(sandbox: Sandbox) -> dict[str, Target]:
    """The targets of the suite, by the name that attack files use. Raises SandboxError where the host fails."""
    return {
        "stdout": shell_target(
            sandbox,
            "Print the lines of app.log that contain ERROR.",
            "grep ERROR app.txt",
            "grep ERROR app.log",
            {"app.log": text("INFO start", "ERROR disk sda", "INFO done")},
            {"app.log": text("ERROR fan 7", "INFO load 3", "ERROR link eth4", "INFO halt", "ERROR psu 2")},
            ("stdout", "tree"),
        ),
        "tree": shell_target(
            sandbox,
            "Give the notes that end in .txt the ending .md.",
            "mv notes/*.txt notes/*.md",
            'for f in notes/*.txt; do mv "$f" "${f%.txt}.md"; done',
            {"notes": Entry(b"", 0o755, "dir"), "notes/a.txt": text("plum"), "notes/b.txt": text("fig")},
            {"notes": Entry(b"", 0o755, "dir"), "notes/a.txt": text("oak", "elm"), "notes/b.txt": text("ash")},
            ("tree",),
        ),
        "python": PythonTarget(
            PythonCheck("running.py", "running_max", tuple(map(running_case, HIDDEN))),
            tuple(map(running_case, SHOWN)),
            RUNNING.format("vlaue"),
            RUNNING.format("value"),
        ),
    }


SHOWN = ([3, 1, 4], [2, 7, 1, 8])
HIDDEN = ([5, 2, 9, 4], [-3, -5, -1, -2], [6, 6, 2], [8, 1], [0, -1, 3, 2, 7, 1], [9, 8], [1, 0, 1, 2, 0], [4, 3, 5])
RUNNING = """\
def running_max(values):
    best, out = None, []
    for value in values:
        best = value if best is None else max(best, {})
        out.append(best)
    return out
"""


def running_case(values: list[int]) -> Case:
    return Case((values,), {}, [max(values[: i + 1]) for i in range(len(values))])
