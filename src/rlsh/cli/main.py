"""`rlsh VERB …`: parse, call, print. Exit codes: 0 done, 1 the run failed, 2 usage, 130 interrupted."""

from __future__ import annotations

import argparse
import keyword
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias, get_args

from rlsh.cli import commands
from rlsh.cli import tasks as tasks_verbs
from rlsh.cli.attack import attack as run_attack
from rlsh.config import ConfigError
from rlsh.sandbox.base import Backend
from rlsh.types import RlshError

Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"
RECIPE_HELP = "a shipped recipe's name or a TOML file"
OVERRIDES_HELP = "dotted overrides, e.g. optim.lr=1e-4"


class Parser(argparse.ArgumentParser):
    """No option can be abbreviated: half a consent is none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)


def parser() -> argparse.ArgumentParser:
    top = Parser(
        prog="rlsh",
        description="Train a language model you own to act through a command line, by reinforcement learning "
        "you can read.",
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, help: str, within: Verbs | None = None) -> argparse.ArgumentParser:
        found = (within or verbs).add_parser(name, help=help, description=help)
        of = commands if within is None else tasks_verbs
        found.set_defaults(run=getattr(of, name + "_" * keyword.iskeyword(name)))
        return found

    def trainer(name: str, help: str) -> argparse.ArgumentParser:
        found = verb(name, help)
        found.add_argument("recipe", nargs="?", help=RECIPE_HELP)
        found.add_argument("overrides", nargs="*", metavar="key=value", help=OVERRIDES_HELP)
        found.add_argument("--overlay", action="append", default=[], help="a TOML file laid over the recipe")
        found.add_argument("--resume", action="store_true", help="go on with the run that is there")
        return found

    def sandboxed(found: argparse.ArgumentParser, *, recipe: bool = False) -> argparse.ArgumentParser:
        """With a `recipe`, `env.tools` of that says what tools there are."""
        found.add_argument(
            "--sandbox",
            choices=[*get_args(Backend), commands.NONE],
            help="how commands are run (default: the first of warm, cold and container that works here)",
        )
        found.add_argument(commands.CONSENT, action="store_true", dest="consent", help="--sandbox none asks for it")
        if not recipe:
            tools(found)
        return found

    def tools(found: argparse.ArgumentParser) -> None:
        found.add_argument(
            "--tools",
            action="append",
            default=[],
            type=lambda text: Path(os.path.expanduser(text)),  # noqa: PTH111 (pathlib's raises where nobody has that name)
            metavar="DIR",
            help="a folder of programs that commands find last on their PATH, read-only; may be repeated",
        )

    def json_out(found: argparse.ArgumentParser) -> None:
        found.add_argument("--json", metavar="PATH", help="also write the result as JSON (- for stdout)")

    sandboxed(
        trainer("demo", "before and after: the shipped base learns to repair shell commands, in minutes"), recipe=True
    )
    json_out(verb("doctor", "say whether this machine can run the sandbox, rung by rung"))

    about = "try to earn a reward without a repair, to get out, to stay, to take the machine down"
    attack = verbs.add_parser("attack", help=about, description=about)
    attack.set_defaults(run=run_attack)
    attack.add_argument(
        "--sandbox",
        choices=get_args(Backend),
        help="how commands are run (default: every way that works here, one after another)",
    )
    tools(attack)
    attack.add_argument(
        "--suite", metavar="DIR", help="your own attacks, DIR/CLASS/NAME.toml, and not the shipped ones"
    )
    attack.add_argument("--tasks", metavar="FILE", help="try the generic attacks on these tasks: which can be hacked?")
    attack.add_argument("--count", type=int, metavar="N", help="only the first N of the tasks")
    json_out(attack)

    tasks = verbs.add_parser("tasks", help="build, check and look at tasks").add_subparsers(
        dest="tasks_verb", required=True, metavar="VERB"
    )
    build = verb("build", "draw tasks from a seed and admit them by trial in the sandbox", tasks)
    build.add_argument("--out", required=True, help="folder for train.jsonl and held_out.jsonl")
    build.add_argument(
        "--kind",
        choices=("drills", "shell", "python", "mixed"),
        help="drills: one-line commands on invented words, what the demo trains on (default); shell: realistic "
        "commands and scripts; python: functions with a fault (default with --from); mixed: shell and python",
    )
    build.add_argument(
        "--from",
        dest="from_folder",
        metavar="DIR",
        help="break the functions and pipelines of the scripts below DIR, instead of those that come with rlsh",
    )
    build.add_argument("--count", type=int, default=400, help="tasks to train on (default 400)")
    build.add_argument("--held-out", type=int, default=256, help="held-out tasks of the trained sets (default 256)")
    build.add_argument("--never-met", type=int, default=64, help="held-out tasks of families never met (default 64)")
    build.add_argument("--seed", type=int, default=0)
    json_out(sandboxed(build))
    check = verb("check", "run the admission trial of every task in a file again", tasks)
    check.add_argument("file")
    json_out(sandboxed(check))
    show = verb("show", "print one task as the policy sees it, and its reference", tasks)
    show.add_argument("file")
    show.add_argument("id", nargs="?", help="task id or its beginning; default: the first")
    verify = verb("verify", "judge an answer to one task, or the folder it was worked on in", tasks)
    verify.add_argument("file")
    verify.add_argument("id", help="task id or its beginning")
    answer = verify.add_mutually_exclusive_group(required=True)
    answer.add_argument("--command", help="judged on the hidden files, as in training")
    answer.add_argument(
        "--workspace", metavar="DIR", help="compared with what the reference makes of the visible files"
    )
    json_out(sandboxed(verify))
    stats = verb("stats", "count a file's tasks by set and family", tasks)
    stats.add_argument("file")
    json_out(stats)
    imported = verb("import", "turn a public set, or what export wrote, into a task file", tasks)
    imported.add_argument("kind", choices=("humanevalfix", "quixbugs", "mbpp", "harbor", "dataset"))
    imported.add_argument("path", help="a JSONL file (humanevalfix, mbpp), a clone (quixbugs) or a folder")
    imported.add_argument("--out", required=True, metavar="FILE", help="the task file to write")
    json_out(sandboxed(imported))
    export = verb("export", "write a file's tasks for other programs", tasks)
    export.add_argument("format", choices=("harbor", "dataset"), help="task directories, or a Hugging Face dataset")
    export.add_argument("file", help="a task file")
    export.add_argument("--out", required=True, metavar="DIR")
    export.add_argument("--public", action="store_true", help="dataset: without hidden checks and references")
    traces = verb("traces", "write demonstrations: of a file's tasks, or of the demonstrated drills", tasks)
    traces.add_argument("--out", required=True)
    traces.add_argument("--tasks", metavar="FILE", help="a task file, none of whose tasks you evaluate on")
    traces.add_argument(
        "--count",
        type=int,
        metavar="N",
        help=f"with --tasks only the first N, else N drills (default {tasks_verbs.DEMONSTRATIONS})",
    )
    traces.add_argument("--seed", type=int, default=1, help="of drills (default 1)")
    traces.add_argument("overrides", nargs="*", metavar="key=value", help="env.*, e.g. env.dialect=iclaw")
    sandboxed(traces, recipe=True)

    data = verbs.add_parser("data", help="prepare text for pretraining").add_subparsers(
        dest="data_verb", required=True, metavar="VERB"
    )
    prepare = data.add_parser("prepare", help="text and shell sessions -> tokenizer and uint16 shards")
    prepare.set_defaults(run=commands.prepare)
    prepare.add_argument("paths", nargs="*", help="text files or folders; none: what a Debian machine holds")
    prepare.add_argument("--out", required=True)
    prepare.add_argument(
        "--vocab",
        type=lambda text: text if text == "gpt2" else int(text),
        default=1024,
        help="ids of a vocabulary to train, or gpt2 for OpenAI's (default 1024)",
    )
    prepare.add_argument("--sessions", type=int, default=0, help="recorded shell sessions to mix in")
    sandboxed(prepare)

    chats = data.add_parser("chats", help="recorded shell sessions as conversations: what sft's replay takes")
    chats.set_defaults(run=commands.chats)
    chats.add_argument("--out", required=True, help="folder for replay.jsonl and the sessions themselves")
    chats.add_argument("--count", type=int, default=4000)
    sandboxed(chats)

    trainer("pretrain", "train a decoder on shards, from scratch")
    trainer("sft", "train a model on demonstrations: the cold start")
    sandboxed(trainer("grpo", "train a model on tasks by reward"), recipe=True)
    sandboxed(trainer("base", "rebuild the base that ships: data, pretraining, cold start"), recipe=True)

    evaluate = verb("eval", "held-out pass rates of a model, with intervals")
    evaluate.add_argument("model", help="model folder, run folder or a shipped name (base)")
    evaluate.add_argument("--tasks", required=True, help="a task file")
    evaluate.add_argument(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="env.* and rollout.*; default: what a run was trained with, otherwise the trainer's defaults",
    )
    evaluate.add_argument("--samples", type=int, default=8, help="sampled episodes a task (default 8)")
    evaluate.add_argument("--seed", type=int, default=0)
    json_out(sandboxed(evaluate, recipe=True))
    report = verb("report", "write a run's report.html again")
    report.add_argument("path", metavar="RUN")
    return top


def check_consent(arguments: argparse.Namespace) -> None:
    """Raises ConfigError where commands would run unprotected and nobody has said that they may."""
    if vars(arguments).get("sandbox") == commands.NONE and not arguments.consent:
        raise ConfigError(
            "--sandbox none runs a model's commands as you, with your files, network and keys in their reach: "
            f"if this machine may be lost, add {commands.CONSENT}; otherwise see rlsh doctor"
        )


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    try:
        check_consent(arguments)
        arguments.run(arguments)
    except ConfigError as error:
        print(f"rlsh: {error}", file=sys.stderr)
        return 2
    except RlshError as error:
        print(f"rlsh: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nrlsh: interrupted; the same command with --resume goes on from here", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 1
    except OSError as error:  # what no one closer to it could explain better: a disk that filled up, mostly
        print(f"rlsh: {error.filename or 'input or output'}: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
