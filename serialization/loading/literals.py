"""The values of constants, as code files write them (`printing/constants.py`)."""

from __future__ import annotations

from collections.abc import Callable

from ...frontend.syntax import tree
from ...ops.memory.dtype import Device
from ...typecheck.definitions.names import Constant

__all__ = ["literal"]


def literal(expression: tree.Expr | None, constant: Callable[[str], Constant | None]) -> object:
    """The value of an expression; `constant` knows what `CONSTANTS` holds.

    Raises:
        ValueError: no constant is written so.
    """
    match expression:
        case tree.Literal(value=value):
            return value
        case tree.Name(id="inf" | "nan" as name):
            return float(name)
        case tree.Unary(operator="-", operand=operand):
            return -_number(literal(operand, constant))
        case tree.Binary(operator="+" | "-" as sign, left=left, right=right):
            real, other = (_number(literal(each, constant)) for each in (left, right))
            return real + other if sign == "+" else real - other
        case tree.TupleDisplay(elements=elements):
            return tuple(literal(element, constant) for element in elements)
        case tree.ListDisplay(elements=elements):
            return [literal(element, constant) for element in elements]
        case tree.DictDisplay(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {literal(key, constant): literal(item, constant) for key, item in pairs}
        case tree.Attribute(value=tree.Name(id="CONSTANTS"), name=name):
            found = constant(name)
            if found is not None:
                return found.value
        case tree.Call(function=tree.Name(id="annotate"), arguments=(_, held)):
            return literal(held, constant)
        case tree.Call(
            function=tree.Attribute(value=tree.Name(id="torch"), name="device"),
            arguments=(tree.Literal(value=str(name)),),
        ):
            return _device(name)
    raise ValueError("no constant is written so")


def _number(value: object) -> int | float | complex:
    if not isinstance(value, int | float | complex):
        raise ValueError("only numbers have a sign")
    return value


def _device(name: str) -> Device:
    try:
        return Device(name)
    except RuntimeError as error:
        raise ValueError(str(error)) from None
