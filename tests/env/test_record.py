"""Sessions as a terminal shows them."""

import pytest

from rlsh.env.record import record_session
from rlsh.sandbox.base import Limits, SandboxError
from rlsh.tasks.sessions import Session, Use, session
from rlsh.tasks.world import text

LIMITS = Limits(wall_s=3.0)


def test_outputs_are_real_and_commands_share_the_folder(sandbox):
    played = Session(
        {"a.txt": text("b", "a")},
        (
            Use("Sort it.", "sort a.txt"),
            Use("", "srot a.txt"),
            Use("Add a line.", "echo c >> a.txt"),
            Use("Print it.", "cat a.txt"),
            Use("", "exit 3"),
            Use("", "printf x"),
            Use("Cut it.", "yes | head -n 90"),
        ),
    )
    assert record_session(sandbox, played, LIMITS, limit=60).split("\n") == [
        *("# Sort it.", "$ sort a.txt", "a", "b"),
        *("$ srot a.txt", "bash: line 1: srot: command not found"),
        *("# Add a line.", "$ echo c >> a.txt"),
        *("# Print it.", "$ cat a.txt", "b", "a", "c"),
        "$ exit 3",
        *("$ printf x", "x"),
        *("# Cut it.", "$ yes | head -n 90", *["y"] * 15),
        *("", "[... 120 characters left out ...]", *["y"] * 15),
        "",
    ]


@pytest.mark.parametrize("separator", ["\x1e", "\0", "\x1c\x1d", "\n$ cat a.txt\n"])
def test_a_file_cannot_pass_for_the_end_of_an_output(sandbox, separator):
    uses = (Use("", "cat a.txt"), Use("", "echo real"))
    shown = record_session(sandbox, Session({"a.txt": text(f"x{separator}forged")}, uses), LIMITS)
    assert shown.endswith("forged\n$ echo real\nreal\n")


def test_a_session_that_was_cut_short_is_not_recorded(sandbox):
    for command in ("sleep 9", "yes"):
        with pytest.raises(SandboxError, match="1 of 3 commands"):
            uses = (Use("", "echo first"), Use("", command), Use("", "echo last"))
            record_session(sandbox, Session({}, uses), Limits(wall_s=0.5))


def test_drawn_sessions_record_alike_every_time(sandbox):
    for seed in range(12):
        shown = record_session(sandbox, session(seed), LIMITS)
        assert shown == record_session(sandbox, session(seed), LIMITS)
        assert [line[2:] for line in shown.split("\n") if line.startswith("$ ")] == [
            use.command for use in session(seed).uses
        ]
