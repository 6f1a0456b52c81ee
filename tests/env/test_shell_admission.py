"""The realistic families as they are played: admitted, repeatable, not to be had by a wrong repair or by heart."""

import shutil
from dataclasses import replace

import pytest

from rlsh.env.admission import LIMITS, admit, literal_answer, record
from rlsh.env.episode import EnvConfig
from rlsh.env.tools import run_tool
from rlsh.env.traces import trace
from rlsh.env.verify import answer_of, verify_answer, verify_calls
from rlsh.tasks.shell import SETS, draw
from rlsh.types import ToolCall, exec_call

NAMES = [f.__name__ for name in ("shell", "shell_never_met") for f in SETS[name]]
NEEDS = {"zip_member": "unzip", "file_at_tag": "git", "log_option": "git"}
ELSEWHERE = "export TZ=JST-9; unset LC_ALL LANG;"
DRAWS = [("train", 0), ("held_out", 2)]


def need_program(family):
    if family in NEEDS and shutil.which(NEEDS[family]) is None:
        pytest.skip(f"there is no {NEEDS[family]} on this machine")


@pytest.fixture(scope="module")
def recorded(sandbox):
    """(family, split, seed) -> its draft and its task, recorded once."""
    found = {}

    def get(family, split, seed):
        need_program(family)
        key = family, split, seed
        if key not in found:
            draft, task = draw(family, seed, split)
            found[key] = draft, record(task, sandbox)
        return found[key]

    return get


@pytest.mark.parametrize("family", NAMES)
def test_tasks_are_admitted_and_no_slip_repairs_them(recorded, sandbox, family):
    for split, seed in DRAWS:
        draft, task = recorded(family, split, seed)
        assert admit(task, sandbox) is None, task.prompt
        assert draft.slips and draft.looks
        for slip in draft.slips:
            assert verify_calls(task, [exec_call(slip)], sandbox, LIMITS).reward == 0.0, slip


@pytest.mark.parametrize("family", NAMES)
def test_the_reference_does_the_same_in_another_time_zone_and_locale(recorded, sandbox, family):
    _, task = recorded(family, "train", 0)
    (check,) = task.checks
    answer = answer_of(task, task.reference, sandbox, LIMITS)
    if check.script:
        task = replace(task, checks=(replace(check, run=f"{ELSEWHERE} {check.run}"),))
    else:
        answer = replace(answer, command=f"{ELSEWHERE} {answer.command}")
    assert verify_answer(task, answer, sandbox, LIMITS).reward == 1.0


@pytest.mark.parametrize("family", NAMES)
def test_a_demonstration_earns_the_reward(recorded, sandbox, family):
    """Within as many turns as a look, the reference and the end take; its last call succeeds where it is seen."""
    _, task = recorded(family, "train", 1)
    messages = trace(task, sandbox, EnvConfig(max_turns=max(4, 2 + len(task.reference))))
    calls = [message.call for message in messages if message.call is not None]
    if not task.checks[0].script:
        assert tuple(calls[-len(task.reference) :]) == task.reference
    assert messages[-2].content.endswith("[exit 0]") or messages[-2].content.startswith("edited ")
    assert verify_calls(task, calls, sandbox, LIMITS).reward == 1.0


@pytest.mark.parametrize("family", [name for name in NAMES if not draw(name, 0, "train")[0].script])
def test_a_slip_does_not_spoil_what_comes_after(recorded, sandbox, family):
    """Demonstrations try slips first; the reference must then leave and print what it does without them."""
    draft, task = recorded(family, "train", 0)

    def after(*calls):
        with sandbox.open(task.files, LIMITS) as workspace:
            for call in calls:
                seen = run_tool(call, workspace, dialect="rlsh", limits=LIMITS, observation_chars=2000)
            return seen, workspace.export() if "tree" in draft.compare else {}

    for slip in draft.slips:
        assert after(exec_call(slip), *task.reference) == after(*task.reference), slip


@pytest.mark.parametrize("family", [name for name in NAMES if draw(name, 0, "train")[0].script])
def test_a_script_that_prints_what_the_visible_files_give_is_no_repair(recorded, sandbox, family):
    draft, task = recorded(family, "train", 0)
    with sandbox.open(task.files, LIMITS) as workspace:
        for call in task.reference:
            run_tool(call, workspace, dialect="rlsh", limits=LIMITS, observation_chars=0)
        printed = workspace.exec(task.broken)
        assert printed.exit_code == 0
    lines = f"#!/bin/sh\n{literal_answer(printed.stdout)}\n"
    known = ToolCall("edit", {"file_path": draft.script, "edit_content": whole_file(task, draft.script, lines)})
    # an edit keeps the ends that the file's lines have
    calls = [known, exec_call(f"sed -i 's/\\r$//' {draft.script}; chmod +x {draft.script}")]
    (check,) = task.checks
    if check.tree == {path: entry for path, entry in check.files.items() if path != draft.script}:  # it prints only
        seen = record(replace(task, checks=(replace(check, files=task.files),)), sandbox)
        assert verify_calls(seen, calls, sandbox, LIMITS).reward == 1.0  # were the hidden files the visible ones
    assert verify_calls(task, calls, sandbox, LIMITS).reward == 0.0


def whole_file(task, path, text):
    old = task.files[path].content.decode().splitlines()
    new = text.splitlines()
    return "\n".join(
        [f"@@ -1,{len(old)} +1,{len(new)} @@", *(f"-{line}" for line in old), *(f"+{line}" for line in new), ""]
    )


@pytest.mark.parametrize("family", sorted(NEEDS))
def test_where_its_program_is_missing_a_family_is_turned_away(sandbox, family):
    """As on a machine that has none: its name is one that nothing has."""
    for seed in range(3):
        task = draw(family, seed, "train")[1]
        program = NEEDS[family]

        def without(call, program=program):
            return exec_call(call.arguments["command"].replace(f"{program} ", f"no-{program} "))

        task = replace(
            task,
            broken=task.broken.replace(f"{program} ", f"no-{program} "),
            reference=tuple(map(without, task.reference)),
        )
        assert admit(record(task, sandbox), sandbox) in ("reference exits non-zero", "empty action passes")


@pytest.mark.slow
@pytest.mark.parametrize("family", NAMES)
def test_forty_draws_are_admitted(sandbox, family):
    """One may be turned away where two drawings of a short output happen to be equal."""
    need_program(family)
    refused = []
    for seed in range(100, 140):
        draft, task = draw(family, seed, "train" if seed % 2 else "held_out")
        task = record(task, sandbox)
        reason = admit(task, sandbox)
        if reason is not None:
            refused.append((seed, reason))
            continue
        for slip in draft.slips:
            assert verify_calls(task, [exec_call(slip)], sandbox, LIMITS).reward == 0.0, (seed, slip)
    assert len(refused) <= 1, refused
