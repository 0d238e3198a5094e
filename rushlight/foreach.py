"""`torch._foreach_add` and its like: one operator over lists of tensors, one after another.

`_foreach_NAME(lists, ...)` gives a list of results, `_foreach_NAME_` changes the tensors.  Further
arguments are lists of the same length, or one value for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from . import linalg
from .ops.eager.dispatch import eager_function
from .ops.tensors.tensor import Tensor

__all__ = ["foreach_function"]

_ONE: Final = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10
    log1p log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc""".split()
_METHODS: Final = {
    **{name: name for name in (*_ONE, "add", "sub", "mul", "div", "pow", "lerp", "addcmul")},
    **{"addcdiv": "addcdiv", "clamp_max": "clamp_max", "clamp_min": "clamp_min", "mm": "mm"},
    **{"copy": "copy", "max": "max", "zero": "zero", "clone": "clone"},
    **{"maximum": "clamp_min", "minimum": "clamp_max"},
}
_ONLY_IN_PLACE: Final = ("copy", "zero")
_ONLY_NEW: Final = ("clone", "max", "mm", "norm", "powsum")


def foreach_function(name: str) -> Callable[..., Any] | None:
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
    def function(self: Any, *given: Any, **named: object) -> Any:
        others = list(given)
        if not isinstance(self, Sequence):  # a number and a list of exponents
            found = [eager_function(f"aten::{method}")(self, each) for each in _tensors(others[0])]
        else:
            if len(others) == 3:  # addcmul and addcdiv name what single tensors take
                named["value"] = others.pop()
            rows = _rows(_tensors(self), others)
            options = {key: _list(value) for key, value in named.items()}
            found = [
                getattr(each, method)(*row, **_chosen(options, at))
                for at, (each, row) in enumerate(rows)
            ]
        return None if method.endswith("_") else found

    function.__name__ = function.__qualname__ = name
    return function


def _tensors(given: Sequence[Tensor]) -> Sequence[Tensor]:
    if not given:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return given


def _list(value: object) -> object:
    """Several numbers, which may come as a tensor, as a list."""
    return value.tolist() if isinstance(value, Tensor) and value.dim() == 1 else value


def _rows(tensors: Sequence[Tensor], others: Sequence[object]) -> list[tuple[Tensor, list[object]]]:
    columns = []
    for other in map(_list, others):
        if isinstance(other, Sequence):
            if len(other) != len(tensors):
                raise RuntimeError(
                    "Tensor lists must have the same number of tensors, got "
                    f"{len(tensors)} and {len(other)}"
                )
            columns.append(other)
        else:
            columns.append([other] * len(tensors))
    return [(each, [column[at] for column in columns]) for at, each in enumerate(tensors)]


def _chosen(options: dict[str, object], at: int) -> dict[str, object]:
    return {key: v[at] if isinstance(v, Sequence) else v for key, v in options.items()}


def _norm(self: Sequence[Tensor], ord: float = 2, dtype: object = None) -> list[Tensor]:
    """The norms of the tensors."""
    return [linalg.vector_norm(each, ord, dtype=dtype) for each in _tensors(self)]


def _powsum(self: Sequence[Tensor], ord: float = 2, dtype: Any = None) -> list[Tensor]:
    """The sums of the powers of the tensors' absolute elements."""
    return [each.abs().pow(ord).sum(dtype=dtype) for each in _tensors(self)]
