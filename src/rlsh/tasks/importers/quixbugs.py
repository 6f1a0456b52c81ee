"""QuixBugs: programs of one line's defect, from a clone of its repository.

Lin et al., "QuixBugs: A Multi-Lingual Program Repair Benchmark Set Based on the Quixey Challenge", SPLASH 2017;
https://github.com/jkoppel/QuixBugs, MIT. Programs with cases in `json_testcases` become problems. Those on graphs and
linked nodes have none: what they take and return is no plain data.
"""

from __future__ import annotations

import ast
import doctest
import json
import re
from pathlib import Path
from typing import Any

from rlsh.tasks.importers.asserts import read_tests
from rlsh.tasks.importers.claims import Claim
from rlsh.tasks.importers.problem import Broken, Problem, cut, normal_end, sentence
from rlsh.types import RlshError

FOLDERS = BROKEN, RIGHT, CASES = "python_programs", "correct_python_programs", "json_testcases"
# First arguments of cases that what is right answers in seconds to minutes: every episode would wait for them. Named
# here, because a measurement would draw the line elsewhere on every machine, and a task's id with it.
SLOW = {"knapsack": (6404180,), "levenshtein": ("rosettacode", "amanaplanacanalpanama")}
HEADINGS = r"(?m)^(?:Inputs?|Outputs?|Preconditions?|Examples?):"


def read_quixbugs(path: Path) -> tuple[list[Problem], dict[str, list[str]]]:
    """The problems, and what was turned down: reason -> names. Raises RlshError where `path` is no such clone."""
    for folder in FOLDERS:
        if not (path / folder).is_dir():
            raise RlshError(f"{path}: no folder {folder}; give a clone of https://github.com/jkoppel/QuixBugs")
    problems: list[Problem] = []
    rejected: dict[str, list[str]] = {}
    for file in sorted((path / BROKEN).glob("*.py")):
        if file.stem == "node" or file.stem.endswith("_test"):
            continue  # a helper, and the drivers of programs without JSON cases
        try:
            problems.append(_problem(path, file.stem))
        except FileNotFoundError as error:
            missing = Path(str(error.filename))
            rejected.setdefault(f"no {missing.parent.name}/*{missing.suffix}", []).append(file.stem)
        except (OSError, ValueError, TypeError, LookupError, SyntaxError) as error:
            rejected.setdefault(str(error), []).append(file.stem)
    return problems, rejected


def _problem(path: Path, name: str) -> Problem:
    lines = (path / CASES / f"{name}.json").read_text(encoding="utf-8").splitlines()
    broken, ending = _split((path / BROKEN / f"{name}.py").read_text(encoding="utf-8"))
    right, _ = _split((path / RIGHT / f"{name}.py").read_text(encoding="utf-8"))
    documentation = ending.strip().strip('"')
    cases = [json.loads(line) for line in lines if line.strip()]
    kept = [case for case in cases if not (name in SLOW and case[0][0] in SLOW[name])]
    items = _is_generator(right, name)
    return Problem(
        name=name,
        function=name,
        purpose=_purpose(documentation),
        right=right + ending,
        broken=(Broken(broken + ending),),
        claims=tuple(_claim(name, case, items) for case in kept),
        examples=_examples(documentation, name),
        script="",
        rest=(),
        set="quixbugs",
        source=f"QuixBugs {name}",
        licence="MIT",
        left_out=len(cases) - len(kept),
    )


def _claim(name: str, case: Any, items: bool) -> Claim:
    """Of `[arguments, expected]`; an argument that is no list is the only one."""
    args, expected = case
    args = tuple(args) if isinstance(args, list) else (args,)
    if name == "sqrt":  # right to within its last argument, as its own tests have it
        return Claim(args, relation="close", expected=expected, tolerance=args[-1] / max(1.0, abs(expected)))
    return Claim(args, relation="json", expected=expected, items=items)


def _split(source: str) -> tuple[str, str]:
    """The code, and the documentation that stands behind it as a string. The repaired file has another, or none."""
    source = normal_end(source).lstrip("\n")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines = cut(source)
            return normal_end("".join(lines[: node.lineno - 1])), "\n\n" + "".join(lines[node.lineno - 1 :])
    return source, ""


def _is_generator(source: str, function: str) -> bool:
    nodes = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == function]
    return any(isinstance(inner, ast.Yield | ast.YieldFrom) for node in nodes for inner in ast.walk(node))


def _purpose(documentation: str) -> str:
    """The description between title and headings; without one, what is said of the output."""
    head = re.split(HEADINGS, documentation)[0]
    paragraphs = re.split(r"\n\s*\n", head.strip())[1:]
    if any(paragraphs):
        return sentence(next(filter(None, paragraphs)))
    output = re.search(r"(?ms)^Output:(.*?)(?:\n\s*\n|\Z)", documentation)
    return sentence(output[1] if output else head)


def _examples(documentation: str, function: str) -> tuple[Claim, ...]:
    """Those that can be read; some are written for people."""
    claims: list[Claim] = []
    for example in doctest.DocTestParser().get_examples(documentation):
        try:
            claims += read_tests(f"assert {example.source.strip()} == ({example.want.strip()})", function).claims
        except ValueError:
            continue
    return tuple(claims)
