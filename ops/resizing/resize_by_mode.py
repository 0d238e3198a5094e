"""Resizing by the name of a mode, as older programs call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import floor
from typing import Any, Final

import numpy as np

from ..memory.dtype import Array
from ..memory.errors import UnsupportedOperator
from ..table.table import TABLE, operator

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_PLAIN: Final = {
    **{("nearest", d): f"aten::upsample_nearest{d}d.vec" for d in (1, 2, 3)},
    **{("nearest-exact", d): f"aten::_upsample_nearest_exact{d}d.vec" for d in (1, 2, 3)},
}
_ALIGNED: Final = {
    ("linear", 1): "aten::upsample_linear1d.vec",
    ("bilinear", 2): "aten::upsample_bilinear2d.vec",
    ("trilinear", 3): "aten::upsample_trilinear3d.vec",
    ("bicubic", 2): "aten::upsample_bicubic2d.vec",
}
_SMOOTH: Final = {
    (mode, 2): f"aten::_upsample_{mode}2d_aa.vec" for mode in ("bilinear", "bicubic", "lanczos")
}


def _call(name: str, *values: object) -> Array:
    entry = TABLE.operator(name)
    assert entry is not None
    made: object = entry.forward(*values)
    return np.asarray(made)


def _each(value: object, dims: int) -> Any:
    return value if value is None or isinstance(value, Sequence) else [value] * dims


def interpolate(
    run: Callable[..., Array],
    input: Array,
    size: object,
    scale_factor: object,
    mode: str,
    align_corners: bool | None,
    recompute_scale_factor: bool | None,
    antialias: bool,
) -> Array:
    """Resize by a mode's name; `run` calls an overload, `aten::upsample_nearest2d.vec`.

    Raises:
        UnsupportedOperator: the mode is not for so many dimensions.
    """
    dims = input.ndim - 2
    output, factors = _each(size, dims), _each(scale_factor, dims)
    if factors is not None and (recompute_scale_factor or mode == "area"):
        output = [floor(s * f) for s, f in zip(input.shape[2:], factors, strict=True)]
        factors = None
    key = (mode, dims)
    if mode == "area" and dims in (1, 2, 3):
        return run(f"aten::adaptive_avg_pool{dims}d", input, output)
    if key in _PLAIN:
        return run(_PLAIN[key], input, output, factors)
    name = (_SMOOTH if antialias else _ALIGNED).get(key)
    if name is None:
        raise UnsupportedOperator(f"Got {input.ndim}D input, which {mode} mode is not for")
    return run(name, input, output, bool(align_corners), factors)


for _form, _size, _scale in (
    ("", "int?", "float?"),
    (".scale_list", "int?", "float[]?"),
    (".size_list", "int[]?", "float?"),
    (".size_list_scale_list", "int[]?", "float[]?"),
):
    operator(
        f"aten::__interpolate{_form}(Tensor input, {_size} size=None, {_scale} scale_factor=None, "
        'str mode="nearest", bool? align_corners=None, bool? recompute_scale_factor=None, '
        "bool antialias=False) -> Tensor",
        out="",
        order="scale_list size_list_scale_list - size_list",
    )(partial(interpolate, _call))


def upsample(
    run: Callable[..., Array],
    input: Array,
    size: object,
    scale_factor: object,
    mode: str,
    align_corners: bool | None,
) -> Array:
    """The same by an older name."""
    return interpolate(run, input, size, scale_factor, mode, align_corners, None, False)


def upsample_nearest(
    run: Callable[..., Array], input: Array, size: object, scale_factor: object
) -> Array:
    """The same in one mode."""
    return interpolate(run, input, size, scale_factor, "nearest", None, None, False)


def upsample_bilinear(
    run: Callable[..., Array], input: Array, size: object, scale_factor: object
) -> Array:
    """The same in another."""
    return interpolate(run, input, size, scale_factor, "bilinear", True, None, False)


for _form, _size in (("", "int?"), (".size_list", "int[]?")):
    _start = f"(Tensor input, {_size} size=None, int? scale_factor=None"
    operator(
        f'aten::__upsample{_form}{_start}, str mode="nearest", bool? align_corners=None) -> Tensor',
        out="",
    )(partial(upsample, _call))
    operator(f"aten::__upsample_nearest{_form}{_start}) -> Tensor", out="")(
        partial(upsample_nearest, _call)
    )
    operator(
        f"aten::__upsample_bilinear{_form}{_start}) -> Tensor", out="", order="size_list scale_list"
    )(partial(upsample_bilinear, _call))
    _many = _start.replace("int? scale", "int[]? scale")
    _name = ".scale_list" if not _form else ".size_list_scale_list"
    operator(f"aten::__upsample_bilinear{_name}{_many}) -> Tensor", out="")(
        partial(upsample_bilinear, _call)
    )
