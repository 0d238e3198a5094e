"""Functions of layers: unpooling, and pooling over random windows and by powers."""

# The bodies are written for script: they keep to its types and to the statements of torch's code.
# mypy: disable-error-code="arg-type, assignment, no-any-return"
# mypy: no-warn-unreachable
# ruff: noqa: RUF005, SIM108, UP045
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, TypeVar

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor
from ..flag_dispatch import FlagDispatch
from ..sizes import annotate, pair, pair_of_floats, single, triple, triple_of_floats
from .activations import relu
from .pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)

if TYPE_CHECKING:
    T = TypeVar("T")
    BroadcastingList1 = list[T]
    BroadcastingList2 = list[T]
    BroadcastingList3 = list[T]

__all__ = [
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

Operator = Callable[..., Any]

_max_unpool2d: Operator = eager_function("aten::max_unpool2d")
_max_unpool3d: Operator = eager_function("aten::max_unpool3d")
_fractional2d: Operator = eager_function("aten::fractional_max_pool2d")
_fractional3d: Operator = eager_function("aten::fractional_max_pool3d")
_rand: Operator = eager_function("aten::rand")
_sign: Operator = eager_function("aten::sign")
_abs: Operator = eager_function("aten::abs")


# --------------------------------------------------------------------------- unpooling


def _unpool_output_size(
    input: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    output_size: Optional[list[int]],
) -> list[int]:
    """The sizes of an unpooled tensor: those given, if they are near what follows from the rest.

    Raises:
        ValueError: the given ones are too many, too few, or out of reach.
    """
    input_size = input.size()
    default_size = annotate(list[int], [])
    for d in range(len(kernel_size)):
        default_size.append(
            (input_size[-len(kernel_size) + d] - 1) * stride[d] + kernel_size[d] - 2 * padding[d]
        )
    if output_size is None:
        ret = default_size
    else:
        if len(output_size) == len(kernel_size) + 2:
            output_size = output_size[2:]
        if len(output_size) != len(kernel_size):
            raise ValueError(
                "output_size should be a sequence containing "
                f"{len(kernel_size)} or {len(kernel_size) + 2} elements, but it has a length of "
                f"'{len(output_size)}'"
            )
        for d in range(len(kernel_size)):
            min_size = default_size[d] - stride[d]
            max_size = default_size[d] + stride[d]
            if not (min_size < output_size[d] < max_size):
                raise ValueError(
                    f'invalid output_size "{output_size}" (dim {d} must be between {min_size} '
                    f"and {max_size})"
                )

        ret = output_size
    for d in range(len(kernel_size)):
        if ret[d] < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial "
                f"dimensions, but got output_size[{d}]={ret[d]}"
            )
    return ret


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: Optional[BroadcastingList1[int]] = None,
    padding: BroadcastingList1[int] = 0,
    output_size: Optional[BroadcastingList1[int]] = None,
) -> Tensor:
    """Maxima put back where `max_pool1d` found them, zeros elsewhere."""
    kernel_size = single(kernel_size)
    if stride is not None:
        _stride = single(stride)
    else:
        _stride = kernel_size
    padding = single(padding)
    output_size = _unpool_output_size(input, kernel_size, _stride, padding, output_size)
    if isinstance(output_size, list):
        output_size = output_size + [1]
    else:
        output_size = output_size + (1,)
    return _max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), output_size).squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: Optional[BroadcastingList2[int]] = None,
    padding: BroadcastingList2[int] = 0,
    output_size: Optional[BroadcastingList2[int]] = None,
) -> Tensor:
    """Maxima put back where `max_pool2d` found them, zeros elsewhere."""
    kernel_size = pair(kernel_size)
    if stride is not None:
        _stride = pair(stride)
    else:
        _stride = kernel_size
    padding = pair(padding)
    output_size = _unpool_output_size(input, kernel_size, _stride, padding, output_size)
    return _max_unpool2d(input, indices, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: Optional[BroadcastingList3[int]] = None,
    padding: BroadcastingList3[int] = 0,
    output_size: Optional[BroadcastingList3[int]] = None,
) -> Tensor:
    """Maxima put back where `max_pool3d` found them, zeros elsewhere."""
    kernel_size = triple(kernel_size)
    if stride is not None:
        _stride = triple(stride)
    else:
        _stride = kernel_size
    padding = triple(padding)
    output_size = _unpool_output_size(input, kernel_size, _stride, padding, output_size)
    return _max_unpool3d(input, indices, output_size, _stride, padding)


# --------------------------------------------------------------------------- random windows


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    output_size: Optional[BroadcastingList2[int]] = None,
    output_ratio: Optional[BroadcastingList2[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor]:
    """Maxima of windows that are placed at random, 2 numbers a channel.

    `output_ratio` says how many there are for each element of the input.

    Raises:
        ValueError: neither `output_size` nor `output_ratio` is given.
    """
    if output_size is None and output_ratio is None:
        raise ValueError(
            "fractional_max_pool2d requires specifying either an output_size or an output_ratio"
        )
    if output_size is None:
        if output_ratio is None:
            raise AssertionError("output_ratio is unexpectedly None")
        if len(output_ratio) > 2:
            raise ValueError(
                "fractional_max_pool2d requires output_ratio to either be a single Int or tuple of "
                "Ints."
            )
        _output_ratio = pair_of_floats(output_ratio)
        output_size = [
            int(input.size(-2) * _output_ratio[0]),
            int(input.size(-1) * _output_ratio[1]),
        ]

    if _random_samples is None:
        n_batch = 1 if input.dim() == 3 else input.size(0)
        _random_samples = _rand(n_batch, input.size(-3), 2, dtype=input.dtype, device=input.device)
    return _fractional2d(input, kernel_size, output_size, _random_samples)


def _fractional_max_pool2d(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    output_size: Optional[BroadcastingList2[int]] = None,
    output_ratio: Optional[BroadcastingList2[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> Tensor:
    return fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )[0]


fractional_max_pool2d = FlagDispatch(
    "fractional_max_pool2d",
    "return_indices",
    4,
    fractional_max_pool2d_with_indices,
    _fractional_max_pool2d,
)


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    output_size: Optional[BroadcastingList3[int]] = None,
    output_ratio: Optional[BroadcastingList3[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor]:
    """Maxima of windows that are placed at random, 3 numbers a channel.

    `output_ratio` says how many there are for each element of the input.

    Raises:
        ValueError: neither `output_size` nor `output_ratio` is given.
    """
    if output_size is None and output_ratio is None:
        raise ValueError(
            "fractional_max_pool3d requires specifying either an output_size or an output_ratio"
        )
    if output_size is None:
        if output_ratio is None:
            raise AssertionError("output_ratio is unexpectedly None")
        _output_ratio = triple_of_floats(output_ratio)
        output_size = [
            int(input.size(-3) * _output_ratio[0]),
            int(input.size(-2) * _output_ratio[1]),
            int(input.size(-1) * _output_ratio[2]),
        ]

    if _random_samples is None:
        n_batch = 1 if input.dim() == 4 else input.size(0)
        _random_samples = _rand(n_batch, input.size(-4), 3, dtype=input.dtype, device=input.device)
    return _fractional3d(input, kernel_size, output_size, _random_samples)


def _fractional_max_pool3d(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    output_size: Optional[BroadcastingList3[int]] = None,
    output_ratio: Optional[BroadcastingList3[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> Tensor:
    return fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )[0]


fractional_max_pool3d = FlagDispatch(
    "fractional_max_pool3d",
    "return_indices",
    4,
    fractional_max_pool3d_with_indices,
    _fractional_max_pool3d,
)


# --------------------------------------------------------------------------- powers


def lp_pool1d(
    input: Tensor,
    norm_type: int | float,
    kernel_size: int,
    stride: Optional[BroadcastingList1[int]] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The `norm_type`-norms of windows over one dimension; infinity gives maxima."""
    if isinstance(norm_type, (int, float)):
        if norm_type == float("inf"):
            return max_pool1d(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        if norm_type == -float("inf"):
            return -max_pool1d(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)

    if stride is not None:
        out = avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    else:
        out = avg_pool1d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)

    return (_sign(out) * relu(_abs(out))).mul(kernel_size).pow(1.0 / norm_type)


def lp_pool2d(
    input: Tensor,
    norm_type: int | float,
    kernel_size: BroadcastingList2[int],
    stride: Optional[BroadcastingList2[int]] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The `norm_type`-norms of windows over two dimensions; infinity gives maxima."""
    kw, kh = pair(kernel_size)
    if isinstance(norm_type, (int, float)):
        if norm_type == float("inf"):
            return max_pool2d(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        if norm_type == -float("inf"):
            return -max_pool2d(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)

    if stride is not None:
        out = avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    else:
        out = avg_pool2d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)

    return (_sign(out) * relu(_abs(out))).mul(kw * kh).pow(1.0 / norm_type)


def lp_pool3d(
    input: Tensor,
    norm_type: int | float,
    kernel_size: BroadcastingList3[int],
    stride: Optional[BroadcastingList3[int]] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The `norm_type`-norms of windows over three dimensions; infinity gives maxima."""
    kd, kw, kh = triple(kernel_size)
    if isinstance(norm_type, (int, float)):
        if norm_type == float("inf"):
            return max_pool3d(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        if norm_type == -float("inf"):
            return -max_pool3d(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)

    if stride is not None:
        out = avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    else:
        out = avg_pool3d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)

    return (_sign(out) * relu(_abs(out))).mul(kd * kw * kh).pow(1.0 / norm_type)
