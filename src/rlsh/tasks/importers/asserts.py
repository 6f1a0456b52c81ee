"""Test code, written as `assert` statements, read as claims about single calls. None of it is run."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rlsh.tasks.importers.claims import Claim
from rlsh.tasks.importers.literals import FUNCTIONS, UnknownValueError, shown, value_of
from rlsh.tasks.values import to_tagged

MAX_STATEMENTS = 10_000  # executed, loops included


@dataclass(frozen=True)
class Tests:
    """`rest` says, line by line, what the claims leave out: where there is any, they are less than the test."""

    claims: tuple[Claim, ...]
    rest: tuple[str, ...]


class _UnreadableError(Exception):
    """A statement whose effect on what follows is not known."""


def read_tests(source: str, function: str) -> Tests:
    """The claims of `source` about `function`, up to the first statement that cannot be followed.

    Raises ValueError where the source does not parse.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"the tests do not parse ({type(error).__name__})") from None
    reader = _Reader(function)
    try:
        reader.run(tree.body)
    except _UnreadableError as error:
        reader.rest.append(str(error))
    except RecursionError:
        reader.rest.append("nested too deeply, or a helper that calls itself")
    return Tests(tuple(reader.claims), tuple(dict.fromkeys(reader.rest)))


class _Reader:
    """Follows statements in order. What changes a value in place is not followed, and ends the reading.

    An assertion that is no claim might change one as well. Claims made behind it would then be others than the test's,
    and the answers of what is right are there to contradict them.
    """

    def __init__(self, function: str) -> None:
        self.aliases = {function}
        self.names: dict[str, Any] = {name: f for name, f in FUNCTIONS.items() if name != function}
        self.helpers: dict[str, ast.FunctionDef] = {}
        self.claims: list[Claim] = []
        self.rest: list[str] = []
        self.left = MAX_STATEMENTS

    def run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.left -= 1
            if self.left < 0:
                raise _UnreadableError(f"line {statement.lineno}: more than {MAX_STATEMENTS} steps")
            try:
                self.step(statement)
            except UnknownValueError as error:
                reason = f"line {statement.lineno}: {error}"
                if not isinstance(statement, ast.Assert):
                    raise _UnreadableError(reason) from None
                self.rest.append(reason)

    def step(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assert(test=test):
                self.claims += self.claims_in(test)
            case ast.Assign(targets=[target], value=value):
                self.bind(target, value_of(value, self.names))
            case ast.For(target=target, iter=items, body=body, orelse=[]):
                for item in value_of(items, self.names):
                    self.bind(target, item)
                    self.run(body)
            case ast.Import(names=modules) | ast.ImportFrom(names=modules) if modules[0].name != "*":
                for module in modules:
                    self.forget((module.asname or module.name).partition(".")[0])
            case ast.FunctionDef(name=name, decorator_list=[]) if name not in self.aliases:
                self.forget(name)
                self.helpers[name] = statement
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[ast.Name(id=passed)], keywords=[])) if (
                name in self.helpers and passed in self.aliases
            ):
                self.enter(self.helpers[name])
            case ast.Pass() | ast.Expr(value=ast.Constant() | ast.Name()):
                pass
            case _:
                raise UnknownValueError(f"{shown(statement)} is not followed")

    def forget(self, name: str) -> None:
        self.names.pop(name, None)
        self.helpers.pop(name, None)

    def bind(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name) if name not in self.aliases:
                self.forget(name)
                self.names[name] = value
            case ast.Tuple(elts=parts) if isinstance(value, list | tuple | str) and len(parts) == len(value):
                for part, element in zip(parts, value, strict=True):
                    self.bind(part, element)
            case _:
                raise UnknownValueError(f"{shown(target)} is not assigned to")

    def enter(self, helper: ast.FunctionDef) -> None:
        """Runs the body of `def check(candidate)`, whose parameter is the function."""
        match helper.args:
            case ast.arguments(posonlyargs=[], args=[parameter], vararg=None, kwonlyargs=[], kwarg=None):
                pass
            case _:
                raise UnknownValueError(f"{helper.name} does not take the function alone")
        outer = self.aliases, dict(self.names), dict(self.helpers)
        self.aliases = {*self.aliases, parameter.arg}
        self.forget(parameter.arg)
        self.run(helper.body)
        self.aliases, self.names, self.helpers = outer

    # --- what an assertion claims ---------------------------------------------------------------------------

    def claims_in(self, test: ast.expr) -> list[Claim]:
        match test:
            case ast.BoolOp(op=ast.And(), values=parts):
                return [claim for part in parts for claim in self.claims_in(part)]
            case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call) if self.is_call(call):
                return [self.claim(call, relation="truth", expected=False)]
            case ast.Call() if self.is_call(test):
                return [self.claim(test, relation="truth", expected=True)]
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                return self.equality(left, right)
            case ast.Compare(left=ast.Call() as call, ops=[ast.Is()], comparators=[ast.Constant(value=value)]) if (
                self.is_call(call) and (value is None or isinstance(value, bool))
            ):
                return [self.claim(call, relation="is", expected=value)]
            case ast.Compare(
                left=ast.Call(func=distance, args=[ast.BinOp(left=left, op=ast.Sub(), right=right)]),
                ops=[ast.Lt() | ast.LtE()],
                comparators=[bound],
            ) if ast.unparse(distance) in ("abs", "math.fabs"):
                return [self.closeness(left, right, _number(value_of(bound, self.names)))]
            case ast.Call(func=ast.Name(id="isclose") | ast.Attribute(attr="isclose"), args=[left, right]):
                options = {option.arg: _number(value_of(option.value, self.names)) for option in test.keywords}
                if options.keys() <= {"rel_tol", "abs_tol"}:
                    return [self.closeness(left, right, options.get("abs_tol", 0.0), options.get("rel_tol", 1e-9))]
        if not value_of(test, self.names):
            raise UnknownValueError(f"{shown(test)} does not hold")
        return []

    def is_call(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.aliases

    def subject(self, node: ast.expr) -> tuple[ast.Call, str] | None:
        """A call of the function, and what it is wrapped in: list, tuple or nothing."""
        match node:
            case ast.Call() if self.is_call(node):
                return node, ""
            case ast.Call(func=ast.Name(id="list" | "tuple" as wrapper), args=[ast.Call() as call], keywords=[]) if (
                self.is_call(call) and wrapper in self.names
            ):
                return call, wrapper
        return None

    def equality(self, left: ast.expr, right: ast.expr) -> list[Claim]:
        one, other = self.subject(left), self.subject(right)
        if one and other:
            return [self.claim(call, relation="alike", items=bool(wrapper)) for call, wrapper in (one, other)]
        called, value = (one, right) if one else (other, left)
        if called is None:
            raise UnknownValueError(f"{shown(left)} is no call of the function")
        call, wrapper = called
        expected = value_of(value, self.names)
        if wrapper and type(expected).__name__ != wrapper:
            raise UnknownValueError(f"a {wrapper} never equals a {type(expected).__name__}")
        return [self.claim(call, expected=list(expected) if wrapper else expected, items=bool(wrapper))]

    def closeness(self, left: ast.expr, right: ast.expr, bound: float, relative: float = 0.0) -> Claim:
        call, other = (left, right) if self.is_call(left) else (right, left)
        if not isinstance(call, ast.Call) or not self.is_call(call):
            raise UnknownValueError(f"{shown(left)} is no call of the function")
        expected = _number(value_of(other, self.names))
        tolerance = max(bound, relative * abs(expected)) / max(1.0, abs(expected))
        if not 0.0 < tolerance < 1.0:
            raise UnknownValueError(f"a tolerance of {tolerance} is none that a check has")
        return self.claim(call, relation="close", expected=expected, tolerance=tolerance)

    def claim(self, call: ast.Call, **said: Any) -> Claim:
        args: list[object] = []
        for argument in call.args:
            if isinstance(argument, ast.Starred):
                args += value_of(argument.value, self.names)
            else:
                args.append(value_of(argument, self.names))
        kwargs = {}
        for keyword in call.keywords:
            if keyword.arg is None:
                raise UnknownValueError("keywords that are not written out")
            kwargs[keyword.arg] = value_of(keyword.value, self.names)
        try:
            to_tagged((tuple(args), kwargs, said.get("expected")))
        except ValueError as error:  # a range
            raise UnknownValueError(str(error)) from None
        return Claim(tuple(args), kwargs, **said)


def _number(value: object) -> float:
    if type(value) not in (int, float):
        raise UnknownValueError(f"{value!r:.40} is no number")
    return float(value)  # type: ignore[arg-type]
