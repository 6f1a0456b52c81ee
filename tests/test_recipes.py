"""What ships as a recipe loads, and every verb's defaults survive the file a run keeps of them."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from rlsh.config import RECIPES, ConfigError, find_recipe, load, to_toml
from rlsh.demo import DemoConfig
from rlsh.recipe_base import BaseConfig
from rlsh.rollout.collect import RolloutConfig
from rlsh.trainers.grpo import GrpoConfig
from rlsh.trainers.pretrain import PretrainConfig
from rlsh.trainers.sft import SftConfig
from rlsh.types import RlshError

SHIPPED = {"base": BaseConfig, "demo": DemoConfig}


def test_every_shipped_recipe_has_its_config_here():
    assert {path.stem for path in RECIPES.glob("*.toml")} == SHIPPED.keys()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_recipe_loads_and_survives_its_copy_in_the_run(name, tmp_path):
    config = load(SHIPPED[name], find_recipe(name))
    assert config != SHIPPED[name]()  # it says something
    copy = tmp_path / "config.toml"
    copy.write_text(to_toml(config), encoding="utf-8")
    assert load(SHIPPED[name], copy) == config
    # control: it is no other verb's
    for other in SHIPPED.values():
        if other is not SHIPPED[name]:
            with pytest.raises(ConfigError, match="unknown key"):
                load(other, find_recipe(name))


@pytest.mark.parametrize("kind", [GrpoConfig, SftConfig, PretrainConfig, DemoConfig, BaseConfig])
def test_defaults_survive_toml(kind, tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(to_toml(kind()), encoding="utf-8")
    assert load(kind, path) == kind()
    # control: the file decides, not the defaults
    path.write_text(to_toml(replace(kind(), **changed(kind()))), encoding="utf-8")
    loaded = load(kind, path)
    assert loaded != kind() and loaded == replace(kind(), **changed(kind()))


def changed(config):
    """Another value for each integer and each path of the top level, and for a path that may be absent."""
    numbers = {name: value + 1 for name, value in vars(config).items() if type(value) is int}
    paths = {name: Path("/else where") / name for name, value in vars(config).items() if isinstance(value, Path)}
    return numbers | paths | ({"replay": Path("r.jsonl")} if isinstance(config, SftConfig) else {})


def test_the_demo_says_its_beta():
    written = tomllib.loads(find_recipe("demo").read_text(encoding="utf-8"))
    assert written["grpo"]["beta"] == load(DemoConfig, find_recipe("demo")).grpo.beta == 0.04


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        (RolloutConfig, "turn_tokens", 0),
        (RolloutConfig, "slots", 0),
        (RolloutConfig, "tool_threads", 0),
        (GrpoConfig, "save_every", 0),
        (GrpoConfig, "group_size", 1),
        (GrpoConfig, "updates", 17),
        (SftConfig, "eval_every", 0),
        (SftConfig, "val_share", 1.0),
        (SftConfig, "replay_share", 1.5),
        (PretrainConfig, "eval_every", 0),
        (PretrainConfig, "save_every", 0),
    ],
)
def test_a_value_that_would_end_in_a_traceback_later_is_refused_at_once(kind, key, value):
    with pytest.raises(RlshError, match=f"{key} = {value}"):
        kind(**{key: value})
