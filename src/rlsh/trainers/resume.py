"""What every trainer saves and how it goes on: weights, optimiser, random streams, counters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from rlsh.policy import Policy, load_policy, save_policy
from rlsh.runfolder import RunFolder
from rlsh.trainers.state import (
    latest_checkpoint,
    load_trainer_state,
    restore_rng_state,
    rng_state,
    save_checkpoint,
    save_trainer_state,
    verify_checkpoint,
)

STATE = "trainer.pt"


def streams(seed: int, *names: str) -> dict[str, torch.Generator]:
    """One seeded generator a purpose, and torch's own under "dropout": F.dropout takes no other."""
    found = {name: torch.Generator().manual_seed(seed + i) for i, name in enumerate(names)}
    return found | {"dropout": torch.default_generator.manual_seed(seed + len(names))}


def save_run(
    run: RunFolder,
    step: int,
    policy: Policy,
    optimizer: torch.optim.Optimizer,
    generators: Mapping[str, torch.Generator],
    extra: Mapping[str, Any] | None = None,
    keep: int = 2,
) -> Path:
    """A checkpoint that is a model folder and, beside it, all that a bit-exact continuation needs."""

    def write(folder: Path) -> None:
        save_policy(folder, policy)
        save_trainer_state(
            folder / STATE,
            {
                "step": step,
                "optimizer": optimizer.state_dict(),
                "generators": rng_state(generators),
                "extra": dict(extra or {}),
            },
        )

    return save_checkpoint(run.path / "checkpoints", step, write, keep)


def resume_run(
    run: RunFolder,
    policy: Policy,
    optimizer: torch.optim.Optimizer,
    generators: Mapping[str, torch.Generator],
) -> tuple[int, dict[str, Any]]:
    """Brings everything to the newest checkpoint's state; the steps done (0 without one) and the extra state.

    Records of later steps are dropped from the run folder: they are about to be written again.
    """
    folder = latest_checkpoint(run.path / "checkpoints")
    if folder is None:
        run.rewind(0)
        return 0, {}
    verify_checkpoint(folder)
    policy.model.load_state_dict(load_policy(folder).model.state_dict())
    state = load_trainer_state(folder / STATE)
    optimizer.load_state_dict(state["optimizer"])
    restore_rng_state(generators, state["generators"])
    run.rewind(state["step"])
    return state["step"], state["extra"]
