"""Containers without an engine: what one would be told, what comes back, and the whole flow against a fake.

The fake is a script that runs what it is told in a folder. It is root's, perhaps, and in no namespace, so it puts a
harmless helper in the place of `kill -9 -1`, and refuses a script that still says "kill".
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import subprocess
import sys
import tarfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlsh.sandbox import ExecResult, Limits, SandboxError, WorkspaceError, WorkspaceFileNotFoundError, container
from rlsh.sandbox.container import (
    AfterStart,
    ContainerSandbox,
    ContainerWorkspace,
    Whole,
    abandoned,
    candidate_command,
    check_bounds,
    converse,
    decode_tree,
    encode_tree,
    engine_environment,
    exec_command,
    fault,
    find_engine,
    mount_option,
    regular_file,
    run_command,
)
from rlsh.types import Entry, RlshError, Tree

LIMITS = Limits(wall_s=30, workspace_mb=2, inodes=40, file_mb=1)
FILES = {"a": Entry(b"A"), "d/b": Entry(b"B", 0o750), "l": Entry(b"d/b", 0o777, "link")}
FAKE = r'''
import json, os, re, shutil, subprocess, sys
from pathlib import Path

home = Path(__file__).parent
HELPER = """
import os, sys
from pathlib import Path
found = 1
for process in Path("/proc").glob("[0-9]*"):
    try:
        below = (process / "cwd").readlink().is_relative_to(sys.argv[1])
        dead = (process / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        continue
    if below and not dead and int(process.name) not in (os.getpid(), int(sys.argv[2])):
        os.kill(int(process.name), 9)
        found = 0
sys.exit(found)
"""

def fail(text, code):
    print(text, file=sys.stderr)
    sys.exit(code)

command, *argv = sys.argv[1:]
with (home / "calls").open("a") as file:
    file.write(json.dumps([command, *argv]) + "\n")
(home / "environment").write_text(json.dumps(dict(os.environ)))
if (home / "down").exists():
    fail("Cannot connect: is the daemon running?", 1)
if command == "version":
    print("fake 1.0")
elif command == "ps":
    print("\n".join(path.name for path in home.glob("rlsh-*")))
elif command == "run":
    if (home / "no-image").exists():
        fail((home / "no-image").read_text(), 125)
    (name,) = [argument.partition("=")[2] for argument in argv if argument.startswith("--name=")]
    for folder in ("work", "tmp", "shm", "cgroup"):
        (home / name / folder).mkdir(parents=True)
    for mount in [dict(re.findall(r"(\w+)=([^,]+)", argument)) for argument in argv if argument.startswith("--mount=")]:
        place = home / name / mount["target"].strip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(mount["source"])
    for file in ("pids.max", "memory.max"):
        (home / name / "cgroup" / file).write_text("max\n" if (home / "unbounded").exists() else "35\n")
    print("0123456789ab")
elif command == "rm":
    if not (home / argv[-1]).exists():
        fail("no such container", 1)
    subprocess.run([sys.executable, "-IS", "-c", HELPER, home / argv[-1], "0"])
    shutil.rmtree(home / argv[-1])
elif command == "exec":
    options = [argument for argument in argv if argument.startswith("--")]
    options = options[: next(index for index, argument in enumerate(argv) if not argument.startswith("--"))]
    name, *inside = argv[len(options) :]
    if not (home / name).exists() or (home / "deaf").exists():
        fail("Error: OCI runtime error: no such container", 125)
    here, script = home / name, inside[4]
    sweeper = f'{sys.executable} -I -S -c "$SWEEPER" {here} $$'
    places = {"kill -9 -1": sweeper, "/work": f"{here}/work", "/tmp": f"{here}/tmp", "/dev/shm": f"{here}/shm",
              "/sys/fs/cgroup": f"{here}/cgroup"}
    inside[5:] = [argument.replace("/opt/", f"{here}/opt/") for argument in inside[5:]]
    script = re.sub("|".join(places), lambda match: places[match[0]], script)
    if re.search(r"\bkill\b", script):
        fail(f"refused, it would kill everything: {script}", 99)
    inside[4] = script
    (workdir,) = [option.partition("=")[2] for option in options if option.startswith("--workdir=")]
    stdin = None if "--interactive" in options else subprocess.DEVNULL
    environment = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "SWEEPER": HELPER, "FROM_IMAGE": "1"}
    code = subprocess.run(inside, stdin=stdin, env=environment, cwd=here / workdir.strip("/")).returncode
    sys.exit(code if code >= 0 else 128 - code)
'''


def fake_engine(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable} -IS\n{FAKE}")
    path.chmod(0o755)
    return path


@pytest.fixture(params=["podman", "docker"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return fake_engine(tmp_path / "engine", request.param)


@pytest.fixture
def docker(tmp_path: Path) -> Path:
    return fake_engine(tmp_path / "engine", "docker")


@pytest.fixture
def work(docker: Path) -> Iterator[ContainerWorkspace]:
    with ContainerSandbox(docker) as sandbox, sandbox.open(FILES, LIMITS) as workspace:
        yield workspace


def calls(engine: Path, command: str) -> list[list[str]]:
    told = [json.loads(line) for line in (engine.parent / "calls").read_text().splitlines()]
    return [argv for argv in told if argv[0] == command]


def containers(engine: Path) -> list[Path]:
    return list(engine.parent.glob("rlsh-*"))


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def running(argument: str) -> bool:
    return any(argument.encode() in read_if_there(path).split(b"\0") for path in Path("/proc").glob("[0-9]*/cmdline"))


def read_if_there(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


# --- what the engine is told ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["podman", "docker"])
def test_run_command_asks_for_every_wall(name: str) -> None:
    limits = Limits(
        cpu_s=3, tree_memory_mb=512, workspace_mb=8, processes=32, open_files=64, file_mb=4, inodes=512
    )  # fmt: skip
    argv = run_command(Path("/usr/bin", name), "rlsh-1-ab", "some/image", limits, [])
    wanted = """
        --detach --rm --read-only --no-healthcheck --name=rlsh-1-ab --network=none --ipc=private --hostname=sandbox
        --user=65534:65534 --cap-drop=ALL --security-opt=no-new-privileges --shm-size=8m --pids-limit=35 --memory=536m
        --memory-swap=536m --workdir=/work --stop-timeout=0 --pull=never --entrypoint=bash --ulimit=cpu=3:4
        --ulimit=fsize=4194304 --ulimit=nofile=64 --ulimit=core=0 --env=HOME=/work --env=LC_ALL=C.UTF-8
        --tmpfs=/tmp:rw,exec,nosuid,nodev,size=8m,mode=1777
    """.split()
    own = {
        "podman": ["--read-only-tmpfs=false", "--http-proxy=false",
                   "--tmpfs=/work:rw,exec,nosuid,nodev,size=8m,notmpcopyup,mode=0777"],
        "docker": ["--tmpfs=/work:rw,exec,nosuid,nodev,size=8m,nr_inodes=512,mode=0755,uid=1000,gid=1000"],
    }  # fmt: skip
    assert argv[:2] == [f"/usr/bin/{name}", "run"]
    options = argv[2 : argv.index("some/image")]
    assert set(wanted + own[name]) - set(options) == set()
    assert f"--label=rlsh={socket.gethostname()}" in options
    others = {option.partition("=")[0] for option in options if option not in wanted + own[name]}
    assert others == {"--env", "--label"}  # nothing that opens a wall again
    assert argv[argv.index("some/image") + 1 :] == ["--norc", "--noprofile", "-c", container.KEEPER]


def test_exec_commands_run_as_the_candidates_user() -> None:
    argv = exec_command(Path("/bin/podman"), "box", "script", "x", stdin=True, workdir="/")
    shell = ["box", "bash", "--norc", "--noprofile", "-c", "script", "bash", "x"]
    assert argv == ["/bin/podman", "exec", "--interactive", "--user=1000:1000", "--workdir=/", *shell]
    argv = candidate_command(Path("/bin/podman"), "box", "id; -1", Limits(memory_mb=256), "/bin")
    assert argv[:4] == ["/bin/podman", "exec", "--user=1000:1000", "--workdir=/work"]  # and no standard input
    assert argv[4:13] == [*shell[:5], container.COMMAND, "bash", "262144", "id; -1"]


def test_a_mount_is_read_only_and_brings_no_other_with_it() -> None:
    option = mount_option("/opt/tools/x", Path("/home/me/x"))
    assert option == "--mount=type=bind,source=/home/me/x,target=/opt/tools/x,readonly,bind-nonrecursive"
    argv = run_command(Path("/bin/podman"), "box", "some/image", LIMITS, [option])
    assert argv.index(option) < argv.index("some/image")


@pytest.mark.parametrize("name", ["a,readonly=false", 'a"', "a\nb"])
def test_a_folder_that_no_mount_option_can_name_is_refused(name: str) -> None:
    with pytest.raises(RlshError, match="which no engine takes: rename it"):
        mount_option("/opt/tools/x", Path("/home", name))


def test_the_engine_gets_four_variables_of_ours() -> None:
    ours = {
        "PATH": "/bin",
        "HOME": "/root",
        "XDG_RUNTIME_DIR": "/run",
        "DOCKER_HOST": "unix:///s",
        "HF_TOKEN": "secret",
    }
    assert engine_environment(ours) == {name: ours[name] for name in ours if name != "HF_TOKEN"}
    assert engine_environment({}) == {}


@pytest.mark.parametrize(
    "said",
    [
        "Error: some/image: image not known",
        "docker: Error response from daemon: No such image: some/image",
        "Unable to find image 'some/image' locally",
    ],
)
def test_a_missing_image_names_the_pull(said: str) -> None:
    error = fault(["/usr/bin/podman", "run", "--rm"], "exit code 125", said.encode(), "some/image")
    assert str(error) == "the image some/image is not on this machine: podman pull some/image"


def test_other_faults_name_the_command_what_was_said_and_the_way_out() -> None:
    error = fault(["/usr/bin/docker", "run", "--rm"], "exit code 125", b"\n  broken \xff\nmore", "some/image")
    assert str(error) == (
        "docker run failed (exit code 125): broken \ufffd; see whether this works: docker run --rm some/image true"
    )
    assert "no message" in str(fault(["docker", "run"], "timeout", b"", "i"))


def test_bounds_that_do_not_hold_are_no_sandbox() -> None:
    check_bounds(b"35\n536870912\n")
    for printed in (b"max\n536870912\n", b"35\nmax\n", b"", b"35\n"):
        with pytest.raises(SandboxError, match="cgroup v2"):
            check_bounds(printed)


def test_only_containers_of_dead_trainers_are_abandoned() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    names = [f"rlsh-{gone.pid}-0a", f"rlsh-{os.getpid()}-0b", "rlsh-1-0c", "rlsh-0-0d", "rlsh-x-0e", "postgres", ""]
    listing = "\n".join([*names, f"my-rlsh-{gone.pid}-0f", f"rlsh-{gone.pid}-0g", f"rlsh-{gone.pid}9999999999999-0a"])
    assert abandoned(listing) == [f"rlsh-{gone.pid}-0a"]
    assert abandoned("rlsh-9999999999-0a\r\n") == ["rlsh-9999999999-0a"]  # no such number can be a process


def test_a_trainer_of_another_user_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr("os.kill", refuse)
    assert abandoned("rlsh-12345-0a") == []


# --- a tree as a tar archive -----------------------------------------------------------------------------------


def archive(*members: tuple[str, bytes], content: bytes = b"", **fields: object) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, kind in members:
            info = tarfile.TarInfo(name)
            info.type, info.size = kind, len(content)
            for field, value in fields.items():
                setattr(info, field, value)
            tar.addfile(info, io.BytesIO(content))
    return data.getvalue()


def unprivileged(script: str, folder: Path, stdin: bytes = b"") -> bytes:
    """What a script of ours prints when it runs in `folder`, as in a container not as root and with any umask."""
    user = {}
    if os.geteuid() == 0:
        os.chown(folder, 1000, 1000)
        user = {"user": 1000, "group": 1000, "extra_groups": []}
    argv = ["bash", "-c", script]
    run = subprocess.run(argv, cwd=folder, input=stdin, stdout=subprocess.PIPE, check=True, umask=0o077, **user)  # type: ignore[call-overload]
    return bytes(run.stdout)


ODD: Tree = {
    "a": Entry(b"A", 0o4755),
    "b\n\udcff\\n": Entry(b"\0\xff", 0o400),
    "d": Entry(mode=0o500, kind="dir"),
    "d/" + "e" * 200: Entry(mode=0o700, kind="dir"),
    "l": Entry(b"/etc/\xff", 0o777, "link"),
    "-x": Entry(),
}


def test_trees_survive_the_archive() -> None:
    assert decode_tree(encode_tree(ODD, LIMITS), LIMITS) == ODD
    implied = decode_tree(encode_tree({"./x//y/z": Entry(b"Z")}, LIMITS), LIMITS)
    assert implied == {
        "x": Entry(mode=0o755, kind="dir"), "x/y": Entry(mode=0o755, kind="dir"), "x/y/z": Entry(b"Z")
    }  # fmt: skip


def test_archives_are_gnu_tars(tmp_path: Path) -> None:
    """What our scripts say to tar, said to the tar of this machine."""
    unprivileged(container.FILL.partition("\n")[2], tmp_path, encode_tree(ODD, LIMITS))
    times = {path.lstat().st_mtime for path in tmp_path.rglob("*")}
    assert times == {1_767_225_600}
    os.link(tmp_path / "a", tmp_path / "hard")
    os.mkfifo(tmp_path / "fifo")
    packed = unprivileged(f"{container.PACK} .", tmp_path)
    assert decode_tree(packed, LIMITS) == {**ODD, "hard": ODD["a"]}


def test_a_written_file_has_the_fixtures_mode(tmp_path: Path) -> None:
    unprivileged(container.WRITE.replace("$1", "new"), tmp_path, b"x")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o644


def test_locked_folders_do_not_survive_the_sweep(tmp_path: Path) -> None:
    for name in ("tmp", "shm"):
        unprivileged(f"mkdir -p {name}/x/y; touch {name}/x/y/z; chmod 0 {name}/x/y {name}/x", tmp_path)
    sweep = container.SWEEP.splitlines()[-1]
    assert "kill" not in sweep
    unprivileged(sweep.replace("/tmp", "./tmp").replace("/dev/shm", "./shm"), tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["shm", "tmp"]


@pytest.mark.parametrize(
    "files",
    [
        {"/abs": Entry()},
        {"../up": Entry()},
        {"\ud800": Entry()},
        {"a": Entry(), "a/b": Entry()},
        {"a": Entry(), "./a": Entry()},
        {"out": Entry(b"/tmp", kind="link"), "out/f": Entry()},
        {"l": Entry(kind="link")},
        {"l": Entry(b"a\0b", kind="link")},
        {"big": Entry(bytes((1 << 20) + 1))},
        {f"f{i}": Entry(bytes(1 << 20)) for i in range(3)},
        {f"f{i}": Entry() for i in range(40)},
    ],
    ids="absolute up surrogate conflict twice through-link no-target nul file-size size inodes".split(),
)
def test_impossible_fixtures_are_the_callers_fault(files: Tree) -> None:
    with pytest.raises(WorkspaceError):
        encode_tree(files, LIMITS)


def test_fixtures_may_fill_the_limits() -> None:
    assert len(decode_tree(encode_tree({f"f{i}": Entry() for i in range(39)}, LIMITS), LIMITS)) == 39
    assert decode_tree(encode_tree({f"f{i}": Entry(bytes(1 << 20)) for i in range(2)}, LIMITS), LIMITS)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (archive(("/etc/passwd", tarfile.REGTYPE)), "not a path inside"),
        (archive(("a/../../b", tarfile.REGTYPE)), "not a path inside"),
        (archive(("a", tarfile.LNKTYPE), linkname="b"), "is of type"),
        (archive(("a", tarfile.CONTTYPE)), "is of type"),
        (archive(*((f"f{i}", tarfile.REGTYPE) for i in range(3)), content=bytes(1 << 20)), "holds more than 2097152"),
        (b"no archive at all" * 100, "cannot be read"),
        (archive(("a", tarfile.REGTYPE), content=b"x" * 2000)[:1024], "cannot be read"),
    ],
    ids="absolute up hardlink contiguous size garbage truncated".split(),
)
def test_odd_archives_are_refused(data: bytes, why: str) -> None:
    with pytest.raises(WorkspaceError, match=why):
        decode_tree(data, LIMITS)


def test_a_sparse_members_real_size_is_not_believed() -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("a")
        info.size = len(content := b"1\n0\n1\n".ljust(512, b"\0") + b"x")
        info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 20)}
        tar.addfile(info, io.BytesIO(content))
    with pytest.raises(WorkspaceError, match="is of type"):
        decode_tree(data.getvalue(), LIMITS)


def test_fifos_and_devices_are_left_out() -> None:
    kinds = [("./", tarfile.DIRTYPE), ("f", tarfile.FIFOTYPE), ("c", tarfile.CHRTYPE), ("b", tarfile.BLKTYPE)]
    assert decode_tree(archive(*kinds, ("./a", tarfile.REGTYPE)), LIMITS) == {"a": Entry()}


@given(st.binary(max_size=600), st.integers(0, 1500))
def test_a_damaged_archive_is_a_workspace_error_or_a_tree(junk: bytes, where: int) -> None:
    whole = bytearray(encode_tree(ODD, LIMITS))
    whole[where : where + len(junk)] = junk
    with contextlib.suppress(WorkspaceError):
        decode_tree(bytes(whole), LIMITS)


@pytest.mark.parametrize(
    ("path", "missing", "error", "why"),
    [
        ("nosuch", True, WorkspaceFileNotFoundError, "does not exist"),
        ("d/nosuch", True, WorkspaceFileNotFoundError, "does not exist"),
        ("l/x", True, WorkspaceError, "links are not followed"),
        ("a/x", False, WorkspaceError, "not a directory"),
        ("l", False, WorkspaceError, "not a regular file"),
        ("d", False, WorkspaceError, "not a regular file"),
        ("fifo", False, WorkspaceError, "not a regular file"),
        ("../a", False, WorkspaceError, "not a path inside"),
    ],
)
def test_regular_file_tells_what_is_wrong(path: str, missing: bool, error: type[Exception], why: str) -> None:
    tree = {"a": Entry(b"A"), "d": Entry(kind="dir"), "l": Entry(b"d", kind="link"), "l/x": Entry(b"outside")}
    with pytest.raises(WorkspaceError, match=why) as caught:
        regular_file(tree, path, missing)
    assert type(caught.value) is error
    assert regular_file(tree, "./a", missing=False) == b"A"


# --- streams ---------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=20), max_size=8), st.integers(0, 60))
def test_whole_keeps_no_more_than_its_cap_and_one(chunks: list[bytes], cap: int) -> None:
    sink, everything = Whole(cap), b"".join(chunks)
    for chunk in chunks:
        sink.feed(chunk)
    assert sink.value() == everything[: cap + 1]
    assert sink.flooded == (len(everything) > cap)


@given(st.lists(st.sampled_from([b"", b"engine ", b"\0", b"candidate", b"a\0b"]), max_size=6))
def test_the_engines_words_end_at_the_first_nul(chunks: list[bytes]) -> None:
    inner = Whole(1000)
    sink, (words, mark, rest) = AfterStart(inner), b"".join(chunks).partition(b"\0")
    for chunk in chunks:
        sink.feed(chunk)
    assert (sink.words.value(), sink.started, inner.value()) == (words, bool(mark), rest)


def test_a_flood_is_noticed_on_either_side_of_the_mark() -> None:
    sink = AfterStart(Whole(10))
    sink.feed(bytes(1) + b"x" * 11)
    assert sink.flooded
    sink = AfterStart(Whole(10))
    sink.feed(b"x" * (container.CHUNK + 1))
    assert sink.flooded


def talk(script: str, stdin: bytes = b"", wall_s: float = 30, cap: int = 1 << 20) -> tuple[int, str, bytes, bytes]:
    out, err = Whole(cap), Whole(cap)
    return (*converse(["bash", "-c", script], stdin, out, err, wall_s), out.value(), err.value())


def test_converse_returns_both_streams_and_the_code() -> None:
    assert talk("echo out; echo err >&2; exit 3") == (3, "exit", b"out\n", b"err\n")
    assert talk("cat") == (0, "exit", b"", b"")  # no standard input: it ends at once
    big = os.urandom(1 << 19)
    assert talk("cat", big) == (0, "exit", big, b"")
    assert talk("exec <&-; sleep 0.1; echo read nothing", big) == (0, "exit", b"read nothing\n", b"")


def test_converse_kills_what_takes_too_long_or_says_too_much() -> None:
    mark = f"1000.{os.getpid()}"
    assert talk(f"echo begun; exec sleep {mark}", wall_s=0.5) == (137, "timeout", b"begun\n", b"")
    assert talk(f"exec >&- 2>&-; exec sleep {mark}", wall_s=0.5) == (137, "timeout", b"", b"")
    assert talk(f"yes; sleep {mark}", cap=100) == (137, "flood", b"y\n" * 50 + b"y", b"")
    reads_a_little = f"head -c 9000 >/dev/null; exec sleep {mark}"
    assert talk(reads_a_little, os.urandom(1 << 19), wall_s=0.5)[:2] == (137, "timeout")
    assert not running(mark)


def test_converse_says_that_an_engine_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"nosuch cannot be started: No such file"):
        converse([str(tmp_path / "nosuch")], b"", Whole(1), Whole(1), 1)


def test_converse_keeps_secrets_from_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLSH_CANARY", "tell-nobody")
    assert b"tell-nobody" not in talk("env")[2]


# --- the flow --------------------------------------------------------------------------------------------------


def test_a_workspace_from_open_to_close(engine: Path) -> None:
    with ContainerSandbox(engine, "my/image") as sandbox, sandbox.open(FILES, LIMITS) as work:
        assert "my/image" in calls(engine, "run")[0]
        assert work.exec("cat a l; echo err >&2; exit 3") == ExecResult(b"AB", b"err\n", 3)
        assert work.exec("pwd; stat -c %y a d .").stdout.splitlines()[1:] == [
            b"2026-01-01 00:00:00.000000000 +0000"
        ] * 3  # fmt: skip
        assert (work.read("a"), work.read("./d/b")) == (b"A", b"B")
        work.write("d/b", b"B2")
        work.write("d/new", b"")
        tree = work.export()
        assert tree == {
            **FILES, "d": Entry(mode=0o755, kind="dir"), "d/b": Entry(b"B2", 0o750), "d/new": Entry(b"", 0o644)
        }  # fmt: skip
        assert len(containers(engine)) == 1
    assert containers(engine) == []


def test_candidates_see_the_allow_list_and_no_input(work: ContainerWorkspace) -> None:
    seen = work.exec("env | sort | cut -d= -f1; cat; ulimit -v").stdout.split()
    wanted = "HOME LANG LC_ALL PATH PWD SHELL SHLVL TERM TZ USER _ 262144"
    assert [word.decode() for word in seen] == wanted.split()


def test_tools_come_last_on_the_path(engine: Path, tmp_path: Path) -> None:
    tools = tmp_path / "mine"
    tools.mkdir()
    for name in ("tidy", "ls"):
        (tools / name).write_text("#!/bin/sh\necho mine\n")
        (tools / name).chmod(0o755)
    with ContainerSandbox(engine, tools=[tools]) as sandbox, sandbox.open(FILES, LIMITS) as work:
        assert sandbox.tools == (tools,)
        assert work.exec("tidy; ls; echo $PATH").stdout.decode().splitlines() == [
            "mine", "a", "d", "l", f"/usr/local/bin:/usr/bin:/bin:{engine.parent}/{work.name}/opt/tools/mine"
        ]  # fmt: skip
    with ContainerSandbox(engine) as sandbox, sandbox.open(FILES, LIMITS) as work:
        assert work.exec("tidy").exit_code == 127
    with pytest.raises(RlshError, match="is no folder"):
        ContainerSandbox(engine, tools=[tools / "tidy"])


def test_a_signal_is_told_by_the_code_alone(work: ContainerWorkspace) -> None:
    me = "$$"
    assert work.exec(f"k=ki; ${{k}}ll -SEGV {me}") == ExecResult(b"", b"", 139)


def test_output_is_cut_in_the_middle(docker: Path) -> None:
    limits = Limits(wall_s=30, output_bytes=10)
    with ContainerSandbox(docker) as sandbox, sandbox.open({}, limits) as work:
        result = work.exec("printf 0123456789abcdef; printf '\\0fedcba98765' >&2")
        assert result.stdout == b"01234\n[... 6 bytes left out ...]\nbcdef"
        assert result.stderr == b"\0fedc\n[... 2 bytes left out ...]\n98765"  # only the first NUL is ours


@pytest.mark.parametrize(("command", "why"), [("x" * (128 << 10), b"too long"), ("a\0b", b"NUL")])
def test_commands_that_cannot_be_passed_fail_as_bash_would(work: ContainerWorkspace, command: str, why: bytes) -> None:
    result = work.exec(command)
    assert (result.exit_code, why in result.stderr) == (126, True)


def test_nothing_outlives_its_command(work: ContainerWorkspace) -> None:
    mark = f"1000.{time.monotonic_ns()}"
    result = work.exec(f"sleep {mark} & setsid sleep {mark} & echo started")  # both hold the pipe: not for 30 s
    assert result == ExecResult(b"started\n", b"", 0)
    assert not running(mark)


def test_nothing_outlives_a_killed_waiting_shell(work: ContainerWorkspace) -> None:
    mark = f"1000.{time.monotonic_ns()}"
    result = work.exec(f"setsid sleep {mark} >/dev/null 2>&1 & k=ki; ${{k}}ll -9 $PPID $$")
    assert result.exit_code == 137
    assert eventually(lambda: not running(mark)) and not running(mark)
    assert work.exec("echo on").stdout == b"on\n"


def test_a_timeout_keeps_output_and_ends_everything(docker: Path) -> None:
    mark = f"1000.{time.monotonic_ns()}"
    with ContainerSandbox(docker) as sandbox, sandbox.open({}, Limits(wall_s=2)) as work:
        assert work.exec(f"echo begun; sleep {mark}") == ExecResult(b"begun\n", b"", 137, timed_out=True)
        assert not running(mark)
        assert work.exec("echo on").stdout == b"on\n"


def test_each_command_finds_tmp_empty(work: ContainerWorkspace) -> None:
    tmp = Path(work._engine).parent / work.name / "tmp"
    result = work.exec(f"mkdir -p {tmp}/x/y; touch {tmp}/x/y/z {tmp}/.h; ln -s {Path.cwd()} {tmp}/l; chmod 0 {tmp}/x")
    assert result.exit_code == 0
    assert list(tmp.iterdir()) == [] and Path.cwd().exists()


def test_a_locked_workspace_is_opened_again(work: ContainerWorkspace) -> None:
    assert work.exec("chmod 000 .").exit_code == 0
    assert work.exec("stat -c %a .").stdout == b"755\n"


# --- read, write, export ---------------------------------------------------------------------------------------


def test_read_and_write_follow_no_link(work: ContainerWorkspace) -> None:
    work.exec("ln -s /etc/passwd file; ln -s /etc dir; ln -s loop loop; mkfifo fifo; touch ./-x 'a\\nb'")
    for path in ("file", "dir/passwd", "dir/nosuch", "loop", "fifo", "d", "a/x", "/work/a", "../a"):
        for attempt in (lambda: work.read(path), lambda: work.write(path, b"x")):  # noqa: B023
            with pytest.raises(WorkspaceError) as caught:
                attempt()
            assert type(caught.value) is WorkspaceError, path
    assert work.exec("cat file").stdout.startswith(b"root:")  # the link itself leads somewhere, and is whole
    assert work.read("-x") == work.read("a\\nb") == b""
    for path in ("nosuch", "d/nosuch", "nosuch/x"):
        with pytest.raises(WorkspaceFileNotFoundError, match="does not exist"):
            work.read(path)
    with pytest.raises(WorkspaceFileNotFoundError, match="does not exist"):
        work.write("nosuch/x", b"")


def test_write_keeps_mode_and_hard_links_and_has_a_limit(work: ContainerWorkspace) -> None:
    work.exec("ln d/b hard")
    work.write("hard", b"new")
    assert work.exec("cat d/b; stat -c %a d/b").stdout == b"new750\n"
    with pytest.raises(WorkspaceError, match="a file may have 1048576"):
        work.write("a", bytes((1 << 20) + 1))
    assert work.read("a") == b"A"


def test_write_that_fails_is_a_workspace_error(work: ContainerWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "WRITE", "echo 'cat: write error: No space left on device' >&2; exit 1")
    with pytest.raises(WorkspaceError, match="'a' cannot be written: cat: write error: No space left"):
        work.write("a", b"x")


@pytest.mark.parametrize("command", ["truncate -s 3M f", "truncate -s 900K f; for i in 1 2; do ln f l$i; done"])
def test_export_is_capped_where_the_disk_is_not(work: ContainerWorkspace, command: str) -> None:
    assert work.exec(f"ulimit -f unlimited; {command}").exit_code == 0
    with pytest.raises(WorkspaceError, match="holds more than 2097152 bytes"):
        work.export()
    assert work.exec("echo on").stdout == b"on\n"


def test_export_that_tar_cannot_finish_is_refused(work: ContainerWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "PACK", "echo 'tar: ./x: Cannot open: Permission denied' >&2; exit 2;")
    with pytest.raises(WorkspaceError, match=r"cannot be exported: tar: \./x: Cannot open"):
        work.export()


# --- whose fault -----------------------------------------------------------------------------------------------


def test_fixtures_that_tar_refuses_are_the_callers_fault(docker: Path) -> None:
    with ContainerSandbox(docker) as sandbox, pytest.raises(WorkspaceError, match=r"cannot be laid out: tar: x+: "):
        sandbox.open({"x" * 300: Entry()}, LIMITS)
    assert containers(docker) == []


def test_a_missing_image_or_bound_is_the_hosts_fault(docker: Path) -> None:
    with ContainerSandbox(docker) as sandbox:
        (docker.parent / "no-image").write_text("Unable to find image 'i' locally")
        with pytest.raises(SandboxError, match=r"docker pull docker.io/library/debian:stable-slim"):
            sandbox.open({}, LIMITS)
        (docker.parent / "no-image").unlink()
        (docker.parent / "unbounded").touch()
        with pytest.raises(SandboxError, match="cgroup v2"):
            sandbox.open({}, LIMITS)
        assert containers(docker) == []


def test_an_image_without_tar_is_the_hosts_fault(docker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "FILL", container.FILL.replace("tar --extract", "no-tar-here --extract"))
    with ContainerSandbox(docker) as sandbox, pytest.raises(SandboxError, match=r"exit code 127.*no-tar-here"):
        sandbox.open({}, LIMITS)


def test_before_the_first_command_a_deaf_container_is_the_hosts_fault(work: ContainerWorkspace) -> None:
    (work._engine.parent / "deaf").touch()
    for attempt in (lambda: work.exec("true"), work.export, lambda: work.read("a")):
        with pytest.raises(SandboxError, match=r"docker exec failed \(exit code 125\): Error: OCI runtime"):
            attempt()


def test_a_container_that_the_candidate_broke_gains_it_nothing(work: ContainerWorkspace) -> None:
    assert work.exec("true").exit_code == 0
    (work._engine.parent / "deaf").touch()
    assert work.exec("echo never") == ExecResult(b"", b"", 137)
    assert containers(work._engine) == []  # nothing that could still run
    assert work.exec("true").exit_code == 137
    for attempt in (work.export, lambda: work.read("a"), lambda: work.write("a", b"")):
        with pytest.raises(WorkspaceError, match="does not answer since the candidate's command"):
            attempt()


def test_an_engine_that_is_gone_is_the_hosts_fault_at_any_time(work: ContainerWorkspace) -> None:
    assert work.exec("true").exit_code == 0
    (work._engine.parent / "down").touch()
    for attempt in (lambda: work.exec("true"), work.export):
        with pytest.raises(SandboxError, match="is the daemon running"):
            attempt()
    (work._engine.parent / "down").unlink()


@pytest.mark.parametrize("code", [125, 126, 127])
def test_an_engines_exit_code_is_not_believed_of_a_command(work: ContainerWorkspace, code: int) -> None:
    assert work.exec(f"echo 'Error: no such container' >&2; exit {code}").exit_code == code


def test_what_cannot_be_swept_costs_the_container(work: ContainerWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "SWEEP", "false")
    assert work.exec("echo out; exit 0") == ExecResult(b"out\n", b"", 137)
    assert containers(work._engine) == []


def test_a_sweep_that_hangs_costs_the_container(work: ContainerWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert work.exec("true").exit_code == 0
    mark = f"1000.{time.monotonic_ns()}"
    monkeypatch.setattr(container, "SWEEP", f"sleep {mark}")
    monkeypatch.setattr(container, "GRACE_S", 1.0)
    assert work.exec("echo out; exit 0") == ExecResult(b"out\n", b"", 137)
    assert containers(work._engine) == [] and eventually(lambda: not running(mark))


def test_a_container_that_hangs_before_the_first_command_is_the_hosts_fault(
    work: ContainerWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "PACK", "sleep 1000;")
    monkeypatch.setattr(container, "GRACE_S", 1.0)
    with pytest.raises(SandboxError, match=r"docker exec failed \(timeout\)"):
        work.read("a")


# --- the sandbox -----------------------------------------------------------------------------------------------


def test_a_closed_sandbox_leaves_and_opens_nothing(docker: Path) -> None:
    sandbox = ContainerSandbox(docker)
    first, second = (sandbox.open({}, LIMITS) for _ in range(2))
    assert first.name != second.name and len(containers(docker)) == 2
    sandbox.close()
    assert containers(docker) == []
    with pytest.raises(SandboxError, match="closed"):
        sandbox.open({}, LIMITS)
    first.close()  # again: nothing to do


def test_start_removes_what_dead_trainers_left(docker: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    for name in (f"rlsh-{gone.pid}-aa", f"rlsh-{os.getpid()}-bb", "other"):
        (docker.parent / name).mkdir()
    with ContainerSandbox(docker):
        assert [path.name for path in containers(docker)] == [f"rlsh-{os.getpid()}-bb"]
    told = calls(docker, "ps")
    assert told == [["ps", "--all", f"--filter=label=rlsh={socket.gethostname()}", "--format={{.Names}}"]]
    assert calls(docker, "rm") == [["rm", "--force", f"rlsh-{gone.pid}-aa"]]


def test_podman_comes_first_and_must_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'p'}:{tmp_path / 'd'}")
    docker = fake_engine(tmp_path / "d", "docker")
    assert find_engine() == docker
    podman = fake_engine(tmp_path / "p", "podman")
    assert find_engine() == podman
    (tmp_path / "p" / "down").touch()
    assert find_engine() == docker
    (tmp_path / "d" / "down").touch()
    with pytest.raises(SandboxError, match=r"podman version failed .*docker version failed .*apt install podman"):
        find_engine()


def test_no_engine_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=r"no podman on PATH; no docker on PATH\): apt install podman"):
        find_engine()
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(SandboxError, match=r"podman machine start; or start Docker Desktop"):
        find_engine()


# --- alive -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def live() -> Iterator[ContainerSandbox]:
    try:
        sandbox = ContainerSandbox(find_engine())
        sandbox.open({}, LIMITS).close()
    except SandboxError as error:
        pytest.skip(str(error))
    with sandbox:
        yield sandbox


def test_live_isolation(live: ContainerSandbox) -> None:
    probe = textwrap.dedent("""
        id -u; grep -c 'CapEff:.0000000000000000' /proc/self/status; grep -c 'NoNewPrivs:.1' /proc/self/status
        tail -n +2 /proc/net/route; (: >/usr/x || : >/x || : >/etc/x || : >/run/x || : >/var/tmp/x) 2>/dev/null
        echo $?; kill -9 1 2>/dev/null; echo $?; hostname; pwd; ulimit -v; ulimit -n
    """)
    with live.open(FILES, LIMITS) as work:
        assert work.exec(probe).stdout.decode().split() == "1000 1 1 1 1 sandbox /work 262144 64".split()
        assert work.export() == {**FILES, "d": Entry(mode=0o755, kind="dir")}
        assert work.exec("head -c 3M /dev/zero >big; (head -c 900K /dev/zero; cat big) >>big2").exit_code != 0


def test_live_nothing_is_left(live: ContainerSandbox) -> None:
    with live.open({}, LIMITS) as work:
        assert work.exec("for i in 1 2 3; do setsid sleep 1000 & done; touch /tmp/x /dev/shm/x; echo on").exit_code == 0
        assert work.exec("cat /proc/[0-9]*/comm | sort | uniq -c; ls /tmp /dev/shm").stdout.count(b"sleep") == 0
        assert work.exec("kill -9 $PPID").exit_code == 137
        assert work.exec("echo on").stdout == b"on\n"
