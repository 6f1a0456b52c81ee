"""What a Python task gives away: the calls that stand in its files and its command, with the reference's answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rlsh.attacks.shown import shown_cases
from rlsh.sandbox.base import Sandbox
from rlsh.tasks.checks import Case, PythonCheck
from rlsh.tasks.snippets import edit_call
from rlsh.tasks.task import Task

RIGHT = """\
def f(*args, **kwargs):
    return {"nan": float("nan"), "set": {2, 1}}[args[0]] if args[0] in ("nan", "set") else sum(args)
"""
FAULTY = "def f(*args, **kwargs):\n    return f(0)\n"
OWN = Case((0,), {}, 0)  # in the faulty file itself


@pytest.mark.parametrize(
    ("broken", "files", "expected"),
    [
        ("python3 -c 'import tools; tools.f(1); print(tools.f(2))'", {}, [Case((1,), {}, 1), Case((2,), {}, 2), OWN]),
        ("python3 t.py", {"t.py": "assert f(-1, 2) == 3\n"}, [Case((-1, 2), {}, 1), OWN]),
        ("python3 t.py", {"t.py": "numbers = [3, 4]\nf(*numbers, 5)\n"}, [Case((3, 4, 5), {}, 12), OWN]),
        ("python3 t.py", {"t.py": "n = 7\nprint(f(n, k={'a': ()}))\n"}, [Case((7,), {"k": {"a": ()}}, 7), OWN]),
        ("python3 t.py", {"t.py": "f('set')\n"}, [Case(("set",), {}, {1, 2}), OWN]),
        ("python3 -c 'f(1)'; python3 -c 'f(2)'", {"a.py": "f(3)"}, [Case((n,), {}, n) for n in (1, 2, 3)] + [OWN]),
        # arguments that the text does not say, answers that no literal says, calls of something else
        ("python3 t.py", {"t.py": "f(x); f(len('a')); f(*3); f(1, **{'k': 2}); f({[]: 1})\n"}, [OWN]),
        ("python3 t.py", {"t.py": "f(); f('nan'); f('a', 2); f(...); f('set', 1e999); g(1); print(f)\n"}, [OWN]),
        # what is no Python, and no command line
        ("python3 -c 'f(1", {"t.py": "f(1\n", "nul.py": "f(1)\0", "t.txt": "f(1)"}, [OWN]),
        ("python3 t.py", {"t.py": "f(1)\n" + "-" * 5000 + "1", "u.py": "-" * 100_000 + "1"}, [OWN]),
    ],
)
def test_calls_that_everybody_sees(
    broken: str, files: dict[str, str], expected: list[Case], sandbox: Sandbox, recorded_task: Callable[..., Task]
) -> None:
    check = PythonCheck("tools.py", "f", (Case((9,)),))
    repair = edit_call("tools.py", FAULTY, RIGHT)
    task = recorded_task({"tools.py": FAULTY, **files}, (check,), repair, broken=broken)
    assert list(shown_cases(task, check, RIGHT.encode(), sandbox)) == expected
