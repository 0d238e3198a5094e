"""Functions of single elements: the mask stays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from ...ops.eager.packets import Namespace
from ...ops.sparse_tensors.creation import sparse_coo_tensor, sparse_csr_tensor
from ...ops.tensors.tensor import Tensor
from .core import _PLAIN_NAMES, FORMS, Called, Form, MaskedTensor, data_of, layout_of, paired

__all__: list[str] = []

R = TypeVar("R")

UNARY_NAMES: Final = """abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan
    arctan atanh arctanh bitwise_not ceil clamp clip conj_physical cos cosh deg2rad digamma erf erfc
    erfinv exp exp2 expm1 fix floor frac lgamma log log10 log1p log2 logit i0 isnan nan_to_num neg
    negative positive pow rad2deg reciprocal round rsqrt sigmoid sign sgn signbit sin sinc sinh sqrt
    square tan tanh trunc""".split()
INPLACE_UNARY_NAMES: Final = [
    f"{name}_" for name in UNARY_NAMES if name not in ("angle", "positive", "signbit", "isnan")
]
UNARY_NAMES_UNSUPPORTED: Final = """atan2 arctan2 bitwise_left_shift bitwise_right_shift copysign
    float_power fmod frexp gradient imag ldexp lerp logical_not hypot igamma igammac mvlgamma
    nextafter polygamma real remainder true_divide xlogy""".split()


def of_values(tensor: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """What a function makes of a tensor's elements: of a sparse one of those that it has."""
    layout = layout_of(tensor)
    if layout == "strided":
        return function(tensor)
    if layout == "sparse_coo":
        tensor = tensor.coalesce()
        values = function(tensor.values())
        return sparse_coo_tensor(tensor.indices(), values, tensor.size(), is_coalesced=True)
    values = function(tensor.values())
    return sparse_csr_tensor(tensor.crow_indices(), tensor.col_indices(), values, tensor.size())


def _unary(func: Called, self: MaskedTensor, *args: object, **kwargs: object) -> object:
    if any(isinstance(each, Tensor) for each in args):
        raise TypeError("MaskedTensor unary ops do not support additional Tensor arguments")
    data = of_values(data_of(self), lambda values: func(values, *args, **kwargs))
    return paired(data, self._masked_mask)


def in_place(func: Called, self: R, *args: object, **kwargs: object) -> R:
    """Have the function that writes its first argument write the data."""
    func(data_of(self), *map(data_of, args), **kwargs)
    return self


def functions_named(names: list[str], form: Form) -> dict[Called, Callable[..., object]]:
    """`torch.ops.aten`'s functions of some names, with what they do for tensors with masks."""
    aten = Namespace("aten")
    found = [getattr(aten, name) for name in names]
    return {function: partial(form, function) for function in found}


FORMS.put(UNARY_NAMES, _unary)
FORMS.put(INPLACE_UNARY_NAMES, in_place)
_PLAIN_NAMES.update(__abs__="abs", __neg__="neg", __pos__="positive", __invert__="bitwise_not")
_PLAIN_NAMES.update(__pow__="pow", __ipow__="pow_")

NATIVE_UNARY_MAP: Final = functions_named(UNARY_NAMES, _unary)
NATIVE_INPLACE_UNARY_MAP: Final = functions_named(INPLACE_UNARY_NAMES, in_place)
NATIVE_UNARY_FNS: Final = list(NATIVE_UNARY_MAP)
NATIVE_INPLACE_UNARY_FNS: Final = list(NATIVE_INPLACE_UNARY_MAP)
