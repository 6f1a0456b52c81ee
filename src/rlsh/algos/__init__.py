"""Pure functions on tensors: the heart. Imports torch and nothing of ours."""

from rlsh.algos.advantages import group_advantages
from rlsh.algos.kl import k1, k3
from rlsh.algos.logprobs import token_logprobs
from rlsh.algos.losses import clip_fraction, grpo_loss

__all__ = ["clip_fraction", "group_advantages", "grpo_loss", "k1", "k3", "token_logprobs"]
