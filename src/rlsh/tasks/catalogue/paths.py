"""Paths and file names, POSIX ones unless said otherwise."""

import re
from itertools import zip_longest
from posixpath import commonpath, dirname

from rlsh.tasks.catalogue.reference import reference


@reference(
    lambda d: (
        d.pick(
            (
                d.path(6),
                "../" * d.number(1, 3) + d.path(3),
                "/" + "../" * d.number(1, 2) + d.file(),
                d.pick(("a/..", "./", "a/b/../..", "/..", "")),
            )
        ),
    )
)
def normalise_path(path: str) -> str:
    """Return `path` without empty and "." parts and with ".." taking away the part before it: at the root it has none
    to take, and at the start of a relative path it stays; "." if nothing is left of a relative path."""
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            parts.append(part)
        elif parts and parts[-1] != "..":
            parts.pop()
        elif not path.startswith("/"):
            parts.append("..")
    joined = "/".join(parts)
    return "/" + joined if path.startswith("/") else joined or "."


@reference(
    lambda d: (
        d.pick((d.path(2), ".bashrc", "a.b/file", "archive.tar.gz", "notes.", ".config.json", "x/.tar.gz", "tar.gz")),
    )
)
def split_extension(path: str) -> tuple[str, str]:
    """Split `path` in front of the last dot of its last part, or in front of ".tar" where that part ends like
    ".tar.gz"; dots at the start of the part begin no extension, and without one the second string is empty."""
    folder, slash, name = path.rpartition("/")
    bare = name.lstrip(".")
    dots = name[: len(name) - len(bare)]
    stem, dot, extension = bare.rpartition(".")
    if not stem:
        return path, ""
    if stem.endswith(".tar"):
        stem, extension = stem[: -len(".tar")], "tar." + extension
    return folder + slash + dots + stem, dot + extension


@reference(lambda d: ("/" + "/".join(d.letters("aab", 5)), "/" + "/".join(d.letters("aab", 5))))
def relative_path(start: str, target: str) -> str:
    """Return the path that leads from the folder `start` to `target`, both absolute and in normal form, with as few
    parts as possible; "." if they are the same."""
    here = [part for part in start.split("/") if part]
    there = [part for part in target.split("/") if part]
    shared = 0
    for one, other in zip(here, there, strict=False):
        if one != other:
            break
        shared += 1
    parts = [".."] * (len(here) - shared) + there[shared:]
    return "/".join(parts) or "."


@reference(
    lambda d: (
        d.pick(("a.txt", "a", "A", "a (1).txt", ".env")),
        d.many(lambda: d.pick(("a.txt", "a (1).txt", "a (2).txt", "A.txt", "a", "a (1)", ".env")), 7),
    )
)
def free_name(name: str, taken: list[str]) -> str:
    """Return `name` if it is not in `taken`, else with the first of " (1)", " (2)" and so on before its extension, or
    at its end if it has none, that is not taken; upper and lower case count as the same."""
    lowered = {other.lower() for other in taken}
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, "", ""
    candidate = name
    number = 0
    while candidate.lower() in lowered:
        number += 1
        candidate = f"{stem} ({number}){dot}{extension}"
    return candidate


@reference(
    lambda d: (d.pick((d.sentence(), d.path(), "CON", 'a<b>:"c"', "..", "  x. ", "aux.txt", "?")), d.number(5, 24))
)
def safe_name(title: str, limit: int) -> str:
    """Make a file name of `title`: replace each run of blanks and of <>:"/\\|?* by one underscore, cut the result to
    `limit` characters, take dots and underscores off both ends, and return "file" if nothing is left."""
    name = re.sub(r'[\s<>:"/\\|?*]+', "_", title)[:limit]
    name = name.strip("._")
    return name or "file"


@reference(
    lambda d: (
        [*d.words(5), d.file(), "a.py", ".env"],
        d.pick(("*", "*.py", "?", "a*", "*e*", "??[a-m]*", ".*", "*.*", "[!a]*", "a**")),
    )
)
def matching_names(names: list[str], pattern: str) -> list[str]:
    """Return the `names` that a shell pattern matches as a whole, in order: * is any text, ? any character, [a-c] or
    [!a-c] a character in or not in the range or list; a dot at the start has to be matched by a dot."""
    expression = ""
    i = 0
    while i < len(pattern):
        char = pattern[i]
        end = pattern.find("]", i + 1)
        if char == "[" and end > 0:
            inside = pattern[i + 1 : end]
            expression += "[^" + inside[1:] + "]" if inside.startswith("!") else f"[{inside}]"
            i = end
        else:
            expression += {"*": ".*", "?": "."}.get(char, re.escape(char))
        i += 1
    hidden = pattern.startswith(".")
    return [name for name in names if re.fullmatch(expression, name) and (hidden or not name.startswith("."))]


@reference(lambda d: (d.many(lambda: "/".join(d.many(lambda: d.pick("abc"), 3, 1)), 6),))
def tree_listing(paths: list[str]) -> list[str]:
    """List all `paths` and the folders they pass through once each, as the last part indented by two blanks for each
    folder it is in, every folder right before its contents and the contents sorted by name."""
    nodes = set()
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            nodes.add(tuple(parts[:depth]))
    return ["  " * (len(node) - 1) + node[-1] for node in sorted(nodes)]


@reference(
    lambda d: (
        d.many(lambda: d.pick(("img", "Img", "v")) + str(d.number(0, 12)) + d.pick(("", ".png", "b2", ".10")), 7),
    )
)
def natural_sort(names: list[str]) -> list[str]:
    """Sort `names` with runs of digits compared as numbers and the rest by letters in any case; names that compare
    equal keep their order, and a name that is the start of another comes first."""

    def key(name: str) -> list[tuple[str, int]]:
        parts = re.split(r"(\d+)", name.lower())
        pairs = zip_longest(parts[::2], parts[1::2], fillvalue="-1")
        return [(text, int(digits)) for text, digits in pairs]

    return sorted(names, key=key)


@reference(
    lambda d: (
        d.pick(("a{b,c}d", "{a,b}{1,2}", "{x,{y,z}}.py", "plain", "{a}", "a{,s}", "{a,b", "a}b{c,d}", "{,a}{b,c}x")),
    )
)
def expand_braces(text: str) -> list[str]:
    """Expand the first {a,b,...} of `text`, and in the results the next ones, into all combinations, in order; braces
    may be nested, one part between braces is taken as it is, and text with an unclosed { is not expanded."""
    start = text.find("{")
    parts = [""]
    depth = 0
    for i in range(max(start, 0), len(text)):
        char = text[i]
        if char == "," and depth == 1:
            parts.append("")
            continue
        depth += (char == "{") - (char == "}")
        if depth == 0 and char == "}":
            tails = [part[1:] if k == 0 else part for k, part in enumerate(parts)]
            return [result for part in tails for result in expand_braces(text[:start] + part + text[i + 1 :])]
        parts[-1] += char
    return [text]


@reference(
    lambda d: (d.mapping(lambda: "/".join(d.many(lambda: d.pick("abc"), 4, 1)) + "/f", lambda: d.number(0, 99), 5),)
)
def folder_sizes(files: dict[str, int]) -> dict[str, int]:
    """Return the total size of the files in and below each folder, "." for all, given the sizes of files by relative
    path."""
    sizes: dict[str, int] = {".": 0}
    for path, size in files.items():
        sizes["."] += size
        folder = dirname(path)
        while folder:
            sizes[folder] = sizes.get(folder, 0) + size
            folder = dirname(folder)
    return sizes


@reference(
    lambda d: (
        d.many(lambda: d.pick(("a.log", "b/a.log", "b/c.txt", "b/c/d.txt", "b", "keep.log")), 6),
        d.many(lambda: d.pick(("*.log", "!keep.log", "b/", "!b/c.txt", "*", "c.txt")), 3),
    )
)
def not_ignored(paths: list[str], rules: list[str]) -> list[str]:
    """Return the `paths` that are not ignored: the last rule that applies decides, and one with "!" in front keeps;
    "x/" applies to paths below the folder x at the root, "*" to all, "*.x" to what ends in ".x", and others to equal
    paths."""
    kept = []
    for path in paths:
        ignored = False
        for rule in rules:
            pattern = rule.removeprefix("!")
            if pattern.endswith("/"):
                applies = path.startswith(pattern)
            elif pattern.startswith("*"):
                applies = path.endswith(pattern[1:])
            else:
                applies = path == pattern
            if applies:
                ignored = not rule.startswith("!")
        if not ignored:
            kept.append(path)
    return kept


@reference(lambda d: (d.pick("abcdx"), d.mapping(lambda: d.pick("abcd"), lambda: d.pick("abcde"), 4)))
def resolve_link(name: str, links: dict[str, str]) -> tuple[str, int]:
    """Follow `links`, from name to name, until a name is no link; return it and how many links were followed, and
    raise ValueError if that never ends."""
    seen: list[str] = []
    while name in links:
        if name in seen:
            raise ValueError("a loop: " + " -> ".join(seen))
        seen.append(name)
        name = links[name]
    return name, len(seen)


@reference(lambda d: (d.many(lambda: "/" + "/".join(d.many(lambda: d.pick(("a", "b", "ab")), 3, 1)), 4, 1),))
def strip_common_folder(paths: list[str]) -> tuple[str, list[str]]:
    """Return the deepest folder that all absolute `paths` are in, and the paths relative to it; a path is in no
    folder that it names itself, so a single path is in its parent."""
    folder = commonpath([dirname(path) for path in paths])
    skipped = len(folder) if folder == "/" else len(folder) + 1
    return folder, [path[skipped:] for path in paths]
