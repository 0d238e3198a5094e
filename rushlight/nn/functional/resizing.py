"""Functions of layers: padding, resizing, and sampling by grids."""

# The bodies are written for script: they keep to its types and to the statements of torch's code.
# mypy: disable-error-code="arg-type, assignment, empty-body, no-any-return"
# mypy: no-warn-unreachable
# ruff: noqa: SIM102
from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor
from ..sizes import declares, is_scripting
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = [
    "affine_grid",
    "grid_sample",
    "interpolate",
    "pad",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

Operator = Callable[..., Any]

_pad: Operator = eager_function("aten::pad")
_grid_sampler: Operator = eager_function("aten::grid_sampler")
_affine_grid_generator: Operator = eager_function("aten::affine_grid_generator")
_nearest1d: Operator = eager_function("aten::upsample_nearest1d")
_nearest2d: Operator = eager_function("aten::upsample_nearest2d")
_nearest3d: Operator = eager_function("aten::upsample_nearest3d")
_nearest_exact1d: Operator = eager_function("aten::_upsample_nearest_exact1d")
_nearest_exact2d: Operator = eager_function("aten::_upsample_nearest_exact2d")
_nearest_exact3d: Operator = eager_function("aten::_upsample_nearest_exact3d")
_linear1d: Operator = eager_function("aten::upsample_linear1d")
_bilinear2d: Operator = eager_function("aten::upsample_bilinear2d")
_bilinear2d_aa: Operator = eager_function("aten::_upsample_bilinear2d_aa")
_trilinear3d: Operator = eager_function("aten::upsample_trilinear3d")
_bicubic2d: Operator = eager_function("aten::upsample_bicubic2d")
_bicubic2d_aa: Operator = eager_function("aten::_upsample_bicubic2d_aa")
_lanczos2d_aa: Operator = eager_function("aten::_upsample_lanczos2d_aa")


def pad(
    input: Tensor,
    pad: list[int],
    mode: str = "constant",
    value: float | None = None,
) -> Tensor:
    """The tensor with elements added before and after its last dimensions.

    `pad` says how many, two numbers a dimension, the last one first; negative ones take away.
    `mode` is constant, reflect, replicate or circular.
    """
    return _pad(input, pad, mode, value)


# --------------------------------------------------------------------------- grids


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The input read at the places of `grid`, which are from -1 to 1, x first.

    Raises:
        ValueError: an unknown `mode` or `padding_mode`.
    """
    if mode != "bilinear" and mode != "nearest" and mode != "bicubic":
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode != "zeros" and padding_mode != "border" and padding_mode != "reflection":
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode "
            "to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )

    if mode == "bilinear":
        mode_enum = 0
    elif mode == "nearest":
        mode_enum = 1
    else:
        mode_enum = 2

    if padding_mode == "zeros":
        padding_mode_enum = 0
    elif padding_mode == "border":
        padding_mode_enum = 1
    else:
        padding_mode_enum = 2

    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed "
            "to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. "
            "See the documentation of grid_sample for details.",
            stacklevel=2,
        )
        align_corners = False

    return _grid_sampler(input, grid, mode_enum, padding_mode_enum, align_corners)


def affine_grid(
    theta: Tensor,
    size: list[int],
    align_corners: bool | None = None,
) -> Tensor:
    """The grid by which `grid_sample` maps an image of the given size by an affine map.

    `theta` is (batch, 2, 3) for images, (batch, 3, 4) for volumes.

    Raises:
        ValueError: `theta` and `size` do not fit.
        NotImplementedError: `size` is neither that of an image nor of a volume.
    """
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed "
            "to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. "
            "See the documentation of grid_sample for details.",
            stacklevel=2,
        )
        align_corners = False

    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) == 4:
        if theta.dim() != 3 or theta.shape[-2] != 2 or theta.shape[-1] != 3:
            raise ValueError(
                f"Expected a batch of 2D affine matrices of shape Nx2x3 for size {size}. "
                f"Got {theta.shape}."
            )
        spatial_size = size[-2:]
    elif len(size) == 5:
        if theta.dim() != 3 or theta.shape[-2] != 3 or theta.shape[-1] != 4:
            raise ValueError(
                f"Expected a batch of 3D affine matrices of shape Nx3x4 for size {size}. "
                f"Got {theta.shape}."
            )
        spatial_size = size[-3:]
    else:
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, "
            "for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    if align_corners and min(spatial_size) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed "
            "for unit-size grids when align_corners=True. "
            "This is not an intended use case of affine_grid. "
            "See the documentation of affine_grid for details.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")

    return _affine_grid_generator(theta, size, align_corners)


# --------------------------------------------------------------------------- resizing


def _is_integer(x: Any) -> bool:
    """Whether it is a whole number or a tensor of whole numbers."""
    if isinstance(x, Tensor):
        return not x.is_floating_point()
    return hasattr(x, "__index__")


def _interpolate_0(
    input: Tensor,
    size: int | None = None,
    scale_factor: list[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor: ...


def _interpolate_1(
    input: Tensor,
    size: list[int] | None = None,
    scale_factor: list[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor: ...


def _interpolate_2(
    input: Tensor,
    size: int | None = None,
    scale_factor: float | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor: ...


def _interpolate_3(
    input: Tensor,
    size: list[int] | None = None,
    scale_factor: float | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor: ...


@declares(_interpolate_0, _interpolate_1, _interpolate_2, _interpolate_3)
def interpolate(
    input: Tensor,
    size: int | None = None,
    scale_factor: list[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """The input (batch, channels, *space) with its space resized.

    Either `size` or `scale_factor` says to what, a number or one a dimension.  `mode` is nearest,
    nearest-exact, linear, bilinear, trilinear, bicubic, lanczos or area.

    Raises:
        ValueError: arguments that do not fit each other.
        NotImplementedError: a mode that is not for inputs of that many dimensions.
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the "
                "interpolating modes: linear | bilinear | bicubic | trilinear"
            )
    else:
        if align_corners is None:
            align_corners = False

    dim = input.dim() - 2

    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    elif size is not None:
        if scale_factor is not None:
            raise AssertionError("scale_factor must be None when size is specified")
        scale_factors = None
        if isinstance(size, (list, tuple)):
            if len(size) != dim:
                raise ValueError(
                    "Input and output must have the same number of spatial dimensions, but got "
                    f"input with spatial dimensions of {list(input.shape[2:])} and output size of "
                    f"{size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                    "output size in (o1, o2, ...,oK) format."
                )
            if not is_scripting():
                if not all(_is_integer(x) for x in size):
                    raise TypeError(
                        "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                        "Tuple[int, int, int], but got size with types "
                        f"{[type(x) for x in size]}"
                    )
            output_size = size
        else:
            output_size = [size for _ in range(dim)]
    elif scale_factor is not None:
        if size is not None:
            raise AssertionError("size must be None when scale_factor is specified")
        output_size = None
        if isinstance(scale_factor, (list, tuple)):
            if len(scale_factor) != dim:
                raise ValueError(
                    "Input and scale_factor must have the same number of spatial dimensions, but "
                    f"got input with spatial dimensions of {list(input.shape[2:])} and "
                    f"scale_factor of shape {scale_factor}. "
                    "Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                    "scale_factor in (s1, s2, ...,sK) format."
                )
            scale_factors = scale_factor
        else:
            scale_factors = [scale_factor for _ in range(dim)]
    else:
        raise ValueError("either size or scale_factor should be defined")

    if recompute_scale_factor is not None and recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")

    if mode == "area" and output_size is None:
        recompute_scale_factor = True

    if recompute_scale_factor is not None and recompute_scale_factor:
        if scale_factors is None:
            raise AssertionError("scale_factors is unexpectedly None")
        if is_scripting():
            output_size = [
                math.floor(float(input.size(i + 2)) * scale_factors[i]) for i in range(dim)
            ]
        else:
            output_size = [int(input.size(i + 2) * scale_factors[i]) for i in range(dim)]
        scale_factors = None

    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )

    if input.dim() == 3 and mode == "nearest":
        return _nearest1d(input, output_size, scale_factors)
    if input.dim() == 4 and mode == "nearest":
        return _nearest2d(input, output_size, scale_factors)
    if input.dim() == 5 and mode == "nearest":
        return _nearest3d(input, output_size, scale_factors)

    if input.dim() == 3 and mode == "nearest-exact":
        return _nearest_exact1d(input, output_size, scale_factors)
    if input.dim() == 4 and mode == "nearest-exact":
        return _nearest_exact2d(input, output_size, scale_factors)
    if input.dim() == 5 and mode == "nearest-exact":
        return _nearest_exact3d(input, output_size, scale_factors)

    if input.dim() == 3 and mode == "area":
        if output_size is None:
            raise AssertionError("output_size is unexpectedly None")
        return adaptive_avg_pool1d(input, output_size)
    if input.dim() == 4 and mode == "area":
        if output_size is None:
            raise AssertionError("output_size is unexpectedly None")
        return adaptive_avg_pool2d(input, output_size)
    if input.dim() == 5 and mode == "area":
        if output_size is None:
            raise AssertionError("output_size is unexpectedly None")
        return adaptive_avg_pool3d(input, output_size)

    if input.dim() == 3 and mode == "linear":
        if align_corners is None:
            raise AssertionError("align_corners is unexpectedly None")
        return _linear1d(input, output_size, align_corners, scale_factors)
    if input.dim() == 4 and mode == "bilinear":
        if align_corners is None:
            raise AssertionError("align_corners is unexpectedly None")
        if antialias:
            return _bilinear2d_aa(input, output_size, align_corners, scale_factors)
        return _bilinear2d(input, output_size, align_corners, scale_factors)
    if input.dim() == 5 and mode == "trilinear":
        if align_corners is None:
            raise AssertionError("align_corners is unexpectedly None")
        return _trilinear3d(input, output_size, align_corners, scale_factors)
    if input.dim() == 4 and mode == "bicubic":
        if align_corners is None:
            raise AssertionError("align_corners is unexpectedly None")
        if antialias:
            return _bicubic2d_aa(input, output_size, align_corners, scale_factors)
        return _bicubic2d(input, output_size, align_corners, scale_factors)

    if input.dim() == 4 and mode == "lanczos":
        if align_corners is None:
            raise AssertionError("align_corners is unexpectedly None")
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
        return _lanczos2d_aa(input, output_size, align_corners, scale_factors)

    if input.dim() == 3 and mode == "bilinear":
        raise NotImplementedError("Got 3D input, but bilinear mode needs 4D input")
    if input.dim() == 3 and mode == "trilinear":
        raise NotImplementedError("Got 3D input, but trilinear mode needs 5D input")
    if input.dim() == 4 and mode == "linear":
        raise NotImplementedError("Got 4D input, but linear mode needs 3D input")
    if input.dim() == 4 and mode == "trilinear":
        raise NotImplementedError("Got 4D input, but trilinear mode needs 5D input")
    if input.dim() == 5 and mode == "linear":
        raise NotImplementedError("Got 5D input, but linear mode needs 3D input")
    if input.dim() == 5 and mode == "bilinear":
        raise NotImplementedError("Got 5D input, but bilinear mode needs 4D input")

    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported"
        f" (got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear"
        f" | lanczos | area | nearest-exact (got {mode})"
    )


def _upsample_0(
    input: Tensor,
    size: int | None = None,
    scale_factor: float | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor: ...


def _upsample_1(
    input: Tensor,
    size: list[int] | None = None,
    scale_factor: float | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor: ...


@declares(_upsample_0, _upsample_1)
def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: Any = "nearest",
    align_corners: Any = None,
) -> Tensor:
    """An older name of `interpolate`."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def _upsample_nearest_0(
    input: Tensor,
    size: int | None = None,
    scale_factor: float | None = None,
) -> Tensor: ...


def _upsample_nearest_1(
    input: Tensor,
    size: list[int] | None = None,
    scale_factor: float | None = None,
) -> Tensor: ...


@declares(_upsample_nearest_0, _upsample_nearest_1)
def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` to the nearest element."""
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def _upsample_bilinear_0(
    input: Tensor,
    size: int | None = None,
    scale_factor: float | None = None,
) -> Tensor: ...


def _upsample_bilinear_1(
    input: Tensor,
    size: list[int] | None = None,
    scale_factor: float | None = None,
) -> Tensor: ...


def _upsample_bilinear_2(
    input: Tensor,
    size: int | None = None,
    scale_factor: list[float] | None = None,
) -> Tensor: ...


def _upsample_bilinear_3(
    input: Tensor,
    size: list[int] | None = None,
    scale_factor: list[float] | None = None,
) -> Tensor: ...


@declares(_upsample_bilinear_0, _upsample_bilinear_1, _upsample_bilinear_2, _upsample_bilinear_3)
def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` between four neighbours, corners on corners."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
