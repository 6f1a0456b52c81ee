"""Of families that are met through reward only, or never, sessions show no fault next to its cure and no answer to
what the tasks ask."""

import random
import re

import pytest

from rlsh.tasks import sessions
from rlsh.tasks.sessions import Session, Use, session
from rlsh.tasks.shell.drills import FAMILIES, SETS
from rlsh.tasks.world import World, pool_of

F, KEY = r"(?P<f>\S+)", r"'?[\w|]+'?"
# family -> how its broken command reads, how its cure reads; `f` is what they act on
FORMS = {
    "numeric_sort": (rf"sort {F}", rf"sort -n {F}"),
    "alternatives": (rf"grep '\w+\|\w+' {F}", rf"grep -E '\w+\|\w+' {F}"),
    "ignore_case": (rf"grep {KEY} {F}", rf"grep -i {KEY} {F}"),
    "distinct_lines": (rf"uniq {F}", rf"(sort -u {F}|sort (?P<g>\S+) \| uniq)"),
    "from_line": (rf"tail -n \d+ {F}", rf"tail -n \+\d+ {F}"),
    "upper_case": (rf"tr a-z A-Z {F}", rf"tr a-z A-Z < {F}"),
    "not_executable": (rf"\./{F}", rf"(sh|bash) {F}"),
    "count_matches": (rf"grep {KEY} {F}", rf"grep -c {KEY} {F}"),
    "bare_glob": (r"find \S+ -name \*\.(?P<f>\w+)", r"find \S+ -name '\*\.(?P<f>\w+)'"),
    "in_place_sort": (rf"sort {F} > (?P=f)", rf"sort -o {F} (?P=f)"),
}
UNSHOWN = [f.__name__ for s in ("reward_only", "never_met") for f in SETS[s]]


def targets(pattern, commands):
    """What the commands of this form act on."""
    found = (re.fullmatch(pattern, c) for c in commands)
    return {m.groupdict().get("g") or m["f"] for m in found if m}


def lessons(played):
    """The unshown families of which a session holds fault and cure for one file."""
    commands = [use.command for use in played.uses]
    return [name for name, (broken, cure) in FORMS.items() if targets(broken, commands) & targets(cure, commands)]


def test_the_forms_are_those_of_the_families():
    assert sorted(FORMS) == sorted(UNSHOWN)
    for name, (broken, cure) in FORMS.items():
        for seed in range(30):
            draft = FAMILIES[name](World(random.Random(seed), "train"))
            assert targets(broken, [draft.broken]) == targets(cure, [draft.repair]) != set(), draft
            assert lessons(Session({}, (Use("", draft.broken), Use("", draft.repair)))) != []


def test_no_session_shows_a_fault_of_an_unshown_family_and_its_cure():
    for seed in range(3000):
        assert lessons(session(seed)) == [], (seed, session(seed).uses)


def test_without_its_rule_sessions_would_show_them(monkeypatch):
    """The control: the same drawing with every `apart` forgotten."""
    monkeypatch.setattr(sessions, "Use", lambda comment, command, apart=None: Use(comment, command))
    found = {name for seed in range(3000) for name in lessons(session(seed))}
    assert {"numeric_sort", "ignore_case", "from_line", "count_matches"} <= found


def test_faults_without_any_sensible_use_appear_nowhere():
    """Fault forms that are nothing but a fault: not even alone."""
    never = ("alternatives", "distinct_lines", "upper_case", "not_executable", "bare_glob", "in_place_sort")
    for seed in range(3000):
        commands = [use.command for use in session(seed).uses]
        assert not [name for name in never if targets(FORMS[name][0], commands)], (seed, commands)


def template(request, command):
    """The request without its names: the words that the command repeats."""
    named = set(re.findall(r"\w+(?:\.\w+)*", command))
    return " ".join("_" if word.strip(".,?") in named else word.strip(".,?").lower() for word in request.split())


def drawn(name):
    return [FAMILIES[name](World(random.Random(seed), "train")) for seed in range(60)]


ASKED = {template(d.instruction, d.broken): name for name in UNSHOWN for d in drawn(name)}


def answered(played):
    """The unshown families that a session asks after in the words of their tasks, or in more words than those."""
    asked = [template(use.comment, use.command) for use in played.uses]
    return [name for request in asked for words, name in ASKED.items() if words in request]


def test_no_session_asks_in_the_words_of_an_unshown_task():
    for seed in range(3000):
        assert answered(session(seed)) == [], session(seed).uses


@pytest.mark.parametrize("name", UNSHOWN)
def test_a_session_that_did_would_be_noticed(name):
    """The control: the task's own words, over its cure and over other names."""
    for draft in drawn(name):
        assert answered(Session({}, (Use(draft.instruction, draft.repair),))) == [name]


@pytest.mark.parametrize("name", UNSHOWN)
def test_the_cure_itself_is_ordinary_usage(name):
    """What policies explore with must have been met: each cure is used in some session."""
    assert any(targets(FORMS[name][1], [u.command for u in session(seed).uses]) for seed in range(1500))


def test_a_session_is_a_function_of_its_seed():
    for seed in range(200):
        assert session(seed) == session(seed)
        assert 1 <= len(session(seed).uses) <= 18
    assert len({str(session(seed)) for seed in range(200)}) == 200


def test_session_names_come_from_the_train_pool():
    for seed in range(300):
        for path in session(seed).files:
            for word in re.split("[/ ]", path):
                assert pool_of(word.split(".")[0]) == "train"
