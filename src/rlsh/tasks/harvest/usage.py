"""Types of parameters told from what a function does with them, written into its signature as annotations.

`tasks.inputs` then draws by them as if the author had annotated: a name may still choose among values of the type.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from rlsh.tasks.inputs import from_name

# A method that one type alone has.
METHODS = {
    **dict.fromkeys(
        "split rsplit splitlines strip lstrip rstrip lower upper title capitalize casefold swapcase startswith "
        "endswith replace find rfind isdigit isalpha isalnum isupper islower isspace isnumeric isidentifier zfill "
        "ljust rjust center partition rpartition removeprefix removesuffix encode format translate expandtabs".split(),
        "str",
    ),
    **dict.fromkeys("items keys values get setdefault".split(), "dict[str, int]"),
    **dict.fromkeys("append extend sort insert reverse".split(), "list[int]"),
    **dict.fromkeys("add union intersection difference issubset issuperset discard".split(), "set[int]"),
    **dict.fromkeys("decode hex".split(), "bytes"),
    **dict.fromkeys("bit_length is_integer".split(), "int"),
}
# A function whose argument at this place is of one type.
ARGUMENTS = {
    **dict.fromkeys([("range", 0), ("range", 1), ("range", 2), ("chr", 0), ("bin", 0), ("hex", 0)], "int"),
    **dict.fromkeys([("abs", 0), ("round", 0), ("divmod", 0), ("divmod", 1)], "int"),
    **dict.fromkeys([(f"math.{name}", 0) for name in "floor ceil sqrt exp log sin cos".split()], "float"),
    **dict.fromkeys([("math.gcd", 0), ("math.gcd", 1), ("math.isqrt", 0), ("math.factorial", 0)], "int"),
    **dict.fromkeys([("sum", 0), ("sorted", 0), ("max", 0), ("min", 0)], "list[int]"),
    **dict.fromkeys([("enumerate", 0), ("reversed", 0), ("zip", 0), ("zip", 1)], "list[int]"),
    **dict.fromkeys([(f"re.{name}", 1) for name in "match search fullmatch findall finditer split".split()], "str"),
    **dict.fromkeys([("re.sub", 2), ("re.escape", 0), ("json.loads", 0), ("ord", 0), ("html.escape", 0)], "str"),
    **dict.fromkeys([(f"os.path.{name}", 0) for name in "join basename dirname splitext normpath".split()], "str"),
}
LITERALS: dict[type | None, str] = {str: "str", int: "int", float: "float", bytes: "bytes"}
STRONG, WEAK = 2, 1
ORDER = ast.Lt | ast.LtE | ast.Gt | ast.GtE


def annotated_by_usage(function: ast.FunctionDef) -> str:
    """A module with the signature of `function` alone, annotated where its body tells what a parameter is.

    What is annotated already, or has a default that says a type, is left as it is.
    """
    bare = copy.deepcopy(function)
    parameters = bare.args.posonlyargs + bare.args.args
    defaults = [None] * (len(parameters) - len(bare.args.defaults)) + list(bare.args.defaults)
    for parameter, default in zip(parameters, defaults, strict=True):
        told = default is not None and not (isinstance(default, ast.Constant) and default.value is None)
        if parameter.annotation is None and not told:
            kind = type_of(parameter.arg, function)
            if kind is None and from_name(parameter.arg) is None:
                kind = "str"  # what most scripts are about; a wrong guess fails its trial
            parameter.annotation = ast.parse(kind, mode="eval").body if kind else None
    bare.body, bare.decorator_list = [ast.Pass()], []
    return ast.unparse(bare)


def type_of(expression: str, function: ast.FunctionDef, depth: int = 1) -> str | None:
    """The type that most evidence in a function speaks for, of a name or of another expression; None without any."""
    votes: dict[str, int] = {}
    for kind, weight in _evidence(expression, function, depth):
        votes[kind] = votes.get(kind, 0) + weight
    return max(votes, key=lambda kind: votes[kind]) if votes else None


def _evidence(expression: str, function: ast.FunctionDef, depth: int) -> Iterator[tuple[str, int]]:
    def is_it(node: ast.expr) -> bool:
        return ast.unparse(node) == expression

    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in METHODS and is_it(owner):
                yield METHODS[method], STRONG
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="join"), args=[given]):
                if is_it(given):
                    yield "list[str]", STRONG
            case ast.Call(func=called, args=given):
                kinds = [ARGUMENTS.get((ast.unparse(called), place)) for place in range(len(given))]
                yield from ((kind, WEAK) for kind, part in zip(kinds, given, strict=True) if kind and is_it(part))
            case ast.Subscript(value=owner, slice=index) if is_it(owner):
                text = isinstance(index, ast.Constant) and isinstance(index.value, str)
                yield ("dict[str, int]", STRONG) if text else ("list[int]", WEAK)
            case ast.For(target=target, iter=walked) | ast.comprehension(target=target, iter=walked) if is_it(walked):
                element = type_of(ast.unparse(target), function, depth - 1) if depth else None
                yield f"list[{element or 'int'}]", STRONG if element else WEAK
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                if is_it(left) or is_it(right):
                    yield from _of_operator(node, right if is_it(left) else left, is_it(right))
            case ast.AugAssign(target=target, value=added) if is_it(target) or is_it(added):
                yield "int", WEAK


def _of_operator(node: ast.BinOp | ast.Compare, other: ast.expr, right: bool) -> Iterator[tuple[str, int]]:
    """What an operator says of one side: a constant on the other names its type, arithmetic alone a number."""
    kind = type(other.value) if isinstance(other, ast.Constant) else None
    operator = node.ops[0] if isinstance(node, ast.Compare) else node.op
    if isinstance(operator, ast.In | ast.NotIn):
        if kind is str and right:
            yield "str", WEAK
    elif kind in LITERALS:
        yield LITERALS[kind], STRONG
    elif isinstance(operator, ast.operator | ORDER):
        yield "int", WEAK
