"""What is read from test code, and what is left to a sandbox."""

import pytest

from rlsh.tasks.importers.asserts import MAX_STATEMENTS, read_tests
from rlsh.tasks.importers.claims import Claim


def claims(source):
    """The claims of a test that says nothing else."""
    tests = read_tests(source, "f")
    assert tests.rest == ()
    return list(tests.claims)


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("assert f(1, [2]) == 3", Claim((1, [2]), expected=3)),
        ("assert 3 == f(1)", Claim((1,), expected=3)),
        ("assert f(*[1, 2], k=(3,)) == 'x', 'message ' + str(f(1))", Claim((1, 2), {"k": (3,)}, expected="x")),
        ("assert f(2 * 3 - 1) == 2 / 3", Claim((5,), expected=2 / 3)),
        ("assert f()", Claim((), relation="truth", expected=True)),
        ("assert not f()", Claim((), relation="truth", expected=False)),
        ("assert f() is None", Claim((), relation="is")),
        ("assert f() is True", Claim((), relation="is", expected=True)),
        ("assert tuple(f(1)) == tuple([1, 2])", Claim((1,), expected=[1, 2], items=True)),
        ("assert [1] == list(f(1))", Claim((1,), expected=[1], items=True)),
        ("assert abs(f(1) - 0.5) < 1e-6", Claim((1,), relation="close", expected=0.5, tolerance=1e-6)),
        ("assert abs(20 - f(1)) <= 0.1", Claim((1,), relation="close", expected=20.0, tolerance=0.005)),
        ("assert math.fabs(f(1) - 0.5) < 1e-6", Claim((1,), relation="close", expected=0.5, tolerance=1e-6)),
        ("assert math.isclose(f(1), 0.5)", Claim((1,), relation="close", expected=0.5, tolerance=0.5e-9)),
        ("assert isclose(4.0, f(1), abs_tol=0.1)", Claim((1,), relation="close", expected=4.0, tolerance=0.025)),
        ("assert isclose(f(1), 4, rel_tol=0.1)", Claim((1,), relation="close", expected=4.0, tolerance=0.1)),
    ],
)
def test_a_claim(source, claim):
    assert claims(source) == [claim]


def test_two_calls_that_are_compared_are_both_recorded():
    assert claims("assert f(1) == f(2)") == [Claim((1,), relation="alike"), Claim((2,), relation="alike")]
    one, other = claims("assert tuple(f(1)) == tuple(f(2))")
    assert one.items and other.items


def test_what_says_nothing_about_the_function_is_no_claim():
    assert claims("'text'\nimport math\nfrom m import f\npass\nprint\nassert True, 'message'\nassert len([1])\n") == []


def test_conjunctions_loops_variables_and_the_parameter_of_check():
    source = """
def check(candidate):
    cases = [((1, 2), 3), ((4, 5), 9)]
    for args, total in cases:
        assert candidate(*args) == total and candidate(0, 0) == 0
    for n in range(2):
        n, text = n + 1, str(n)
        assert candidate(n) == text
check(f)
"""
    zero = Claim((0, 0), expected=0)
    assert claims(source) == [
        Claim((1, 2), expected=3),
        zero,
        Claim((4, 5), expected=9),
        zero,
        Claim((1,), expected="0"),
        Claim((2,), expected="1"),
    ]


def test_a_check_that_nobody_calls_claims_nothing():
    assert claims("def check(candidate):\n    assert candidate(1) == 2\n") == []


def test_a_name_of_the_test_hides_a_function_of_python():
    tests = read_tests("from numpy import sum\nassert f(1) == sum([1, 2])\nassert f(2) == len('ab')", "f")
    assert tests.claims == (Claim((2,), expected=2),)
    assert read_tests("assert sum(1) == sum([1, 2])", "sum").claims == (
        Claim((1,), relation="alike"),
        Claim(([1, 2],), relation="alike"),
    )


@pytest.mark.parametrize(
    "assertion",
    [
        "f(1) != 2",
        "f(1) > 2",
        "f(1) in (1, 2)",
        "f(1) == 2 == 3",
        "f(1) is f(2)",
        "sorted(f(1)) == [1]",
        "round(f(1), 2) == 0.5",
        "f(f(1)) == 2",
        "f(1)[0] == 2",
        "f(1) == g(2)",
        "f(range(3)) == 2",
        "f(1) == 2 or f(1) == 3",
        "abs(f(1) - 2) < 5",
        "abs(f(1) + 2) < 1e-6",
        "f(**{'a': 1}) == 2",
        "tuple(f(1)) == [1]",
        "1 == 2",
    ],
)
def test_an_assertion_that_is_no_claim_is_named_and_the_next_is_read(assertion):
    tests = read_tests(f"assert {assertion}\nassert f(7) == 8\n", "f")
    assert tests.claims == (Claim((7,), expected=8),)
    assert len(tests.rest) == 1 and tests.rest[0].startswith("line 1: ")


@pytest.mark.parametrize(
    "statement",
    [
        "n = g(1)",
        "n.append(1)",
        "n += 1",
        "if True:\n    n = 1",
        "try:\n    f(1)\nexcept ValueError:\n    pass",
        "with g(): pass",
        "while True: pass",
        "for n in g(): pass",
        "from m import *",
        "def f(): pass",
        "f = 3",
        "del n",
        "class T: pass",
        "check(f)",
        "def two(a, b): pass\ntwo(f)",
        "def some(*a): pass\nsome(f)",
        "a, b = [1]",
    ],
)
def test_behind_a_statement_that_is_not_followed_nothing_is_claimed(statement):
    """Its effect may be on any variable: reading on would make claims that the test does not."""
    tests = read_tests(f"n = [1]\nassert f(n) == 2\n{statement}\nassert f(n) == 3\n", "f")
    assert tests.claims == (Claim(([1],), expected=2),)
    assert len(tests.rest) == 1 and tests.rest[0].startswith(("line 3: ", "line 4: "))


def test_names_that_are_bound_anew_are_others():
    bound = "def check(c): assert c(1) == 2\n{}\ncheck(f)\nassert f(3) == 4\n"
    assert len(read_tests(bound.format("pass"), "f").claims) == 2
    for statement in ("check = 1", "from m import check", "import check.more", "def check(c): pass", "a, check = 1, 2"):
        assert Claim((1,), expected=2) not in read_tests(bound.format(statement), "f").claims
    inner = "def check(c):\n    def check(d): assert d(5) == 6\n    n = 7\nn = 1\n"
    assert claims(inner + "check(f)\ncheck(f)\nassert f(n) == 2") == [Claim((1,), expected=2)]


def test_a_helper_that_calls_itself_ends():
    tests = read_tests("assert f(1) == 2\ndef check(c): check(c)\ncheck(f)\n", "f")
    assert tests.claims == (Claim((1,), expected=2),) and "calls itself" in tests.rest[0]


def test_a_loop_ends():
    source = "for a in range(200):\n    for b in range(200):\n        assert f(0) == 0\n"
    tests = read_tests(source, "f")
    assert len(tests.claims) < MAX_STATEMENTS and "steps" in tests.rest[0]


@pytest.mark.parametrize("source", ["assert f(", "x = " + "(" * 5000, "assert f(1) ==\n"])
def test_text_that_does_not_parse_is_an_error(source):
    with pytest.raises(ValueError, match="do not parse"):
        read_tests(source, "f")
