"""apply_patch held against `diff`, `patch` and difflib on random texts, and `edit` on random paths."""

import difflib
import re
import shutil
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rlsh.env.patch import PatchError, apply_patch
from rlsh.env.tools import run_tool
from rlsh.sandbox.base import Limits
from rlsh.types import Entry, ToolCall

LINE = st.sampled_from(
    ["", "a", "a", "b", "-- a", "--- a", "++ b", "+++ b", "@@ -1 +1 @@", "\\ x", " c", "a\rb", "\r", "\x0b\u2028é"]
)
ENDS = ["\n"], ["\r\n"], ["\n", "\r\n"]
MARKER = "\\ No newline at end of file\n"


def split(text):
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def cut(draw, text):
    """`text`, or `text` without its last newline (in a file with CRLF a carriage return stays)."""
    return text.removesuffix("\n") if draw(st.booleans()) else text


@st.composite
def texts(draw, ends=("\n",)):
    lines = st.tuples(LINE, st.sampled_from(ends)).map("".join)
    return cut(draw, "".join(draw(st.lists(lines, max_size=12))))


@st.composite
def pairs(draw, ends=None):
    """A text and what a few inserted, deleted or replaced runs of lines make of it; never the same."""
    ends = ends or draw(st.sampled_from(ENDS))
    old = draw(texts(ends))
    lines = [line if line.endswith("\n") else line + ends[0] for line in split(old)]
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, len(lines)))
        fresh = draw(st.lists(st.tuples(LINE, st.sampled_from(ends)).map("".join), max_size=2))
        lines[begin : begin + draw(st.integers(0, 2))] = fresh
    new = cut(draw, "".join(lines))
    assume(old != new)
    return old, new


def difflib_diff(old, new, context):
    """difflib leaves the marker for a missing newline to its caller."""
    lines = difflib.unified_diff(split(old), split(new), "f", "f", n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n{MARKER}" for line in lines)


@pytest.fixture(scope="module")
def system_diff(tmp_path_factory):
    if shutil.which("diff") is None:
        pytest.skip("no diff on PATH")
    folder = tmp_path_factory.mktemp("diff")

    def run(old, new, context):
        (folder / "old").write_bytes(old.encode())
        (folder / "new").write_bytes(new.encode())
        command = ["diff", "--text", f"--unified={context}", "old", "new"]
        return subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout.decode()

    return run


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


def says_its_ends(old, context):
    """Lines inserted without context into a file that begins in CRLF get CRLF: their diff may mean line feeds."""
    return context > 0 or "\r\n" not in old


# --- diffs of two texts -----------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(pairs(), st.integers(0, 3))
def test_a_diff_of_two_texts_turns_one_into_the_other_and_back(pair, context):
    old, new = pair
    assume(says_its_ends(old, context) and says_its_ends(new, context))
    assert apply_patch(old, difflib_diff(old, new, context)) == new
    assert apply_patch(new, difflib_diff(new, old, context)) == old


@settings(max_examples=60, deadline=None)
@given(pairs(), st.integers(0, 3))
def test_what_diff_writes_is_applied(system_diff, pair, context):
    old, new = pair
    assume(says_its_ends(old, context))
    assert apply_patch(old, system_diff(old, new, context)) == new


@settings(max_examples=100, deadline=None)
@given(pairs(["\r\n"]), st.integers(0, 3))
def test_in_a_crlf_file_a_diff_without_carriage_returns_does_the_same(pair, context):
    old, new = (re.sub("\r+(?=\n|$)", "", text).replace("\n", "\r\n") for text in pair)
    assume(old != new and "\r\n" in old)  # a file without any line end cannot say which it has
    assert apply_patch(old, difflib_diff(old, new, context).replace("\r\n", "\n")) == new


@settings(max_examples=60, deadline=None)
@given(pairs(), st.integers(0, 3))
def test_what_patch_accepts_is_applied_alike(system_patch, pair, context):
    old, new = pair
    assume(old and new and says_its_ends(old, context))  # patch removes a file that becomes empty
    diff = difflib_diff(old, new, context)
    assert apply_patch(old, diff) == system_patch(old, diff) == new


# --- diffs of something else --------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(texts(), pairs(["\n"]), st.integers(1, 3))
def test_a_foreign_diff_is_refused_or_applied_as_patch_does(system_patch, other, pair, context):
    """A diff made for another file: where we apply it and patch does so at the same place, they agree."""
    old, new = pair
    assume(old and new and other)
    diff = difflib_diff(old, new, context)
    try:
        ours = apply_patch(other, diff)
    except PatchError as error:
        assert "\n" not in str(error)
        return
    # patch refuses more: a missing newline that the diff does not tell of, for one
    assert system_patch(other, diff) in (ours, None)


@settings(max_examples=60, deadline=None)
@given(pairs(["\n"]), st.lists(LINE, min_size=1, max_size=2), st.integers(0, 3))
def test_a_file_that_moved_on_gets_what_patch_puts_where_the_header_says(system_patch, pair, ahead, context):
    """Lines came in ahead: patch searches, we do not; where it need not move a hunk, we give the same."""
    old, new = pair
    moved, diff = "".join(f"{line}\n" for line in ahead) + old, difflib_diff(old, new, context)
    assume(new and "\r\n" not in moved)  # patch removes a file that becomes empty
    theirs = system_patch(moved, diff)
    if theirs is not None:
        assert apply_patch(moved, diff) == theirs


class OneFile:
    """A workspace as `edit` needs it."""

    def __init__(self, content):
        self.content = content
        self.writes = 0

    def read(self, path):
        return self.content

    def write(self, path, content):
        self.content = content
        self.writes += 1


def edit(workspace, path, diff):
    call = ToolCall("edit", {"file_path": path, "edit_content": diff})
    return run_tool(call, workspace, dialect="rlsh", limits=Limits(), observation_chars=100)


@settings(max_examples=100, deadline=None)
@given(pairs(), st.integers(0, 3), st.data())
def test_a_wrong_line_of_context_is_refused_and_the_file_stays(pair, context, data):
    old, new = pair
    assume(says_its_ends(old, context))
    rows = split(difflib_diff(old, new, context))
    stated = [i for i, row in enumerate(rows) if i > 1 and row[0] in " -"]
    assume(stated)
    wrong = data.draw(st.sampled_from(stated))

    workspace = OneFile(old.encode())
    broken = "".join(row[0] + "x" + row[1:] if i == wrong else row for i, row in enumerate(rows))
    assert re.match(r"error: f: line \d+ is .*, the diff expects .*x", edit(workspace, "f", broken))
    assert workspace.content == old.encode() and workspace.writes == 0
    assert edit(workspace, "f", "".join(rows)) == "edited f"  # the line was all that was wrong
    assert workspace.content == new.encode() and workspace.writes == 1


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["@@ -1 +1 @@", "@@ -1,2 +1 @@", "@@ -0,0 +1 @@", " a", "-a", "+b", "\\", "", "x"])))
def test_any_text_is_applied_or_refused_with_a_reason(lines):
    try:
        apply_patch("a\na\n", "\n".join(lines))
    except PatchError as error:
        assert str(error)


# --- paths --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    victim = tmp_path_factory.mktemp("outside") / "a.txt"
    victim.write_bytes(b"one\n")
    return victim


@pytest.fixture(scope="module")
def workspace(sandbox, outside):
    """A file, reached by honest paths, and links to one like it that lies outside."""
    files = {
        "a.txt": Entry(b"one\n"),
        "sub/a.txt": Entry(b"one\n"),
        "sub/sub/a.txt": Entry(b"one\n"),
        "out": Entry(str(outside.parent).encode(), 0o777, "link"),
        "sub/out": Entry(b"../..", 0o777, "link"),
    }
    with sandbox.open(files, Limits()) as opened:
        yield opened


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["..", ".", "", "sub", "out", "OUTSIDE"]), max_size=5), st.booleans())
def test_no_path_leads_an_edit_out_of_the_workspace(workspace, outside, parts, absolute):
    reach = str(outside.parent).strip("/")
    path = "/" * absolute + "/".join([reach if part == "OUTSIDE" else part for part in parts] + ["a.txt"])
    before = workspace.export()
    seen = edit(workspace, path, "@@ -1 +1 @@\n-one\n+two\n")
    honest = [part for part in parts if part not in (".", "")]
    if not path.startswith("/") and honest in ([], ["sub"], ["sub", "sub"]):
        assert seen == f"edited {path}"
        workspace.write(path, b"one\n")
    else:
        assert seen.startswith(f"error: {path!r} ")
    assert workspace.export() == before and outside.read_bytes() == b"one\n"


class Unguarded:
    """A folder of the host without any guard: what the tests of paths would see if there were none."""

    def __init__(self, root):
        self.root = root

    def read(self, path):
        return (self.root / path).read_bytes()

    def write(self, path, content):
        (self.root / path).write_bytes(content)


@pytest.mark.parametrize("route", ["absolute", "parents", "link"])
def test_a_route_that_leads_out_is_closed(workspace, outside, tmp_path, route):
    up = "../" * len(tmp_path.parts)
    path = {"absolute": str(outside), "parents": up + str(outside).strip("/"), "link": "out/a.txt"}[route]
    (tmp_path / "out").symlink_to(outside.parent)
    there, back = "@@ -1 +1 @@\n-one\n+two\n", "@@ -1 +1 @@\n-two\n+one\n"
    assert edit(Unguarded(tmp_path), path, there) == f"edited {path}" and outside.read_bytes() == b"two\n"
    assert edit(workspace, path, back).startswith(f"error: {path!r} ") and outside.read_bytes() == b"two\n"
    assert edit(Unguarded(tmp_path), path, back) == f"edited {path}" and outside.read_bytes() == b"one\n"
