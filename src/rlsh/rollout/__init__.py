"""Episodes played by the engine in the environment."""

from rlsh.rollout.collect import PhaseClock, RolloutConfig, collect

__all__ = ["PhaseClock", "RolloutConfig", "collect"]
