"""The verdict on an exported task, inside a container where rlsh is not installed. `harbor` writes this text, behind
that of `tasks/values.py`, to `tests/verify.py`; imported it does nothing.

    python3 -I verify.py RECORD WORKDIR ANSWER      prints 1 if every check of the record passes, else 0

What was answered runs in folders of its own, as nobody where this runs as root, so that it can neither read the record
nor touch this process. It is no more than that: in the same container, on the same kernel, after whatever the agent
did to the system, Python itself included. rlsh's own verdict is made in a fresh sandbox.
"""

# `values.py` stands in front of this text, so no `from __future__` can.

import base64
import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlsh.tasks.values import from_tagged, same

NOBODY = 65534
SECONDS = 10.0
FIXTURE_S = 1_767_225_600  # 2026-01-01 UTC, as in the sandbox that recorded
LINE_BYTES, MAX_CASES, MAX_NEW_CALLS, ASKED = 1 << 17, 100, 8, 4  # as in rlsh
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "SHELL": "/bin/bash",
    "TERM": "dumb",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}

Node = tuple[str, int, bytes]  # kind, mode, content


def content_of(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["base64"])


def tree_of(value: dict[str, Any]) -> dict[str, Node]:
    return {path: (entry["kind"], entry["mode"], content_of(entry)) for path, entry in value.items()}


def read(folder: Path) -> dict[str, Node]:
    found = {}
    for path in folder.rglob("*"):
        info = path.lstat()
        name, mode = path.relative_to(folder).as_posix(), stat.S_IMODE(info.st_mode)
        if stat.S_ISLNK(info.st_mode):
            found[name] = ("link", mode, os.fsencode(path.readlink()))
        elif stat.S_ISDIR(info.st_mode):
            found[name] = ("dir", mode, b"")
        elif stat.S_ISREG(info.st_mode):
            found[name] = ("file", mode, path.read_bytes())
    return found


def place(tree: dict[str, Node], folder: Path) -> None:
    """Lays `tree` into an empty folder, everything of one time and nobody's."""
    for name, (kind, _, content) in sorted(tree.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            path.symlink_to(os.fsdecode(content))
        elif kind == "dir":
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(content)
    for path in [*sorted(folder.rglob("*"), reverse=True), folder]:  # folders last: filling them touches them
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        kind, mode, _ = tree.get(path.relative_to(folder).as_posix(), ("dir", 0o755, b""))
        if kind != "link":
            path.chmod(mode)
        os.utime(path, (FIXTURE_S, FIXTURE_S), follow_symlinks=False)


def run(tree: dict[str, Node], argv: list[str]) -> tuple[int, bytes, dict[str, Node]]:
    """Exit code (-1: out of time), stdout and the tree afterwards, of a command in a new folder that holds `tree`."""
    folder = Path(tempfile.mkdtemp())
    user: Any = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        place(tree, folder)
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, umask=0o022,
                env={**ENVIRONMENT, "HOME": str(folder)}, start_new_session=True, **user,
            )  # fmt: skip
            try:
                code = process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                code = -1
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            output.seek(0)
            return (128 - code if code < -1 else code), output.read(), read(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def python(name: str, *arguments: str) -> list[str]:
    """A driver that lies beside this file, as text: nobody may not read what is there."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [sys.executable, "-I", "-S", "-B", "-c", text, *arguments]


def shell_passes(check: Any, left: dict[str, Node], answer: str) -> bool:
    files, command, given = tree_of(check["files"]), check["run"], check["script"] or answer
    if given not in left or left[given][0] != "file":
        return False
    if check["script"]:
        files[given] = left[given]
    else:
        command = left[given][2].decode()
    code, stdout, tree = run(files, ["bash", "--norc", "--noprofile", "-c", command])
    tree.pop(check["script"], None)
    return (
        code == check["exit_code"]
        and ("stdout" not in check["compare"] or stdout == content_of(check["stdout"]))
        and ("tree" not in check["compare"] or tree == tree_of(check["tree"]))
    )


def answers(check: Any, calls: list[Any], returns: str, left: dict[str, Node]) -> list[Any] | None:
    """What the function answers to tagged calls, as JSON; None where some have no answer."""
    entry = left.get(check["file"])
    if entry is None or entry[0] != "file":
        return None
    request = {"file": check["file"], "function": check["function"], "returns": returns, "cases": calls}
    code, stdout, _ = run({check["file"]: entry}, python("call.py", json.dumps({**request, "line_bytes": LINE_BYTES})))
    *lines, rest = stdout.split(b"\n")
    if code != 0 or rest or len(lines) != len(calls):
        return None
    return [json.loads(line.decode("ascii")) for line in lines]


def python_passes(check: Any, left: dict[str, Node]) -> bool:
    # arguments are stored one by one and passed as one value, which holds a dict as pairs
    calls = [
        {"tuple": [{"tuple": case["args"]}, {"dict": [[name, value] for name, value in case["kwargs"].items()]}]}
        for case in check["cases"]
    ]
    given = answers(check, calls, check["returns"], left)
    return given is not None and all(
        agree(case["expected"], answer, check["tolerance"]) for case, answer in zip(check["cases"], given, strict=True)
    )


def agree(expected: Any, answer: Any, tolerance: Any) -> bool:
    if "value" not in expected:
        return bool(expected == answer)
    return list(answer) == ["value"] and same(from_tagged(expected["value"]), from_tagged(answer["value"]), tolerance)


def script_passes(check: Any, left: dict[str, Node]) -> bool:
    known: list[Any] = []
    waiting = check["calls"]
    for _ in range(MAX_NEW_CALLS + 1):
        for start in range(0, len(waiting), MAX_CASES):
            some = waiting[start : start + MAX_CASES]
            given = answers(check, some, "value", left)
            if given is None or not all(answer.keys() <= {"value", "raised"} for answer in given):
                return False
            known += zip(some, given, strict=True)
        request = {"function": check["function"], "script": check["script"], "answers": known}
        code, stdout, _ = run({"request.json": ("file", 0o644, json.dumps(request).encode())}, python("script.py"))
        if code != ASKED:
            return code == 0
        waiting = [json.loads(stdout)["ask"]]
    return False


def passes(check: Any, left: dict[str, Node], answer: str) -> bool:
    if check["kind"] == "shell":
        return shell_passes(check, left, answer)
    if check["kind"] == "workspace":
        return {path: entry for path, entry in left.items() if path != answer} == tree_of(check["tree"])
    return python_passes(check, left) if check["kind"] == "python" else script_passes(check, left)


def main() -> None:
    record, workdir, answer = sys.argv[1:]
    checks = json.loads(Path(record).read_text(encoding="utf-8"))["checks"]
    run({}, [sys.executable, "-c", ""])  # what cannot be done here is no fault of the answer's: no reward at all
    left = read(Path(workdir))
    try:
        passed = all(passes(check, left, answer) for check in checks)
    except (ValueError, OSError, KeyError, RecursionError) as error:  # an answer that is none
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        passed = False
    print(int(passed))


if __name__ == "__main__":
    main()
