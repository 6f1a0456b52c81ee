"""What calls the candidate's function, inside the candidate's sandbox. `python_check` passes this text, after that of
`tasks/values.py`, as one argument of `python3 -I -S -B -c`; imported it does nothing.

An argument instead of a file, so that the workspace holds the candidate's source and nothing else: no name of ours to
collide with, no file of ours to rewrite. `-I -S -B` keep the working directory, the environment and site-packages out
of the imports, so that a `json.py` beside the source is never found, and leave no byte code behind.

Nothing here is trusted. The candidate's code can rewrite this process and write to its output what it likes: a line
says what the function returned, and whoever can write the line that passes had to know the value that the function
could have returned as well. Expected values are elsewhere, and the other side reads every line as hostile. What this
file does provide is that honest answers are read as they are: each case starts anew, in a process of its own.
"""

# `values.py` stands in front of this text, so no `from __future__` can; Python 3.8 has to read this, too.

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rlsh.tasks.values import from_tagged, to_tagged

NO_ANSWER = 3  # exit code
# Slow to import: loaded once if the source mentions them, so that not every case has to. They are the system's.
COMMON = "collections dataclasses datetime decimal fractions functools itertools random statistics typing".split()


def compiled(source: bytes, path: str) -> "Any":
    """Code, or the exception that says why there is none. Made once: in every child it would take 2 ms."""
    try:
        return compile(source, path, "exec", dont_inherit=True)  # our `from __future__` is not theirs
    except Exception as error:
        return error


def load(code: "Any", path: str, name: str) -> "Any":
    """The function `name` of a new module. Its module name is fixed: were it the file's, `json.py` would be json."""
    if isinstance(code, Exception):
        raise code
    module = type(sys)("candidate")
    module.__file__ = path
    sys.modules["candidate"] = module  # dataclasses look their module up
    exec(code, module.__dict__)
    return module.__dict__[name]


def answer(request: "Any", code: "Any", args: "Any", kwargs: "Any") -> "dict[str, Any]":
    """One key: value, raised (the exception's type), unloadable (as well), or unreadable (why).

    Every exception is an answer, SystemExit and KeyboardInterrupt too: hence BaseException.
    """
    try:
        function = load(code, request["file"], request["function"])
    except BaseException as error:
        return {"unloadable": type(error).__name__}
    try:
        value = function(*args, **kwargs)
        if request["returns"] == "items":
            value = list(value)
    except BaseException as error:
        return {"raised": type(error).__name__}
    try:
        return {"value": to_tagged((value, args) if request["returns"] == "arguments" else value)}
    except BaseException as error:  # out of memory, a list that changes while it is read
        return {"unreadable": str(error) or type(error).__name__}


def run_case(request: "Any", code: "Any", case: "Any", results: int) -> None:
    """In the forked child: write one line. Whatever else happens, it ends here."""
    try:
        os.dup2(1, 2)
        args, kwargs = from_tagged(case)
        line = json.dumps(answer(request, code, args, kwargs)).encode() + b"\n"
        if len(line) > request["line_bytes"]:
            line = json.dumps({"unreadable": f"longer than {request['line_bytes']} bytes"}).encode() + b"\n"
        while line:
            line = line[os.write(results, line) :]
        os._exit(0)
    finally:
        os._exit(NO_ANSWER)


def main() -> None:
    request = json.loads(sys.argv[1])
    with open(request["file"], "rb") as file:  # noqa: PTH123 - pathlib takes long to import
        source = file.read()  # once: a case cannot edit it for the next
    code = compiled(source, request["file"])
    results = os.dup(1)  # what the function prints is nobody's business
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for name in COMMON:
        if name.encode() in source:
            __import__(name)
    for case in request["cases"]:
        pid = os.fork()
        if pid == 0:
            run_case(request, code, case, results)
        status = os.waitpid(pid, 0)[1]
        if status:  # one case without an answer decides
            os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else NO_ANSWER)
    os._exit(0)


if __name__ == "__main__":
    main()
