"""Which curves a report has, and what a healthy one looks like. To add one, add a Panel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Marker colours that no drawing contains by accident; charts.py turns them into CSS variables.
INK, MUTED, GRID = "#010101", "#020202", "#030303"
BLUE, ORANGE, GREEN, PINK, GREY = SERIES = ("#0a0101", "#0a0202", "#0a0303", "#0a0404", "#0a0505")

PHASES = ("decode", "tools", "reference", "update")  # of `seconds`, in the order they happen


@dataclass(frozen=True)
class Series:
    """One line of a panel: a dotted key of metrics.jsonl, its label (may be empty) and its colour."""

    key: str
    label: str = ""
    colour: str = INK


@dataclass(frozen=True)
class Panel:
    """One small multiple. `span` fixes y limits (None: from the data); what is not `noisy` is never averaged."""

    slug: str
    title: str
    series: tuple[Series, ...]
    look_for: str
    span: tuple[float | None, float | None] = (0, None)
    percent: bool = False
    noisy: bool = True


def pass_rate(sets: Iterable[str]) -> Panel:
    """The one panel whose lines depend on the run: all episodes, and those of each set of tasks."""
    by_set = (
        Series(f"by_set.{name}", name.replace("_", " "), colour)
        for name, colour in zip(sorted(sets), SERIES, strict=False)
    )
    return Panel(
        "pass",
        "Pass rate of sampled episodes",
        (Series("running_pass_rate", "families alike"), Series("pass_rate", "as drawn"), *by_set),
        "Climbs while groups are informative. 'As drawn' favours undecided families and climbs less.",
        span=(0, 1),
        percent=True,
    )


PANELS = (
    Panel(
        "loss",
        "Loss",
        (Series("loss", "train"), Series("val_loss", "validation", BLUE)),
        "Supervised: both fall, validation a little above. GRPO: hovers near 0 and says little.",
        span=(None, None),
    ),
    Panel(
        "kl",
        "KL to the reference, nats per token",
        (Series("kl_k3", "k3"), Series("kl_k1", "k1", ORANGE)),
        "k3 estimates KL(π‖ref), never below 0; k1 is noisier. Slow growth, then a plateau, is healthy.",
        span=(None, None),
    ),
    Panel(
        "entropy",
        "Entropy, nats per sampled token",
        (Series("entropy"),),
        "Should fall slowly. A cliff to 0 means exploration is over, and soon so is the signal.",
    ),
    Panel(
        "informative",
        "Informative groups",
        (Series("informative"),),
        "Share of groups whose rewards differ. Near 0 means no signal: tasks too easy or too hard.",
        span=(0, 1),
        percent=True,
    ),
    Panel(
        "clip",
        "Clipped tokens",
        (Series("clip_fraction"),),
        "Share of tokens whose ratio left the clip range. A few percent is normal; more: lower the rate.",
        percent=True,
    ),
    Panel(
        "grad",
        "Gradient norm, before clipping",
        (Series("grad_norm"),),
        "Flat with small spikes is healthy. Spikes that keep growing announce a collapse.",
    ),
    Panel(
        "lr",
        "Learning rate",
        (Series("lr"),),
        "Here to explain the other curves: it should follow the recipe's schedule.",
        noisy=False,
    ),
    Panel(
        "gap",
        "Gap between sampler and trainer, nats",
        (Series("logp_gap"),),
        "Log-probs of the same tokens, sampled and scored. Rounding only: more trains another policy.",
    ),
    Panel(
        "length",
        "Tokens sampled per episode",
        (Series("completion_tokens"),),
        "Should settle. Growth without a better pass rate means the policy has learnt to ramble.",
    ),
    Panel(
        "turns",
        "Turns per episode",
        (Series("turns"),),
        "Falls when it stops guessing, rises when it looks before it acts. Read it beside the pass rate.",
    ),
    Panel(
        "truncated",
        "Truncated episodes",
        (Series("truncated"),),
        "Share that ran out of turns or tokens. Near 0; if it stays high, the budget hides what it can do.",
        percent=True,
    ),
    Panel(
        "trouble",
        "Host failures and flags, episodes",
        (Series("infra", "infra", ORANGE), Series("retried", "retried", GREY), Series("flags", "flagged", PINK)),
        "Near 0. The host failed: once, played again; twice (infra), masked. Flagged: tampering; read those.",
    ),
    Panel(
        "speed",
        "Tokens per second",
        (
            Series("tokens_per_s"),
            Series("tokens_per_s.decode", "decode"),
            Series("tokens_per_s.update", "update", BLUE),
        ),
        "Flat. A slow decline means longer episodes or a machine shared with others.",
    ),
)
