"""Passes in an order that constraints allow: what both of torch's managers of passes are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Constraint", "Pass", "Schedule", "this_before_that_pass_constraint", "validate"]

Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """The constraint that one pass is before another."""
    return lambda a, b: not (a == that and b == this)


def validate(constraint: Constraint, passes: list[Pass], gap: str = " ") -> None:
    """Check an order.

    Args:
        gap: what stands before the second index in the error.

    Raises:
        RuntimeError: the constraint forbids it.
    """
    for place, first in enumerate(passes):
        for second in passes[place + 1 :]:
            if not constraint(first, second):
                found = passes.index(first)
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {first} before {second} but "
                    f"found {first} at index {found} and {second} at index{gap}{found} in pass "
                    "list."
                )


class Schedule:
    """Passes, and what their order has to satisfy.

    Args:
        passes: in the order in which they run.
        constraints: say of two passes whether the first may be before the second.
    """

    def __init__(
        self, passes: list[Pass] | None = None, constraints: list[Constraint] | None = None
    ) -> None:
        self.passes = passes or []
        self.constraints = constraints or []
        self._validated = False

    def add_pass(self, _pass: Pass) -> None:
        """Run one more."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Heed one more."""
        self.constraints.append(constraint)
        self._validated = False

    def _check_order(self, validate: Callable[[Constraint, list[Pass]], None]) -> None:
        """Check the order, unless nothing has changed since."""
        if not self._validated:
            for constraint in self.constraints:
                validate(constraint, self.passes)
            self._validated = True
