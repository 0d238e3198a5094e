"""Arithmetic of whole numbers with constants, and comparisons of a value with itself.

    %1 = aten::add(%x, %zero)        ->   (users of %1 use %x)
    %2 = aten::mul(%x, %one)         ->   (users of %2 use %x)
    %3 = aten::add(%x, %two)
    %4 = aten::add(%3, %two)         ->   %4 = aten::add(%x, %four)
    %5 = aten::eq(%x, %x)            ->   constant true

A float equals itself here even where it is nan, as in torch.
"""

from __future__ import annotations

from ...typecheck.types.types import BOOL, FLOAT, INT, ListType
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Node, Value
from ..graphs.kinds import entry_of

__all__ = ["compared_with_itself", "is_neutral_on_tensor", "simplified"]

_COMPARED = (INT, FLOAT, BOOL, ListType(INT), ListType(FLOAT), ListType(BOOL))
_SUMS = ("aten::add", "aten::sub")
_COMMUTES = ("aten::add", "aten::mul")


def compared_with_itself(node: Node) -> bool | None:
    """The outcome of `x == x` or `x != x`; None for any other node."""
    if node.kind not in ("aten::eq", "aten::ne") or node.inputs[0] is not node.inputs[1]:
        return None
    return node.kind == "aten::eq" if node.inputs[0].type in _COMPARED else None


def _operand(node: Node) -> int | None:
    """The constant in `x + 1` and the like; the constant of `1 + x` is moved to the right."""
    if len(node.inputs) != 2:
        return None
    left, right = node.inputs
    if left.type != INT or right.type != INT:
        return None
    if left.node.is_constant and not right.node.is_constant and node.kind in _COMMUTES:
        node.set_input(0, right)
        node.set_input(1, left)
        right = left
    value = constant_value(right)
    return value if isinstance(value, int) else None


def is_neutral_on_tensor(node: Node) -> bool:
    """Whether the node adds a whole 0 to a tensor or multiplies it by a whole 1."""
    if node.signature is None or node.signature.overload != "Scalar":
        return False
    numbers = [constant_value(value) for value in node.inputs[1:]]
    if any(type(number) is not int for number in numbers):
        return False
    if node.kind in _SUMS:
        return numbers == [0, 1]
    return node.kind == "aten::mul" and numbers == [1]


def simplified(node: Node) -> Value | None:
    """What can stand for the node: its own output if it has taken in another's constant."""
    entry = entry_of(node)
    number = None if entry is None or entry.neutral is None else _operand(node)
    if entry is None or number is None:
        return None
    left = node.inputs[0]
    if number == entry.neutral:
        return left
    inner = left.node
    if node.kind not in _SUMS or inner.kind not in _SUMS:
        return None
    delta = _operand(inner)
    if delta is None:
        return None
    merged = number + delta if inner.kind == node.kind else number - delta
    if merged == 0:
        return inner.inputs[0]
    constant = create_constant(node.graph, merged, INT).insert_before(node)
    node.set_input(0, inner.inputs[0])
    node.set_input(1, constant.output)
    return node.output
