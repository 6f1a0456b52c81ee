"""apply_patch case by case; `test_patch_properties.py` holds it against `diff` and `patch`."""

import re

import pytest

from rlsh.env.patch import PatchError, apply_patch

MARKER = "\\ No newline at end of file\n"


def test_a_file_in_crlf_keeps_it_under_a_diff_without():
    assert apply_patch("a\r\nb\r\n", "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n") == "a\r\nc\r\nd\r\n"
    assert apply_patch("a\r\nb", "@@ -2 +2,2 @@\n b\n+c\n") == "a\r\nb\r\nc\r\n"


def test_in_a_file_of_mixed_ends_new_lines_get_those_of_the_lines_their_hunk_touches():
    old = "a\r\nb\nc\nd\r\n"
    assert apply_patch(old, "@@ -2,2 +2,3 @@\n b\n+x\n c\n") == "a\r\nb\nx\nc\nd\r\n"
    assert apply_patch(old, "@@ -2 +2 @@\n-b\n+x\n@@ -4 +4,2 @@\n d\n+y\n") == "a\r\nx\nc\nd\r\ny\r\n"
    assert apply_patch(old, "@@ -3,0 +4 @@\n+x\n") == "a\r\nb\nc\nx\r\nd\r\n"  # touches none: the first line's


def test_a_carriage_return_is_no_line_end_by_itself():
    assert apply_patch("a\r", f"@@ -1 +1 @@\n-a\r\n{MARKER}+b\n") == "b\n"


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
