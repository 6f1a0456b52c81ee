"""apply_patch against the system's `patch` and against diffs of difflib."""

import difflib
import re
import shutil
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rlsh.env.patch import PatchError, apply_patch

LINE = st.sampled_from(["", "a", "b", "-- a", "--- a", "++ b", "+++ b", "@@ -1 +1 @@", "\\ x", " c", "\x0b\u2028é"])
MARKER = "\\ No newline at end of file\n"


@st.composite
def texts(draw, end="\n"):
    lines = draw(st.lists(LINE, max_size=12))
    body = "".join(line + end for line in lines)
    return body.removesuffix(end) if draw(st.booleans()) else body


def split(text):
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def diff_of(old, new, context=3):
    """What `diff -u` writes: difflib leaves the marker for a missing newline to its caller."""
    lines = difflib.unified_diff(split(old), split(new), "f", "f", n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n{MARKER}" for line in lines)


@pytest.fixture(scope="module")
def system_patch(tmp_path_factory):
    if shutil.which("patch") is None:
        pytest.skip("no patch on PATH")
    folder = tmp_path_factory.mktemp("patch")

    def run(old, diff):
        """What `patch` makes of it; None where it refuses, or moves a hunk from where its header puts it."""
        (folder / "f").write_bytes(old.encode())
        command = ["patch", "--fuzz=0", "--binary", "--force", "--reject-file=-", "f"]
        done = subprocess.run(command, cwd=folder, input=diff.encode(), capture_output=True, check=False)
        as_told = done.returncode == 0 and b"offset" not in done.stdout
        return (folder / "f").read_bytes().decode() if as_told else None

    return run


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["\n", "\r\n"]).flatmap(lambda end: st.tuples(texts(end), texts(end))), st.integers(0, 3))
def test_a_diff_of_two_texts_turns_one_into_the_other(pair, context):
    old, new = pair
    assume(old != new)
    assert apply_patch(old, diff_of(old, new, context)) == new


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["\n", "\r\n"]).flatmap(lambda end: st.tuples(texts(end), texts(end))), st.integers(0, 3))
def test_what_patch_accepts_is_applied_alike(system_patch, pair, context):
    old, new = pair
    assume(old and new and old != new)  # patch removes a file that becomes empty
    diff = diff_of(old, new, context)
    assert apply_patch(old, diff) == system_patch(old, diff)


@settings(max_examples=100, deadline=None)
@given(texts(), texts(), texts(), st.data())
def test_a_foreign_diff_is_refused_or_applied_as_patch_does(system_patch, other, old, new, data):
    """A diff made for another file: where we apply it and patch does so at the same place, they agree."""
    assume(old and new and other and old != new)
    diff = diff_of(old, new, data.draw(st.integers(1, 3)))
    try:
        ours = apply_patch(other, diff)
    except PatchError as error:
        assert "\n" not in str(error)
        return
    # patch refuses more: a missing newline that the diff does not tell of, for one
    assert system_patch(other, diff) in (ours, None)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["@@ -1 +1 @@", "@@ -1,2 +1 @@", "@@ -0,0 +1 @@", " a", "-a", "+b", "\\", "", "x"])))
def test_any_text_is_applied_or_refused_with_a_reason(lines):
    try:
        apply_patch("a\na\n", "\n".join(lines))
    except PatchError as error:
        assert str(error)


def test_a_file_in_crlf_keeps_it_under_a_diff_without():
    assert apply_patch("a\r\nb\r\n", "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n") == "a\r\nc\r\nd\r\n"
    assert apply_patch("a\r\nb", "@@ -2 +2,2 @@\n b\n+c\n") == "a\r\nb\r\nc\r\n"


def test_line_ends_that_the_diff_speaks_of_are_literal():
    assert apply_patch("a\r\nb\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n") == "a\nb\n"
    with pytest.raises(PatchError, match=r"line 2 is 'b', the diff expects 'b\\r'"):
        apply_patch("a\r\nb\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n")
    with pytest.raises(PatchError, match=r"line 2 is 'b\\r', the diff expects 'b'"):
        apply_patch("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+c\r\n b\n")


def test_a_diff_that_went_through_crlf_applies():
    assert apply_patch("a\nb\n", "--- f\r\n+++ f\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n") == "a\nc\n"


def test_lines_added_after_a_last_line_without_newline_do_not_merge_with_it():
    assert apply_patch("a", "@@ -1 +1,2 @@\n a\n+b\n") == "a\nb\n"
    assert apply_patch("a", f"@@ -1 +1,2 @@\n a\n{MARKER}+b\n") == "a\nb\n"
    assert apply_patch("a", f"@@ -1 +1,2 @@\n a\n+b\n{MARKER}") == "a\nb"


def test_a_missing_newline_that_is_there_is_refused():
    with pytest.raises(PatchError, match="line 1 is 'a', the diff expects 'a' without a newline"):
        apply_patch("a\n", f"@@ -1 +1 @@\n-a\n{MARKER}+b\n")


def test_an_empty_line_of_the_file_may_stand_in_the_diff_without_its_space():
    assert apply_patch("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n") == "a\n\nc\n"


def test_empty_files():
    assert apply_patch("", "@@ -0,0 +1,2 @@\n+a\n+b\n") == "a\nb\n"
    assert apply_patch("a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n") == ""


def test_two_hunks():
    old = "".join(f"{i}\n" for i in range(1, 21))
    diff = "@@ -1,2 +1,3 @@\n 1\n+x\n 2\n@@ -20 +21 @@\n-20\n+y\n"
    assert apply_patch(old, diff) == old.replace("1\n2\n", "1\nx\n2\n", 1).replace("20\n", "y\n")


@pytest.mark.parametrize(
    ("diff", "says"),
    [
        ("@@ -1,2 +1,2 @@\n a\n-x\n+y\n", "line 2 is 'b', the diff expects 'x'"),
        ("@@ -3,2 +3,1 @@\n c\n-d\n", "the file ends after line 3, the diff expects 'd'"),
        ("@@ -9 +9 @@\n-a\n+b\n", "hunk 1 starts after the end of the file, which has 3 lines"),
        ("@@ -3 +3 @@\n-c\n+d\n@@ -1 +1 @@\n-a\n+b\n", "hunk 2 starts before the end of the hunk ahead of it"),
        ("@@ -0 +1 @@\n-a\n+b\n", "starts at line 0"),
        ("@@ -1,2 +1,2 @@\n-a\n+b\n", "hunk 1 ends early: 1 old and 1 new lines are missing"),
        ("@@ -1 +1 @@\n-a\n+b\n+c\n", "'+c' after hunk 1: its header counts fewer lines"),
        ("@@ -1,0 +1,2 @@\n+b\n a\n", "hunk 1 has more lines than its header says: ' a'"),
        ("@@ -1 +1 @@\n-a\n+b\n--- g\n+++ g\n@@ -1 +1 @@\n-a\n+b\n", "'--- g' after hunk 1"),
        ("@@ -1 +1 @@\na\n+b\n", "'a' must start with"),
        ("@@ -1,3 +1,3 @@\n a\n b\n c\n", "changes nothing"),
        ("--- f\n+++ f\n-a\n+b\n", "changes nothing"),
        ("s/a/b/", "changes nothing"),
        ("", "changes nothing"),
        (f"@@ -{'9' * 5000} +1 @@\n-a\n+b\n", "changes nothing"),
    ],
)
def test_a_diff_that_does_not_fit_is_refused_by_name(diff, says):
    with pytest.raises(PatchError, match=re.escape(says)):
        apply_patch("a\nb\nc\n", diff)
