"""Plain Python values as tagged JSON, and their strict comparison.

JSON's own null, booleans, numbers, strings and arrays are None, bool, int, float, str and list. Anything JSON lacks
is an object with one key, its tag: `{"tuple": [1, 2]}`, `{"dict": [[key, value], …]}`, `{"bytes": "00ff"}`. There are
no other objects, so nothing a value contains can be mistaken for a tag.

This file also runs inside a candidate's sandbox, in front of `env/runner.py`, on the system's Python: it imports
nothing but what is here, and keeps to the syntax of Python 3.8.
"""

from __future__ import annotations

import json
import math

TYPE_CHECKING = False  # typing's own would have to be imported, which takes 4 ms
if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 100  # containers within containers
MAX_SIZE = 1 << 16  # one for every value, one more for every character, byte and hexadecimal digit
MAX_COLLISIONS = 8  # elements of one hash in a set or a dict


def to_tagged(value: object) -> Any:
    """`value` for `json.dumps`. Sets are sorted, dicts keep their order.

    Raises ValueError where a value is of any other type (a subclass is another type), too deep (a cycle is) or too
    large.
    """
    return _encode(value, MAX_DEPTH, [MAX_SIZE])


def from_tagged(tagged: Any) -> Any:
    """The value that `to_tagged` made `tagged` of. Raises ValueError, and only that, where there is none."""
    return _decode(tagged, MAX_DEPTH, [MAX_SIZE])


def _spend(left: list[int], count: int) -> None:
    left[0] -= count
    if left[0] < 0:
        raise ValueError(f"larger than {MAX_SIZE} values and characters")


def _encode(value: Any, depth: int, left: list[int]) -> Any:
    kind = type(value)
    _spend(left, 1)
    if depth < 0:
        raise ValueError(f"deeper than {MAX_DEPTH} levels")
    if value is None or kind is bool:
        return value
    if kind is int:
        _spend(left, value.bit_length() // 4)
        # Python prints no more than 4300 decimal digits, and is slow at it; hexadecimal has no such limit
        return value if value.bit_length() < 64 else {"int": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is str:
        _spend(left, len(value))
        # two surrogates in a row would come back from JSON as one character
        plain = not any("\ud800" <= character <= "\udfff" for character in value)
        return value if plain else {"str": value.encode("utf-8", "surrogatepass").hex()}
    if kind is bytes:
        _spend(left, len(value))
        return {"bytes": value.hex()}
    if kind is complex:
        return {"complex": [_encode(part, depth - 1, left) for part in (value.real, value.imag)]}
    if kind is dict:
        return {"dict": [[_encode(part, depth - 1, left) for part in item] for item in value.items()]}
    if kind in (list, tuple, set, frozenset):
        elements = [_encode(element, depth - 1, left) for element in value]
        if kind is list:
            return elements
        return {kind.__name__: elements if kind is tuple else sorted(elements, key=json.dumps)}
    raise ValueError(f"a value of type {kind.__name__} is no plain data")


_SCALARS: dict[str, Any] = {
    "int": lambda text: int(text, 16),
    "float": float,
    "str": lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    "bytes": bytes.fromhex,
}


def _decode(tagged: Any, depth: int, left: list[int]) -> Any:
    if depth < 0:
        raise ValueError(f"deeper than {MAX_DEPTH} levels")
    if isinstance(tagged, list):
        _spend(left, 1)
        return [_decode(element, depth - 1, left) for element in tagged]
    if not isinstance(tagged, dict):
        return _checked(tagged, tagged, depth, left)
    if len(tagged) != 1:
        raise ValueError(f"{len(tagged)} tags on one value")
    ((tag, content),) = tagged.items()
    wanted: Any = str if tag in _SCALARS else list
    if type(content) is not wanted:
        raise ValueError(f"tag {tag!r:.40} on a {type(content).__name__}")
    if tag in _SCALARS:
        return _checked(_SCALARS[tag](content), tagged, depth, left)
    _spend(left, 1)
    if tag == "dict":
        if not all(isinstance(item, list) and len(item) == 2 for item in content):
            raise ValueError("a dict is not written as pairs")
        items = [(_decode(key, depth - 1, left), _decode(value, depth - 1, left)) for key, value in content]
        _check_distinct([key for key, _ in items])
        return dict(items)
    elements = [_decode(element, depth - 1, left) for element in content]
    if tag == "tuple":
        return tuple(elements)
    if tag == "complex":
        if [type(part) for part in elements] != [float, float]:
            raise ValueError("a complex number is not written as two floats")
        return complex(*elements)
    if tag in ("set", "frozenset"):
        _check_distinct(elements)
        return set(elements) if tag == "set" else frozenset(elements)
    raise ValueError(f"unknown tag {tag!r:.40}")


def _checked(value: Any, tagged: Any, depth: int, left: list[int]) -> Any:
    """`value` if it is written `tagged`, and not `{"int": "0x_1"}`, 1e999 or as an untagged surrogate."""
    if _encode(value, depth, left) != tagged:
        raise ValueError(f"not as a {type(value).__name__} is written")
    return value


def _check_distinct(elements: list[Any]) -> None:
    """Raises ValueError where a set of `elements` would be smaller than they are, cannot be, or would take for ever.

    Multiples of 2**61 - 1 all hash to 0, and making a set of n colliding numbers takes n * n steps.
    """
    try:
        hashes = sorted(map(hash, elements))
    except TypeError:
        raise ValueError("an unhashable value in a set or as a key") from None
    if any(hashes[i] == hashes[i - MAX_COLLISIONS] for i in range(MAX_COLLISIONS, len(hashes))):
        raise ValueError("too many values of one hash")
    if len(set(elements)) != len(elements):
        raise ValueError("a value stands twice in a set or as a key")


def same(expected: Any, got: Any, tolerance: float | None = None) -> bool:
    """Whether two plain values have the same types and contents, throughout. NaN is NaN; -0.0 is not 0.0.

    With a tolerance, finite floats e and g agree if |e - g| <= tolerance * max(1, |e|); elements of sets and keys
    of dicts are exact all the same. The order of a dict does not count. Raises ValueError where something compared
    is no plain data (see `to_tagged`).
    """
    return _same(expected, got, tolerance, MAX_DEPTH)


def _same(expected: Any, got: Any, tolerance: float | None, depth: int) -> bool:
    kind = type(expected)
    if kind is not type(got):
        return False
    if kind is float:
        if tolerance is not None and math.isfinite(expected) and math.isfinite(got):
            return bool(abs(expected - got) <= tolerance * max(1.0, abs(expected)))
        return repr(expected) == repr(got)  # the shortest text that reads back: one for each float but NaN
    if kind is complex:
        parts = ((expected.real, got.real), (expected.imag, got.imag))
        return all(_same(e, g, tolerance, depth) for e, g in parts)
    if kind in (list, tuple, dict):
        if depth < 0:
            raise ValueError(f"deeper than {MAX_DEPTH} levels")
        if len(expected) != len(got):
            return False
        if kind is dict:
            keys, others = sorted(expected, key=_text), sorted(got, key=_text)
            if list(map(_text, keys)) != list(map(_text, others)):
                return False
            expected, got = [expected[key] for key in keys], [got[key] for key in others]
        return all(_same(e, g, tolerance, depth - 1) for e, g in zip(expected, got, strict=True))
    return _text(expected) == _text(got)


def _text(value: object) -> str:
    """One text for each value that holds no dict. Unlike `==` it tells 1, True and 1.0 apart."""
    return json.dumps(to_tagged(value))
