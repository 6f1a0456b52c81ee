"""What the tests of mutation share: examples of operators, a small corpus, generated functions."""

import ast
import re
import warnings
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from rlsh.tasks.mutation import OPERATORS
from rlsh.tasks.mutation.faults import applied
from rlsh.tasks.mutation.subject import Subject

GROUP = '''\
import re
from collections import defaultdict


def group(lines, sep="=", limit=None):
    """Values by key, each with the number of its line."""
    groups = defaultdict(list)
    seen = set()
    count = 0
    for number, line in enumerate(list(lines), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if limit is not None and count >= limit:
            break
        key, _, value = line.partition(sep)
        try:
            size = int(re.sub(r"\\bKB?\\b", "", value))
        except (ValueError, OverflowError):
            size = -1
        if key not in seen:
            seen.add(key)
            count += 1
        groups[key].append((number, size))
    return {k: sorted(v[:-1], key=abs) for k, v in groups.items()}
'''

SPIRAL = '''\
def spiral(grid: list[list[int]], depth: int = 0) -> list[int]:
    """The cells of a matrix from the outside in."""
    out: list[int] = []
    rows, columns = len(grid), len(grid[0])
    top, left = 0, 0
    while top < rows and left < columns:
        for c in range(left, columns):
            out.append(grid[top][c])
        for r in range(top + 1, rows):
            out.append(grid[r][columns - 1])
        if rows - top > 1:
            for c in range(columns - 2, left - 1, -1):
                out.append(grid[rows - 1][c])
        elif depth:
            raise ValueError(f"no {depth:02d} in {rows}")
        else:
            out = out + [-(rows + 1) // 2 % 7]
        top += 1
        rows -= 1
    return out[::-1] if depth else out
'''

COUNTERS = """\
import math


def counters(names, start=0):
    total = start

    def count(name):
        nonlocal total
        total += len(name)
        return ", ".join(["a", "b", str(total)])

    table = [[0] * 3 for _ in range(2)]
    calls = [lambda extra=1, n=n: count(n) for n in sorted(names)]
    table[0][1] = max(math.ceil(call() == "x") for call in calls)
    for i in names:
        for j in i:
            table[1][2] += j in (1, 2)
    names = names[:]
    names.sort()
    return table, names.get("k", 0), {}.setdefault(start, []), (start,)
"""

CORPUS = {"group": GROUP, "spiral": SPIRAL, "counters": COUNTERS}
SOURCES = [(text, name) for name, text in CORPUS.items()]


PARAMETERS = "a, b, n, s, xs, ys, d"


def module(text):
    if re.search(r"^(def|dfe) f\(", text, re.MULTILINE):
        return text
    return f"def f({PARAMETERS}):\n" + re.sub(r"^(?=.)", "    ", text, flags=re.MULTILINE)


def examples():
    text = Path(__file__).with_name("mutation_examples.txt").read_text(encoding="utf-8")
    for record in text.split("\n### ")[1:]:
        operator, _, rest = record.partition("\n")
        before, *afters = (module(part.rstrip("\n") + "\n") for part in rest.split("\n-->\n"))
        yield operator, before, afters


EXAMPLES = list(examples())
subject = cache(Subject)


def outputs(operator, source, function="f"):
    """What an operator writes, unfiltered."""
    return [applied(source, edits) for edits in OPERATORS[operator](subject(source, function)) if edits]


def parses(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(source))
        except SyntaxError:
            return None


# generated functions

NAMES = ["a", "bb", "count", "xs", "rows"]
ATOMS = st.sampled_from([*NAMES, "0", "1", "-1", "'x'", '", "', "None", "True", "xs[0]", "rows[1:]", "len(xs)"])


def expressions(inner):
    pair = st.tuples(inner, inner)
    return st.one_of(
        pair.map(lambda p: f"({p[0]} + {p[1]})"),
        pair.map(lambda p: f"({p[0]} < {p[1]})"),
        pair.map(lambda p: f"({p[0]}\n        and not {p[1]})"),
        pair.map(lambda p: f"[{p[0]} for bb in {p[1]} if bb]"),
        pair.map(lambda p: f"sorted({p[0]}, key=lambda count: {p[1]})"),
        inner.map(lambda e: f"list({e}).copy()"),
        inner.map(lambda e: f"(int({e}),)"),
        inner.map(lambda e: f'f"{{count!r:>3}}" + str({e})'),
    )


EXPRESSIONS = st.recursive(ATOMS, expressions, max_leaves=4)
TARGETS = st.sampled_from([*NAMES, "count, bb", "xs[0]"])
SIMPLE = st.one_of(
    st.builds("{} = {}".format, TARGETS, EXPRESSIONS),
    st.builds("{} += {}".format, st.sampled_from(NAMES), EXPRESSIONS),
    st.builds("return {}".format, EXPRESSIONS),
    st.builds("xs.append({})".format, EXPRESSIONS),
    st.sampled_from(["raise ValueError(a)", "yield a", "pass", "bb = []"]),
)


def compound(inner):
    body = st.lists(inner, min_size=1, max_size=3).map(lambda s: "\n".join(s).replace("\n", "\n    "))
    return st.one_of(
        st.builds("if {}:\n    {}".format, EXPRESSIONS, body),
        st.builds("if {}:\n    {}\nelif a:\n    {}\nelse:\n    {}".format, EXPRESSIONS, body, body, body),
        st.builds("for count, bb in {}:\n    {}\n    continue".format, EXPRESSIONS, body),
        st.builds("while {}:\n    {}\n    break".format, EXPRESSIONS, body),
        st.builds("try:\n    {}\nexcept (KeyError, ValueError):\n    {}".format, body, body),
    )


FUNCTIONS = st.lists(st.recursive(SIMPLE, compound, max_leaves=6), min_size=1, max_size=5).map(
    lambda statements: (
        "def f(a, bb, count, xs, rows=None):\n    " + "\n".join(statements).replace("\n", "\n    ") + "\n"
    )
)
