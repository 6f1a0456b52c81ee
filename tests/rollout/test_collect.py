"""Collection with policies whose every token is scripted, and with a random one."""

import importlib
import os
import signal
import threading
import time
from dataclasses import replace

import pytest
import torch

from rlsh.engine import Engine, SamplingParams
from rlsh.engine import engine as engine_module
from rlsh.env.episode import EnvConfig
from rlsh.models import Decoder, ModelConfig
from rlsh.rollout import PhaseClock, RolloutConfig, collect
from rlsh.rollout.collect import row_key
from rlsh.sandbox.base import SandboxError
from rlsh.sandbox.probe import open_sandbox
from rlsh.text.chat import encode, encode_message
from rlsh.text.tokenizer import Tokenizer
from rlsh.types import Message, RlshError, StopReason, ToolCall

COLLECT = importlib.import_module("rlsh.rollout.collect")  # the package exports a function of that name
ENV = EnvConfig(max_turns=5, wall_s=1.0)
SEED, STEP = 11, 3
MODES = pytest.mark.parametrize("overlap", [False, True], ids=["rounds", "overlap"])


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Tensors this small only lose by sharing."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def tokenizer():
    corpus = ["Sort a.txt by number.\n$ sort a.txt", "exec\nsort -n a.txt", "done", "[exit 0]\n"] * 3
    return Tokenizer.train(corpus, 320)


@pytest.fixture(scope="module")
def tasks(make_task):
    return [
        make_task("sort -n a.txt", {"a.txt": v}, {"a.txt": "200\n30\n4\n"}, broken="sort a.txt")
        for v in ("10\n9\n", "10\n9\n8\n", "11\n2\n")
    ]


def decoder(tokenizer, block_size=192, cls=Decoder):
    config = ModelConfig(tokenizer.vocab_size, block_size, n_layer=2, n_head=2, n_embd=16)
    made = cls(config, torch.Generator().manual_seed(0)).requires_grad_(False)
    for p in made.parameters():
        p.mul_(3.0)
    return made


@pytest.fixture
def play(tokenizer, tasks, sandbox, monkeypatch):
    """Collects episodes of a policy that says what `script(task number, sample)` lists, turn after turn.

    A turn is a command, a Message, or the token ids themselves. The log-probs are the model's own.
    """

    def turn_ids(turn):
        if isinstance(turn, str):
            turn = Message("assistant", call=ToolCall("exec", {"command": turn}))
        return encode_message(tokenizer, turn)[0][1:] if isinstance(turn, Message) else list(turn)

    def run(script, *, group=2, count=2, into=sandbox, block_size=192, env=ENV, overlap=False, **options):
        words = {
            row_key(SEED, STEP, task.id, s): [i for turn in script(n, s) for i in turn_ids(turn)]
            for n, task in enumerate(tasks[:count])
            for s in range(group)
        }

        class Scripted(Engine):
            def step(self):
                rows = self._rows[: self._active]

                def say(logits, params, uniform):
                    ids = torch.tensor([words[r.key][r.sampled] for r in rows])
                    return ids, logits.log_softmax(-1).gather(-1, ids[:, None])[:, 0]

                with monkeypatch.context() as patch:
                    patch.setattr(engine_module, "sample", say)
                    return super().step()

        monkeypatch.setattr(COLLECT, "Engine", Scripted)
        rollout = RolloutConfig(turn_tokens=options.pop("turn_tokens", 48), overlap=overlap)
        rollout = replace(rollout, slots=options.pop("slots", 128), tool_threads=options.pop("tool_threads", 4))
        model = decoder(tokenizer, block_size)
        return collect(
            model,
            tokenizer,
            tasks[:count],
            into,
            env,
            rollout,
            group_size=group,
            seed=SEED,
            step=STEP,
            **options,
        )

    return run


class Watched:
    """A sandbox that remembers its workspaces and may be slow, or kill its worker at the command `poison`."""

    def __init__(self, inner, delay=0.0, deaths=9):
        self.inner, self.delay, self.deaths, self.opened = inner, delay, deaths, []

    def open(self, files, limits):
        time.sleep(self.delay)
        workspace = self.inner.open(files, limits)
        run = workspace.exec

        def exec(command):
            if command == "poison" and self.deaths > 0:
                self.deaths -= 1
                os.kill(workspace._worker.process.pid, signal.SIGKILL)
            return run(command)

        workspace.exec = exec
        self.opened.append(workspace)
        return workspace


class Paired(Watched):
    """A sandbox whose commands wait until two of them are in flight."""

    def __init__(self, inner, timeout):
        super().__init__(inner)
        self.barrier = threading.Barrier(2, timeout=timeout)

    def open(self, files, limits):
        workspace = super().open(files, limits)
        run = workspace.exec

        def exec(command):
            self.barrier.wait()
            return run(command)

        workspace.exec = exec
        return workspace


DONE = Message("assistant", "done")
GOOD = ["ls", "sort -n a.txt", DONE]


@MODES
def test_episodes_of_several_turns_are_played_and_paid(play, tasks, overlap):
    bad = ["sort a.txt", DONE]
    seen = []
    clock = PhaseClock()
    done = play(
        lambda n, s: GOOD if (n + s) % 2 == 0 else bad,
        group=3,
        overlap=overlap,
        clock=clock,
        progress=seen.append,
    )
    assert [(t.task_id, t.sample) for t in done] == [(task.id, s) for task in tasks[:2] for s in range(3)]
    assert [t.verdict.reward for t in done] == [1, 0, 1, 0, 1, 0]
    assert {t.stop for t in done} == {StopReason.FINAL}
    assert [t.turns for t in done] == [3, 2, 3, 2, 3, 2]
    assert [m.content for m in done[0].messages[2::2]] == ["a.txt\n[exit 0]", "9\n10\n[exit 0]"]
    assert {t.extra["set"] for t in done} == {"reward_only"} and {t.family for t in done} == {"numeric_sort"}
    assert seen == [1, 2, 3, 4, 5, 6]
    assert clock.sampled_tokens == sum(sum(t.mask) for t in done)


@MODES
def test_ids_mask_and_logps_are_those_of_the_conversation(play, tokenizer, overlap):
    model = decoder(tokenizer)
    for t in play(lambda n, s: GOOD, overlap=overlap):
        ids, mask = encode(tokenizer, t.messages)
        assert (t.ids, t.mask) == (ids, mask)
        assert len(t.logps) == len(ids)
        sampled = {i for i, m in zip(t.ids, t.mask, strict=True) if m}
        forced = {i for i, m in zip(t.ids, t.mask, strict=True) if not m}
        assert {tokenizer.end, tokenizer.call} <= sampled and tokenizer.assistant not in sampled
        assert {tokenizer.assistant, tokenizer.result, tokenizer.user, tokenizer.end} <= forced
        full = model(torch.tensor([t.ids]))[0].log_softmax(-1)
        for at, m in enumerate(t.mask):
            if m:
                assert abs(float(full[at - 1, t.ids[at]]) - t.logps[at]) < 1e-4
            else:
                assert t.logps[at] == 0.0


def test_what_was_sampled_is_what_is_trained_on(play, tokenizer):
    """A turn spelled byte by byte: decoding and encoding it again would give other ids."""
    spelled = [i for c in "exec\nsort -n a.txt" for i in tokenizer.encode(c)]
    turns = [[tokenizer.call, *spelled, tokenizer.end], [*tokenizer.encode("done"), tokenizer.eot]]
    (t, *_rest) = play(lambda n, s: turns)
    assert t.verdict.reward == 1.0
    assert [i for i, m in zip(t.ids, t.mask, strict=True) if m] == turns[0] + turns[1]
    assert encode(tokenizer, t.messages)[0] != t.ids


@MODES
def test_a_malformed_call_is_observed_and_the_episode_goes_on(play, tokenizer, overlap):
    bad = [tokenizer.call, *tokenizer.encode("sort a.txt"), tokenizer.end]
    nested = [tokenizer.call, tokenizer.result, *tokenizer.encode("forged"), tokenizer.end]
    for t in play(lambda n, s: [bad, nested, *GOOD], overlap=overlap):
        assert t.verdict.reward == 1.0 and t.turns == 5
        assert t.messages[2].content == "error: unknown tool 'sort'; tools: exec, edit"
        assert t.messages[4].content.startswith("error: a reserved token inside a turn")
        assert [i for i, m in zip(t.ids, t.mask, strict=True) if m][: len(bad) + len(nested)] == bad + nested


def test_budgets_end_an_episode_with_their_reason(play, tokenizer):
    long = [*tokenizer.encode("x") * 60, tokenizer.end]

    def script(n, s):
        return [["sort -n a.txt"] * 5, ["sort -n a.txt", long]][s]

    turns, tokens = play(script, count=1)
    assert (turns.stop, turns.turns) == (StopReason.TURNS, 5)
    assert turns.messages[-1].call is not None  # the last call was not run
    assert tokens.stop is StopReason.TOKENS
    assert tokens.messages[-1] == Message("assistant", "x" * 48)
    assert tokens.mask[-48:] == [1] * 48 and tokenizer.end not in tokens.ids[-48:]
    for t in (turns, tokens):
        assert t.verdict.reward == 0.0 and not t.verdict.infra
        assert t.verdict.reasons == (f"no final message: the {t.stop} budget was spent",)


def test_a_full_context_ends_an_episode_as_out_of_tokens(play, tokenizer, tasks):
    prompt = len(encode(tokenizer, [Message("user", tasks[0].prompt)])[0]) + 1
    call = len(encode_message(tokenizer, Message("assistant", call=ToolCall("exec", {"command": "ls"})))[0]) - 1
    observation = len(encode_message(tokenizer, Message("tool", "a.txt\n[exit 0]"))[0]) + 1
    in_turn = prompt + call + observation + 2
    for block_size, ids in ((in_turn, in_turn), (prompt + call + observation, prompt + call)):
        (t, _) = play(lambda n, s: GOOD, count=1, block_size=block_size)
        assert t.stop is StopReason.TOKENS and t.verdict.reward == 0.0 and not t.verdict.infra
        assert len(t.ids) == len(t.mask) == len(t.logps) == ids
    with pytest.raises(RlshError, match="the prompt has"):
        play(lambda n, s: GOOD, count=1, block_size=prompt)


@MODES
def test_a_command_that_hangs_is_cut_and_holds_nobody_for_good(play, overlap):
    def script(n, s):
        return ["sleep 60", *GOOD] if (n, s) == (0, 1) else GOOD

    done = play(script, overlap=overlap)
    assert [t.verdict.reward for t in done] == [1, 1, 1, 1]
    assert done[1].messages[2].content == "[timed out after 1 s]"


@MODES
def test_a_dead_worker_masks_its_row_alone(play, overlap):
    own = open_sandbox(4)

    def script(n, s):
        return ["ls", "poison"] if s == 2 else GOOD

    try:
        watched = Watched(own)
        done = play(script, group=4, count=1, into=watched, overlap=overlap)
    finally:
        own.close()
    assert [t.verdict.infra for t in done] == [t.retried for t in done] == [False, False, True, False]
    assert [t.verdict.reward for t in done] == [1, 1, 0, 1]
    assert done[2].stop is StopReason.INFRA
    assert watched.deaths == 7  # two of nine: it is not tried for ever
    assert len(done[2].ids) == len(done[2].mask) and sum(done[2].mask) > 0


@MODES
@pytest.mark.parametrize("slots", [128, 3])  # 3: no slot is free but the one that the dead episode leaves
def test_an_episode_whose_sandbox_died_once_is_played_again_as_if_nothing_had_happened(play, overlap, slots):
    own = open_sandbox(6)  # a worker each

    def script(n, s):
        return ["ls", "poison", *GOOD] if (n, s) == (1, 2) else GOOD

    def played(deaths):
        seen = []
        into = Watched(own, deaths=deaths)
        done = play(script, group=3, into=into, overlap=overlap, slots=slots, progress=seen.append)
        assert seen == [1, 2, 3, 4, 5, 6]  # an episode is counted once
        assert into.deaths == 0 and not [w for w in into.opened if w._open]
        return done

    try:
        disturbed, calm = played(1), played(0)
    finally:
        own.close()
    assert [t.retried for t in disturbed] == [False] * 5 + [True]
    assert not any(t.retried for t in calm)
    for a, b in zip(disturbed, calm, strict=True):
        assert (a.task_id, a.sample, a.ids, a.mask, a.messages) == (b.task_id, b.sample, b.ids, b.mask, b.messages)
        assert torch.allclose(torch.tensor(a.logps), torch.tensor(b.logps), atol=1e-4)
        assert a.verdict.reward == b.verdict.reward == 1.0 and a.turns == b.turns


def test_an_episode_whose_verdict_failed_twice_is_not_played_again(play, tasks, sandbox):
    opened = []

    class Unverifying:
        def open(self, files, limits):
            opened.append(files == tasks[0].files)
            if not opened[-1]:
                raise SandboxError("no room on this host")
            return sandbox.open(files, limits)

    (t,) = play(lambda n, s: GOOD, group=1, count=1, into=Unverifying())
    assert (t.stop, t.verdict.infra, t.retried) == (StopReason.FINAL, True, False)
    assert opened == [True, False, False]


@MODES
def test_no_workspace_stays_open_after_an_exception(play, sandbox, overlap):
    """The first row talks until the others are opening their workspaces in tool threads, and needs none."""
    watched = Watched(sandbox, delay=0.2)

    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(
            lambda n, s: [Message("assistant", "x" * 40)] if (n, s) == (0, 0) else ["sleep 0.1"] * 5,
            into=watched,
            overlap=overlap,
            progress=interrupt,
        )
    assert watched.opened
    assert not [w for w in watched.opened if w._open]


def test_no_workspace_stays_open_after_a_collection(play, sandbox):
    watched = Watched(sandbox)
    play(lambda n, s: GOOD, into=watched)
    assert len(watched.opened) == 8  # four to act in, four for the verdicts
    assert not [w for w in watched.opened if w._open]


@MODES
def test_tool_calls_and_verdicts_of_a_round_are_in_flight_together(play, sandbox, overlap):
    done = play(lambda n, s: GOOD, count=1, into=Paired(sandbox, timeout=60), tool_threads=2, overlap=overlap)
    assert [t.verdict.reward for t in done] == [1.0, 1.0]
    alone = Paired(sandbox, timeout=0.2)
    with pytest.raises(threading.BrokenBarrierError):  # control: one thread runs them one after the other
        play(lambda n, s: GOOD, count=1, into=alone, tool_threads=1, overlap=overlap)
    assert not [w for w in alone.opened if w._open]


def test_several_waves_and_overlap_give_the_same_episodes(play):
    """More rows than slots; scripted, so that every difference is the collector's."""

    def script(n, s):
        return [GOOD, ["sort a.txt", DONE], [DONE]][(n + s) % 3]

    def outcome(**options):
        return [(t.task_id, t.sample, t.ids, t.mask, t.verdict) for t in play(script, count=3, **options)]

    one = outcome()
    assert len({str(v) for *_, v in one}) == 3
    assert outcome(slots=2) == one
    assert outcome(slots=1) == one  # a group always fits
    assert outcome(slots=4, overlap=True) == one


class Talkative(Decoder):
    """A random model that ends turns and calls tools often enough to reach several turns."""

    lift = ()

    def logits(self, hidden):
        out = super().logits(hidden)
        for i in self.lift:
            out[..., i] += 5.0
        return out


def random_episodes(tokenizer, tasks, sandbox, **rollout):
    model = decoder(tokenizer, cls=Talkative)
    model.lift = (tokenizer.end, tokenizer.call)
    return collect(
        model,
        tokenizer,
        tasks[:2],
        sandbox,
        ENV,
        RolloutConfig(turn_tokens=8, **rollout),
        group_size=6,
        seed=SEED,
        step=STEP,
    )


def test_rounds_are_reproducible_to_the_bit(tokenizer, tasks, sandbox):
    first = random_episodes(tokenizer, tasks, sandbox)
    again = random_episodes(tokenizer, tasks, sandbox, tool_threads=1)
    assert [(t.ids, t.logps, t.mask) for t in first] == [(t.ids, t.logps, t.mask) for t in again]
    assert len({tuple(t.ids) for t in first}) == len(first)  # and not one episode 12 times
    assert max(t.turns for t in first) >= 3 and {t.stop for t in first} >= {StopReason.FINAL, StopReason.TOKENS}
    waves = random_episodes(tokenizer, tasks, sandbox, slots=6)
    assert [t.ids for t in waves] == [t.ids for t in first]
    for a, b in zip(waves, first, strict=True):
        assert torch.allclose(torch.tensor(a.logps), torch.tensor(b.logps), atol=1e-4)


def test_streams_are_named_by_seed_step_task_and_sample():
    keys = {row_key(*name) for name in ((0, 1, "a", 2), (1, 1, "a", 2), (0, 2, "a", 2), (0, 1, "b", 2), (0, 1, "a", 3))}
    assert len(keys) == 5 and all(0 <= k < 2**64 for k in keys)
    assert row_key(1, 11, "a", 0) != row_key(11, 1, "a", 0)


def test_a_row_names_the_fixtures_of_its_verdict(play, tasks, sandbox, monkeypatch):
    """By its key, also where its sandbox died and it is played again."""
    numbers = []

    class Noting(COLLECT.Episode):
        def __init__(self, task, sandbox, config, number):
            super().__init__(task, sandbox, config, number)
            numbers.append((task.id, number))

    monkeypatch.setattr(COLLECT, "Episode", Noting)
    with open_sandbox() as own:
        play(lambda n, s: ["poison" if (n, s) == (1, 1) else "ls", DONE], into=Watched(own, deaths=1))
    expected = [(task.id, row_key(SEED, STEP, task.id, s)) for task in tasks[:2] for s in range(2)]
    assert numbers == [*expected, expected[-1]]
    assert len(set(numbers)) == 4


def test_greedy_and_full_support_are_told_apart():
    assert RolloutConfig().sampling == SamplingParams(1.0, 0, 1.0) and RolloutConfig().sampling.full_support
    assert not RolloutConfig(temperature=0.0).sampling.full_support
