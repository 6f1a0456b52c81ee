"""Harbor's task directories: written, read back and really run, in plain folders instead of containers."""

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from rlsh.env import harbor_verifier, script_check
from rlsh.env.harbor import ANSWER, asks_for_answer, export_harbor, harbor_tree, import_harbor, read_harbor
from rlsh.sandbox.worker import launch, tree
from rlsh.tasks import checks
from rlsh.tasks.checks import Case, PythonCheck, ScriptCheck, ShellCheck, WorkspaceCheck
from rlsh.tasks.importers.problem import edit
from rlsh.types import Entry, RlshError, exec_call

needs_patch = pytest.mark.skipif(shutil.which("patch") is None, reason="solve.sh applies edits by patch")
SYSTEM = pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="tests/test.sh runs the system's python3")
pytestmark = [needs_patch, SYSTEM]

WRONG = "def mean(values):\n    return sum(values) / 2\n"
RIGHT = WRONG.replace("2", "len(values)")
REPAIR = edit("mean.py", WRONG, RIGHT)
BROKEN = "python3 -c 'from mean import mean; print(mean([1, 2, 3]))'"
CASES = (Case(([1, 2, 3],)), Case(([0.1, 0.2, 0.3],)), Case(([],)), Case((), {"values": (5,)}))
CHECKS = {
    "value": PythonCheck("mean.py", "mean", CASES),
    "close": PythonCheck("mean.py", "mean", CASES, tolerance=1e-6),
    "arguments": PythonCheck("mean.py", "mean", CASES, returns="arguments"),
    "test script": ScriptCheck("mean.py", "mean", "assert mean([4, 4]) == 4\nassert mean([mean([1]), 5, 6]) == 4\n"),
}


@pytest.fixture(scope="session")
def tasks(sandbox, family_tasks, recorded_task):
    """One of every kind: all families of commands, a script, a workspace, functions, and several checks at once."""
    found = [recorded_task({"mean.py": WRONG}, (check,), REPAIR, broken=BROKEN) for check in CHECKS.values()]
    repair = edit("top.sh", "head -1 a.txt\n", "sort a.txt | head -1\n")
    script = ShellCheck({"a.txt": Entry(b"9\n3\n")}, script="top.sh", run="bash top.sh")
    files = {"top.sh": "head -1 a.txt\n", "a.txt": "8\n2\n"}
    found.append(recorded_task(files, (script,), repair, broken="bash top.sh"))
    steps = [
        exec_call("mkdir -p out/empty; ln -s ../a.txt out/link"),
        exec_call("mv b 'out/it'\\''s'; chmod 600 a.txt"),
    ]
    found.append(recorded_task({"a.txt": "1\n", "b": "2"}, (WorkspaceCheck(),), *steps))
    calls = [exec_call("sort a.txt >s"), exec_call("sort -n a.txt")]
    both = (WorkspaceCheck(), ShellCheck({"a.txt": Entry(b"10\n9\n")}))
    found.append(recorded_task({"a.txt": "10\n9\n"}, both, *calls, broken="sort a.txt"))
    return [*family_tasks.values(), *found]


@pytest.fixture(scope="session")
def exported(tasks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("harbor")
    export_harbor(tasks, folder)
    return folder


def reward(directory, tmp_path, work):
    """What test.sh writes, when `work` has been done in a copy of the workspace."""
    workdir, logs = tmp_path / "work", tmp_path / "logs"
    shutil.copytree(directory / "environment/workspace", workdir, symlinks=True)
    work(workdir)
    subprocess.run(["bash", directory / "tests/test.sh", workdir, logs], check=True, cwd=workdir, capture_output=True)
    written = (logs / "reward.txt").read_text()
    shutil.rmtree(workdir)
    shutil.rmtree(logs)
    return written


def solve(directory):
    return lambda workdir: subprocess.run(
        [directory / "solution/solve.sh", workdir], check=True, cwd=workdir, capture_output=True
    )


def answer(task, command):
    """`command` handed in where that is asked for, otherwise run."""

    def work(workdir):
        if asks_for_answer(task):
            (workdir / ANSWER).write_text(command)
        else:
            subprocess.run(["bash", "-c", command], cwd=workdir, capture_output=True)

    return work


def test_the_reference_is_paid_and_what_is_broken_is_not(tasks, exported, tmp_path):
    for task in tasks:
        directory = exported / task.id
        assert reward(directory, tmp_path, solve(directory)) == "1\n", task.id
        assert reward(directory, tmp_path, answer(task, task.broken)) == "0\n", task.id
        assert reward(directory, tmp_path, lambda workdir: None) == "0\n", task.id


def test_what_comes_back_is_the_same(tasks, exported):
    back, rejected = import_harbor(exported)
    assert rejected == {}
    assert sorted(back, key=lambda task: task.id) == sorted(tasks, key=lambda task: task.id)


def test_what_the_verifier_repeats_of_rlsh_is_still_so():
    known = {**launch.ENVIRONMENT}
    assert known.items() >= harbor_verifier.ENVIRONMENT.items() and known.keys() - harbor_verifier.ENVIRONMENT == {
        "HOME",  # a folder of its own, which it sets
        "USER",  # nobody
    }
    assert harbor_verifier.FIXTURE_S * 10**9 == tree.FIXTURE_NS
    assert (harbor_verifier.LINE_BYTES, harbor_verifier.MAX_CASES) == (checks.LINE_BYTES, checks.MAX_CASES)
    assert (harbor_verifier.MAX_NEW_CALLS, harbor_verifier.ASKED) == (script_check.MAX_NEW_CALLS, script_check.ASKED)


def test_the_layout_is_harbors(tasks, exported):
    task = next(task for task in tasks if task.family == "sed_global" or asks_for_answer(task))
    directory = exported / task.id
    table = tomllib.loads((directory / "task.toml").read_text())
    assert table["schema_version"] == "1.1" and table["task"]["name"] == f"rlsh/{task.id}"
    assert table["verifier"]["timeout_sec"] > 0 and table["metadata"]["licence"] == task.licence
    assert (directory / "instruction.md").read_text().startswith(task.prompt)
    assert f"Write the command to {ANSWER} in /work." in (directory / "instruction.md").read_text()
    dockerfile = (directory / "environment/Dockerfile").read_text()
    assert "WORKDIR /work\nCOPY workspace/ /work/\n" in dockerfile
    for script in ("tests/test.sh", "solution/solve.sh"):
        assert os.access(directory / script, os.X_OK)


def test_what_is_expected_lies_in_tests_alone(tasks):
    """Of what an agent sees, nothing holds the record, the reference or hidden fixtures."""
    for task in tasks:
        tree = harbor_tree(task)
        seen = b"\n".join(e.content for path, e in tree.items() if not path.startswith(("tests/", "solution/")))
        assert b'"checks"' in tree["tests/rlsh.json"].content and b'"checks"' not in seen
        for call in task.reference:
            assert call.arguments.get("edit_content", "\0").encode() not in seen
        visible = {entry.content for entry in task.files.values()}
        for check in task.checks:
            for entry in check.files.values() if isinstance(check, ShellCheck) else ():
                assert entry.content in visible or len(entry.content) < 8 or entry.content not in seen


FORGE = """\
import os
for fd in range(1, 9):
    try:
        os.write(fd, b'{"value": 2.0}\\n' * 4)
    except OSError:
        pass
"""
READING = """\
def mean(values):
    try:
        open(RECORD).read()
    except OSError:
        return sum(values) / len(values)
    return "it can be read"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give its rights away, as in a container")
def test_the_function_cannot_read_what_is_expected(tasks, exported, tmp_path):
    task = next(task for task in tasks if task.checks[0].unrecorded() == CHECKS["value"])
    source = READING.replace("RECORD", repr(str(exported / task.id / "tests/rlsh.json")))
    assert reward(exported / task.id, tmp_path, lambda workdir: (workdir / "mean.py").write_text(source)) == "1\n"
    found = {}
    exec(source, found)  # as root, which is how test.sh runs
    assert found["mean"]([1]) == "it can be read"


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos._exit(0)\n",
        "import sys\ndef mean(values):\n    sys.exit(0)\n",
        "class Always:\n    def __eq__(self, other): return True\ndef mean(values):\n    return Always()\n",
        FORGE,
        "def mean(values):\n    while True: pass\n",
        "not Python",
        None,
    ],
)
def test_an_attack_is_not_paid(tasks, exported, tmp_path, source):
    for summary in ("value",) if "while" in str(source) else ("value", "weaker"):
        task = next(task for task in tasks if task.checks[0].summary.startswith(summary))

        def work(workdir):
            if source is None:
                (workdir / "mean.py").unlink()
            else:
                (workdir / "mean.py").write_text(source)

        assert reward(exported / task.id, tmp_path, work) == "0\n"


def test_without_a_python_that_runs_there_is_no_reward_at_all(tasks, exported, tmp_path):
    """A fault of the container's is not the answer's."""
    directory = tmp_path / "task"
    shutil.copytree(exported / tasks[-1].id, directory, symlinks=True)
    (directory / "tests/rlsh.json").write_text("{}")
    run = subprocess.run(["bash", directory / "tests/test.sh", tmp_path, tmp_path / "logs"], capture_output=True)
    assert run.returncode != 0 and not (tmp_path / "logs/reward.txt").exists()


def copy(exported, task, tmp_path):
    directory = tmp_path / task.id
    shutil.copytree(exported / task.id, directory, symlinks=True)
    return directory


@pytest.mark.parametrize(
    ("path", "change", "reason"),
    [
        ("instruction.md", lambda text: text + "And more.\n", "not as its record says: tree differs at instruction.md"),
        ("environment/Dockerfile", lambda text: text + "RUN true\n", "tree differs at environment/Dockerfile"),
        ("tests/test.sh", lambda text: "echo 1 >/logs/verifier/reward.txt\n", "tree differs at tests/test.sh"),
        ("tests/new.sh", lambda text: "exit 0\n", "tree differs at tests/new.sh"),
        (
            "tests/rlsh.json",
            lambda text: text.replace('"seed": ', '"seed": 1'),
            "tests/rlsh.json: id .* does not match",
        ),
        ("tests/rlsh.json", lambda text: "{", "tests/rlsh.json: "),
        ("tests/rlsh.json", None, "no tests/rlsh.json: a test.sh from elsewhere runs what was answered beside itself"),
    ],
)
def test_a_directory_that_somebody_changed_or_wrote_is_turned_down(tasks, exported, tmp_path, path, change, reason):
    directory = copy(exported, tasks[-1], tmp_path)
    file = directory / path
    if change is None:
        file.unlink()
    else:
        file.write_text(change(file.read_text() if file.exists() else ""))
    with pytest.raises(RlshError, match=reason):
        read_harbor(directory)
    back, rejected = import_harbor(tmp_path)
    assert back == [] and list(rejected.values()) == [[directory.name]]


def test_modes_and_empty_folders_may_be_lost_on_the_way(tasks, exported, tmp_path):
    """git keeps neither; the record has both."""
    directory = copy(exported, tasks[-2], tmp_path)
    for path in directory.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o644)
    assert read_harbor(directory) == tasks[-2]


def test_a_folder_without_tasks_and_one_that_is_taken_are_errors(tasks, exported, tmp_path):
    with pytest.raises(RlshError, match="no task directory"):
        import_harbor(tmp_path)
    with pytest.raises(RlshError, match=r"cannot export .*choose another --out"):
        export_harbor(tasks[:1], exported)


def test_a_task_whose_files_are_in_the_way_of_the_answer_is_refused(make_task):
    task = make_task("sort a.txt", {"a.txt": "2\n1\n", ANSWER: ""}, {"a.txt": "4\n3\n", ANSWER: ""})
    with pytest.raises(RlshError, match=r"its files hold answer\.sh"):
        harbor_tree(task)


def test_odd_names_and_modes_are_kept(recorded_task, tmp_path):
    name = b"caf\xe9 'x'\n".decode(errors="surrogateescape")
    task = recorded_task({name: "1\n", "d/f": ""}, (WorkspaceCheck(),), exec_call("chmod 700 d/f; rm caf*"))
    export_harbor([task], tmp_path / "out")
    assert import_harbor(tmp_path / "out") == ([task], {})
    directory = tmp_path / "out" / task.id
    assert reward(directory, tmp_path, solve(directory)) == "1\n"
    assert json.loads((directory / "tests/rlsh.json").read_text())["id"] == task.id
