"""A Python file as its top level binds names: by definitions, imports, or statements that run on import."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from rlsh.tasks.harvest.outcome import UnfitError

MUTATORS = set(
    "append appendleft extend insert add update setdefault pop popitem popleft remove discard clear sort "
    "reverse".split()
)
Import = ast.Import | ast.ImportFrom
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SOLID = (*BLOCKS, ast.Assign, ast.AnnAssign)


@dataclass
class Module:
    """A parsed file: what its top level binds, and how.

    `bound` counts how often each name is bound anywhere at module level, `definitions` and `imports` hold the plain
    statements that bind them; a name that is bound, and in neither, is bound within another statement.
    """

    text: str
    body: list[ast.stmt]
    bound: Counter[str] = field(default_factory=Counter)
    definitions: dict[str, Definition] = field(default_factory=dict)
    imports: dict[str, list[Import]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    starred: str = ""
    postponed: bool = False  # from __future__ import annotations

    def __post_init__(self) -> None:
        for statement in self.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                self.postponed = self.postponed or any(alias.name == "annotations" for alias in statement.names)
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                self._import(statement)
            elif not _is_main_block(statement):
                self._bind(statement)
        own = {name for name, node in self.definitions.items() if isinstance(node, BLOCKS)}
        for statement in self.body:
            if not isinstance(statement, BLOCKS) and not _is_main_block(statement):
                self.changed |= _changed_by(statement, own)
        for node in ast.walk(ast.Module(self.body, [])):
            if isinstance(node, ast.Global):
                self.changed.update(node.names)

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for alias in statement.names:
            name = alias.asname or alias.name.split(".")[0]
            if name == "*" and isinstance(statement, ast.ImportFrom):
                self.starred = statement.module or "."
                continue
            alone = copy.copy(statement)
            alone.names = [alias]
            before = self.imports.setdefault(name, [])
            before.append(alone)
            # `import os` and `import os.path` bind one name to one thing
            self.bound[name] += len(before) == 1 or not all(isinstance(node, ast.Import) for node in before)

    def _bind(self, statement: ast.stmt) -> None:
        names = bound_by(statement)
        self.bound.update(names)
        if isinstance(statement, SOLID):
            self.definitions |= dict.fromkeys(names, statement)

    def functions(self) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Every function at the top level, and every method as `Class.method`, in the order of the text."""
        for node in self.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name, node
            elif isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                        yield f"{node.name}.{inner.name}", inner


def parse(text: str) -> Module:
    """Raises UnfitError where `text` does not parse."""
    try:
        return Module(text, ast.parse(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise UnfitError("syntax error", f"line {line}" if line else type(error).__name__) from None


def _is_main_block(statement: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, which no import runs."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test).replace('"', "'") in (
        "__name__ == '__main__'",
        "'__main__' == __name__",
    )


def bound_by(statement: ast.stmt) -> list[str]:
    """The module's names that a statement binds, those in functions and classes within it left out."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    names = []
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.append(node.id)
        elif isinstance(node, ast.alias):
            names.append(node.asname or node.name.split(".")[0])
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting.extend(ast.iter_child_nodes(node))
    return names


def _changed_by(statement: ast.stmt, own: Container[str]) -> set[str]:
    """Names whose values a statement at module level may change: what it assigns into, calls a method of that
    changes containers, or hands to one of the module's `own` functions."""
    changed: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            changed.add("" if isinstance(node, ast.Attribute) and node.attr == "__doc__" else root_of(node))
        elif isinstance(node, ast.AugAssign):
            changed.add(root_of(node.target))
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
                changed.add(root_of(node.func))
            if root_of(node.func) in own:
                changed.update(root_of(given) for given in (*node.args, *(k.value for k in node.keywords)))
    return changed


def root_of(node: ast.expr) -> str:
    """`a` of `a.b[c].d`; empty where it does not begin with a name."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
