"""Demonstrations before they are run: the reference as somebody would come to it, with detours."""

from __future__ import annotations

import random
import re
import shlex

from rlsh.env.patch import apply_patch
from rlsh.tasks.shell import draw
from rlsh.tasks.shell.drills import misspelt
from rlsh.tasks.snippets import edit_call
from rlsh.tasks.task import Task
from rlsh.tasks.world import World
from rlsh.types import ToolCall, exec_call

LOOK, SLIP = 0.3, 0.25  # shares of demonstrations that look around first, that try something wrong first
RUN, CHECK = 0.4, 0.6  # of repairs of files: that run the command first, to read its error, and afterwards, to see
SED = 0.3  # of repairs of one line: by sed instead of edit
LOOKS = ("cat {}", "cat {}", "cat -n {}", "ls; cat {}")
WORD = re.compile(r"[A-Za-z]{4,}")


def route(task: Task, most: int) -> list[ToolCall]:
    """The calls of a demonstration; which detours it has is drawn from the task's id.

    Where the reference edits files, these are looked at first: nobody can repair what they have not seen. Of such a
    task's other detours there are only those that fit into `most` calls.
    """
    rng = random.Random(f"trace {task.id}")
    if any(call.name == "edit" for call in task.reference):
        return edit_route(task, rng, most)
    draft, _ = draw(task.family, task.seed, task.split)
    commands = []
    if draft.looks and not draft.must_look and rng.random() < LOOK:
        commands.append(rng.choice(draft.looks))
    if draft.slips and not draft.script and rng.random() < SLIP:  # a slip would stay in the script
        commands.append(rng.choice(draft.slips))
    return [*map(exec_call, commands), *task.reference]


def edit_route(task: Task, rng: random.Random, most: int) -> list[ToolCall]:
    texts = {path: entry.content.decode() for path, entry in task.files.items() if edited(task, path)}
    spare = most - 1 - len(task.reference)

    def detours(share: float, calls: int) -> bool:
        nonlocal spare
        chosen = rng.random() < share and spare >= calls
        spare -= calls * chosen
        return chosen

    run = exec_call(task.broken)
    look = exec_call(rng.choice(LOOKS).format(" ".join(map(shlex.quote, texts))))
    calls = [run, look] if detours(RUN, 1) else [look]
    for call in task.reference:
        if call.name != "edit":
            calls.append(call)
            continue
        path = call.arguments["file_path"]
        old, new = texts[path], apply_patch(texts[path], call.arguments["edit_content"])
        wrong = slipped(old, new, rng) if detours(SLIP, 2) else None
        if wrong is not None:
            calls += [edit_call(path, old, wrong), run]
        calls.append(repair(path, old if wrong is None else wrong, new, rng))
        texts[path] = new
    if task.reference[-1].name == "edit" and detours(CHECK, 1):
        calls.append(run)
    return calls


def edited(task: Task, path: str) -> bool:
    return any(call.name == "edit" and call.arguments["file_path"] == path for call in task.reference)


def slipped(old: str, new: str, rng: random.Random) -> str | None:
    """`new` with a word misspelt in the first line that it has and `old` has not; None where that has no word."""
    lines, known = new.splitlines(True), set(old.splitlines(True))
    for at, line in enumerate(lines):
        words = list(WORD.finditer(line))
        if line not in known and words:
            word = rng.choice(words)
            typo = misspelt(World(rng, "train"), word[0])
            wrong = line[: word.start()] + typo + line[word.end() :]
            return "".join([*lines[:at], wrong, *lines[at + 1 :]])
    return None


def repair(path: str, old: str, new: str, rng: random.Random) -> ToolCall:
    """The call that turns the text `old` of the file `path` into `new`."""
    before, after = old.splitlines(), new.splitlines()
    changed = [at for at, (a, b) in enumerate(zip(before, after, strict=False), 1) if a != b]
    if len(before) == len(after) and len(changed) == 1 and rng.random() < SED:
        line = after[changed[0] - 1].replace("\\", "\\\\")
        return exec_call(shlex.join(["sed", "-i", f"{changed[0]}c\\{line}", path]))
    return edit_call(path, old, new)
