"""Settings as nested dicts: reading, merging, comparing and filling in."""

import copy
import re
from typing import Any

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.config(lambda: d.number(0, 9)), d.config(lambda: d.number(0, 9))))
def merge_configs(base: dict[str, Any], override: dict[str, Any]) -> dict[str, Any]:
    """Return `base` updated with `override`, dicts on both sides being merged the same way and anything else
    replaced; change neither argument."""
    merged = copy.deepcopy(base)
    for key, value in override.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = merge_configs(merged[key], value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged


@reference(
    lambda d: (
        old := d.config(lambda: d.number(0, 2)),
        d.pick((old, new := old | d.config(lambda: d.number(0, 2)), new, d.config(lambda: d.number(0, 2)))),
    )
)
def config_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Describe how `new` differs from `old`, sorted by key: "+key" for a key added, "-key" for one removed, "~key"
    for a changed value, and "key." with the description of each change inside where both values are dicts."""
    changes = []
    for key in sorted(old.keys() | new.keys()):
        if key not in old:
            changes.append(f"+{key}")
        elif key not in new:
            changes.append(f"-{key}")
        elif isinstance(old[key], dict) and isinstance(new[key], dict):
            changes += [f"{key}.{change}" for change in config_changes(old[key], new[key])]
        elif old[key] != new[key]:
            changes.append(f"~{key}")
    return changes


@reference(
    lambda d: (
        {"port": d.number(1, 99), "hosts": d.words(3), "user": {"name": d.word(), "size": {"name": d.name()}}},
        d.pick(
            ("port", "hosts.0", "hosts.1", "hosts", "user", "user.name", "user.size.name", "hosts.x", "port.a", "path")
        ),
    )
)
def lookup(config: dict[str, Any], path: str) -> Any:
    """Follow the dotted `path` into nested dicts by key and lists by index, and return the value found there, or None
    where a key or an index does not exist."""
    current: Any = config
    for part in path.split("."):
        if isinstance(current, dict):
            current = current.get(part)
        elif isinstance(current, list) and part.isdigit() and int(part) < len(current):
            current = current[int(part)]
        else:
            return None
    return current


@reference(
    lambda d: (
        d.config(lambda: d.number(0, 9)),
        d.pick(("name", "size.color", "user.host.port", "mode.name")),
        d.number(10, 19),
    )
)
def with_value(config: dict[str, Any], path: str, value: int) -> dict[str, Any]:
    """Return a copy of nested dicts in which the dotted `path` leads to `value`, creating dicts where there are none
    and replacing what is no dict on the way; leave `config` itself as it is."""
    key, dot, rest = path.partition(".")
    result = dict(config)
    if not dot:
        result[key] = value
        return result
    inner = result.get(key)
    if not isinstance(inner, dict):
        inner = {}
    result[key] = with_value(inner, rest, value)
    return result


@reference(lambda d: (d.config(lambda: d.pick((d.number(0, 9), d.ints(0, 9, 2), {})), 3), d.pick((".", "/", "__"))))
def flatten_keys(config: dict[str, Any], separator: str) -> dict[str, Any]:
    """Flatten nested dicts into one whose keys are the paths of keys joined by `separator`; empty dicts, lists and
    other values are taken as they are."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict) and value:
            for path, inner in flatten_keys(value, separator).items():
                flat[f"{key}{separator}{path}"] = inner
        else:
            flat[key] = value
    return flat


@reference(lambda d: (d.mapping(lambda: ".".join(d.many(lambda: d.pick("abc"), 3, 1)), lambda: d.number(0, 9), 4),))
def unflatten_keys(flat: dict[str, int]) -> dict[str, Any]:
    """Turn keys such as "a.b" into nested dicts; raise ValueError if a key is needed both for a value and for a
    dict."""
    nested: dict[str, Any] = {}
    for path, value in flat.items():
        *parents, last = path.split(".")
        current = nested
        for part in parents:
            current = current.setdefault(part, {})
            if not isinstance(current, dict):
                raise ValueError(f"{path} runs into a value")
        if last in current:
            raise ValueError(f"{path} is taken")
        current[last] = value
    return nested


@reference(lambda d: (d.config(lambda: d.pick((None, "", 0, False, 3, [], "x")), 3),))
def prune(config: dict[str, Any]) -> dict[str, Any]:
    """Return nested dicts without keys whose value is None, an empty string, an empty list or a dict in which nothing
    is left; keep 0 and False."""
    kept = {}
    for key, value in config.items():
        if isinstance(value, dict):
            value = prune(value)
        if value is None or value in ("", [], {}):
            continue
        kept[key] = value
    return kept


@reference(
    lambda d: (
        d.mapping(
            lambda: d.pick(("port", "debug", "price", "name", "size")),
            lambda: d.pick(("8", "yes", "ON", "No", "1.5", "x", "1")),
            7,
        ),
        {"port": 80, "debug": False, "price": 2.0, "name": "app"},
    )
)
def coerce_settings(given: dict[str, str], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return `defaults` updated with the texts in `given` for the same keys, converted to the type of the default:
    yes, true, on and 1 in any case are True, every other text False, and what is no number leaves the default."""
    settings = dict(defaults)
    for key, text in given.items():
        default = defaults.get(key)
        if isinstance(default, bool):
            settings[key] = text.lower() in ("yes", "true", "on", "1")
        elif isinstance(default, int | float):
            try:
                settings[key] = type(default)(text)
            except ValueError:
                continue
        elif key in defaults:
            settings[key] = text
    return settings


@reference(
    lambda d: (
        d.mapping(
            lambda: d.pick(("name", "size", "port")),
            lambda: d.pick((d.word(), d.word(), "${name}", "a-${size}", "${port}${name}", "${none}")),
            6,
            2,
        ),
        d.pick(("${name}!", "${size}/${size}", "$name", "<${port}>")),
    )
)
def interpolate(variables: dict[str, str], template: str) -> str:
    """Replace each ${name} in `template` by the value of that variable, in which ${name} is replaced in turn; raise
    KeyError for a variable that does not exist and ValueError for one that needs itself."""

    def expand(text: str, active: tuple[str, ...]) -> str:
        def value_of(match: re.Match[str]) -> str:
            name = match.group(1)
            if name in active:
                raise ValueError(f"{name} needs itself")
            return expand(variables[name], (*active, name))

        return re.sub(r"\$\{(\w+)\}", value_of, text)

    return expand(template, ())


@reference(
    lambda d: (
        d.mapping(d.key, lambda: d.number(0, 9)),
        d.mapping(
            lambda: d.pick(("APP_", "app_", "APP", "")) + d.key().upper(), lambda: d.pick((d.word(), "42", "-1", "007"))
        ),
        "APP_",
    )
)
def apply_environment(config: dict[str, Any], environment: dict[str, str], prefix: str) -> dict[str, Any]:
    """Return `config` with a value replaced for each environment variable named `prefix` and the key in capitals;
    digits become an int, and variables without a key in `config` are ignored."""
    result = dict(config)
    for variable, text in environment.items():
        if not variable.startswith(prefix):
            continue
        key = variable[len(prefix) :].lower()
        if key in result:
            result[key] = int(text) if text.isdigit() else text
    return result


@reference(lambda d: (d.config(lambda: d.number(0, 9)), d.config(lambda: d.pick((None, d.number(10, 19))))))
def apply_patch(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Apply a JSON merge patch: None removes a key, a dict patches the dict there, or an empty one if there is no
    dict, and any other value replaces the old one; `document` stays as it is."""
    result = dict(document)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            inner = result.get(key)
            result[key] = apply_patch(inner if isinstance(inner, dict) else {}, value)
        else:
            result[key] = value
    return result


@reference(
    lambda d: (
        d.config(lambda: d.pick((d.word(), d.ints(0, 9, 2), 5))),
        d.pick((["name", "owner"], ["size"], ["user", "tags"])),
    )
)
def mask_secrets(config: dict[str, Any], secret: list[str]) -> dict[str, Any]:
    """Return a copy of nested dicts in which the value of every key in `secret` is "***", in dicts at any depth,
    except that None and empty values stay as they are."""
    masked: dict[str, Any] = {}
    for key, value in config.items():
        if key in secret and value:
            masked[key] = "***"
        elif isinstance(value, dict):
            masked[key] = mask_secrets(value, secret)
        else:
            masked[key] = value
    return masked


@reference(
    lambda d: (
        d.config(lambda: d.pick((1, "x", True, None, [1]))),
        {"name": "str", "port": "int", "debug": "bool", "size": "int", "user": "dict"},
    )
)
def check_types(config: dict[str, Any], schema: dict[str, str]) -> list[str]:
    """Return the problems of `config`, sorted: "unknown KEY" for a key not in `schema`, "missing KEY" for a key of
    `schema` not in it, and "KEY: wanted TYPE, got TYPE" for a value whose type has another name than `schema`
    gives."""
    problems = []
    for key, value in config.items():
        if key not in schema:
            problems.append(f"unknown {key}")
            continue
        found = type(value).__name__
        if found != schema[key]:
            problems.append(f"{key}: wanted {schema[key]}, got {found}")
    problems += [f"missing {key}" for key in schema if key not in config]
    return sorted(problems)
