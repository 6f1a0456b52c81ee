"""One function a verb: arguments in, calls, lines out."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rlsh.config import find_recipe, load
from rlsh.sandbox.base import Sandbox
from rlsh.types import RlshError

if TYPE_CHECKING:  # importing these takes time, torch's above all, and most verbs do without
    from rlsh.rollout.evaluate import EvalConfig

C = TypeVar("C")
NONE = "none"  # of --sandbox
CONSENT = "--i-understand-commands-run-unprotected"


@contextmanager
def sandbox(
    arguments: argparse.Namespace, *private: str | Path, tools: Sequence[Path] | None = None
) -> Iterator[Sandbox]:
    """The sandbox that was asked for. `tools` are those of `--tools` where they are not given; `private` are files
    and folders that these must not show."""
    from rlsh.sandbox.probe import open_sandbox

    tools = arguments.tools if tools is None else tools
    if arguments.sandbox == NONE:
        from rlsh.sandbox.none import UnprotectedSandbox

        opened: Sandbox = UnprotectedSandbox(tools)
    else:
        opened = open_sandbox(kind=arguments.sandbox, tools=tools, private=[Path(path) for path in private])
    try:
        yield opened
    finally:
        opened.close()


def config(cls: type[C], arguments: argparse.Namespace, default: str | None = None) -> C:
    """The trainer's config. `rlsh grpo key=value` needs no recipe: a first word with `=` in it is an override.

    `default` is the recipe taken where none is named; without it the dataclass's own defaults are.
    """
    recipe, overrides = arguments.recipe, arguments.overrides
    if recipe is not None and "=" in recipe:
        recipe, overrides = None, [recipe, *overrides]
    recipe = recipe or default
    path = None if recipe is None else find_recipe(recipe)
    return load(cls, path, overrides, [Path(p) for p in arguments.overlay])  # type: ignore[type-var]


def emit(result: Any, path: str | None) -> None:
    """`--json`: to stdout for `-`, else to a file."""
    if path is None:
        return
    text = json.dumps(result, indent=1, ensure_ascii=False)
    if path == "-":
        print(text)
        return
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise RlshError(f"--json {path}: {error.strerror}; choose a file you may write") from None


def claim(path: str | None) -> None:
    """Fails before the work, not after it, where a result could not be written to `path`."""
    if path is None or path == "-":
        return
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        there = file.exists()
        file.open("ab").close()
        if not there:
            file.unlink()
    except OSError as error:
        raise RlshError(f"{path}: cannot write ({error.strerror}); choose a file you may write") from None


def say(arguments: argparse.Namespace, *lines: str) -> None:
    """Human-readable lines; to stderr where stdout carries JSON."""
    print(*lines, sep="\n", file=sys.stderr if getattr(arguments, "json", None) == "-" else sys.stdout)


# --- sandbox and tasks ------------------------------------------------------------------------------------------


def doctor(arguments: argparse.Namespace) -> None:
    from rlsh.sandbox.probe import probe, usable

    rungs = probe()
    backend = usable(rungs)
    failed = "FAIL" if backend is None else "--  "  # where there is a sandbox, another one need not be
    say(
        arguments,
        *(
            f"{'ok  ' if r.ok else failed}  {r.name}: {r.verdict}" + (f" -> {r.way_out}" if r.way_out else "")
            for r in rungs
        ),
    )
    if backend is not None:
        say(arguments, f"commands run in: {backend}")
    emit([vars(r) for r in rungs], arguments.json)
    if backend is None:
        raise RlshError("no sandbox on this machine: commands that run tasks will refuse to start")


# --- data and training ------------------------------------------------------------------------------------------


def prepare(arguments: argparse.Namespace) -> None:
    from rlsh.data.shards import MANIFEST
    from rlsh.recipe_base import prepare_data

    paths = [Path(p) for p in arguments.paths] or None
    out = Path(arguments.out)
    if arguments.sessions:
        with sandbox(arguments, out) as s:
            prepare_data(out, s, vocab=arguments.vocab, sessions=arguments.sessions, paths=paths)
    else:
        prepare_data(out, None, vocab=arguments.vocab, sessions=0, paths=paths)
    print((out / MANIFEST).read_text(encoding="utf-8"), end="")


def chats(arguments: argparse.Namespace) -> None:
    from rlsh.recipe_base import write_replay

    out = Path(arguments.out)
    with sandbox(arguments, out) as s:
        write_replay(out / "replay.jsonl", s, arguments.count, out)
    print(f"{arguments.count} conversations in {out / 'replay.jsonl'}")


def pretrain(arguments: argparse.Namespace) -> None:
    from rlsh.trainers.pretrain import PretrainConfig
    from rlsh.trainers.pretrain import pretrain as train

    print(f"best model: {train(config(PretrainConfig, arguments), arguments.resume)}")


def sft(arguments: argparse.Namespace) -> None:
    from rlsh.trainers.sft import SftConfig
    from rlsh.trainers.sft import sft as train

    print(f"best model: {train(config(SftConfig, arguments), arguments.resume)}")


def grpo(arguments: argparse.Namespace) -> None:
    from rlsh.report import write_run_report
    from rlsh.trainers.grpo import GrpoConfig
    from rlsh.trainers.grpo import grpo as train

    chosen = config(GrpoConfig, arguments)
    with sandbox(arguments, chosen.tasks, chosen.out, tools=chosen.env.tools) as s:
        run = train(chosen, s, arguments.resume)
    print(f"model: {run}\nreport: {write_run_report(run)}")


def base(arguments: argparse.Namespace) -> None:
    from rlsh.recipe_base import BaseConfig, make_base

    chosen = config(BaseConfig, arguments, "base")
    with sandbox(arguments, chosen.out, tools=chosen.env.tools) as s:
        print(f"base: {make_base(chosen, s, arguments.resume)}")


# --- results ----------------------------------------------------------------------------------------------------


def eval(arguments: argparse.Namespace) -> None:
    from rlsh.demo import score_lines
    from rlsh.policy import load_policy
    from rlsh.rollout.evaluate import EvalConfig, evaluate
    from rlsh.tasks.task import read_tasks
    from rlsh.trainers.progress import Progress

    tasks = read_tasks(Path(arguments.tasks))
    claim(arguments.json)
    if arguments.samples < 1:
        raise RlshError(f"--samples {arguments.samples}: at least 1")
    chosen = load(EvalConfig, None, arguments.overrides, base=trained_with(Path(arguments.model)))
    policy = load_policy(arguments.model)
    progress = Progress("eval", len(tasks) * (1 + arguments.samples))
    with sandbox(arguments, arguments.tasks, arguments.model, tools=chosen.env.tools) as s:
        result = evaluate(
            policy,
            tasks,
            s,
            chosen.env,
            chosen.rollout,
            samples=arguments.samples,
            seed=arguments.seed,
            checkpoint=arguments.model,
            progress=progress.update,
        )
    emit(result, arguments.json)
    say(arguments, *score_lines(result))


def trained_with(model: Path) -> EvalConfig:
    """Environment and sampling of a GRPO run; the defaults for another folder."""
    from rlsh.rollout.evaluate import EvalConfig
    from rlsh.trainers.grpo import GrpoConfig

    file = model / "config.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if "rollout" not in table:
        return EvalConfig()
    run = load(GrpoConfig, file)
    return EvalConfig(run.env, run.rollout)


def report(arguments: argparse.Namespace) -> None:
    from rlsh.report import write_run_report

    path = Path(arguments.path)
    if not (path / "config.toml").exists():
        raise RlshError(f"{path}: no run here (no config.toml)")
    print(write_run_report(path))


def demo(arguments: argparse.Namespace) -> None:
    from rlsh.demo import DemoConfig, run_demo, table_lines

    chosen = config(DemoConfig, arguments, "demo")
    with sandbox(arguments, chosen.grpo.out, tools=chosen.grpo.env.tools) as s:
        summary = run_demo(chosen, s, arguments.resume)
    print(*table_lines(chosen.grpo.out), sep="\n")
    print(f"\n{summary['seconds'] / 60:.1f} minutes; report: {chosen.grpo.out / 'report.html'}")
