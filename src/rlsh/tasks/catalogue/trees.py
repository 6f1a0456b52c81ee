"""Nested lists and dicts, and recursion."""

from functools import cache
from itertools import count
from typing import Any

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.nested(lambda: d.pick((d.number(0, 9), "ab", None))), d.number(0, 3)))
def flatten(items: list[Any], levels: int) -> list[Any]:
    """Return the items of a nested list in order with at most `levels` levels of lists inside it dissolved; strings
    are items, and empty lists vanish where their level is dissolved."""
    flat: list[Any] = []
    for item in items:
        if isinstance(item, list) and levels > 0:
            flat += flatten(item, levels - 1)
        else:
            flat.append(item)
    return flat


@reference(lambda d: (d.nested(lambda: d.number(-5, 9), 4, 3),))
def weighted_depth(items: list[Any]) -> tuple[int, int]:
    """Return the sum of all numbers of a nested list, each times the number of lists it is in, and the depth of the
    list, which is 1 for a list without lists in it."""
    total, depth = 0, 1

    def visit(part: list[Any], level: int) -> None:
        nonlocal total, depth
        depth = max(depth, level)
        for item in part:
            if isinstance(item, list):
                visit(item, level + 1)
            else:
                total += level * item

    visit(items, 1)
    return total, depth


@reference(
    lambda d: (
        [d.config(lambda: d.pick((1, "x", ["y"], {"name": 2})), 3), d.config(d.word)],
        d.pick(("name", "name", "size", d.key())),
    )
)
def values_of_key(data: Any, key: str) -> list[Any]:
    """Return the values of all keys equal to `key` in dicts at any depth of nested dicts and lists, in order, the
    value of a dict's own `key` before those found inside its values."""
    found = []
    if isinstance(data, dict):
        if key in data:
            found.append(data[key])
        for value in data.values():
            found += values_of_key(value, key)
    elif isinstance(data, list):
        for item in data:
            found += values_of_key(item, key)
    return found


@reference(lambda d: (d.many(lambda: d.number(0, 20), 8),))
def search_tree(values: list[int]) -> list[tuple[int, int]]:
    """Insert `values` one by one into a binary search tree, equal ones not again, smaller ones to the left; return
    pairs of value and depth, 0 for the root, in preorder: a node, its left part, its right part."""
    tree: list[Any] = []
    for value in values:
        node = tree
        while node and node[0] != value:
            node = node[1] if value < node[0] else node[2]
        if not node:
            node += [value, [], []]

    def walk(node: list[Any], depth: int) -> list[tuple[int, int]]:
        if not node:
            return []
        value, left, right = node
        return [(value, depth), *walk(left, depth + 1), *walk(right, depth + 1)]

    return walk(tree, 0)


@reference(lambda d: ([(name, d.pick(("", "a", "b", "c", "x"))) for name in d.distinct(lambda: d.pick("abcdefg"), 7)],))
def nest_by_parent(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Turn (name, parent) pairs with different names into nested dicts of the names under their parents, in the given
    order; those whose parent is "" or no name at all are at the top, and those in or below a circle are left out."""
    names = {name for name, _ in pairs}

    def below(parent: str) -> dict[str, Any]:
        inside = {}
        for name, above in pairs:
            if (above if above in names else "") == parent:
                inside[name] = below(name)
        return inside

    return below("")


@reference(lambda d: (d.letters("abc", 4),))
def arrangements(letters: str) -> list[str]:
    """Return all different strings that use each of `letters` exactly once, in alphabetical order."""
    if len(letters) <= 1:
        return [letters]
    found = []
    for i, letter in enumerate(letters):
        if letter in letters[:i]:
            continue
        for rest in arrangements(letters[:i] + letters[i + 1 :]):
            found.append(letter + rest)
    return sorted(found)


@reference(lambda d: (d.number(0, 9), d.number(0, 5)))
def partitions(total: int, largest: int) -> list[list[int]]:
    """Return the ways to write `total` as a sum of positive numbers of at most `largest`, each as a falling list,
    lists with larger numbers first; the only way to write 0 is the empty sum."""
    if total == 0:
        return [[]]
    found = []
    for first in range(min(total, largest), 0, -1):
        for rest in partitions(total - first, first):
            found.append([first, *rest])
    return found


@reference(lambda d: (d.number(0, 4), d.pick(("ABC", "LMR"))))
def hanoi(disks: int, pegs: str) -> list[str]:
    """Return the moves, such as "A>C", that take a tower of `disks` from the first of three `pegs` to the last, one
    disk at a time and never a larger one on a smaller one, in as few moves as possible."""
    if disks == 0:
        return []
    source, spare, target = list(pegs)
    before = hanoi(disks - 1, source + target + spare)
    after = hanoi(disks - 1, spare + source + target)
    return [*before, f"{source}>{target}", *after]


@reference(lambda d: (d.number(0, 12), d.pick(([1, 2], [1, 2, 3], [2, 3], [1, 3], [2, 5], [2], []))))
def count_climbs(stairs: int, steps: list[int]) -> int:
    """Return in how many ways `stairs` can be climbed by taking steps of the given sizes, their order counting; there
    is one way to climb none."""

    @cache
    def ways(left: int) -> int:
        if left == 0:
            return 1
        return sum(ways(left - step) for step in steps if step <= left)

    return ways(stairs)


@reference(
    lambda d: (
        d.pick(
            (
                f"({d.word()} {d.number(-9, 9)})",
                f"(add {d.number(0, 99)} (mul 2 x))",
                f"( {d.word()} ({d.number(-9, 9)} ()) )",
                "()",
                d.word(),
                f"((a) ({d.key()})(b))",
                "(a",
                "a)",
                "(a)(b)",
                ")",
                "",
            )
        ),
    )
)
def parse_list(text: str) -> Any:
    """Read a nested list such as "(add 1 (mul 2 x))", in which blanks or parentheses separate the items, into lists
    of ints and texts; raise ValueError unless `text` is exactly one list or item with its parentheses closed."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def read() -> Any:
        if not tokens:
            raise ValueError("unclosed")
        token = tokens.pop(0)
        if token == ")":
            raise ValueError("nothing to close")
        if token != "(":
            return int(token) if token.removeprefix("-").isdigit() else token
        items = []
        while tokens[:1] != [")"]:
            items.append(read())
        tokens.pop(0)
        return items

    result = read()
    if tokens:
        raise ValueError("more than one item")
    return result


@reference(
    lambda d: (
        old := d.config(lambda: d.pick((1, 2, [1, 2])), 3),
        d.pick((old, old | d.config(lambda: d.pick((1, [1], [1, 2, 3]))), [old])),
    )
)
def differing_paths(left: Any, right: Any) -> list[str]:
    """Return the paths, such as "a.0.b", at which nested dicts and lists differ: go into two dicts by their keys,
    sorted, and into two lists by index; what only one side has differs, anything else differs unless it is equal, and
    "" is the root."""

    def compare(one: Any, other: Any, path: str) -> list[str]:
        if isinstance(one, list) and isinstance(other, list):
            one, other = dict(enumerate(one)), dict(enumerate(other))
        if not isinstance(one, dict) or not isinstance(other, dict):
            return [] if one == other else [path]
        found = []
        for key in sorted(one.keys() | other.keys()):
            inner = f"{path}.{key}" if path else str(key)
            if key in one and key in other:
                found += compare(one[key], other[key], inner)
            else:
                found.append(inner)
        return found

    return compare(left, right, "")


@reference(lambda d: (d.nested(lambda: d.pick((d.number(0, 20), d.word())), 3, 4),))
def sort_deep(items: list[Any]) -> list[Any]:
    """Return a nested list sorted at every level: numbers first, by value, then texts in alphabetical order, then
    lists, which keep their order among themselves."""

    def key(item: Any) -> tuple[int, int, str]:
        if isinstance(item, list):
            return 2, 0, ""
        return (1, 0, item) if isinstance(item, str) else (0, item, "")

    return [sort_deep(item) if isinstance(item, list) else item for item in sorted(items, key=key)]


@reference(lambda d: (d.nested(d.word, 3, 3),))
def label_items(items: list[Any]) -> list[tuple[int, str, str]]:
    """Number the texts of a nested list from 1 in order; return triples of the number, the path of list indices from
    0, such as "2/0", and the text."""
    numbers = count(1)
    labels: list[tuple[int, str, str]] = []

    def visit(part: list[Any], path: str) -> None:
        for i, item in enumerate(part):
            if isinstance(item, list):
                visit(item, f"{path}{i}/")
            else:
                labels.append((next(numbers), f"{path}{i}", item))

    visit(items, "")
    return labels
