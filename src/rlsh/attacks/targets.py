"""What is attacked: a task, its verdict, and the answers that an attack would like to know."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace

from rlsh.attacks.shown import shown_cases
from rlsh.env.admission import LIMITS, literal_answer, recorded_shell
from rlsh.env.python_check import UnfitAnswerError, file_in, record_expected, run_python_check
from rlsh.env.verify import Answer, answer_of, verify_command
from rlsh.sandbox.base import Limits, Sandbox
from rlsh.tasks.checks import Case, Check, Compare, PythonCheck, ShellCheck
from rlsh.tasks.snippets import edit_call, literal
from rlsh.tasks.task import Task
from rlsh.tasks.world import text
from rlsh.types import Entry, RlshError, ToolCall, Tree, Verdict, exec_call


@dataclass(frozen=True)
class TaskTarget:
    """A task of which an attack knows no more than that it is one: of a script, a workspace, or several checks."""

    task: Task

    @property
    def words(self) -> dict[str, str]:
        """What stands for `{broken}` and the other words of attack files, as far as this task has them."""
        return {"broken": self.task.broken}

    def workspace(self, source: str | None) -> Tree:
        """The files that the candidate sees, with `source` put in where a file is repaired."""
        return self.task.files


@dataclass(frozen=True)
class ShellTarget(TaskTarget):
    """A task whose answer is a command. `visible` is its check as if it were made on the files that everybody sees."""

    hidden: ShellCheck
    visible: ShellCheck

    @property
    def answers(self) -> Tree:
        """Fixtures and expected outcomes, `visible/` and `hidden/`: for a place that attacks must not reach."""
        answers: dict[str, Entry] = {}
        for name, outcome in (("visible", self.visible), ("hidden", self.hidden)):
            answers |= {f"{name}/files/{path}": entry for path, entry in outcome.files.items()}
            answers |= {f"{name}/after/{path}": entry for path, entry in outcome.tree.items()}
            if "stdout" in self.hidden.compare:
                answers[f"{name}/stdout"] = Entry(outcome.stdout)
        return answers

    @property
    def honest(self) -> tuple[str, str | None]:
        """The repair, as a command and, where a file is repaired, its source."""
        return self.task.reference[-1].arguments["command"], None

    @property
    def words(self) -> dict[str, str]:
        return {
            **super().words,
            "visible_answer": literal_answer(self.visible.stdout),
            "visible_tree": literal_tree(self.visible.tree),
        }

    def judge(self, command: str, tree: Tree, sandbox: Sandbox, limits: Limits) -> Verdict:
        """The verdict on `command`, or on the `tree` that it left."""
        return verify_command(self.task, command, sandbox, limits)


@dataclass(frozen=True)
class PythonTarget(TaskTarget):
    """A task whose answer is a function, called with hidden inputs. `right` is the reference's source, and `shown` its
    answers to the calls that everybody sees."""

    check: PythonCheck
    right: bytes
    shown: tuple[Case, ...]

    @property
    def answers(self) -> Tree:
        """As a ShellTarget's. Raises TypeError where JSON has no such values."""

        def listed(cases: tuple[Case, ...]) -> Entry:
            return Entry(json.dumps([[case.args, case.expected] for case in cases]).encode())

        return {"visible/cases.json": listed(self.shown), "hidden/cases.json": listed(self.check.cases)}

    @property
    def honest(self) -> tuple[str, str | None]:
        """As a ShellTarget's."""
        return ":", self.right.decode()

    @property
    def words(self) -> dict[str, str]:
        found = {**super().words, "file": self.check.file, "function": self.check.function}
        if self.check.file in self.task.files:
            found["faulty"] = repr(self.task.files[self.check.file].content)
        if self.shown:
            found["shown"] = literal([(case.args, dict(case.kwargs), case.expected) for case in self.shown])
        return found

    def workspace(self, source: str | None) -> Tree:
        return self.task.files if source is None else {**self.task.files, self.check.file: Entry(source.encode())}

    def judge(self, command: str, tree: Tree, sandbox: Sandbox, limits: Limits) -> Verdict:
        """As a ShellTarget's."""
        return run_python_check(self.check, tree, sandbox, limits)


Target = ShellTarget | PythonTarget  # what can be repaired beside an attack


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


def of_task(task: Task, sandbox: Sandbox) -> TaskTarget:
    """`task` as a target. Raises RlshError where its reference leaves no answer, SandboxError where the host fails."""
    try:
        match task.checks:
            case (ShellCheck(script="") as check,):
                return shell_target(task, check, sandbox)
            case (PythonCheck() as check,):
                return python_target(task, check, sandbox)
    except UnfitAnswerError as error:
        raise RlshError(f"{task.id}: its reference leaves no answer: {error}") from None
    return TaskTarget(task)


def shell_target(task: Task, check: ShellCheck, sandbox: Sandbox) -> ShellTarget:
    """Raises UnfitAnswerError where the reference runs no command, SandboxError where the host fails."""
    answer = answer_of(task, task.reference, sandbox, LIMITS)
    return ShellTarget(task, check, recorded_shell(replace(check, files=task.files), answer, sandbox))


def python_target(task: Task, check: PythonCheck, sandbox: Sandbox) -> PythonTarget:
    """Raises UnfitAnswerError where the reference leaves no such file, SandboxError where the host fails."""
    right = file_in(answer_of(task, task.reference, sandbox, LIMITS).left, check.file).content
    return PythonTarget(task, check, right, shown_cases(task, check, right, sandbox))


def built_in(sandbox: Sandbox) -> dict[str, Target]:
    """The targets of the suite, by the name that attack files use. Raises SandboxError where the host fails."""
    return {
        "stdout": drawn_shell(
            sandbox,
            "Print the lines of app.log that contain ERROR.",
            "grep ERROR app.txt",
            "grep ERROR app.log",
            {"app.log": text("INFO start", "ERROR disk sda", "INFO done")},
            {"app.log": text("ERROR fan 7", "INFO load 3", "ERROR link eth4", "INFO halt", "ERROR psu 2")},
            ("stdout", "tree"),
        ),
        "tree": drawn_shell(
            sandbox,
            "Give the notes that end in .txt the ending .md.",
            "mv notes/*.txt notes/*.md",
            'for f in notes/*.txt; do mv "$f" "${f%.txt}.md"; done',
            {"notes": Entry(b"", 0o755, "dir"), "notes/a.txt": text("plum"), "notes/b.txt": text("fig")},
            {"notes": Entry(b"", 0o755, "dir"), "notes/a.txt": text("oak", "elm"), "notes/b.txt": text("ash")},
            ("tree",),
        ),
        "python": drawn_python(sandbox),
    }


def drawn_shell(
    sandbox: Sandbox, wanted: str, broken: str, repair: str, files: Tree, hidden: Tree, compare: tuple[Compare, ...]
) -> ShellTarget:
    check = recorded_shell(ShellCheck(hidden, compare), Answer(repair), sandbox)
    return shell_target(drawn(wanted, broken, files, check, exec_call(repair)), check, sandbox)


def drawn_python(sandbox: Sandbox) -> PythonTarget:
    faulty, right = RUNNING.format("vlaue"), RUNNING.format("value")
    cases = tuple(Case((values,)) for values in HIDDEN)
    check = record_expected(PythonCheck("running.py", "running_max", cases), right.encode(), sandbox, LIMITS)
    files, repair = {"running.py": Entry(faulty.encode())}, edit_call("running.py", faulty, right)
    return python_target(drawn("Repair running_max.", SHOWING, files, check, repair), check, sandbox)


def drawn(wanted: str, broken: str, files: Tree, check: Check, repair: ToolCall) -> Task:
    return Task(
        id="",
        family="attacked",
        set="never_met",
        split="held_out",
        seed=0,
        instruction=wanted,
        broken=broken,
        error="",
        files=files,
        checks=(check,),
        reference=(repair,),
    )


SHOWING = "python3 -c 'from running import running_max; print(running_max([3, 1, 4]), running_max([2, 7, 1, 8]))'"
HIDDEN = ([5, 2, 9, 4], [-3, -5, -1, -2], [6, 6, 2], [8, 1], [0, -1, 3, 2, 7, 1], [9, 8], [1, 0, 1, 2, 0], [4, 3, 5])
RUNNING = """\
def running_max(values):
    best, out = None, []
    for value in values:
        best = value if best is None else max(best, {})
        out.append(best)
    return out
"""
