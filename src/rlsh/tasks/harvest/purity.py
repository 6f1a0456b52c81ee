"""Whether code touches anything but its arguments, as far as its syntax tells.

A list of what is known to be pure, not of what is not: a module of the standard library that is not named here is
taken for one that touches the outside. What slips through is run in a sandbox, where it finds nothing to touch.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping

from rlsh.tasks.harvest.outcome import UnfitError

PURE = set(
    "__future__ abc array ast base64 binascii bisect calendar cmath collections collections.abc colorsys copy csv "
    "dataclasses datetime decimal difflib enum fractions functools hashlib heapq html html.entities html.parser "
    "ipaddress itertools json keyword math ntpath numbers operator posixpath quopri re reprlib shlex statistics string "
    "stringprep struct textwrap token types typing unicodedata urllib.parse zlib".split()
)
# Of these modules nothing but what stands here.
PARTLY = {
    "os": "path sep altsep linesep pathsep curdir pardir extsep fspath PathLike",
    "os.path": "basename commonpath commonprefix dirname isabs join normcase normpath sep split splitdrive splitext",
    "sys": "maxsize maxunicode float_info byteorder version_info",
    "random": "Random",
    "time": "strptime struct_time",
    "fnmatch": "fnmatchcase translate",
    "pathlib": "PurePath PurePosixPath PureWindowsPath Path",
    "io": "StringIO BytesIO",
    "pprint": "pformat saferepr",
    "contextlib": "suppress contextmanager nullcontext",
    "urllib": "parse",
    "glob": "escape has_magic",
    "tokenize": "generate_tokens",
}
PARTS = {module: set(names.split()) for module, names in PARTLY.items()}
# Attributes that read or change the outside whatever they are taken from.
IMPURE = set(
    "now today utcnow cwd home exists is_file is_dir is_symlink iterdir glob rglob read_text read_bytes write_text "
    "write_bytes mkdir rmdir unlink rename touch stat lstat chmod expanduser absolute resolve samefile readlink "
    "symlink_to rename_to environ getenv urlopen connect".split()
)
# Builtins, and names that every module has, that lead outside.
OUTSIDE = set(
    "open input exec eval compile __import__ breakpoint exit quit globals locals help __file__ __name__ __loader__ "
    "__spec__ __builtins__".split()
)
DECORATORS = set(
    "functools.cache functools.lru_cache functools.wraps functools.total_ordering functools.cached_property "
    "functools.singledispatch dataclasses.dataclass enum.unique staticmethod classmethod property "
    "abc.abstractmethod typing.overload typing.final typing.runtime_checkable".split()
)


def check_import(module: str, names: Iterable[str]) -> None:
    """`import module`, or `from module import names`. Raises UnfitError where it is not known to be pure."""
    top = module.split(".")[0]
    if top not in sys.stdlib_module_names:
        raise UnfitError("third-party import", top)
    if module not in PURE and module not in PARTS:
        raise UnfitError("outside world", module)
    for name in names:
        _check_part(module, name)


def _check_part(module: str, name: str) -> None:
    if name in IMPURE or (module in PARTS and name not in PARTS[module]):
        raise UnfitError("outside world", f"{module}.{name}")


def imports_of(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The names that an import binds, each with the dotted name of what it stands for. Raises UnfitError."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            check_import(alias.name, ())
        return {a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names}
    if node.level:
        raise UnfitError("relative import", "." * node.level + (node.module or ""))
    module = node.module or ""
    check_import(module, [alias.name for alias in node.names])
    return {alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names}


def check_pure(nodes: Iterable[ast.AST], imported: Mapping[str, str]) -> None:
    """Raises UnfitError where these definitions touch the outside.

    `imported` is what the module's imports bind, as `imports_of` has it; imports inside are looked at here.
    """
    looking = list(nodes)
    names = dict(imported)
    for node in (inner for outer in looking for inner in ast.walk(outer)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= imports_of(node)
    for node in looking:
        _Looking(names).visit(node)


def dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    """`os.path.join` for `p.join` where `p` was imported as os.path; empty where it is not a chain of names."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    before = dotted(node.value, names) if isinstance(node, ast.Attribute) else ""
    return f"{before}.{node.attr}" if before and isinstance(node, ast.Attribute) else ""


class _Looking(ast.NodeVisitor):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in IMPURE:
            raise UnfitError("outside world", f".{node.attr}")
        owner = dotted(node.value, self.names)
        if owner in PARTS:
            _check_part(owner, node.attr)
        if not (owner in PARTS and isinstance(node.value, ast.Name)):
            self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        if self.names.get(node.id) in PARTS:
            raise UnfitError("outside world", self.names[node.id])

    def visit_Call(self, node: ast.Call) -> None:
        if dotted(node.func, self.names) == "random.Random" and not node.args:
            raise UnfitError("outside world", "random.Random without a seed")
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        raise UnfitError("global state", node.names[0])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._decorated(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._decorated(node)

    def _decorated(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = dotted(function, self.names)
            if name not in DECORATORS and not name.endswith((".setter", ".register")):
                raise UnfitError("decorator", name or "an expression")
        self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        raise UnfitError("async", node.name)
