"""The demo's stages on a model too small to learn, and (slow) a miniature of the recipe of the shipped base."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rlsh.demo import DemoConfig, headline, run_demo, score_lines, table_lines
from rlsh.models import Decoder, ModelConfig
from rlsh.policy import Policy, load_policy, save_policy
from rlsh.recipe_base import BaseConfig, make_base, prepare_data
from rlsh.rollout.collect import RolloutConfig
from rlsh.text import Tokenizer
from rlsh.trainers.grpo import GrpoConfig
from rlsh.trainers.pretrain import PretrainConfig, ShapeConfig
from rlsh.trainers.sft import SftConfig
from rlsh.types import RlshError

FIGURES = {"pass_at_1", "low", "high", "greedy", "pass_at_8"}


@pytest.fixture
def config(tmp_path):
    tokenizer = Tokenizer.train(["sort the lines of a file; exec ls"] * 3, 290)
    (tmp_path / "model").mkdir()
    save_policy(tmp_path / "model", Policy(Decoder(ModelConfig(tokenizer.vocab_size, 256, 1, 1, 8)), tokenizer))
    training = GrpoConfig(
        model=str(tmp_path / "model"),
        out=tmp_path / "demo",
        steps=2,
        prompts=2,
        group_size=2,
        rollout=RolloutConfig(turn_tokens=4),
    )
    return DemoConfig(train_tasks=6, held_out_tasks=18, never_met_tasks=4, grpo=training)


def without_times(summary):
    return {k: v for k, v in summary.items() if k != "seconds"}


def test_the_demo_leaves_its_summary_and_report(config, sandbox):
    summary = run_demo(config, sandbox, resume=False)
    run = config.grpo.out
    assert json.loads((run / "summary.json").read_text()) == summary
    assert {"seed", "tasks", "base", "trained", "held_out_families", "seconds"} <= summary.keys()
    assert summary["tasks"] == 18
    for figures in (summary["base"], summary["trained"], *summary["held_out_families"].values()):
        assert figures.keys() == FIGURES
    assert summary["seconds"] > 0
    assert "never_met" in "\n".join(table_lines(run))
    assert (run / "report.html").stat().st_size > 10_000
    with pytest.raises(RlshError, match="--resume"):
        run_demo(config, sandbox, resume=False)
    with pytest.raises(RlshError, match="train_tasks was 6 and is now 7"):
        run_demo(replace(config, train_tasks=7), sandbox, resume=True)


def test_an_interrupted_demo_ends_as_if_it_had_not_been(config, sandbox, monkeypatch):
    whole = run_demo(config, sandbox, resume=False)
    part = replace(config, grpo=replace(config.grpo, out=config.grpo.out.with_name("part")))
    for stage in ("rlsh.demo.build_set", "rlsh.demo.evaluate", "rlsh.demo.grpo", "rlsh.demo.write_run_report"):

        def interrupted(*arguments, **more):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(stage, interrupted)
            run_demo(part, sandbox, resume=True)
    assert without_times(run_demo(part, sandbox, resume=True)) == without_times(whole)


def test_a_figure_that_the_host_took_is_a_dash():
    """Every task of the only row lost a sample: there is no pass@8, and no traceback instead of a table."""
    cell = {"value": 0.5, "low": 0.0, "high": 1.0}
    row = {"tasks": 1, "pass_at_1": cell, "greedy": cell, "pass_at_8": None}
    result = {"samples": 8, **row, "by_set": {"demonstrated": row}, "by_family": {"f": {"set": "demonstrated", **row}}}
    assert score_lines(result)[1].split()[-1] == "-"
    assert headline(row) == {"pass_at_1": 0.5, "low": 0.0, "high": 1.0, "greedy": 0.5, "pass_at_8": None}


@pytest.mark.parametrize("name", ["train_tasks", "held_out_tasks", "never_met_tasks"])
def test_a_demo_without_tasks_is_refused(config, name):
    with pytest.raises(RlshError, match=f"{name} = 0"):
        replace(config, **{name: 0})


def test_data_is_prepared_from_any_text(tmp_path):
    (tmp_path / "notes").mkdir()
    for i in range(30):
        (tmp_path / "notes" / f"{i}.txt").write_text(f"note {i}: list the files, then count the lines\n" * 3)
    out = prepare_data(tmp_path / "data", None, vocab=300, sessions=0, paths=[tmp_path / "notes"])
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["documents"] == 30 and Tokenizer.load(out).vocab_size == 300
    assert prepare_data(out, None, vocab=300, sessions=0, paths=[tmp_path / "notes"]) == out
    with pytest.raises(RlshError, match="choose another folder"):
        prepare_data(out, None, vocab=301, sessions=0, paths=[tmp_path / "notes"])
    theirs = prepare_data(tmp_path / "gpt2", None, vocab="gpt2", sessions=0, paths=[tmp_path / "notes"])
    assert Tokenizer.load(theirs).encode("Hello world") == [15496, 995]
    with pytest.raises(RlshError, match="no such file"):
        prepare_data(tmp_path / "other", None, vocab=300, sessions=0, paths=[Path("/nonexistent")])


@pytest.mark.slow
def test_a_miniature_of_the_base(tmp_path, sandbox):
    """The whole recipe, small: it runs, it resumes, it learns something, it loads as what ships."""
    config = BaseConfig(
        out=tmp_path / "base",
        vocab=400,
        sessions=300,
        demonstrations=120,
        replay=200,
        pretrain=PretrainConfig(
            model=ShapeConfig(n_layer=2, n_head=2, n_embd=48), steps=120, rows=8, eval_every=40, save_every=40
        ),
        sft=SftConfig(steps=120, rows=8, eval_every=40),
    )
    model = load_policy(make_base(config, sandbox) / "base").model
    assert model.config.n_embd == 48
    for stage in ("pretrain", "sft"):
        losses = [json.loads(line)["loss"] for line in (config.out / stage / "metrics.jsonl").read_text().splitlines()]
        assert losses[-1] < 0.8 * losses[0]
    assert make_base(config, sandbox, resume=True) == config.out / "shipped"
    with pytest.raises(RlshError, match="--resume"):
        make_base(config, sandbox)
    with pytest.raises(RlshError, match="demonstrations was 120 and is now 130"):
        make_base(replace(config, demonstrations=130), sandbox, resume=True)
    assert load_policy(config.out / "shipped" / "pretrained").tokenizer.vocab_size == 400
