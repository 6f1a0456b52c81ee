"""What a task is judged by: kept on the host's side, as JSON in its file. `env/verify.py` judges.

A check holds a specification (inputs, second fixtures, what is compared) and what the reference did with it, which
is recorded by running it. `unrecorded` leaves the specification alone, so that a hash of it is the same wherever a
task is drawn.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, get_args

from rlsh.tasks.tree_json import bytes_from_json, bytes_to_json, tree_from_json, tree_to_json
from rlsh.tasks.values import from_tagged, to_tagged
from rlsh.types import Tree

Compare = Literal["stdout", "tree"]
Returns = Literal["value", "arguments", "items"]

MAX_CASES = 100
LINE_BYTES = 1 << 17  # of one answer; with MAX_CASES below what stops a sandbox's stream
INPUT_BYTES = 100_000  # of all inputs of a check, quoted: they go into one argument, of which Linux takes 128 KiB
PYTHON_FILE = re.compile(r"(\w[\w.-]*/)*\w[\w.-]*\.py", re.ASCII)


@dataclass(frozen=True)
class ShellCheck:
    """The answer is run again on `files`, which nobody has seen, and has to do there what the reference did.

    The answer is the last command; with `script`, it is that file of the workspace, laid over `files` and run by
    `run`. Exit codes are always compared. Raises ValueError where nothing else is: an exit code alone is no pass.
    """

    files: Tree
    compare: tuple[Compare, ...] = ("stdout", "tree")
    script: str = ""
    run: str = ""
    stdout: bytes = b""
    exit_code: int = 0
    tree: Tree = field(default_factory=dict)  # without `script`

    def __post_init__(self) -> None:
        if not self.compare:
            raise ValueError("compare must not be empty")
        if bool(self.script) != bool(self.run):
            raise ValueError("script and run belong together")

    @property
    def summary(self) -> str:
        return f"exit code, {', '.join(self.compare)} on other files" + (f", of: {self.run}" if self.run else "")

    def unrecorded(self) -> Self:
        return replace(self, stdout=b"", exit_code=0, tree={})

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "shell",
            "files": tree_to_json(self.files),
            "compare": list(self.compare),
            "script": self.script,
            "run": self.run,
            "stdout": bytes_to_json(self.stdout),
            "exit_code": self.exit_code,
            "tree": tree_to_json(self.tree),
        }

    @staticmethod
    def from_json(value: Any) -> ShellCheck:
        files, compare, script, run, stdout, exit_code, tree = fields_of(
            value, files=dict, compare=list, script=str, run=str, stdout=dict, exit_code=int, tree=dict
        )
        compared = tuple(one_of(item, get_args(Compare), "compare") for item in compare)
        return ShellCheck(
            tree_from_json(files), compared, script, run, bytes_from_json(stdout), exit_code, tree_from_json(tree)
        )


@dataclass(frozen=True)
class WorkspaceCheck:
    """The workspace has to end as the reference left it: for what takes several commands.

    Weaker than a ShellCheck, since whoever answers has seen all that it is judged by.
    """

    tree: Tree = field(default_factory=dict)

    @property
    def summary(self) -> str:
        return "workspace"

    def unrecorded(self) -> Self:
        return replace(self, tree={})

    def to_json(self) -> dict[str, Any]:
        return {"kind": "workspace", "tree": tree_to_json(self.tree)}

    @staticmethod
    def from_json(value: Any) -> WorkspaceCheck:
        (tree,) = fields_of(value, tree=dict)
        return WorkspaceCheck(tree_from_json(tree))


@dataclass(frozen=True)
class Raised:
    """The call ended in an exception of this type's name."""

    type: str


@dataclass(frozen=True)
class Case:
    """One call. `expected` is a plain value or `Raised`.

    Where the check returns arguments it is a pair: the value, and the tuple of positional arguments after the call.
    """

    args: tuple[object, ...]
    kwargs: Mapping[str, object] = field(default_factory=dict)
    expected: object = None


@dataclass(frozen=True)
class PythonCheck:
    """What `function` of `file` has to return, and with `returns="arguments"` to leave of its arguments.

    With `returns="items"` it is the list of what the returned value yields: a generator itself is no plain data.
    Raises ValueError where a field is not what it has to be, a value is no plain data, or the inputs are too large
    for one command line.
    """

    file: str
    function: str
    cases: tuple[Case, ...]
    tolerance: float | None = None  # see `values.same`
    returns: Returns = "value"

    def __post_init__(self) -> None:
        if not PYTHON_FILE.fullmatch(self.file):
            raise ValueError(f"file = {self.file!r} is not the relative path of a Python file")
        if not self.function.isidentifier():
            raise ValueError(f"function = {self.function!r} is not a name")
        if not 1 <= len(self.cases) <= MAX_CASES:
            raise ValueError(f"{len(self.cases)} cases: a check has 1 to {MAX_CASES}")
        one_of(self.returns, get_args(Returns), "returns")
        if self.tolerance is not None and not (type(self.tolerance) is float and 0.0 < self.tolerance < 1.0):
            raise ValueError(f"tolerance = {self.tolerance!r} is neither null nor a float between 0 and 1")
        for case in self.cases:
            if type(case.args) is not tuple or not all(type(name) is str for name in case.kwargs):
                raise ValueError(f"{case!r:.80} has arguments that no call has")
            if len(json.dumps(expected_to_json(case.expected))) >= LINE_BYTES:
                raise ValueError(f"an expected value does not fit into {LINE_BYTES} bytes")
        if len(shlex.quote(json.dumps(self.inputs()))) > INPUT_BYTES:
            raise ValueError(f"the inputs do not fit into {INPUT_BYTES} bytes: take smaller ones or fewer cases")

    @property
    def summary(self) -> str:
        return f"{self.returns} of {len(self.cases)} calls of {self.function} in {self.file}"

    def inputs(self) -> list[Any]:
        """Arguments of every case as tagged values. No expected value is in them."""
        return [to_tagged((case.args, dict(case.kwargs))) for case in self.cases]

    def unrecorded(self) -> Self:
        return replace(self, cases=tuple(replace(case, expected=None) for case in self.cases))

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "python",
            "file": self.file,
            "function": self.function,
            "returns": self.returns,
            "tolerance": self.tolerance,
            "cases": [
                {
                    "args": [to_tagged(value) for value in case.args],
                    "kwargs": {name: to_tagged(value) for name, value in case.kwargs.items()},
                    "expected": expected_to_json(case.expected),
                }
                for case in self.cases
            ],
        }

    @staticmethod
    def from_json(value: Any) -> PythonCheck:
        file, function, returns, tolerance, cases = fields_of(
            value, file=str, function=str, returns=str, tolerance=float | None, cases=list
        )
        return PythonCheck(file, function, tuple(map(case_from_json, cases)), tolerance, returns)


@dataclass(frozen=True)
class ScriptCheck:
    """Test code has to come to its end, with a stand-in that gives it the answers of `function` of `file`.

    Weaker than a PythonCheck: an assertion may hold for more than one value, and nobody has read which. `calls`, the
    arguments that the script passes when the reference answers, are recorded. Raises ValueError where a field is not
    what it has to be or an argument is no plain data.
    """

    file: str
    function: str
    script: str
    calls: tuple[Case, ...] = ()  # without expected values

    def __post_init__(self) -> None:
        if not PYTHON_FILE.fullmatch(self.file):
            raise ValueError(f"file = {self.file!r} is not the relative path of a Python file")
        if not self.function.isidentifier():
            raise ValueError(f"function = {self.function!r} is not a name")
        if self.function not in self.script:
            raise ValueError(f"the script does not mention {self.function}")

    @property
    def summary(self) -> str:
        lines = len(self.script.splitlines())
        return f"weaker check: {lines} lines of tests that call {self.function} in {self.file}"

    def unrecorded(self) -> Self:
        return replace(self, calls=())

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "script",
            "file": self.file,
            "function": self.function,
            "script": self.script,
            "calls": [to_tagged((case.args, dict(case.kwargs))) for case in self.calls],
        }

    @staticmethod
    def from_json(value: Any) -> ScriptCheck:
        file, function, script, calls = fields_of(value, file=str, function=str, script=str, calls=list)
        return ScriptCheck(file, function, script, tuple(map(call_from_tagged, calls)))


Check = ShellCheck | WorkspaceCheck | PythonCheck | ScriptCheck
READERS: dict[str, Callable[[Any], Check]] = {
    "shell": ShellCheck.from_json,
    "workspace": WorkspaceCheck.from_json,
    "python": PythonCheck.from_json,
    "script": ScriptCheck.from_json,
}


def check_from_json(value: Any) -> Check:
    """Raises ValueError on anything else than a check's `to_json` gives; KeyError or TypeError where a tree is none."""
    if not isinstance(value, dict) or "kind" not in value:
        raise ValueError(f"{value!r:.60} is no check: it has no kind")
    content = dict(value)
    return READERS[one_of(content.pop("kind"), tuple(READERS), "kind")](content)


def fields_of(value: Any, **types: Any) -> list[Any]:
    """The values of an object that has exactly these keys, each of its type."""
    if not isinstance(value, dict) or value.keys() != types.keys():
        raise ValueError(f"{value!r:.60} is not an object with the keys {', '.join(types)}")
    for name, kind in types.items():
        if not isinstance(value[name], kind):
            raise ValueError(f"{name} = {value[name]!r:.40} is of a wrong type")
    return [value[name] for name in types]


def case_from_json(value: Any) -> Case:
    args, kwargs, expected = fields_of(value, args=list, kwargs=dict, expected=dict)
    inputs = {name: from_tagged(item) for name, item in kwargs.items()}
    return Case(tuple(map(from_tagged, args)), inputs, expected_from_json(expected))


def call_from_tagged(tagged: Any) -> Case:
    """The call that `to_tagged((args, kwargs))` made `tagged` of. Raises ValueError where there is none."""
    match from_tagged(tagged):
        case (tuple(args), dict(kwargs)) if all(type(name) is str for name in kwargs):
            return Case(args, kwargs)
    raise ValueError(f"{tagged!r:.60} are no arguments of a call")


def one_of(value: Any, allowed: tuple[str, ...], key: str) -> Any:
    if value not in allowed:
        raise ValueError(f"{key} = {value!r} is none of {', '.join(allowed)}")
    return value


def expected_to_json(expected: object) -> dict[str, Any]:
    return {"raised": expected.type} if isinstance(expected, Raised) else {"value": to_tagged(expected)}


def expected_from_json(value: Any) -> object:
    if type(value) is not dict or len(value) != 1 or not value.keys() <= {"value", "raised"}:
        raise ValueError(f"{value!r:.60} is neither a value nor raised")
    if "value" in value:
        return from_tagged(value["value"])
    if type(value["raised"]) is not str:
        raise ValueError(f"raised = {value['raised']!r:.40} is no name")
    return Raised(value["raised"])
