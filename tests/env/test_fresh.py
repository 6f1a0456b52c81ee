"""Fixtures of a verdict's own: what is known of the stored ones no longer helps."""

import importlib
from dataclasses import replace

import pytest

from rlsh.env.admission import LIMITS, literal_answer, record
from rlsh.env.build import build, snippet_drafts
from rlsh.env.episode import EnvConfig, Episode
from rlsh.env.fresh import fresh
from rlsh.env.verify import verify_command
from rlsh.sandbox.base import SandboxError
from rlsh.tasks.checks import Raised
from rlsh.tasks.shell import draw, redrawn
from rlsh.tasks.snippets import edit_call
from rlsh.types import Message, StopReason, exec_call

FRESH = importlib.import_module("rlsh.env.fresh")  # the module, not its function
FAMILIES = ["numeric_sort", "largest_orders", "kept_lines", "tight_brackets", "carriage_returns"]


@pytest.fixture(scope="module")
def stored(sandbox):
    return {family: record(draw(family, 3, "train")[1], sandbox) for family in FAMILIES}


def play(task, calls, sandbox, *, fresh, number=1):
    """The verdict on an episode of these calls."""
    episode = Episode(task, sandbox, EnvConfig(fresh=fresh), number)
    episode.reset()
    for call in calls:
        assert episode.step(Message("assistant", call=call)) is not None
    episode.step(Message("assistant", "done"))
    return episode.verdict()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_repair_is_rewarded_on_any_fixtures_and_the_broken_command_on_none(stored, sandbox, family):
    task = stored[family]
    for number in (0, 1, 2**63):
        assert play(task, task.reference, sandbox, fresh=True, number=number).reward == 1.0
        assert play(task, [exec_call(task.broken)], sandbox, fresh=True, number=number).reward == 0.0


@pytest.mark.parametrize("family", ["numeric_sort", "largest_orders"])
def test_who_knows_the_stored_output_is_not_rewarded(stored, sandbox, family):
    task = stored[family]
    known = [exec_call(literal_answer(task.checks[0].stdout))]
    assert play(task, known, sandbox, fresh=False).reward == 1.0
    assert play(task, known, sandbox, fresh=True).reward == 0.0


def test_equal_numbers_give_equal_verdicts_and_others_other_fixtures(stored, sandbox):
    task = stored["largest_orders"]
    one, again, other = (fresh(task, number, sandbox, LIMITS) for number in (1, 1, 2))
    assert one == again and one.checks != other.checks
    known = [exec_call(literal_answer(one.checks[0].stdout))]  # of the first fixtures
    assert [play(task, known, sandbox, fresh=True, number=n).reward for n in (1, 1, 2)] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_on_fresh_fixtures_is_what_recording_gives(stored, sandbox, family):
    task = stored[family]
    assert fresh(task, 4, sandbox, LIMITS).checks == record(redrawn(task, 4), sandbox).checks


def test_the_stored_check_is_kept_where_there_are_no_better_fixtures(stored, sandbox, monkeypatch):
    task = stored["numeric_sort"]
    elsewhere = replace(task, source="elsewhere")
    assert fresh(elsewhere, 1, sandbox, LIMITS) is elsewhere
    (check,) = redrawn(task, 1).checks
    (name,) = check.files
    in_order = {name: replace(check.files[name], content=b"1\n2\n3\n")}  # sorting them as text does
    other = redrawn(task, 1)
    for drawn, kept in (
        (other, False),
        (replace(other, checks=(replace(check, files=in_order),)), True),
        (replace(other, reference=(exec_call("sort -n missing"),)), True),
        (replace(other, reference=(exec_call("sleep 9"),)), True),
    ):
        monkeypatch.setattr(FRESH, "redrawn", lambda task, number, drawn=drawn: drawn)
        assert (fresh(task, 1, sandbox, replace(LIMITS, wall_s=1.0)) is task) == kept
    script = stored["tight_brackets"]
    gone = replace(redrawn(script, 1), reference=(exec_call("rm *.sh"),))
    monkeypatch.setattr(FRESH, "redrawn", lambda task, number: gone)
    assert fresh(script, 1, sandbox, LIMITS) is script


def test_an_episode_without_a_last_message_draws_nothing(stored, sandbox, monkeypatch):
    monkeypatch.setattr(FRESH, "redrawn", lambda task, number: pytest.fail("drawn for nothing"))
    episode = Episode(stored["numeric_sort"], sandbox, EnvConfig(fresh=True))
    episode.reset()
    episode.end(StopReason.TOKENS)
    assert episode.verdict().reward == 0.0


@pytest.mark.parametrize("run", ["fresh", "verify"])  # the reference's run, the broken command's
@pytest.mark.parametrize(("faults", "infra"), [(1, False), (2, True)])
def test_a_host_fault_while_drawing_is_tried_again_once(stored, sandbox, monkeypatch, run, faults, infra):
    task, left = stored["numeric_sort"], [faults]
    module = importlib.import_module(f"rlsh.env.{run}")
    real = module.run_hidden

    def failing(*arguments):
        if left[0]:
            left[0] -= 1
            raise SandboxError("no room on this host")
        return real(*arguments)

    monkeypatch.setattr(module, "run_hidden", failing)
    verdict = play(task, task.reference, sandbox, fresh=True)
    assert (verdict.infra, verdict.reward) == (infra, 0.0 if infra else 1.0)


def test_one_command_is_judged_as_on_stored_fixtures_of_that_number(stored, sandbox):
    task = stored["kept_lines"]
    drawn = fresh(task, 9, sandbox, LIMITS)
    command = task.reference[-1].arguments["command"]
    assert verify_command(drawn, command, sandbox, LIMITS) == play(task, task.reference, sandbox, fresh=True, number=9)


# --- Python -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def function(sandbox):
    """A task of a catalogue function."""
    tasks, _ = build(snippet_drafts(["python"], 5, "train"), 1, sandbox, workers=1)
    return tasks[0]


def by_heart(task):
    """A file that knows the outcome of every stored call, and no other."""
    (check,) = task.checks
    known = [(case.args, case.expected) for case in check.cases if not isinstance(case.expected, Raised)]
    raised = [(case.args, case.expected.type) for case in check.cases if isinstance(case.expected, Raised)]
    return (
        f"def {check.function}(*args):\n    for known, value in {known!r}:\n        if known == args:\n"
        f"            return value\n    for known, name in {raised!r}:\n        if known == args:\n"
        "            raise getattr(__builtins__, name, None) or __builtins__[name]\n"
    )


def test_who_knows_the_stored_values_is_not_rewarded(function, sandbox):
    (check,) = function.checks
    known = [edit_call(check.file, function.files[check.file].content.decode(), by_heart(function))]
    assert play(function, known, sandbox, fresh=False).reward == 1.0
    assert play(function, known, sandbox, fresh=True).reward == 0.0
    for number in (0, 1, 2**63):
        assert play(function, function.reference, sandbox, fresh=True, number=number).reward == 1.0
        assert play(function, [], sandbox, fresh=True, number=number).reward == 0.0


def test_equal_numbers_give_equal_inputs(function, sandbox):
    one, again, other = (fresh(function, number, sandbox, LIMITS) for number in (1, 1, 2))
    assert one == again and len(one.checks[0].cases) == len(function.checks[0].cases)
    assert one.checks[0].inputs() != other.checks[0].inputs() != function.checks[0].inputs()


def test_a_function_that_is_not_the_catalogues_keeps_its_calls(function, sandbox):
    (check,) = function.checks
    edited = replace(function, reference=(exec_call("true"), *function.reference))
    for other in (replace(function, source="mine.py::f"), edited, replace(function, checks=(check, check))):
        assert fresh(other, 1, sandbox, LIMITS) is other


def test_inputs_that_do_not_show_the_fault_are_not_taken(function, sandbox):
    (check,) = function.checks
    text = FRESH.catalogue()[check.function].source
    files = {check.file: replace(function.files[check.file], content=text.encode())}
    mended = replace(function, files=files, reference=(edit_call(check.file, text, text),))
    assert fresh(mended, 1, sandbox, LIMITS) is mended


def test_a_host_fault_at_fresh_inputs_is_infra(function, sandbox):
    class Failing:
        tools, opened = (), 0

        def open(self, files, limits):
            self.opened += 1
            if self.opened in (2, 3):  # the first is the workspace
                raise SandboxError("no room on this host")
            return sandbox.open(files, limits)

    assert play(function, function.reference, Failing(), fresh=True).infra
