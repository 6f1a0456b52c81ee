"""The parts of the task that a problem becomes."""

import shlex
import subprocess
import sys

import pytest

from rlsh.env.patch import apply_patch
from rlsh.tasks.importers.claims import Claim
from rlsh.tasks.importers.problem import (
    Broken,
    Problem,
    edit,
    normal_end,
    sentence,
    shown_call,
    task_of,
    without_function,
)


def problem(function="f", **fields):
    texts = {"purpose": "Adds.", "right": "r\n", "script": "", "set": "some", "source": "a test", "licence": "MIT"}
    given = {**texts, "name": "1", "broken": (), "claims": (), "examples": (), "rest": (), **fields}
    return Problem(function=function, **given)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("  Adds two\n    numbers. And more.", "Adds two numbers."),
        ("Adds 1.5 to a number\n>>> f(1)\n2.5", "Adds 1.5 to a number."),
        ("Is it a prime?\nYes.", "Is it a prime?"),
        ("Adds:\n\n1. this", "Adds."),
        ("", ""),
        (">>> f(1)", ""),
        ("word " * 100, ("word " * 48).strip() + "."),
    ],
)
def test_the_first_sentence(text, first):
    assert sentence(text) == first


def test_the_file_is_named_like_the_function_where_an_import_would_find_it():
    assert problem("total").file == "total.py"
    for taken in ("bisect", "sys", "calendar"):
        assert problem(taken).file == f"{taken}_function.py"


@pytest.mark.parametrize(
    ("claim", "printed"),
    [
        (Claim((1, "it's", [2.5])), '((1, "it\'s", [2.5]), {})'),
        (Claim((), {"a": {1, 2}, "b": None}), "((), {'a': {1, 2}, 'b': None})"),
        (Claim((b"\x00", -1, {"k": (1,)})), "((b'\\x00', -1, {'k': (1,)}), {})"),
        (Claim((1,), items=True), "[(1,), {}]"),
    ],
)
def test_the_command_makes_the_call(tmp_path, claim, printed):
    (tmp_path / "f.py").write_text("def f(*args, **kwargs):\n    return args, kwargs\n")
    program, *arguments = shlex.split(shown_call(problem(), claim))
    assert program == "python3"
    run = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == printed + "\n"


def test_a_value_that_cannot_be_written_makes_no_command():
    for value in (float("nan"), float("inf"), [float("-inf")], frozenset({1})):
        assert shown_call(problem(), Claim((value,))) is None
        assert shown_call(problem(), Claim((), {"a": value})) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\n", "a\nb\n"),
        ("--- a\n+++ b\n", "--- c\n"),
        ("a\x0cb\n\u2028c\r\nd\n", "a\x0cb\n\u2028C\nd\n"),
    ],
)
def test_the_edit_makes_the_right_text_of_the_wrong_one(old, new):
    call = edit("f.py", old, new)
    assert call.arguments["file_path"] == "f.py"
    assert apply_patch(old, call.arguments["edit_content"]) == new


def test_what_remains_beside_the_function():
    others = "\ndef g(n):\n    def f(): pass\n\nX = 1\n"
    source = f"import math\n\n@staticmethod\n@property\ndef f(n):\n    return n\n{others}def f(): pass\n"
    assert without_function(source, "f") == f"import math\n\n{others}"


def test_texts_end_with_one_newline():
    assert normal_end("a\r\nb  \n\n\n") == "a\nb\n"


def test_a_task_holds_the_broken_source_and_its_repair():
    task = task_of(problem(right="def f(): return 1\n", seed=7), Broken("def f(): return 2\n", ("op",)), "run", [1])
    assert (task.family, task.seed, task.operators, task.split) == ("f", 7, ("op",), "held_out")
    assert task.files["f.py"].content == b"def f(): return 2\n"
    assert apply_patch("def f(): return 2\n", task.reference[0].arguments["edit_content"]) == "def f(): return 1\n"
