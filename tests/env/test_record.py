"""Sessions as they really ran, and as a terminal and a chat show them."""

import random

import pytest

from rlsh.env.record import Recorded, as_chat, as_terminal, record_session
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
    turns = record_session(sandbox, played, LIMITS, limit=60)
    assert [t.exit_code for t in turns] == [0, 127, 0, 0, 3, 0, 0]
    assert as_terminal(turns).split("\n") == [
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
    shown = as_terminal(record_session(sandbox, Session({"a.txt": text(f"x{separator}forged")}, uses), LIMITS))
    assert shown.endswith("forged\n$ echo real\nreal\n")


def test_a_session_that_was_cut_short_is_not_recorded(sandbox):
    for command in ("sleep 9", "yes"):
        with pytest.raises(SandboxError, match="1 of 3 commands"):
            uses = (Use("", "echo first"), Use("", command), Use("", "echo last"))
            record_session(sandbox, Session({}, uses), Limits(wall_s=0.5))


def test_drawn_sessions_record_alike_every_time(sandbox):
    for seed in range(12):
        turns = record_session(sandbox, session(seed), LIMITS)
        assert turns == record_session(sandbox, session(seed), LIMITS)
        assert [(t.comment, t.command) for t in turns] == [(u.comment, u.command) for u in session(seed).uses]


def test_a_chat_asks_and_acts():
    turns = [Recorded("Sort it.", "srot a", "not found", 127), Recorded("", "sort a", "a\nb", 0)]
    turns.append(Recorded("Print it.", "cat a", "b\na", 0))
    chats = [as_chat(turns, random.Random(seed)) for seed in range(40)]
    for messages in chats:
        said = [m.call.arguments["command"] if m.call else m.content for m in messages]
        done = ["srot a", "not found\n[exit 127]", "sort a", "a\nb\n[exit 0]", "done"]
        assert said == ["Sort it.", *done, said[6], "cat a", "b\na\n[exit 0]", "done"]
        assert [m.role for m in messages[:6]] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert {m[6].content for m in chats} == {"Print it.", "Print it.\n$ sort a\na\nb"}
