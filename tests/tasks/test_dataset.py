"""A data set folder, as pyarrow and, where it is installed, `datasets` read it."""

import json
from dataclasses import replace

import pytest

from rlsh.tasks.checks import Case, PythonCheck, ScriptCheck, ShellCheck, WorkspaceCheck
from rlsh.tasks.dataset import read_dataset, write_dataset
from rlsh.tasks.task import Task, with_id
from rlsh.types import Entry, RlshError, ToolCall, exec_call

parquet = pytest.importorskip("pyarrow.parquet")

ODD = b"caf\xe9".decode(errors="surrogateescape")
CHECKS = (
    ShellCheck({"a.txt": Entry(b"HIDDEN\xff")}, stdout=b"HIDDEN"),
    WorkspaceCheck({"a.txt": Entry(b"HIDDEN")}),
    PythonCheck("f.py", "f", (Case((float("inf"), {1: (2,)}), {"k": {3}}, "HIDDEN"),), tolerance=1e-6),
    ScriptCheck("f.py", "f", "assert f() == 'HIDDEN'\n", (Case(()),)),
)


def task_of(number, check, **fields):
    task = Task(
        id="",
        family="some",
        set="demonstrated",
        split="train" if number % 2 == 0 else "held_out",
        seed=number,
        instruction="Sort é.",
        broken=f"cat {ODD}",
        error="no",
        files={ODD: Entry(b"1\n", 0o600), "d": Entry(kind="dir")},
        checks=(check,),
        reference=(exec_call("sort HIDDEN"), ToolCall("edit", {"file_path": "a", "edit_content": "HIDDEN"})),
        operators=("one", "two")[:number],
    )
    return with_id(replace(task, **fields))


TASKS = [task_of(number, check) for number, check in enumerate(CHECKS)]


def test_what_is_read_back_is_the_same(tmp_path):
    write_dataset(TASKS, tmp_path)
    assert read_dataset(tmp_path) == [TASKS[0], TASKS[2], TASKS[1], TASKS[3]]  # train first


def test_columns_of_the_prompts_side_are_plain(tmp_path):
    write_dataset(TASKS, tmp_path)
    columns = parquet.read_table(tmp_path / "data/held_out-00000-of-00001.parquet").to_pydict()
    assert columns["id"] == [TASKS[1].id, TASKS[3].id]
    assert columns["prompt"][0] == "Sort é.\n$ cat caf\\udce9\nno"  # readable; the record has the name as it is
    assert columns["operators"] == [["one"], ["one", "two"]]
    assert json.loads(columns["files"][0])["d"] == {"mode": 0o644, "kind": "dir", "text": ""}


def test_a_public_data_set_holds_nothing_that_is_hidden(tmp_path):
    write_dataset(TASKS, tmp_path / "owner")
    write_dataset(TASKS, tmp_path / "public", public=True)
    found = {}
    for kind in ("owner", "public"):
        tables = [parquet.read_table(file).to_pylist() for file in (tmp_path / kind / "data").iterdir()]
        found[kind] = str(tables)
        assert len(tables) == 2
    assert "HIDDEN" in found["owner"] and "HIDDEN" not in found["public"]
    assert "Sort é." in found["public"]
    with pytest.raises(RlshError, match="a public data set, without the records"):
        read_dataset(tmp_path / "public")
    assert "left out" in (tmp_path / "public/README.md").read_text()
    assert "do not publish" in (tmp_path / "owner/README.md").read_text()


def test_a_split_that_is_empty_is_no_file_also_where_there_was_one(tmp_path):
    write_dataset(TASKS, tmp_path)
    write_dataset([replace(TASKS[0], licence="CC-BY-4.0"), TASKS[2]], tmp_path)
    assert [file.name for file in (tmp_path / "data").iterdir()] == ["train-00000-of-00001.parquet"]
    header = (tmp_path / "README.md").read_text().split("---\n")[1]
    assert header == (
        "license:\n- cc-by-4.0\n- mit\nconfigs:\n- config_name: default\n  data_files:\n"
        "  - split: train\n    path: data/train-*\n"
    )


def test_datasets_finds_the_splits(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    write_dataset(TASKS, tmp_path / "folder")
    loaded = datasets.load_dataset(str(tmp_path / "folder"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(part) for split, part in loaded.items()} == {"train": 2, "held_out": 2}
    assert loaded["train"][0]["operators"] == []


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    for use in (lambda: write_dataset(TASKS, tmp_path), lambda: read_dataset(tmp_path)):
        with pytest.raises(RlshError, match=r"pip install 'rlsh\[hf\]'"):
            use()


def test_what_cannot_be_written_or_read_is_an_error(tmp_path):
    with pytest.raises(RlshError, match="no task to write"):
        write_dataset([], tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(RlshError, match="cannot write a data set"):
        write_dataset(TASKS, tmp_path / "file")
    with pytest.raises(RlshError, match="no data set of tasks here"):
        read_dataset(tmp_path)
    write_dataset(TASKS, tmp_path)
    file = tmp_path / "data/train-00000-of-00001.parquet"
    file.write_bytes(b"PAR1")
    with pytest.raises(RlshError, match=r"train-00000-of-00001\.parquet: "):
        read_dataset(tmp_path)
    table = {"record": [json.dumps({"schema": 1})]}
    parquet.write_table(__import__("pyarrow").table(table), file)
    with pytest.raises(RlshError, match=r"train-00000-of-00001\.parquet: schema = 1"):
        read_dataset(tmp_path)
