"""Tokenizer, chat format, tool dialects."""

from rlsh.text.chat import encode, encode_message, format_hash, parse_turn
from rlsh.text.tokenizer import Tokenizer

__all__ = ["Tokenizer", "encode", "encode_message", "format_hash", "parse_turn"]
