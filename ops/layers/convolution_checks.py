"""What convolutions refuse, in torch's words."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from math import prod
from typing import Final

from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..memory.remembered import Recent
from ..shapes.windows import Ints
from ..table.refusals import class_name, cpp_name, not_implemented

__all__ = [
    "check_bias_dtype",
    "check_convolution",
    "check_dims",
    "check_ranks",
    "expanded",
    "transposed_sizes",
]


def _shape_error(sentence: str, headline: str, **roles: str) -> OperatorError:
    return OperatorError(sentence, code="shape-mismatch", headline=headline, roles=roles)


def expanded(values: Ints, dims: int, name: str) -> tuple[int, ...]:
    """One value a dimension of space; a single one stands for all.

    Raises:
        OperatorError: there are as many as fit nothing.
    """
    if len(values) == 1:
        return (values[0],) * dims
    if len(values) != dims:
        raise OperatorError(
            f"expected {name} to be a single integer value or a list of {dims} values to match "
            f"the convolution dimensions, but got {name}={list(values)}",
            headline=f"`{name}` needs 1 or {dims} values, it has {len(values)}",
        )
    return tuple(values)


def _check_settings(stride: Ints, padding: Ints, dilation: Ints, groups: int) -> None:
    if any(p < 0 for p in padding):
        raise OperatorError("negative padding is not supported")
    if any(s <= 0 for s in stride):
        raise OperatorError("non-positive stride is not supported")
    if any(d < 0 for d in dilation):
        raise OperatorError("dilation should be greater than zero")
    if groups <= 0:
        raise OperatorError("non-positive groups is not supported")


def check_dims(weight: Array) -> None:
    """Refuse a weight that leaves no dimension of space.

    Raises:
        OperatorError: it has too few dimensions.
    """
    if weight.ndim < 3:
        raise _shape_error(
            "weight should have at least three dimensions",
            f"`weight` has {weight.ndim} dimensions, at least 3 are needed",
            weight=f"has shape {list(weight.shape)}",
        )


def check_ranks(input: Array, weight: Array) -> None:
    """Refuse an input and a weight of different numbers of dimensions.

    Raises:
        OperatorError: they differ, or are too few.
    """
    check_dims(weight)
    if input.ndim != weight.ndim:
        raise _shape_error(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional "
            f"weight {list(weight.shape)}, but got {input.ndim}-dimensional input of size "
            f"{list(input.shape)} instead",
            f"a weight of shape {list(weight.shape)} takes inputs of {weight.ndim} dimensions, "
            f"not {input.ndim}",
            input=f"has shape {list(input.shape)}",
            weight=f"has {weight.ndim} dimensions",
        )


def _check_groups(weight: Array, groups: int) -> None:
    first = weight.shape[0]
    if first < groups:
        raise _shape_error(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, "
            f"but got weight of size {list(weight.shape)} instead",
            f"a weight for {groups} groups has at least {groups} rows, this one has {first}",
            weight=f"has {first} in dimension 0",
        )
    if first % groups:
        raise _shape_error(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{list(weight.shape)}] instead",
            f"{first} rows of `weight` do not divide into {groups} groups",
            weight=f"has {first} in dimension 0",
        )


def _check_channels(input: Array, weight: Array, groups: int, transposed: bool) -> None:
    wanted = weight.shape[0] if transposed else weight.shape[1] * groups
    got = input.shape[1]
    if got != wanted:
        given = f"transposed={1 if transposed else 0}" if transposed else f"groups={groups}"
        raise _shape_error(
            f"Given {given}, weight of size {list(weight.shape)}, expected input"
            f"{list(input.shape)} to have {wanted} channels, but got {got} channels instead",
            f"expected {wanted} input channels, got {got}",
            input=f"has {got} channels",
            weight=f"needs an input with {wanted} channels",
        )


def _check_bias(weight: Array, bias: Array | None, groups: int, transposed: bool) -> None:
    wanted = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and bias.shape != (wanted,):
        given = "transposed=1, weight" if transposed else "weight"
        raise _shape_error(
            f"Given {given} of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{wanted} elements, but got bias of size {list(bias.shape)} instead",
            f"`bias` needs the shape [{wanted}], it has {list(bias.shape)}",
            bias=f"has shape {list(bias.shape)}",
            weight=f"makes {wanted} channels",
        )


def _by(sizes: Ints) -> str:
    return f"({' x '.join(map(str, sizes))})"


def _check_kernel(input: Array, weight: Array, padding: Ints, dilation: Ints) -> None:
    kernel = weight.shape[2:]
    space = [s + 2 * p for s, p in zip(input.shape[2:], padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    if any(s < r for s, r in zip(space, reach, strict=True)):
        raise _shape_error(
            f"Calculated padded input size per channel: {_by(space)}. Kernel size: "
            f"{_by(reach)}. Kernel size can't be greater than actual input size",
            f"the kernel {_by(reach)} is larger than the padded input {_by(space)}",
            input=f"is {_by(space)} with its padding",
            weight=f"reaches over {_by(reach)}",
        )


def _check_extent(weight: Array) -> None:
    """Refuse a kernel that reaches over nothing."""
    kernel = weight.shape[2:]
    if all(kernel):
        return
    if len(kernel) < 3:
        height, width = (1, *kernel)[-2:]
        said = f" kernel_height: {height} kernel_width: {width}"
    else:
        said = f": {' x '.join(map(str, kernel))} (TxHxW)"
    raise _shape_error(
        f"kernel size should be greater than zero, but got{said}",
        f"a kernel of {_by(kernel)} reaches over nothing",
        weight=f"has shape {list(weight.shape)}",
    )


def _is_large(input: Array, weight: Array, groups: int) -> bool:
    """Whether torch leaves a convolution of float32 to its library, which looks at dtypes first."""
    kernel = weight.shape[2:]
    many = input.shape[0] > 1 or groups > 1 or prod(input.shape[:4]) > 20480
    return many or (len(kernel) > 1 and min(kernel[-2:]) > 3)


def _check_dtypes(input: Array, weight: Array, bias: Array | None, groups: int) -> None:
    for name, other in ("weight", weight), ("bias", bias):
        if other is None or other.dtype == input.dtype:
            continue
        a, b = dtype_of(input), dtype_of(other)
        if a.name == "float32" and _is_large(input, weight, groups):
            sentence = (
                f"Input type ({class_name(a)}) and {name} type ({class_name(b)}) should be the "
                f"same or input should be a MKLDNN tensor and {name} is a dense tensor"
            )
        elif name == "weight":
            sentence = f"expected scalar type {a.scalar_name} but found {b.scalar_name}"
        else:  # which is added as the input's dtype
            continue
        raise _dtype_error(sentence, input, name, other)
    if input.dtype.kind == "b":
        raise not_implemented(f"slow_conv{max(input.ndim - 2, 2)}d_cpu", input.dtype)


def check_bias_dtype(input: Array, bias: Array | None) -> None:
    """Refuse a bias of another dtype, which layers look at before anything else.

    Raises:
        OperatorError: the dtypes differ.
    """
    if bias is not None and bias.dtype != input.dtype:
        a, b = cpp_name(dtype_of(input)), cpp_name(dtype_of(bias))
        sentence = f"Input type ({a}) and bias type ({b}) should be the same"
        raise _dtype_error(sentence, input, "bias", bias)


def _dtype_error(sentence: str, input: Array, name: str, other: Array) -> OperatorError:
    return OperatorError(
        sentence,
        code="dtype-mismatch",
        headline=f"`input` is `{dtype_of(input)}`, `{name}` is `{dtype_of(other)}`",
        roles={"input": f"is `{dtype_of(input)}`", name: f"is `{dtype_of(other)}`"},
    )


def check_convolution(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    groups: int,
) -> None:
    """Refuse what does not fit together.

    Raises:
        OperatorError: the shapes, dtypes or settings do not fit.
    """
    shapes = input.shape, weight.shape, None if bias is None else bias.shape
    dtypes = input.dtype, weight.dtype, None if bias is None else bias.dtype
    settings = tuple(stride), tuple(padding), tuple(dilation), transposed, groups
    known = shapes, dtypes, settings
    if known in _CHECKED:
        return
    _check_settings(stride, padding, dilation, groups)
    check_ranks(input, weight)
    _check_groups(weight, groups)
    _check_channels(input, weight, groups, transposed)
    _check_bias(weight, bias, groups, transposed)
    if not transposed:
        _check_kernel(input, weight, padding, dilation)
    _check_extent(weight)
    if any(d == 0 for d in dilation):
        said = [1, *dilation] if len(dilation) == 1 else [*dilation]
        raise OperatorError(f"dilation should be greater than zero, but got {said}")
    if not input.size and input.shape[0] and input.shape[1]:
        raise OperatorError(
            "Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{list(input.shape)}"
        )
    _check_dtypes(input, weight, bias, groups)
    _CHECKED.keep(known, True)


_CHECKED: Final[Recent[Hashable, bool]] = Recent(1000)
"""What was found to fit: programs convolve the same shapes again and again."""


@lru_cache(256)
def transposed_sizes(
    space: Ints,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    output_padding: Ints,
) -> tuple[int, ...]:
    """The space of a transposed convolution's output.

    Raises:
        OperatorError: `output_padding` is too large, or the output too small.
    """
    each = zip(space, kernel, stride, padding, dilation, output_padding, strict=True)
    output = tuple(
        (s - 1) * step - 2 * p + d * (k - 1) + more + 1 for s, k, step, p, d, more in each
    )
    if any(p < 0 for p in output_padding):
        raise OperatorError("negative output_padding is not supported")
    settings = zip(output_padding, stride, dilation, strict=True)
    if any(p >= s and p >= d for p, s, d in settings):
        names = ("depth", "height", "width")[3 - max(len(output), 2) :]
        groups = {"output_padding": output_padding, "stride": stride, "dilation": dilation}
        if len(output) == 1:
            groups = {
                "output_padding": (0, *output_padding),
                "stride": (1, *stride),
                "dilation": (1, *dilation),
            }
        said = " ".join(
            f"{setting}_{name}: {value}"
            for setting, values in groups.items()
            for name, value in zip(names, values, strict=True)
        )
        raise OperatorError(
            "output padding must be smaller than either stride or dilation, but got " + said
        )
    if min(output) < (0 if len(output) == 2 else 1):
        before, after = ((1, *s) if len(s) == 1 else s for s in (space, output))
        raise _shape_error(
            f"Given input size per channel: {_by(before)}. Calculated output size per "
            f"channel: {_by(after)}. Output size is too small",
            f"the output would be {_by(output)}",
            input=f"is {_by(space)}",
        )
    return output
