"""Manuals to text, texts to documents."""

from __future__ import annotations

import gzip
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsh.data import sources
from rlsh.data.sources import chunks, manual_text, manuals, texts_under
from rlsh.types import RlshError

ROFF = r"""
.\" Copyright: nobody reads this
'\" nor this
.TH LS "1" "March"
.SH NAME
ls \- list directory contents
.SH SYNOPSIS
.B ls
[\fI\,OPTION\/\fR]... \" a trailing comment
.TP
\fB\-a\fR, \fB\-\-all\fR
do not ignore entries starting with .
.TP
\fB\-l\fP
use a \f(CWlong\fR format; see \f[B]ls\f[]
.PP
it\(aqs \(lqquoted\(rq, a\~b, \s-1SMALL\s0 and \e
.sp



.BR sort (1)
"""

TEXT = """LS "1" "March"
NAME
ls - list directory contents
SYNOPSIS
ls
[OPTION]...

-a, --all
do not ignore entries starting with .

-l
use a long format; see ls

it's "quoted", a b, SMALL and \\

sort (1)
"""


def test_a_manual_keeps_its_words_and_flags():
    assert manual_text(ROFF) == TEXT


def test_flags_survive_in_bold():
    """The first letter behind a font change belongs to the word."""
    assert manual_text(r"\fBsort\fR \fB\-\-reverse\fR \fB\-n\fP \fIfile\fR") == "sort --reverse -n file\n"


def test_the_machines_manuals_show_long_flags():
    texts = list(manuals())
    if not texts:
        pytest.skip("no manuals on this machine")
    whole = "\n".join(texts)
    assert not re.search(r"\\f[BIRP(]", whole)
    assert "--help" in whole


def test_only_listed_manuals_are_read(tmp_path, monkeypatch):
    real = sources.Path

    def here(path):
        return real(str(path).replace("/usr/share/man/man1", str(tmp_path)))

    for name in ("ls", "secret"):
        (tmp_path / f"{name}.1.gz").write_bytes(gzip.compress(f".B {name}\n".encode() + b"\xff"))
    monkeypatch.setattr(sources, "Path", here)
    assert list(manuals()) == ["ls\n\ufffd\n"]


@given(st.text(alphabet="ab\n", max_size=80), st.integers(1, 20))
def test_chunks_lose_nothing_and_cut_at_line_ends(text, size):
    parts = list(chunks(text, size))
    assert "".join(parts) == text
    assert all(part.endswith("\n") for part in parts[:-1])
    assert all(len(part) <= size or part.count("\n") <= 1 for part in parts)  # one long line is one document
    assert all(len(a) + len(b.splitlines(keepends=True)[0]) > size for a, b in pairwise(parts))  # as full as can be


def test_texts_under_a_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.txt").write_text("b\n" * 3)
    (tmp_path / "sub" / "c.txt").write_text("é\n", encoding="utf-8")
    (tmp_path / "a.bin").write_bytes(b"\xff\xfe")  # passed over: a folder may hold anything
    assert list(texts_under([tmp_path], chunk=4)) == ["b\nb\n", "b\n", "é\n"]
    assert list(texts_under([tmp_path / "sub" / "c.txt"])) == ["é\n"]


def test_a_named_file_that_is_missing_or_not_text(tmp_path):
    with pytest.raises(RlshError, match="nowhere: no such file or folder"):
        list(texts_under([tmp_path / "nowhere"]))
    (tmp_path / "a.bin").write_bytes(b"\xff\xfe")
    with pytest.raises(RlshError, match=r"a\.bin: not UTF-8 text"):
        list(texts_under([tmp_path / "a.bin"]))
