"""Declaring the operators of `prims`, and what they check of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar, Unpack

from ..eager.open_operators import OpenOperator
from ..memory.errors import NotHeld, OperatorError
from ..table.record import Known
from ..table.table import TABLE

__all__ = ["check_dims", "check_held", "check_sizes", "primitive", "require"]

Kernel = TypeVar("Kernel", bound=Callable[..., object])

_UNNAMED: Final = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please "
    "report an enhancement request to PyTorch.)"
)


def primitive(schema: str, **known: Unpack[Known]) -> Callable[[Kernel], Kernel]:
    """Declare a function of tensors as an operator of `prims`.

    It runs below gradients, so results that are wanted of some have a node that only fails; what
    it gives for tensors without data is what the operators that it calls give.
    """

    def declare(kernel: Kernel) -> Kernel:
        known.setdefault("is_given_numbers", True)
        entry = OpenOperator(f"prims::{schema}", **known)
        entry.own = lambda *values: entry.run_on_tensors(kernel, values)
        entry.fake = kernel
        TABLE.add(entry)
        return kernel

    return declare


def require(holds: object, sentence: str = _UNNAMED) -> None:
    """Refuse arguments with a sentence.

    Raises:
        OperatorError: what must hold does not.
    """
    if not holds:
        raise OperatorError(sentence)


def check_held(holds: object, sentence: str) -> None:
    """Refuse arguments with a sentence, as an AssertionError.

    Raises:
        NotHeld: what must hold does not.
    """
    if not holds:
        raise NotHeld(sentence)


def check_dims(dims: Sequence[int], rank: int) -> None:
    """Refuse dimensions that are not counted from the first one, or are not there.

    Raises:
        NotHeld: a dimension is out of bounds.
    """
    for dim in dims:
        count = max(rank, 1)
        check_held(0 <= dim < count, f"idx {dim} is out of bounds for rank {count}")


def check_sizes(sizes: Sequence[int]) -> None:
    """Refuse sizes below 0.

    Raises:
        OperatorError: there is one.
    """
    require(all(size >= 0 for size in sizes))
