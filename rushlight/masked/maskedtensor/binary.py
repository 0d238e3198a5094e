"""Functions of two tensors' elements: masks must be the same, or one tensor has none."""

from __future__ import annotations

from typing import Final

from ...ops.tensors.tensor import Tensor
from .core import (
    _PLAIN_NAMES,
    FORMS,
    Called,
    _masks_match,
    data_of,
    first_masked,
    layout_of,
    paired,
    same_places,
)
from .unary import functions_named, in_place, of_values

__all__: list[str] = []

BINARY_NAMES: Final = """add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift
    bitwise_right_shift div divide floor_divide fmod logaddexp logaddexp2 mul multiply nextafter
    remainder sub subtract true_divide eq ne le ge greater greater_equal gt less_equal lt less
    maximum minimum fmax fmin not_equal""".split()
INPLACE_BINARY_NAMES: Final = [
    f"{name}_"
    for name in BINARY_NAMES
    if name not in ("logaddexp", "logaddexp2", "fmin", "minimum", "maximum", "fmax")
]


def _check(operands: tuple[object, ...], rest: tuple[object, ...]) -> None:
    if any(isinstance(each, Tensor) for each in rest):
        raise TypeError(
            "MaskedTensor binary ops do not support Tensor arguments aside from the lhs and rhs"
        )
    if not _masks_match(*operands):
        raise ValueError(
            "Input masks must match. If you need support for this, please open an issue on Github."
        )


def _binary(func: Called, *args: object, **kwargs: object) -> object:
    operands, rest = args[:2], args[2:]
    _check(operands, rest)
    first, second = (data_of(each) for each in operands)
    mask = first_masked(operands)._masked_mask
    layout = layout_of(first) if isinstance(first, Tensor) else "strided"
    if layout == "strided":
        data = func(first, second, *rest, **kwargs)
        return paired(data, mask.expand_as(data) if layout_of(mask) == "strided" else mask)
    if isinstance(second, Tensor) and layout_of(second) == layout:
        if not same_places(first, second):
            raise ValueError(
                f"{layout} indices must match. If you need support for this, please open an issue "
                "on Github."
            )
        if first.size() != second.size():
            raise ValueError("input1 and input2 must have the same size for binary functions.")
        second = second.values()
    return paired(of_values(first, lambda own: func(own, second, *rest, **kwargs)), mask)


def _written(func: Called, *args: object, **kwargs: object) -> object:
    _check(args[:2], args[2:])
    return in_place(func, *args, **kwargs)


FORMS.put(BINARY_NAMES, _binary)
FORMS.put(INPLACE_BINARY_NAMES, _written)
for _name, _plain in {
    **{"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide"},
    **{"mod": "remainder", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"},
    **{"lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"},
}.items():
    _PLAIN_NAMES[f"__{_name}__"] = _PLAIN_NAMES[f"__r{_name}__"] = _plain
    _PLAIN_NAMES[f"__i{_name}__"] = f"{_plain}_"
_PLAIN_NAMES.update({f"__{name}__": name for name in ("eq", "ne", "le", "ge", "lt", "gt")})
_PLAIN_NAMES.update(__div__="div", __rdiv__="div", rsub="sub")

NATIVE_BINARY_MAP: Final = functions_named(BINARY_NAMES, _binary)
NATIVE_INPLACE_BINARY_MAP: Final = functions_named(INPLACE_BINARY_NAMES, _written)
NATIVE_BINARY_FNS: Final = list(NATIVE_BINARY_MAP)
NATIVE_INPLACE_BINARY_FNS: Final = list(NATIVE_INPLACE_BINARY_MAP)
