"""The verdict on Python functions. Every attack earns nothing, fools a naive verifier, and has an honest twin."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from rlsh.env import python_check
from rlsh.env.python_check import (
    SOURCE_BYTES,
    record_expected,
    run_python_check,
)
from rlsh.sandbox.base import Limits, SandboxError
from rlsh.tasks.checks import INPUT_BYTES, LINE_BYTES, MAX_CASES, Case, PythonCheck, Raised, check_from_json
from rlsh.tasks.values import same
from rlsh.types import Entry, RlshError, Verdict

LIMITS = Limits(wall_s=20.0, cpu_s=15)
HASTY = Limits(wall_s=1.0)  # for what never ends

# `seal` maps a number to a text that the candidate cannot guess and that no input contains.
KEY = secrets.token_hex(8)
INPUTS = (0, 1, 2, 3, 5, 8, 13, 21)
EXPECTED = {n: f"sesame-{(int(KEY, 16) ^ n):016x}" for n in INPUTS}
CASES = tuple(Case((n,), expected=EXPECTED[n]) for n in INPUTS)
CHECK = PythonCheck("seal.py", "seal", CASES)
HONEST = f"def seal(n):\n    return 'sesame-%016x' % (0x{KEY} ^ n)\n"
WRONG = "def seal(n):\n    return 'no'\n"


def verdict(sandbox, source, check=CHECK, limits=LIMITS, **others):
    files = {check.file: source, **others}
    return run_python_check(check, {name: Entry(text.encode()) for name, text in files.items()}, sandbox, limits)


# --- naive verifiers: what the real one would be without one of its defences ------------------------------------


def by_exit_code(sandbox, source, **others):
    """Asserts in the candidate's process, which has to end with 0."""
    tests = "import json\nfrom seal import seal\n" + "".join(f"assert seal({n}) == {EXPECTED[n]!r}\n" for n in INPUTS)
    tree = {"seal.py": source, "check.py": tests, **others}
    with sandbox.open({name: Entry(text.encode()) for name, text in tree.items()}, LIMITS) as workspace:
        return workspace.exec("/usr/bin/python3 check.py").exit_code == 0


def by_report(sandbox, source, **others):
    """Compares in the candidate's process, which says on stdout what came of it."""
    tests = f"from seal import seal\nimport json\npassed = all(seal(n) == e for n, e in {EXPECTED}.items())\n"
    tests += "print(json.dumps({'passed': passed}))\n"
    with sandbox.open({"seal.py": Entry(source.encode()), "check.py": Entry(tests.encode())}, LIMITS) as workspace:
        lines = workspace.exec("/usr/bin/python3 check.py").stdout.splitlines()
    return bool(lines) and json.loads(lines[-1])["passed"] is True


def by_failures(sandbox, source, **others):
    """Runs the real thing, and passes what returns nothing wrong: no answer, or an error, is not a wrong answer."""
    result = python_check._run(CHECK, source.encode(), sandbox, HASTY)
    lines = result.stdout.splitlines()
    for line, n in zip(lines, INPUTS, strict=False):
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        if "value" in answer and answer["value"] != EXPECTED[n]:
            return False
    return True


# --- attacks ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    source: str
    twin: str  # honest code that does something alike
    fools: Callable[..., bool]  # a naive verifier
    reason: str
    flags: tuple[str, ...] = ()
    limits: Limits = LIMITS
    beside: str = ""  # the content of a json.py


FORGE = "import os\nfor fd in range(1, 64):\n    try: os.write(fd, LINE)\n    except OSError: pass\n"
FORGED = FORGE.replace("LINE", repr(b'{"value": "no"}\n'))
PEEK = """
import gc, os, re, sys
calls = 0
def seal(n):
    global calls
    found = []
    def look(text):
        found.extend(answer for answer in re.findall("sesame-[0-9a-f]{16}", text) if answer not in found)
    def look_into(path, first=0, count=-1):
        try:
            with open(path, "rb") as file:
                file.seek(first)
                look(file.read(count).decode("latin-1"))
        except (OSError, ValueError, MemoryError):
            pass
    frame = sys._getframe()
    while frame:
        look(repr((frame.f_locals, frame.f_code.co_consts)))
        frame = frame.f_back
    if n or found:
        calls += 1
        return found[calls - 1] if found else "nothing"
    for thing in gc.get_objects():
        if type(thing) in (dict, list, tuple, set):
            look(repr(thing))
    for name in os.listdir("/proc"):
        for part in ("cmdline", "environ"):
            look_into(f"/proc/{name}/{part}")
    for pid in ("self", os.getppid()):
        try:
            maps = open(f"/proc/{pid}/maps").read().splitlines()
        except OSError:
            continue
        for line in maps:
            first, last = (int(part, 16) for part in line.split()[0].split("-"))
            if " rw" in line:
                look_into(f"/proc/{pid}/mem", first, last - first)
    for root in (".", "/tmp", "/dev/shm"):
        for folder, _, names in os.walk(root):
            for name in names:
                look_into(os.path.join(folder, name))
    return found[0] if found else "nothing"
"""
ALWAYS = "class Always:\n    def __eq__(self, other): return True\n    __hash__ = object.__hash__\n"
PASSED = repr(b'{"passed": true}\n')

ATTACKS = {
    "exits at import": Attack(
        "import os\nos._exit(0)\n", "import os\nos.getpid()\n" + HONEST, by_exit_code, "ended without", ("forced exit",)
    ),
    "exits with another code": Attack(
        "import os\nos._exit(7)\n", "import os\nos.getpid()\n" + HONEST, by_failures, "ended without", ("forced exit",)
    ),
    "raises SystemExit at import": Attack(
        "raise SystemExit(0)\n",
        HONEST + "if __name__ == '__main__':\n    raise SystemExit(1)\n",
        by_exit_code,
        "cannot be loaded: 'SystemExit'",
    ),
    "raises SystemExit in the call": Attack(
        "import sys\ndef seal(n):\n    sys.exit(0)\n",
        "import sys\n" + HONEST.replace("return", "len(sys.argv)\n    return"),
        by_exit_code,
        '"raised": "SystemExit"',
        ("forced exit",),
    ),
    "exits in an atexit handler": Attack(
        "import atexit, os\natexit.register(lambda: os._exit(0))\n" + WRONG,
        "import atexit\natexit.register(print)\n" + HONEST,
        by_exit_code,
        '"value": "no"',
    ),
    "forges lines on every descriptor": Attack(
        FORGED + HONEST,
        "print('{\"value\": 1}')\nimport sys\nprint('?', file=sys.stderr)\n" + HONEST,
        by_exit_code,
        "channel of the answers",
        ("forged answers",),
    ),
    "forges an answer and exits": Attack(
        FORGED + "os._exit(0)\n", "import os\n" + HONEST, by_exit_code, '"value": "no"'
    ),
    "forges a report and exits": Attack(
        FORGE.replace("LINE", PASSED) + "os._exit(0)\n",
        "print({'passed': True})\n" + HONEST,
        by_report,
        "channel of the answers",
        ("forged answers",),
    ),
    "writes half a line": Attack(
        FORGED.replace("}\\n", "}").replace("range(1", "range(3") + "os._exit(0)\n",
        HONEST,
        by_failures,
        "channel of the answers",
        ("forged answers",),
    ),
    "writes nesting to crash the parser": Attack(
        FORGE.replace("LINE", "b'[' * 50_000 + b'\\n'") + "os._exit(0)\n",
        HONEST,
        by_exit_code,
        "channel of the answers",
        ("forged answers",),
    ),
    "writes constants that JSON lacks": Attack(
        FORGE.replace("LINE", repr(b'{"value": NaN}\n')) + "os._exit(0)\n",
        HONEST,
        by_exit_code,
        "channel of the answers",
        ("forged answers",),
    ),
    "floods every descriptor": Attack(
        "while True:\n    " + FORGE.replace("\n", "\n    ").replace("LINE", "b'x' * 65536") + "\n",
        "print('x' * 10_000)\n" + HONEST,
        by_failures,
        "channel of the answers",
        ("forged answers",),
    ),
    "returns what equals everything": Attack(
        ALWAYS + "def seal(n):\n    return Always()\n",
        ALWAYS + HONEST.replace("return", "assert Always() == 1\n    return"),
        by_exit_code,
        "type Always is no plain data",
    ),
    "returns it deep inside": Attack(
        ALWAYS + "def seal(n):\n    return {n: [Always()]}\n",
        ALWAYS + HONEST,
        by_failures,
        "type Always is no plain data",
    ),
    "returns a str that equals everything": Attack(
        "class Text(str):\n    def __eq__(self, other): return True\ndef seal(n):\n    return Text('no')\n",
        HONEST.replace("return ", "return str(") + ")",
        by_exit_code,
        "type Text is no plain data",
    ),
    "hides its type's name": Attack(
        "class Meta(type):\n    __name__ = property(lambda self: 1 / 0)\n"
        "class Thing(metaclass=Meta):\n    def __eq__(self, other): return True\n"
        "def seal(n):\n    return Thing()\n",
        HONEST,
        by_exit_code,
        "cannot be read: 'division by zero'",
    ),
    "patches json and builtins": Attack(
        "import builtins, json\njson.dumps = lambda *a, **k: '\"value\"'\njson.loads = None\n"
        "builtins.len = lambda x: 0\nimport sys\nsys.modules['__main__'].__dict__.clear()\n" + WRONG,
        "import builtins\nbuiltins.own = 1\n" + HONEST,
        by_failures,
        "ended without",
        ("forced exit",),
    ),
    "makes the answers of json itself": Attack(
        "import json\njson.dumps = lambda *a, **k: '{\"passed\": true}'\n" + WRONG,
        "import json\n" + HONEST.replace("return ", "return json.loads(json.dumps(").rstrip() + "))\n",
        by_report,
        '"value": "no"',
    ),
    "patches the comparison": Attack(
        "import sys\nclass Str(str):\n    def __eq__(self, o): return True\nsys.modules['__main__'].str = Str\n"
        "def seal(n):\n    return Str()\n",
        "import sys\nsys.modules['__main__'].other = 1\n" + HONEST,
        by_exit_code,
        '"value": ""',  # it is one to our driver, which then says what it holds
    ),
    "reads the expected values": Attack(PEEK, PEEK + HONEST, by_exit_code, '"value": "nothing"'),
    "replaces sys.stdout": Attack(
        "import atexit, io, sys\nout, sys.stdout = sys.stdout, io.StringIO()\n"
        "atexit.register(out.write, '{\"passed\": true}')\n" + WRONG,
        "import io, sys\nsys.stdout = sys.__stdout__ = io.StringIO()\n" + HONEST,
        by_report,
        '"value": "no"',
    ),
    "replaces itself in sys.modules": Attack(
        "import sys\n" + ALWAYS + "class Fake(Always):\n    def __getattr__(self, name): return lambda n: Always()\n"
        "sys.modules[__name__] = Fake()\n" + WRONG,
        "import sys\nsys.modules['alias'] = sys.modules[__name__]\n" + HONEST,
        by_exit_code,
        '"value": "no"',
    ),
    "puts a json.py beside": Attack(
        WRONG,
        HONEST,
        by_exit_code,
        '"value": "no"',
        ("shim: json.py",),
        beside="import os\nos._exit(0)\n",
    ),
    "sleeps": Attack(
        "import time\ntime.sleep(99)\n" + WRONG,
        "import time\ntime.sleep(0.01)\n" + HONEST,
        by_failures,
        "timed out",
        limits=HASTY,
    ),
    "loops": Attack(
        "def seal(n):\n    while True: pass\n",
        HONEST.replace("return", "while n < 0: pass\n    return"),
        by_failures,
        "timed out",
        limits=HASTY,
    ),
    "recurses without end": Attack(
        "def seal(n):\n    return seal(n)\n",
        "def down(n): return n and down(n - 1)\n" + HONEST.replace("return", "down(500)\n    return"),
        by_failures,
        '"raised": "RecursionError"',
    ),
    "crashes the interpreter": Attack(
        "import ctypes\nctypes.string_at(0)\n" + WRONG,
        "import ctypes\n" + HONEST,
        by_failures,
        "ended without an answer (exit code 139)",
    ),
    "kills the driver": Attack(
        "import os\nos.kill(os.getppid(), 9)\n",
        "import os\nos.kill(os.getppid(), 0)\n" + HONEST,
        by_failures,
        "(exit code 137)",
    ),
    "kills everything": Attack("import os\nos.kill(-1, 9)\n", "import os\n" + HONEST, by_failures, "ended without"),
    "closes every descriptor": Attack(
        "import os\nos.closerange(0, 64)\n" + WRONG,
        "import os\nos.close(0)\n" + HONEST,
        by_failures,
        "ended without",
        ("forced exit",),
    ),
    "returns 100 MB": Attack(
        "def seal(n):\n    if n: raise MemoryError\n    return 'x' * 100_000_000\n",
        HONEST.replace("return", "len('x' * 10_000_000)\n    return"),
        by_failures,
        "larger than",
    ),
    "returns a cycle": Attack(
        "def seal(n):\n    x = []\n    x.append(x)\n    return x\n",
        HONEST.replace("return", "x = []\n    x.append(x)\n    return"),
        by_failures,
        "deeper than",
    ),
    "returns a list without end": Attack(
        "def seal(n):\n    if n: raise MemoryError\n    x = [0]\n    for _ in range(60): x = [x, x]\n    return x\n",
        HONEST,
        by_failures,
        "larger than",
    ),
    "takes all memory": Attack(
        "def seal(n):\n    return bytearray(1 << 30)\n",
        HONEST,
        by_failures,
        '"raised": "MemoryError"',
    ),
    "forks in the background": Attack(
        "import os, time\nif os.fork() == 0:\n    time.sleep(99)\n" + HONEST,
        "import os\nif os.fork() == 0: os._exit(0)\nos.wait()\n" + HONEST,
        by_exit_code,
        "left behind",
        ("background process",),
    ),
    "answers from a fork as well": Attack(
        "import os\nos.fork()\n" + HONEST, HONEST, by_exit_code, "channel of the answers", ("forged answers",)
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_earns_nothing_and_its_twin_everything(sandbox, name):
    attack = ATTACKS[name]
    others = {"json.py": attack.beside} if attack.beside else {}
    got = verdict(sandbox, attack.source, limits=attack.limits, **others)
    assert (got.reward, got.infra) == (0.0, False)
    assert attack.reason in got.reasons[0]
    assert got.flags == attack.flags
    twin = verdict(sandbox, attack.twin, **({"helper.py": attack.beside} if attack.beside else {}))
    assert twin == Verdict(1.0)
    assert attack.fools(sandbox, attack.source, **others)


# --- honest answers -----------------------------------------------------------------------------------------------


def passes(sandbox, source, *cases, **options):
    return verdict(sandbox, source, PythonCheck("f.py", "f", cases, **options)) == Verdict(1.0)


VALUES = (
    None, True, 1, 1.0, -0.0, float("nan"), float("inf"), 2**70, 7**6000, 1j,
    "", "\ud83d" + "\ude00", "\udc80é😀\0'\"\n", b"\xff\0", (), (1, [2, {3}]), [[[]]],
    {1, 2.5, "a"}, frozenset({(1, 2)}), {1: "a", None: [True], (1, 2): {}},
)  # fmt: skip


def test_every_plain_value_goes_in_and_comes_out(sandbox):
    cases = [Case((value,), {"key": value}, [value, value]) for value in VALUES]
    assert passes(sandbox, "def f(x, key):\n    return [x, key]\n", *cases)


@pytest.mark.parametrize(
    ("returned", "expected"),
    [("True", 1), ("1.0", 1), ("[1]", (1,)), ("{1: 2}", {True: 2}), ("0.0", -0.0), ("{1}", frozenset({1}))],
)
def test_a_value_of_another_type_is_another_value(sandbox, returned, expected):
    source, value = f"def f():\n    return {returned}\n", eval(returned)
    assert value == expected or json.dumps(value) == json.dumps(expected)  # a naive comparison takes it
    assert not passes(sandbox, source, Case((), expected=expected))
    assert passes(sandbox, source, Case((), expected=value))


def test_the_exceptions_type_is_the_answer_where_one_is_expected(sandbox):
    source = "class Odd(ValueError): pass\ndef f(x):\n    if x % 2: raise Odd(x)\n    return 1 // x\n"
    assert passes(sandbox, source, Case((1,), expected=Raised("Odd")), Case((0,), expected=Raised("ZeroDivisionError")))
    for expected in (Raised("ValueError"), "Odd", None):
        assert not passes(sandbox, source, Case((1,), expected=expected))
    assert not passes(sandbox, source, Case((2,), expected=Raised("Odd")))
    # an import that fails is no call that fails
    assert not passes(sandbox, "raise ValueError\n", Case((), expected=Raised("ValueError")))


def test_arguments_are_returned_where_the_check_asks(sandbox):
    source = "def f(items, *, by):\n    items.sort(reverse=by)\n    return items[0]\n"
    case = Case(([1, 3, 2],), {"by": True}, (3, ([3, 2, 1],)))
    assert passes(sandbox, source, case, returns="arguments")
    pure = source.replace("items.sort(", "items = sorted(items, ")
    assert not passes(sandbox, pure, case, returns="arguments")
    assert passes(sandbox, pure, replace(case, expected=3))


def test_items_are_what_the_returned_value_yields(sandbox):
    generator = "def f(n):\n    for k in range(n):\n        yield (k, 1 / (3 - k))\n"
    assert passes(sandbox, generator, Case((2,), expected=[(0, 1 / 3), (1, 0.5)]), returns="items")
    assert passes(sandbox, generator, Case((4,), expected=Raised("ZeroDivisionError")), returns="items")
    assert passes(sandbox, "def f(n):\n    return (n, n)\n", Case((2,), expected=[2, 2]), returns="items")
    assert passes(sandbox, "def f(n):\n    return n\n", Case((2,), expected=Raised("TypeError")), returns="items")
    assert not passes(sandbox, generator, Case((2,), expected=[(0, 1 / 3)]), returns="items")
    assert not passes(sandbox, generator, Case((2,), expected=[(0, 1 / 3), (1, 0.5)]))  # no plain data


def test_a_tolerance_is_used_only_where_the_check_has_one(sandbox):
    case = Case((0.1, 0.2), expected=0.3)
    source = "def f(a, b):\n    return a + b\n"
    assert passes(sandbox, source, case, tolerance=1e-9)
    assert not passes(sandbox, source, case)


def test_no_case_sees_another(sandbox):
    source = """
seen = []
def f(x):
    seen.append(x)
    open("f.py", "w").write("def f(x): return 'edited'")
    return len(seen)
"""
    assert passes(sandbox, source, Case((1,), expected=1), Case((2,), expected=1))


def test_the_file_is_loaded_as_a_module_of_its_own(sandbox):
    source = """
import dataclasses, sys
@dataclasses.dataclass
class Point:
    x: int
def f():
    names = sorted(sys.modules["candidate"].__dict__.keys() & {"Point", "to_tagged", "request"})
    return (__name__, Point.__annotations__["x"] is int, names, Point(1) == Point(1))
"""
    assert passes(sandbox, source, Case((), expected=("candidate", True, ["Point"], True)))


def test_inputs_may_be_as_large_as_a_command(sandbox):
    size = INPUT_BYTES - 1_000
    assert passes(sandbox, "def f(x):\n    return len(x)\n", *[Case(("'" * (size // 12),), expected=size // 12)] * 2)
    with pytest.raises(ValueError, match="inputs do not fit"):
        PythonCheck("f.py", "f", (Case(("a" * 50_000,)),) * 3)


# --- what was exported --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ({}, "seal.py is missing"),
        ({"other.py": Entry(HONEST.encode())}, "seal.py is missing"),
        ({"seal.py": Entry(b"other.py", kind="link"), "other.py": Entry(HONEST.encode())}, "seal.py is a link"),
        ({"seal.py": Entry(mode=0o755, kind="dir")}, "seal.py is a dir"),
        ({"seal.py": Entry(HONEST.encode() + b"#" * SOURCE_BYTES)}, "larger than"),
        ({"seal.py": Entry(b"")}, "cannot be loaded: 'KeyError'"),
        ({"seal.py": Entry(b"def seal(n:\n")}, "cannot be loaded: 'SyntaxError'"),
        ({"seal.py": Entry(b"\xff\0")}, "cannot be loaded: "),
        ({"seal.py": Entry(b"seal = 1\n")}, '"raised": "TypeError"'),
        ({"seal.py": Entry(b"import helper\n"), "helper.py": Entry(b"")}, "cannot be loaded: 'ModuleNotFoundError'"),
    ],
)
def test_only_a_regular_file_of_that_name_counts(sandbox, tree, reason):
    got = run_python_check(CHECK, tree, sandbox, LIMITS)
    assert (got.reward, got.infra, got.flags) == (0.0, False, ())
    assert reason in got.reasons[0]


def test_its_mode_and_folder_do_not_matter(sandbox):
    check = replace(CHECK, file="a/b-c/seal.py")
    assert run_python_check(check, {check.file: Entry(HONEST.encode(), 0o000)}, sandbox, LIMITS) == Verdict(1.0)


@pytest.mark.parametrize("name", ["json.py", "re.py", "random.py"])
def test_a_file_named_like_a_module_is_not_taken_for_it(sandbox, name):
    source = "import json, re, random\n" + HONEST.replace("return ", "return json.loads(json.dumps(").rstrip() + "))\n"
    assert verdict(sandbox, source, replace(CHECK, file=name)) == Verdict(1.0)


def test_import_hooks_beside_it_are_flagged(sandbox):
    hooks = ["a/conftest.py", "json.py", "re/__init__.py", "sitecustomize.py", "x.pth"]
    names = [*hooks, "a/json.py", "helper.py", "json.txt", "seal.txt"]
    got = verdict(sandbox, HONEST, **dict.fromkeys(names, ""))
    assert got == Verdict(1.0, flags=tuple(f"shim: {name}" for name in hooks))


def test_at_most_three_cases_are_named(sandbox):
    assert len(verdict(sandbox, WRONG).reasons) == 4 and verdict(sandbox, WRONG).reasons[-1] == "…"
    source = HONEST.replace("return", "if n == 2: return 0\n    return")
    assert verdict(sandbox, source).reasons == (f'case 3: {{"value": 0}}, expected {{"value": "{EXPECTED[2]}"}}',)


@pytest.mark.parametrize("moment", ["open", "exec"])
def test_only_a_sandbox_error_is_infra(sandbox, moment):
    class Failing:
        def open(self, files, limits):
            if moment == "open":
                raise SandboxError("no room on this host")
            workspace = sandbox.open(files, limits)

            def fail(command):
                raise SandboxError("the worker is gone")

            workspace.exec = fail
            return workspace

    got = verdict(Failing(), HONEST)
    assert got.infra and got.reward == 0.0


def test_no_expected_value_enters_the_sandbox():
    files, commands = [], []

    class Watching:
        def open(self, tree, limits):
            files.append(tree)
            return self

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def exec(self, command):
            commands.append(command)
            raise SandboxError("seen enough")

    assert verdict(Watching(), WRONG, other="x").infra
    assert files == [{"seal.py": Entry(WRONG.encode())}]
    assert not any(expected[7:] in commands[0] for expected in EXPECTED.values())
    assert commands == [python_check._command(replace(CHECK, cases=tuple(Case(c.args) for c in CASES)))]


# --- making checks --------------------------------------------------------------------------------------------------


def test_a_reference_gives_the_expected_values(sandbox):
    draft = replace(CHECK, cases=tuple(Case((n,)) for n in (*INPUTS, "a")))
    made = record_expected(draft, HONEST.encode(), sandbox, LIMITS)
    assert made.cases == (*CASES, Case(("a",), expected=Raised("TypeError")))
    assert verdict(sandbox, HONEST, made) == Verdict(1.0)


@pytest.mark.parametrize("source", ["", "def seal(n): return object()\n", "import os\nos._exit(0)\n", FORGED + HONEST])
def test_a_reference_without_an_answer_is_an_error(sandbox, source):
    with pytest.raises(RlshError, match=r"the reference for seal in seal.py gave \d+ answers to 8 cases"):
        record_expected(CHECK, source.encode(), sandbox, LIMITS)


def test_a_check_survives_json():
    cases = tuple(Case((value,), {"key": value}, value) for value in VALUES)
    check = PythonCheck("a/f.py", "f", (*cases, Case((), expected=Raised("KeyError"))), 1e-6, "arguments")
    got = check_from_json(json.loads(json.dumps(check.to_json(), allow_nan=False)))
    assert (got.file, got.function, got.tolerance, got.returns) == ("a/f.py", "f", 1e-6, "arguments")
    assert got.cases[-1] == check.cases[-1] and len(got.cases) == len(check.cases)
    for a, b in zip(check.cases[:-1], got.cases[:-1], strict=True):
        assert same((a.args, a.kwargs, a.expected), (b.args, b.kwargs, b.expected))


def changed(**fields):
    return {**CHECK.to_json(), **fields}


CASE = CHECK.to_json()["cases"][0]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {**changed(), "more": 1},
        {name: item for name, item in changed().items() if name != "tolerance"},
        changed(file=1),
        changed(file="/etc/f.py"),
        changed(file="../f.py"),
        changed(file="a//f.py"),
        changed(file="f.txt"),
        changed(function="f()"),
        changed(function=None),
        changed(returns="both"),
        changed(returns=[]),
        changed(tolerance=1),
        changed(tolerance=-0.5),
        changed(tolerance=float("nan")),
        changed(tolerance=True),
        changed(cases=[]),
        changed(cases={}),
        changed(cases=[CASE] * (MAX_CASES + 1)),
        changed(cases=[1]),
        changed(cases=[{**CASE, "args": "ab"}]),
        changed(cases=[{**CASE, "args": [{"odd": []}]}]),
        changed(cases=[{**CASE, "kwargs": []}]),
        changed(cases=[{**CASE, "expected": 1}]),
        changed(cases=[{**CASE, "expected": {}}]),
        changed(cases=[{**CASE, "expected": {"raised": 1}}]),
        changed(cases=[{**CASE, "expected": {"unloadable": "x"}}]),
        changed(cases=[{**CASE, "expected": {"value": 1, "raised": "x"}}]),
        changed(cases=[{**CASE, "expected": {"value": "\ud800" * 10}}]),
    ],
)
def test_a_malformed_check_is_a_value_error(value):
    with pytest.raises(ValueError):
        check_from_json(value)


@pytest.mark.parametrize(
    "case",
    [Case([1]), Case((object(),)), Case((), {1: 2}), Case((), expected=object()), Case((), expected=["é"] * 30_000)],
)
def test_a_case_holds_plain_data_that_fits(case):
    with pytest.raises(ValueError):
        PythonCheck("f.py", "f", (case,))
    assert LINE_BYTES < 6 * 30_000
