"""Reductions: of the elements that count; a result counts if one of its elements does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from ...ops.eager.dispatch import eager_function
from ...ops.eager.masked import FUNCTIONS
from ...ops.eager.namespace import public_names
from ...ops.memory.dtype import DTYPES
from ...ops.tensors.tensor import Tensor
from .core import FORMS, Called, MaskedTensor, layout_of, paired
from .unary import functions_named

__all__: list[str] = []

REDUCE_NAMES: Final = "sum mean amin amax argmin argmax prod all norm var std".split()


def _all(data: Tensor, *, mask: Tensor, dtype: object = None, **places: object) -> object:
    return eager_function("aten::all")(data.masked_fill(~mask, True), **places)


def _any(mask: Tensor, dim: int | Iterable[int], keepdim: bool) -> Tensor:
    """Whether something counts along some dimensions."""
    for each in sorted([dim] if isinstance(dim, int) else dim, reverse=True):
        mask = mask.any(dim=each, keepdim=keepdim)
    return mask


def _place_in_whole(data: Tensor, place: Tensor) -> Tensor:
    """The number of an element of a sparse tensor among all elements, by its number there.

    A float, as torch's is.
    """
    found: Any = 0
    for size, index in zip(data.size(), data.indices().unbind(0), strict=True):
        found = found * size + index[place.to(DTYPES["int64"])]
    number: Tensor = found.to(DTYPES["float32"])
    return number


def _reduced(name: str, self: MaskedTensor, *args: Any, **kwargs: Any) -> object:
    function = _all if name == "all" else FUNCTIONS[name]
    data, mask = self._masked_data, self._masked_mask
    if args or kwargs:
        return _along(function, name, data, mask, *args, **kwargs)
    sparse = layout_of(data) != "strided"
    values, counts = (data.values(), mask.values()) if sparse else (data, mask)
    result = function(values, mask=counts)
    if sparse and name in ("argmin", "argmax") and isinstance(result, Tensor):
        result = _place_in_whole(data, result)
    return paired(result, counts.any())


def _along(
    function: Callable[..., object],
    name: str,
    data: Tensor,
    mask: Tensor,
    dim: int | Iterable[int] | None = None,
    keepdim: bool = False,
    dtype: object = None,
) -> object:
    if layout_of(data) != "strided":
        raise TypeError(
            f"The sparse version of {name} is not implemented in reductions.\nIf you would like "
            "this operator to be supported, please file an issue for a feature request at "
            "https://github.com/pytorch/maskedtensor/issues with a minimal reproducible code "
            "snippet.\nIn the case that the semantics for the operator are not trivial, it would "
            "be appreciated to also include a proposal for the semantics."
        )
    result = function(data, dim=dim, keepdim=keepdim, dtype=dtype, mask=mask)
    dims = range(mask.dim()) if dim is None else dim
    return paired(result, _any(mask, dims, keepdim))


def _form(func: Called, self: MaskedTensor, *args: object, **kwargs: object) -> object:
    return _reduced(func.__name__.partition(".")[0], self, *args, **kwargs)


FORMS.put(REDUCE_NAMES, _form)

NATIVE_REDUCE_MAP: Final = functions_named(REDUCE_NAMES, _form)
TORCH_REDUCE_MAP: Final = {public_names()[name]: partial(_reduced, name) for name in REDUCE_NAMES}
TENSOR_REDUCE_MAP: Final = {getattr(Tensor, name): partial(_reduced, name) for name in REDUCE_NAMES}
NATIVE_REDUCE_FNS: Final = list(NATIVE_REDUCE_MAP)
TORCH_REDUCE_FNS: Final = list(TORCH_REDUCE_MAP)
TENSOR_REDUCE_FNS: Final = list(TENSOR_REDUCE_MAP)
