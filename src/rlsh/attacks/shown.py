"""What a Python task gives away: calls of its function that everybody sees, and their answers."""

from __future__ import annotations

import ast
import contextlib
import shlex
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from rlsh.env.admission import LIMITS
from rlsh.env.python_check import ask
from rlsh.sandbox.base import Sandbox, SandboxError
from rlsh.tasks.checks import Case, PythonCheck
from rlsh.tasks.snippets import literal
from rlsh.tasks.task import Task
from rlsh.types import Entry


def shown_cases(task: Task, check: PythonCheck, right: bytes, sandbox: Sandbox) -> tuple[Case, ...]:
    """Calls with literal arguments, with the value that the source `right` returns: the broken command's, then files'.

    An attack writes them into source, so a call is left out if it ends in an exception, or if it or its value has no
    literal. Raises SandboxError where the host fails.
    """
    found = []
    for code in visible_code(task):
        for case in literal_calls(code, check.function):
            with contextlib.suppress(ValueError):  # no plain data, too large, or no literal
                one = replace(check, cases=(case,), returns="value")
                answers, answered = ask(one, {check.file: Entry(right)}, sandbox, LIMITS)
                if answered.infra:
                    raise SandboxError(answered.reasons[0])
                for value in answers:
                    literal([case.args, dict(case.kwargs), value])
                    found.append(replace(case, expected=value))
    return tuple(found)


def visible_code(task: Task) -> Iterator[str | bytes]:
    """The programs of `-c` in the broken command, then the task's Python files in the order of their names."""
    with contextlib.suppress(ValueError):  # a quotation that is not closed, say
        yield from [code for option, code in pairwise(shlex.split(task.broken)) if option == "-c"]
    yield from [entry.content for path, entry in sorted(task.files.items()) if path.endswith(".py")]


def literal_calls(code: str | bytes, function: str) -> list[Case]:
    """Calls of `function` whose arguments are literals, or names that some line of `code` gives one."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # no Python, a NUL, too deep
        return []
    nodes = list(ast.walk(tree))
    names: dict[str, ast.expr] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = value
    found = []
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name == function:
                with contextlib.suppress(ValueError, TypeError):
                    found.append(case_of(node, names))
    return found


def case_of(call: ast.Call, names: dict[str, ast.expr]) -> Case:
    """Raises ValueError or TypeError where an argument's value cannot be told from the text."""

    def value(node: ast.expr) -> Any:
        return ast.literal_eval(names.get(node.id, node) if isinstance(node, ast.Name) else node)

    args, kwargs = list[object](), dict[str, object]()
    for node in call.args:
        match node:
            case ast.Starred(value=inner):
                args += value(inner)
            case _:
                args.append(value(node))
    for keyword in call.keywords:
        if keyword.arg is None:
            raise ValueError("a mapping of arguments")
        kwargs[keyword.arg] = value(keyword.value)
    return Case(tuple(args), kwargs)
