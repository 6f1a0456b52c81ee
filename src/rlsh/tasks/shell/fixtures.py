"""What realistic tasks are played on: tables, logs, notes, settings and sources, drawn from a world.

A family calls these twice with the same names: the contents and the sizes are new each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rlsh.tasks.shell.words import CITIES, GIVEN, NOUNS, PRODUCTS, ROOMS, SERVICES, SURNAMES, TASKS, one, some
from rlsh.tasks.world import World, text
from rlsh.types import Entry

PEOPLE = ("id", "name", "city", "team", "age", "email")
ORDERS = ("order", "customer", "product", "quantity", "price", "status")
READINGS = ("time", "sensor", "room", "celsius", "battery")
STATUSES = ("paid", "open", "shipped", "returned")
TEAMS = ("sales", "support", "research", "finance", "design")
PURPOSES = ("report", "summary", "check", "overview", "digest", "totals", "list", "index")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

Row = list[str]


def stem(w: World, separator: str = "_") -> str:
    """The name of a file without its extension, of one or two nouns."""
    return separator.join(some(w, NOUNS, w.size(1, 2)))


def file_name(w: World, *extensions: str) -> str:
    return f"{stem(w)}.{w.rng.choice(extensions)}"


def script_name(w: World) -> str:
    return f"{one(w, NOUNS)}_{w.rng.choice(PURPOSES)}.sh"


def shell(w: World) -> str:
    return w.rng.choice(("sh", "bash"))


def uneven(w: World, n: int, high: int = 1500) -> list[int]:
    """`n` >= 3 distinct integers from 2 to `high` whose order as text is another than by number, either way round."""
    while True:
        found = w.rng.sample([*range(2, 10), *range(10, 100), *w.rng.sample(range(100, high), 60)], n)
        as_text = sorted(found, key=str)
        if as_text != sorted(found) and as_text[-1] != max(found) and as_text[0] != min(found):
            return found


def people(w: World, n: int) -> list[Row]:
    rows = []
    for number in sorted(w.rng.sample(range(100, 1000), n)):
        given, surname = one(w, GIVEN), one(w, SURNAMES)
        age, team = w.rng.randint(19, 66), w.rng.choice(TEAMS)
        rows.append([str(number), f"{given} {surname}", one(w, CITIES), team, str(age), f"{given}.{surname}@mail.net"])
    return rows


def orders(w: World, n: int) -> list[Row]:
    """Prices are whole and distinct; as text they sort otherwise than by number."""
    return [
        [
            f"A{number}",
            one(w, SURNAMES),
            one(w, PRODUCTS),
            str(w.rng.randint(1, 12)),
            str(price),
            w.rng.choice(STATUSES),
        ]
        for number, price in zip(sorted(w.rng.sample(range(1000, 9999), n)), uneven(w, n), strict=True)
    ]


def readings(w: World, n: int) -> list[Row]:
    """Of four rooms, one sensor each, in the order of time."""
    rooms = some(w, ROOMS, 4)
    times = sorted(w.rng.sample(range(24 * 60), n))
    rows = []
    for minute in times:
        at = w.rng.randrange(4)
        celsius = f"{w.rng.randint(-9, 34)}.{w.rng.randint(0, 9)}"
        rows.append(
            [f"{minute // 60:02}:{minute % 60:02}", f"s{at + 1}", rooms[at], celsius, f"{w.rng.randint(5, 99)}"]
        )
    return rows


def table(header: Iterable[str], rows: Iterable[Sequence[str]], delimiter: str = ",") -> Entry:
    return text(*(delimiter.join(row) for row in [tuple(header), *rows]))


def day(w: World) -> str:
    return f"2025-{w.rng.randint(1, 12):02}-{w.rng.randint(1, 28):02}"


def clock_times(w: World, n: int) -> list[str]:
    """`n` distinct times of a day, in order."""
    seconds = sorted(w.rng.sample(range(86_400), n))
    return [f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}" for s in seconds]


MESSAGES = (
    "request from {city} took {ms} ms",
    "connection to {service} timed out after {ms} ms",
    "user {given} signed in from {city}",
    "user {given} signed out",
    "retry {small} of 5 for {service}",
    "cache of {service} holds {ms} entries",
    "disk of {noun} is {small}0% full",
    "job {noun} finished in {ms} ms",
)


def log_message(w: World) -> str:
    return w.rng.choice(MESSAGES).format(
        city=one(w, CITIES),
        service=one(w, SERVICES),
        given=one(w, GIVEN),
        noun=one(w, NOUNS),
        ms=w.rng.randint(2, 2000),
        small=w.rng.randint(1, 5),
    )


def app_log(w: World, n: int, levels: Sequence[str] = LEVELS) -> list[str]:
    """`n` lines of: day, time, level, service, message; one day, in order."""
    date, services = day(w), some(w, SERVICES, 3)
    return [
        f"{date} {time} {w.rng.choice(levels)} {w.rng.choice(services)}: {log_message(w)}" for time in clock_times(w, n)
    ]


def access_log(w: World, n: int) -> list[str]:
    """`n` lines as web servers write them: few addresses and paths, so that they repeat."""
    hosts = [f"10.0.{w.rng.randint(0, 9)}.{w.rng.randint(10, 250)}" for _ in range(4)]
    paths = [f"/{noun}/{other}.html" for noun, other in zip(some(w, NOUNS, 4), some(w, NOUNS, 4), strict=True)]
    date = f"{w.rng.randint(10, 28)}/Mar/2025"
    return [
        f"{w.rng.choice(hosts)} - - [{date}:{time} +0000] "
        f'"GET {w.rng.choice(paths)} HTTP/1.1" {w.rng.choice((200, 200, 301, 404, 500))} {w.rng.randint(90, 9000)}'
        for time in clock_times(w, n)
    ]


def to_do(w: World) -> str:
    return f"{one(w, TASKS)} the {one(w, NOUNS)} {one(w, PRODUCTS)}"


def notes(w: World, n: int) -> list[str]:
    """`n` lines of prose, each of its own."""
    found: dict[str, None] = {}
    while len(found) < n:
        found[f"{one(w, GIVEN)} will {to_do(w)}"] = None
    return list(found)


def settings(w: World, *fixed: tuple[str, str], more: int = 4) -> list[str]:
    """KEY=value lines: those given and `more` others, shuffled."""
    lines = [f"{key}={value}" for key, value in fixed]
    lines += [f"{service.upper()}_LIMIT={w.rng.randint(2, 900)}" for service in some(w, SERVICES, more)]
    w.rng.shuffle(lines)
    return lines


def python_module(w: World, *lines: str) -> Entry:
    """A module of two functions; `lines`, comments say, stand between them."""
    first, second, argument = some(w, NOUNS, 3)
    factor, verb, other = w.rng.randint(2, 90), one(w, TASKS), one(w, TASKS)
    return text(
        f'"""{first.capitalize()} and {second}."""',
        "",
        "",
        f"def {verb}_{first}({argument}):",
        f"    return {argument} * {factor}",
        "",
        *lines,
        "",
        f"def {other}_{second}({argument}, limit={factor}):",
        f"    return [{first} for {first} in {argument} if len({first}) < limit]",
    )


def c_source(w: World, *lines: str) -> Entry:
    noun, verb, number = one(w, NOUNS), one(w, TASKS), w.rng.randint(2, 900)
    return text(
        "#include <stdio.h>",
        "",
        *lines,
        f"int {verb}_{noun}(int count)",
        "{",
        f'    printf("{noun} %d\\n", count);',
        f"    return count + {number};",
        "}",
    )


def markdown(w: World, *lines: str) -> Entry:
    return text(f"# {one(w, NOUNS).capitalize()}", "", *notes(w, w.size(2, 4)), *lines)
