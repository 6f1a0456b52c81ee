"""A top-level function and all that it needs of its module, as a module of its own. Text in, text out: nothing runs.

Scopes are told by `symtable`, the compiler's own: which names a definition takes from its module is not guessed.
"""

from __future__ import annotations

import ast
import builtins
import copy
import symtable
from collections.abc import Iterator, Sequence

from rlsh.tasks.harvest.module import SOLID, Definition, Import, Module, bound_by, root_of
from rlsh.tasks.harvest.outcome import UnfitError
from rlsh.tasks.harvest.purity import OUTSIDE, check_pure, imports_of

FUNCTION_LINES, SLICE_LINES = 80, 200
CONVERSIONS = set(
    "abs bool bytes bytearray chr complex dict divmod enumerate filter float frozenset int len list map max min "
    "object ord pow range repr reversed round set slice sorted str sum tuple type zip".split()
)


def slice_of(module: Module, name: str) -> str:
    """The text of a module that defines the function `name` and what it needs, in the order of the original.

    Raises UnfitError where it is no function to harvest, or something that it needs cannot be taken along.
    """
    function = module.definitions.get(name)
    if not isinstance(function, ast.FunctionDef):
        raise UnfitError("async" if isinstance(function, ast.AsyncFunctionDef) else "method", name)
    _check_function(function)
    needed, optional = _needed(module, name)
    taken = [node for node in module.body if isinstance(node, SOLID) and needed & set(bound_by(node))]
    for node in taken:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            _check_constant(node, module)
    check_pure(taken, {n: imports_of(_pure_imports(module, n)[0])[n] for n in needed & module.imports.keys()})
    source = _text(module, taken, needed | optional)
    if source.count("\n") > SLICE_LINES:
        raise UnfitError("too long", f"{source.count(chr(10))} lines with what it needs")
    return source


def _check_function(function: ast.FunctionDef) -> None:
    arguments = function.args
    if function.name.startswith(("test_", "__")):
        raise UnfitError("test or dunder", function.name)
    if not (arguments.posonlyargs or arguments.args or arguments.vararg):
        raise UnfitError("no parameters")
    lines = (function.end_lineno or 0) - function.lineno + 1
    if lines > FUNCTION_LINES:
        raise UnfitError("too long", f"{lines} lines")
    own = list(_own_nodes(function))
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own):
        raise UnfitError("generator")
    if not any(isinstance(node, ast.Return) and not _is_none(node.value) for node in own):
        raise UnfitError("returns nothing")


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function's body, those of functions within left out."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


# --- names ------------------------------------------------------------------------------------------------------


def _needed(module: Module, name: str) -> tuple[set[str], set[str]]:
    """The module's names that `name` needs, itself included; and those that only postponed annotations mention."""
    needed, optional, waiting = set[str](), set[str](), [name]
    while waiting:
        found = waiting.pop()
        if found in OUTSIDE and found not in module.bound:
            raise UnfitError("outside world", found)
        if found in needed or (found not in module.bound and hasattr(builtins, found)):
            continue
        _check_name(module, found)
        needed.add(found)
        if found in module.definitions:
            run, mentioned = _used_by(module.definitions[found], module.postponed)
            waiting += sorted(run)
            optional |= mentioned
    return needed, {n for n in optional if n in module.imports and _importable(module, n)}


def _check_name(module: Module, name: str) -> None:
    if name not in module.bound:
        detail = f"{name} (or of {module.starred} import *)" if module.starred else name
        raise UnfitError("undefined", detail)
    if name in module.changed and isinstance(module.definitions.get(name), ast.Assign | ast.AnnAssign):
        raise UnfitError("global state", name)
    if module.bound[name] > 1:
        raise UnfitError("bound more than once", name)
    if name in module.imports:
        _pure_imports(module, name)
    elif name not in module.definitions:
        raise UnfitError("module-level code", f"{name} is made by a statement that runs on import")


def _pure_imports(module: Module, name: str) -> list[Import]:
    """The imports that bind `name` to something pure. Raises UnfitError where none does."""
    pure, refused = list[Import](), UnfitError("undefined", name)
    for node in module.imports[name]:
        try:
            imports_of(node)
            pure.append(node)
        except UnfitError as error:
            refused = error
    if not pure:
        raise refused
    return pure


def _importable(module: Module, name: str) -> bool:
    try:
        return bool(_pure_imports(module, name))
    except UnfitError:
        return False


def _used_by(node: Definition, postponed: bool) -> tuple[set[str], set[str]]:
    """The global names that a definition reads when it or its body runs; and those in annotations that never run."""
    everything = _globals_of(node)
    if not postponed:
        return everything, set()
    run = _globals_of(_Bare().visit(copy.deepcopy(node)))
    return run, everything - run


def _globals_of(node: Definition) -> set[str]:
    waiting, used = [symtable.symtable(ast.unparse(ast.Module([node], [])), "slice", "exec")], set[str]()
    own = set(bound_by(node))
    while waiting:
        table = waiting.pop()
        used |= {s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced()}
        waiting += table.get_children()
    return used - own


class _Bare(ast.NodeTransformer):
    """Annotations are dropped."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


# --- constants and text -----------------------------------------------------------------------------------------


def _check_constant(node: ast.Assign | ast.AnnAssign, module: Module) -> None:
    """Raises UnfitError where it is computed by anything but builtins and the standard library."""
    name = ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
    if node.value is None:
        raise UnfitError("undefined", name)
    for inner in ast.walk(node.value):
        if isinstance(inner, ast.NamedExpr):
            raise UnfitError("computed constant", f"{name} names a part of itself")
        if isinstance(inner, ast.Call) and not _is_known(inner.func, module):
            raise UnfitError("computed constant", f"{name} calls {ast.unparse(inner.func)[:40]}")


def _is_known(function: ast.expr, module: Module) -> bool:
    """Whether a call is of a builtin, of something imported, which is looked at elsewhere, or of a value's method."""
    if isinstance(function, ast.Name):
        return function.id in module.imports or (function.id in CONVERSIONS and function.id not in module.bound)
    return not isinstance(module.definitions.get(root_of(function)), ast.FunctionDef | ast.ClassDef)


def _text(module: Module, taken: Sequence[Definition], needed: set[str]) -> str:
    imports = [node for name in module.imports if name in needed for node in _pure_imports(module, name)]
    lines = module.text.split("\n")
    parts = ["\n".join(sorted({ast.unparse(node) for node in imports}))] if imports else []
    parts += [_original(node, module, lines) for node in taken]
    future = "from __future__ import annotations\n\n" if module.postponed else ""
    return future + "\n\n\n".join(parts) + "\n"


def _original(node: Definition, module: Module, lines: Sequence[str]) -> str:
    """The text of a statement with its comments, if it stands on lines of its own."""
    decorators = [] if isinstance(node, ast.Assign | ast.AnnAssign) else node.decorator_list
    first, last = min([node.lineno, *(d.lineno for d in decorators)]), node.end_lineno or node.lineno
    if any(other is not node and other.lineno <= last and (other.end_lineno or 0) >= first for other in module.body):
        return ast.unparse(node)
    return "\n".join(lines[first - 1 : last])
