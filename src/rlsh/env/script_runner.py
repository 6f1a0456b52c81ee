"""What runs a test script in a sandbox of its own, where no code of the candidate's ever is. `script_check` passes
this text, after that of `tasks/values.py`, as one argument of `python3 -I -S -B -c`; imported it does nothing.

The function under test is a stand-in that looks answers up. They are plain values: nothing in them can compare equal
to everything, end this process or look into it. A call without an answer ends the run and is written down, so that
the candidate can be asked.
"""

# `values.py` stands in front of this text, so no `from __future__` can; Python 3.8 has to read this, too.

import builtins
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from rlsh.tasks.values import from_tagged, to_tagged

REQUEST = "request.json"
ASKED = 4  # exit code: the script has called the function in a way that has no answer yet


class CandidateError(Exception):
    """What the candidate raised, where that is none of Python's own errors."""


def raised(name: str) -> "Exception":
    """Only what `except Exception` catches: SystemExit would end the script before its assertions are made."""
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError):
        return kind()
    return CandidateError(name)


def stand_in(answers: "dict[str, Any]", report: "Callable[[Any, int], None]") -> "Callable[..., Any]":
    def function(*args: "Any", **kwargs: "Any") -> "Any":
        call = to_tagged((args, kwargs))
        key = json.dumps(call)
        if key not in answers:
            report({"ask": call}, ASKED)
        answer = answers[key]
        if "raised" in answer:
            raise raised(answer["raised"])
        return from_tagged(answer["value"])  # anew: what one assertion does to it, the next does not see

    return function


def main() -> None:
    with open(REQUEST, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes long to import
        request = json.load(file)
    results = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def report(what: "Any", code: int) -> None:
        os.write(results, json.dumps(what).encode())
        os._exit(code)  # whatever the script would do about an exception

    answers = {json.dumps(call): answer for call, answer in request["answers"]}
    if "random" in request["script"]:
        import random

        random.seed(0)  # the same calls in every round, and for everybody
    module = type(sys)("tests")
    module.__dict__[request["function"]] = stand_in(answers, report)
    try:
        exec(compile(request["script"], "tests", "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        report({"failed": type(error).__name__ + ": " + str(error)[:200]}, 1)
    report({}, 0)


if __name__ == "__main__":
    main()
