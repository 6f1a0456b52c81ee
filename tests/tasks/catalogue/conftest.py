"""References as an agent meets them: run from their own text, in an empty module."""

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from rlsh.env.values import same
from rlsh.tasks.catalogue import Reference, references
from rlsh.tasks.inputs import Draw


def function_of(made: Reference) -> Callable[..., Any]:
    module: dict[str, Any] = {"__name__": made.name}
    exec(compile(made.source, made.name, "exec"), module)
    return module[made.name]


@pytest.fixture(scope="session")
def functions() -> Mapping[str, Callable[..., Any]]:
    return {made.name: function_of(made) for made in references()}


@pytest.fixture(scope="session")
def check(functions: Mapping[str, Callable[..., Any]]) -> Callable[[str, tuple[Any, ...], Any], None]:
    """Asserts that a function gives a value, with the types throughout, or raises an exception of a type."""

    def checked(name: str, args: tuple[Any, ...], expected: Any) -> None:
        if isinstance(expected, type):
            with pytest.raises(expected):
                functions[name](*args)
            return
        got = functions[name](*args)
        assert same(expected, got), f"{name}{args} is {got!r}, not {expected!r}"

    return checked


def returned(made: Reference, function: Callable[..., Any], draws: int = 100) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Arguments and value of the calls that return. What raises is held by the examples."""
    for seed in range(draws):
        args = made.draw(Draw(random.Random(seed)))
        with contextlib.suppress(ValueError, ArithmeticError, LookupError):
            yield args, function(*args)


@pytest.fixture(scope="session")
def against_route(functions: Mapping[str, Callable[..., Any]]) -> Callable[[str, Callable[..., Any]], None]:
    """Asserts that a function and another way to the same value agree on what is drawn for it."""
    by_name = {made.name: made for made in references()}

    def compared(name: str, route: Callable[..., Any]) -> None:
        for args, value in returned(by_name[name], functions[name]):
            expected = route(*args)
            assert same(expected, value), f"{name}{args} is {value!r}, not {expected!r}"

    return compared


@pytest.fixture(scope="session")
def has_property(functions: Mapping[str, Callable[..., Any]]) -> Callable[[str, Callable[..., bool]], None]:
    """Asserts that the values of a function, given with the arguments, satisfy a condition."""
    by_name = {made.name: made for made in references()}

    def checked(name: str, holds: Callable[..., bool]) -> None:
        for args, value in returned(by_name[name], functions[name]):
            assert holds(value, *args), f"{name}{args} is {value!r}"

    return checked
