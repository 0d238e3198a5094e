"""How an operator is computed element by element, for the kernels that join several operators.

    @operator("aten::add.Tensor(...) -> Tensor", formula=formula("add", 0, 1, at={2: 1}))

The formula itself is in the table of `kernels/code/formulas.py`, where eager calls of large tensors
find it too.  Its result has the dtype and strides that the forward gives for such operands.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

__all__ = ["Formula", "Meeting", "formula"]

Meeting = Literal["result", "operands", "own", "bools"]

_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


class Formula(NamedTuple):
    """A formula that stands for an operator: its `name`, and the places of its operands among the
    operator's, which are tensors or numbers.

    It stands there if the operands at the places `at` are these constants.  It computes in the
    dtype `meets` says: that of the result, the one in which the operands meet, that of the result
    if the first operand has it, or in bools.  The forward of one that `checks` refuses some
    numbers, so what is known of one number tells nothing of another.
    """

    name: str
    operands: tuple[int, ...]
    meets: Meeting
    at: Mapping[int, object]
    checks: bool


def formula(
    name: str,
    *operands: int,
    meets: Meeting = "result",
    at: Mapping[int, object] = _NOTHING,
    checks: bool = False,
) -> tuple[Formula, ...]:
    """One formula of an operator: see `Formula`.  Those of other constants are added."""
    return (Formula(name, operands or (0,), meets, at, checks),)
