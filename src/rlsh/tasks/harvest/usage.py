"""Types of parameters told from what a function does with them, written into its signature as annotations.

`tasks.inputs` then draws by them as if the author had annotated: a name may still choose among values of the type.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

# A method that one type alone has.
METHODS = {
    **dict.fromkeys(
        "split rsplit splitlines strip lstrip rstrip lower upper title capitalize casefold swapcase startswith endswith "
        "replace find rfind isdigit isalpha isalnum isupper islower isspace isnumeric isidentifier zfill ljust rjust "
        "center partition rpartition removeprefix removesuffix encode format translate expandtabs".split(),
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
LITERALS = {str: "str", int: "int", float: "float", bytes: "bytes"}
STRONG, WEAK = 2, 1
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def annotated_by_usage(source: str, name: str) -> str:
    """A module with the signature of the last top-level function `name` of `source`, annotated where its body tells.

    What is annotated already, or has a default that says a type, is left as it is.
    """
    function = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == name][-1]
    arguments = function.args
    parameters = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(parameters) - len(arguments.defaults)) + list(arguments.defaults)
    for parameter, default in zip(parameters, defaults, strict=True):
        told = default is not None and not (isinstance(default, ast.Constant) and default.value is None)
        if parameter.annotation is None and not told:
            kind = _type_of(parameter.arg, function.body)
            parameter.annotation = ast.parse(kind, mode="eval").body if kind else None
    function.body, function.decorator_list = [ast.Pass()], []
    return ast.unparse(function)


def _type_of(name: str, body: list[ast.stmt], depth: int = 1) -> str | None:
    """The type that most of the strongest evidence speaks for; the first met where they are even."""
    votes: dict[str, int] = {}
    for kind, weight in _evidence(name, body, depth):
        votes[kind] = votes.get(kind, 0) + weight
    return max(votes, key=lambda kind: votes[kind]) if votes else None


def _evidence(name: str, body: list[ast.stmt], depth: int) -> Iterator[tuple[str, int]]:
    for node in (inner for statement in body for inner in ast.walk(statement)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)) if owner == name:
                if method in METHODS:
                    yield METHODS[method], STRONG
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="join"), args=[ast.Name(id=given)]):
                if given == name:
                    yield "list[str]", STRONG
            case ast.Call(args=given):
                for place, argument in enumerate(given):
                    kind = ARGUMENTS.get((ast.unparse(node.func), place))
                    if kind and isinstance(argument, ast.Name) and argument.id == name:
                        yield kind, WEAK
            case ast.Subscript(value=ast.Name(id=owner), slice=index) if owner == name:
                text = isinstance(index, ast.Constant) and isinstance(index.value, str)
                yield ("dict[str, int]", STRONG) if text else ("list[int]", WEAK)
            case ast.For(target=target, iter=ast.Name(id=iterated)) | ast.comprehension(
                target=target, iter=ast.Name(id=iterated)
            ) if iterated == name:
                element = _type_of(target.id, body, depth - 1) if depth and isinstance(target, ast.Name) else None
                yield f"list[{element or 'int'}]", STRONG if element else WEAK
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                yield from _of_operands(name, node, left, right)
            case ast.AugAssign(target=ast.Name(id=target), value=ast.Name(id=added)) if name in (target, added):
                yield "int", WEAK


def _of_operands(name: str, node: ast.expr, left: ast.expr, right: ast.expr) -> Iterator[tuple[str, int]]:
    """What stands on the other side of an operator: a constant says its type, arithmetic alone a number."""
    if not any(isinstance(side, ast.Name) and side.id == name for side in (left, right)):
        return
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        if isinstance(left, ast.Constant) and isinstance(left.value, str):
            yield "str", WEAK
        return
    other = right if isinstance(left, ast.Name) and left.id == name else left
    if isinstance(other, ast.Constant) and type(other.value) in LITERALS:
        yield LITERALS[type(other.value)], STRONG
    elif isinstance(node, ast.BinOp) or (isinstance(node, ast.Compare) and isinstance(node.ops[0], ORDER)):
        yield "int", WEAK
