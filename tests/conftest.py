"""Fixtures that several floors share: a real sandbox, and tasks that were really recorded in it."""

from collections.abc import Callable, Iterator, Mapping

import pytest

from rlsh.env.build import build_tasks, record
from rlsh.sandbox.base import Sandbox, SandboxError
from rlsh.sandbox.probe import open_sandbox
from rlsh.tasks.checks import ShellCheck
from rlsh.tasks.families import FAMILIES
from rlsh.tasks.task import Task
from rlsh.types import Entry, ToolCall


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Where this machine has none, what needs one is skipped with the probe's reason."""
    try:
        opened = open_sandbox()
    except SandboxError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def family_tasks(sandbox: Sandbox) -> Mapping[str, Task]:
    """An admitted task of every family."""
    tasks, _ = build_tasks(sandbox, ["demonstrated", "reward_only", "never_met"], 55, seed=0, split="train", workers=2)
    found = {task.family: task for task in tasks}
    assert found.keys() == FAMILIES.keys()
    return found


@pytest.fixture(scope="session")
def make_task(sandbox: Sandbox) -> Callable[..., Task]:
    """A task from a reference command and the texts of its files."""

    def make(
        reference: str,
        visible: Mapping[str, str],
        hidden: Mapping[str, str],
        *,
        broken: str = "false",
        compare: tuple[str, ...] = ("stdout", "tree"),
        family: str = "numeric_sort",
        set: str = "reward_only",
    ) -> Task:
        def tree(files: Mapping[str, str]) -> dict[str, Entry]:
            return {name: Entry(content.encode()) for name, content in files.items()}

        drawn = Task(
            id="",
            family=family,
            set=set,  # type: ignore[arg-type]
            split="train",
            seed=0,
            instruction="Sort a.txt by number.",
            broken=broken,
            error="",
            files=tree(visible),
            checks=(ShellCheck(tree(hidden), compare),),  # type: ignore[arg-type]
            reference=(ToolCall("exec", {"command": reference}),),
        )
        return record(drawn, sandbox)

    return make
