"""How running code calls operators: plainly, noted down for gradients, within bounds, or eagerly.

The machine and the plans ask here, and nowhere else, what stands in an operator's place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ...ops.eager.on_handles import on_handles
from ...ops.table.table import Operator
from ..bounds.guard import Guard

__all__ = ["PLAIN", "Calls", "Recording"]


class Recording(Protocol):
    """What notes operators down: `ops/gradients/calls/record.py`."""

    @staticmethod
    def recorder(entry: Operator) -> Callable[..., object]: ...
    @staticmethod
    def noted_alone(entry: Operator) -> object | None: ...
    @staticmethod
    def noted_late(entry: Operator, put: Callable[[object], None]) -> object: ...


@dataclass(frozen=True, eq=False)
class Calls:
    """The way operators are called: noted down if there is a `recording`, counted by a `guard`.

    Where values are `handles`, that is tensors and no arrays, operators are eager calls.
    """

    recording: type[Recording] | None = None
    guard: Guard | None = None
    handles: bool = False

    def forward(self, entry: Operator) -> Callable[..., object]:
        """What is called in the place of an operator."""
        forward = entry.forward if self.recording is None else self.recording.recorder(entry)
        if self.guard is not None:
            forward = self.guard.forward(entry, forward)
        if not self.handles:
            return forward
        return on_handles(entry, forward, bounded=self.guard is not None)


PLAIN = Calls()
