"""Harvested functions and pipelines tried out in the sandbox; stopped, resumed, reported."""

import random
import sysconfig
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from rlsh.env import harvest_trial
from rlsh.env.harvest import harvest, table, trial
from rlsh.env.harvest_trial import FEWEST, KEPT_RAISING, pool_of, showing
from rlsh.env.python_check import record_expected
from rlsh.sandbox.base import Limits, SandboxError
from rlsh.tasks.checks import Case, PythonCheck, Raised
from rlsh.tasks.harvest import Harvested, Rejected, UnfitError, harvest_python, harvest_shell, secret_in, source_tree
from rlsh.tasks.inputs import Draw

FEW = 12  # inputs, for quick tests


@pytest.fixture(scope="module", autouse=True)
def all_inputs():
    """Few inputs are tried, and the number that is usual is given to whom it matters."""
    with pytest.MonkeyPatch.context() as patch:
        usual = harvest_trial.POOL
        patch.setattr(harvest_trial, "POOL", FEW)
        yield usual


def write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def first(tmp_path, text):
    accepted, rejected = harvest_python(source_tree(write(tmp_path, {"a.py": text})))
    assert accepted, rejected
    return accepted[-1]


def drawn(found, count=200):
    return [found.reference.draw(Draw(random.Random(seed))) for seed in range(count)]


def answers(found, inputs, sandbox):
    check = PythonCheck("a.py", found.reference.name, tuple(map(Case, inputs)))
    recorded = record_expected(check, found.reference.source.encode(), sandbox, Limits(wall_s=20.0))
    return [case.expected for case in recorded.cases]


# --- functions --------------------------------------------------------------------------------------------------

# name: (refused, reason, its accepted twin)
REFUSED = {
    "does not load": (
        "N = int('x')\ndef f(p: int):\n    q = p + N\n    return q * 2",
        "does not load: ValueError",
        "N = int('7')\ndef f(p: int):\n    q = p + N\n    return q * 2",
    ),
    "misses a name": (
        "def f(p: int):\n    if p % 3:\n        raise NameError(p)\n    return p * 2",
        "does not load: NameError",
        "def f(p: int):\n    if p % 3 == 0:\n        raise LookupError(p)\n    return p * 2",
    ),
    "no plain value": (
        "from fractions import Fraction\ndef f(p: int):\n    q = p + 1\n    return Fraction(q, 3)",
        "no plain value: 'a value of type Fraction is no plain data'",
        "from fractions import Fraction\ndef f(p: int):\n    q = p + 1\n    return str(Fraction(q, 3))",
    ),
    "endless": (
        "def f(p: int):\n    while p == p:\n        p += 1\n    return p",
        "its process ended: exit code 1",
        "def f(p: int):\n    for step in range(4):\n        p += step\n    return p",
    ),
    "hash seed": (
        "def f(p: list[str]):\n    q = set(p) | {'a', 'b', 'c'}\n    return list(q)",
        "not repeatable: another run, another value",
        "def f(p: list[str]):\n    q = set(p) | {'a', 'b', 'c'}\n    return sorted(q)",
    ),
    "time zone": (
        "from datetime import datetime\ndef f(p: int):\n    q = datetime.fromtimestamp(p * 997)\n    return str(q)",
        "not repeatable: the time zone",
        "from datetime import datetime, timezone\ndef f(p: int):\n    q = datetime.fromtimestamp(p, timezone.utc)\n"
        "    return str(q)",
    ),
    "few outputs": (
        "def f(p: int):\n    q = p > 30\n    return q",
        "few outputs: 2 distinct ones",
        "def f(p: int):\n    q = p // 30\n    return q",
    ),
    "few inputs": (
        "def f(p: bool):\n    q = p + 1\n    return q",
        "few inputs: 2 distinct ones were drawn",
        "def f(p: int):\n    q = p + 1\n    return q",
    ),
    "few answered": (
        "def f(a: bool, b: bool, c: bool):\n    q = [a, b, c]\n    return q.index(True) + a + b + c + [9][c and b]",
        "few inputs: 6 are answered",
        "def f(a: bool, b: bool, c: bool):\n    q = [a, b, c, True]\n    return q.index(True) + a + b + c",
    ),
    "raises": (
        "def f(p: int):\n    q = [1, 2]\n    return q[p + 30]",
        "raises: IndexError on 12 of 12 inputs",
        "def f(p: int):\n    q = [1, 2, 3]\n    return q[p % 3] + p",
    ),
    "few mutants": (
        "def f(p: int):\n    pass\n    return p",
        "few mutants: 1 of 2 are told apart",
        "def f(p: int):\n    pass\n    return p + 1",
    ),
}


@pytest.mark.parametrize(("refused", "reason", "twin"), REFUSED.values(), ids=REFUSED)
def test_every_reason_has_an_example_and_a_twin_that_is_accepted(sandbox, tmp_path, refused, reason, twin):
    row = trial(first(tmp_path, refused), sandbox)
    assert isinstance(row, Rejected)
    assert (row.path, row.function) == ("a.py", "f") and row.reason.startswith(reason)
    assert isinstance(trial(first(tmp_path, twin), sandbox), Harvested)


def test_a_function_that_takes_much_cpu_is_refused(sandbox, tmp_path, monkeypatch):
    """Wide limits, and a call that takes much of them: whatever the machine, it is neither killed nor let through."""
    monkeypatch.setattr(harvest_trial, "LIMITS", Limits(wall_s=60.0, cpu_s=30))
    monkeypatch.setattr(harvest_trial, "CPU_S", 0.3)
    text = "def f(p: int):\n    q = sum(range({}))\n    return p + q"
    row = trial(first(tmp_path, text.format("9_000_000")), sandbox)
    assert isinstance(row, Rejected) and row.reason == "too slow: more than 0.3 CPU seconds for 24 calls"
    assert isinstance(trial(first(tmp_path, text.format("300")), sandbox), Harvested)


def test_a_run_that_takes_too_long_is_stopped(sandbox, tmp_path, monkeypatch):
    found = first(tmp_path, "def f(p: int):\n    q = sum(range(90_000_000))\n    return p + q")
    monkeypatch.setattr(harvest_trial, "LIMITS", replace(harvest_trial.LIMITS, wall_s=0.5))
    assert trial(found, sandbox).reason == "too slow: not done after 0.5 s"


def test_an_input_that_holds_a_secret_is_refused(sandbox, tmp_path):
    found = first(tmp_path, "def f(p: str):\n    q = p.upper()\n    return q[::-1]")
    leaky = replace(found, reference=replace(found.reference, draw=lambda d: (f"/home/ada/{d.word()}",)))
    assert trial(leaky, sandbox).reason == "secret: home directory"
    clean = replace(found, reference=replace(found.reference, draw=lambda d: (f"/home/user/{d.word()}",)))
    assert isinstance(trial(clean, sandbox), Harvested)


RAISING = """
def f(p: int):
    if p % 2:
        raise ValueError(p)
    if p % 10 == 0:
        return p + ""
    return p * 3 + 1
"""


def test_inputs_that_raise_are_few_and_none_is_of_a_wrong_type(sandbox, tmp_path, monkeypatch, all_inputs):
    monkeypatch.setattr(harvest_trial, "POOL", all_inputs)
    found = first(tmp_path, RAISING)
    monkeypatch.setattr(harvest_trial, "RAISING", 0.8)
    made = trial(found, sandbox)
    kept = list({args: None for args in drawn(made)})
    assert {*kept} < {*pool_of(found)}
    outcomes = answers(made, kept, sandbox)
    raised = [outcome.type for outcome in outcomes if isinstance(outcome, Raised)]
    assert set(raised) == {"ValueError"} and 0 < len(raised) <= KEPT_RAISING * len(kept)
    before = [o.type for o in answers(found, pool_of(found), sandbox) if isinstance(o, Raised)]
    assert "TypeError" in before and len(before) > KEPT_RAISING * all_inputs  # what it would be without
    assert len(kept) >= FEWEST


def test_an_accepted_function_draws_from_what_it_was_seen_to_answer(sandbox, tmp_path):
    found = first(tmp_path, "def f(p: list[int]):\n    p.append(1)\n    q = sorted(p)\n    return q")
    made, again = trial(found, sandbox), trial(found, sandbox)
    assert drawn(made) == drawn(again)
    before = drawn(made, 5)
    for (value,) in drawn(made, 5):
        value.append("changed")
    assert drawn(made, 5) == before
    assert len(pool_of(found)) == FEW and {str(args) for args in drawn(made)} <= {str(args) for args in pool_of(found)}
    assert not any(isinstance(outcome, Raised) for outcome in answers(made, drawn(made, 20), sandbox))


# --- pipelines --------------------------------------------------------------------------------------------------


def pipeline(tmp_path, line):
    accepted, rejected = harvest_shell(source_tree(write(tmp_path, {"a.sh": line + "\n"})))
    assert accepted, rejected
    return accepted[0]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("sort -n a.txt | uniq -c", "mistyped_program dropped_flag"),
        ("cat a.txt | sort | uniq -c", "mistyped_program dropped_flag unsorted_uniq"),
        ("cut -d: -f2 a.txt | head -n 3", "mistyped_program wrong_field wrong_delimiter count_as_file other_end"),
        ("sed 's/cat/dog/g' a.txt", "mistyped_program first_match_only open_quote"),
        ("grep -iE 'a|b' a.txt >> b.txt", "mistyped_program dropped_flag open_quote overwriting"),
        ("awk -F, '{print $2}' a.csv", "mistyped_program wrong_field wrong_delimiter open_quote"),
    ],
)
def test_a_fault_that_shows_is_kept(sandbox, tmp_path, line, shown):
    assert showing(pipeline(tmp_path, line), sandbox) == shown.split()


def test_a_fault_that_does_not_show_is_dropped(sandbox, tmp_path):
    found = pipeline(tmp_path, "sort -u a.txt | uniq | wc -l")
    assert "unsorted_uniq" not in found.faults
    # -E makes no difference to a pattern without operators
    assert "dropped_flag" not in showing(pipeline(tmp_path, "grep -E abc a.txt"), sandbox)
    assert "dropped_flag" in pipeline(tmp_path, "grep -E abc a.txt").faults


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("sort -k 0 a.txt", "fails"),
        ("head -n 0 a.txt", "few outputs"),
        ("nl a.txt", "no fault shows"),
        ("grep -c x a.txt | wc -l", "few outputs"),
    ],
)
def test_a_pipeline_that_is_of_no_use_is_refused(sandbox, tmp_path, line, reason):
    with pytest.raises(UnfitError, match=reason):
        showing(pipeline(tmp_path, line), sandbox)


# --- whole trees ------------------------------------------------------------------------------------------------

FILES = {
    "words.py": "import os\nos.remove('victim')\n\n\ndef count(text):\n    n = len(text.split())\n    return n + 1\n",
    "sums.py": "def total(values: list[int]):\n    n = 0\n    for v in values:\n        n += v\n    return n\n",
    "flags.py": "def big(n: int):\n    m = n > 3\n    return m\n\n\nclass A:\n    def b(self): return 1\n",
    "broken.py": "def f(:\n",
    "run.sh": "#!/bin/sh\nset -e\ncut -d, -f2 a.csv | sort -n\nsort -k 0 a.txt\n",
    "notes.md": "",
    "victim": "",
}


class Counting:
    """A sandbox that counts what is opened, and fails from `last` on."""

    def __init__(self, inner, last=10**9):
        self.inner, self.last, self.opened = inner, last, 0

    def open(self, files, limits):
        self.opened += 1
        if self.opened > self.last:
            raise SandboxError("no room on this host")
        return self.inner.open(files, limits)


def content(report):
    return (
        [(one.source_id, one.origin, drawn(one, 20)) for one in report.functions],
        [(one.source_id, one.faults) for one in report.pipelines],
        report.rejected,
        report.rejected_lines,
        report.skipped,
    )


def snapshot(root):
    return {p: (p.stat().st_mtime_ns, p.read_bytes() if p.is_file() else b"") for p in sorted(root.rglob("*"))}


def test_a_tree_is_harvested_and_left_as_it_is(sandbox, tmp_path, monkeypatch):
    root = write(tmp_path / "root", FILES)
    monkeypatch.chdir(root)
    before, steps = snapshot(root), []
    report = harvest(root, sandbox, tmp_path / "out", 2, lambda done, of: steps.append((done, of)))
    assert snapshot(root) == before
    assert [one.source_id for one in report.functions] == ["sums.py::total", "words.py::count"]
    assert [one.source_id for one in report.pipelines] == ["run.sh::3"]
    assert [(row.path, row.function, row.kind) for row in report.rejected] == [
        ("broken.py", "", "syntax error"),
        ("flags.py", "A.b", "method"),
        ("flags.py", "big", "few outputs"),
    ]
    assert [(row.function, row.kind) for row in report.rejected_lines] == [
        ("line 2", "shell builtin"),
        ("line 4", "fails"),
    ]
    assert (report.files, report.seen, report.kinds) == (
        5,
        4,
        Counter({"method": 1, "few outputs": 1, "syntax error": 1}),
    )
    assert steps == [(done, 5) for done in range(6)]
    assert table(report) == (
        [
            "5 scripts read, 2 files and folders skipped",
            "      2  no script",
            "4 functions: 2 accepted, 2 rejected",
            "      1  few outputs",
            "      1  method",
            "      1  syntax error",
            "1 pipelines accepted, 2 shell commands rejected",
            "      1  fails",
            "      1  shell builtin",
        ],
        [
            "broken.py       syntax error: line 1",
            "flags.py::A.b   method: A.b",
            "flags.py::big   few outputs: 2 distinct ones",
            "run.sh::line 2  shell builtin: set",
            "run.sh::line 4  fails: exit code 2",
        ],
    )


@pytest.fixture(scope="module")
def whole(sandbox, tmp_path_factory):
    """A finished harvest of FILES: the root, the output folder, the report, and how often the sandbox was opened."""
    folder = tmp_path_factory.mktemp("whole")
    root = write(folder / "root", FILES)
    report = harvest(root, counting := Counting(sandbox), folder / "out", workers=1)
    return root, folder / "out", report, counting.opened


def test_a_second_run_tries_nothing_again_and_says_the_same(sandbox, whole):
    root, out, report, opened = whole
    assert content(harvest(root, idle := Counting(sandbox), out)) == content(report)
    assert idle.opened == 0 and opened > 10


def test_what_has_changed_is_tried_again(sandbox, whole, tmp_path):
    _, out, _, opened = whole
    root = write(tmp_path, FILES | {"sums.py": FILES["sums.py"].replace("n = 0", "n = 1")})
    harvest(root, some := Counting(sandbox), out)
    assert 0 < some.opened < opened / 2


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SandboxError])
def test_a_run_that_was_stopped_goes_on_where_it_was(sandbox, whole, tmp_path, stop):
    root, _, report, opened = whole

    def interrupt(done, of):
        if stop is KeyboardInterrupt and done == 2:
            raise KeyboardInterrupt

    with pytest.raises(stop):
        harvest(root, Counting(sandbox, 10 if stop is SandboxError else 10**9), tmp_path / "out", 1, interrupt)
    rest = Counting(sandbox)
    assert content(harvest(root, rest, tmp_path / "out", 2)) == content(report)
    assert 0 < rest.opened < opened


# --- the standard library and this repository -------------------------------------------------------------------

MODULES = """
_markupbase _strptime abc ast base64 bisect calendar cgi codeop colorsys configparser copy csv datetime difflib dis
email/quoprimime email/utils enum filecmp fnmatch fractions functools genericpath gettext getopt glob hashlib heapq
html/__init__ inspect ipaddress json/decoder json/encoder json/scanner keyword linecache locale mimetypes netrc ntpath
numbers opcode operator posixpath pprint quopri random reprlib shlex stat statistics string textwrap token tokenize
types urllib/parse
""".split()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_standard_library_and_this_repository_give_many_functions(
    sandbox, tmp_path, request, monkeypatch, all_inputs
):
    monkeypatch.setattr(harvest_trial, "POOL", all_inputs)
    library = Path(sysconfig.get_paths()["stdlib"])
    found = [name for name in MODULES if (library / f"{name}.py").is_file()]
    assert len(found) >= 40
    root = write(tmp_path / "root", {f"{name}.py": (library / f"{name}.py").read_text() for name in found})
    (root / "rlsh").mkdir()
    for file in (request.config.rootpath / "src/rlsh").rglob("*.py"):
        write(root / "rlsh", {file.relative_to(request.config.rootpath / "src/rlsh").as_posix(): file.read_text()})
    report = harvest(root, sandbox, tmp_path / "out")
    print("\n".join(table(report)[0]))
    assert len(report.functions) >= 60
    assert not any(secret_in(made.reference.source) for made in report.functions)
