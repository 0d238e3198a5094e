"""What steps of optimizers that are one kernel begin with: direction and decay, as `with_decay`."""

from __future__ import annotations

from typing import NamedTuple

from ..ops.table.updates import Program, Value
from .optimizer import Group
from .together import Fused

__all__ = ["Fused", "Way", "mean_square"]


class Way(NamedTuple):
    """Which way a step goes, and whether weights decay, by themselves or by their gradients."""

    maximizes: bool
    decays: bool
    is_decoupled: bool

    @staticmethod
    def of(group: Group) -> Way:
        """That of a group."""
        decays = group["weight_decay"] != 0
        return Way(bool(group["maximize"]), decays, bool(group.get("decoupled_weight_decay")))

    def factor(self, group: Group) -> float:
        """The number `decay` of a step."""
        decay: float = group["weight_decay"]
        return 1 - group["lr"] * decay if self.is_decoupled else decay

    def begin(self, program: Program, decay: Value) -> tuple[Value, Value]:
        """The parameter, array 0, and the gradient, array 1, where the step begins."""
        parameter, grad = 0, 1
        if self.maximizes:
            grad = program("negate", grad)
        if self.decays and self.is_decoupled:
            parameter = program("multiply", parameter, decay)
        elif self.decays:
            grad = program("add", grad, program("multiply", parameter, decay))
        return parameter, grad

    @property
    def times(self) -> int:
        """How often the parameter is written before the step itself."""
        return int(self.decays and self.is_decoupled)


def mean_square(program: Program, square: Value, value: Value, kept: Value, share: Value) -> Value:
    """A running mean of squares after another value."""
    added = program("multiply", program("multiply", value, share), value)
    return program("add", program("multiply", square, kept), added)
