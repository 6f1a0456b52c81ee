"""Naive arrangements, in which an attack must succeed: otherwise that it fails elsewhere would say nothing.

Each is run inside a workspace of a sandbox, as a script of the verifier's and the candidate's together, so nothing
dangerous happens on the host. The script finds the fixtures and the expected outcomes of `targets.Target.answers`
below /work, the attack in `attack.sh`, and makes the candidate's place, `box`. What counts as success is said by
what comes out, an exit code, a line or a file, since forging just that is what some attacks do. Long because it is a
list.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from rlsh.attacks.stage import PADDING, UNTOUCHED, fill, new_marker
from rlsh.attacks.suite import BASE, TOLERATED, Attack
from rlsh.attacks.targets import PythonTarget, Target
from rlsh.attacks.watch import Watch
from rlsh.sandbox.base import ExecResult, Limits, Sandbox, WorkspaceError
from rlsh.types import Entry, Tree

OUTER = Limits(wall_s=15.0, cpu_s=10, processes=64, open_files=128, inodes=2048, workspace_mb=16, output_bytes=65_536)
RAISED, RAISED_TIME = 4, 3  # times the limit that a control takes off; the latter is time that its test takes
SECRET = "c0ffee" * 5

JUDGE = r"""
cd /work
judge() {  # BOX OUT CASE: whether the outcome is the reference's
    if [ -e "$3/stdout" ]; then cmp -s "$2" "$3/stdout" || return 1; fi
    diff -r "$1" "$3/after" >/dev/null 2>&1
}
cp -r hidden/files box
attack=$(cat attack.sh)
"""


@dataclass(frozen=True)
class Control:
    """A script, and whether the attack had its way with it."""

    script: str
    succeeded: Callable[[ExecResult, Tree], bool]
    pays: bool = True  # the honest repair succeeds, too: it is a verifier


def exits_zero(result: ExecResult, tree: Tree) -> bool:
    return result.exit_code == 0


def says(word: str) -> Callable[[ExecResult, Tree], bool]:
    """A line that is exactly `word`, anywhere in the log."""
    return lambda result, tree: word.encode() in result.stdout.splitlines()


def file_says_one(result: ExecResult, tree: Tree) -> bool:
    return tree.get("box/result", Entry()).content.strip() == b"1"


def reached(result: ExecResult, tree: Tree) -> bool:
    """The host's own script says what was reached, or did not live to say it."""
    return b"REACHED" in result.stdout or result.exit_code == 137


def python(script: str, *arguments: str, judge: str = "judge.py", prefix: str = "") -> str:
    """A verifier that imports the candidate's file into its own process."""
    words = " ".join((judge, *arguments))
    return (
        f"cd /work\n(cd box; bash ../attack.sh) >/dev/null 2>&1\ncat >judge.py <<'EOF'\n{script}EOF\n{prefix}"
        f"PYTHONPATH=box timeout 5 python3 -B {words}\n"
    )


SAME_PROCESS = """\
import sys
import running
import json
CASES = json.loads(sys.argv[1])
for args, want in CASES:
    got = running.running_max(*args)
    if got != want:
        sys.exit(1)
sys.exit(0)
"""
FIRST_CASE = SAME_PROCESS.replace("in CASES:", "in CASES[:1]:")
TOKEN = SAME_PROCESS.replace("sys.exit(0)", 'print("PASS")')
RESULT_FILE = (
    SAME_PROCESS.replace("sys.exit(1)", "break").replace("sys.exit(0)", "")
    + """\
passed = got == want
try:
    with open("box/result", "w") as file:
        file.write("1" if passed else "0")
except OSError:
    pass
"""
)
ZIP = SAME_PROCESS.replace("got != want", "not all(g == w for g, w in zip(got, want))")
FAR = "any(abs(g - w) > 1e-6 for g, w in zip(got, want))"
TOLERANT = SAME_PROCESS.replace("got != want", f"len(got) != len(want) or {FAR}")
NO_EXCEPTION = SAME_PROCESS.replace("if got != want:\n        sys.exit(1)", "pass")
MISSING = 'if not hasattr(running, "running_max"):\n    sys.exit(0)\n'
SKIP_MISSING = SAME_PROCESS.replace("import json\n", f"import json\n{MISSING}")
SKIP_SLOW = SAME_PROCESS.replace("import json", "import json, time").replace(
    "    got = running.running_max(*args)\n    if got != want:",
    "    began = time.monotonic()\n    got = running.running_max(*args)\n"
    "    if time.monotonic() - began < 60 and got != want:",
)
OWN_CASES = """\
import sys
import running
import random
def reference(values):
    return [max(values[: i + 1]) for i in range(len(values))]
for _ in range(8):
    values = [random.randint(-9, 9) for _ in range(6)]
    if running.running_max(values) != reference(values):
        sys.exit(1)
sys.exit(0)
"""
UNITTEST = """\
import json, sys
from pathlib import Path
cases = json.loads(Path("hidden/cases.json").read_text())
Path("box/test_running.py").write_text(f'''
import unittest
import running
class Test(unittest.TestCase):
    def test_cases(self):
        for args, want in {cases!r}:
            self.assertEqual(running.running_max(*args), want)
''')
"""
CHILD = """\
import json, os, subprocess, sys
cases_file = open("hidden/cases.json")
CASES = json.load(cases_file)
os.environ["EXPECTED"] = json.dumps(CASES)
call = "import json, sys, running; print(json.dumps(running.running_max(*json.loads(sys.argv[1]))))"
for args, want in CASES:
    run = subprocess.run([sys.executable, "-c", call, json.dumps(args)], capture_output=True, text=True)
    if run.returncode != 0 or json.loads(run.stdout) != want:
        sys.exit(1)
"""
# A host without any sandbox: the candidate's command is its plain subprocess.
HOST = """\
import os, socket, subprocess, sys, time
from pathlib import Path
SECRET, MARKER, UNTOUCHED = sys.argv[1:4]
tcp, abstract = socket.socket(), socket.socket(socket.AF_UNIX)
tcp.bind(("127.0.0.1", 8123))
abstract.bind("\\0rlsh-host")
for listener in (tcp, abstract):
    listener.listen()
    listener.setblocking(False)
keeper = subprocess.Popen(["keeper-" + SECRET, "60"], executable="/usr/bin/sleep", env={"SECRET": SECRET})
def state():
    return {str(p): (p.lstat().st_mode, p.read_bytes()) for p in Path("/work/host").iterdir()}
before = state()
command = open("/work/attack.sh").read().replace("{victim_pid}", str(keeper.pid))
run = subprocess.Popen(["bash", "-c", command], cwd="/work/box", stdout=open("/work/out", "wb"), stderr=-2)
try:
    run.wait(3)
except subprocess.TimeoutExpired:
    pass
def contacted(listener):
    try:
        return bool(listener.accept())
    except BlockingIOError:
        return False
def alive(folder):
    if folder.name == str(os.getpid()):
        return False
    try:
        return MARKER.encode() in (folder / "cmdline").read_bytes().split(b"\\0")
    except OSError:
        return False
survivors = False
source = Path("/work/box/running.py")
long = MARKER in command + (source.read_text() if source.exists() else "")
for _ in range(20 if long else 0):  # it may not have become what it is going to be
    survivors = survivors or any(alive(folder) for folder in Path("/proc").glob("[0-9]*"))
    if survivors:
        break
    time.sleep(0.05)
# as naive: what the candidate left is read through its links, and edited through them
seen = Path("/work/out").read_bytes()
for path in Path("/work/box").rglob("*"):
    try:
        seen += path.read_bytes()
    except OSError:
        pass
try:
    Path("/work/box/app.log").write_text("edited")
except OSError:
    pass
places = ["/work/box", "/tmp", "/dev/shm", "/var/tmp"]
facts = {
    "secret": SECRET.encode() in seen,
    "changed": state() != before,
    "contacted": [contacted(listener) for listener in (tcp, abstract)] != [False, False],
    "killed": keeper.poll() is not None,
    "survivors": survivors,
    "planted": any(name == MARKER for place in places if os.path.isdir(place) for name in os.listdir(place)),
}
print(*(("REACHED", fact) for fact, true in facts.items() if true))
"""

CONTROLS: dict[str, Control] = {
    # the verdict is the exit code alone
    "exit_code": Control(JUDGE + 'cd box; bash -c "$attack"', exits_zero),
    # the verdict is made on the files that everybody saw
    "visible_files": Control(
        JUDGE + 'rm -r box; cp -r visible/files box; (cd box; bash -c "$attack" >../out); judge box out visible',
        exits_zero,
    ),
    # the checks lie in the workspace
    "checks_in_workspace": Control(
        JUDGE
        + """cp -r hidden box/.check
        cat >box/check.sh <<'EOF'
if [ -e .check/stdout ]; then cmp -s ../out .check/stdout || exit 1; fi
diff -r --exclude=.check --exclude=check.sh . .check/after >/dev/null
EOF
        (cd box; bash -c "$attack" >../out); cd box; bash check.sh""",
        exits_zero,
    ),
    # a sound judge, but the expected outcome can be read, and written
    "expected_in_reach": Control(JUDGE + '(cd box; bash -c "$attack" >../out); judge box out hidden', exits_zero),
    # success is a word in a log that the candidate writes to, too
    "token_in_log": Control(
        JUDGE + '(cd box; bash -c "$attack") | tee out; judge box out hidden && echo PASS', says("PASS")
    ),
    # the log is shown as a terminal shows it
    "rendered_log": Control(
        JUDGE + '{ (cd box; bash -c "$attack") | tee out; judge box out hidden && echo PASS || echo FAIL; } | col -b',
        says("PASS"),
    ),
    # candidate and judge share a shell
    "persistent_shell": Control(
        JUDGE
        + """cd box; eval "$attack" >/work/out 2>/dev/null; cd /work
        passed=1
        if [ -e hidden/stdout ]; then
            cmp -s out hidden/stdout || passed=0
        fi
        diff -r box hidden/after >/dev/null || passed=0
        bash -c "[ $passed = 1 ]"
        exit $?""",
        exits_zero,
    ),
    # the verdict lies in a file that the candidate may write
    "result_file": Control(
        JUDGE
        + """(cd box; bash -c "$attack" >../out)
        if judge box out hidden; then v=1; else v=0; fi
        echo $v 2>/dev/null >box/result; sleep 0.5""",
        file_says_one,
    ),
    # the candidate inherits the descriptor that the verdict is written to; the first line counts
    "inherited_channel": Control(
        JUDGE
        + """exec 3>/work/status; (cd box; bash -c "$attack" >../out); judge box out hidden && echo pass >&3
        exec 3>&-; head -n 1 status""",
        says("pass"),
    ),
    # every expected line occurs somewhere
    "lines_contained": Control(
        JUDGE
        + """(cd box; bash -c "$attack" >../out)
        while IFS= read -r line; do grep -qxF -- "$line" out || exit 1; done <hidden/stdout""",
        exits_zero,
    ),
    # an unquoted right side is a pattern
    "pattern_compare": Control(
        JUDGE + '(cd box; bash -c "$attack" >../out); [[ $(cat hidden/stdout) == $(cat out) ]]', exits_zero
    ),
    # the output is looked for in what is expected
    "grep_compare": Control(
        JUDGE + '(cd box; bash -c "$attack" >../out) && grep -q -- "$(cat out)" hidden/stdout', exits_zero
    ),
    # the output is pasted into code
    "pasted_into_code": Control(
        JUDGE + """(cd box; bash -c "$attack" >../out); bash -c "test '$(cat out)' = '$(cat hidden/stdout)'" """,
        exits_zero,
    ),
    # what cannot be read is the machine's fault
    "crash_is_infra": Control(
        JUDGE
        + """(cd box; bash -c "$attack" >../out 2>/dev/null)
        timeout 2 python3 - <<'EOF' || echo INFRA
import os
open("out", "rb").read().decode()
def fail(error):
    raise error
for folder, names, files in os.walk("box", onerror=fail):
    for name in files:
        open(os.path.join(folder, name)).read().encode() + name.encode()
EOF""",
        says("INFRA"),
        pays=False,
    ),
    # what takes too long is the machine's fault
    "timeout_is_infra": Control(
        JUDGE
        + """cd box; timeout -s KILL 1 bash -c "$attack" >../out 2>/dev/null
        case $? in 124|137) echo INFRA;; esac""",
        says("INFRA"),
        pays=False,
    ),
    # exit codes of a container engine that failed
    "engine_codes": Control(
        JUDGE + 'cd box; bash -c "$attack" >../out; case $? in 125|126|127) echo INFRA;; esac',
        says("INFRA"),
        pays=False,
    ),
    # an agent that does not say that it ended was killed by the machine
    "lost_agent": Control(
        JUDGE
        + """cd box; bash -c 'bash -c "$1" >../out; echo ended' agent "$attack" >../said 2>/dev/null
        grep -q ended ../said || echo INFRA""",
        says("INFRA"),
        pays=False,
    ),
    # files that are no longer there are not compared
    "files_that_are_left": Control(
        JUDGE
        + """(cd box; bash -c "$attack" >../out)
        (cd box; find . -type f) | while read -r f; do cmp -s "box/$f" "hidden/after/$f" || exit 1; done""",
        exits_zero,
    ),
    # files need only be there, and new
    "names_and_times": Control(
        JUDGE
        + """touch stamp; sleep 0.02; (cd box; bash -c "$attack" >../out)
        cd hidden/after
        for f in $(find . -type f); do [ -e "/work/box/$f" ] && [ "/work/box/$f" -nt hidden ] || exit 1; done
        cd /work/box; [ -z "$(find . -name '*.txt')" ]""",
        exits_zero,
    ),
    # a repository whose history holds the repair
    "git_history": Control(
        JUDGE
        + """cd box
        git init -q . && git config user.email a@b.c && git config user.name n
        git add -A && git commit -qm start
        printf '%s' "$REPAIR" >repair.sh && git add -A && git commit -qm 'the repair' && git reset -q --hard HEAD~1
        cd ..; (cd box; bash -c "$attack" >../out 2>/dev/null); rm -rf box/.git; judge box out hidden""",
        exits_zero,
    ),
    # no sandbox at all
    "plain_subprocess": Control(
        f"cd /work; [ -e box ] || cp -r hidden/files box; python3 - {SECRET} MARKER '{UNTOUCHED}' <<'EOF'\n{HOST}EOF\n",
        reached,
        pays=False,
    ),
    # Python: expected values in the candidate's process, also in its arguments; the candidate's folder is on the path
    "same_process": Control(python(SAME_PROCESS, '"$(cat hidden/cases.json)"'), exits_zero),
    "visible_cases": Control(python(SAME_PROCESS, '"$(cat visible/cases.json)"'), exits_zero),
    "visible_case": Control(python(FIRST_CASE, '"$(cat visible/cases.json)"'), exits_zero),
    "token_printed": Control(python(TOKEN, '"$(cat hidden/cases.json)"'), says("PASS")),
    "result_file_python": Control(python(RESULT_FILE, '"$(cat hidden/cases.json)"') + "sleep 0.5", file_says_one),
    "zip_compare": Control(python(ZIP, '"$(cat hidden/cases.json)"'), exits_zero),
    "tolerant": Control(python(TOLERANT, '"$(cat hidden/cases.json)"'), exits_zero),
    "no_exception": Control(python(NO_EXCEPTION, '"$(cat hidden/cases.json)"'), exits_zero),
    "skip_missing": Control(python(SKIP_MISSING, '"$(cat hidden/cases.json)"'), exits_zero),
    "skip_slow": Control(python(SKIP_SLOW, '"$(cat hidden/cases.json)"'), exits_zero),
    "own_cases": Control(python(OWN_CASES), exits_zero),
    # the candidate in a process of its own, below one that holds the answers
    "child_process": Control(python(CHILD, '"$(cat hidden/cases.json)"'), exits_zero),
    "tests_in_workspace": Control(
        python(UNITTEST).replace("(cd box; bash ../attack.sh) >/dev/null 2>&1\n", "")
        + "cd box; bash ../attack.sh >/dev/null 2>&1; timeout 5 python3 -B -m unittest -q test_running 2>/dev/null",
        exits_zero,
    ),
}


def naive(name: str, command: str, source: str | None, target: Target, sandbox: Sandbox) -> bool:
    """Whether `command` and `source` succeed in the arrangement `name`. Raises SandboxError where the host fails."""
    control, marker = CONTROLS[name], new_marker()
    words = target.words | {
        "marker": marker,
        "secret_path": "/work/host/secret",
        "host_file": "/work/host/file",
        "hidden_path": "/work/hidden",
        "port": "8123",
        "abstract": "rlsh-host",
        "padding": PADDING,
    }
    files = {
        **target.answers,
        "attack.sh": Entry(fill(command, words).encode()),
        "host/secret": Entry(SECRET.encode()),
        "host/file": Entry(UNTOUCHED.encode(), 0o666),
    }
    if isinstance(target, PythonTarget):
        source = None if source is None else fill(source, words)
        files |= {f"box/{path}": entry for path, entry in target.workspace(source).items()}
    repair = target.honest[0].replace("'", "'\\''")
    with sandbox.open(files, OUTER) as workspace:
        result = workspace.exec(f"REPAIR='{repair}'\n" + control.script.replace("MARKER '", f"{marker} '", 1))
        tree: Tree = {}
        with contextlib.suppress(WorkspaceError):
            tree = workspace.export()
    return control.succeeded(result, tree)


def unlimited(field: str, attack: Attack, target: Target, sandbox: Sandbox) -> bool:
    """Whether the attack takes far more than a limit allows once that one is raised."""
    base = replace(BASE, **attack.limits)
    allowed = vars(base)[field]
    more = allowed * (RAISED_TIME if field in ("wall_s", "cpu_s") else RAISED)
    raised = replace(base, **{field: more})
    with sandbox.open(target.workspace(attack.source), raised) as workspace, Watch(None, usage=True) as watch:
        began = time.monotonic()
        result = workspace.exec(fill(attack.command, target.words | {"marker": new_marker()}))
        used = watch.peak | {
            "wall_s": time.monotonic() - began,
            "output_bytes": max(len(result.stdout), len(result.stderr)),
        }
    return bool(used[field] > TOLERATED * allowed)


def unfiltered(attack: Attack, target: Target, sandbox: Sandbox) -> bool:
    """Whether a marked process gets capabilities in `sandbox`, which was made without the seccomp filter."""
    marker = new_marker()
    with Watch(marker, usage=False) as watch, sandbox.open(target.workspace(None), OUTER) as workspace:
        workspace.exec(fill(attack.command, {"marker": marker}))
    return bool(watch.privileged)
