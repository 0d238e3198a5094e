"""Plain numbers in the place of tensors: `torch.add(2, x)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..kernels import TRIALS
from ..memory.dtype import Array, default_dtype
from ..table.direct import form_of
from ..table.pointwise import cast, number_as
from ..table.promotion import common_dtype_with, number_dtype
from ..table.table import Operator
from ..tensors.tensor import Tensor
from .fronts import Given, Inner, Learn, Way, arrays_form, quiet
from .keyword_calls import NOT_RECORDED, Match

__all__ = ["as_operands", "number_first"]

_DIVISIONS: Final = frozenset({"div", "divide", "true_divide"})
_SUBTRACTIONS: Final = frozenset({"sub", "subtract"})


def as_operands(name: str, first: object, second: object) -> tuple[object, object]:
    """A number before a tensor as the tensor it stands for, and the tensor.

    A number leaves the dtype of a tensor as it is where it can: a complex one meets wide unsigned
    numbers, which two tensors cannot.  Divided are floats: the number is never cast to the
    tensor's whole numbers.  A bool stays one where it is refused.
    """
    if isinstance(first, (bool, int, float, complex)) and isinstance(second, Tensor):
        number, array = _arrays(name, first, second._array)
        return Tensor._of(number), second if array is second._array else Tensor._of(array)
    return first, second


def _arrays(name: str, first: complex, second: Array) -> tuple[Array, Array]:
    dtype = common_dtype_with(second, first)
    if isinstance(first, int) and second.ndim:
        dtype = number_dtype(first)
    if name in _DIVISIONS and dtype.kind in "biu":
        dtype = default_dtype.float
    if name in _SUBTRACTIONS and isinstance(first, bool):
        dtype = number_dtype(first)
    if dtype.kind == "c" and second.dtype.kind == "u" and not second.ndim:
        second = cast(second, dtype)
    return number_as(first, dtype), second


def number_first(
    name: str, call: Callable[..., object], match: Match, learn: Learn
) -> Callable[[Any, Any], object]:
    """The call of a function by that name with a number before a tensor, which a front learns."""
    left = TRIALS

    def counted(first: float, second: Tensor) -> object:
        nonlocal left
        left -= 1
        operands = as_operands(name, first, second)
        if not left:
            found = match(operands, {})
            if found is not None and not found[2]:
                entry, values = found[0].entry, found[1]
                given = [Given(0, "", first, None), Given(1, "", second, None)]
                inner = _inner(name, entry)
                learn(Way(entry, given, [None, None, *values[2:]], -1, NOT_RECORDED, inner))
        return call(*operands)

    return counted


def _inner(name: str, entry: Operator) -> Inner:
    """What does the calls of an operator of two tensors with a number and a tensor."""
    forward = arrays_form(entry)

    def constant(values: Sequence[Any]) -> Sequence[object]:
        number, array = _arrays(name, values[0], values[1])
        number.flags.writeable = False  # kernels may be told where it lies
        return number, array, *values[2:]

    known = form_of(entry, forward, constant)
    if known is not None:
        return Inner(known.around(quiet(entry)), None, writes=False)
    return Inner(quiet(entry)(lambda *values: forward(*constant(values))), None, writes=False)
