"""Functions cut out of modules. Every reason to refuse one has an example, and a twin that is taken."""

import ast
import importlib
import textwrap

import pytest

from rlsh.tasks.harvest.module import parse
from rlsh.tasks.harvest.outcome import UnfitError
from rlsh.tasks.harvest.purity import IMPURE, PARTS, PURE
from rlsh.tasks.harvest.slices import FUNCTION_LINES, SLICE_LINES, slice_of


def cut(text, name="f"):
    return slice_of(parse(textwrap.dedent(text)), name)


def run(source, *args, name="f"):
    module = {"__name__": "cut"}
    exec(compile(source, "cut", "exec"), module)
    return module[name](*args)


def reason(text, name="f"):
    with pytest.raises(UnfitError) as error:
        cut(text, name)
    return f"{error.value.kind}: {error.value.detail}".rstrip(": ")


MODULE = '''
"""Sizes."""
from __future__ import annotations
import re, os
import requests
from requests import Session
from collections import Counter as Count, deque
from typing import TYPE_CHECKING, Any
if TYPE_CHECKING:
    from pandas import DataFrame

UNITS = {"k": 10, "m": 20}  # powers of two
PATTERN: Any = re.compile(rf"(\\d+)([{''.join(UNITS)}])")
URL = requests.get("x")


class SizeError(ValueError):
    pass


@dataclass
class Unused:
    pass


def _power(unit):
    return 1 << UNITS[unit]


# not this one
def f(text: str, frame: DataFrame = None, *more: Any | Session) -> int:
    """The size that text names."""
    def inner(found):
        UNUSED = found
        return int(found[1]) * _power(found[2])

    found = PATTERN.fullmatch(text)
    if found is None:
        raise SizeError(text)
    return inner(found)


print("imported")
'''


def test_a_slice_is_what_the_function_needs_in_the_order_of_the_text_and_no_more():
    source = cut(MODULE)
    assert source.split("\n\n\n") == [
        "from __future__ import annotations\n\nfrom typing import Any\nimport re",
        'UNITS = {"k": 10, "m": 20}  # powers of two',
        "PATTERN: Any = re.compile(rf\"(\\d+)([{''.join(UNITS)}])\")",
        "class SizeError(ValueError):\n    pass",
        "def _power(unit):\n    return 1 << UNITS[unit]",
        MODULE[MODULE.index("def f(") : MODULE.index("\n\n\nprint")] + "\n",
    ]
    assert run(source, "3k") == 3072
    with pytest.raises(ValueError, match="3x"):
        run(source, "3x")


def test_statements_on_one_line_are_told_apart():
    source = cut("a = 1; b = 2\ndef f(x): return x + b\n")
    assert source == "b = 2\n\n\ndef f(x): return x + b\n"


def test_a_recursive_function_and_decorators_are_taken_whole():
    source = cut(
        """
        import functools

        @functools.lru_cache(maxsize=None)
        def f(n):
            return n if n < 2 else f(n - 1) + f(n - 2)
        """
    )
    assert "@functools.lru_cache(maxsize=None)\ndef f(n):" in source and run(source, 30) == 832040


# name: (refused, reason, its twin that is taken)
REFUSED = {
    "third-party import": (
        "import numpy as np\ndef f(x): return np.sum(x)",
        "third-party import: numpy",
        "import numpy as np\ndef f(x): return sum(x)",
    ),
    "third-party import inside": (
        "def f(x):\n    from yaml.x import load\n    return load(x)",
        "third-party import: yaml",
        "def f(x):\n    from json import loads\n    return loads(x)",
    ),
    "of a helper": (
        "import numpy\ndef g(x): return numpy.sum(x)\ndef f(x): return g(x)",
        "third-party import: numpy",
        "import numpy\ndef g(x): return sum(x)\ndef f(x): return g(x)",
    ),
    "relative import": (
        "from . import sizes\ndef f(x): return sizes.of(x)",
        "relative import: .",
        "from . import sizes\ndef f(x): return x + 1",
    ),
    "relative import of a name": (
        "from ..a.b import c\ndef f(x): return c(x)",
        "relative import: ..a.b",
        "from ..a.b import c\ndef f(x):\n    c = str\n    return c(x)",
    ),
    "undefined": ("def f(x): return g(x)", "undefined: g", "def f(x): return len(x)"),
    "undefined behind a star": (
        "from math import *\ndef f(x): return sqrt(x)",
        "undefined: sqrt (or of math import *)",
        "from math import sqrt\ndef f(x): return sqrt(x)",
    ),
    "undefined in an annotation": (
        "def f(x: Size): return x + 1",
        "undefined: Size",
        "from __future__ import annotations\ndef f(x: Size): return x + 1",
    ),
    "global": (
        "n = 0\ndef f(x):\n    global n\n    n += x\n    return n",
        "global state: n",
        "n = 0\ndef f(x):\n    n = 1\n    return n + x",
    ),
    "global of another function": (
        "n = 0\ndef g(x):\n    global n\n    n += x\ndef f(x): return n + x",
        "global state: n",
        "n = m = 0\ndef g(x):\n    global m\n    m += x\ndef f(x): return n + x",
    ),
    "global that is set and never read": (
        "n = 0\ndef f(x):\n    global n\n    n = x\n    return x",
        "global state: n",
        "n = 0\ndef f(x):\n    def g():\n        nonlocal x\n        x = 1\n    g()\n    return x",
    ),
    "filled by module-level code": (
        "t = {}\nfor i in range(9):\n    t[i] = i * i\ndef f(x): return t[x]",
        "global state: t",
        "t = {i: i * i for i in range(9)}\ndef f(x): return t[x]",
    ),
    "changed by a method": (
        "t = []\nt.append(1)\ndef f(x): return x in t",
        "global state: t",
        "t = [1]\nt.count(1)\ndef f(x): return x in t",
    ),
    "added to": (
        "t = [1]\nt += [2]\ndef f(x): return x in t",
        "global state: t",
        "t = [1] + [2]\ndef f(x): return x in t",
    ),
    "handed to a function by name": (
        "t = []\ndef fill(a): a += [1]\nfill(a=t)\ndef f(x): return x in t",
        "global state: t",
        "t = []\nu = []\ndef fill(a): a += [1]\nfill(a=u)\ndef f(x): return x in t",
    ),
    "handed to a function that may change it": (
        "t = []\ndef fill(a): a += [1]\nfill(t)\ndef f(x): return x in t",
        "global state: t",
        "t = []\ndef fill(a): a += [1]\nprint(t)\ndef f(x): return x in t",
    ),
    "made within a statement": (
        "try:\n    t = 1\nfinally:\n    pass\ndef f(x): return x + t",
        "module-level code: t is made by a statement that runs on import",
        "if __name__ == '__main__':\n    t = 2\nt = 1\ndef f(x): return x + t",
    ),
    "defined within a statement": (
        "if 1:\n    def g(x): return x\ndef f(x): return g(x)",
        "module-level code: g is made by a statement that runs on import",
        "def g(x): return x\ndef f(x): return g(x)",
    ),
    "annotated and never bound": (
        "t: int\ndef f(x): return x + t",
        "undefined: t",
        "t: int = 1\ndef f(x): return x + t",
    ),
    "a constant within a constant": (
        "t = [u := 3, u]\ndef f(x): return x in t",
        "computed constant: t names a part of itself",
        "t = [u for u in (3, 4)]\ndef f(x): return x in t",
    ),
    "bound twice": ("t = 1\nt = 2\ndef f(x): return x + t", "bound more than once: t", "t = 2\ndef f(x): return x + t"),
    "defined twice": (
        "def f(x): return x + 1\ndef f(x): return x + 2",
        "bound more than once: f",
        "def g(x): return x + 1\ndef f(x): return x + 2",
    ),
    "a constant that a function computes": (
        "def g(): return 1\nt = g()\ndef f(x): return x + t",
        "computed constant: t calls g",
        "import re\nt = re.compile('a')\ndef f(x): return t.findall(x)",
    ),
    "a constant of an unknown call": (
        "t = getattr('a', 'upper')()\ndef f(x): return x + t",
        "computed constant: t calls getattr",
        "t = sorted('ba')[0].upper()\ndef f(x): return x + t",
    ),
    "async": ("async def f(x): return x", "async: f", "def f(x): return x + 1"),
    "async inside": (
        "def f(x):\n    async def g(): return 1\n    return [g, x]",
        "async: g",
        "def f(x):\n    def g(): return 1\n    return [g, x]",
    ),
    "generator": (
        "def f(x):\n    yield x\n    return 1",
        "generator",
        "def f(x):\n    def g():\n        yield x\n    return list(g())",
    ),
    "method": ("class f:\n    def g(self): return 1", "method: f", "class A: pass\ndef f(x): return [x, A]"),
    "own decorator": (
        "def d(g): return g\n@d\ndef f(x): return x",
        "decorator: d",
        "from functools import cache\n@cache\ndef f(x): return x",
    ),
    "own decorator of a class": (
        "def d(c): return c\n@d\nclass A: n = 1\ndef f(x): return A.n + x",
        "decorator: d",
        "import dataclasses as d\n@d.dataclass(frozen=True)\nclass A:\n    n: int = 1\ndef f(x): return A.n + x",
    ),
    "own decorator of a method": (
        "d = property\nclass A:\n    @d\n    def n(self): return 1\ndef f(x): return A().n + x",
        "decorator: d",
        "class A:\n    @property\n    def n(self): return 1\n    @n.setter\n    def n(self, m): pass\n"
        "def f(x): return A().n + x",
    ),
    "no parameters": ("def f(): return 1", "no parameters", "def f(*x): return 1"),
    "keyword-only parameters": ("def f(*, x): return 1", "no parameters", "def f(y, *, x=0): return 1"),
    "returns nothing": ("def f(x): print(x)", "returns nothing", "def f(x):\n    print(x)\n    return x"),
    "returns None": (
        "def f(x):\n    if x: return\n    def g(): return 1\n    return None",
        "returns nothing",
        "def f(x):\n    if x: return\n    return 0",
    ),
    "open": ("def f(x): return open(x).read()", "outside world: open", "def f(x): return x.read()"),
    "input": ("def f(x): return input(x)", "outside world: input", "def f(x, input): return input[x]"),
    "a process": (
        "import subprocess\ndef f(x): return subprocess.run(x)",
        "outside world: subprocess",
        "import shlex\ndef f(x): return shlex.split(x)",
    ),
    "the system": (
        "import os\ndef f(x): return os.system(x)",
        "outside world: os.system",
        "import os\ndef f(x): return os.path.join(x, os.sep)",
    ),
    "a file's state": (
        "import os.path as p\ndef f(x): return p.getsize(x)",
        "outside world: os.path.getsize",
        "import os.path as p\ndef f(x): return p.basename(x)",
    ),
    "a path's state": (
        "from pathlib import Path\ndef f(x): return Path(x).read_text()",
        "outside world: .read_text",
        "from pathlib import Path\ndef f(x): return Path(x).stem",
    ),
    "the environment": (
        "from os import environ\ndef f(x): return environ[x]",
        "outside world: os.environ",
        "from os import path\ndef f(x): return path.split(x)",
    ),
    "arguments": (
        "import sys\ndef f(x): return sys.argv[x]",
        "outside world: sys.argv",
        "import sys\ndef f(x): return x < sys.maxsize",
    ),
    "a module handed on": ("import os\ndef f(x): return getattr(os, x)", "outside world: os", "def f(x): return x.os"),
    "chance": (
        "import random\ndef f(x): return random.choice(x)",
        "outside world: random.choice",
        "import random\ndef f(x): return random.Random(3).choice(x)",
    ),
    "chance without a seed": (
        "from random import Random\ndef f(x): return Random().choice(x)",
        "outside world: random.Random without a seed",
        "from random import Random\ndef f(x): return Random(x).random()",
    ),
    "the clock": (
        "import datetime\ndef f(x): return datetime.datetime.now() - x",
        "outside world: .now",
        "import datetime\ndef f(x): return datetime.datetime.fromisoformat(x).year",
    ),
    "time": ("import time\ndef f(x): return time.time() - x", "outside world: time.time", "def f(x): return x.time()"),
    "its own file": ("def f(x): return __file__ + x", "outside world: __file__", "def f(x): return __debug__ + x"),
    "eval": ("def f(x): return eval(x)", "outside world: eval", "import ast\ndef f(x): return ast.literal_eval(x)"),
    "a test": ("def test_f(x): return 1", "test or dunder: test_f", "def tested(x): return 1"),
    "dunder": ("def __f(x): return 1", "test or dunder: __f", "def _f(x): return 1"),
    "long": (
        "def f(x):\n" + "    x += 1\n" * (FUNCTION_LINES - 1) + "    return x",
        f"too long: {FUNCTION_LINES + 1} lines",
        "def f(x):\n" + "    x += 1\n" * (FUNCTION_LINES - 2) + "    return x",
    ),
    "long with what it needs": (
        "t = [\n" + "1,\n" * SLICE_LINES + "]\ndef f(x): return t[x]",
        f"too long: {SLICE_LINES + 5} lines with what it needs",
        "t = [\n" + "1,\n" * (SLICE_LINES - 5) + "]\ndef f(x): return t[x]",
    ),
}


def last_function(text):
    return [node.name for node in ast.parse(text).body if hasattr(node, "name")][-1]


@pytest.mark.parametrize(("refused", "why", "twin"), REFUSED.values(), ids=REFUSED)
def test_every_reason_has_an_example_and_a_twin_that_is_taken(refused, why, twin):
    assert reason(refused, last_function(refused)) == why
    source = cut(twin, last_function(twin))
    compile(source, "twin", "exec")
    assert f"def {last_function(twin)}(" in source


@pytest.mark.parametrize("name", sorted(IMPURE))
def test_an_attribute_that_leads_outside_is_refused_whatever_it_is_taken_from(name):
    assert reason(f"def f(x): return x.{name}") == f"outside world: .{name}"
    assert cut(f"def f(x): return x[{name!r}]")


@pytest.mark.parametrize("module", sorted(PURE | set(PARTS)))
def test_a_module_that_is_known_may_be_used(module):
    part = sorted(PARTS.get(module, {"anything"}))[0]
    source = cut(f"import {module} as m\ndef f(x): return m.{part}")
    assert source.startswith(f"import {module} as m\n")
    if module in PARTS:
        assert reason(f"import {module} as m\ndef f(x): return m.another") == f"outside world: {module}.another"


def test_the_lists_name_modules_and_attributes_that_are_there():
    for module in PURE | set(PARTS):
        found = importlib.import_module(module)
        assert all(hasattr(found, name) for name in PARTS.get(module, ()))


def test_imports_within_an_import_are_told_apart():
    assert run(cut("from os import path, system\ndef f(x): return path.basename(x)"), "a/b") == "b"
    assert "request" not in cut("import urllib.request\nimport urllib.parse\ndef f(x): return urllib.parse.quote(x)")
    assert (
        reason("import urllib.request\ndef f(x): return urllib.request.urlopen(x)") == "outside world: urllib.request"
    )


@pytest.mark.parametrize("text", ["def f(:", "x = '\0'", "(" * 300 + ")" * 300, "print 'python 2'"])
def test_what_does_not_parse_is_refused(text):
    with pytest.raises(UnfitError) as error:
        parse(text)
    assert error.value.kind == "syntax error"
