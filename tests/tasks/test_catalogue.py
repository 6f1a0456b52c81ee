"""What holds of every reference: it runs alone, always gives the same plain value, and is worth breaking."""

import ast
import copy
import importlib.util
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from rlsh.env.values import to_tagged
from rlsh.tasks.catalogue import references
from rlsh.tasks.catalogue.reference import references_of
from rlsh.tasks.inputs import Draw

ALL = references()
DRAWS = 100
each = pytest.mark.parametrize("made", ALL, ids=lambda made: made.name)


def function_of(made):
    module = {}
    exec(compile(made.source, made.name, "exec"), module)
    return module[made.name]


def outcome(function, args):
    """The value as JSON, or the name of the exception. Dicts keep their order."""
    try:
        return json.dumps(to_tagged(function(*args)))
    except (ValueError, ArithmeticError, LookupError) as error:
        return type(error).__name__


def calls(made, draws=DRAWS):
    return [made.draw(Draw(random.Random(seed))) for seed in range(draws)]


def test_there_are_many_with_different_names_made_once():
    names = [made.name for made in ALL]
    assert len(names) >= 150
    assert names == sorted(set(names))
    assert references() is ALL


@each
def test_the_text_is_a_module_of_its_own_with_nothing_to_spare(made):
    *rest, function = ast.parse(made.source).body
    assert isinstance(function, ast.FunctionDef) and function.name == made.name and not function.decorator_list
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    for node in rest:
        assert isinstance(node, ast.Import | ast.ImportFrom)
        module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        assert module.split(".")[0] in sys.stdlib_module_names
        assert {alias.asname or alias.name for alias in node.names} <= read
    assert 4 <= function.end_lineno - function.lineno + 1 <= 30


@each
def test_what_is_wanted_is_a_sentence_and_stands_in_the_function(made):
    assert made.wanted == " ".join(function_of(made).__doc__.split())
    assert made.wanted[0].isupper() and made.wanted.endswith(".")


@each
def test_calls_are_repeatable_plain_varied_and_leave_their_arguments_alone(made):
    function, outcomes = function_of(made), Counter()
    for args, again in zip(calls(made), calls(made), strict=True):
        before = copy.deepcopy(args)
        found = outcome(function, args)
        assert args == before
        assert found == outcome(function, again)
        outcomes[found] += 1
    assert len({*list(outcomes)[:30]}) >= 3
    assert outcomes.most_common(1)[0][1] <= 0.7 * DRAWS, outcomes.most_common(1)


@each
def test_exceptions_are_those_promised_and_are_met(made):
    promised = {word.strip(";,.") for word in made.wanted.split() if word.strip(";,.").endswith("Error")}
    function = function_of(made)
    met = {found for found in (outcome(function, args) for args in calls(made)) if found.endswith("Error")}
    assert met == promised


def mutable(value):
    """Everything in a value that could be changed, itself included."""
    if isinstance(value, dict):
        return [value, *(inner for item in value.values() for inner in mutable(item))]
    inside = [inner for item in value for inner in mutable(item)] if isinstance(value, list | tuple | set) else []
    return inside if isinstance(value, tuple) or not isinstance(value, list | set) else [value, *inside]


def shares(draws):
    found = [inner for args in draws for inner in mutable(args)]
    return len({id(inner) for inner in found}) < len(found)


@each
def test_no_two_draws_and_no_two_parts_of_one_share_what_can_be_changed(made):
    assert not shares(calls(made, 30))


def test_sharing_would_be_noticed():
    row, default = [0], {}
    assert shares([([row, row],)]) and shares([(default,), (default,)]) and shares([({"a": row}, (row,))])


SCRIPT = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_catalogue import ALL, calls, function_of, outcome
print(list({{"ant", "bee", "cat", "dog"}}))
for made in ALL:
    print(made.name, [outcome(function_of(made), args) for args in calls(made, 30)])
"""


def test_values_do_not_hang_on_the_hash_seed():
    runs = []
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        runs.append(done.stdout.splitlines())
    control, *results = zip(*runs, strict=True)
    assert len(set(control)) > 1, "the seeds change nothing, so the comparison shows nothing"
    assert [lines for lines in results if len(set(lines)) > 1] == []
    assert len(results) == len(ALL)


TOPIC = '''
"""A topic."""

import math
import re
from collections import Counter, deque

from rlsh.tasks.catalogue.reference import reference

LIMIT = 3
UNUSED = deque()


def helper(n):
    return re.escape(str(n)) * LIMIT


@reference(lambda d: (d.number(0, 9),))
def first(n: int) -> str:
    """Do one thing
    well."""
    math = n
    return helper(math)


@reference(lambda d: (d.number(0, 9),))
def second(helper: int) -> object:
    """Do another."""

    def first() -> int:
        return helper

    return Counter([first()])
'''


def test_a_reference_takes_along_what_it_needs_and_no_more(tmp_path):
    path = tmp_path / "topic.py"
    path.write_text(TOPIC)
    spec = importlib.util.spec_from_file_location("some.topic", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    first, second = references_of(module)
    assert (first.name, first.topic, first.wanted) == ("first", "topic", "Do one thing well.")
    assert first.source == (
        "import re\n\n\nLIMIT = 3\n\n\ndef helper(n):\n    return re.escape(str(n)) * LIMIT\n\n\n"
        'def first(n: int) -> str:\n    """Do one thing\n    well."""\n    math = n\n    return helper(math)\n'
    )
    assert second.source.startswith("from collections import Counter\n\n\ndef second(helper: int) -> object:\n")
    assert function_of(first)(1) == "111" and function_of(second)(4) == {4: 1}
    assert first.draw(Draw(random.Random(1))) == (Draw(random.Random(1)).number(0, 9),)
