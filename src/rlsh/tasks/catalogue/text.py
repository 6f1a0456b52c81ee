"""Words, cases and sentences."""

import re
from itertools import groupby

from rlsh.tasks.catalogue.reference import reference


@reference(
    lambda d: (
        " ".join(d.many(lambda: d.pick(("of", "the", "Of", "tale", "CITY", "a", "étude", "", "AND")), 7)),
        d.pick((["a", "of", "the"], ["and", "in", "of"], [])),
    )
)
def title_case(text: str, small: list[str]) -> str:
    """Join the words of `text` with single spaces, each with its first letter upper and the others lower case, but
    words listed in `small` (whatever their case) all in lower case unless they come first or last."""
    words = text.split()
    result = []
    for i, word in enumerate(words):
        if word.lower() in small and 0 < i < len(words) - 1:
            result.append(word.lower())
        else:
            result.append(word[0].upper() + word[1:].lower())
    return " ".join(result)


@reference(lambda d: (d.sentence(12), d.number(4, 20)))
def wrap_words(text: str, width: int) -> list[str]:
    """Break `text` into lines of at most `width` characters, filling each line with as many words as fit, and give a
    word longer than `width` a line of its own."""
    lines = []
    current = ""
    for word in text.split():
        if not current:
            current = word
        elif len(current) + 1 + len(word) <= width:
            current += " " + word
        else:
            lines.append(current)
            current = word
    if current:
        lines.append(current)
    return lines


@reference(lambda d: (d.words(5), d.number(0, 40)))
def justify_line(words: list[str], width: int) -> str:
    """Join `words` into a line of exactly `width` characters by widening the gaps as evenly as possible, wider ones
    first; pad a single word or no word on the right, and join with single spaces where `width` is too small."""
    letters = sum(len(word) for word in words)
    gaps = len(words) - 1
    if gaps < 1:
        return "".join(words).ljust(width)
    if letters + gaps > width:
        return " ".join(words)
    each, extra = divmod(width - letters, gaps)
    line = words[0]
    for i, word in enumerate(words[1:]):
        spaces = each + 1 if i < extra else each
        line += " " * spaces + word
    return line


@reference(
    lambda d: (
        text := d.sentence(),
        [*(word.strip(",.!?").upper() for word in text.split()[: d.number(0, 3)]), d.word()],
    )
)
def censor(text: str, banned: list[str]) -> str:
    """Replace every whole word of `text` that is in `banned`, upper or lower case, by its first letter and as many
    asterisks as letters are left."""
    lowered = {word.lower() for word in banned}

    def hide(match: re.Match[str]) -> str:
        word = match.group()
        if word.lower() not in lowered:
            return word
        return word[0] + "*" * (len(word) - 1)

    return re.sub(r"\w+", hide, text)


@reference(lambda d: (d.pick((d.sentence(), d.name(), d.file())), d.number(3, 20)))
def slugify(title: str, limit: int) -> str:
    """Turn `title` into lower-case runs of the letters a-z and digits joined by single hyphens, drop whole runs from
    the end until it has at most `limit` characters, and return "untitled" if nothing is left."""
    parts = [part for part in re.split(r"[^a-z0-9]+", title.lower()) if part]
    slug = ""
    for part in parts:
        candidate = f"{slug}-{part}" if slug else part
        if len(candidate) > limit:
            break
        slug = candidate
    return slug or "untitled"


@reference(lambda d: (text := d.sentence(), d.pick((d.number(0, 24), len(text), max(0, len(text) - 1), 5, 4, 3))))
def shorten_middle(text: str, width: int) -> str:
    """Return `text` unchanged if it has at most `width` characters; otherwise cut its middle out and put "..." there
    so that exactly `width` characters remain, the left part being the longer one if they differ; with a `width` below
    4 just cut the end off."""
    if len(text) <= width:
        return text
    if width < 4:
        return text[:width]
    kept = width - 3
    left = (kept + 1) // 2
    right = kept // 2
    return text[:left] + "..." + text[len(text) - right :]


@reference(lambda d: ("".join(d.many(lambda: d.pick(("parse", "HTTP", "Url", "ID", "2", "Log", "_", "x")), 5)),))
def snake_case(identifier: str) -> str:
    """Convert an identifier such as parseHTTPUrl to parse_http_url: start a new word at a capital that follows a
    small letter or a digit, and at one between a capital and a small letter."""
    result = ""
    for i, char in enumerate(identifier):
        before = identifier[i - 1] if i > 0 else ""
        after = identifier[i + 1 : i + 2]
        starts = before.islower() or before.isdigit() or (before.isupper() and after.islower())
        if char.isupper() and starts:
            result += "_"
        result += char.lower()
    return result


@reference(lambda d: (d.pick(("-", "_", "")) + d.pick(("-", "_", "--", " ")).join(d.words(4)), d.chance(0.5)))
def camel_case(name: str, upper_first: bool) -> str:
    """Join the parts of `name`, separated by hyphens, underscores or spaces, without a separator, every part with its
    first letter upper and the rest lower case, but the first part in lower case unless `upper_first` is true."""
    parts = [part for part in re.split(r"[-_ ]+", name) if part]
    result = []
    for i, part in enumerate(parts):
        if i == 0 and not upper_first:
            result.append(part.lower())
        else:
            result.append(part[:1].upper() + part[1:].lower())
    return "".join(result)


@reference(lambda d: (d.many(lambda: d.pick(("internet", "internal", "intern", "interval", "integer", "inner")), 3),))
def common_prefix(words: list[str]) -> str:
    """Return the longest string that all `words` start with, or an empty string if there are no words."""
    if not words:
        return ""
    shortest = min(words, key=len)
    for i, char in enumerate(shortest):
        for word in words:
            if word[i] != char:
                return shortest[:i]
    return shortest


@reference(lambda d: (d.pick((d.word(), d.letters("aeiouyqtrs", 6), d.sentence())),))
def pig_latin(text: str) -> str:
    """Translate every run of letters a-z in `text` to Pig Latin: after a word that starts with a vowel add "way",
    otherwise move all letters before the first vowel to the end and add "ay"; leave words without a vowel, and
    everything else, alone, and put the result in lower case."""

    def translate(match: re.Match[str]) -> str:
        word = match.group()
        for i, char in enumerate(word):
            if char in "aeiou":
                return word + "way" if i == 0 else word[i:] + word[:i] + "ay"
        return word

    return re.sub("[a-z]+", translate, text.lower())


@reference(
    lambda d: (
        d.pick((0, 1, 2, d.number(-1, 99))),
        d.pick(("box", "city", "day", "mouse", "bus", "church", "dish", "key", d.word())),
    )
)
def plural(count: int, noun: str) -> str:
    """Return `count` and `noun`, such as "1 box" or "3 boxes", with "no" for 0: in the plural a noun ending in s, x,
    z, ch or sh takes "es", a final y after a consonant becomes "ies", and anything else takes "s"."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        many = noun + "es"
    elif noun.endswith("y") and noun[-2:-1] not in ("a", "e", "i", "o", "u"):
        many = noun[:-1] + "ies"
    else:
        many = noun + "s"
    return f"{count if count else 'no'} {many}"


@reference(lambda d: (d.words(5), d.pick(("and", "or"))))
def join_naturally(items: list[str], word: str) -> str:
    """Join `items` as in a sentence: nothing for none, "a and b" for two, "a, b, and c" for more, where `word` is the
    conjunction."""
    if len(items) <= 1:
        return "".join(items)
    if len(items) == 2:
        return f"{items[0]} {word} {items[1]}"
    return ", ".join(items[:-1]) + f", {word} {items[-1]}"


@reference(lambda d: (d.word() + d.pick(("", d.word(), "ana")) + d.pick(("", "kayak", d.letters("ab", 5))),))
def longest_palindrome(text: str) -> str:
    """Return the longest part of `text` that reads the same backwards, the leftmost one if several are longest."""
    best = ""
    for centre in range(len(text)):
        for width in (0, 1):
            left, right = centre, centre + width
            while left >= 0 and right < len(text) and text[left] == text[right]:
                left -= 1
                right += 1
            if right - left - 1 > len(best):
                best = text[left + 1 : right]
    return best


@reference(lambda d: (d.many(lambda: d.pick((">> a", "> b", "c", ">", "d ", "> > e", "> f > g")), 8),))
def group_quotes(lines: list[str]) -> list[tuple[int, str]]:
    """Join neighbouring lines of one quoting depth, the number of ">" before the text with blanks between them
    allowed, into pairs of that depth and their texts, stripped and joined by newlines."""

    def depth(line: str) -> int:
        bare = line.lstrip("> ")
        return line[: len(line) - len(bare)].count(">")

    result = []
    for level, group in groupby(lines, key=depth):
        result.append((level, "\n".join(line.lstrip("> ").rstrip() for line in group)))
    return result


@reference(
    lambda d: ("".join(d.many(lambda: d.pick(("a", "\\n", "\\t", "\\\\", "\\x41", "\\q", "\\", "\\x4", "é")), 7)),)
)
def unescape(text: str) -> str:
    """Replace the escapes \\\\, \\n, \\t and \\xHH, two hexadecimal digits, in `text` by what they stand for; any
    other backslash stays, with what follows it."""
    simple = {"n": "\n", "t": "\t", "\\": "\\"}
    result = ""
    i = 0
    while i < len(text):
        following = text[i + 1 : i + 2]
        if text[i] != "\\":
            result += text[i]
            i += 1
        elif following in simple:
            result += simple[following]
            i += 2
        elif re.match("x[0-9A-Fa-f]{2}", text[i + 1 :]):
            result += chr(int(text[i + 2 : i + 4], 16))
            i += 4
        else:
            result += text[i]
            i += 1
    return result
