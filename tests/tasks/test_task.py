"""A task, its file, and every way that file can be wrong."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlsh.tasks.checks import Case, PythonCheck, Raised, ShellCheck, WorkspaceCheck
from rlsh.tasks.task import Task, from_json, read_tasks, to_json, with_id, write_tasks
from rlsh.types import Entry, RlshError, ToolCall

TASK = with_id(
    Task(
        id="",
        family="numeric_sort",
        set="reward_only",
        split="train",
        seed=7,
        instruction="Sort a.txt by number.",
        broken="sort a.txt",
        error="10\n9",
        files={"a.txt": Entry(b"10\n9\n")},
        checks=(
            ShellCheck({"a.txt": Entry(b"3\n20\n")}, stdout=b"3\n20\n", tree={"a.txt": Entry(b"3\n20\n")}),
            WorkspaceCheck({"a.txt": Entry(b"10\n9\n")}),
            PythonCheck("f.py", "f", (Case((1,), {"x": (2,)}, {3}), Case((0,), {}, Raised("ValueError")))),
        ),
        reference=(ToolCall("exec", {"command": "sort -n a.txt"}),),
    )
)

TEXT = st.text(max_size=8) | st.sampled_from(["a\u2028b", "\x85", "\x00", "\r\n", '"', "日本"])
BYTES = st.binary(max_size=8) | TEXT.map(str.encode)
# file names need not be UTF-8: Python shows their stray bytes as lone surrogates
PATHS = TEXT | st.just(b"\xff.txt".decode(errors="surrogateescape"))
TREES = st.dictionaries(
    PATHS, st.builds(Entry, BYTES, st.integers(0, 0o7777), st.sampled_from(["file", "dir", "link"])), max_size=4
)
COMPARED = st.sampled_from([("stdout",), ("tree",), ("stdout", "tree")])
SHELL = st.sampled_from([("", ""), ("fix.sh", "bash fix.sh 3")]).flatmap(
    lambda how: st.builds(
        ShellCheck, TREES, COMPARED, st.just(how[0]), st.just(how[1]), BYTES, st.integers(0, 255), TREES
    )
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | BYTES,
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)
CASES = st.builds(
    Case,
    st.lists(VALUES, max_size=3).map(tuple),
    st.dictionaries(st.text("abc", min_size=1), VALUES, max_size=2),
    VALUES | st.builds(Raised, st.sampled_from(["KeyError", "ValueError"])),
)
PYTHON = st.builds(
    PythonCheck,
    st.sampled_from(["f.py", "a/b.py"]),
    st.sampled_from(["f", "main"]),
    st.lists(CASES, min_size=1, max_size=3).map(tuple),
    st.sampled_from([None, 1e-6]),
    st.sampled_from(["value", "arguments"]),
)
TASKS = st.builds(
    Task,
    id=st.just(""),
    family=TEXT,
    set=st.sampled_from(["demonstrated", "reward_only", "never_met"]),
    split=st.sampled_from(["train", "held_out"]),
    seed=st.integers(0, 2**40),
    instruction=TEXT,
    broken=TEXT,
    error=TEXT,
    files=TREES,
    checks=st.lists(SHELL | st.builds(WorkspaceCheck, TREES) | PYTHON, min_size=1, max_size=3).map(tuple),
    reference=st.lists(st.builds(ToolCall, TEXT, st.dictionaries(TEXT, TEXT, max_size=3)), min_size=1, max_size=2).map(
        tuple
    ),
    source=TEXT,
    licence=TEXT,
).map(with_id)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tasks=st.lists(TASKS, min_size=1, max_size=3, unique_by=lambda task: task.id))
def test_tasks_survive_their_file(tmp_path, tasks):
    path = tmp_path / "new" / "tasks.jsonl"
    write_tasks(path, tasks)
    assert read_tasks(path) == tasks
    assert [list(c.arguments) for t in read_tasks(path) for c in t.reference] == [
        list(c.arguments) for t in tasks for c in t.reference
    ]
    assert path.read_bytes().count(b"\n") == len(tasks)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_file_that_says_line_separator_unescaped_reads(tmp_path):
    """Others write JSON unescaped; U+2028 in a string is legal there and ends no line."""
    path = tmp_path / "tasks.jsonl"
    task = with_id(replace(TASK, instruction="a\u2028b"))
    path.write_text(json.dumps(to_json(task), ensure_ascii=False) + "\n\n", encoding="utf-8")
    assert "\u2028" in path.read_text(encoding="utf-8")
    assert read_tasks(path) == [task]


def test_the_id_names_the_specification_and_not_what_was_recorded():
    shell, workspace, python = TASK.checks
    recorded = (
        replace(shell, stdout=b"other", exit_code=1, tree={}),
        replace(workspace, tree={}),
        replace(python, cases=tuple(replace(case, expected=None) for case in python.cases)),
    )
    assert replace(TASK, error="other", checks=recorded).content_hash == TASK.content_hash
    others = [
        {"seed": 8},
        {"instruction": "x"},
        {"broken": "x"},
        {"family": "x"},
        {"set": "never_met"},
        {"split": "held_out"},
        {"files": {"a.txt": Entry(b"10\n9\n", 0o755)}},
        {"checks": TASK.checks[1:]},
        {"checks": (replace(shell, compare=("tree",)), workspace, python)},
        {"checks": (replace(shell, files={}), workspace, python)},
        {"checks": (replace(shell, script="a.sh", run="sh a.sh"), workspace, python)},
        {"checks": (shell, workspace, replace(python, cases=python.cases[:1]))},
        {"checks": (shell, workspace, replace(python, tolerance=1e-9))},
        {"reference": (ToolCall("exec", {"command": "sort"}),)},
        {"source": "x"},
        {"licence": "x"},
    ]
    hashes = {replace(TASK, **change).content_hash for change in others} | {TASK.content_hash}
    assert len(hashes) == len(others) + 1


def test_the_prompt_is_wish_try_and_error():
    assert TASK.prompt == "Sort a.txt by number.\n$ sort a.txt\n10\n9"


SHELL_JSON = to_json(TASK)["checks"][0]


def changed(**values):
    return json.dumps({**to_json(TASK), **values})


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "Expecting property name"),
        ("[]", "a task is a JSON object, not"),
        ("3", "a task is a JSON object, not 3"),
        ('"schema"', "a task is a JSON object, not"),
        ("[" * 100_000, "recursion"),
        (changed(schema=1), "schema = 1; this version reads schema 2"),
        (changed(set="met"), "set = 'met' is none of demonstrated, reward_only, never_met"),
        (changed(split="test"), "split = 'test' is none of train, held_out"),
        (changed(checks=["exit"]), "'exit' is no check: it has no kind"),
        (changed(checks=[{"kind": "exit"}]), "kind = 'exit' is none of shell, workspace, python"),
        (changed(checks=[{**SHELL_JSON, "compare": ["exit"]}]), "compare = 'exit' is none of stdout, tree"),
        (changed(checks=[{**SHELL_JSON, "compare": []}]), "compare must not be empty"),
        (changed(checks=[{**SHELL_JSON, "run": "sh x"}]), "script and run belong together"),
        (changed(checks=[{"kind": "shell"}]), "is not an object with the keys files, compare, script"),
        (changed(checks=[{**SHELL_JSON, "more": 1}]), "is not an object with the keys files, compare, script"),
        (changed(checks=[{**SHELL_JSON, "exit_code": "0"}]), "exit_code = '0' is of a wrong type"),
        (changed(checks=[]), "checks and reference must not be empty"),
        (changed(reference=[]), "checks and reference must not be empty"),
        (changed(seed="x"), "invalid literal for int"),
        (changed(seed=None), "int()"),
        (changed(files=[]), "has no attribute 'items'"),
        (changed(files={"a": {"kind": "fifo", "mode": 0, "text": ""}}), "kind 'fifo' of 'a' is none of file"),
        (changed(files={"a": {"kind": "file", "mode": 0}}), "key 'base64' is missing"),
        (changed(files={"a": {"kind": "file", "mode": 0, "base64": "?"}}), "base64"),
        (changed(broken="sort b.txt"), f"id '{TASK.id}' does not match the content, whose id is 'numeric_sort-"),
        (changed(checks=[{**SHELL_JSON, "files": {}}]), "does not match the content"),
        (changed(id="x"), f"id 'x' does not match the content, whose id is '{TASK.id}'"),
    ],
)
def test_a_malformed_line_is_named_by_file_and_number(tmp_path, line, fault):
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(to_json(TASK)) + "\n\n" + line + "\n")
    with pytest.raises(RlshError) as caught:
        read_tasks(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line 3: ") and fault in message and "\n" not in message


@pytest.mark.parametrize("key", sorted(to_json(TASK)))
def test_a_missing_key_is_named(tmp_path, key):
    path = tmp_path / "tasks.jsonl"
    record = to_json(TASK)
    del record[key]
    path.write_text(json.dumps(record))
    with pytest.raises(RlshError, match=rf"tasks\.jsonl, line 1: key '{key}' is missing"):
        read_tasks(path)


def test_files_that_are_none(tmp_path):
    with pytest.raises(RlshError, match=r"none\.jsonl: no such task file; build one with: rlsh tasks build"):
        read_tasks(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(RlshError, match=r"empty\.jsonl: no task in it"):
        read_tasks(tmp_path / "empty.jsonl")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(RlshError, match=r"binary\.jsonl: cannot read tasks"):
        read_tasks(tmp_path / "binary.jsonl")
    with pytest.raises(RlshError, match="cannot read tasks"):
        read_tasks(tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RlshError, match=r"tasks\.jsonl: cannot write tasks \(.+\); choose another --out"):
        write_tasks(tmp_path / "file" / "tasks.jsonl", [TASK])
    (tmp_path / "folder").mkdir()
    with pytest.raises(RlshError, match=r"cannot write tasks"):
        write_tasks(tmp_path / "folder", [TASK])


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "tasks.jsonl"
    write_tasks(path, [TASK])

    def failing():
        yield TASK
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_tasks(path, failing())
    assert read_tasks(path) == [TASK]


def test_json_round_trip_of_one_record():
    assert from_json(json.loads(json.dumps(to_json(TASK)))) == TASK


def test_a_task_twice_in_a_file_is_refused(tmp_path):
    path = tmp_path / "tasks.jsonl"
    line = json.dumps(to_json(TASK))
    path.write_text(f"{line}\n\n{line}\n")
    with pytest.raises(RlshError, match=r"tasks.jsonl, line 3: the task of line 1 again"):
        read_tasks(path)
