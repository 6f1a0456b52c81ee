"""Tasks as a Hugging Face dataset folder: README.md with its YAML header, and one parquet file for each split.

The format is that of https://huggingface.co/docs/hub/datasets-manual-configuration: `datasets.load_dataset(FOLDER)`
finds the splits by the header. Columns of the prompt's side are plain; the whole record, with hidden checks and the
reference, is one column of JSON, which a public data set leaves out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rlsh.tasks.task import Task, from_json, to_json
from rlsh.tasks.tree_json import tree_to_json
from rlsh.types import RlshError

SPLITS = "train", "held_out"
FILE = "data/{split}-00000-of-00001.parquet"
RECORD = "record"
PUBLIC = (
    "Hidden checks and reference solutions are left out: an answer to these tasks cannot be judged from this folder."
)
OWNER = f"Column `{RECORD}` holds hidden checks and reference solutions: do not publish what you evaluate on."


def _parquet() -> ModuleType:
    try:
        import pyarrow.parquet
    except ImportError:
        raise RlshError("parquet files need pyarrow: pip install 'rlsh[hf]'") from None
    return pyarrow.parquet  # type: ignore[no-any-return]


def write_dataset(tasks: Sequence[Task], folder: Path, *, public: bool = False) -> None:
    """Writes `folder`, which may be there already. With `public`, neither checks nor references get into it.

    Raises RlshError where pyarrow is missing, there is no task, or the folder cannot be written.
    """
    parquet = _parquet()
    import pyarrow as pa

    if not tasks:
        raise RlshError(f"{folder}: no task to write")
    parts = {split: [task for task in tasks if task.split == split] for split in SPLITS}
    try:
        (folder / "data").mkdir(parents=True, exist_ok=True)
        for split, part in parts.items():
            file = folder / FILE.format(split=split)
            if part:
                parquet.write_table(pa.Table.from_pylist([row(task, public) for task in part], schema(public)), file)
            else:
                file.unlink(missing_ok=True)  # of a folder written before
        (folder / "README.md").write_text(card(tasks, public), encoding="utf-8")
    except OSError as error:
        raise RlshError(f"{folder}: cannot write a data set ({error.strerror}); choose another --out") from None


def read_dataset(folder: Path) -> list[Task]:
    """The tasks of a folder that `write_dataset` wrote, train before held_out.

    Raises RlshError where pyarrow is missing, the folder holds no split, or a record is missing or malformed.
    """
    parquet = _parquet()
    files = [file for split in SPLITS if (file := folder / FILE.format(split=split)).is_file()]
    if not files:
        raise RlshError(f"{folder}: no data set of tasks here (no {FILE.format(split='train')})")
    tasks = []
    for file in files:
        try:
            columns: dict[str, Any] = parquet.read_table(file).to_pydict()
            if RECORD not in columns:
                raise RlshError(f"{file}: a public data set, without the records that tasks are made of")
            tasks += [from_json(json.loads(text)) for text in columns[RECORD]]
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:  # ArrowInvalid is a ValueError
            raise RlshError(f"{file}: {error}") from None
    return tasks


def row(task: Task, public: bool) -> dict[str, Any]:
    """One row: what the policy may know, and with it, unless it is public, everything."""
    texts = {
        "id": task.id,
        "family": task.family,
        "set": task.set,
        "prompt": task.prompt,
        "instruction": task.instruction,
        "broken": task.broken,
        "error": task.error,
        "files": json.dumps(tree_to_json(task.files)),
        "source": task.source,
        "licence": task.licence,
    }
    if not public:
        texts[RECORD] = json.dumps(to_json(task))
    # a file's name need not be Unicode, and a command may mention it: the record alone has it as it is
    readable = {name: text.encode("utf-8", "backslashreplace").decode() for name, text in texts.items()}
    return {**readable, "operators": list(task.operators)}


def schema(public: bool) -> Any:
    """The columns' types: of an empty list pyarrow could not tell what it is a list of."""
    import pyarrow as pa

    names = "id family set prompt instruction broken error files source licence".split() + [RECORD] * (not public)
    return pa.schema([*((name, pa.string()) for name in names), ("operators", pa.list_(pa.string()))])


def card(tasks: Sequence[Task], public: bool) -> str:
    """The README: its header names licences and splits."""
    splits = [split for split in SPLITS if any(task.split == split for task in tasks)]
    licences = sorted({task.licence.lower() for task in tasks})
    lines = [
        "---",
        "license:",
        *(f"- {licence}" for licence in licences),
        "configs:",
        "- config_name: default",
        "  data_files:",
        *(f"  - split: {split}\n    path: data/{split}-*" for split in splits),
        "---",
        "# Tasks of rlsh",
        "",
        *(f"- {split}: {sum(task.split == split for task in tasks)} tasks" for split in splits),
        "",
        PUBLIC if public else OWNER,
    ]
    return "\n".join(lines) + "\n"
