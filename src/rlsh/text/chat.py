"""Messages <-> token ids.

    <|user|>TEXT<|end|><|assistant|><|call|>exec
    sort -n nums.txt<|end|><|result|>1
    [exit 0]<|end|><|assistant|>done<|end|>

Each message encodes by itself and the pieces are concatenated, so the ids of a prefix of a conversation are a
prefix of its ids. A call is its tool's name, the leading arguments on that line, and the last argument verbatim
on the lines below: no JSON, nothing to escape, two tokens of overhead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import get_args

from rlsh.text.dialect import Dialect, bad_call_observation, edit_observation, exec_observation
from rlsh.text.tokenizer import Tokenizer
from rlsh.types import BadCall, Message, ToolCall

# name -> its arguments in order (iclaw's names); the last one is the body
SIGNATURES: Mapping[str, tuple[str, ...]] = {"exec": ("command",), "edit": ("file_path", "edit_content")}


def encode_message(tokenizer: Tokenizer, message: Message) -> tuple[list[int], list[int]]:
    """Ids and loss mask of one message. The mask is 1 on what an assistant would have sampled, its end included."""
    opening = {
        "system": tokenizer.system,
        "user": tokenizer.user,
        "assistant": tokenizer.assistant,
        "tool": tokenizer.result,
    }[message.role]
    body = tokenizer.encode(message.content)
    if message.call is not None:
        body += [tokenizer.call, *tokenizer.encode(call_text(message.call))]
    ids = [opening, *body, tokenizer.end]
    return ids, [0, *[int(message.role == "assistant")] * (len(ids) - 1)]


def encode(tokenizer: Tokenizer, messages: Sequence[Message]) -> tuple[list[int], list[int]]:
    """Ids and loss mask of a conversation."""
    ids, mask = [], []
    for message in messages:
        i, m = encode_message(tokenizer, message)
        ids += i
        mask += m
    return ids, mask


def call_text(call: ToolCall) -> str:
    *inline, body = call.arguments.values()
    return " ".join([call.name, *inline]) + "\n" + body


def parse_turn(
    tokenizer: Tokenizer, ids: Sequence[int], signatures: Mapping[str, tuple[str, ...]] = SIGNATURES
) -> Message | BadCall:
    """What a sampled turn (without its end token) means. Never raises: a malformed call is an observation."""
    if tokenizer.call not in ids:
        return Message("assistant", tokenizer.decode(ids))
    at = list(ids).index(tokenizer.call)
    before, inside = ids[:at], ids[at + 1 :]
    if any(tokenizer.is_reserved(i) for i in [*before, *inside]):
        return BadCall("a reserved token inside a turn; write one call, then end the turn")
    header, _, body = tokenizer.decode(inside).partition("\n")
    name, *inline = header.split(" ")
    if name not in signatures:
        return BadCall(f"unknown tool {name!r}; tools: {', '.join(signatures)}")
    *leading, last = signatures[name]
    if len(inline) != len(leading) or not all(inline):
        expected = " ".join([name, *(f"<{argument}>" for argument in leading)])
        return BadCall(f"the first line of the call must be: {expected}")
    if not body.strip():
        return BadCall(f"{name} needs its {last} on the lines after the first")
    return Message(
        "assistant", tokenizer.decode(before), ToolCall(name, {**dict(zip(leading, inline, strict=True)), last: body})
    )


def format_hash() -> str:
    """Names the frozen format: how messages, calls and observations read. Checkpoints carry it.

    It is computed from rendered examples, so any change of the rendering changes it.
    """
    calls = [ToolCall(name, {a: f"<{a}>" for a in arguments}) for name, arguments in SIGNATURES.items()]
    chat = [Message("system", "s"), Message("user", "u"), *(Message("assistant", "a", call) for call in calls)]
    tokenizer = Tokenizer.of_bytes()  # what is frozen is the order of the pieces, whatever the vocabulary
    ids, mask = encode(tokenizer, [*chat, Message("tool", "t"), Message("assistant", "a")])
    outcomes: Sequence[tuple[bytes, bytes, int, float | None, int]] = (
        (b"out", b"err\n", 0, None, 99),
        (b"", b"", 1, None, 99),
        (b"x" * 99, b"", 3, None, 9),
        (b"part", b"", 137, 5.0, 99),
        (b"\x1b[1mbold\x1b(B \x1b]0;title\x07\ttab\r\n\xff", b"", 0, None, 99),
    )
    dialects: tuple[Dialect, ...] = get_args(Dialect)
    observations = [exec_observation(d, *outcome) for d in dialects for outcome in outcomes]
    observations += [edit_observation(d, "a.txt", error) for d in dialects for error in (None, "no such file")]
    text = "\x1e".join([tokenizer.decode(ids), str(mask), *observations, bad_call_observation("reason")])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
