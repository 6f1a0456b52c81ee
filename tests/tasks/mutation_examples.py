"""For every operator: a function's body, and all bodies the operator makes of it. Long because it is a list.

A text with a line that heads `f` is a whole module, any other the body of an `f` with the parameters PARAMETERS.
"""

import re

PARAMETERS = "a, b, n, s, xs, ys, d"


def module(text: str) -> str:
    if re.search(r"^(def|dfe) f\(", text, re.MULTILINE):
        return text + "\n"
    body = "".join(f"    {line}\n" if line else "\n" for line in text.split("\n"))
    return f"def f({PARAMETERS}):\n{body}"


EXAMPLES: list[tuple[str, str, list[str]]] = [
    # comparison
    ("strictness", "return a < b", ["return a <= b"]),
    (
        "strictness",
        "return a >= b > n <= 1",
        ["return a > b > n <= 1", "return a >= b >= n <= 1", "return a >= b > n < 1"],
    ),
    ("reversed_comparison", "return a < b", ["return a > b"]),
    ("negated_comparison", "return a == b", ["return a != b"]),
    ("negated_comparison", "return a is not None", ["return a is None"]),
    ("negated_comparison", "return a not  in xs", ["return a in xs"]),
    ("identity", "return a == 'x'", ["return a is 'x'"]),
    ("identity", "return a!=b", ["return a is not b"]),
    ("half_chain", "return (0 <= a < n)", ["return (0 <= a)", "return (a < n)"]),
    # boolean
    ("swapped_connective", "return a and b", ["return a or b"]),
    ("dropped_not", "return not a", ["return a"]),
    ("dropped_not", "return (not (a or b)) and n", ["return (a or b) and n"]),
    ("negated_condition", "if s.strip():\n    return a", ["if not s.strip():\n    return a"]),
    (
        "negated_condition",
        "return [a if b else n for a in xs if a]",
        [
            "return [a if not b else n for a in xs if a]",
            "return [a if b else n for a in xs if not a]",
        ],
    ),
    ("dropped_condition", "return a and b", ["return a", "return b"]),
    ("dropped_condition", "return (a or b == n) in xs", ["return a in xs", "return (b == n) in xs"]),
    (
        "dropped_condition",
        "return (\n    a or b\n    or n\n)",
        [
            "return a or b",
            "return n",
            "return (\n    a\n    or n\n)",
            "return (\n    b\n    or n\n)",
        ],
    ),
    ("dropped_grouping", "return not (a or b)", ["return not a or b"]),
    ("any_for_all", "return all(xs)", ["return any(xs)"]),
    ("flipped_flag", "return True", ["return False"]),
    ("or_of_values", "return a == 1 or a == 2", ["return a == 1 or 2"]),
    ("or_of_values", "return a in ('x', 'y')", ["return a == 'x' or 'y'"]),
    # arithmetic
    ("swapped_operator", "return a + b", ["return a - b"]),
    ("swapped_operator", "return a % b", ["return a // b"]),
    ("swapped_operator", "return '%s' % a + '.'", []),
    ("swapped_division", "return a // b", ["return a / b"]),
    ("swapped_division", "a /= b\nreturn a", ["a //= b\nreturn a"]),
    ("swapped_augmented", "a += b\nreturn a", ["a -= b\nreturn a"]),
    ("plain_assignment", "a += b\nreturn a", ["a = b\nreturn a"]),
    ("dropped_sign", "return -a", ["return a"]),
    ("dropped_sign", "return xs[-1]", []),
    ("dropped_term", "return a * b", ["return a"]),
    ("dropped_term", "return a + 1", []),
    ("dropped_term", "return ((a - b) + n) * 2", ["return ((a - b) + n)", "return (a - b) * 2", "return (a + n) * 2"]),
    ("dropped_parentheses", "return (a + b) * n", ["return a + b * n"]),
    ("min_for_max", "return max(a, b)", ["return min(a, b)"]),
    (
        "rounding",
        "return round(a) + abs(b - n) * 2",
        [
            "return int(a) + abs(b - n) * 2",
            "return round(a) + (b - n) * 2",
        ],
    ),
    ("rounding", "return math.ceil(a)", ["return math.floor(a)"]),
    # boundary
    ("range_stop", "return range(n)", ["return range(n - 1)", "return range(n + 1)"]),
    ("range_stop", "return range(1, n - 1, 2)", ["return range(1, n - 2, 2)", "return range(1, n, 2)"]),
    (
        "range_stop",
        "return range(n if a else b)",
        [
            "return range((n if a else b) - 1)",
            "return range((n if a else b) + 1)",
        ],
    ),
    ("range_start", "return range(n)", ["return range(1, n)"]),
    ("range_start", "return range(1, n)", ["return range(n)"]),
    ("range_start", "return range(2, n)", ["return range(3, n)"]),
    ("off_by_one", "return n + 1", ["return n"]),
    ("off_by_one", "return xs[n - 1]", []),
    ("constant", "return 3", ["return 4", "return 2"]),
    ("constant", "return 0", ["return 1"]),
    ("constant", "return xs[0] + xs[1:][n + 1]", []),
    ("enumerate_start", "return enumerate(xs, 1)", ["return enumerate(xs)"]),
    ("enumerate_start", "return enumerate(xs)", ["return enumerate(xs, 1)"]),
    ("enumerate_start", "return enumerate()", []),
    # order
    ("swapped_operands", "return a - b", ["return b - a"]),
    ("swapped_operands", "return s + 'x'", ["return 'x' + s"]),
    (
        "swapped_operands",
        "return a + b - (n - a) - b",
        [
            "return (n - a) - a + b - b",
            "return a + b - (a - n) - b",
        ],
    ),
    ("swapped_operands", "return a + b", []),
    ("swapped_arguments", "return g(a, b, key=n)", ["return g(b, a, key=n)"]),
    ("swapped_arguments", "return max(a, b)", []),
    ("swapped_pair", "a, b = n\nreturn (b, a, n)", ["b, a = n\nreturn (b, a, n)", "a, b = n\nreturn (a, b, n)"]),
    ("swapped_pair", "return a in (1, 2) or isinstance(a, (int, str))", []),
    ("swapped_indices", "return xs[a][b]", ["return xs[b][a]"]),
    ("swapped_keys", "return {a: n for a in xs}", ["return {n: a for a in xs}"]),
    ("swapped_statements", "a = 1\nb = a\nn = 2\nreturn b", ["b = a\na = 1\nn = 2\nreturn b"]),
    (
        "swapped_statements",
        "if a:\n    return 1\nif b:\n    return 2\nreturn 3",
        [
            "if b:\n    return 2\nif a:\n    return 1\nreturn 3",
        ],
    ),
    (
        "swapped_branches",
        "if a:\n    n = 1\nelse:\n    n = 2\nreturn n if b else s",
        [
            "if a:\n    n = 2\nelse:\n    n = 1\nreturn n if b else s",
            "if a:\n    n = 1\nelse:\n    n = 2\nreturn s if b else n",
        ],
    ),
    ("swapped_branches", "if a: return 1\nelse:\n    return 2", []),
    ("swapped_tests", "if a:\n    return 1\nelif b:\n    return 2", ["if b:\n    return 2\nelif a:\n    return 1"]),
    (
        "reversed_sort",
        "xs.sort()\nreturn sorted(ys, key=len)",
        [
            "xs.sort(reverse=True)\nreturn sorted(ys, key=len)",
            "xs.sort()\nreturn sorted(ys, key=len, reverse=True)",
        ],
    ),
    ("reversed_sort", "return sorted(xs, reverse=True)", ["return sorted(xs)"]),
    ("reversed_sort", "return list(reversed(xs))", ["return list(xs)"]),
    # dropped
    ("dropped_guard", "if not xs:\n    # none\n    return 0\nreturn 1", ["return 1"]),
    ("dropped_guard", "if not xs:\n    a = 0\nelif n:\n    return 2\nreturn 1", []),
    (
        "dropped_return",
        "if a:\n    return a + b\nn = 1\nreturn n",
        [
            "if a:\n    return a + b\nn = 1",
            "if a:\n    a + b\nn = 1\nreturn n",
        ],
    ),
    (
        "dropped_initialiser",
        "total = 0\nfor x in xs:\n    total += x\nreturn total",
        [
            "for x in xs:\n    total += x\nreturn total",
        ],
    ),
    (
        "dropped_statement",
        "a = b\nys.append(a)\nn -= 1\nzs = 1\nreturn n",
        [
            "ys.append(a)\nn -= 1\nzs = 1\nreturn n",
            "a = b\nn -= 1\nzs = 1\nreturn n",
            "a = b\nys.append(a)\nzs = 1\nreturn n",
        ],
    ),
    ("dropped_loop", "while n > 9:\n    n //= 2\nreturn n", ["if n > 9:\n    n //= 2\nreturn n"]),
    ("dropped_loop", "while n > 9:\n    break", []),
    ("dropped_else", "if a:\n    n = 1\nelse:\n    n = 2\nreturn n", ["if a:\n    n = 1\nreturn n"]),
    ("dropped_filter", "return [a for a in xs if a]", ["return [a for a in xs]"]),
    ("dropped_assignment", "s = s.strip()\nb = len(xs)\nreturn s", ["s.strip()\nb = len(xs)\nreturn s"]),
    ("dropped_argument", "return sorted(xs, key=len, reverse=True)", ["return sorted(xs, reverse=True)"]),
    ("dropped_argument", "return int(s, 2) + s.split(',')", ["return int(s) + s.split(',')"]),
    ("dropped_call", "return (s.upper())", ["return (s.upper)"]),
    # control
    (
        "continue_for_break",
        "for x in xs:\n    if x:\n        break\n    continue",
        [
            "for x in xs:\n    if x:\n        continue\n    continue",
            "for x in xs:\n    if x:\n        break\n    break",
        ],
    ),
    ("dropped_jump", "for x in xs:\n    if x:\n        break", ["for x in xs:\n    if x:\n        pass"]),
    (
        "indented",
        "for x in xs:\n    n += x\nreturn [\n    n,\n]",
        ["for x in xs:\n    n += x\n    return [\n        n,\n    ]"],
    ),
    ("indented", "for x in xs:\n    n += x\ns = '''\n  '''", []),
    ("indented", "if a:\n    return n\ns = b", []),
    ("dedented", "for x in xs:\n    a = x\n    n += a\nreturn n", ["for x in xs:\n    a = x\nn += a\nreturn n"]),
    ("dedented", "for x in xs:\n    a = x\n    if a:\n        break", []),
    ("if_for_elif", "if a:\n    n = 1\nelif b:\n    n = 2", ["if a:\n    n = 1\nif b:\n    n = 2"]),
    (
        "initialiser_in_loop",
        "total = 0\na = 1\nfor x in xs:\n    # add\n    total += x\nreturn total",
        [
            "a = 1\nfor x in xs:\n    # add\n    total = 0\n    total += x\nreturn total",
        ],
    ),
    ("return_for_yield", "for x in xs:\n    yield x", ["for x in xs:\n    return x"]),
    ("print_for_return", "return a, b", ["print(a, b)"]),
    # exceptions
    (
        "wrong_caught",
        "try:\n    return a\nexcept (KeyError, OSError):\n    return b",
        [
            "try:\n    return a\nexcept (IndexError, OSError):\n    return b",
        ],
    ),
    ("wrong_raised", "raise ValueError('a') from b", ["raise TypeError('a') from b"]),
    (
        "narrowed",
        "try:\n    n = a\nexcept (KeyError, ValueError):\n    n = b",
        [
            "try:\n    n = a\nexcept KeyError:\n    n = b",
            "try:\n    n = a\nexcept ValueError:\n    n = b",
        ],
    ),
    ("dropped_raise", "raise ValueError('a')", ["ValueError('a')"]),
    ("swallowed", "try:\n    n = a\nexcept KeyError:\n    n = b", ["try:\n    n = a\nexcept KeyError:\n    pass"]),
    (
        "finally_for_except",
        "try:\n    return a\nexcept KeyError:\n    return b",
        ["try:\n    return a\nfinally:\n    return b"],
    ),
    ("finally_for_except", "try:\n    return a\nexcept KeyError as e:\n    return e", []),
    (
        "dropped_try",
        "try:\n    # one\n    n = a\n    return n\nexcept KeyError:\n    return b\nreturn s",
        [
            "    # one\nn = a\nreturn n\nreturn s",
        ],
    ),
    # names
    (
        "swapped_name",
        "for left, right in xs:\n    if left < s:\n        n = 1\nreturn n",
        [
            "for left, right in ys:\n    if left < s:\n        n = 1\nreturn n",
            "for left, right in xs:\n    if right < s:\n        n = 1\nreturn n",
            "for left, right in xs:\n    if left < xs:\n        n = 1\nreturn n",
            "for left, right in xs:\n    if left < s:\n        n = 1\nreturn s",
        ],
    ),
    ("misspelt_name", "count = n\ncount = count + 1\nreturn count", ["count = n\ncount = count + 1\nreturn conut"]),
    ("misspelt_attribute", "return s.strip()", ["return s.stirp()"]),
    ("kindred_method", "return s.startswith('a')", ["return s.endswith('a')"]),
    ("foreign_method", "xs.append(len(ys))", ["xs.push(len(ys))", "xs.append(ys.length)"]),
    ("foreign_method", "return len()", []),
    ("foreign_constant", "return a is None", ["return a is null"]),
    # closure
    ("late_binding", "return [lambda x, i=i: x + i for i in xs]", ["return [lambda x: x + i for i in xs]"]),
    ("late_binding", "return [lambda i=i: i for i in xs]", ["return [lambda: i for i in xs]"]),
    ("late_binding", "def g(i=n, n=n):\n    return n\nreturn g", ["def g(i=n):\n    return n\nreturn g"]),
    ("dropped_nonlocal", "def g():\n    nonlocal n\n    n += 1\nreturn g", ["def g():\n    n += 1\nreturn g"]),
    (
        "called_callback",
        "return sorted(map(int, xs), key=abs)",
        [
            "return sorted(map(int, xs), key=abs())",
            "return sorted(map(int(), xs), key=abs)",
        ],
    ),
    (
        "reused_variable",
        "for i in xs:\n    for j in ys:\n        n += i.j * j",
        [
            "for i in xs:\n    for i in ys:\n        n += i.j * i",
        ],
    ),
    # imports
    (
        "missing_import",
        "import re\nimport os\n\ndef f(a):\n    return re.sub(a, a, a)",
        [
            "import os\n\ndef f(a):\n    return re.sub(a, a, a)",
        ],
    ),
    (
        "missing_import",
        "from m import x, y\n\ndef f():\n    return x, y",
        [
            "from m import y\n\ndef f():\n    return x, y",
            "from m import x\n\ndef f():\n    return x, y",
        ],
    ),
    ("missing_import", "import json\nreturn json.dumps(a)", ["return json.dumps(a)"]),
    (
        "import_of_module",
        "from math import sqrt\n\ndef f(a):\n    return sqrt(a)",
        [
            "import math\n\ndef f(a):\n    return sqrt(a)",
        ],
    ),
    (
        "misspelt_import",
        "import math\nfrom a.b import c\n\ndef f(a):\n    return math.sqrt(c)",
        [
            "import maht\nfrom a.b import c\n\ndef f(a):\n    return math.sqrt(c)",
        ],
    ),
    # slices
    (
        "wrong_index",
        "return xs[0] + xs[-1] + d[a]",
        [
            "return xs[1] + xs[-1] + d[a]",
            "return xs[-1] + xs[-1] + d[a]",
            "return xs[0] + xs[0] + d[a]",
            "return xs[0] + xs[-2] + d[a]",
        ],
    ),
    (
        "wrong_index",
        "for i in range(n):\n    a = xs[i - 1]",
        [
            "for i in range(n):\n    a = xs[i]",
            "for i in range(n):\n    a = xs[i - 2]",
        ],
    ),
    ("slice_bound", "return xs[1:-1]", ["return xs[:-1]", "return xs[2:-1]", "return xs[1:]", "return xs[1:-2]"]),
    ("slice_bound", "return xs[:n // 2]", ["return xs[:n // 2 + 1]", "return xs[:n // 2 - 1]"]),
    ("other_side", "return xs[:n] + ys[1:]", ["return xs[n:] + ys[1:]", "return xs[:n] + ys[:1]"]),
    ("lost_colon", "return s[1:] + s[::-1]", ["return s[1] + s[::-1]", "return s[1:] + s[:-1]"]),
    ("lost_colon", "return s[1:5:2]", []),
    ("lost_step", "return s[::2]", ["return s[:]"]),
    # mapping
    ("subscript_for_get", "return d.get(a, 0)", ["return d[a]"]),
    (
        "get_for_subscript",
        "d = {}\nd[a] = 1\nreturn d[b] + d[a, b] + s['k'] + xs[n]",
        [
            "d = {}\nd[a] = 1\nreturn d.get(b) + d[a, b] + s['k'] + xs[n]",
            "d = {}\nd[a] = 1\nreturn d[b] + d[a, b] + s.get('k') + xs[n]",
        ],
    ),
    ("dropped_default", "return d.get(a, 0)", ["return d.get(a)"]),
    ("dropped_view", "return [v for k, v in d.items()]", ["return [v for k, v in d]"]),
    ("other_view", "return list(d.values())", ["return list(d.keys())"]),
    ("get_for_setdefault", "d.setdefault(a, []).append(b)", ["d.get(a, []).append(b)"]),
    ("plain_dict", "d = defaultdict(list)\nn = Counter(xs)", ["d = {}\nn = Counter(xs)"]),
    # aliasing
    (
        "dropped_copy",
        "return list(a) + b[:] + d.copy() + copy(s)",
        [
            "return a + b[:] + d.copy() + copy(s)",
            "return list(a) + b[:] + d + copy(s)",
            "return list(a) + b[:] + d.copy() + s",
            "return list(a) + b + d.copy() + copy(s)",
        ],
    ),
    (
        "loop_without_copy",
        "for x in list(d.items()):\n    n += 1\nfor x in xs[:]:\n    n += 1",
        [
            "for x in d.items():\n    n += 1\nfor x in xs[:]:\n    n += 1",
            "for x in list(d.items()):\n    n += 1\nfor x in xs:\n    n += 1",
        ],
    ),
    (
        "shallow_copy",
        "return copy.deepcopy(a), [list(row) for row in b]",
        [
            "return copy.copy(a), [list(row) for row in b]",
            "return copy.deepcopy(a), list(b)",
        ],
    ),
    ("shared_rows", "return [[0] * a for _ in range(b)]", ["return [[0] * a] * b"]),
    ("shared_rows", "return [[i] for i in range(b)]", []),
    (
        "mutable_default",
        "def f(xs, seen=None):\n    if seen is None:\n        seen = set()\n    return seen",
        [
            "def f(xs, seen=set()):\n    return seen",
        ],
    ),
    (
        "mutable_default",
        'def f(xs, n=2):\n    """Doc."""\n    out = []\n    return out',
        [
            'def f(xs, n=2, out=[]):\n    """Doc."""\n    return out',
        ],
    ),
    ("chained_assignment", "p = []\nq = []\nreturn p, q", ["p = q = []\nreturn p, q"]),
    ("augmented_alias", "xs = xs + [a]\nn = n + 1\nreturn xs", ["xs += [a]\nn = n + 1\nreturn xs"]),
    ("sort_for_sorted", "return sorted(xs, key=len)", ["return xs.sort(key=len)"]),
    ("sort_for_sorted", "return sorted(xs + ys)", []),
    ("sorted_for_sort", "xs.sort(key=len)\nreturn xs", ["sorted(xs, key=len)\nreturn xs"]),
    ("assigned_result", "xs.append(a)\nreturn xs", ["xs = xs.append(a)\nreturn xs"]),
    # types
    ("dropped_conversion", "return int(a + b) * n", ["return (a + b) * n"]),
    ("dropped_conversion", "return tuple(x for x in xs)", ["return (x for x in xs)"]),
    ("dropped_conversion", "return str(\n    a\n    + b)", ["return (a\n    + b)"]),
    ("dropped_conversion", "return s.encode()", ["return s"]),
    ("dropped_conversion", "return list(xs)", []),
    ("other_conversion", "return int(s)", ["return float(s)"]),
    ("quoted_number", "return a == 0", ['return a == "0"']),
    ("quoted_number", "return a == '7'", ["return a == 7"]),
    ("dropped_comma", "return (a,)", ["return (a)"]),
    ("stray_comma", "n = a\nreturn n", ["n = a,\nreturn n"]),
    ("braces_for_set", "return set() | set(xs)", ["return {} | set(xs)"]),
    ("generator_for_list", "return [a for a in xs]", ["return (a for a in xs)"]),
    ("generator_for_list", "return sum([a for a in xs])", []),
    (
        "dropped_map",
        "return sum(map(int, xs)), [str(y) for y in ys]",
        [
            "return sum(xs), [str(y) for y in ys]",
            "return sum(map(int, xs)), ys",
        ],
    ),
    ("one_for_many", "xs.extend(ys)", ["xs.append(ys)"]),
    # text
    ("missing_f", "return rf'{a}'", ["return r'{a}'"]),
    ("format_spec", "return f'{a!r:>{n}}'", ["return f'{a!r}'"]),
    ("missing_r", r"return r'\bcat'", [r"return '\bcat'"]),
    ("strip_side", "return s.strip()", ["return s.lstrip()", "return s.rstrip()"]),
    ("dropped_method", "return s.strip().lower()", ["return s.strip()", "return s.lower()"]),
    ("joined_receiver", "return ', '.join(xs)", ["return xs.join(', ')"]),
    ("joined_strings", "return ['a', 'b', n]", ["return ['a' 'b', n]"]),
    (
        "separator",
        "return s.split(', ') + s.split(',') + s.split(' ') + s.split('ab')",
        [
            "return s.split(',') + s.split(',') + s.split(' ') + s.split('ab')",
            "return s.split(', ') + s.split(', ') + s.split(' ') + s.split('ab')",
            "return s.split(', ') + s.split(',') + s.split('') + s.split('ab')",
        ],
    ),
    (
        "split_at_space",
        "return s.split() + s.splitlines()",
        [
            'return s.split(" ") + s.splitlines()',
            'return s.split() + s.split("\\n")',
        ],
    ),
    # syntax
    (
        "missing_colon",
        "if a :  # then\n    return b",
        [
            f"def f({PARAMETERS})\n    if a :  # then\n        return b",
            "if a   # then\n    return b",
        ],
    ),
    ("missing_parenthesis", "return (g(a))", ["return (g(a)"]),
    ("missing_quote", "return 'a'", ["return 'a"]),
    ("missing_comma", "def f():\n    return [1, 2]", ["def f():\n    return [1 2]"]),
    ("assignment_for_equality", "if a == b:\n    return n", ["if a = b:\n    return n"]),
    ("extra_space", "a = 1\nreturn a", ["a = 1\n return a"]),
    (
        "lost_indentation",
        "def f():\n    if a:\n        return b",
        [
            "def f():\nif a:\n    return b",
            "def f():\n    if a:\n    return b",
        ],
    ),
    ("else_if", "if a:\n    n = 1\nelif b:\n    n = 2", ["if a:\n    n = 1\nelse if b:\n    n = 2"]),
    ("misspelt_keyword", "def f():\n    return 1", ["dfe f():\n    return 1", "def f():\n    retrun 1"]),
    (
        "foreign_operator",
        "if a and not b:\n    n += 1",
        [
            "if a && not b:\n    n += 1",
            "if a and !b:\n    n += 1",
            "if a and not b:\n    n++",
        ],
    ),
]
