"""Reading, writing and exporting a tree whose every node a candidate may have made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsh.sandbox import Limits, WorkspaceError, WorkspaceFileNotFoundError
from rlsh.sandbox.base import Kind
from rlsh.sandbox.linux import LinuxSandbox, LinuxWorkspace
from rlsh.sandbox.probe import probe, usable
from rlsh.sandbox.worker import output, tree
from rlsh.types import Entry

LADDER = probe()
sandboxed = pytest.mark.skipif(usable(LADDER) is None, reason=f"no sandbox on this machine: {LADDER}")
LIMITS = Limits(wall_s=30, workspace_mb=6, inodes=400)


@pytest.fixture(scope="module")
def pool(kind: Kind) -> Iterator[LinuxSandbox]:
    with LinuxSandbox(kind, 1) as sandbox:
        yield sandbox


@pytest.fixture
def work(pool: LinuxSandbox) -> Iterator[LinuxWorkspace]:
    with pool.open({"a": Entry(b"A"), "d/b": Entry(b"B", 0o750)}, LIMITS) as workspace:
        yield workspace


# --- without a sandbox ---------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=40), max_size=12), st.integers(0, 60))
def test_capture_equals_cutting_the_whole(chunks: list[bytes], cap: int) -> None:
    capture = output.Capture(cap)
    for chunk in chunks:
        capture.feed(chunk)
    whole = b"".join(chunks)
    left_out = len(whole) - cap
    cut = b"%b\n[... %d bytes left out ...]\n%b" % (
        whole[: cap // 2], left_out, whole[len(whole) - (cap - cap // 2) :]
    )  # fmt: skip
    assert capture.value() == (cut if left_out > 0 else whole)


@pytest.mark.parametrize("path", ["", ".", "/", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "a\0b", "\ud800"])
def test_paths_outside_are_refused(path: str) -> None:
    with pytest.raises(tree.Refused):
        tree.components(path)


def test_paths_inside_are_normalised() -> None:
    assert tree.components("./a//b/./...") == ["a", "b", "..."]
    assert tree.components("\udcff") == ["\udcff"]  # a byte that is no UTF-8, as os.listdir gives it


def test_directory_does_not_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "root" / "link").symlink_to("../secret")
    os.close(os.open(tmp_path / "root" / "link", os.O_RDONLY | os.O_DIRECTORY))  # the naive way follows
    with pytest.raises(NotADirectoryError), tree.directory(str(tmp_path / "root"), ["link"]):
        pass


# --- read and write ------------------------------------------------------------------------------------------


@sandboxed
def test_read_and_write(work: LinuxWorkspace) -> None:
    assert (work.read("a"), work.read("./d/b")) == (b"A", b"B")
    work.write("d/b", b"B2")
    work.write("d/new", b"N")
    assert (
        work.exec("cat d/*; stat -c '%n %U %G %a' d/*").stdout == b"B2N" + b"d/b user user 750\nd/new user user 644\n"
    )
    assert work.exec("echo more >>d/new; : >d/made").exit_code == 0


@sandboxed
@pytest.mark.parametrize("path", ["nosuch", "d/nosuch", "nosuch/x"])
def test_missing_is_told_apart(work: LinuxWorkspace, path: str) -> None:
    with pytest.raises(WorkspaceFileNotFoundError, match="does not exist in the workspace") as caught:
        work.read(path)
    assert isinstance(caught.value, WorkspaceError | FileNotFoundError)
    if "/" in path and "d/" not in path:
        with pytest.raises(WorkspaceFileNotFoundError):
            work.write(path, b"")


@sandboxed
@pytest.mark.parametrize(
    "path", ["/work/a", "../a", "file", "dir/passwd", "loop", "up/a", "d", "fifo", "a/x", "\ud800"]
)
def test_links_and_odd_nodes_are_refused(work: LinuxWorkspace, path: str) -> None:
    made = "ln -s /etc/passwd file; ln -s /etc dir; ln -s loop loop; ln -s .. up; ln -s d into; mkfifo fifo"
    assert work.exec(made).exit_code == 0
    for attempt in (lambda: work.read(path), lambda: work.write(path, b"x")):
        with pytest.raises(WorkspaceError) as caught:
            attempt()
        assert not isinstance(caught.value, WorkspaceFileNotFoundError)
    assert work.exec("cat file").stdout.startswith(b"root:")  # the link itself leads somewhere


@sandboxed
def test_write_that_does_not_fit_is_the_candidates_fault(work: LinuxWorkspace) -> None:
    with pytest.raises(WorkspaceError, match="a file may have"):
        work.write("a", bytes((4 << 20) + 1))
    work.exec("head -c 3M /dev/zero >f; head -c 3M /dev/zero >g")
    with pytest.raises(WorkspaceError, match="does not fit"):
        work.write("new", bytes(1 << 20))
    assert work.exec("rm f g; cat a").stdout == b"A"


# --- export --------------------------------------------------------------------------------------------------


@sandboxed
def test_export_tells_kinds_modes_and_targets(work: LinuxWorkspace) -> None:
    work.exec("ln -s /etc/passwd link; ln -s /etc dir; mkfifo fifo; chmod 000 a; mkdir -m 700 e; echo x >'n\n'$'\\xff'")
    tree = dict(work.export())
    assert tree.pop("link") == Entry(b"/etc/passwd", 0o777, "link")
    assert tree.pop("dir") == Entry(b"/etc", 0o777, "link")
    assert tree == {
        "a": Entry(b"A", 0),
        "d": Entry(b"", 0o755, "dir"),
        "d/b": Entry(b"B", 0o750),
        "e": Entry(b"", 0o700, "dir"),
        "n\n\udcff": Entry(b"x\n"),
    }


@sandboxed
def test_export_opens_again_as_the_same_tree(pool: LinuxSandbox, work: LinuxWorkspace) -> None:
    work.exec("ln -s d/b l; mkdir -p e/f; chmod 500 e; echo x >$'\\xff'; chmod 400 $'\\xff'")
    tree = work.export()
    with pool.open(tree, LIMITS) as again:
        assert again.export() == tree


@sandboxed
@pytest.mark.parametrize(
    "command", ["for i in {1..3}; do truncate -s 3M s$i; done", "truncate -s 3M f; for i in {1..3}; do ln f l$i; done"]
)
def test_export_is_capped_where_the_disk_is_not(work: LinuxWorkspace, command: str) -> None:
    assert work.exec(command).exit_code == 0
    with pytest.raises(WorkspaceError, match="holds more than 6291456 bytes"):
        work.export()
    assert work.exec("echo on").stdout == b"on\n"


@sandboxed
def test_export_of_a_deep_tree(work: LinuxWorkspace) -> None:
    assert work.exec("path=$(printf 'deep/%.0s' {1..300}); mkdir -p $path; echo x >${path}bottom").exit_code == 0
    assert work.export()["deep/" * 300 + "bottom"] == Entry(b"x\n")


# --- open ----------------------------------------------------------------------------------------------------


@sandboxed
@pytest.mark.parametrize(
    "files",
    [
        {"/abs": Entry()},
        {"../up": Entry()},
        {"a": Entry(), "a/b": Entry()},
        {"a": Entry(), "./a": Entry()},
        {"out": Entry(b"/tmp", kind="link"), "out/f": Entry()},
        {"big": Entry(bytes(7 << 20))},
        {f"f{i}": Entry() for i in range(500)},
    ],
    ids=["absolute", "up", "conflict", "twice", "through-link", "size", "inodes"],
)
def test_impossible_fixtures_are_the_callers_fault(pool: LinuxSandbox, files: dict[str, Entry]) -> None:
    with pytest.raises(WorkspaceError):
        pool.open(files, LIMITS)
    with pool.open({}, LIMITS) as work:
        assert work.export() == {}
