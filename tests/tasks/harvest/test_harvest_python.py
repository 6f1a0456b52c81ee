"""Whole trees of Python files: what is offered, what is refused, and that nothing of them runs or changes."""

import ast
import hashlib
import random
import subprocess
import sys

import pytest

from rlsh.tasks.harvest import UnfitError, harvest_python, loading_mutants, source_tree
from rlsh.tasks.inputs import Draw

GOOD = '''
def %s(text):
    """Counts the words of text. Blank lines count for nothing."""
    total = 0
    for line in text.splitlines():
        total += len(line.split())
    return total
'''


def write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def harvested(root):
    accepted, rejected = harvest_python(source_tree(root))
    return {one.source_id: one for one in accepted}, {f"{row.path}::{row.function}": row.reason for row in rejected}


def digest(root):
    parts = [f"{p.relative_to(root)} {p.stat().st_mtime_ns} {p.stat().st_mode}" for p in sorted(root.rglob("*"))]
    parts += [p.read_text() for p in sorted(root.rglob("*")) if p.is_file()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def test_a_function_becomes_a_reference(tmp_path):
    write(tmp_path, {"lib/words.py": GOOD % "count", "LICENSE": "Permission is hereby granted, free of charge"})
    (one,) = harvested(tmp_path)[0].values()
    assert (one.source_id, one.licence, one.origin) == ("lib/words.py::count", "MIT", "usage")
    assert (one.reference.name, one.reference.topic) == ("count", "lib.words")
    assert one.reference.wanted == "Counts the words of text."
    (text,) = one.reference.draw(Draw(random.Random(0)))
    assert isinstance(text, str)


@pytest.mark.parametrize(
    ("docstring", "wanted"),
    [
        ("", "Parse a size, given text and unit."),
        ('"""the size, e.g. 3k, of text"""', "The size, e.g. 3k, of text."),
        ('"""Take (a ... b) away. Then more."""', "Take (a ... b) away."),
        ('"""The size.\n\n    More.\n    """', "The size."),
        (f'"""{"long " * 60}"""', "Parse a size, given text and unit."),
    ],
)
def test_what_is_wanted_is_said_by_docstring_or_name(tmp_path, docstring, wanted):
    write(
        tmp_path,
        {"a.py": f"def _parse_a_size(text, unit=1):\n    {docstring}\n    n = len(text)\n    return n * unit\n"},
    )
    (one,) = harvested(tmp_path)[0].values()
    assert one.reference.wanted == wanted


def test_inputs_come_from_calls_then_annotations_then_use(tmp_path):
    body = "    n = len(p)\n    return n + 1\n"
    text = f"def f(p):\n{body}def g(p: list[str]):\n{body}    p\ndef h(p):\n{body}    p.upper()\nf('literal')\n"
    write(tmp_path, {"a.py": text})
    accepted, _ = harvested(tmp_path)
    assert [one.origin for one in accepted.values()] == ["calls", "annotations", "usage"]
    drawn = [[one.reference.draw(Draw(random.Random(seed)))[0] for seed in range(50)] for one in accepted.values()]
    assert "literal" in drawn[0] and "literal" not in drawn[2]
    assert [{type(value) for value in values} for values in drawn] == [{str}, {list}, {str}]


# name: (refused, reason, an accepted twin)
REFUSED = {
    "secret": (
        "def f(p):\n    n = p + 'AKIA" + "ABCDEFGHIJKLMNOP'\n    return n",
        "secret: AWS key",
        "def f(p):\n    n = p + 'AKIA'\n    return n",
    ),
    "secret in a constant": (
        "HOST = '8.8." + "8.8'\ndef f(p):\n    n = p + HOST\n    return n",
        "secret: public IP address",
        "HOST = '127.0.0.1'\ndef f(p):\n    n = p + HOST\n    return n",
    ),
    "no inputs": (
        "from __future__ import annotations\ndef f(p: Tensor):\n    n = p + 1\n    return n",
        "no inputs: nothing tells what to give for (p: Tensor)",
        "from __future__ import annotations\ndef f(p: int):\n    n = p + 1\n    return n",
    ),
    "trivial": (
        "def f(p):\n    return p",
        "trivial: one statement with nothing to break in it",
        "def f(p):\n    return p + 1",
    ),
    "duplicate": (
        "def f(p):\n    n = p + 1\n    return n\ndef g(q):\n    '''Same.'''\n    m = q + 1\n    return m",
        "duplicate: a.py::f",
        "def f(p):\n    n = p + 1\n    return n\ndef g(q):\n    m = q + 2\n    return m",
    ),
    "nested too deeply": (
        f"def f(p: int):\n    return {' + '.join(['p'] * 600)}",
        "nested too deeply",
        f"def f(p: int):\n    return {' + '.join(['p'] * 60)}",
    ),
    "does not parse": ("def f(:", "syntax error: line 1", "def f(p): return p + 1"),
}


@pytest.mark.parametrize(("refused", "reason", "twin"), REFUSED.values(), ids=REFUSED)
def test_every_reason_has_an_example_and_a_twin_that_is_accepted(tmp_path, refused, reason, twin):
    write(tmp_path, {"a.py": refused})
    assert list(harvested(tmp_path)[1].values()) == [reason]
    write(tmp_path, {"a.py": twin})
    accepted, rejected = harvested(tmp_path)
    assert accepted and not rejected


def test_a_secret_is_named_by_its_kind_alone(tmp_path):
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    write(tmp_path, {"a.py": f"def f(p):\n    return p + '{key}'\n\n\nf('{key}')\n"})
    accepted, rejected = harvest_python(source_tree(tmp_path))
    assert rejected[0].kind == "secret"
    assert key not in repr((accepted, rejected))


@pytest.mark.parametrize(
    "text",
    [
        "import app\n@app.route('/', token='%s')\ndef f(p): return p + 1",
        "@(lambda key: lambda f: f)('%s')\ndef f(p): return p + 1",
        "KEY = load('%s')\ndef f(p): return p + KEY",
        "KEY = '%s'\nKEY = 1\ndef f(p): return p + KEY",
        "def f(p, key='%s'): return open(p, key)",
        "from __future__ import annotations\ndef f(p: Unknown['%s']):\n    n = p + 1\n    return n",
        "def f(p: '%s':",
    ],
)
def test_no_reason_quotes_a_secret(tmp_path, text):
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    write(tmp_path, {"a.py": text % key})
    accepted, rejected = harvest_python(source_tree(tmp_path))
    assert not accepted and rejected and key[:12] not in repr(rejected)


def test_warnings_of_the_parser_are_nobodys_business(tmp_path, recwarn):
    text = GOOD % "f" + "    '\\d'\n"
    with pytest.warns((DeprecationWarning, SyntaxWarning)):
        ast.parse(text)
    recwarn.clear()
    write(tmp_path, {"a.py": text})
    assert len(harvested(tmp_path)[0]) == 1 and not recwarn


def test_a_call_with_a_secret_is_no_input(tmp_path):
    write(tmp_path, {"a.py": f"{GOOD % 'f'}\nf('/home/" + "lovelace')\nf('two words')\n"})
    (one,) = harvested(tmp_path)[0].values()
    drawn = repr([one.reference.draw(Draw(random.Random(seed))) for seed in range(200)])
    assert "two words" in drawn and "lovelace" not in drawn


# What importing a script may do. Each module also holds a function that is harvested.
EFFECTS = {
    "deletes": "import pathlib\npathlib.Path('victim').unlink()\n",
    "exits": "import sys\nprint('gone')\nsys.exit(3)\n",
    "prints": "print('gone')\n",
    "writes": "open('new', 'w').close()\n",
    "needs": "import no_such_package\n",
}


@pytest.mark.parametrize("name", EFFECTS)
def test_the_effect_of_an_import_is_real(tmp_path, name):
    """The control: whoever imports these modules sees it."""
    write(tmp_path, {f"{name}.py": EFFECTS[name] + GOOD % name, "victim": ""})
    before = {path.name for path in tmp_path.iterdir()}
    command = [sys.executable, "-B", "-c", f"import {name}"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert {p.name for p in tmp_path.iterdir()} != before or "gone" in run.stdout or "no_such_package" in run.stderr


def test_no_module_is_imported_and_a_tree_stays_as_it_is(tmp_path, monkeypatch, capfd):
    files = {"victim": ""}
    for at in range(200):
        for name, effect in EFFECTS.items():
            files[f"p{at}/{name}{at}.py"] = effect + GOOD.replace("0", str(at)) % f"{name}{at}"
    write(tmp_path, files)
    for path in [tmp_path, *tmp_path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    monkeypatch.chdir(tmp_path)
    before, modules = digest(tmp_path), set(sys.modules)
    accepted, rejected = harvested(tmp_path)
    assert digest(tmp_path) == before
    assert "gone" not in capfd.readouterr().out
    assert not {name for name in set(sys.modules) - modules if name.rstrip("0123456789") in EFFECTS}
    assert len(accepted) == 200 and set(rejected.values()) == {f"duplicate: {one}" for one in accepted}


def test_the_same_tree_gives_the_same_references_in_the_same_order(tmp_path):
    write(tmp_path, {f"{name}.py": GOOD.replace("0", str(at)) % name for at, name in enumerate("zyxabc")})
    one, other = harvest_python(source_tree(tmp_path))[0], harvest_python(source_tree(tmp_path))[0]
    assert [made.source_id for made in one] == [f"{name}.py::{name}" for name in "abcxyz"]
    assert [made.source_id for made in other] == [made.source_id for made in one]
    for a, b in zip(one, other, strict=True):
        assert a.reference.source == b.reference.source
        assert a.reference.draw(Draw(random.Random(5))) == b.reference.draw(Draw(random.Random(5)))


def test_what_the_mutation_cannot_read_is_refused():
    assert loading_mutants("def f(p):\n    return p + 1\n", "f")
    with pytest.raises(UnfitError, match="cannot be mutated: f: its source does not parse"):
        loading_mutants(f"def f(p):\n    return {' + '.join(['p'] * 600)}\n", "f")
