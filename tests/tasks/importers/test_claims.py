"""Claims and the answers of what is right become strict expectations."""

import pytest

from rlsh.tasks.checks import INPUT_BYTES, Raised
from rlsh.tasks.importers.claims import Claim, ContradictionError, LooseClaimError, check_of, grouped, settled
from rlsh.tasks.values import same


@pytest.mark.parametrize(
    ("claim", "answer", "expected"),
    [
        (Claim((), expected=1), 1.0, 1.0),  # the value is the test's, its type the answer's
        (Claim((), expected=True), 1, 1),
        (Claim((), expected=[1, (2,)]), [1.0, (2,)], [1.0, (2,)]),
        (Claim((), relation="is"), None, None),
        (Claim((), relation="truth", expected=False), False, False),
        (Claim((), relation="close", expected=2, tolerance=0.1), 2.15, 2.0),
        (Claim((), relation="json", expected=[[1, 3], {"a": [2]}]), [(1, 3), {"a": (2,)}], [(1, 3), {"a": (2,)}]),
        (Claim((), relation="alike"), "what it answers", "what it answers"),
    ],
)
def test_an_answer_that_the_test_allows_gives_the_expected_value(claim, answer, expected):
    assert same(settled(claim, answer), expected)


@pytest.mark.parametrize(
    ("claim", "answer"),
    [
        (Claim((), expected=1), 2),
        (Claim((), expected=[1]), (1,)),
        (Claim((), expected=float("nan")), float("nan")),  # whose test nobody passes
        (Claim((), relation="is", expected=True), 1),
        (Claim((), relation="truth", expected=False), True),
        (Claim((), relation="close", expected=2, tolerance=0.1), 2.25),
        (Claim((), relation="json", expected=[1]), [2]),
        (Claim((), expected=1), Raised("ValueError")),
    ],
)
def test_an_answer_that_contradicts_the_test_is_never_expected(claim, answer):
    with pytest.raises(ContradictionError):
        settled(claim, answer)


@pytest.mark.parametrize(
    ("claim", "answer"),
    [
        (Claim((), relation="truth", expected=True), "any text"),
        (Claim((), relation="truth", expected=False), None),
        (Claim((), relation="close", expected=2, tolerance=0.1), 2),
    ],
)
def test_a_test_that_many_answers_pass_makes_no_strict_expectation(claim, answer):
    with pytest.raises(LooseClaimError):
        settled(claim, answer)


def test_a_check_has_one_tolerance_and_one_way_to_return():
    plain, items = Claim((1,), expected=2), Claim((1,), expected=[2], items=True)
    close = Claim((1,), relation="close", expected=2.0, tolerance=0.1)
    assert grouped([plain, items, close, plain, Claim((2,), expected=2)]) == [
        [plain, Claim((2,), expected=2)],  # said twice, asked once
        [items],
        [close],
    ]
    check = check_of("f.py", "f", [items], [[2]])
    assert (check.returns, check.tolerance, check.cases[0].expected) == ("items", None, [2])
    assert check_of("f.py", "f", [close]).tolerance == 0.1


def test_checks_are_small_enough_for_a_command_line():
    many = [Claim((n,), expected=n) for n in range(250)]
    assert [len(group) for group in grouped(many)] == [62, 63, 62, 63]
    large = [Claim(("x" * (INPUT_BYTES // 8) + str(n),), expected=n) for n in range(8)]
    groups = grouped(large)
    assert [claim for group in groups for claim in group] == large
    for group in groups:
        check_of("f.py", "f", group)
    with pytest.raises(ValueError, match="do not fit"):
        check_of("f.py", "f", large)
