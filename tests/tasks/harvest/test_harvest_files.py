"""Which files are read, and that nothing else happens to them."""

import os
import re

import pytest

from rlsh.tasks.harvest import source_tree
from rlsh.tasks.harvest.files import MAX_BYTES
from rlsh.types import RlshError

ROOT = os.geteuid() == 0


def write(root, files):
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def read(root):
    tree = source_tree(root)
    return {file.path: file.language for file in tree.files}, {row.path: row.reason for row in tree.skipped}


def test_scripts_are_told_by_suffix_and_by_shebang(tmp_path):
    write(
        tmp_path,
        {
            "b.py": "",
            "a/c.sh": "",
            "env/kept.py": "",  # a folder's name alone makes no virtual environment
            "run": "#!/usr/bin/env python3\n",
            "go": "#!/bin/sh -e\n",
            "plain": "#!/bin/sh\n",
            "perl": "#!/usr/bin/perl\n",
            "notes.md": "#!/bin/sh\n",
        },
    )
    for name in ("run", "go", "perl", "notes.md"):
        (tmp_path / name).chmod(0o755)
    files, skipped = read(tmp_path)
    assert files == {"a/c.sh": "shell", "b.py": "python", "env/kept.py": "python", "go": "shell", "run": "python"}
    assert list(files) == sorted(files)
    assert skipped == dict.fromkeys(("notes.md", "perl", "plain"), "no script")


def test_what_is_not_the_trees_own_is_not_entered(tmp_path):
    write(tmp_path, {f"{name}/a.py": "" for name in (".git", "node_modules", "x/__pycache__", "x/own", "some-env")})
    write(tmp_path, {"some-env/pyvenv.cfg": ""})
    files, skipped = read(tmp_path)
    assert list(files) == ["x/own/a.py"]
    assert set(skipped) == {".git/", "node_modules/", "x/__pycache__/", "some-env/"}


def test_what_cannot_be_read_as_text_is_skipped_with_the_reason(tmp_path):
    write(
        tmp_path,
        {
            "binary.py": b"x = 1\0",
            "latin.py": "x = 'é'".encode("latin-1"),
            "large.py": "#" * (MAX_BYTES + 1),
            "full.py": "#" * MAX_BYTES,
            "bom.py": b"\xef\xbb\xbfx = 1\r\ny = 2\r\n",
        },
    )
    os.mkfifo(tmp_path / "pipe.py")
    files, skipped = read(tmp_path)
    assert set(files) == {"full.py", "bom.py"}
    assert source_tree(tmp_path).files[0].text == "x = 1\ny = 2\n"
    assert skipped == {
        "binary.py": "binary",
        "latin.py": "not UTF-8",
        "large.py": f"larger than {MAX_BYTES} bytes",
        "pipe.py": "no regular file",
    }


@pytest.mark.skipif(ROOT, reason="root may read everything")
def test_what_may_not_be_read_is_skipped(tmp_path):
    write(tmp_path, {"a.py": "", "b/c.py": ""})
    (tmp_path / "a.py").chmod(0)
    (tmp_path / "b").chmod(0)
    try:
        files, skipped = read(tmp_path)
    finally:
        (tmp_path / "b").chmod(0o755)
    assert not files
    assert skipped == {"a.py": "unreadable: Permission denied", "b": "unreadable: Permission denied"}


def test_links_are_not_followed(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    write(tmp_path, {"root/a/real.py": "", "outside/secret.py": ""})
    for name, target in {
        "inside.py": root / "a/real.py",
        "out.py": outside / "secret.py",
        "folder": outside,
        "loop": root,
        "self.py": root / "self.py",
        "gone.py": root / "nothing",
    }.items():
        (root / name).symlink_to(target)
    assert (root / "loop/loop/loop/a/real.py").is_file()  # the naive walk would not end
    files, skipped = read(root)
    assert list(files) == ["a/real.py"]
    assert skipped == {
        "inside.py": "link inside the tree",
        "out.py": "link that leaves the tree",
        "folder": "link that leaves the tree",
        "loop": "link inside the tree",
        "self.py": "link that leads nowhere",
        "gone.py": "link that leads nowhere",
    }


@pytest.mark.parametrize(
    ("name", "text", "licence"),
    [
        ("LICENSE", "MIT License\n\nPermission is hereby granted, free\nof charge, to any", "MIT"),
        ("LICENCE.md", "Apache License\nVersion 2.0", "Apache-2.0"),
        ("COPYING", "GNU GENERAL PUBLIC LICENSE\n   Version 3, 29 June", "GPL-3.0"),
        ("LICENSE", "Ask me first.", "unknown"),
        ("license.py", "Permission is hereby granted, free of charge", "unknown"),
    ],
)
def test_the_licence_is_that_of_the_root(tmp_path, name, text, licence):
    write(tmp_path, {name: text, "sub/LICENSE": "Mozilla Public License"})
    assert source_tree(tmp_path).licence == licence


def test_a_root_that_is_no_folder_is_an_error(tmp_path):
    with pytest.raises(RlshError, match=re.escape(str(tmp_path / "none"))):
        source_tree(tmp_path / "none")
