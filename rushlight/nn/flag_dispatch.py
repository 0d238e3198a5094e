"""Functions that a flag chooses among, as `return_indices` does.

Script wants one type for the result, so there are two functions, and the flag must be known when a
call is compiled (see `rushlight.jit.resolver`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["FlagDispatch"]


class FlagDispatch:
    """A function that calls `if_true` or `if_false`, as the argument `flag` says.

    `place` is the argument's position; left out, the flag is False.
    """

    def __init__(
        self,
        name: str,
        flag: str,
        place: int,
        if_true: Callable[..., object],
        if_false: Callable[..., object],
    ) -> None:
        self.flag = flag
        self.place = place
        self.if_true = if_true
        self.if_false = if_false
        self.__name__ = self.__qualname__ = name
        self.__doc__ = if_true.__doc__
        self.__module__ = "rushlight.nn.functional"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        flag = args[self.place] if self.place < len(args) else kwargs.get(self.flag, False)
        chosen = self.if_true if flag else self.if_false
        return chosen(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"
