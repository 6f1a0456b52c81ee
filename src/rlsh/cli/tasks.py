"""The verbs of `rlsh tasks`."""

from __future__ import annotations

import argparse
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlsh.cli.commands import claim, emit, sandbox, say
from rlsh.runfolder import write_whole
from rlsh.sandbox.base import Sandbox
from rlsh.types import RlshError

if TYPE_CHECKING:
    from rlsh.env.harvest import HarvestReport
    from rlsh.tasks.task import Task

DEMONSTRATIONS = 3000


def build(arguments: argparse.Namespace) -> None:
    from rlsh.env.taskset import SOURCES, Part, build_set, harvested
    from rlsh.env.trials import kept_in
    from rlsh.policy import SHIPPED
    from rlsh.text.tokenizer import Tokenizer
    from rlsh.trainers.progress import Progress

    out = Path(arguments.out)
    claim(str(out / "train.jsonl"))
    claim(arguments.json)
    own = arguments.from_folder is not None
    kind = arguments.kind or ("python" if own else "drills")
    if own and kind == "drills":
        raise RlshError("--kind drills: their words are invented; what is made --from DIR is shell, python or mixed")
    counts: dict[Part, int] = {
        "train": arguments.count,
        "held_out": arguments.held_out,
        "never_met": arguments.never_met,
    }
    if min(counts.values()) < 0:
        raise RlshError(f"{min(counts.values())}: a number of tasks is 0 or more")
    summary: dict[str, Any] = {"kind": kind, "seed": arguments.seed}
    with sandbox(arguments, out) as s:
        sources = SOURCES
        if own:
            report = harvested_from(arguments, out, s)
            sources, summary["harvest"] = harvested(report), report.as_dict()
        progress = Progress("tasks", sum(counts.values()))
        with kept_in(out) as trials:
            made = build_set(
                kind,
                counts,
                s,
                seed=arguments.seed,
                sources=sources,
                fewer=own,
                trials=trials,
                progress=progress.update,
            )
        if not made.tasks["train"]:
            raise RlshError(f"{arguments.from_folder}: no task for training could be made of it")
        made.write(out)
    for part, parts in made.reports.items():
        rejected = parts.rejected.total()
        say(arguments, f"{part}: {parts.accepted} admitted, {rejected} rejected, {parts.duplicates} duplicates")
        say(arguments, *(f"  rejected {times}x {reason}" for reason, times in parts.reasons.most_common()))
    say(arguments, f"written to {out} in {made.seconds:.0f} s")
    emit(summary | made.summary(Tokenizer.load(SHIPPED["base"])), arguments.json)


def harvested_from(arguments: argparse.Namespace, out: Path, sandbox: Sandbox) -> HarvestReport:
    """Prints what was found; every rejection with its place goes to a file."""
    from rlsh.env.harvest import harvest, table
    from rlsh.env.taskset import WORKERS
    from rlsh.trainers.progress import Progress

    progress = Progress("harvest", 1)

    def show(done: int, total: int) -> None:
        progress.total = total
        progress.update(done)

    report = harvest(Path(arguments.from_folder).expanduser(), sandbox, out, WORKERS, show)
    places = out / "harvest.txt"
    counted, each = table(report)
    write_whole(places, "".join(f"{line}\n" for line in each), "choose another --out")
    say(arguments, *counted, f"each with its place: {places}")
    return report


def check(arguments: argparse.Namespace) -> None:
    from rlsh.env.admission import admit
    from rlsh.tasks.task import read_tasks

    tasks = read_tasks(Path(arguments.file))
    with sandbox(arguments, arguments.file) as s, ThreadPoolExecutor(4) as pool:
        reasons = list(pool.map(lambda t: admit(t, s), tasks))
    bad = {t.id: r for t, r in zip(tasks, reasons, strict=True) if r is not None}
    say(arguments, f"{len(tasks) - len(bad)} of {len(tasks)} tasks hold", *(f"  {i}: {r}" for i, r in bad.items()))
    emit({"tasks": len(tasks), "failed": bad}, arguments.json)
    if bad:
        raise RlshError(f"{arguments.file}: {len(bad)} tasks fail their own admission trial")


def task_named(file: str, beginning: str | None) -> Task:
    """Of the tasks in `file` the first whose id begins so. Raises RlshError where there is none."""
    from rlsh.tasks.task import read_tasks

    for task in read_tasks(Path(file)):
        if task.id.startswith(beginning or ""):
            return task
    raise RlshError(f"{file}: no task whose id begins with {beginning!r}")


def verify(arguments: argparse.Namespace) -> None:
    from rlsh.env.admission import LIMITS
    from rlsh.env.verify import read_tree, verify_command, verify_workspace

    task = task_named(arguments.file, arguments.id)
    claim(arguments.json)
    with sandbox(arguments, arguments.file) as s:
        if arguments.command is not None:
            verdict = verify_command(task, arguments.command, s, LIMITS)
        else:
            verdict = verify_workspace(task, read_tree(Path(arguments.workspace), LIMITS), s, LIMITS)
    say(arguments, f"{task.id}: {'infra' if verdict.infra else verdict.reward}", *verdict.reasons)
    emit({"task": task.id, **vars(verdict)}, arguments.json)
    if verdict.reward != 1.0:
        raise RlshError(f"{task.id}: not solved")


def show(arguments: argparse.Namespace) -> None:
    task = task_named(arguments.file, arguments.id)
    print(f"{task.id}  ({task.set}, {task.split}, seed {task.seed})\n\n{task.prompt}\n")
    for path, entry in task.files.items():
        print(f"-- {path} ({entry.kind}, {entry.mode:o})")
        if entry.kind == "file":
            print(entry.content.decode(errors="replace"), end="")
    reference = ", then ".join("\n".join(call.arguments.values()) for call in task.reference)
    print(f"\nreference: {reference}   compared: {'; '.join(check.summary for check in task.checks)}")


def stats(arguments: argparse.Namespace) -> None:
    from rlsh.tasks.task import read_tasks

    counts = Counter((t.set, t.family) for t in read_tasks(Path(arguments.file)))
    say(arguments, *(f"{n:5}  {s:14} {f}" for (s, f), n in sorted(counts.items())))
    emit([{"set": s, "family": f, "tasks": n} for (s, f), n in sorted(counts.items())], arguments.json)


def import_(arguments: argparse.Namespace) -> None:
    from rlsh.env.harbor import import_harbor
    from rlsh.env.importing import ImportReport, import_tasks
    from rlsh.tasks.dataset import read_dataset
    from rlsh.tasks.task import write_tasks
    from rlsh.trainers.progress import Progress

    path, out = Path(arguments.path), Path(arguments.out)
    claim(str(out))
    claim(arguments.json)
    if arguments.kind == "harbor":
        tasks, rejected = import_harbor(path)
        report = ImportReport(rejected)
    elif arguments.kind == "dataset":
        tasks, report = read_dataset(path), ImportReport()
    else:
        progress = Progress("problems", 1)

        def show(done: int, total: int) -> None:
            progress.total = total
            progress.update(done)

        with sandbox(arguments, path, out) as s:
            tasks, report = import_tasks(arguments.kind, path, s, progress=show)
    if not tasks:
        raise RlshError(f"{path}: no task in it: {'; '.join(report.rejected) or 'it is empty'}")
    write_tasks(out, tasks)
    refused = sum(map(len, report.rejected.values()))
    say(arguments, f"{len(tasks)} tasks in {out}, {refused} rejected")
    say(arguments, *(f"  {reason}: {', '.join(names)}" for reason, names in report.rejected.items()))
    say(arguments, *(f"  {name}: {n} slow cases left out" for name, n in report.left_out.items()))
    emit({"tasks": len(tasks), "rejected": report.rejected, "left_out": report.left_out}, arguments.json)


def export(arguments: argparse.Namespace) -> None:
    from rlsh.env.harbor import export_harbor
    from rlsh.tasks.dataset import write_dataset
    from rlsh.tasks.task import read_tasks

    tasks, out = read_tasks(Path(arguments.file)), Path(arguments.out)
    if arguments.public and arguments.format != "dataset":
        raise RlshError(f"--public: a {arguments.format} export is judged by what --public leaves out")
    if arguments.format == "harbor":
        export_harbor(tasks, out)
    else:
        write_dataset(tasks, out, public=arguments.public)
    print(f"{len(tasks)} tasks in {out}")


def traces(arguments: argparse.Namespace) -> None:
    from rlsh.config import load
    from rlsh.env.traces import traces, write_traces
    from rlsh.recipe_base import demonstrations
    from rlsh.rollout.evaluate import EvalConfig
    from rlsh.tasks.task import read_tasks
    from rlsh.trainers.progress import Progress

    claim(arguments.out)
    env = load(EvalConfig, None, arguments.overrides).env
    with sandbox(arguments, arguments.out, *filter(None, [arguments.tasks]), tools=env.tools) as s:
        if arguments.tasks is None:
            made = demonstrations(s, arguments.count or DEMONSTRATIONS, arguments.seed, env)
        else:
            tasks = read_tasks(Path(arguments.tasks))[: arguments.count]
            made = traces(tasks, s, env, Progress("demonstrations", len(tasks)).update)
        write_traces(Path(arguments.out), made)
    print(f"{len(made)} demonstrations in {arguments.out}")
