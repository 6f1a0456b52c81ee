"""Secrets and private data in text. What is found is named by its kind; the value itself is never handed on."""

from __future__ import annotations

import ipaddress
import math
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

# Repetitions are bounded where a long line could make them start over at every character.
PATTERNS = {
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,})",
    "OpenAI or Anthropic key": r"\bsk-[A-Za-z0-9_-]{20,}",
    "Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "Google key": r"\bAIza[0-9A-Za-z_-]{35}",
    "Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "JWT": r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
    "password in a URL": r"\b[a-z][a-z0-9+.-]{0,15}://[^\s/:@'\"{}$<>]+:(?![{$<*])[^\s/@'\"]+@",
}
COMPILED = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}
ASSIGNED = re.compile(
    r"(?i)\b[\w-]{0,40}(?:(passw(?:or)?d|passphrase|pwd)|secret|api[_-]?key|access[_-]?key|auth[_-]?token|[_-]token)"
    r"""['"]?\s*[:=]\s*[rbuf]?(['"])(?P<value>[^'"\n]{4,})\2"""
)
PLACEHOLDER = re.compile(
    r"(?i)^[<{$%\[(].*|.*(example|changeme|change_me|placeholder|dummy|redacted|your[_-]|xxx|\*\*\*|\.\.\.|todo).*"
    r"|(test|none|null|password|secret|token|api[_-]?key)\W?\w{0,3}$"
)
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?P<domain>(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})\b")
DOCUMENTED = re.compile(r"(?i)(.*\.)?(example(\.(com|org|net|edu))?|.*\.(test|invalid|localhost|example|local))$")
HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})(?P<name>[\w.-]+)")
NOBODY = set("user username name you me someone alice bob foo bar test example john jane runner ubuntu".split())
IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
IPV6 = re.compile(r"(?<![\w:])[0-9A-Fa-f]{1,4}(?::{1,2}[0-9A-Fa-f]{1,4}){3,7}(?![\w:])")
DENSE = re.compile(r"[A-Za-z0-9+/_=-]{20,}")
HEXADECIMAL = re.compile(r"[0-9a-fA-F]{32,}")


def secret_in(text: str) -> str | None:
    """The kind of the first secret that `text` holds, or None.

    Addresses, accounts and hosts that documentation sets aside (example.com, 192.0.2.1, /home/user), private
    networks and placeholders are none.
    """
    for kind, pattern in COMPILED.items():
        if pattern.search(text):
            return kind
    for kind, found in FINDERS.items():
        if found(text):
            return kind
    return None


def _assigned(text: str) -> bool:
    """A password, or a key without spaces, written out beside its name."""
    return any(
        not PLACEHOLDER.match(match["value"]) and (match[1] or re.fullmatch(r"\S{8,}", match["value"]))
        for match in ASSIGNED.finditer(text)
    )


def _address(text: str) -> bool:
    return any(not DOCUMENTED.match(match["domain"]) for match in EMAIL.finditer(text))


def _home(text: str) -> bool:
    return any(match["name"].lower() not in NOBODY for match in HOME.finditer(text))


def _host(text: str) -> bool:
    return any(_is_public(match[0]) for pattern in (IPV4, IPV6) for match in pattern.finditer(text))


def _is_public(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return found.is_global and not found.is_multicast


def _random(text: str) -> bool:
    return any(_looks_random(match[0]) for match in DENSE.finditer(text))


def _looks_random(word: str) -> bool:
    """A long run of letters and digits as a generator makes them, and not a name, a path, a rule or an alphabet."""
    if HEXADECIMAL.fullmatch(word):
        return _bits(word) > 3.0 and not _ascends(word) and not word.isdecimal()
    if all(piece.isalpha() or piece.isdecimal() for piece in re.split("[-_/+=]+", word) if piece):
        return False  # words and numbers, as in a path or a title
    classes = (str.islower, str.isupper, str.isdecimal)
    if not all(sum(map(is_of, word)) >= 3 for is_of in classes) or _ascends(word):
        return False
    return _bits(word) > 3.9


def _bits(word: str) -> float:
    """Shannon entropy per character of the word's own distribution."""
    return -sum(n / len(word) * math.log2(n / len(word)) for n in Counter(word).values())


def _ascends(word: str) -> bool:
    """Whether most characters follow their neighbour in the character set, as in an alphabet that is written out."""
    steps = sum(ord(b) - ord(a) in (0, 1) for a, b in pairwise(word))
    return steps > len(word) / 2


FINDERS: dict[str, Callable[[str], bool]] = {
    "password or key in an assignment": _assigned,
    "e-mail address": _address,
    "home directory": _home,
    "public IP address": _host,
    "high entropy": _random,
}
