"""A normal form of Python source: equal for sources that differ in names, layout, docstrings and annotations only."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def normalised(source: str) -> str:
    """The syntax tree of `source` as text, to be compared for equality.

    Docstrings and annotations are dropped. What the source binds (variables, parameters, functions, imports), each
    in its scope, is numbered in the order of appearance; builtins, attributes, keywords and the names of imported
    things keep theirs. Comparable within one version of Python. Raises SyntaxError.
    """
    tree = _Bare().visit(ast.parse(source))
    _Numbering().visit(tree)
    return ast.dump(tree)


class _Bare(ast.NodeTransformer):
    """Drops docstrings and annotations."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.Module, ast.ClassDef, Function)) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
        if isinstance(node, Function):
            node.returns = None
        return super().generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        return self.visit(ast.Assign([node.target], node.value)) if node.value else None


class _Numbering(ast.NodeVisitor):
    """Gives every bound name, at its first appearance, the next number."""

    def __init__(self) -> None:
        self.scopes: list[dict[str, str]] = []  # from the outside in: name -> what stands for it, "" until it is met
        self.count = 0

    @contextmanager
    def scope(self, names: Iterable[str]) -> Iterator[None]:
        self.scopes.append(dict.fromkeys(names, ""))
        yield
        self.scopes.pop()

    def number(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if name in scope:
                if not scope[name]:
                    scope[name] = str(self.count)
                    self.count += 1
                return scope[name]
        return name

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_Module(self, node: ast.Module) -> None:
        with self.scope(_bound(node.body)):
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        node.id = self.number(node.id)

    def visit_FunctionDef(self, node: Function) -> None:
        node.name = self.number(node.name)
        self.visit_all(node.decorator_list)
        self.function(node.args, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.function(node.args, [node.body])

    def function(self, args: ast.arguments, body: Iterable[ast.AST]) -> None:
        self.visit_all((*args.defaults, *args.kw_defaults))
        parameters = [a for a in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg) if a]
        with self.scope([a.arg for a in parameters] + _bound(body)):
            for parameter in parameters:
                parameter.arg = self.number(parameter.arg)
            self.visit_all(body)

    def visit_ListComp(self, node: Comprehension) -> None:
        first = node.generators[0]
        self.visit(first.iter)  # the only part that is evaluated outside
        with self.scope(_bound(g.target for g in node.generators)):
            for generator in node.generators:
                self.visit_all([generator.target, *([] if generator is first else [generator.iter]), *generator.ifs])
            self.visit_all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class's own names are attributes: they stay, in its body too, and its methods do not see them."""
        node.name = self.number(node.name)
        self.visit_all((*node.decorator_list, *node.bases, *node.keywords))
        own = _bound(node.body)
        for statement in node.body:
            if isinstance(statement, Function):
                self.visit_all(statement.decorator_list)
                self.function(statement.args, statement.body)
            else:
                self.scopes.append({name: name for name in own})
                self.visit(statement)
                self.scopes.pop()

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            node.name = self.number(node.name)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        if node.asname or "." not in node.name:
            node.asname = self.number(node.asname or node.name)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        node.names = [self.number(name) for name in node.names]

    visit_Nonlocal = visit_Global

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            node.name = self.number(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            node.rest = self.number(node.rest)
        self.generic_visit(node)


def _bound(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that these nodes bind in the scope they stand in."""
    names: list[str] = []
    outer: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        inner = ast.iter_child_nodes(node)
        if isinstance(node, (Function, ast.ClassDef)):
            names.append(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, Comprehension):
            inner = (n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.alias) and (node.asname or "." not in node.name):
            names.append(node.asname or node.name)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.append(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.append(node.rest)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        waiting.extend(inner)
    return [name for name in names if name not in outer]
