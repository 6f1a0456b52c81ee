"""rlsh: train a language model you own to act through a command line, by reinforcement learning you can read.

The public names load on first use, so that floors without torch stay without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlsh.engine import Engine as Engine
    from rlsh.env.episode import EnvConfig as EnvConfig
    from rlsh.env.episode import Episode as Episode
    from rlsh.policy import load_policy as load
    from rlsh.sandbox.probe import open_sandbox as open_sandbox
    from rlsh.tasks import Task as Task

_PUBLIC = {
    "load": ("rlsh.policy", "load_policy"),
    "Engine": ("rlsh.engine", "Engine"),
    "Task": ("rlsh.tasks", "Task"),
    "Episode": ("rlsh.env.episode", "Episode"),
    "EnvConfig": ("rlsh.env.episode", "EnvConfig"),
    "open_sandbox": ("rlsh.sandbox.probe", "open_sandbox"),
}
__all__ = ["Engine", "EnvConfig", "Episode", "Task", "load", "open_sandbox"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'rlsh' has no attribute {name!r}")
    module, attribute = _PUBLIC[name]
    return getattr(import_module(module), attribute)
