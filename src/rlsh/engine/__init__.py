"""Decoding with a KV cache."""

from rlsh.engine.engine import Engine, Row, TurnStop
from rlsh.engine.sampler import SamplingParams

__all__ = ["Engine", "Row", "SamplingParams", "TurnStop"]
