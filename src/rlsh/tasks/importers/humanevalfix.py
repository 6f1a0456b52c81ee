"""HumanEvalFix: the Python part of HumanEvalPack, 164 functions with one bug each.

Muennighoff et al., "OctoPack: Instruction Tuning Code Large Language Models", arXiv:2308.07124; its JSON lines are
published as `bigcode/humanevalpack`, MIT. The file that a policy gets holds the documentation with its examples; the
tests stay hidden.
"""

from __future__ import annotations

from pathlib import Path

from rlsh.tasks.importers.asserts import read_tests
from rlsh.tasks.importers.claims import Claim
from rlsh.tasks.importers.jsonl import records, text_of
from rlsh.tasks.importers.problem import Broken, Problem, normal_end, sentence, without_function

KEYS = "task_id prompt canonical_solution buggy_solution bug_type entry_point test example_test docstring".split()


def read_humanevalfix(path: Path) -> tuple[list[Problem], dict[str, list[str]]]:
    """The problems, and what was turned down: reason -> names. Raises RlshError naming file, line and fault."""
    problems: list[Problem] = []
    rejected: dict[str, list[str]] = {}
    for number, record in records(path):
        fields = {key: text_of(path, number, record, key) for key in KEYS}
        try:
            problems.append(_problem(fields))
        except (ValueError, SyntaxError) as error:
            rejected.setdefault(str(error), []).append(fields["task_id"])
    return problems, rejected


def _problem(fields: dict[str, str]) -> Problem:
    function, right = fields["entry_point"], normal_end(fields["prompt"] + fields["canonical_solution"])
    tests = read_tests(fields["test"], function)
    return Problem(
        name=fields["task_id"],
        function=function,
        purpose=sentence(fields["docstring"]),
        right=right,
        broken=(
            Broken(normal_end(fields["prompt"] + fields["buggy_solution"]), (fields["bug_type"].replace(" ", "_"),)),
        ),
        claims=tests.claims,
        examples=_examples(fields["example_test"], function),
        script=f"{without_function(right, function)}\n{normal_end(fields['test'])}",
        rest=tests.rest,
        set="humanevalfix",
        source=f"humanevalpack {fields['task_id']}",
        licence="MIT",
    )


def _examples(test: str, function: str) -> tuple[Claim, ...]:
    """Those of the documentation; the set's own text of them does not always parse."""
    try:
        return read_tests(test, function).claims
    except ValueError:
        return ()
