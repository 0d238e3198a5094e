"""Numbers that are written to tensors (`x[i] = n`), without a tensor of the number.

A graph asks for the dtype and device of what is written, makes such a tensor and copies it:

    a = x.dtype                      if x.dtype is float32 and -1e38 < n < 1e38 ...:
    b = x.device                         x[...] = n
    c = tensor(n, a, b)      ->      else:
    copy_(x, c)                          ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ...typecheck.types.types import BOOL, FLOAT, INT, Type
from ..code.code import Code, Region, Step
from ..code.instructions import read_numbers

__all__ = ["COUNT", "NumberWrite", "number_write"]

COUNT: Final = 4
"""Steps that write a number."""

_EXACT: Final = 1 << 24
_LARGE: Final = 1e38
"""Whole numbers that float32 has, and floats that do not become infinite in it."""


class NumberWrite(NamedTuple):
    """What is written, the number, by their registers or constants, and the number's type."""

    target: int
    number: int
    type: Type

    def test(self, target: str, number: str, constant: object) -> str:
        """Whether it can be done at once, as Python: to a tensor of elements that lie apart, and
        that is what copying rounds to, too.  Empty if it never can."""
        written = _whole if self.type == INT else _float if self.type == FLOAT else _truth
        kinds = written(target, number, constant)
        if not kinds:
            return ""
        return f"type({target}) is ndarray and ({kinds}) and 0 not in {target}.strides"


def _truth(target: str, number: str, constant: object) -> str:
    return f"{target}.dtype is bool_"


def _whole(target: str, number: str, constant: object) -> str:
    if constant is None:
        within = f"{-_EXACT} <= {number} <= {_EXACT}"
        return f"{target}.dtype is int64 or {target}.dtype is float32 and {within}"
    assert isinstance(constant, int)
    is_exact = abs(constant) <= _EXACT
    return f"{target}.dtype is int64" + f" or {target}.dtype is float32" * is_exact


def _float(target: str, number: str, constant: object) -> str:
    if constant is None:
        within = f"{-_LARGE} < {number} < {_LARGE}"
        return f"{target}.dtype is float32 and {within}"
    assert isinstance(constant, float)
    return f"{target}.dtype is float32" if -_LARGE < constant < _LARGE else ""


def number_write(code: Code, region: Region, position: int) -> NumberWrite | None:
    """What the steps of a region from a position on write, if they write a number."""
    steps = [each for each in region[position : position + COUNT] if isinstance(each, Step)]
    if len(steps) < COUNT or not _are(code, steps):
        return None
    dtype, device, made, copied = (step.node for step in steps)
    whole, number = copied.inputs[0], made.inputs[0]
    if (
        [whole] != [*dtype.inputs]
        or [whole] != [*device.inputs]
        or copied.inputs[1] is not made.output
    ):
        return None
    if made.inputs[1] is not dtype.output or made.inputs[2] is not device.output:
        return None
    grad = read_numbers(steps[2].instruction)[3]
    if grad >= 0 or code.constants[-1 - grad] is not False:
        return None
    is_alone = all(len(node.output.uses) == 1 for node in (dtype, device, made))
    if not is_alone or copied.output.uses or number.type not in (INT, FLOAT, BOOL):
        return None
    target, _, given = (read_numbers(step.instruction)[0] for step in (steps[3], *steps[1:3]))
    return NumberWrite(target, given, number.type)


def _are(code: Code, steps: Sequence[Step]) -> bool:
    """Whether steps call the operators of such a write."""
    asks, places, makes, copies = (code.called(step) for step in steps)
    return (
        (asks is not None and asks.name == "prim::dtype")
        and (places is not None and places.name == "prim::device")
        and (makes is not None and makes.name == "aten::tensor")
        and (copies is not None and copies.full_name == "aten::copy_")
    )
