"""Dicts: grouping, counting and joining records."""

from collections import Counter, defaultdict
from typing import Any

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.mapping(d.key, lambda: d.number(0, 3), 6),))
def invert(mapping: dict[str, int]) -> dict[int, list[str]]:
    """Map each value of `mapping` to the sorted list of the keys that have it."""
    inverted: dict[int, list[str]] = {}
    for key, value in mapping.items():
        inverted.setdefault(value, []).append(key)
    for keys in inverted.values():
        keys.sort()
    return inverted


@reference(
    lambda d: (
        d.records({"name": d.name, "team": lambda: d.pick(("red", "blue", None))}),
        d.pick(("team", "name", "age")),
    )
)
def group_names(people: list[dict[str, Any]], key: str) -> dict[str, list[str]]:
    """Group the "name" of all `people` by their value for `key`, in the given order; those who have no such value, or
    None, are grouped under "unknown"."""
    groups = defaultdict(list)
    for person in people:
        value = person.get(key)
        if value is None:
            value = "unknown"
        groups[value].append(person["name"])
    return dict(groups)


@reference(
    lambda d: (
        " ".join([d.sentence(6), d.pick(("", "!", "?!")), d.sentence(12)]),
        d.pick((0, 1, 2, 3, 4)),
        d.pick((["the", "a", "of"], [])),
    )
)
def common_words(text: str, count: int, ignored: list[str]) -> list[tuple[str, int]]:
    """Return the `count` most frequent words of `text`, in lower case and without .,!? around them, as pairs of word
    and frequency, equally frequent ones in alphabetical order; words in `ignored` do not count."""
    words = [word.strip(".,!?").lower() for word in text.split()]
    counts = Counter(word for word in words if word and word not in ignored)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ordered[:count]


@reference(lambda d: (d.rows([d.key, lambda: d.pick((-10, 0, 1, 10, 20, 30))], 7), d.pick((0, 1, 10, 20, 31))))
def totals_over(payments: list[list[Any]], limit: int) -> dict[str, int]:
    """Add up the amounts of the [name, amount] payments by name, leaving out amounts that are not positive, and keep
    the totals of at least `limit`."""
    totals: dict[str, int] = {}
    for name, amount in payments:
        if amount <= 0:
            continue
        totals[name] = totals.get(name, 0) + amount
    return {name: total for name, total in totals.items() if total >= limit}


@reference(lambda d: (d.records({"id": lambda: d.number(1, 9), "name": d.word}, 4),))
def index_by_id(records: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Map the "id" of each record to a copy of the record without it, leaving the records as they are; raise KeyError
    if an id occurs twice."""
    index = {}
    for record in records:
        rest = dict(record)
        key = rest.pop("id")
        if key in index:
            raise KeyError(key)
        index[key] = rest
    return index


@reference(
    lambda d: (
        d.records({"id": lambda: d.number(1, 3), "name": d.word}, 4, 1),
        d.records({"user": lambda: d.number(1, 4), "total": lambda: d.number(1, 99)}, 5),
    )
)
def join_orders(users: list[dict[str, Any]], orders: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Return a pair of the user's "name" and the order's "total" for each order whose "user" is the "id" of a user,
    in the order of `orders`; the last of several users with one id counts, and other orders are left out."""
    names = {user["id"]: user["name"] for user in users}
    pairs = []
    for order in orders:
        if order["user"] in names:
            pairs.append((names[order["user"]], order["total"]))
    return pairs


@reference(
    lambda d: (
        d.rows([lambda: d.pick(("north", "south")), lambda: d.pick(("tea", "ale", "milk")), lambda: d.number(1, 9)], 6),
    )
)
def pivot(sales: list[list[Any]]) -> list[list[Any]]:
    """Turn [row, column, amount] sales into a table: a header of "" and the sorted columns, then for each row,
    sorted, its name and the sums for all columns, 0 where there is none."""
    columns = sorted({column for _, column, _ in sales})
    sums: dict[str, dict[str, int]] = {}
    for row, column, amount in sales:
        cells = sums.setdefault(row, dict.fromkeys(columns, 0))
        cells[column] += amount
    table: list[list[Any]] = [["", *columns]]
    for row in sorted(sums):
        table.append([row] + [sums[row][column] for column in columns])
    return table


@reference(lambda d: (d.many(lambda: d.mapping(lambda: d.pick("abcd"), lambda: d.number(0, 1), 7, 2), 3),))
def shared_items(mappings: list[dict[str, int]]) -> dict[str, int]:
    """Return the items that all `mappings` have in common, key and value both; none for no mappings."""
    if not mappings:
        return {}
    first, *others = mappings
    shared = {}
    for key, value in first.items():
        if all(key in other and other[key] == value for other in others):
            shared[key] = value
    return shared


@reference(lambda d: (d.mapping(d.key, d.word), d.mapping(d.key, d.key)))
def rename_keys(mapping: dict[str, str], renames: dict[str, str]) -> dict[str, str]:
    """Return `mapping` with its keys renamed as `renames` says, all at once; keys not mentioned stay, and raise
    ValueError if two keys would become the same."""
    result: dict[str, str] = {}
    for key, value in mapping.items():
        new = renames.get(key, key)
        if new in result:
            raise ValueError(f"two values for {new}")
        result[new] = value
    return result


@reference(lambda d: (d.mapping(d.word, lambda: d.number(0, 9), 6), d.mapping(d.word, lambda: d.number(0, 9), 6)))
def stock_changes(old: dict[str, int], new: dict[str, int]) -> list[str]:
    """Return "+3 name" or "-3 name" for every name whose count differs between `old` and `new`, a missing one being
    0, sorted by name."""
    changes = []
    for name in sorted(old.keys() | new.keys()):
        change = new.get(name, 0) - old.get(name, 0)
        if change != 0:
            changes.append(f"{change:+d} {name}")
    return changes


@reference(lambda d: (d.many(lambda: d.letters("aet", 3, 2), 12),))
def anagram_groups(words: list[str]) -> list[list[str]]:
    """Return the groups of two or more different words with the same letters, words and groups in alphabetical
    order."""
    groups: dict[str, set[str]] = {}
    for word in words:
        letters = "".join(sorted(word))
        groups.setdefault(letters, set()).add(word)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


@reference(
    lambda d: (
        d.records({"name": d.word, "age": lambda: d.number(1, 4), "city": lambda: d.pick(("Oslo", "Bern"))}),
        d.pick((["-age", "name"], ["city", "-name"], ["city", "-age", "name"])),
    )
)
def sort_records(records: list[dict[str, Any]], keys: list[str]) -> list[dict[str, Any]]:
    """Sort `records` by the first of `keys`, records equal in it by the next, and so on; a key with a "-" in front
    sorts from high to low."""
    result = list(records)
    for key in reversed(keys):
        name = key.removeprefix("-")
        result.sort(key=lambda record: record[name], reverse=name != key)
    return result


@reference(lambda d: (d.many(lambda: d.pick(("b c", "c", "a b", "a a b", "a", "b", "c a", "c b a")), 6),))
def linked_pairs(baskets: list[str]) -> dict[str, int]:
    """Count for each pair of different items, written "a+b" in alphabetical order, how many baskets, strings of items
    separated by blanks, contain both."""
    counts: dict[str, int] = defaultdict(int)
    for basket in baskets:
        items = sorted(set(basket.split()))
        for i, first in enumerate(items):
            for second in items[i + 1 :]:
                counts[f"{first}+{second}"] += 1
    return dict(counts)
