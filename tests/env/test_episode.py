"""reset -> step -> … -> verdict, and how an episode ends."""

import os
import signal

import pytest

from rlsh.env.episode import EnvConfig, Episode
from rlsh.sandbox.probe import open_sandbox
from rlsh.types import BadCall, Message, RlshError, StopReason, ToolCall

CONFIG = EnvConfig(max_turns=4, wall_s=1.0)
DONE = Message("assistant", "done")


def call(command):
    return Message("assistant", call=ToolCall("exec", {"command": command}))


@pytest.fixture(scope="module")
def task(make_task):
    return make_task("sort -n a.txt", {"a.txt": "10\n9\n"}, {"a.txt": "200\n30\n4\n"}, broken="sort a.txt")


@pytest.fixture
def episode(task, sandbox):
    made = Episode(task, sandbox, CONFIG)
    yield made
    made.close()


def test_look_act_done_earns_the_reward(episode):
    assert episode.reset() == [Message("user", "Sort a.txt by number.\n$ sort a.txt\n10\n9")]
    assert episode.step(call("ls")) == Message("tool", "a.txt\n[exit 0]")
    assert episode.step(call("sort -n a.txt")) == Message("tool", "9\n10\n[exit 0]")
    assert episode.step(DONE) is None
    assert (episode.stop, episode.turns) == (StopReason.FINAL, 3)
    assert episode.verdict().reward == 1.0
    assert [m.role for m in episode.messages] == ["user", *["assistant", "tool"] * 2, "assistant"]


def test_commands_share_the_workspace_and_the_verdict_does_not(episode):
    episode.reset()
    episode.step(call("echo 7 >> a.txt"))
    assert episode.step(call("sort -n a.txt")).content == "7\n9\n10\n[exit 0]"
    episode.step(DONE)
    assert episode.verdict().reward == 1.0  # the hidden files are others, untouched by the first command


def test_reasons_never_reach_the_messages(episode):
    episode.reset()
    episode.step(call("cat a.txt; touch extra"))
    episode.step(DONE)
    before = list(episode.messages)
    verdict = episode.verdict()
    assert verdict.reward == 0.0 and len(verdict.reasons) == 2
    assert episode.messages == before
    assert not any(reason in m.content for m in before for reason in verdict.reasons)
    assert not any("200" in m.content for m in before)  # nor do the hidden files


def test_a_malformed_call_is_observed_and_the_episode_goes_on(episode):
    episode.reset()
    assert episode.step(BadCall("unknown tool 'x'"), "<|call|>x") == Message("tool", "error: unknown tool 'x'")
    assert episode.messages[-2] == Message("assistant", "<|call|>x")
    assert episode.stop is None
    episode.step(call("sort -n a.txt"))
    episode.step(DONE)
    assert episode.verdict().reward == 1.0


def test_the_turn_budget_counts_the_final_message(episode):
    episode.reset()
    for _ in range(3):
        assert episode.step(call("sort -n a.txt")) is not None
    assert episode.step(call("sort -n a.txt")) is None
    assert episode.stop is StopReason.TURNS
    assert episode.verdict().reward == 0.0


def test_a_final_message_in_the_last_turn_counts(episode):
    episode.reset()
    for _ in range(3):
        episode.step(call("sort -n a.txt"))
    episode.step(DONE)
    assert episode.stop is StopReason.FINAL and episode.verdict().reward == 1.0


def test_a_dead_worker_ends_the_episode_as_infra(task, sandbox):
    own = open_sandbox(1)
    try:
        episode = Episode(task, own, CONFIG)
        episode.reset()
        episode.step(call("ls"))
        os.kill(episode._workspace._worker.process.pid, signal.SIGKILL)
        assert episode.step(call("sort -n a.txt")) is None
        assert episode.stop is StopReason.INFRA
        assert episode.verdict().infra
    finally:
        own.close()


@pytest.mark.parametrize(
    "command",
    ["kill -9 -1", "chmod 000 . a.txt", "cat /dev/zero > big", "rm -rf /work", "while :; do :; done"],
)
def test_no_command_forges_infra_for_the_commands_after_it(episode, command):
    episode.reset()
    episode.step(call(command))
    assert episode.step(call("echo on")).content == "on\n[exit 0]"
    episode.step(DONE)
    assert not episode.verdict().infra


def test_tools_of_the_recipe_are_those_of_the_sandbox(task, sandbox, tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "others").mkdir()
    config = EnvConfig(tools=(tmp_path / "tools",))
    own = open_sandbox(1, tools=config.tools)
    try:
        Episode(task, own, config).close()
        Episode(task, own, CONFIG).close()  # a recipe need not use what there is
        others = EnvConfig(tools=(tmp_path / "others",))
        with pytest.raises(
            RlshError, match=f"env.tools = {tmp_path}/others, but the sandbox offers {tmp_path}/tools: "
        ):
            Episode(task, own, others)
    finally:
        own.close()
    with pytest.raises(RlshError, match="but the sandbox offers none: open it with"):
        Episode(task, sandbox, config)


def test_an_episode_is_used_once(episode):
    episode.reset()
    with pytest.raises(RuntimeError, match="single-use"):
        episode.reset()
    with pytest.raises(RuntimeError, match="has not ended"):
        episode.verdict()
    episode.step(DONE)
    with pytest.raises(RuntimeError, match="has ended"):
        episode.step(DONE)


def test_no_workspace_is_opened_for_nothing_or_left_open(task, sandbox):
    opened = []

    class Counting:
        def open(self, files, limits):
            opened.append(sandbox.open(files, limits))
            return opened[-1]

    idle = Episode(task, Counting(), CONFIG)
    idle.reset()
    idle.step(DONE)
    assert not opened
    busy = Episode(task, Counting(), CONFIG)
    busy.reset()
    busy.step(call("ls"))
    busy.step(DONE)
    assert len(opened) == 1 and not opened[0]._open
