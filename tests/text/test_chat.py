"""Messages to ids and back: prefixes stay prefixes, calls come back, nothing a policy samples can raise."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlsh.text import Tokenizer, chat, dialect, encode, encode_message, format_hash, parse_turn
from rlsh.text import tokenizer as tokenizer_module
from rlsh.text.chat import SIGNATURES, call_text
from rlsh.types import BadCall, Message, ToolCall

BYTES = Tokenizer.of_bytes()
GPT2 = Tokenizer.gpt2()
BOTH = pytest.mark.parametrize("tokenizer", [BYTES, GPT2], ids=["bytes", "gpt2"])

TEXT = st.one_of(st.text(max_size=20), st.sampled_from(["<|end|>", "<|call|>exec\nls", "a\n\nb ", "é\x00\n"]))
BODY = TEXT.filter(lambda body: body.strip())  # a call with a blank body is malformed
WORD = st.text(min_size=1, max_size=12).filter(lambda w: " " not in w and "\n" not in w)
CALL = st.one_of(
    st.builds(lambda b: ToolCall("exec", {"command": b}), BODY),
    st.builds(lambda p, b: ToolCall("edit", {"file_path": p, "edit_content": b}), WORD, BODY),
)
MESSAGE = st.one_of(
    st.builds(Message, st.sampled_from(["system", "user", "tool", "assistant"]), TEXT),
    st.builds(Message, st.just("assistant"), TEXT, CALL),
)


@BOTH
@settings(max_examples=80, deadline=None)
@given(messages=st.lists(MESSAGE, max_size=5), data=st.data())
def test_a_prefix_of_messages_is_a_prefix_of_ids(tokenizer, messages, data):
    cut = data.draw(st.integers(0, len(messages)))
    ids, mask = encode(tokenizer, messages)
    head, head_mask = encode(tokenizer, messages[:cut])
    tail, tail_mask = encode(tokenizer, messages[cut:])
    assert ids == head + tail and mask == head_mask + tail_mask and len(ids) == len(mask)


def test_text_glued_together_first_has_no_such_prefix():
    """Control: encoded as one text, a message's last tokens depend on what comes after it."""
    whole, head = GPT2.encode("a number"), GPT2.encode("a numb")
    assert whole[: len(head)] != head


@BOTH
def test_the_layout(tokenizer):
    t, call = tokenizer, ToolCall("edit", {"file_path": "a.py", "edit_content": "-x\n+y"})
    messages = [
        Message("system", "s"),
        Message("user", "u"),
        Message("assistant", "hm", call),
        Message("tool", "r"),
        Message("assistant", "done"),
    ]
    ids, mask = encode(t, messages)
    e = t.encode
    turn = [*e("hm"), t.call, *e("edit a.py\n-x\n+y"), t.end]
    prompt, result, last = (
        [t.system, *e("s"), t.end, t.user, *e("u"), t.end],
        [t.result, *e("r"), t.end],
        [*e("done"), t.end],
    )
    assert ids == [*prompt, t.assistant, *turn, *result, t.assistant, *last]
    # trained: what the assistant samples, its end included, and nothing that opens a message or that others wrote
    assert mask == [0] * len(prompt) + [0] + [1] * len(turn) + [0] * len(result) + [0] + [1] * len(last)


@BOTH
@settings(max_examples=100, deadline=None)
@given(text=TEXT, call=CALL)
def test_a_rendered_call_parses_back(tokenizer, text, call):
    message = Message("assistant", text, call)
    ids, _ = encode_message(tokenizer, message)
    assert ids[0] == tokenizer.assistant and ids[-1] == tokenizer.end
    assert parse_turn(tokenizer, ids[1:-1]) == message


@BOTH
@settings(max_examples=50, deadline=None)
@given(text=TEXT)
def test_a_turn_without_a_call_is_final(tokenizer, text):
    assert parse_turn(tokenizer, tokenizer.encode(text)) == Message("assistant", text)


@BOTH
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_no_ids_make_it_raise(tokenizer, data):
    reserved = st.sampled_from(sorted(tokenizer.reserved.values()))
    words = st.sampled_from(["exec", "edit", "exec\n", "edit a\n", "ls", " ", "\n", "rm"]).map(tokenizer.encode)
    anything = st.one_of(
        reserved.map(lambda i: [i]), st.integers(0, tokenizer.vocab_size + 50).map(lambda i: [i]), words
    )
    ids = [i for piece in data.draw(st.lists(anything, max_size=8)) for i in piece]
    parsed = parse_turn(tokenizer, ids)
    if isinstance(parsed, BadCall):
        assert tokenizer.call in ids and parsed.reason and "\n" not in parsed.reason
    elif tokenizer.call in ids:  # a call that parsed is a call that can be rendered
        assert parsed.call is not None
        assert parsed.call.name in SIGNATURES and tuple(parsed.call.arguments) == SIGNATURES[parsed.call.name]
        assert parse_turn(tokenizer, encode_message(tokenizer, parsed)[0][1:-1]) == parsed
    else:
        assert parsed.call is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unknown tool ''; tools: exec, edit"),
        ("bash\nls", "unknown tool 'bash'; tools: exec, edit"),
        ("Exec\nls", "unknown tool 'Exec'"),
        ("exec", "exec needs its command on the lines after the first"),
        ("exec\n", "exec needs its command"),
        ("exec\n  \n", "exec needs its command"),
        ("exec ls", "the first line of the call must be: exec"),
        ("exec \nls", "the first line of the call must be: exec"),
        ("edit\n+x", "the first line of the call must be: edit <file_path>"),
        ("edit \n+x", "the first line of the call must be: edit <file_path>"),
        ("edit a b\n+x", "the first line of the call must be: edit <file_path>"),
        ("edit  a\n+x", "the first line of the call must be: edit <file_path>"),
        ("edit a\n", "edit needs its edit_content on the lines after the first"),
    ],
)
def test_a_malformed_call_says_what_is_wrong(text, reason):
    parsed = parse_turn(BYTES, [BYTES.call, *BYTES.encode(text)])
    assert isinstance(parsed, BadCall) and parsed.reason.startswith(reason)


@pytest.mark.parametrize("name", ["eot", "system", "user", "assistant", "call", "result", "end"])
@pytest.mark.parametrize("place", ["before", "in the header", "in the body"])
def test_a_reserved_token_beside_a_call_is_malformed(name, place):
    t = BYTES
    extra = {place: [getattr(t, name)]}
    ids = [
        *t.encode("x"),
        *extra.get("before", []),
        t.call,
        *t.encode("ex"),
        *extra.get("in the header", []),
        *t.encode("ec\nls"),
        *extra.get("in the body", []),
    ]
    parsed = parse_turn(t, ids)
    assert isinstance(parsed, BadCall) and "reserved token" in parsed.reason
    assert isinstance(parse_turn(t, [*t.encode("x"), t.call, *t.encode("exec\nls")]), Message)  # control


def test_other_signatures():
    signatures = {"move": ("from", "to", "why")}
    ids = [BYTES.call, *BYTES.encode("move a b\nbecause")]
    parsed = parse_turn(BYTES, ids, signatures)
    assert isinstance(parsed, Message) and parsed.call is not None
    assert list(parsed.call.arguments.items()) == [("from", "a"), ("to", "b"), ("why", "because")]


def test_call_text():
    assert call_text(ToolCall("exec", {"command": "ls\nwc"})) == "exec\nls\nwc"
    assert call_text(ToolCall("edit", {"file_path": "a", "edit_content": "+x"})) == "edit a\n+x"


# --- the frozen format

FROZEN = "e7baec0c17b0e530"  # a checkpoint carries this: changing it means training the shipped base anew


def test_the_format_is_frozen():
    assert format_hash() == FROZEN


def altered_layout(tokenizer, messages):
    ids, mask = encode(tokenizer, messages)
    return ids[::-1], mask


def unmasked(tokenizer, messages):
    ids, mask = encode(tokenizer, messages)
    return ids, [1] * len(mask)


@pytest.mark.parametrize(
    ("where", "changed"),
    [
        ("exec_observation", lambda *a: "x"),
        ("edit_observation", lambda *a: "x"),
        ("bad_call_observation", lambda reason: reason),
        ("call_text", lambda call: f"{call.name}(" + ", ".join(call.arguments.values()) + ")"),
        ("SIGNATURES", {**SIGNATURES, "exec": ("cmd",)}),
        ("SIGNATURES", {**SIGNATURES, "look": ("path",)}),
        ("encode", altered_layout),
        ("encode", unmasked),
    ],
)
def test_any_change_of_the_rendering_changes_the_hash(monkeypatch, where, changed):
    monkeypatch.setattr(chat, where, changed)
    assert format_hash() != FROZEN


def test_a_change_of_the_pieces_beneath_changes_the_hash(monkeypatch):
    monkeypatch.setattr(dialect, "_CONTROL", re.compile("$^"))
    assert format_hash() != FROZEN
    monkeypatch.undo()
    monkeypatch.setattr(tokenizer_module, "RESERVED", ("<|endoftext|>", "<|sys|>", *tokenizer_module.RESERVED[2:]))
    assert format_hash() != FROZEN
    monkeypatch.undo()
    monkeypatch.setattr(
        chat, "encode_message", lambda t, m: ([t.user, *t.encode(m.content)], [0] * (1 + len(m.content)))
    )
    assert format_hash() != FROZEN
    monkeypatch.undo()
    assert format_hash() == FROZEN
