"""What comes of a function or a pipeline that somebody wrote: a reference, or the reason why it is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rlsh.tasks.catalogue.reference import Reference
from rlsh.types import RlshError

Origin = Literal["calls", "annotations", "usage"]


@dataclass(frozen=True)
class Harvested:
    """A function that stands alone, and where it comes from.

    `origin` says what its inputs are drawn from: literal calls somewhere in the tree, the annotations of its
    signature, or what its body does with its parameters. `licence` names that of the tree, "unknown" if it has none.
    """

    reference: Reference
    source_id: str  # relative/path.py::function
    licence: str
    origin: Origin


@dataclass(frozen=True)
class Rejected:
    """What is not harvested. `function` is empty where it is a whole file; of a script it is the line."""

    path: str
    function: str
    kind: str
    detail: str = ""

    @property
    def reason(self) -> str:
        return f"{self.kind}: {self.detail}" if self.detail else self.kind


class UnfitError(RlshError):
    """Something cannot be harvested. `kind` is what reports count by; `detail` names what it is about."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail
