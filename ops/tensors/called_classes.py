"""What `torch.Tensor(...)`, classes like it and `x.new(...)` make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..memory.dtype import Dtype
from .overriding import PLAIN, STATE, DisableTorchFunctionSubclass
from .python_data import array_of_arguments, is_sequence, on_cpu_alone
from .sizes import Size
from .tracing import told

__all__ = ["called"]


def called(
    cls: Any,
    args: tuple[object, ...],
    options: Mapping[str, Any],
    dtype: Dtype | None = None,
    maker: str = "",
    form: str = "constructor",
) -> Any:
    """An instance of a class of tensors: of sizes, of numbers, or another view of a tensor.

    Raises:
        TypeError: the arguments are none of these; a tensor has another dtype than `dtype`.
        RuntimeError: a device is named that is not the CPU, or a device for a tensor.
    """
    args = _placed(args, {name: value for name, value in options.items() if name != "device"})
    on_cpu_alone(options.get("device"), args, form)
    array = array_of_arguments(args, Size, dtype)
    given: Any = args[0] if len(args) == 1 else None
    if getattr(given, "_array", None) is not array:
        made = told(cls._of(array), args, Size, maker)
        return made if PLAIN or STATE.below is None else STATE.below.fresh(made)
    with DisableTorchFunctionSubclass():
        return given.as_subclass(cls)


def _placed(args: tuple[object, ...], named: Mapping[str, Any]) -> tuple[object, ...]:
    """The arguments by their places: one may be named instead."""
    match [*named.items()]:
        case []:
            return args
        case [("size", sizes)] if not args:
            return (Size(sizes),)
        case [("data", data)] if not args:
            if not is_sequence(data):
                raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
            return (data,)
        case [("other" | "storage", given)] if not args:
            return (given,)
    raise TypeError(
        "new() received an invalid combination of arguments: some of the keywords were incorrect: "
        + ", ".join(named)
    )
