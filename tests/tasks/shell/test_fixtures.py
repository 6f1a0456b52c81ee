"""What families are filled with: words of one pool, tables that tell a fault, archives that others can read."""

import gzip
import io
import os
import random
import shutil
import subprocess
import tarfile
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsh.env.patch import apply_patch
from rlsh.tasks.shell import fixtures, words
from rlsh.tasks.shell.gitstore import Commit, repository
from rlsh.tasks.shell.packed import deflated, gzipped, tarred, zipped, zlibbed
from rlsh.tasks.shell.repair import edit, rewrite
from rlsh.tasks.world import World, pool_of, text, with_parents
from rlsh.types import Entry

LISTS = {name: value for name, value in vars(words).items() if name.isupper()}
LINE = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=12)


def world(seed, pool="train"):
    return World(random.Random(seed), pool)


@pytest.mark.parametrize("name", sorted(LISTS))
def test_words_are_plain_and_both_pools_have_some(name):
    listed = LISTS[name]
    assert len(set(listed)) == len(listed)
    assert all(word.isalpha() and word.isascii() and word.islower() for word in listed)
    for pool in ("train", "held_out"):
        assert sum(pool_of(word) == pool for word in listed) >= 8


@pytest.mark.parametrize("pool", ["train", "held_out"])
def test_words_come_from_the_worlds_pool(pool):
    w = world(1, pool)
    drawn = [words.one(w, words.NOUNS) for _ in range(200)] + words.some(w, words.GIVEN, 8)
    assert {pool_of(word) for word in drawn} == {pool}
    assert len(set(words.some(w, words.NOUNS, 20))) == 20


def test_uneven_numbers_tell_text_order_from_numeric():
    for seed in range(200):
        found = fixtures.uneven(world(seed), 3 + seed % 18)
        as_text = sorted(found, key=str)
        assert len(set(found)) == len(found) == 3 + seed % 18
        assert as_text[0] != min(found) and as_text[-1] != max(found)


def test_tables_have_as_many_cells_as_columns():
    w = world(3)
    for header, rows in (
        (fixtures.PEOPLE, fixtures.people(w, 9)),
        (fixtures.ORDERS, fixtures.orders(w, 9)),
        (fixtures.READINGS, fixtures.readings(w, 9)),
    ):
        assert len(rows) == 9 and all(len(row) == len(header) for row in rows)
        assert not any("," in cell or not cell for row in rows for cell in row)
        assert fixtures.table(header, rows).content.startswith(",".join(header).encode() + b"\n")


@given(st.binary(max_size=3000))
def test_packed_bytes_are_what_others_unpack(raw):
    assert zlib.decompress(deflated(raw), -15) == raw
    assert gzip.decompress(gzipped(raw)) == raw
    assert zlib.decompress(zlibbed(raw)) == raw


def test_packed_text_cannot_be_searched():
    raw = b"2025-01-01 ERROR gateway: down\n" * 20
    assert b"ERROR" not in gzipped(raw)


def test_archives_hold_the_files_and_no_time():
    files = {"b/x.txt": text("one", "two"), "a.sh": Entry(b"echo\n", 0o755)}
    with tarfile.open(fileobj=io.BytesIO(tarred(files))) as archive:
        assert archive.getnames() == ["a.sh", "b", "b/x.txt"] == list(with_parents(files))
        assert {m.mtime for m in archive} == {0} and {m.uname for m in archive} == {""}
        assert {m.name: m.mode for m in archive if m.isfile()} == {"a.sh": 0o755, "b/x.txt": 0o644}
        assert archive.extractfile("b/x.txt").read() == b"one\ntwo\n"
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        assert archive.testzip() is None and archive.namelist() == ["a.sh", "b/x.txt"]
        assert archive.read("b/x.txt") == b"one\ntwo\n"
        assert {m.date_time for m in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git to compare with")
def test_git_reads_the_repository(tmp_path):
    first = {"a.txt": text("one"), "b/run.sh": Entry(b"echo 1\n", 0o755), "b.txt": text("two"), "b/c/d.txt": text("3")}
    last = {**first, "a.txt": text("other")}
    commits = [Commit(first, "ada", 1_740_000_000, "Begin"), Commit(last, "leo", 1_740_000_900, "Go on\n\nAt length.")]
    for path, entry in repository(commits, [("v1", 0)]).items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(entry.content)
        file.chmod(entry.mode)

    def git(*arguments):
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TZ": "JST-9"}
        run = subprocess.run(["git", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stdout + run.stderr

    assert git("fsck", "--strict", "--full") == ""
    assert git("log", "--format=%an %ae %ad %s", "--date=iso") == (
        "Leo leo@mail.net 2025-02-19 21:35:00 +0000 Go on\nAda ada@mail.net 2025-02-19 21:20:00 +0000 Begin\n"
    )
    assert git("ls-tree", "-r", "--name-only", "v1").split() == ["a.txt", "b.txt", "b/c/d.txt", "b/run.sh"]
    assert git("show", "v1:a.txt") == "one\n" and git("show", "main:a.txt") == "other\n"
    git("read-tree", "HEAD")  # with an index there is a status
    assert git("status", "--porcelain") == ""
    # what git itself makes of the same files has the same name
    assert git("write-tree").strip() == git("rev-parse", "HEAD^{tree}").strip()


@given(st.lists(LINE, min_size=1, max_size=8), st.data())
def test_an_edit_makes_the_new_lines_of_the_old(old, data):
    new = [data.draw(LINE) if data.draw(st.booleans()) else line for line in old]
    if new == old:
        new[0] += "x"

    def whole(lines):
        return "".join(f"{line}\n" for line in lines)

    assert apply_patch(whole(old), edit(old, new)) == whole(new)


def test_a_rewrite_puts_lines_in_place(tmp_path):
    file = tmp_path / "a.sh"
    for line in ('    echo "it\'s" \\;', "sed 's/\\t/ /'", "\\$x & \\1", "\tplain"):
        file.write_text("one\ntwo\nthree\n")
        subprocess.run(["sh", "-c", rewrite("a.sh", {1: line, 2: "end"})], cwd=tmp_path, check=True)
        assert file.read_text() == f"one\n{line}\nend\n"
