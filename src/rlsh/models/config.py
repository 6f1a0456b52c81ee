"""Shape and parts of a decoder. Field names are nanoGPT's `model_args`, so its checkpoints read without a map."""

from __future__ import annotations

from dataclasses import dataclass

from rlsh.types import RlshError


@dataclass(frozen=True)
class ModelConfig:
    """Raises RlshError on an impossible shape. The last four fields name parts of `transformer.PARTS`."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    bias: bool = True
    dropout: float = 0.0
    valid_vocab: int | None = None  # ids from here on are padding of the embedding: never sampled, never scored
    attention: str = "mha"
    ffn: str = "gelu"
    norm: str = "layernorm"
    position: str = "learned"

    def __post_init__(self) -> None:
        if self.n_embd % self.n_head:
            raise RlshError(f"n_embd = {self.n_embd} is not a multiple of n_head = {self.n_head}")
        if self.valid_vocab is not None and not 0 < self.valid_vocab <= self.vocab_size:
            raise RlshError(f"valid_vocab = {self.valid_vocab} lies outside 1..vocab_size = {self.vocab_size}")
        if not 0.0 <= self.dropout < 1.0:
            raise RlshError(f"dropout = {self.dropout} lies outside [0, 1)")

    @property
    def head_dim(self) -> int:
        return self.n_embd // self.n_head
