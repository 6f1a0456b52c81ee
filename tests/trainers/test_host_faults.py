"""A real step of GRPO while sandboxes are killed from outside, in the middle of a command."""

import html
import importlib
import json
import os
import re
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from rlsh.attacks.stage import new_marker
from rlsh.attacks.watch import marked
from rlsh.engine import Engine
from rlsh.engine import engine as engine_module
from rlsh.env.episode import EnvConfig
from rlsh.models import Decoder, ModelConfig
from rlsh.policy import Policy, save_policy
from rlsh.report import write_run_report
from rlsh.rollout.collect import row_key
from rlsh.sandbox.probe import open_sandbox
from rlsh.tasks.task import write_tasks
from rlsh.text.chat import encode_message
from rlsh.text.tokenizer import Tokenizer
from rlsh.trainers.grpo import GrpoConfig, grpo
from rlsh.types import Message, RlshError, ToolCall

DONE = "done"
GOOD = ["sort -n a.txt", DONE]
BAD = ["sort a.txt", DONE]
TAMPERS = ["sort -n a.txt; setsid sleep 99 &", DONE]
EPSILON = 1e-4  # of group_advantages


class Mortal:
    """A sandbox in which some commands hang until somebody outside kills the worker they run in.

    `deaths` says how often each of them does; after that it runs like any other.
    """

    def __init__(self, inner, deaths):
        self.inner, self.deaths = inner, Counter(deaths)

    def open(self, files, limits):
        workspace = self.inner.open(files, limits)
        run, worker = workspace.exec, workspace._worker.process.pid

        def exec(command):
            if self.deaths[command] == 0:
                return run(command)
            self.deaths[command] -= 1
            mark = new_marker()
            with ThreadPoolExecutor(1) as killer:
                killer.submit(kill_once_running, worker, mark)
                return run(f"sleep 60 {mark}")

        workspace.exec = exec
        return workspace


def kill_once_running(worker, mark):
    deadline = time.monotonic() + 20
    while not marked(mark) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(worker, signal.SIGKILL)


@pytest.fixture
def step(tmp_path, make_task, monkeypatch):
    """Runs one step of GRPO, in which the policy says what `scripts` list for each (task, sample); its folder."""
    tasks = [
        make_task("sort -n a.txt", {"a.txt": v}, {"a.txt": "200\n30\n4\n"}, broken="sort a.txt")
        for v in ("10\n9\n", "11\n2\n")
    ]
    tokenizer = Tokenizer.train(["Sort a.txt by number.\n$ sort a.txt\nexec\nsort -n a.txt\n[exit 0]\n"] * 3, 300)
    shape = ModelConfig(tokenizer.vocab_size, 192, n_layer=1, n_head=2, n_embd=16)
    (tmp_path / "model").mkdir()
    save_policy(tmp_path / "model", Policy(Decoder(shape, torch.Generator().manual_seed(0)), tokenizer))
    write_tasks(tmp_path / "tasks.jsonl", tasks)
    config = GrpoConfig(
        model=str(tmp_path / "model"),
        tasks=tmp_path / "tasks.jsonl",
        out=tmp_path / "run",
        steps=1,
        prompts=2,
        group_size=4,
        updates=1,
        env=EnvConfig(wall_s=30.0),
    )

    def ids(turn):
        call = None if turn == DONE else ToolCall("exec", {"command": turn})
        return encode_message(tokenizer, Message("assistant", "" if call else turn, call))[0][1:]

    def run(scripts, deaths):
        words = {
            row_key(config.seed, 1, task.id, s): [i for turn in script for i in ids(turn)]
            for task, group in zip(tasks, scripts, strict=True)
            for s, script in enumerate(group)
        }

        class Scripted(Engine):
            """The words are given, their log-probs are the model's."""

            def step(self):
                rows = self._rows[: self._active]

                def say(logits, params, uniform):
                    said = torch.tensor([words[r.key][r.sampled] for r in rows])
                    return said, logits.log_softmax(-1).gather(-1, said[:, None])[:, 0]

                with monkeypatch.context() as patch:
                    patch.setattr(engine_module, "sample", say)
                    return super().step()

        monkeypatch.setattr(importlib.import_module("rlsh.rollout.collect"), "Engine", Scripted)
        own = open_sandbox(2 * config.group_size)  # a worker for each episode: who is killed takes nobody along
        try:
            mortal = Mortal(own, deaths)
            grpo(config, mortal)
        finally:
            own.close()
        assert not +mortal.deaths
        rows = [json.loads(line) for line in (config.out / "trajectories.jsonl").read_text().splitlines()]
        (metrics,) = [json.loads(line) for line in (config.out / "metrics.jsonl").read_text().splitlines()]
        order = [task.id for task in tasks]
        return config.out, sorted(rows, key=lambda r: (order.index(r["task_id"]), r["sample"])), metrics

    return run


def advantage(reward, others):
    """By hand, of one of `others`: (r - mean) / (std + epsilon), std over n - 1."""
    mean = sum(others) / len(others)
    std = (sum((r - mean) ** 2 for r in others) / (len(others) - 1)) ** 0.5
    return (reward - mean) / (std + EPSILON)


def test_a_sandbox_killed_from_outside_costs_its_row_alone_and_is_seen(step):
    scripts = [
        [GOOD, BAD, ["twice", *GOOD], TAMPERS],
        [["once", *GOOD], BAD, GOOD, GOOD],
    ]
    run, rows, metrics = step(scripts, {"twice": 2, "once": 1})
    assert [(r["infra"], r["retried"]) for r in rows] == [
        *[(False, False), (False, False), (True, True), (False, False)],
        *[(False, True), (False, False), (False, False), (False, False)],
    ]
    assert rows[2]["stop"] == "infra" and rows[4]["stop"] == "final"
    assert [r["reward"] for r in rows if not r["infra"]] == [1, 0, 0, 1, 0, 1, 1]
    # three are left of the first group, and the lost row is no failed attempt: it moves nobody's baseline
    first, second = [1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 1.0]
    expected = [
        *[advantage(1.0, first), advantage(0.0, first), 0.0, advantage(0.0, first)],
        *[advantage(r, second) for r in second],
    ]
    assert [r["advantage"] for r in rows] == pytest.approx(expected, abs=1e-6)
    naive = advantage(1.0, [1.0, 0.0, 0.0, 0.0])  # control: taken for a failed attempt, it does
    assert abs(naive - expected[0]) > 0.3

    assert (metrics["episodes"], metrics["infra"], metrics["retried"], metrics["flags"]) == (8, 1, 2, 1)
    assert metrics["reward"] == pytest.approx(4 / 7) and metrics["informative"] == 1.0
    assert rows[3]["flags"] == ["background process: 1 were left behind"]

    page = write_run_report(run).read_text(encoding="utf-8")
    assert 'id="chart-trouble"' in page
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    for phrase in ("host failures1", "played again2", "flagged1", "background process: 1 were left behind"):
        assert phrase in text, phrase


def test_what_was_lost_to_the_host_teaches_nothing(step):
    """All that is left of each group earned the same: without the lost rows there is no advantage and no step."""
    _, rows, metrics = step([[GOOD, GOOD, GOOD, ["twice"]]] * 2, {"twice": 4})
    assert [r["infra"] for r in rows] == [False, False, False, True] * 2
    assert {r["advantage"] for r in rows} == {0.0} and metrics["informative"] == 0.0
    assert metrics["grad_norm"] == pytest.approx(0.0, abs=1e-6)
    # control: as failed attempts they would set the others apart
    assert advantage(1.0, [1.0, 1.0, 1.0, 0.0]) > 0.4


def test_a_step_that_is_lost_whole_stops_the_run(step):
    with pytest.raises(RlshError, match="step 1: every episode failed in the sandbox; see: rlsh doctor"):
        step([[["twice"]] * 4] * 2, {"twice": 16})
