"""Fixtures that several floors share: a real sandbox, and tasks that were really recorded in it."""

from collections.abc import Callable, Iterator, Mapping

import pytest
from another_user import AnotherUser, another_user

from rlsh.env.admission import record
from rlsh.env.build import build_tasks
from rlsh.sandbox.base import Sandbox, SandboxError
from rlsh.sandbox.probe import open_sandbox
from rlsh.tasks.checks import Check, Compare, ShellCheck
from rlsh.tasks.shell.drills import FAMILIES
from rlsh.tasks.task import Task
from rlsh.types import Entry, ToolCall, Tree, exec_call


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
def unprivileged() -> Iterator[AnotherUser]:
    with another_user() as user:
        yield user


@pytest.fixture(scope="session")
def family_tasks(sandbox: Sandbox) -> Mapping[str, Task]:
    """An admitted task of every family."""
    tasks, _ = build_tasks(sandbox, ["demonstrated", "reward_only", "never_met"], 55, seed=0, split="train", workers=2)
    found = {task.family: task for task in tasks}
    assert found.keys() == FAMILIES.keys()
    return found


@pytest.fixture(scope="session")
def recorded_task(sandbox: Sandbox) -> Callable[..., Task]:
    """A task from the texts of its files, its checks and the calls of its reference, recorded by running them."""

    def make(files: Mapping[str, str], checks: tuple[Check, ...], *reference: ToolCall, **others: str) -> Task:
        fields = {"family": "numeric_sort", "set": "reward_only", "broken": "false", **others}
        drawn = Task(
            id="",
            split="train",
            seed=0,
            instruction="Sort a.txt by number.",
            error="",
            files=tree_of(files),
            checks=checks,
            reference=reference,
            **fields,  # type: ignore[arg-type]
        )
        return record(drawn, sandbox)

    return make


@pytest.fixture(scope="session")
def make_task(recorded_task: Callable[..., Task]) -> Callable[..., Task]:
    """A task from a reference command and the texts of its files."""

    def make(
        reference: str,
        visible: Mapping[str, str],
        hidden: Mapping[str, str],
        *,
        compare: tuple[Compare, ...] = ("stdout", "tree"),
        **others: str,
    ) -> Task:
        return recorded_task(visible, (ShellCheck(tree_of(hidden), compare),), exec_call(reference), **others)

    return make


def tree_of(files: Mapping[str, str]) -> Tree:
    return {name: Entry(content.encode()) for name, content in files.items()}
