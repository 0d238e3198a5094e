"""What poolings refuse, in torch's words, and the sizes of what they make."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Final

import numpy as np

from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange, OperatorError
from ..shapes.windows import Ints, per_dimension

__all__ = ["Geometry", "check_ints", "check_pool_input", "pool_geometry", "pooled_size", "setting"]


_NOTHING: Final = np.zeros(())


class Geometry:
    """The windows of one pooling: a number a dimension of space each."""

    __slots__ = ("dilation", "kernel", "output", "padding", "stride")

    def __init__(
        self, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, output: Ints
    ) -> None:
        self.kernel = kernel
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.output = output


_COUNTS = {1: "one", 2: "two", 3: "three"}


def setting(values: int | Ints, dims: int, name: str, function: str) -> tuple[int, ...]:
    """One value a dimension of space.

    Raises:
        OperatorError: there are as many as fit nothing.
    """
    if not isinstance(values, int) and len(values) not in (1, dims):
        plural = f"a tuple of {_COUNTS[dims]} ints" if dims > 1 else "a tuple of one int"
        raise OperatorError(
            f"{function}: {name} must either be a single int, or {plural}",
            headline=f"`{name}` needs 1 or {dims} values, it has {len(values)}",
        )
    return per_dimension(values, dims)


def check_ints(*settings: int | Ints) -> None:
    """Refuse settings that torch cannot hold in 32 bits.

    Raises:
        OperatorError: one is too large.
    """
    values = (v for each in settings for v in ((each,) if isinstance(each, int) else each))
    if any(not -(1 << 31) <= value < 1 << 31 for value in values):
        raise OperatorError("value cannot be converted to type int without overflow")


def pooled_size(
    size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> int:
    """How many windows fit along a dimension.

    Raises:
        OperatorError: the settings make no sense.
    """
    if stride == 0:
        raise OperatorError("stride should not be zero")
    if padding < 0:
        raise OperatorError(f"pad must be non-negative, but got pad: {padding}")
    if padding > int(((kernel - 1) * dilation + 1) / 2):
        raise OperatorError(
            "pad should be at most half of effective kernel size, but got "
            f"pad={padding}, kernel_size={kernel} and dilation={dilation}"
        )
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


_LETTERS = {1: "W", 2: "HW", 3: "THW"}


def _check_positive(values: Ints, what: str, prefix: str) -> None:
    if any(value <= 0 for value in values):
        said = " ".join(
            f"{prefix.format(letter)}: {value}"
            for letter, value in zip(_LETTERS[len(values)], values, strict=True)
        )
        raise OperatorError(f"{what} should be greater than zero, but got {said}")


def check_pool_input(input: Array, dims: int, function: str = "") -> None:
    """Refuse inputs without elements, except by an empty batch.

    Raises:
        OperatorError: a dimension other than the batch is empty, or their number is wrong.
    """
    if dims == 3:
        if not prod(input.shape[-4:]):
            raise OperatorError(
                f"{function}: Expected input's non-batch dimensions to have positive length, but "
                f"input has a shape of {list(input.shape)} and non-batch dimension 0 has "
                "length zero!",
                code="shape-mismatch",
            )
        return
    if not prod(input.shape[-dims - 1 :]):
        raise OperatorError(
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(input.shape)}",
            code="shape-mismatch",
            headline=f"an input of shape {list(input.shape)} has nothing to pool",
            roles={"self": f"has shape {list(input.shape)}"},
        )


def _check_output(input: Array, dims: int, output: Ints) -> None:
    if any(size < 1 for size in output):
        planes = input.shape[-dims - 1]
        before = "x".join(map(str, (planes, *input.shape[-dims:])))
        after = "x".join(map(str, (planes, *output)))
        raise OperatorError(
            f"Given input size: ({before}). Calculated output size: ({after}). "
            "Output size is too small",
            code="shape-mismatch",
            headline=f"no window fits: the output would be {after}",
            roles={"self": f"has shape {list(input.shape)}"},
        )


def pool_geometry(
    input: Array,
    dims: int,
    function: str,
    kernel_size: Ints,
    stride: Ints,
    padding: int | Ints,
    dilation: int | Ints,
    ceil_mode: bool,
    averaging: bool = False,
) -> Geometry:
    """The windows over an input of `dims` dimensions of space, all checked.

    Raises:
        OperatorError: the settings do not fit each other or the input.
    """
    settings = (_kept(each) for each in (kernel_size, stride, padding, dilation))
    return _geometry(input.shape, dims, function, *settings, ceil_mode, averaging)


def _kept(values: int | Ints) -> int | Ints:
    return values if isinstance(values, int) else tuple(values)


@lru_cache(256)
def _geometry(
    shape: tuple[int, ...],
    dims: int,
    function: str,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    padding: int | Ints,
    dilation: int | Ints,
    ceil_mode: bool,
    averaging: bool,
) -> Geometry:
    """The same from the shape, remembered."""
    input = np.broadcast_to(_NOTHING, shape)
    kernel = setting(kernel_size, dims, "kernel_size", function)
    steps = setting(stride, dims, "stride", function) if stride else kernel
    pads = setting(padding, dims, "padding", function)
    spread = setting(dilation, dims, "dilation", function)
    ranks = (dims + 1, dims + 2)
    if averaging and dims == 2 and input.ndim < 3:
        raise IndexOutOfRange(
            f"Dimension out of range (expected to be in range of [{-input.ndim}, "
            f"{input.ndim - 1}], but got -3)"
        )
    if input.ndim not in ranks:
        raise OperatorError(
            f"non-empty {ranks[0]}D or {ranks[1]}D (batch mode) tensor expected for input",
            code="shape-mismatch",
            headline=f"`{function}` takes inputs of {ranks[0]} or {ranks[1]} dimensions, "
            f"not {input.ndim}",
            roles={"self": f"has shape {list(input.shape)}"},
        )
    space = zip(input.shape[-dims:], kernel, steps, pads, spread, strict=True)
    output = [pooled_size(*numbers, ceil_mode) for numbers in space]
    _check_positive(kernel, "kernel size", "k{}")
    _check_positive(steps, "stride", "d{}")
    _check_positive(spread, "dilation", "dilation{}")
    template = "avg_pool3d_out_cpu" if averaging else "max_pool3d_with_indices_out_cpu_template"
    check_pool_input(input, dims, f"{template}()")
    if dims == 3 and averaging:
        _check_covered(input, kernel)
    _check_half(kernel, pads)
    _check_output(input, dims, output)
    return Geometry(kernel, steps, pads, spread, output)


def _check_half(kernel: Ints, pads: Ints) -> None:
    """Half of what a window spans may be padding on a line, else half of its kernel."""
    if len(kernel) == 1 or all(pad <= k // 2 for pad, k in zip(pads, kernel, strict=True)):
        return
    if len(kernel) == 2:
        said = f"padW = {pads[1]}, padH = {pads[0]}, kW = {kernel[1]}, kH = {kernel[0]}"
    else:
        sides = {"k": kernel, "pad": pads}
        said = " ".join(
            f"{n}{'TWH'[i]}: {v[(0, 2, 1)[i]]}" for n, v in sides.items() for i in range(3)
        )
    raise OperatorError(
        f"pad should be smaller than or equal to half of kernel size, but got {said}"
    )


def _check_covered(input: Array, kernel: Ints) -> None:
    space = input.shape[-3:]
    if any(k > s for k, s in zip(kernel, space, strict=True)):
        image = " ".join(f"{n}: {s}" for n, s in zip("THW", space, strict=True))
        window = " ".join(f"k{n}: {k}" for n, k in zip("THW", kernel, strict=True))
        raise OperatorError(f"input image ({image}) smaller than kernel size ({window})")
