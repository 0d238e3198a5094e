"""What autocast does to the arguments of eager calls."""

from __future__ import annotations

from typing import Any, Final

from ..memory.dtype import DTYPES, DType, dtype_by_number
from ..table.autocast import Autocast, eager_policy
from ..tensors.tensor import Tensor
from .calls import tensors_in

__all__ = ["cast_arguments"]

_FLOAT: Final = DTYPES["float32"]
_ELIGIBLE: Final = (_FLOAT, DTYPES["bfloat16"], DTYPES["float16"])


def cast_arguments(
    name: str, args: tuple[object, ...], kwargs: dict[str, object], state: Autocast
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments of an operator with their tensors in the dtype that its policy asks for."""
    policy = eager_policy(name)
    target = dtype_by_number(state.cpu_dtype)
    if policy == "full" or (
        policy == "widest" and any(t.dtype is _FLOAT for t in tensors_in((args, *kwargs.values())))
    ):
        target = _FLOAT
    return _cast(args, target), {key: _cast(each, target) for key, each in kwargs.items()}


def _cast(value: Any, target: DType) -> Any:
    """The value with its tensors of float32 or lower in the dtype."""
    if isinstance(value, Tensor):
        dtype = value.dtype
        return value.to(target) if dtype in _ELIGIBLE and dtype is not target else value
    if type(value) in (list, tuple):
        return type(value)([_cast(each, target) for each in value])
    return value
