"""Demonstrations of repairs of files, as they are drawn and as they really go."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from rlsh.env.episode import EnvConfig
from rlsh.env.patch import apply_patch
from rlsh.env.routes import repair, route, slipped
from rlsh.env.traces import traces
from rlsh.tasks.catalogue import Reference
from rlsh.tasks.checks import Case
from rlsh.tasks.mutation import Mutant
from rlsh.tasks.snippets import Example, Snippet, task_of
from rlsh.tasks.task import with_id
from rlsh.types import exec_call

ENV = EnvConfig(max_turns=9, observation_chars=2000)
RIGHT = 'def half(value: int) -> int:\n    """Half."""\n    return value // 2  # a \\ and \'quotes\'\n'
HALF = Reference("half", "half", RIGHT, lambda d: (), "Half.")


def tasks(count):
    for seed in range(count):
        snippet = Snippet(HALF, Mutant(RIGHT.replace("//", "/"), ("swapped_division",), 3), ((4,),), "train", seed)
        check = replace(snippet.check([(7,)]), cases=(Case((7,), {}, 3),))
        yield with_id(task_of(Example(snippet, Case((4,), {}, 2)), check))


def kinds(task):
    """A route in words."""
    for call in route(task, 8):
        if call.name == "edit":
            yield "edit"
            continue
        command = call.arguments["command"]
        yield "run" if command == task.broken else "sed" if command.startswith("sed") else "look"


def test_routes_vary_and_look_before_they_repair():
    found = Counter(tuple(kinds(task)) for task in tasks(200))
    assert len(found) >= 8
    for steps in found:
        assert steps.index("look") < min(steps.index(how) for how in ("edit", "sed") if how in steps)
    shares = {
        "run first": sum(n for steps, n in found.items() if steps[0] == "run"),
        "wrong turn": sum(n for steps, n in found.items() if steps.count("edit") + steps.count("sed") > 1),
        "sed": sum(n for steps, n in found.items() if "sed" in steps),
    }
    for name, expected in {"run first": 80, "wrong turn": 50, "sed": 60}.items():
        assert abs(shares[name] - expected) < 25, name


def test_detours_fit_the_budget():
    for most in (2, 3, 4, 8):
        lengths = Counter(len(route(task, most)) for task in tasks(100))
        assert min(lengths) == 2 and max(lengths) == min(most, 6)


def test_a_route_is_the_tasks_own():
    (task, other) = tasks(2)
    assert route(task, 8) == route(task, 8)
    assert [tuple(kinds(one)) for one in tasks(9)] != [tuple(kinds(task))] * 9 and other.id != task.id


@pytest.mark.parametrize("dialect", ["rlsh", "iclaw"])
def test_every_route_is_paid_in_any_dialect(sandbox, dialect):
    made = list(tasks(12))
    found = traces(made, sandbox, replace(ENV, dialect=dialect))
    assert [messages[0].content for messages in found] == [task.prompt for task in made]
    said = {message.content for messages in found for message in messages if message.role == "tool"}
    assert any("Successfully edited" in text for text in said) == (dialect == "iclaw")


@pytest.mark.parametrize("seed", range(40))
def test_a_repair_by_either_tool_gives_the_text(sandbox, seed):
    rng = random.Random(seed)
    old, new = RIGHT.replace("//", "/"), RIGHT
    call = repair("half.py", old, new, rng)
    if call.name == "edit":
        assert apply_patch(old, call.arguments["edit_content"]) == new
        return
    (task,) = tasks(1)
    with sandbox.open(task.files, ENV.limits) as workspace:
        workspace.write("half.py", old.encode())
        assert workspace.exec(call.arguments["command"]).exit_code == 0
        assert workspace.read("half.py") == new.encode()


def test_lines_that_come_or_go_are_edited():
    for old, new in (("a\nb\n", "a\n"), ("a\n", "a\nb\n"), ("a\nb\n", "c\nd\n")):
        assert {repair("f", old, new, random.Random(seed)).name for seed in range(30)} == {"edit"}


def test_a_slip_misspells_a_word_of_what_is_new():
    old, new = "one\ntwo = three\n", "one\nthree = fourteen\n"
    for seed in range(20):
        first, second = slipped(old, new, random.Random(seed)).splitlines()
        assert first == "one" and second not in ("two = three", "three = fourteen")
    assert slipped("a b\n", "b c\n", random.Random(0)) is None  # no word to misspell
    assert slipped("abcd\n", "", random.Random(0)) is None


def test_a_chain_of_calls_keeps_its_order(make_task):
    (task,) = tasks(1)
    chained = replace(task, reference=(exec_call("chmod +x half.py"), *task.reference))
    calls = route(chained, 8)
    assert exec_call("chmod +x half.py") in calls
    assert calls.index(exec_call("chmod +x half.py")) < max(
        i for i, call in enumerate(calls) if call.name == "edit" or "sed" in call.arguments.get("command", "")
    )
