"""A model and its tokenizer as one folder: what `--model` names, every stage writes and every stage reads.

config.json        model shape, the chat format's hash, facts about how it was made
model.safetensors  weights; the tied head is stored once, as the embedding
tokenizer.json
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from rlsh.models.config import ModelConfig
from rlsh.models.transformer import Decoder
from rlsh.text.chat import format_hash
from rlsh.text.tokenizer import Tokenizer
from rlsh.types import RlshError

CONFIG, WEIGHTS = "config.json", "model.safetensors"
# the base of the demo, and the same model before its cold start
SHIPPED = {name: Path(str(files("rlsh"))) / "shipped" / name for name in ("base", "pretrained")}


@dataclass
class Policy:
    """`facts` travel with the weights: data, steps, scores; whatever the stage that made them wants known."""

    model: Decoder
    tokenizer: Tokenizer
    facts: dict[str, Any] = field(default_factory=dict)


def save_policy(folder: Path, policy: Policy, dtype: torch.dtype | None = None) -> None:
    """Writes the three files into an existing `folder`. `dtype` None keeps the weights as they are."""
    weights = {
        name: (p.detach() if dtype is None else p.detach().to(dtype)).contiguous().cpu()
        for name, p in policy.model.state_dict().items()
    }
    try:
        save_file(weights, folder / WEIGHTS)
        (folder / WEIGHTS).chmod(0o644)  # it comes as 0600: a package that root installs must be readable
    except SafetensorError as error:  # its own kind of OSError: a full disk, a folder that is gone
        raise RlshError(f"{folder / WEIGHTS}: cannot write weights ({error}); make room, then --resume") from None
    policy.tokenizer.save(folder)
    about = {"model": asdict(policy.model.config), "format": format_hash(), "facts": policy.facts}
    (folder / CONFIG).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def resolve(name_or_path: str | Path) -> Path:
    """The folder of a shipped model's name, of a model folder, or of a run (its newest checkpoint)."""
    path = SHIPPED.get(str(name_or_path), Path(name_or_path))
    if (path / CONFIG).exists():
        return path
    steps = sorted((path / "checkpoints").glob("step-*"))
    if steps:
        return steps[-1]
    raise RlshError(
        f"{path}: no model here (no {CONFIG}, no checkpoints/); name a model folder, a run folder or one of: "
        f"{', '.join(SHIPPED)}"
    )


def load_policy(name_or_path: str | Path, device: str | torch.device = "cpu") -> Policy:
    """The model in eval mode, fp32. Raises RlshError on a missing, damaged or foreign folder, or another format."""
    folder = resolve(name_or_path)
    try:
        about = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        config = ModelConfig(**about["model"])
        trained_format, facts = about["format"], about["facts"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RlshError(f"{folder / CONFIG}: not a model's config ({error})") from None
    if trained_format != format_hash():
        raise RlshError(
            f"{folder}: trained in chat format {trained_format}, this version speaks {format_hash()}; "
            "its tokens would be misread: retrain it (make base), or use the version that made it"
        )
    try:
        weights = load_file(folder / WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise RlshError(f"{folder / WEIGHTS}: missing or damaged ({error}); restore it or train it again") from None
    model = Decoder(config)
    try:
        model.load_state_dict({name: w.float() for name, w in weights.items()})
    except RuntimeError as error:
        raise RlshError(f"{folder / WEIGHTS}: does not fit {CONFIG}: {str(error).splitlines()[-1].strip()}") from None
    tokenizer = Tokenizer.load(folder)
    if tokenizer.vocab_size > len(model.head_weight):
        raise RlshError(
            f"{folder}: the tokenizer has {tokenizer.vocab_size} ids, the model {len(model.head_weight)}: "
            "these files do not belong together"
        )
    return Policy(model.to(device).eval(), tokenizer, facts)
