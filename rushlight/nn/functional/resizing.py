"""Functions of layers: padding and resizing."""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="arg-type, assignment, empty-body, no-any-return"
# mypy: no-warn-unreachable
import math
import warnings
from collections.abc import Callable, Sequence

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from ..sizes import Sizes, declares, is_scripting
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = [
    "interpolate",
    "pad",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

Operator = Callable[..., Tensor]

_pad: Operator = eager_function("aten::pad")
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
    pad: Sizes,
    mode: str = "constant",
    value: float | None = None,
) -> Tensor:
    """The tensor with elements added before and after its last dimensions.

    `pad` says how many, two numbers a dimension, the last one first; negative ones take away.
    `mode` is constant, reflect, replicate or circular.
    """
    if type(input) not in PLAIN and asks(input):
        return ask_for(_pad_function, locals())
    return _pad(input, pad, mode, value)


_pad_function = pad
"""Its parameter has the same name."""


# --------------------------------------------------------------------------- resizing


def _sizes_of_one(input: Tensor, size: int) -> list[int]: ...


def _sizes_of_list(input: Tensor, size: list[int]) -> list[int]: ...


@declares(_sizes_of_one, _sizes_of_list)
def _sizes(input: Tensor, size: int | list[int]) -> list[int]:
    """A size for each dimension of space.

    Raises:
        ValueError: there are too few or too many.
        TypeError: they are no whole numbers.
    """
    if isinstance(size, (list, tuple)):
        if len(size) != input.dim() - 2:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got "
                f"input with spatial dimensions of {list(input.shape[2:])} and output size of "
                f"{size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                "output size in (o1, o2, ...,oK) format."
            )
        if not is_scripting():
            _need_integers(size)
        return size
    else:
        return [size for _ in range(input.dim() - 2)]


def _need_integers(sizes: Sequence[object]) -> None:
    if not all(map(_is_integer, sizes)):
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
            f"Tuple[int, int, int], but got size with types {[type(x) for x in sizes]}"
        )


def _is_integer(x: object) -> bool:
    """Whether it is a whole number or a tensor of whole numbers."""
    if isinstance(x, Tensor):
        return not x.is_floating_point()
    return hasattr(x, "__index__")


def _factors_of_one(input: Tensor, factor: float) -> list[float]: ...


def _factors_of_list(input: Tensor, factor: list[float]) -> list[float]: ...


@declares(_factors_of_list, _factors_of_one)
def _factors(input: Tensor, factor: float | list[float]) -> list[float]:
    """A factor for each dimension of space.

    Raises:
        ValueError: there are too few or too many.
    """
    if isinstance(factor, (list, tuple)):
        if len(factor) != input.dim() - 2:
            raise ValueError(
                "Input and scale_factor must have the same number of spatial dimensions, but "
                f"got input with spatial dimensions of {list(input.shape[2:])} and "
                f"scale_factor of shape {factor}. "
                "Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                "scale_factor in (s1, s2, ...,sK) format."
            )
        return factor
    else:
        return [factor for _ in range(input.dim() - 2)]


def _scaled(input: Tensor, factors: list[float]) -> list[int]:
    """The sizes of space times the factors; scripts round down what Python cuts off."""
    if is_scripting():
        return [math.floor(float(input.size(d + 2)) * factors[d]) for d in range(len(factors))]
    else:
        return [int(input.size(d + 2) * factors[d]) for d in range(len(factors))]


def _not_for(input: Tensor, mode: str) -> str:
    """What to say where a mode is not for inputs of that many dimensions."""
    for place, other in enumerate(["linear", "bilinear", "trilinear"]):
        if mode == other and 3 <= input.dim() <= 5:
            return f"Got {input.dim()}D input, but {mode} mode needs {place + 3}D input"
    return (
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the "
        "modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact "
        f"(got {mode})"
    )


def _averaged(input: Tensor, sizes: list[int]) -> Tensor:
    """Means of the elements that each new one takes the place of."""
    if input.dim() == 3:
        return adaptive_avg_pool1d(input, sizes)
    if input.dim() == 4:
        return adaptive_avg_pool2d(input, sizes)
    if input.dim() == 5:
        return adaptive_avg_pool3d(input, sizes)
    raise NotImplementedError(_not_for(input, "area"))


def _repeated(
    input: Tensor, sizes: list[int] | None, factors: list[float] | None, exact: bool
) -> Tensor:
    """The nearest element for each new one; `exact` measures from the middle of elements."""
    if input.dim() == 3:
        if exact:
            return _nearest_exact1d(input, sizes, factors)
        return _nearest1d(input, sizes, factors)
    if input.dim() == 4:
        if exact:
            return _nearest_exact2d(input, sizes, factors)
        return _nearest2d(input, sizes, factors)
    if input.dim() == 5:
        if exact:
            return _nearest_exact3d(input, sizes, factors)
        return _nearest3d(input, sizes, factors)
    raise NotImplementedError(_not_for(input, "nearest-exact" if exact else "nearest"))


def _blended(
    input: Tensor,
    mode: str,
    sizes: list[int] | None,
    factors: list[float] | None,
    corners: bool,
    antialias: bool,
) -> Tensor:
    """New elements as weighted sums of their neighbours."""
    if input.dim() == 4:
        return _blended_image(input, mode, sizes, factors, corners, antialias)
    if input.dim() == 3 and mode == "linear":
        return _linear1d(input, sizes, corners, factors)
    if input.dim() == 5 and mode == "trilinear":
        return _trilinear3d(input, sizes, corners, factors)
    raise NotImplementedError(_not_for(input, mode))


def _blended_image(
    input: Tensor,
    mode: str,
    sizes: list[int] | None,
    factors: list[float] | None,
    corners: bool,
    antialias: bool,
) -> Tensor:
    if mode == "bilinear":
        if antialias:
            return _bilinear2d_aa(input, sizes, corners, factors)
        return _bilinear2d(input, sizes, corners, factors)
    if mode == "bicubic":
        if antialias:
            return _bicubic2d_aa(input, sizes, corners, factors)
        return _bicubic2d(input, sizes, corners, factors)
    if mode != "lanczos":
        raise NotImplementedError(_not_for(input, mode))
    if corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    return _lanczos2d_aa(input, sizes, corners, factors)


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
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
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
    if type(input) not in PLAIN and asks(input):
        return ask_for(interpolate, locals())
    if align_corners is not None and mode in ("nearest", "area", "nearest-exact"):
        raise ValueError(
            "align_corners option can only be set with the "
            "interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    sizes: list[int] | None = None
    factors: list[float] | None = None
    if size is not None:
        if scale_factor is not None:
            raise ValueError("only one of size or scale_factor should be defined")
        sizes = _sizes(input, size)
        if recompute_scale_factor is not None and recompute_scale_factor:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    elif scale_factor is not None:
        given = _factors(input, scale_factor)
        if mode == "area" or (recompute_scale_factor is not None and recompute_scale_factor):
            sizes = _scaled(input, given)
        else:
            factors = given
    else:
        raise ValueError("either size or scale_factor should be defined")
    if antialias and (input.dim() != 4 or mode not in ("bilinear", "bicubic", "lanczos")):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if mode == "area" and sizes is not None:
        return _averaged(input, sizes)
    if mode == "nearest" or mode == "nearest-exact":
        return _repeated(input, sizes, factors, mode == "nearest-exact")
    corners = align_corners is not None and align_corners
    return _blended(input, mode, sizes, factors, corners, antialias)


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
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
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
def upsample_nearest(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | None = None
) -> Tensor:
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
def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """`interpolate` between four neighbours, corners on corners."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
