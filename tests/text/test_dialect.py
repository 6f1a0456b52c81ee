"""What the policy reads of a tool's outcome: the strings themselves, since they are frozen into its weights."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlsh.text.dialect import bad_call_observation, clean, edit_observation, exec_observation


@pytest.mark.parametrize(
    ("out", "err", "code", "timeout", "seen"),
    [
        (b"hello\n", b"", 0, None, "hello\n[exit 0]"),
        (b"hello", b"", 0, None, "hello\n[exit 0]"),
        (b"out\n", b"err\n", 0, None, "out\nerr\n[exit 0]"),
        (b"out", b"sort: no such file", 2, None, "out\nsort: no such file\n[exit 2]"),
        (b"", b"", 1, None, "[exit 1]"),
        (b"part", b"", 137, 3.0, "part\n[timed out after 3 s]"),
        (b"", b"", 137, 0.5, "[timed out after 0.5 s]"),
    ],
)
def test_rlsh_shows_both_streams_and_the_code(out, err, code, timeout, seen):
    assert exec_observation("rlsh", out, err, code, timeout, 1000) == seen


@pytest.mark.parametrize(
    ("out", "err", "code", "timeout", "seen"),
    [
        (b"hello\n", b"warning\n", 0, None, "hello\n"),  # rc 0: stdout only
        (b"hello\n", b"broken\n", 1, None, "broken\n"),  # rc != 0: stderr only
        (b"", b"", 0, None, "(Process exited with code 0)"),
        (b"", b"warning\n", 0, None, "(Process exited with code 0)"),
        (b"hello\n", b"", 3, None, "(Process exited with code 3)"),
        (b" \n\t", b"", 0, None, "(Process exited with code 0)"),
        (b"part", b"", 137, 30.0, "Error: Command timed out after 30 seconds."),
    ],
)
def test_iclaw_shows_what_the_real_one_shows(out, err, code, timeout, seen):
    assert exec_observation("iclaw", out, err, code, timeout, 1000) == seen


def test_edits():
    assert edit_observation("rlsh", "a.txt", None) == "edited a.txt"
    assert edit_observation("rlsh", "a.txt", "line 3 does not match") == "error: line 3 does not match"
    # the real iclaw answers so whatever happened
    assert edit_observation("iclaw", "a.txt", None) == "Successfully edited a.txt"
    assert edit_observation("iclaw", "a.txt", "line 3 does not match") == "Successfully edited a.txt"


def test_bad_calls():
    assert bad_call_observation("unknown tool 'x'") == "error: unknown tool 'x'"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\x1b[1;31mred\x1b[0m plain\x1b[K", "red plain"),  # colours and erasing (CSI)
        (b"\x1b[?25lhidden\x1b[2;5H", "hidden"),
        (b"\x1b]0;window title\x07prompt", "prompt"),  # OSC ended by BEL
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),  # OSC ended by ST
        (b"a\x1b]0;never ended", "a"),
        (b"bold\x1b(B\x1b[m off", "bold off"),  # what `tput sgr0` prints
        (b"\x1b7saved\x1b8\x1bM\x1b=", "saved"),
        (b"one\r\ntwo\r\n", "one\ntwo\n"),
        (b"10%\r20%", "10%20%"),
        (b"a\x00b\x07c\x08d\x0be\x0cf\x7fg", "abcdefg"),
        ("a\x9bb\x85c".encode(), "abc"),  # C1 controls
        (b"tab\tkept\nline", "tab\tkept\nline"),
        (b"caf\xc3\xa9", "café"),
        (b"\xff\xfeok\xc3", "\ufffd\ufffdok\ufffd"),
        (b"lone \x1b", "lone "),
        (b"", ""),
    ],
)
def test_clean(raw, text):
    assert clean(raw, 1000) == text


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(), st.text().map(str.encode)), st.integers(2, 40))
def test_cleaned_output_is_printable_and_bounded(raw, limit):
    text = clean(raw, limit)
    assert all(c in "\n\t" or (c >= " " and not "\x7f" <= c <= "\x9f") for c in text)
    whole = clean(raw, 10**9)
    if len(whole) <= limit:
        assert text == whole
        return
    head, middle, tail = text.partition(f"\n[... {len(whole) - limit} characters left out ...]\n")
    assert middle and whole.startswith(head) and whole.endswith(tail) and len(head) + len(tail) == limit


def test_head_and_tail_are_kept():
    raw = "".join(f"{i:04d}" for i in range(1000)).encode()
    assert clean(raw, 10) == "00000\n[... 3990 characters left out ...]\n80999"
    assert clean(b"abcdefg", 5) == "ab\n[... 2 characters left out ...]\nefg"
    assert clean(b"x" * 10, 10) == "x" * 10  # at the limit nothing is cut


def test_each_stream_has_the_limit_to_itself():
    seen = exec_observation("rlsh", b"a" * 50, b"b" * 50, 0, None, 10)
    assert seen.count("a" * 5 + "\n[... 40") == 1 and seen.count("b" * 5 + "\n[... 40") == 1
