"""What a worker tells bwrap, and where it lays out what is its own."""

from __future__ import annotations

import fcntl
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from rlsh.sandbox import Limits
from rlsh.sandbox.worker.launch import ENVIRONMENT, Cold, Place, Streams, pipe
from rlsh.sandbox.worker.serve import mount_point
from rlsh.sandbox.worker.tree import WorkTree


@pytest.mark.timeout(60)
def test_options_of_any_length_reach_bwrap(tmp_path: Path) -> None:
    """Written to a pipe before there is a reader, they would wait for one for ever."""
    bwrap = tmp_path / "bwrap"
    bwrap.write_text('#!/bin/bash\ncat <&"$2"\n')  # the options, which are not its arguments
    bwrap.chmod(0o755)
    hidden = [f"/usr/share/{number:0200}" for number in range(400)]
    cold = Cold(Place(str(tmp_path), "/etc", str(tmp_path), 0, hidden, b"filter", ENVIRONMENT, {}), str(bwrap))
    tree = WorkTree(str(tmp_path), -1, asdict(Limits()))
    (out, out_w), (err, err_w), (status, status_w), (hold, hold_w) = (pipe() for _ in range(4))
    pid = cold.start(tree, b"true", Streams(out_w, err_w, status_w, hold))  # type: ignore[arg-type]
    os.close(out_w)
    with os.fdopen(out, "rb") as file:
        told = file.read()
        assert len(told) > fcntl.fcntl(file, fcntl.F_GETPIPE_SZ)  # control: a pipe would not have taken it
    os.waitpid(pid, 0)
    *options, seccomp, number, end = map(os.fsdecode, told.split(b"\0"))
    assert options == cold.options(tree)  # type: ignore[arg-type]
    assert (seccomp, number.isdigit(), end) == ("--seccomp", True, "")
    for fd in (err, err_w, status, status_w, hold, hold_w):
        os.close(fd)


def test_a_worker_mounts_over_nothing_that_is_shown(tmp_path: Path) -> None:
    """Its mount holds all workspaces: a tool that lies there, or is that folder, would show them."""
    places = [place for place in ("/mnt", "/srv", "/media") if Path(place).is_dir()]
    if len(places) < 2:
        pytest.skip(f"there is no choice on this machine: {places}")
    assert mount_point("/usr", "/mntx") == places[0]
    assert mount_point(places[0]) == mount_point(f"{places[0]}/tools") == places[1]
    (tmp_path / "link").symlink_to(places[0])
    assert mount_point(str(tmp_path / "link")) == places[1]
