"""Outcomes of attempts, kept."""

import json

import pytest

from rlsh.env import trials as trials_module
from rlsh.env.trials import Trial, Trials, kept_in, rules
from rlsh.types import RlshError


def test_outcomes_are_there_again(tmp_path, family_tasks):
    task = family_tasks["copy_folder"]
    good, bad = Trial("a", task), Trial("b", None, "empty action passes")
    with kept_in(tmp_path) as trials:
        assert trials.get("a") is None
        for trial in (good, bad, good):
            trials.keep(trial)
    assert len((tmp_path / "trials.jsonl").read_text().splitlines()) == 2  # each once
    with kept_in(tmp_path) as trials:
        assert (trials.get("a"), trials.get("b"), trials.get("c")) == (good, bad, None)


def test_a_torn_last_line_is_no_loss(tmp_path):
    with kept_in(tmp_path) as trials:
        trials.keep(Trial("a", None, "x"))
    with (tmp_path / "trials.jsonl").open("a") as file:
        file.write('{"key": "b"')
    with kept_in(tmp_path) as trials:
        assert trials.get("a") == Trial("a", None, "x") and trials.get("b") is None
        trials.keep(Trial("b", None, "y"))
    with kept_in(tmp_path) as trials:
        assert trials.get("b") == Trial("b", None, "y")


def test_what_was_found_by_other_rules_is_found_anew(tmp_path, monkeypatch):
    with kept_in(tmp_path) as trials:
        trials.keep(Trial("a", None, "x"))
    monkeypatch.setattr(trials_module, "rules", lambda: "others")
    with kept_in(tmp_path) as trials:
        assert trials.get("a") is None


def test_rules_are_the_code(tmp_path, monkeypatch):
    (tmp_path / "env").mkdir()
    monkeypatch.setattr(trials_module, "PACKAGE", tmp_path)
    (tmp_path / "env" / "a.py").write_text("1")
    before = rules()
    assert rules() == before
    (tmp_path / "env" / "a.py").write_text("2")
    assert rules() != before


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trials = Trials()
    trials.keep(Trial("a", None, "x"))
    assert trials.get("a") is None and not list(tmp_path.iterdir())


def test_two_builds_do_not_share_a_folder(tmp_path):
    with kept_in(tmp_path), pytest.raises(RlshError, match=str(tmp_path)), kept_in(tmp_path):
        pass


def test_records_are_plain(tmp_path):
    with kept_in(tmp_path) as trials:
        trials.keep(Trial("a", None, "x"))
    (record,) = [json.loads(line) for line in (tmp_path / "trials.jsonl").read_text().splitlines()]
    assert record == {"step": 0, "rules": rules(), "key": "a", "reason": "x", "task": None}
