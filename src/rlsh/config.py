"""From a TOML recipe and dotted overrides to a frozen dataclass, and back.

Each trainer declares its own dataclasses; this file only fills them. Later sources win: the field defaults,
the recipe, its overlays in order, the command line. Every key is checked against the dataclass as it is read,
so a misspelt key is an error that names its source, and never a setting that silently did nothing.

Field types: int, float, str, bool, Path, Enum, Literal, tuple[X, ...], tuple[X, Y], X | Y, X | None and
nested dataclasses. TOML has no null, so "none" stands for None where a type admits it; a `str | None` field
therefore cannot hold the string "none".
"""

from __future__ import annotations

import difflib
import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from enum import Enum
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import tomli_w

from rlsh.types import RlshError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

C = TypeVar("C", bound="DataclassInstance")
RECIPES = Path(str(files("rlsh"))) / "recipes"


class ConfigError(RlshError):
    """A recipe, overlay or override that does not fit the dataclass."""


class _Text(str):
    """A value typed on the command line: text, until the type of its field says what it means."""


@dataclass(frozen=True)
class _Leaf:
    value: object
    where: str  # the file that set it, or "command line"


_Node = dict[str, "_Leaf | _Node"]  # what the sources set, shaped like the dataclass


def find_recipe(name_or_path: str | Path) -> Path:
    """The path of a recipe: a bare name means the one shipped under that name, anything else is a path.

    A shipped name is never shadowed by a file of the working directory; `./name` is that file.
    """
    shipped = {path.stem: path for path in sorted(RECIPES.glob("*.toml"))}
    if str(name_or_path) in shipped:
        return shipped[str(name_or_path)]
    path = Path(name_or_path)
    if path.is_file():
        return path
    raise ConfigError(f"no recipe {str(name_or_path)!r}: give a file, or one of {', '.join(shipped) or '(none)'}")


def load(
    cls: type[C],
    recipe: Path | None,
    overrides: Sequence[str] = (),
    overlays: Sequence[Path] = (),
    base: C | None = None,
) -> C:
    """Build `cls` from its defaults (or `base`), `recipe`, `overlays` and `overrides`, each overruling the one before.

    An override is `optim.lr=1e-4`, `--optim.lr=1e-4` or the two strings `--optim.lr`, `1e-4`.
    Raises ConfigError for an unknown key, a missing one, a value of the wrong type, a file that is not TOML.
    """
    tree: _Node = {}
    for path in ([recipe] if recipe else []) + list(overlays):
        _merge(cls, tree, _read(path), str(path), "", cls)
    for key, text in _split(overrides):
        table: Any = _Text(text)
        for part in reversed(key.split(".")):
            table = {part: table}
        _merge(cls, tree, table, "command line", "", cls)
    config: C = _build(cls, base, tree, "")
    return config


def to_toml(config: DataclassInstance) -> str:
    """TOML that `load` turns back into an equal config. A None that is the default anyway is left out."""
    return tomli_w.dumps(_plain(config, None))


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """{"optim": {"lr": 1}} -> {"optim.lr": 1}, in the order of the tables."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        flat |= flatten(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat


# --- reading the sources ------------------------------------------------------------------------------------


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot read this recipe ({error.strerror})") from error
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def _split(overrides: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`k=v`, `--k=v` and `--k v` -> (key, text). Dashes in a key mean underscores."""
    words = iter(overrides)
    for word in words:
        key, equals, text = word.removeprefix("--").partition("=")
        if not equals:
            value = next(words, None) if word.startswith("--") else None
            if value is None or value.startswith("--"):
                raise ConfigError(f"command line: {word!r} has no value: write {key}=VALUE or --{key} VALUE")
            text = value
        yield key.replace("-", "_"), text


def _merge(kind: Any, tree: _Node, table: Mapping[str, Any], where: str, prefix: str, root: Any) -> None:
    """Lay `table` over `tree`. `kind` is the type at this depth; `root`, the whole config, is for hints."""
    hints = _hints(kind)
    for name, value in table.items():
        key = prefix + name
        if name not in hints:
            raise ConfigError(f"{where}: unknown key {key!r}; the nearest valid key is {_nearest(key, root)!r}")
        inner = _table_of(hints[name])
        if isinstance(value, dict) and (inner or value):  # without `inner`, its keys are unknown ones
            node = tree.get(name)
            if not isinstance(node, dict):
                node = tree[name] = {}
            _merge(inner, node, value, where, key + ".", root)
        else:
            tree[name] = _Leaf(value, where)


def _nearest(key: str, root: Any) -> str:
    """`lr` is meant as `optim.lr` however far apart the strings are, so an equal last part goes first."""
    names = list(_names(root, ""))
    same = [name for name in names if name.split(".")[-1] == key.split(".")[-1]]
    return difflib.get_close_matches(key, same or names, n=1, cutoff=0.0)[0]


def _names(kind: Any, prefix: str) -> Iterator[str]:
    for name, hint in _hints(kind).items():
        yield prefix + name
        yield from _names(_table_of(hint), f"{prefix}{name}.")


# --- filling the dataclass ----------------------------------------------------------------------------------


def _build(kind: Any, base: Any, tree: _Node, prefix: str) -> Any:
    """An instance of `kind` from `base` (the default its parent holds, or None) and what the sources set."""
    given: dict[str, Any] = {}
    hints = _hints(kind)
    for field in _init_fields(kind):
        node, hint, key = tree.get(field.name), hints[field.name], prefix + field.name
        default = _default(field, base)
        if isinstance(node, _Leaf):
            try:
                given[field.name] = _convert(hint, node.value)
            except ValueError as error:
                shown = str(node.value) if isinstance(node.value, _Text) else node.value
                raise ConfigError(f"{node.where}: {key} = {shown!r}: expected {_describe(hint)}") from error
        elif node is not None or (default is MISSING and is_dataclass(hint)):
            start = default if is_dataclass(default) else None
            given[field.name] = _build(_table_of(hint), start, node or {}, key + ".")
        elif default is MISSING:
            raise ConfigError(f"{key} is not set and has no default: put it in the recipe or add {key}=VALUE")
    try:
        return kind(**given) if base is None else replace(base, **given)
    except ValueError as error:  # a dataclass may check its values together, in __post_init__
        raise ConfigError(f"{prefix.rstrip('.') or 'config'}: {error}") from error


def _convert(hint: Any, value: Any) -> Any:
    """`value` as `hint`, strictly (1.0 is no int, 1 is not true), or ValueError."""
    origin, args, text = get_origin(hint), get_args(hint), isinstance(value, _Text)
    if origin in (Union, types.UnionType):
        return _first_fit(args, value)
    if origin is Literal:
        return _choose([(arg, arg) for arg in args], value)
    if origin is tuple:
        items = [_Text(item) for item in value.split(",") if item] if text else value
        if not isinstance(items, list):
            raise ValueError
        kinds = (args[0],) * len(items) if args[-1] is Ellipsis else args
        return tuple(_convert(kind, item) for kind, item in zip(kinds, items, strict=True))
    if hint is types.NoneType:
        return _choose([("none", None)], str(value))
    if hint is bool:
        return _choose([("true", True), ("false", False)] if text else [(True, True), (False, False)], value)
    if issubclass(hint, Enum):
        return _choose([(member.value, member) for member in hint], value)
    if hint is int and (text or type(value) is int):
        return int(value)
    if hint is float and (text or type(value) in (int, float)):
        return float(value)
    if hint in (str, Path) and isinstance(value, str):
        return str(value) if hint is str else Path(value).expanduser()
    raise ValueError


def _first_fit(arms: tuple[Any, ...], value: Any) -> Any:
    for arm in sorted(arms, key=lambda arm: arm is not types.NoneType):  # else "none" would fit `str` first
        try:
            return _convert(arm, value)
        except ValueError:
            continue
    raise ValueError


def _choose(choices: list[tuple[Any, Any]], value: Any) -> Any:
    """The second of the pair whose first is `value`; typed text matches what the first prints as."""
    for plain, result in choices:
        if str(plain) == value if isinstance(value, _Text) else (type(plain), plain) == (type(value), value):
            return result
    raise ValueError


def _describe(hint: Any) -> str:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_describe(arm) for arm in args)
    if origin is Literal:
        return "one of " + ", ".join(repr(arg) for arg in args)
    if origin is tuple:
        return f"list of {', '.join(_describe(arg) for arg in args if arg is not Ellipsis)}"
    if is_dataclass(hint):
        return "table"
    if issubclass(hint, Enum):
        return "one of " + ", ".join(repr(member.value) for member in hint)
    names = {types.NoneType: "none", bool: "true or false", str: "string", Path: "path"}
    return names.get(hint) or str(hint.__name__)


# --- the dataclass seen as a tree of types ------------------------------------------------------------------


def _init_fields(kind: Any) -> list[Field[Any]]:
    return [field for field in fields(kind) if field.init] if is_dataclass(kind) else []


def _hints(kind: Any) -> dict[str, Any]:
    """Type per field of a dataclass; nothing for any other type."""
    chosen = _init_fields(kind)
    resolved = get_type_hints(kind) if chosen else {}
    return {field.name: resolved[field.name] for field in chosen}


def _table_of(hint: Any) -> Any:
    """The dataclass in `X` or `X | None`, or None."""
    return next((arm for arm in (hint, *get_args(hint)) if is_dataclass(arm)), None)


def _default(field: Field[Any], base: Any) -> Any:
    if base is not None:
        return getattr(base, field.name)
    return field.default if field.default_factory is MISSING else field.default_factory()


def _plain(config: Any, base: Any) -> dict[str, Any]:
    """`config` as what TOML can hold. `base` is the default its parent holds, as in `_build`."""
    table: dict[str, Any] = {}
    for field in _init_fields(type(config)):
        value, default = getattr(config, field.name), _default(field, base)
        if is_dataclass(value):
            table[field.name] = _plain(value, default if is_dataclass(default) else None)
        elif value is not None or default is not None:
            table[field.name] = _scalar(value)
    return table


def _scalar(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_scalar(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return "none" if value is None else str(value) if isinstance(value, Path) else value
