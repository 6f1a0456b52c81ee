"""What a user's mistakes look like: one line that names the value, the place and the way out; never a traceback."""

import errno
import json
import re
import shutil

import pytest

from rlsh.cli.main import main
from rlsh.config import to_toml
from rlsh.env.build import build_tasks
from rlsh.env.episode import EnvConfig
from rlsh.env.traces import read_traces
from rlsh.models import Decoder, ModelConfig
from rlsh.policy import Policy, save_policy
from rlsh.rollout.collect import RolloutConfig
from rlsh.sandbox.base import SandboxError
from rlsh.tasks.task import read_tasks, write_tasks
from rlsh.text import Tokenizer
from rlsh.trainers.grpo import GrpoConfig


@pytest.fixture(scope="module")
def world(tmp_path_factory, sandbox):
    root = tmp_path_factory.mktemp("cli")
    tasks, _ = build_tasks(sandbox, ["demonstrated", "never_met"], 16, seed=1, split="train", workers=2)
    write_tasks(root / "tasks.jsonl", tasks)
    tokenizer = Tokenizer.train([t.prompt for t in tasks], 290)
    (root / "model").mkdir()
    save_policy(root / "model", Policy(Decoder(ModelConfig(tokenizer.vocab_size, 256, 1, 1, 8)), tokenizer))
    return root


def run(capsys, *words):
    """Exit code, stdout and stderr of one command."""
    try:
        code = main([str(w) for w in words])
    except SystemExit as usage:
        code = usage.code
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_help_lists_every_verb(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for verb in ("demo", "doctor", "tasks", "data", "pretrain", "sft", "grpo", "eval", "report", "base", "attack"):
        assert verb in out


def test_unknown_verb_is_usage(capsys):
    assert run(capsys, "gropo")[0] == 2


@pytest.mark.parametrize("words", [["optim.lrr=1"], ["optim.lr=fast"], ["no-such-recipe"], ["steps"]])
def test_bad_configuration_is_usage(capsys, words):
    code, _, err = run(capsys, "grpo", *words)
    assert code == 2
    assert err.startswith("rlsh: ") and err.count("\n") == 1
    if words == ["optim.lrr=1"]:
        assert "optim.lr" in err


def test_missing_model_names_it(capsys, world, tmp_path):
    code, _, err = run(capsys, "grpo", f"model={tmp_path}/none", f"tasks={world}/tasks.jsonl", f"out={tmp_path}/run")
    assert code == 1 and f"{tmp_path}/none" in err


def test_corrupt_weights_name_the_file(capsys, world, tmp_path):
    (tmp_path / "m").mkdir()
    for file in (world / "model").iterdir():
        (tmp_path / "m" / file.name).write_bytes(file.read_bytes()[:-9])
    (tmp_path / "m" / "config.json").write_bytes((world / "model" / "config.json").read_bytes())
    code, _, err = run(capsys, "eval", tmp_path / "m", "--tasks", world / "tasks.jsonl")
    assert code == 1 and "model.safetensors" in err


def test_another_chat_format_is_refused(capsys, world, tmp_path):
    (tmp_path / "m").mkdir()
    for file in (world / "model").iterdir():
        (tmp_path / "m" / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    (tmp_path / "m" / "config.json").write_text(json.dumps(config | {"format": "0123456789abcdef"}))
    code, _, err = run(capsys, "eval", tmp_path / "m", "--tasks", world / "tasks.jsonl")
    assert code == 1 and "0123456789abcdef" in err and "retrain" in err


def test_malformed_task_line_is_named(capsys, world, tmp_path):
    lines = (world / "tasks.jsonl").read_text().splitlines()
    lines[1] = lines[1][:-20]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    code, _, err = run(capsys, "tasks", "stats", tmp_path / "t.jsonl")
    assert code == 1 and "t.jsonl, line 2" in err


def test_missing_task_file_says_how_to_make_one(capsys, tmp_path):
    code, _, err = run(capsys, "tasks", "check", tmp_path / "none.jsonl")
    assert code == 1 and "rlsh tasks build" in err


def test_no_sandbox_fails_closed(capsys, world, tmp_path, monkeypatch):
    def none(**options):
        raise SandboxError("unshare: refused; way out: a container")

    monkeypatch.setattr("rlsh.sandbox.probe.open_sandbox", none)
    for words in (
        ["tasks", "check", world / "tasks.jsonl"],
        ["eval", world / "model", "--tasks", world / "tasks.jsonl"],
    ):
        code, _, err = run(capsys, *words)
        assert code == 1 and "refused" in err


CONSENT = "--i-understand-commands-run-unprotected"
SANDBOXED = [
    ["tasks", "check", "t"],
    ["tasks", "build", "--out", "o"],
    ["tasks", "traces", "--out", "o"],
    ["tasks", "verify", "t", "id", "--command", "x"],
    ["data", "prepare", "--out", "o"],
    ["data", "chats", "--out", "o"],
    ["eval", "base", "--tasks", "t"],
    ["grpo"],
    ["base"],
    ["demo"],
]


@pytest.mark.parametrize("words", SANDBOXED, ids=" ".join)
def test_no_command_runs_unprotected_without_consent(capsys, monkeypatch, words):
    """The control is the last line: with consent, and nothing else changed, the verb is run."""
    ran = []
    for verb in ("check", "build", "traces", "verify"):
        monkeypatch.setattr(f"rlsh.cli.tasks.{verb}", ran.append)
    for verb in ("prepare", "chats", "eval", "grpo", "base", "demo"):
        monkeypatch.setattr(f"rlsh.cli.commands.{verb}", ran.append)
    code, _, err = run(capsys, *words, "--sandbox", "none")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("rlsh: --sandbox none runs a model's commands as you") and CONSENT in err
    for half in (CONSENT[:-1], "--i-understand", "--i"):
        code, _, err = run(capsys, *words, "--sandbox", "none", half)
        assert code == 2 and half in err
    assert not ran
    assert run(capsys, *words, "--sandbox", "none", CONSENT)[0] == 0 and len(ran) == 1


def test_no_option_can_be_abbreviated(capsys, world):
    assert run(capsys, "tasks", "stats", world / "tasks.jsonl", "--json", "-")[0] == 0
    assert run(capsys, "tasks", "stats", world / "tasks.jsonl", "--js", "-")[0] == 2


def test_attacks_are_never_tried_without_a_sandbox(capsys):
    for consent in ([], [CONSENT]):
        code, _, err = run(capsys, "attack", "--sandbox", "none", *consent)
        assert code == 2 and "invalid choice: 'none'" in err


def test_tools_that_hold_a_verbs_own_files_are_refused(capsys, world, tmp_path):
    """The task file, the output, the model: none of them may be read by commands."""
    tools, elsewhere = tmp_path / "tools", tmp_path / "elsewhere"
    for folder in (tools, elsewhere):
        folder.mkdir()
        shutil.copy(world / "tasks.jsonl", folder)
        shutil.copytree(world / "model", folder / "model")
    option = ["--tools", tools]
    recipe, result = f"env.tools={tools}", ["--json", tmp_path / "e.json"]
    for place, fits in ((elsewhere, True), (tools, False)):
        for words in (
            ["tasks", "check", place / "tasks.jsonl", *option],
            ["tasks", "traces", recipe, "--out", place / "t.jsonl", "--count", 1],
            ["eval", world / "model", recipe, "--tasks", place / "tasks.jsonl", "--samples", 1, *result],
            ["eval", place / "model", recipe, "--tasks", world / "tasks.jsonl", "--samples", 1, *result],
        ):
            code, _, err = run(capsys, *words)
            assert code == (0 if fits else 1), err
            assert fits or (f"rlsh: tools: {tools} holds " in err and "no candidate may read" in err)
    assert json.loads((tmp_path / "e.json").read_text())["env"]["tools"] == [str(tools)]


def test_tools_are_found_by_commands(capsys, make_task, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "tidy").write_text("#!/bin/sh\nsort -n a.txt\n")
    (tmp_path / "mine" / "tidy").chmod(0o755)
    task = make_task("sort -n a.txt", {"a.txt": "10\n9\n"}, {"a.txt": "200\n30\n"}, broken="sort a.txt")
    write_tasks(tmp_path / "tasks.jsonl", [task])
    words = ["tasks", "verify", tmp_path / "tasks.jsonl", task.id, "--command", "tidy"]
    assert run(capsys, *words)[0] == 1
    for kind in ("warm", "cold"):
        assert run(capsys, *words, "--sandbox", kind, "--tools", "~/mine")[1] == f"{task.id}: 1.0\n"
    code, _, err = run(capsys, *words, "--tools", "~no-such-user/mine")
    assert code == 1 and "~no-such-user/mine is relative" in err


def test_tasks_verify_judges_one_answer(capsys, world, tmp_path):
    task = read_tasks(world / "tasks.jsonl")[0]
    words = ["tasks", "verify", world / "tasks.jsonl", task.id[:-3]]
    code, out, _ = run(capsys, *words, "--command", task.reference[-1].arguments["command"], "--sandbox", "cold")
    assert (code, out) == (0, f"{task.id}: 1.0\n")
    code, out, err = run(capsys, *words, "--command", task.broken)
    assert code == 1 and out.startswith(f"{task.id}: 0.0\n") and err == f"rlsh: {task.id}: not solved\n"
    assert run(capsys, *words)[0] == run(capsys, *words, "--command", "x", "--workspace", tmp_path)[0] == 2
    assert run(capsys, *words, "--workspace", tmp_path / "nosuch")[0] == 1


def test_unwritable_folder(capsys, world):
    code, _, err = run(capsys, "tasks", "build", "--out", "/proc/rlsh", "--count", 2, "--held-out", 0, "--never-met", 0)
    assert code == 1 and "/proc/rlsh" in err


def test_json_on_stdout_is_json_alone(capsys, world):
    code, out, err = run(capsys, "tasks", "stats", world / "tasks.jsonl", "--json", "-")
    assert code == 0
    assert sum(row["tasks"] for row in json.loads(out)) == 16
    assert "never_met" in err


def test_tasks_build_check_show(capsys, tmp_path):
    out = tmp_path / "tasks"
    code, text, _ = run(
        capsys,
        "tasks",
        "build",
        "--out",
        out,
        "--count",
        4,
        "--held-out",
        3,
        "--never-met",
        2,
        "--json",
        tmp_path / "j",
    )
    assert code == 0 and "4 admitted" in text
    assert json.loads((tmp_path / "j").read_text())["parts"]["never_met"]["accepted"] == 2
    assert run(capsys, "tasks", "check", out / "held_out.jsonl")[0] == 0
    code, text, _ = run(capsys, "tasks", "show", out / "train.jsonl", "program_typo")
    assert code == 0 and "reference:" in text


def test_data_chats_writes_what_sft_replays(capsys, tmp_path):
    assert run(capsys, "data", "chats", "--out", tmp_path / "chats", "--count", 5)[0] == 0
    conversations = read_traces(tmp_path / "chats" / "replay.jsonl")
    assert len(conversations) == 5
    for messages in conversations:
        assert {m.role for m in messages} == {"user", "assistant", "tool"}
        assert messages[-1].role == "assistant"


def test_eval_prints_a_table_and_json(capsys, world, tmp_path):
    code, out, _ = run(
        capsys, "eval", world / "model", "--tasks", world / "tasks.jsonl", "--samples", 2, "--json", tmp_path / "e.json"
    )
    result = json.loads((tmp_path / "e.json").read_text())
    assert code == 0 and "pass@1" in out
    assert result["tasks"] == 12 and result["by_set"]["never_met"]["tasks"] == 4
    assert result["pass_at_1"]["value"] == 0.0  # eight random dimensions repair nothing


def test_eval_plays_in_the_environment_of_the_run(capsys, world, tmp_path):
    run_folder = tmp_path / "run"
    shutil.copytree(world / "model", run_folder)
    trained = GrpoConfig(env=EnvConfig(max_turns=6, dialect="iclaw"), rollout=RolloutConfig(turn_tokens=5))
    (run_folder / "config.toml").write_text(to_toml(trained))
    tasks = ["--tasks", world / "tasks.jsonl", "--samples", 1, "--json", tmp_path / "e.json"]

    def played(*words):
        assert run(capsys, "eval", *words, *tasks)[0] == 0
        result = json.loads((tmp_path / "e.json").read_text())
        return result["env"]["max_turns"], result["env"]["dialect"], result["rollout"]["turn_tokens"]

    assert played(run_folder) == (6, "iclaw", 5)
    assert played(run_folder, "env.max_turns=3") == (3, "iclaw", 5)
    assert played(world / "model") == (4, "rlsh", 48)
    assert run(capsys, "eval", run_folder, "env.max_turn=3", *tasks)[0] == 2


@pytest.mark.parametrize(
    "words",
    [
        ["tasks", "traces", "--out", "/proc/rlsh/t.jsonl", "--count", 1],
        ["eval", "base", "--tasks", "TASKS", "--json", "/proc/rlsh/e.json"],
        ["tasks", "build", "--out", "OUT", "--json", "/proc/rlsh/b.json"],
    ],
)
def test_a_result_that_could_not_be_written_is_refused_before_the_work(capsys, world, tmp_path, monkeypatch, words):
    monkeypatch.setattr("rlsh.cli.commands.sandbox", lambda: pytest.fail("the work began"))
    places = {"TASKS": world / "tasks.jsonl", "OUT": tmp_path / "tasks"}
    code, _, err = run(capsys, *(places.get(w, w) for w in words))
    assert code == 1 and "/proc/rlsh" in err and err.count("\n") == 1


def test_an_os_error_nobody_explained_is_still_one_line(capsys, monkeypatch):
    def full(name):
        raise OSError(errno.ENOSPC, "No space left on device", "/somewhere/file")

    monkeypatch.setattr("rlsh.cli.commands.find_recipe", full)
    code, _, err = run(capsys, "grpo", "demo")
    assert code == 1 and err == "rlsh: /somewhere/file: No space left on device\n"


def test_interrupt_exits_130_and_names_resume(capsys, monkeypatch):
    def interrupted(path):
        raise KeyboardInterrupt

    monkeypatch.setattr("rlsh.cli.commands.find_recipe", interrupted)
    code, _, err = run(capsys, "grpo", "demo")
    assert code == 130 and "--resume" in err


def test_doctor_reports_every_rung(capsys, sandbox):
    code, out, _ = run(capsys, "doctor")
    assert code == 0 and out.count("ok  ") >= 3
    assert re.fullmatch("commands run in: (warm|cold|container)", out.splitlines()[-1])


# --- tasks from and for elsewhere


def test_tasks_travel_to_harbor_and_to_a_data_set_and_back(capsys, world, tmp_path):
    tasks = read_tasks(world / "tasks.jsonl")
    for kind in ("harbor", "dataset"):
        folder, back = tmp_path / kind, tmp_path / f"{kind}.jsonl"
        code, out, err = run(capsys, "tasks", "export", kind, world / "tasks.jsonl", "--out", folder)
        assert code == 0 and f"{len(tasks)} tasks in {folder}" in out, err
        code, out, err = run(capsys, "tasks", "import", kind, folder, "--out", back, "--json", tmp_path / "r.json")
        assert code == 0 and f"{len(tasks)} tasks in {back}, 0 rejected" in out, err
        assert sorted(read_tasks(back), key=lambda t: t.id) == sorted(tasks, key=lambda t: t.id)
        result = json.loads((tmp_path / "r.json").read_text())
        assert result == {"tasks": len(tasks), "rejected": {}, "left_out": {}}


def test_a_public_data_set_has_no_answers(capsys, world, tmp_path):
    words = ["tasks", "export", "dataset", world / "tasks.jsonl", "--out", tmp_path / "d", "--public"]
    assert run(capsys, *words)[0] == 0
    code, _, err = run(capsys, "tasks", "import", "dataset", tmp_path / "d", "--out", tmp_path / "t.jsonl")
    assert code == 1 and "a public data set, without the records" in err
    code, _, err = run(capsys, "tasks", "export", "harbor", *words[3:])
    assert code == 1 and "--public: a harbor export is judged by what --public leaves out" in err


def test_a_set_is_imported_and_what_is_refused_is_told(capsys, tmp_path):
    record = {
        "task_id": 1,
        "text": "Write a function to add one.",
        "code": "def inc(x):\n    return x + 1\n",
        "test_list": ["assert inc(1) == 2", "assert inc(5) == 6", "assert inc(-1) == 0"],
    }
    wrong = {**record, "task_id": 2, "test_list": ["assert inc(1) == 3"]}
    path = tmp_path / "mbpp.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (record, wrong)))
    code, out, err = run(capsys, "tasks", "import", "mbpp", path, "--out", tmp_path / "t.jsonl")
    assert code == 0 and "1 tasks in" in out and "1 rejected" in out, err
    (task,) = read_tasks(tmp_path / "t.jsonl")
    assert (task.set, task.split) == ("mbpp", "held_out")
    path.write_text(json.dumps(wrong) + "\n")
    code, _, err = run(capsys, "tasks", "import", "mbpp", path, "--out", tmp_path / "none.jsonl")
    assert code == 1 and f"{path}: no task in it" in err and not (tmp_path / "none.jsonl").exists()


def test_tasks_are_made_of_ones_own_scripts(capsys, tmp_path):
    scripts, out = tmp_path / "scripts", tmp_path / "tasks"
    scripts.mkdir()
    (scripts / "a.py").write_text(
        "import somebody_elses\nopen('was-run', 'w')\n\n\n"
        "def initials(name: str) -> str:\n"
        '    """Return the first letters of the words of `name`, as capitals."""\n'
        "    letters = ''\n"
        "    for word in name.split():\n"
        "        letters += word[0].upper()\n"
        "    return letters\n\n\n"
        "def show(text):\n    print(somebody_elses.shown(text))\n\n\n"
        "assert initials('ada king') == 'AK'\n"
    )
    words = ["tasks", "build", "--from", scripts, "--count", 3, "--held-out", 2, "--never-met", 0, "--out", out]
    code, text, err = run(capsys, *words, "--json", tmp_path / "j")
    assert code == 0 and "2 functions: 1 accepted, 1 rejected" in text, err
    assert not list(tmp_path.rglob("was-run"))
    result = json.loads((tmp_path / "j").read_text())
    assert result["kind"] == "python" and result["harvest"]["functions"] == {
        "seen": 2,
        "accepted": 1,
        "rejected": {"returns nothing": 1},
    }
    tasks = read_tasks(out / "train.jsonl")
    assert result["parts"]["train"]["accepted"] == len(tasks) == 3
    assert {(t.source, t.licence) for t in tasks} == {("a.py::initials", "unknown")}
    assert "a.py::show  returns nothing" in (out / "harvest.txt").read_text()
    again = run(capsys, *words)
    assert again[0] == 0 and read_tasks(out / "train.jsonl") == tasks

    code, _, err = run(capsys, *words, "--kind", "drills")
    assert code == 1 and "--kind drills: their words are invented" in err
    (scripts / "a.py").write_text("")
    code, _, err = run(capsys, *words)
    assert code == 1 and f"{scripts}: no task for training could be made of it" in err
    assert read_tasks(out / "train.jsonl") == tasks


def test_a_number_of_tasks_is_none_below_zero(capsys, tmp_path):
    code, _, err = run(capsys, "tasks", "build", "--out", tmp_path / "t", "--held-out", -1)
    assert code == 1 and "-1: a number of tasks is 0 or more" in err
