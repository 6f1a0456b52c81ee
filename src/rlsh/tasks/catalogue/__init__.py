"""Functions known to be right, by topic: what broken ones are made from."""

from functools import cache

from rlsh.tasks.catalogue import (
    bits,
    clock,
    codes,
    config,
    dates,
    formatting,
    graphs,
    grids,
    intervals,
    lines,
    lists,
    machines,
    mappings,
    money,
    numbers,
    parsing,
    paths,
    quantities,
    search,
    series,
    simulations,
    text,
    trees,
)
from rlsh.tasks.catalogue.reference import Reference, references_of

__all__ = ["Reference", "references"]

_TOPICS = (
    bits,
    clock,
    codes,
    config,
    dates,
    formatting,
    graphs,
    grids,
    intervals,
    lines,
    lists,
    machines,
    mappings,
    money,
    numbers,
    parsing,
    paths,
    quantities,
    search,
    series,
    simulations,
    text,
    trees,
)


@cache
def references() -> list[Reference]:
    """All of them, sorted by name."""
    return sorted((made for topic in _TOPICS for made in references_of(topic)), key=lambda made: made.name)
