"""Mutation: what each operator writes, what it leaves alone, what mutants are as a whole."""

import ast
import hashlib
import random
import re
import subprocess
import sys
import warnings
from difflib import SequenceMatcher
from itertools import combinations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation_corpus import CORPUS, EXAMPLES, FUNCTIONS, GROUP, SOURCES, outputs, parses

import rlsh.tasks.mutation
from rlsh.tasks.mutation import FAMILY, OPERATORS, MutationError, double_fault, mutants

# --- operators ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operator", "before", "afters"), EXAMPLES, ids=[f"{i}-{e[0]}" for i, e in enumerate(EXAMPLES)]
)
def test_an_operator_writes_exactly_this(operator, before, afters):
    assert outputs(operator, before) == afters


def test_every_operator_has_a_family_an_example_and_a_mutant():
    assert len(OPERATORS) >= 40 and FAMILY.keys() == OPERATORS.keys()
    assert {operator for operator, _, afters in EXAMPLES if afters} == set(OPERATORS)
    reached = {m.operators for _, before, _ in EXAMPLES for m in mutants(before, "f")}
    assert reached == {(operator,) for operator in OPERATORS}
    for operator in OPERATORS.values():
        assert operator.__doc__ and "\n" not in operator.__doc__ and operator.__doc__.endswith(".")


@pytest.mark.parametrize(("source", "function"), SOURCES, ids=list(CORPUS))
def test_what_a_mutant_does_not_change_it_keeps_byte_for_byte(source, function):
    """Comments are put on every line, one of a kind: whichever lines a mutant alters, the others stay as they are."""
    plain = source.splitlines()
    noisy = [f"{line} \t #  {i}" if line and '"""' not in line else line for i, line in enumerate(plain)]
    found = [m.source for m in mutants("\n".join(noisy) + "\n", function)]
    assert [re.sub(r" \t #  \d+$", "", text, flags=re.MULTILINE) for text in found] == [
        m.source for m in mutants(source, function)
    ]
    for text in found:
        mutant = text.splitlines()
        clean = [re.sub(r" \t #  \d+$", "", line) for line in mutant]
        for a, b, n in SequenceMatcher(None, plain, clean, autojunk=False).get_matching_blocks():
            assert noisy[a : a + n] == mutant[b : b + n]
    assert ast.unparse(ast.parse("\n".join(noisy))).count("#") < 3  # what a tree alone would have kept


@pytest.mark.parametrize(("source", "function"), SOURCES, ids=list(CORPUS))
def test_line_ends_and_tabs_are_kept(source, function):
    expected = [m.source.replace("\n", "\r\n") for m in mutants(source, function)]
    assert [m.source for m in mutants(source.replace("\n", "\r\n"), function)] == expected
    tabs = [m for m in mutants(source.replace("    ", "\t"), function) if m.operators != ("extra_space",)]
    spaces = [m for m in mutants(source, function) if m.operators != ("extra_space",)]
    assert [m.source for m in tabs] == [m.source.replace("    ", "\t") for m in spaces]


def test_offsets_are_characters():
    source = 'def f(ä):\n    return "日本𝄞" + ä < "é"\n'
    assert 'def f(ä):\n    return "日本𝄞" + ä <= "é"\n' in [m.source for m in mutants(source, "f")]


def test_annotations_docstrings_and_decorators_are_no_place_for_a_fault():
    source = '@cache(1 + 2)\ndef f(a: "x < y" = 3) -> g(4):\n    """a == b"""\n    return a\n'
    kept = ["@cache(1 + 2)", 'a: "x < y"', "-> g(4)", '"""a == b"""']
    for mutant in mutants(source, "f"):
        assert all(text in mutant.source for text in kept), mutant
    assert any("= 4" in m.source for m in mutants(source, "f"))


def test_a_fault_stays_in_its_function_or_the_imports():
    other = "\n\ndef g(a):\n    return a + 1 < 2\n"
    for mutant in mutants(GROUP + other, "group"):
        assert mutant.source.endswith(other)
    assert all(GROUP in m.source for m in mutants(GROUP + other, "g"))


# --- mutants as a whole ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "function"), SOURCES, ids=list(CORPUS))
def test_mutants_differ_and_parse_unless_syntax_is_the_fault(source, function):
    found = mutants(source, function)
    trees = [parses(m.source) for m in found]
    assert [tree is None for tree in trees] == [FAMILY[m.operators[0]] == "syntax" for m in found]
    keys = [tree or m.source for tree, m in zip(trees, found, strict=True)]
    assert len({parses(source), *keys}) == len(found) + 1
    for mutant in found:
        if FAMILY[mutant.operators[0]] != "syntax":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(mutant.source, "mutant", "exec")
        pairs = list(zip(source.splitlines(), mutant.source.splitlines(), strict=False))
        assert mutant.line == next((i for i, (a, b) in enumerate(pairs, 1) if a != b), len(pairs) + 1)


def test_what_is_filtered_out_would_otherwise_be_there():
    """Same tree as the source, same tree as another mutant, no syntax where there should be, syntax where none."""
    same = "def f(a):\n    return (a * 2) + 1\n"
    assert parses(outputs("dropped_parentheses", same)[0]) == parses(same)
    twice = "def f(n):\n    return range(n + 1)\n"
    assert set(outputs("range_stop", twice)) & set(outputs("off_by_one", twice))
    keyword = "def f(globals):\n    return globals\n"
    assert parses(outputs("misspelt_name", keyword)[0]) is None
    call = "def f(a, b):\n    return [a, (b)]\n"
    assert any(map(parses, outputs("missing_comma", call)))
    for source in (same, twice, keyword, call):
        found = mutants(source, "f")
        keys = [parses(m.source) or m.source for m in found]
        assert len({parses(source), *keys}) == len(found) + 1
        assert [parses(m.source) is None for m in found] == [FAMILY[m.operators[0]] == "syntax" for m in found]


def test_no_family_writes_the_faults_of_another():
    """What is held out by family would otherwise be met under another name."""
    for source, function in [*SOURCES, *((before, "f") for _, before, afters in EXAMPLES if afters)]:
        written = {}
        for operator in OPERATORS:
            if FAMILY[operator] != "syntax":
                keys = {parses(text) for text in outputs(operator, source, function)} - {parses(source), None}
                written.setdefault(FAMILY[operator], set()).update(keys)
        for one, other in combinations(written, 2):
            assert not written[one] & written[other], (one, other, source)


def test_mutants_are_the_same_in_every_process():
    program = (
        "import hashlib, random, sys\n"
        "from rlsh.tasks.mutation import double_fault, mutants\n"
        "source = sys.stdin.read()\n"
        "found = [*mutants(source, 'group'), *(double_fault(source, 'group', random.Random(i)) for i in range(5))]\n"
        "print(hashlib.sha256(repr(found).encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            input=GROUP,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    found = [*mutants(GROUP, "group"), *(double_fault(GROUP, "group", random.Random(i)) for i in range(5))]
    assert digests == {hashlib.sha256(repr(found).encode()).hexdigest() + "\n"}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def g():\n    pass\n", "f: no such function at the top level of the source"),
        ("class C:\n    def f(self):\n        pass\n", "f: no such function at the top level of the source"),
        ("def f(:\n", r"f: its source does not parse \(invalid syntax \(<unknown>, line 1\)\)"),
        ("def f():\n    return '\0'\n", "f: its source does not parse"),
        (f"def f():\n    return {' + '.join('1' * 600)}\n", r"f: its source does not parse \(maximum recursion"),
    ],
)
def test_a_source_without_the_function_is_refused(source, reason):
    for call in (lambda: mutants(source, "f"), lambda: double_fault(source, "f", random.Random(0))):
        with pytest.raises(MutationError, match=reason) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_of_two_definitions_the_last_counts():
    source = "def f(a):\n    return a < 1\n\n\ndef f(a):\n    return a > 2\n"
    assert {m.line for m in mutants(source, "f")} == {5, 6}


def test_no_warning_of_an_escape_gets_out():
    source = 'def f(s):\n    return s == r"\\d"\n'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SyntaxError):
            ast.parse(outputs("missing_r", source)[0])
        assert mutants(source, "f")


def test_operators_know_nothing_of_the_rest():
    package = Path(rlsh.tasks.mutation.__file__).parent
    imported = {
        name
        for path in package.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    }
    ours = {name for name in imported if name.startswith("rlsh") and not name.startswith("rlsh.tasks.mutation")}
    assert ours == {"rlsh.types"}
    assert {name.partition(".")[0] for name in imported - ours} - sys.stdlib_module_names == {"rlsh", "libcst"}


# --- two faults -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "function"), SOURCES, ids=list(CORPUS))
def test_a_double_fault_is_two_families_on_two_lines(source, function):
    single = {m.source for m in mutants(source, function)}
    drawn = set()
    for seed in range(20):
        mutant = double_fault(source, function, random.Random(seed))
        families = [FAMILY[operator] for operator in mutant.operators]
        assert len(set(families)) == 2 and mutant.source not in single
        assert (parses(mutant.source) is None) == ("syntax" in families)
        one, other = (outputs(operator, source, function) for operator in mutant.operators)
        assert any(merged(source, a, b) == mutant.source for a, b in product(one, other))
        assert mutant.parts[0] in one and mutant.parts[1] in other
        assert merged(source, *mutant.parts) == mutant.source
        drawn.add(mutant.operators)
    assert len(drawn) > 15


def merged(source, one, other):
    """Two texts made from `source` put together, if the lines they alter are not the same."""
    lines = source.splitlines(keepends=True)
    changes = []
    for text in (one, other):
        blocks = SequenceMatcher(None, lines, text.splitlines(keepends=True), autojunk=False).get_opcodes()
        new = text.splitlines(keepends=True)
        changes += [(i1, i2, new[j1:j2]) for tag, i1, i2, j1, j2 in blocks if tag != "equal"]
    for start, end, new in sorted(changes, key=lambda change: change[:2], reverse=True):
        lines[start:end] = new
    return "".join(lines)


def test_two_faults_that_leave_an_empty_block_are_no_mutant():
    source = "def f(xs, n):\n    for x in xs:\n        n.add(x)\n        n.add(n)\n"
    lost, moved = outputs("dropped_statement", source)[0], outputs("dedented", source)[0]
    assert FAMILY["dropped_statement"] != FAMILY["dedented"]
    assert parses(merged(source, lost, moved)) is None
    for seed in range(100):
        mutant = double_fault(source, "f", random.Random(seed))
        assert (parses(mutant.source) is None) == ("syntax" in {FAMILY[o] for o in mutant.operators})


def test_where_there_is_one_line_there_is_no_double_fault():
    assert double_fault("def f(a): return a < 1", "f", random.Random(0)) is None
    assert len({FAMILY[m.operators[0]] for m in mutants("def f(a): return a < 1", "f")}) > 1


# --- generated functions ----------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(source=FUNCTIONS, seed=st.integers(0, 99))
def test_whatever_the_function_mutants_are_what_they_should_be(source, seed):
    found = mutants(source, "f")
    double = double_fault(source, "f", random.Random(seed))
    for mutant in [*found, double] if double else found:
        assert (parses(mutant.source) is None) == ("syntax" in {FAMILY[o] for o in mutant.operators})
    keys = {parses(m.source) or m.source for m in found}
    assert len(keys | {parses(source)}) == len(found) + 1
