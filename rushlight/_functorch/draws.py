"""What `vmap` makes of functions that draw random numbers and are given no slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..ops.batching.batched import Batched, for_all, level_of, stacked
from ..ops.batching.families import is_random
from ..ops.batching.opened import Level
from ..ops.tensors.overriding import STATE, asks_itself
from ..ops.tensors.tensor import Tensor
from ..overrides import TorchFunctionMode

__all__ = ["DrawsForSlices"]


_ONE_FOR_ALL: Final = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear "
    "like same randomness. If this is necessary for your usage, please file an issue with functorch"
    "."
)


class DrawsForSlices(TorchFunctionMode):
    """Draws other numbers for each slice of a level, in one go where sizes are given."""

    def __init__(self, level: Level) -> None:
        self.level = level

    def __torch_function__(
        self,
        func: Callable[..., Tensor],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """The function, which draws as often as there are slices if it makes a tensor.

        Raises:
            RuntimeError: it writes into a tensor that is one for all slices.
        """
        named = kwargs or {}
        short = getattr(func, "__name__", "")
        name = getattr(func, "operator_name", f"aten::{short}")
        level = level_of((args, named))
        inside = level is not None and level.number >= self.level.number
        if level is not None and (inside or not is_random(name)):
            return for_all(level, func, args, named)
        if not is_random(name):
            if not asks_itself(func):
                return func(*args, **named)
            with self:  # what is written in Python may draw
                STATE.skips += 1
                return func(*args, **named)
        if short.endswith("_"):
            raise RuntimeError(_ONE_FOR_ALL)
        takes_tensors = any(isinstance(each, Tensor) for each in (*args, *named.values()))
        whole = None if takes_tensors else _of_all(short, args, named, self.level.count)
        if whole is not None:
            return Batched.over(func(*whole[0], **whole[1]), self.level)
        return stacked([func(*args, **named) for _ in range(self.level.count or 1)], self.level)


def _of_all(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], count: int
) -> tuple[tuple[object, ...], dict[str, object]] | None:
    """The arguments with sizes that begin with the number of slices; None if no sizes are given."""
    if "size" in kwargs:
        return args, {**kwargs, "size": (count, *kwargs["size"])}
    for place in reversed(range(len(args))):
        if isinstance(args[place], (tuple, list)):
            return (*args[:place], (count, *args[place]), *args[place + 1 :]), kwargs
    return ((count, *args), kwargs) if name in ("rand", "randn") else None
