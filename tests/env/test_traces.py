"""Demonstrations, and the file they are stored in."""

from collections import Counter
from pathlib import Path

import pytest

from rlsh import recipe_base
from rlsh.env.build import draw
from rlsh.env.episode import EnvConfig
from rlsh.env.traces import FINAL, read_traces, trace, write_traces
from rlsh.env.verify import verify_calls
from rlsh.tasks.families import SET_OF
from rlsh.text.dialect import exec_observation
from rlsh.types import Message, RlshError, ToolCall

ENV = EnvConfig()


@pytest.fixture(scope="module")
def demonstrated(sandbox):
    """What `recipe_base.demonstrations` makes, and the tasks it makes it of."""
    tasks = []

    def noting(task, sandbox, env):
        tasks.append(task)
        return trace(task, sandbox, env)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe_base, "trace", noting)
        traces = recipe_base.demonstrations(sandbox, 24, 7, ENV)
    return {t.id: t for t in tasks}, {m[0].content: m for m in traces}


def test_only_demonstrated_families_are_demonstrated(demonstrated):
    tasks, traces = demonstrated
    assert len(tasks) == len(traces) == 24
    families = {t.family for t in tasks.values()}
    assert {SET_OF[f] for f in families} == {"demonstrated"} and len(families) == 12
    assert {t.split for t in tasks.values()} == {"train"}


def test_no_demo_trains_or_tests_on_what_was_demonstrated(demonstrated):
    """A demo's seeds are its tasks' and not negative. (Another seed than the demo's would not do: ranges overlap.)"""
    tasks, _ = demonstrated
    assert max(task.seed for task in tasks.values()) < 0


def test_each_ends_with_the_reference_then_done_and_earns_the_reward(demonstrated, sandbox):
    tasks, traces = demonstrated
    for task in tasks.values():
        messages = traces[task.prompt]
        assert messages[0] == Message("user", task.prompt)
        assert messages[-1] == Message("assistant", FINAL)
        assert messages[-3] == Message("assistant", call=task.reference[-1])
        assert messages[-2].content.endswith("[exit 0]")
        calls = [message.call for message in messages if message.call is not None]
        assert verify_calls(task, calls, sandbox, ENV.limits).reward == 1.0


def test_observations_are_what_really_happens(demonstrated, sandbox):
    tasks, traces = demonstrated
    for task in tasks.values():
        messages = traces[task.prompt][1:-1]
        with sandbox.open(task.files, ENV.limits) as workspace:
            for said, observed in zip(messages[::2], messages[1::2], strict=True):
                result = workspace.exec(said.call.arguments["command"])
                assert observed == Message(
                    "tool",
                    exec_observation(
                        "rlsh", result.stdout, result.stderr, result.exit_code, None, ENV.observation_chars
                    ),
                )


def test_detours_are_looks_and_slips_of_the_drawing(demonstrated):
    tasks, traces = demonstrated
    lengths = Counter()
    for task in tasks.values():
        draft, _ = draw(task.family, task.seed, task.split)
        commands = [m.call.arguments["command"] for m in traces[task.prompt] if m.call is not None]
        assert commands[-1] == draft.repair
        assert set(commands[:-1]) <= {*draft.looks, *draft.slips}
        assert not draft.must_look or commands[-2] == draft.looks[0]  # nobody can guess what only a look shows
        lengths[len(commands)] += 1
    assert lengths[1] > 0 and lengths[2] > 0 and max(lengths) <= 3


def test_a_role_there_is_none_of_is_a_fault_of_its_line(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"messages": [{"role": "robot", "content": "hi", "call": null}]}\n')
    with pytest.raises(RlshError, match="line 1: not a trace"):
        read_traces(path)


def test_traces_that_cannot_be_written_leave_the_old_ones(tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    write_traces(path, [[Message("user", "old")]])
    monkeypatch.setattr(Path, "replace", lambda self, target: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(RlshError, match=r"t.jsonl: cannot write \(No space left\)"):
        write_traces(path, [[Message("user", "new")]])
    assert read_traces(path)[0][0].content == "old"


def test_a_task_has_one_demonstration(demonstrated, sandbox):
    tasks, traces = demonstrated
    for task in list(tasks.values())[:6]:
        assert trace(task, sandbox, ENV) == traces[task.prompt]


def test_a_demonstration_that_does_not_fit_the_turns_is_an_error(demonstrated, sandbox):
    task = next(iter(demonstrated[0].values()))
    with pytest.raises(RlshError, match=rf"{task.id}: the demonstration ended early \(turns\)"):
        trace(task, sandbox, EnvConfig(max_turns=1))


def test_traces_survive_their_file(tmp_path):
    edit = ToolCall("edit", {"file_path": "a b", "edit_content": "@@ -1 +1 @@\n-\u2028\n+é\n"})
    traces = [
        [Message("user", "line\u2028sep"), Message("assistant", "so:", edit), Message("tool", "edited a b")],
        [Message("user", ""), Message("assistant", "done")],
    ]
    path = tmp_path / "new" / "traces.jsonl"
    write_traces(path, traces)
    assert read_traces(path) == traces
    assert list(read_traces(path)[0][1].call.arguments) == ["file_path", "edit_content"]


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"messages": [{"role": "user"}]}', "1"])
def test_a_malformed_trace_is_named_by_file_and_line(tmp_path, line):
    path = tmp_path / "traces.jsonl"
    path.write_text('{"messages": []}\n' + line + "\n")
    with pytest.raises(RlshError, match=r"traces\.jsonl, line 2: not a trace"):
        read_traces(path)


def test_missing_traces_say_how_to_make_them(tmp_path):
    with pytest.raises(RlshError, match="rlsh tasks traces"):
        read_traces(tmp_path / "none.jsonl")
