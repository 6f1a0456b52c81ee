"""Recipes: what they accept, what they refuse, and that a refusal is one line naming key, source and fix."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsh import config as config_module
from rlsh.config import ConfigError, find_recipe, flatten, load, to_toml
from rlsh.types import RlshError


class Schedule(StrEnum):
    COSINE = "cosine"
    FLAT = "flat"


class Level(Enum):
    LOW = 1
    HIGH = 2


@dataclass(frozen=True)
class Optim:
    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float | None = None
    schedule: Schedule = Schedule.FLAT

    def __post_init__(self) -> None:
        if self.lr <= 0:
            raise ValueError(f"lr = {self.lr}: must be above 0")


@dataclass(frozen=True)
class Lora:
    rank: int = 16
    alpha: float | None = None


@dataclass(frozen=True)
class Run:
    name: str  # required
    steps: int = 10
    overlap: bool = False
    out: Path = Path("runs/a")
    families: tuple[str, ...] = ("shell", "python")
    estimator: Literal["k1", "k3"] = "k3"
    note: str | None = None
    data: tuple[Path, ...] = ()
    level: Level = Level.LOW
    cap: int | None = 5
    kl: float | Literal["auto"] = 0.04
    optim: Optim = field(default_factory=lambda: Optim(clip=1.0))
    lora: Lora | None = None
    derived: int = field(init=False, default=0)


@dataclass(frozen=True)
class Outer:
    run: Run  # a nested table without a default


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def refusal(*args: object, **kwargs: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load(*args, **kwargs)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- what wins


def test_later_sources_win(tmp_path: Path) -> None:
    recipe = write(tmp_path / "r.toml", 'name = "r"\nsteps = 1\ncap = 1\n[optim]\nlr = 0.1\nbetas = [0.5, 0.6]\n')
    first = write(tmp_path / "a.toml", "steps = 2\n[optim]\nlr = 0.2\n")
    second = write(tmp_path / "b.toml", "steps = 3\n")
    run = load(Run, recipe, ["steps=4"], [first, second])
    assert (run.steps, run.optim.lr, run.optim.betas, run.cap) == (4, 0.2, (0.5, 0.6), 1)
    assert load(Run, recipe, [], [first, second]).steps == 3
    assert load(Run, recipe, [], [second, first]).steps == 2
    assert load(Run, recipe, ["steps=8", "steps=9"]).steps == 9


def test_a_partly_set_table_keeps_the_defaults_of_its_owner() -> None:
    # Run's default optim clips at 1.0 though Optim's own default is None
    assert load(Run, None, ["name=x", "optim.lr=0.5"]).optim == Optim(lr=0.5, clip=1.0)


@pytest.mark.parametrize(
    "words",
    [["optim.lr=1e-4"], ["--optim.lr=1e-4"], ["--optim.lr", "1e-4"], ["--optim.lr=1", "optim.lr=1e-4"]],
)
def test_override_forms(words: list[str]) -> None:
    assert load(Run, None, ["--name", "x", *words]).optim.lr == 1e-4


@pytest.mark.parametrize(
    ("word", "key", "value"),
    [
        ("overlap=true", "overlap", True),
        ("overlap=false", "overlap", False),
        ("steps=-3", "steps", -3),
        ("note=none", "note", None),
        ("note=12", "note", "12"),
        ("note=a=b", "note", "a=b"),
        ("note=", "note", ""),
        ("cap=none", "cap", None),
        ("families=python", "families", ("python",)),
        ("families=a,b", "families", ("a", "b")),
        ("families=", "families", ()),
        ("out=/x/y", "out", Path("/x/y")),
        ("estimator=k1", "estimator", "k1"),
        ("data=/x,/y", "data", (Path("/x"), Path("/y"))),
        ("level=2", "level", Level.HIGH),
        ("kl=auto", "kl", "auto"),
        ("kl=1", "kl", 1.0),
        ("optim.betas=0.8,0.9", "optim.betas", (0.8, 0.9)),
        ("optim.schedule=cosine", "optim.schedule", Schedule.COSINE),
        ("lora.rank=4", "lora", Lora(rank=4)),
        ("lora=none", "lora", None),
    ],
)
def test_text_becomes_the_type_of_its_field(word: str, key: str, value: object) -> None:
    loaded: object = load(Run, None, ["name=x", word])
    for part in key.split("."):
        loaded = getattr(loaded, part)
    assert loaded == value
    assert type(loaded) is type(value)  # 1 == 1.0 == True would pass otherwise; a private str subclass too


def test_dashes_in_a_key_and_a_negative_value(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Dashed:
        weight_decay: float = 0.0

    assert load(Dashed, None, ["--weight-decay", "-1"]).weight_decay == -1


def test_home_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    assert load(Run, None, ["name=x", "out=~/runs"]).out == Path("/home/u/runs")


# --- what is refused


@pytest.mark.parametrize(
    ("text", "key", "nearest"),
    [
        ("stepz = 1", "stepz", "steps"),
        ("[optim]\nlearning_rate = 1", "optim.learning_rate", "optim"),
        ("[optim]\nbeta = 1", "optim.beta", "optim.betas"),
        ("lr = 1", "lr", "optim.lr"),
        ("rank = 1", "rank", "lora.rank"),
        ("[optin]\nlr = 1", "optin", "optim"),
        ("derived = 1", "derived", ""),
        ("[steps]\nx = 1", "steps.x", "steps"),
    ],
)
def test_unknown_key_in_a_file(tmp_path: Path, text: str, key: str, nearest: str) -> None:
    recipe = write(tmp_path / "r.toml", text)
    message = refusal(Run, recipe)
    assert message.startswith(f"{recipe}: unknown key {key!r}; ")
    assert nearest in message.split(";")[1]


def test_unknown_key_names_the_overlay_or_the_command_line(tmp_path: Path) -> None:
    recipe, overlay = write(tmp_path / "r.toml", 'name = "r"'), write(tmp_path / "o.toml", "stepz = 1")
    assert refusal(Run, recipe, [], [overlay]).startswith(f"{overlay}: unknown key 'stepz'")
    assert refusal(Run, recipe, ["optm.lr=1"]).startswith("command line: unknown key 'optm'")
    assert "'optim.lr'" in refusal(Run, recipe, ["lr=1"])
    assert "unknown key 'steps.x'" in refusal(Run, recipe, ["steps.x=1"])


@pytest.mark.parametrize(
    ("text", "key", "value", "expected"),
    [
        ("steps = 1.0", "steps", "1.0", "int"),
        ("steps = true", "steps", "True", "int"),
        ('steps = "1"', "steps", "'1'", "int"),
        ("overlap = 1", "overlap", "1", "true or false"),
        ('overlap = "true"', "overlap", "'true'", "true or false"),
        ("name = 1", "name", "1", "string"),
        ("out = 1", "out", "1", "path"),
        ("cap = []", "cap", "[]", "int or none"),
        ('families = "shell"', "families", "'shell'", "list of string"),
        ("families = [1]", "families", "[1]", "list of string"),
        ('estimator = "k2"', "estimator", "'k2'", "one of 'k1', 'k3'"),
        ('level = "1"', "level", "'1'", "one of 1, 2"),
        ("optim = 1", "optim", "1", "table"),
        ("[steps]", "steps", "{}", "int"),
        ("[optim]\nlr = true", "optim.lr", "True", "float"),
        ("[optim]\nbetas = [0.9]", "optim.betas", "[0.9]", "list of float, float"),
        ('[optim]\nschedule = "line"', "optim.schedule", "'line'", "one of 'cosine', 'flat'"),
    ],
)
def test_wrong_type_names_key_value_and_type(tmp_path: Path, text: str, key: str, value: str, expected: str) -> None:
    named, recipe = write(tmp_path / "named.toml", 'name = "x"'), write(tmp_path / "r.toml", text)
    assert refusal(Run, named, [], [recipe]) == f"{recipe}: {key} = {value}: expected {expected}"


@pytest.mark.parametrize("word", ["steps=1.5", "overlap=yes", "estimator=k2", "optim.lr=fast", "optim=1", "cap="])
def test_wrong_text_on_the_command_line(word: str) -> None:
    key, _, value = word.partition("=")
    assert refusal(Run, None, ["name=x", word]).startswith(f"command line: {key} = {value!r}: expected ")


@pytest.mark.parametrize("words", [["--steps"], ["steps"], ["--steps", "--cap=1"]])
def test_override_without_a_value(words: list[str]) -> None:
    assert refusal(Run, None, words).startswith(f"command line: {words[0]!r} has no value")


def test_missing_key_file_and_syntax(tmp_path: Path) -> None:
    assert refusal(Run, None).startswith("name is not set and has no default")
    assert refusal(Outer, None).startswith("run.name is not set and has no default")
    assert refusal(Run, tmp_path / "gone.toml").startswith(f"{tmp_path / 'gone.toml'}: cannot read")
    broken = write(tmp_path / "broken.toml", "steps = \n")
    assert refusal(Run, broken).startswith(f"{broken}: not valid TOML: ")
    binary = tmp_path / "ckpt.pt"
    binary.write_bytes(b"\xff\xfe\x00")
    assert refusal(Run, binary).startswith(f"{binary}: not valid TOML: ")


def test_what_a_dataclass_itself_refuses() -> None:
    assert refusal(Run, None, ["name=x", "optim.lr=-1"]) == "optim: lr = -1.0: must be above 0"


# --- and back

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(lambda text: text != "none")
runs = st.builds(
    Run,
    name=names,
    steps=st.integers(-(2**62), 2**62),
    overlap=st.booleans(),
    out=st.just(Path("/tmp/x y")),
    families=st.lists(names, max_size=3).map(tuple),
    estimator=st.sampled_from(["k1", "k3"]),
    note=st.none() | names,
    data=st.lists(st.just(Path("/tmp/x y")), max_size=2).map(tuple),
    level=st.sampled_from(Level),
    cap=st.none() | st.integers(0, 9),
    kl=st.just("auto") | st.floats(0, 1),
    optim=st.builds(
        Optim,
        lr=st.floats(min_value=0, exclude_min=True),
        clip=st.none() | st.floats(0, 9),
        schedule=st.sampled_from(Schedule),
    ),
    lora=st.none() | st.builds(Lora, rank=st.integers(1, 9), alpha=st.none() | st.floats(0, 1)),
)


@given(runs)
def test_to_toml_round_trip(tmp_path_factory: pytest.TempPathFactory, run: Run) -> None:
    recipe = write(tmp_path_factory.getbasetemp() / "round.toml", to_toml(run))
    assert load(Run, recipe) == run


def test_none_is_left_out_only_where_it_is_the_default() -> None:
    plain = tomllib.loads(to_toml(Run(name="x")))
    assert "note" not in plain and "lora" not in plain and "derived" not in plain
    changed = replace(Run(name="x"), cap=None, optim=Optim(clip=None))
    assert flatten(tomllib.loads(to_toml(changed)))["cap"] == "none"
    assert flatten(tomllib.loads(to_toml(changed)))["optim.clip"] == "none"  # Run's own default is 1.0


def test_flatten_keeps_the_order() -> None:
    assert list(flatten({"b": 1, "a": {"d": 2, "c": {"e": math.pi}}}).items()) == [
        ("b", 1),
        ("a.d", 2),
        ("a.c.e", math.pi),
    ]


# --- recipes by name


def test_find_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    for name in ("demo", "tiny"):
        write(shipped / f"{name}.toml", "")
    monkeypatch.setattr(config_module, "RECIPES", shipped)
    monkeypatch.chdir(tmp_path)
    mine = write(tmp_path / "mine.toml", "")
    assert find_recipe("demo") == shipped / "demo.toml"
    assert find_recipe(mine) == mine
    assert find_recipe("mine.toml") == Path("mine.toml")
    write(tmp_path / "demo", "")  # a stray file does not shadow the shipped name
    assert find_recipe("demo") == shipped / "demo.toml"
    with pytest.raises(RlshError, match=r"no recipe 'dmo'.* demo, tiny$"):
        find_recipe("dmo")
    with pytest.raises(RlshError, match="no recipe"):
        find_recipe(tmp_path)  # a folder is none
