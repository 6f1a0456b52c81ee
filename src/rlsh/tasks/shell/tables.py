"""Families: one line on the columns of a table, or on the fields of a log."""

from __future__ import annotations

from rlsh.tasks.shell import fixtures as fx
from rlsh.tasks.shell.draft import Draft
from rlsh.tasks.shell.words import NOUNS, SERVICES, SURNAMES, one, some
from rlsh.tasks.world import World, text
from rlsh.types import Tree

DELIMITERS = {";": "semicolons", ":": "colons", "|": "bars", "\t": "tabs"}


def column_by_name(w: World) -> Draft:
    """The number of another column; the header tells the right one."""
    name = fx.file_name(w, "csv")
    order = w.rng.sample(range(len(fx.PEOPLE)), len(fx.PEOPLE))
    header = [fx.PEOPLE[i] for i in order]
    right, wrong, other = w.rng.sample(range(1, len(header) + 1), 3)
    column = header[right - 1]

    def command(field: int) -> str:
        return template.replace("FIELD", str(field))

    template = w.rng.choice(
        (
            f"tail -n +2 {name} | cut -d, -fFIELD",
            f"cut -d, -fFIELD {name} | tail -n +2",
            f"awk -F, 'NR > 1 {{print $FIELD}}' {name}",
        )
    )

    def fixtures(v: World) -> Tree:
        return {name: fx.table(header, [[row[i] for i in order] for row in fx.people(v, v.size(5, 18))])}

    return Draft(
        w.rng.choice(
            (
                f"Print the column {column} of {name} without its heading.",
                f"Print the {column} of everybody in {name}, in the order of the file.",
                f"From {name}, extract the values of the column '{column}'.",
            )
        ),
        command(wrong),
        command(right),
        fixtures,
        looks=(f"head -n 1 {name}",),
        slips=(command(other),),
        must_look=True,
        faults=("wrong_field",),
    )


def other_delimiter(w: World) -> Draft:
    """A table that is not separated by what the command cuts at."""
    name = fx.file_name(w, "csv", "txt", "dat")
    delimiter, called = w.rng.choice(sorted(DELIMITERS.items()))
    at = w.rng.randrange(1, len(fx.ORDERS))
    column, awk = fx.ORDERS[at], w.rng.random() < 0.4
    if awk:
        wrong, right = "awk -F,", f"awk -F'{delimiter}'" if delimiter != "\t" else "awk -F'\\t'"
        rest = f"'{{print ${at + 1}}}' {name}"
    else:
        wrong, right = ("cut -d,", "cut") if delimiter == "\t" else ("cut", f"cut -d'{delimiter}'")
        rest = f"-f{at + 1} {name}"

    def fixtures(v: World) -> Tree:
        return {name: fx.table(fx.ORDERS, fx.orders(v, v.size(5, 14)), delimiter)}

    return Draft(
        w.rng.choice(
            (
                f"Print the column {column} of {name}, heading included.",
                f"Print column {at + 1} of {name} ({column}), its heading too.",
                f"The columns of {name} are separated by {called}: print the one headed {column}, with its heading.",
            )
        ),
        f"{wrong} {rest}",
        f"{right} {rest}",
        fixtures,
        looks=(f"head -n 2 {name}",),
        slips=(f"{right} {rest}".replace(str(at + 1), str(at), 1),),
        faults=("wrong_delimiter",),
    )


def largest_orders(w: World) -> Draft:
    """`sort` of numbers as text, by a column."""
    name, n = fx.file_name(w, "csv"), w.size(2, 4)
    highest = w.rng.random() < 0.6
    adjective, first, option = ("highest", "highest", "r") if highest else ("lowest", "lowest", "")
    tail = f" | head -n {n}"
    command = f"tail -n +2 {name} | sort -t, -k5,5"

    def fixtures(v: World) -> Tree:
        return {name: fx.table(fx.ORDERS, fx.orders(v, v.size(7, 20)))}

    return Draft(
        w.rng.choice(
            (
                f"Print the {n} orders of {name} with the {adjective} price, {first} first, as whole lines.",
                f"Which {n} orders in {name} have the {adjective} prices? Print their lines, {first} price first.",
                f"Sort {name} by price, {first} first, without the header, and print the first {n} lines.",
            )
        ),
        f"{command}{option}{tail}",
        f"{command}n{option}{tail}",
        fixtures,
        looks=(f"head -n 3 {name}",),
        slips=(f"tail -n +2 {name} | sort -t, -k1,1n{option}{tail}", f"{command}n{'' if highest else 'r'}{tail}"),
        faults=("sort_without_n",),
    )


def distinct_rooms(w: World) -> Draft:
    """`uniq` on what is not sorted."""
    name = fx.file_name(w, "csv")
    ending, (at, column), wanted = w.rng.choice(
        (
            (
                "",
                (3, "room"),
                (
                    f"Print each room of {name} once, sorted.",
                    f"List the different values of the column room in {name}, in alphabetical order.",
                ),
            ),
            (
                " -c",
                w.rng.choice(((2, "sensor"), (3, "room"))),
                (
                    f"Count the readings of each COLUMN in {name} with uniq -c, sorted by COLUMN.",
                    f"How many lines has each COLUMN in {name}? Print uniq's counts, sorted by COLUMN.",
                ),
            ),
        )
    )
    values = f"tail -n +2 {name} | cut -d, -f{at}"

    def fixtures(v: World) -> Tree:
        return {name: fx.table(fx.READINGS, fx.readings(v, v.size(12, 30)))}

    return Draft(
        w.rng.choice(wanted).replace("COLUMN", column),
        f"{values} | uniq{ending}",
        f"{values} | sort | uniq{ending}",
        fixtures,
        looks=(f"head -n 4 {name}", values),
        slips=(f"{values} | uniq{ending} | sort", f"{values} | sort"),
        faults=("uniq_unsorted",),
    )


def requests_by(w: World) -> Draft:
    """`uniq` on a field of a log that repeats, but not side by side."""
    name = f"{one(w, NOUNS)}-{w.rng.choice(('access', 'web', 'site'))}.log"
    at, called = w.rng.choice(((1, "address"), (7, "path")))
    option, wanted = w.rng.choice(
        (
            ("-c", f"Count the requests in {name} by {called} with uniq -c: one line each, sorted by {called}."),
            ("-c", f"How often does each {called} occur in {name}? Print uniq's counts, sorted by {called}."),
            ("-d", f"Print, sorted, every {called} that occurs more than once in {name}."),
        )
    )
    values = f"awk '{{print ${at}}}' {name}"

    def fixtures(v: World) -> Tree:
        lines = fx.access_log(v, v.size(14, 40))
        # one value that is there twice, never side by side
        return {name: text(lines[0], *fx.access_log(v, 2), *lines[1:], lines[0])}

    return Draft(
        wanted,
        f"{values} | uniq {option}",
        f"{values} | sort | uniq {option}",
        fixtures,
        looks=(f"head -n 2 {name}", f"{values} | head -n 5"),
        slips=(f"{values} | sort | uniq -u", f"{values} | uniq {option} | sort"),
        faults=("uniq_unsorted",),
    )


def totals(w: World) -> Draft:
    """A sum of the wrong column, sorted as text: two faults in one line."""
    name = fx.file_name(w, "csv")
    group, at = w.rng.choice((("customer", 2), ("product", 3)))
    wrong = w.rng.choice((4, 6))

    def command(field: int, option: str) -> str:
        return (
            f"awk -F, 'NR > 1 {{sum[${at}] += ${field}}} END {{for (key in sum) print sum[key], key}}' {name}"
            f" | sort {option}"
        )

    def fixtures(v: World) -> Tree:
        while True:  # until as text the sums are in another order than by number, and no two are equal
            rows = fx.orders(v, v.size(8, 18))
            keys = some(v, SURNAMES if at == 2 else NOUNS, 4)
            for row in rows:
                row[at - 1] = v.rng.choice(keys)
            sums = [sum(int(row[4]) for row in rows if row[at - 1] == key) for key in keys]
            if len(set(sums)) == len(keys) and sorted(sums) != sorted(sums, key=str):
                return {name: fx.table(fx.ORDERS, rows)}

    return Draft(
        w.rng.choice(
            (
                f"Add up the prices in {name} by {group} and print 'SUM {group.upper()}' lines, largest sum first.",
                f"What do the prices of each {group} in {name} add up to? Print sum and {group}, highest sum first.",
                f"For every {group} in {name} print the sum of its prices, then its name; sort by the sum, descending.",
            )
        ),
        command(wrong, "-r"),
        command(5, "-rn"),
        fixtures,
        looks=(f"head -n 2 {name}",),
        slips=(command(wrong, "-rn"), command(5, "-r")),
        must_look=True,
        faults=("wrong_field", "sort_without_n"),
    )


def field_of_log(w: World) -> Draft:
    """One field too far to the left or the right in a log that spaces separate."""
    name = f"{one(w, SERVICES)}-{one(w, NOUNS)}.log"
    at, called = w.rng.choice(((2, "time"), (3, "level"), (4, "service (with its colon)")))
    wrong = at + w.rng.choice((-1, 1))
    cut = w.rng.choice(("cut -d' ' -f{}", "awk '{{print ${}}}'"))
    ending, wanted = w.rng.choice(
        (
            ("", f"Print only the {called} of every line of {name}."),
            ("", f"From each line of {name} extract the {called}."),
            (" | sort", f"Print the {called} of every line of {name}, sorted."),
        )
    )

    def command(field: int) -> str:
        return f"{cut.format(field)} {name}{ending}"

    return Draft(
        wanted,
        command(wrong),
        command(at),
        lambda v: {name: text(*fx.app_log(v, v.size(8, 25)))},
        looks=(f"head -n 2 {name}",),
        slips=(command(2 * at - wrong),),
        must_look=True,
        faults=("wrong_field",),
    )
