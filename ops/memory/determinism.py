"""What is done where equal calls are to give equal results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from .dtype import Array
from .errors import OperatorError
from .warned import warn_caller

__all__ = ["DETERMINISM", "alert_not_deterministic", "unfilled"]


class _Determinism:
    """Whether equal results were asked for, or a warning of others; and whether memory is to be
    filled then."""

    is_wanted = False
    only_warns = False
    is_filled = True

    def __init__(self) -> None:
        self.followers: list[Callable[[], object]] = []
        """What is called when one of them changes."""

    def become(self, **changes: bool) -> None:
        """Change some of them."""
        self.__dict__.update(changes)
        for each in self.followers:
            each()

    @property
    def fills(self) -> bool:
        """Whether new memory is filled."""
        return self.is_wanted and self.is_filled


DETERMINISM: Final = _Determinism()

_NOT: Final = (
    "{} does not have a deterministic implementation, but you set "
    "'torch.use_deterministic_algorithms(True{})'. You can {}file an issue at "
    "https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support "
    "for this operation."
)
_OTHERWISE: Final = (
    "turn off determinism just for this operation, or you can use the 'warn_only=True' option, if "
    "that's acceptable for your application. You can also "
)


def alert_not_deterministic(caller: str) -> None:
    """Say that torch has other results each time of an operator of that name, if the user wants to
    know.

    Raises:
        RuntimeError: only deterministic algorithms are allowed.
    """
    if not DETERMINISM.is_wanted:
        return
    if not DETERMINISM.only_warns:
        raise OperatorError(_NOT.format(caller, "", _OTHERWISE))
    warn_caller(_NOT.format(caller, ", warn_only=True", ""))


def unfilled(array: Array) -> Array:
    """New memory as it may be given out: filled with NaN, or the largest number, if it was asked
    for that nothing be left to chance."""
    if DETERMINISM.fills:
        kind = array.dtype.kind
        if kind in "iu":
            array.fill(np.iinfo(array.dtype).max)
        elif array.dtype.names is None:
            array.fill(True if kind == "b" else complex("nan+nanj") if kind == "c" else np.nan)
    return array
