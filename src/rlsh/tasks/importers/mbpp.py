"""MBPP and JSON lines like it: a text, a function and `assert` statements. What is broken is a mutant of the function.

Austin et al., "Program Synthesis with Large Language Models", arXiv:2108.07732; published as
`google-research-datasets/mbpp`, CC BY 4.0. Keys: `text` or `prompt`, `code`, `test_list`; as far as they are there
`task_id`, `test_setup_code` and `test_imports`.
"""

from __future__ import annotations

import ast
import random
import re
from pathlib import Path
from typing import Any

from rlsh.tasks.importers.asserts import read_tests
from rlsh.tasks.importers.jsonl import records, text_of
from rlsh.tasks.importers.problem import Broken, Problem, normal_end, sentence, without_function
from rlsh.tasks.mutation import MutationError, mutants

MUTANTS = 8  # drawn for each function: tests let many a mutant pass
REQUEST = re.compile(r"(?i)^write a (?:python )?(?:function|program|code) (?:to|that|which|for) ")


def read_mbpp(path: Path) -> tuple[list[Problem], dict[str, list[str]]]:
    """The problems, and what was turned down: reason -> names. Raises RlshError naming file, line and fault."""
    problems: list[Problem] = []
    rejected: dict[str, list[str]] = {}
    for number, record in records(path):
        text = text_of(path, number, record, "text" if "text" in record else "prompt")
        code = normal_end(text_of(path, number, record, "code"))
        name = record.get("task_id", number)
        try:
            problems.append(_problem(name, text, code, record))
        except (ValueError, SyntaxError, MutationError) as error:
            rejected.setdefault(str(error), []).append(str(name))
    return problems, rejected


def _problem(name: Any, text: str, code: str, record: dict[str, Any]) -> Problem:
    setup, imports, asserts = (record.get(key, []) for key in ("test_setup_code", "test_imports", "test_list"))
    lines = [*imports, *([setup] if setup else []), *asserts]
    if not asserts or not all(isinstance(line, str) for line in lines):
        raise ValueError("test_list holds no assertions")
    test = normal_end("\n".join(lines))
    function = _tested(code, test)
    tests = read_tests(test, function)
    seed = name if isinstance(name, int) else 0
    return Problem(
        name=str(name),
        function=function,
        purpose=sentence(REQUEST.sub("It has to ", text.strip())),
        right=code,
        broken=_mutants(code, function, seed),
        claims=tests.claims,
        examples=(),
        script=f"{without_function(code, function)}\n{test}",
        rest=tests.rest,
        set="mbpp",
        source=f"mbpp {name}",
        licence="CC-BY-4.0",
        seed=seed,
    )


def _tested(code: str, test: str) -> str:
    """The function that the tests call first."""
    defined = {node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)}
    calls = (node.func for node in ast.walk(ast.parse(test)) if isinstance(node, ast.Call))
    found = [called.id for called in calls if isinstance(called, ast.Name) and called.id in defined]
    if not found:
        raise ValueError("its tests call no function of its code")
    return found[0]


def _mutants(code: str, function: str, seed: int) -> tuple[Broken, ...]:
    """Drawn evenly by operator: those that apply everywhere would crowd out the rest."""
    rng, found = random.Random(seed), mutants(code, function)
    operators = sorted({mutant.operators for mutant in found})
    drawn = rng.sample(operators, min(MUTANTS, len(operators)))
    choices = [rng.choice([mutant for mutant in found if mutant.operators == one]) for one in drawn]
    return tuple(Broken(normal_end(mutant.source), mutant.operators) for mutant in choices)
