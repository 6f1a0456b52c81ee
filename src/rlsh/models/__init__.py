"""Model parts and the decoder made of them."""

from rlsh.models.config import ModelConfig
from rlsh.models.transformer import Decoder

__all__ = ["Decoder", "ModelConfig"]
