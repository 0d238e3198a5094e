"""What a `__torch_dispatch__` has to give: the tensors that the operator's schema says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ..memory.errors import OperatorError
from ..table.record import Operator
from ..tensors.tensor import Tensor

__all__ = ["check_answer"]


def check_answer(entry: Operator, made: object) -> None:
    """Refuse what is no result of an operator.  None stands for a tensor that there is none of.

    Raises:
        RuntimeError: it is none.
    """
    kinds = _kinds(entry)
    if len(kinds) < 2:
        for kind in kinds:
            _check_one(kind, made)
        return
    if not isinstance(made, Sequence):
        raise OperatorError(
            f"Object of type '{type(made).__name__}' is not an instance of 'sequence'"
        )
    for kind, each in zip(kinds, made, strict=False):
        _check_one(kind, each)
    if len(made) < len(kinds):
        raise OperatorError(f"Expected {kinds[len(made)]} but got None")
    if len(made) > len(kinds):
        raise OperatorError(
            f"{entry.name} gives {len(kinds)} values, but its __torch_dispatch__ gave {len(made)}"
        )


def _check_one(kind: str, made: object) -> None:
    if kind in ("Tensor", "Tensor?"):
        if not (made is None or isinstance(made, Tensor)):
            raise OperatorError(f"Unable to cast {made} to Tensor")
    elif kind == "Tensor[]" and not (
        isinstance(made, (list, tuple)) and all(isinstance(each, Tensor) for each in made)
    ):
        raise OperatorError(
            f"Unable to cast Python instance of type {type(made)} to C++ type '?' (#define "
            "PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
        )


@cache
def _kinds(entry: Operator) -> tuple[str, ...]:
    """What an operator gives, by the names of types."""
    return tuple(str(each.type) for each in entry.signature.returns)
