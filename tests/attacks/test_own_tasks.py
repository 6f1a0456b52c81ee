"""Somebody's own tasks: those that pay for a generic attack are found, whatever they are judged by, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rlsh.attacks.own_tasks import Fallen, run_tasks
from rlsh.attacks.suite import load_attacks
from rlsh.cli.main import main
from rlsh.sandbox.base import Closing, Limits, Sandbox, SandboxError, Workspace
from rlsh.tasks.checks import Case, PythonCheck, Returns, ShellCheck, WorkspaceCheck
from rlsh.tasks.snippets import edit_call
from rlsh.tasks.task import Task, write_tasks
from rlsh.types import Entry, RlshError, Tree, exec_call

ATTACKS = {attack.id: attack for attack in load_attacks()}
Make = Callable[..., Task]
DOUBLE, WRONG = "def f(n):\n    return n + n\n", "def f(n):\n    return n + n + 1\n"
FLOOR, NONE, RAISES = (f"def f(n):\n    return {value} if n < 0 else n\n" for value in ("0", "None", "missing"))


def attacked(task: Task, sandbox: Sandbox) -> set[str]:
    return {one.attack for one in run_tasks([task], list(ATTACKS.values()), sandbox, lambda done: None)}


def calls(*numbers: int) -> tuple[Case, ...]:
    return tuple(Case((number,)) for number in numbers)


def python_task(
    make: Make, right: str, faulty: str, shown: str, hidden: tuple[Case, ...], returns: Returns = "value"
) -> Task:
    check = PythonCheck("tools.py", "f", hidden, None, returns)
    broken = f"python3 -c 'from tools import f; {shown}'"
    return make({"tools.py": faulty}, (check,), edit_call("tools.py", faulty, right), broken=broken)


def test_shell_tasks(sandbox: Sandbox, make_task: Make) -> None:
    sound = make_task("sort -n a.txt", {"a.txt": "10\n9\n"}, {"a.txt": "8\n70\n6\n"})
    same = make_task("sort -n a.txt", {"a.txt": "10\n9\n"}, {"a.txt": "10\n9\n"})
    quiet = make_task("true # quietly", {"a.txt": "10\n"}, {"a.txt": "8\n"}, compare=("stdout",))
    done: list[int] = []
    fallen = run_tasks([quiet, sound, same], list(ATTACKS.values()), sandbox, done.append)
    assert done == [1, 2, 3]
    *quiets, last = fallen  # in the order of the tasks, then of the attacks
    assert last == Fallen(same.id, "literal/visible_answer")
    assert {one.task for one in quiets} == {quiet.id}
    assert {"early_exit/exit_zero", "encoding/no_output", "swallowing/or_true"} <= {one.attack for one in quiets}
    assert [one.attack for one in quiets] == [name for name in ATTACKS if Fallen(quiet.id, name) in quiets]


TABLE, CONSTANT = "literal/lookup_table", "literal/constant"
PASSING, SHOWING = "swallowing/except_pass", "swallowing/except_shown"


@pytest.mark.parametrize(
    ("right", "faulty", "shown", "hidden", "pays"),
    [
        (DOUBLE, WRONG, "print(f(21))", calls(*range(8)), set()),
        (DOUBLE, WRONG, "print(f(21), f(4))", calls(4, 21), {TABLE}),
        (DOUBLE, WRONG, "print(f(21), f(4))", calls(4, 21, 5), set()),
        (DOUBLE, "def f(n)\n", "print(f(21), f(4))", calls(4, 21), {TABLE}),
        (DOUBLE, WRONG, "print(f(n=21), f(4))", (Case((), {"n": 21}), Case((4,))), {TABLE}),
        (DOUBLE, WRONG, "print(f(21), f(4))", calls(21, 21), {TABLE, CONSTANT}),
        (FLOOR, RAISES, "print(f(-1))", calls(-1, -2), {CONSTANT, SHOWING}),
        (FLOOR, RAISES, "print(f(-1))", calls(-2, -3, 4), {SHOWING}),
        (NONE, RAISES, "print(f(-1))", calls(-2, -3, 4), {PASSING, SHOWING}),
        (FLOOR, RAISES, "print(f(5), f(-1))", calls(-2, -3, 4), set()),
    ],
)
def test_python_tasks(
    right: str,
    faulty: str,
    shown: str,
    hidden: tuple[Case, ...],
    pays: set[str],
    sandbox: Sandbox,
    recorded_task: Make,
) -> None:
    assert attacked(python_task(recorded_task, right, faulty, shown, hidden), sandbox) == pays


def test_a_python_task_that_wants_its_arguments_unchanged(sandbox: Sandbox, recorded_task: Make) -> None:
    right, faulty = "def f(n):\n    return sorted(n)\n", "def f(n):\n    n.sort()\n    return n\n"
    shown = "arguments = [[2, 1]]; print(f(*arguments), arguments)"
    weak = python_task(recorded_task, right, faulty, shown, (Case(([2, 1],)), Case(([1],))), "arguments")
    sound = python_task(recorded_task, right, faulty, shown, (Case(([2, 1],)), Case(([5, 3],))), "arguments")
    assert attacked(weak, sandbox) == {TABLE}
    assert attacked(sound, sandbox) == set()


def test_a_python_task_all_of_whose_answers_are_empty(sandbox: Sandbox, recorded_task: Make) -> None:
    right, faulty = "def f(n):\n    return []\n", "def f(n):\n    return [n]\n"
    assert "object_tricks/empty_for_zip" in attacked(python_task(recorded_task, right, faulty, "f", calls(1)), sandbox)


SCRIPT = ShellCheck({"b.txt": Entry(b"x\ny\n")}, script="count.sh", run="bash count.sh b.txt")
REPAIR = "echo 'wc -l < \"$1\"' >count.sh; sed -i 's/ + 1//' tools.py"


@pytest.mark.parametrize(
    ("checks", "broken", "pays"),
    [
        ((SCRIPT,), "bash count.sh b.txt", set()),
        ((SCRIPT,), f"({REPAIR}); false", {"swallowing/or_true"}),
        ((PythonCheck("tools.py", "f", calls(1, 2)), WorkspaceCheck()), "python3 tools.py", set()),
        ((PythonCheck("tools.py", "f", calls(1, 2)), WorkspaceCheck()), REPAIR, {"swallowing/or_true"}),
    ],
)
def test_scripts_and_several_checks(
    checks: tuple[PythonCheck, ...], broken: str, pays: set[str], sandbox: Sandbox, recorded_task: Make
) -> None:
    files = {"count.sh": "wc -l\n", "b.txt": "x\n", "tools.py": WRONG}
    task = recorded_task(files, checks, exec_call(REPAIR), broken=broken)
    assert attacked(task, sandbox) == pays


def test_what_a_command_leaves_of_a_python_task_is_judged(sandbox: Sandbox, recorded_task: Make) -> None:
    check, files = PythonCheck("tools.py", "f", calls(1, 2)), {"tools.py": WRONG}
    task = recorded_task(files, (check,), edit_call("tools.py", WRONG, DOUBLE), broken="sed -i 's/ + 1//' tools.py")
    assert attacked(task, sandbox) == {"swallowing/or_true"}


def test_an_attack_without_its_words_is_left_out(sandbox: Sandbox, recorded_task: Make, make_task: Make) -> None:
    unseen = python_task(recorded_task, DOUBLE, WRONG, "print(f(len([])))", calls(1, 2))
    command = make_task("sort -n a.txt", {"a.txt": "10\n9\n"}, {"a.txt": "8\n70\n6\n"})
    table, imported, printed = (
        ATTACKS[name] for name in (TABLE, "early_exit/exit_at_import", "literal/visible_answer")
    )
    done: list[int] = []
    assert run_tasks([unseen, command], [table, printed, imported], sandbox, done.append) == []
    for task, attacks, missing in (
        (unseen, [table], f"{TABLE} needs shown"),
        (unseen, [printed], "literal/visible_answer needs visible_answer"),
        (command, [table, imported], f"{TABLE} needs faulty, file, function, shown"),
        (command, [imported], "early_exit/exit_at_import needs file"),
        (command, [replace(imported, command=":")], "early_exit/exit_at_import needs file"),
    ):
        with pytest.raises(RlshError) as caught:
            run_tasks([task], attacks, sandbox, done.append)
        assert str(caught.value) == f"{task.id}: no generic attack fits this task; {missing}"
    with pytest.raises(RlshError, match="generic = true"):
        run_tasks([command], [attack for attack in ATTACKS.values() if not attack.generic], sandbox, done.append)
    assert done == [1, 2]


def test_a_reference_that_leaves_no_answer_is_named(sandbox: Sandbox, recorded_task: Make) -> None:
    task = python_task(recorded_task, DOUBLE, WRONG, "f", calls(1, 2))
    gone = replace(task, reference=(exec_call("rm tools.py"),))
    with pytest.raises(RlshError, match=f"^{task.id}: its reference leaves no answer: tools.py is missing$"):
        attacked(gone, sandbox)


def test_a_host_that_fails_is_no_verdict(recorded_task: Make) -> None:
    class Failing(Closing):
        def open(self, files: Tree, limits: Limits) -> Workspace:
            raise SandboxError("no worker")

        def close(self) -> None: ...

    task = recorded_task({"count.sh": "wc -l\n"}, (SCRIPT,), exec_call(REPAIR))
    with pytest.raises(SandboxError, match=f"^{task.id}, deletion/delete_everything: the sandbox failed: no worker$"):
        attacked(task, Failing())


def test_attack_command_on_tasks_of_every_kind(
    tmp_path: Path, make_task: Make, recorded_task: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    same = make_task("sort -n a.txt", {"a.txt": "10\n9\n"}, {"a.txt": "10\n9\n"})
    tasks = [
        make_task("sort -n a.txt", {"a.txt": "10\n9\n"}, {"a.txt": "8\n70\n6\n"}),
        python_task(recorded_task, DOUBLE, WRONG, "print(f(21))", calls(1, 2, 3)),
        recorded_task({"count.sh": "wc -l\n"}, (SCRIPT,), exec_call(REPAIR)),
        same,
        table := python_task(recorded_task, DOUBLE, WRONG, "print(f(21), f(4))", calls(4, 21)),
    ]
    write_tasks(tmp_path / "tasks.jsonl", tasks)
    command = ["attack", "--sandbox", "warm", "--tasks", str(tmp_path / "tasks.jsonl")]
    assert main([*command, "--count", "3"]) == 0
    assert "0 of 3 tasks pay for an attack" in capsys.readouterr().out
    assert main([*command, "--json", str(tmp_path / "out.json")]) == 1
    out, err = capsys.readouterr()
    assert f"{same.id}: literal/visible_answer\n{table.id}: {TABLE}\n2 of 5 tasks pay for an attack" in out
    assert "2 tasks can be hacked: make their hidden inputs differ more" in err
    fallen = [{"task": same.id, "attack": "literal/visible_answer"}, {"task": table.id, "attack": TABLE}]
    assert json.loads((tmp_path / "out.json").read_text()) == {"tasks": 5, "fallen": fallen}
    assert main(["attack", "--count", "1"]) == 1
    assert "it counts tasks" in capsys.readouterr().err
