"""What a test says of one call, and what a right function's answer makes of it: the expected value of a strict check.

A test compares with `==`, to which 1, 1.0 and True are one value. A check compares types as well; it takes them from
the right function's answer, and the value from the test. An answer that contradicts the test is never expected.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rlsh.tasks.checks import INPUT_BYTES, MAX_CASES, Case, PythonCheck, Raised
from rlsh.tasks.values import same, to_tagged

Relation = Literal["equal", "is", "truth", "close", "json", "alike"]


@dataclass(frozen=True)
class Claim:
    """`function(*args, **kwargs)` is in `relation` to `expected`.

    equal: by `==`. is: the very value. truth: true or false, as `expected` is. close: within `tolerance`, see
    `values.same`. json: equal once written as JSON, which has no tuples. alike: the test compares two calls with each
    other, and `expected` means nothing. With `items` all this is said of the list of what the answer yields.
    """

    args: tuple[object, ...]
    kwargs: dict[str, object] = field(default_factory=dict)
    relation: Relation = "equal"
    expected: object = None
    tolerance: float | None = None
    items: bool = False

    @property
    def call(self) -> Case:
        return Case(self.args, self.kwargs)

    @property
    def key(self) -> str:
        """The same for the same claim."""
        said = (self.relation, repr(self.expected), self.tolerance, self.items)
        return json.dumps([to_tagged((self.args, self.kwargs)), *said])


class ContradictionError(ValueError):
    """The answer of what should be right is none that the test allows."""


class LooseClaimError(ValueError):
    """The test would be content with answers that no strict check could list."""


def settled(claim: Claim, answer: object) -> object:
    """The expected value, given the answer of the right function: a plain value or Raised.

    Raises ContradictionError, LooseClaimError.
    """
    if isinstance(answer, Raised):
        raise ContradictionError(f"raises {answer.type}")
    expected = claim.expected
    match claim.relation:
        case "alike":
            return answer
        case "equal":
            holds = answer == expected
        case "is":
            holds = same(expected, answer)
        case "json":
            holds = _as_json(answer) == expected
        case "truth":
            if type(answer) is not bool:
                raise LooseClaimError(f"a {type(answer).__name__} for {expected}")
            holds = answer is expected
        case "close":
            if type(answer) is not float or not isinstance(expected, int | float):
                raise LooseClaimError(f"a {type(answer).__name__} for a float")
            answer, holds = float(expected), same(float(expected), answer, claim.tolerance)
    if not holds:
        raise ContradictionError(f"answers {answer!r:.40}, and its test expects {expected!r:.40}")
    return answer


def _as_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_as_json(element) for element in value]
    return {key: _as_json(element) for key, element in value.items()} if isinstance(value, dict) else value


def grouped(claims: Sequence[Claim]) -> list[list[Claim]]:
    """The claims by what one check can hold: one tolerance, one way to return, not too many and not too large."""
    groups: dict[tuple[object, ...], list[Claim]] = {}
    for claim in {claim.key: claim for claim in claims}.values():
        groups.setdefault((claim.items, claim.tolerance), []).append(claim)
    return [part for group in groups.values() for part in _parts(group)]


def _parts(group: list[Claim]) -> list[list[Claim]]:
    size = sum(2 * len(json.dumps(to_tagged((claim.args, claim.kwargs)))) for claim in group)  # quoting may double it
    if len(group) == 1 or (len(group) <= MAX_CASES and size < INPUT_BYTES):
        return [group]
    half = len(group) // 2
    return _parts(group[:half]) + _parts(group[half:])


def check_of(file: str, function: str, group: Sequence[Claim], expected: Sequence[object] = ()) -> PythonCheck:
    """The check of a group, with its expected values or, unrecorded, without. Raises ValueError as PythonCheck does."""
    values = expected or [None] * len(group)
    cases = tuple(Case(c.args, c.kwargs, value) for c, value in zip(group, values, strict=True))
    return PythonCheck(file, function, cases, group[0].tolerance, "items" if group[0].items else "value")
