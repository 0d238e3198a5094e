"""`torch._foreach_add` and its like: one operator over lists of tensors, one after another.

`_foreach_NAME(lists, ...)` gives a tuple of results, `_foreach_NAME_` changes the tensors and gives
what it was given.  Further arguments are lists of the same length, or one value for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..eager.aten import aten
from ..eager.dispatch import eager_function
from ..memory.dtype import DType
from ..tensors.construct import stands_for
from ..tensors.tensor import Tensor

__all__ = ["ONE", "foreach_function"]

ONE: Final = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10
    log1p log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc""".split()
_METHODS: Final = {
    **{name: name for name in (*ONE, "add", "sub", "mul", "div", "pow", "lerp", "addcmul")},
    **{"addcdiv": "addcdiv", "clamp_max": "clamp_max", "clamp_min": "clamp_min", "mm": "mm"},
    **{"copy": "copy", "max": "max", "zero": "zero", "clone": "clone"},
    **{"maximum": "clamp_min", "minimum": "clamp_max"},
}
_ONLY_IN_PLACE: Final = ("copy", "zero")
_ONLY_NEW: Final = ("clone", "max", "mm", "norm", "powsum")


def foreach_function(name: str) -> Callable[..., object] | None:
    """The function `_foreach_...` of a name; None if there is none."""
    short = name.removeprefix("_foreach_")
    bare = short.removesuffix("_")
    in_place = short.endswith("_")
    if bare in (_ONLY_NEW if in_place else _ONLY_IN_PLACE):
        return None
    if short in ("norm", "powsum"):
        return _norm if short == "norm" else _powsum
    return _over(name, _METHODS[bare] + "_" * in_place) if bare in _METHODS else None


def _over(name: str, method: str) -> Callable[..., object]:
    in_place = method.endswith("_")

    def function(self: object, *given: Any, **named: object) -> object:
        if not isinstance(self, Sequence):  # a number and a list of exponents
            return tuple(eager_function(f"aten::{method}")(self, x) for x in _tensors(given[0]))
        others, tensors = list(given), _tensors(self, *given[:1])
        if "scalars" in named:
            others.append(named.pop("scalars"))
        if len(others) == 3:  # addcmul and addcdiv name what single tensors take
            named["value"] = _numbers(others.pop(), len(tensors))
        columns = [_column(other, len(tensors)) for other in others]
        options = {key: _column(value, len(tensors)) for key, value in named.items()}
        if method == "max" and any(not each.numel() for each in tensors):
            raise RuntimeError(
                "_foreach_max cannot compute the maximum of an empty tensor; max over zero "
                "elements is undefined."
            )
        found = [
            getattr(each, method)(
                *(column[at] for column in columns),
                **{key: column[at] for key, column in options.items()},
            )
            for at, each in enumerate(tensors)
        ]
        return self if in_place else tuple(found)

    function.__name__ = function.__qualname__ = name
    return stands_for(f"aten::{name}")(function)


def _tensors(given: Sequence[Tensor], beside: object = ()) -> Sequence[Tensor]:
    """The tensors, of which there must be some, and as many in a list `beside` them."""
    if not given:
        if isinstance(beside, Sequence) and beside and isinstance(beside[0], Tensor):
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got 0 and {len(beside)}"
            )
        raise RuntimeError("Tensor list must have at least one tensor.")
    return given


def _numbers(value: object, count: int) -> object:
    """Numbers that come packed in a tensor, as a list; others as they are."""
    if not isinstance(value, Tensor):
        return value
    if not value.is_contiguous():
        raise RuntimeError("Expected scalars to be contiguous.")
    if value.dim() != 1:
        raise RuntimeError(
            f"Expected packed scalar Tensor to be of dimension 1. Got {value.dim()} instead."
        )
    if value.numel() != count:
        raise RuntimeError(
            f"Expected length of scalars to match input of length {count} but got {value.numel()} "
            "instead."
        )
    return value.tolist()


def _column(value: object, count: int) -> Sequence[object]:
    """An argument for each tensor: a list of as many, or one value for all."""
    if isinstance(value, Tensor) and value.dim():
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {value.dim()} dimensions and "
            f"{value.numel()} elements."
        )
    if not isinstance(value, Sequence):
        return [value] * count
    if len(value) != count:
        if value and isinstance(value[0], Tensor):
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {count} and {len(value)}"
            )
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    return value


@stands_for("aten::_foreach_norm")
def _norm(self: Sequence[Tensor], ord: float = 2, dtype: object = None) -> tuple[Tensor, ...]:
    """The norms of the tensors."""
    return tuple(aten.linalg_vector_norm(each, ord, dtype=dtype) for each in _tensors(self))


@stands_for("aten::_foreach_powsum")
def _powsum(
    self: Sequence[Tensor], ord: float = 2, dtype: DType | None = None
) -> tuple[Tensor, ...]:
    """The sums of the powers of the tensors' absolute elements."""
    return tuple(each.abs().pow(ord).sum(dtype=dtype) for each in _tensors(self))
