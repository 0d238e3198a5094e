"""Unpooling, and max pooling over windows of random places."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from ..memory.determinism import alert_not_deterministic
from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..memory.storage import settled
from ..shapes.windows import Ints, follow_format, wide_dtype
from ..table.refusals import Refusal, not_implemented
from ..table.table import operator
from .max_pool import max_over

_INT64: Final = np.dtype(np.int64)


# --------------------------------------------------------------------------- unpooling


def _check_unpool(self: Array, indices: Array, output: Ints, dims: int) -> None:
    if len(output) != dims:
        words = {2: "two", 3: "three"}
        names = {2: "height, width", 3: "depth, height, width"}
        raise OperatorError(
            f"There should be exactly {words[dims]} elements ({names[dims]}) in output_size, but "
            f"got {len(output)} elements."
        )
    if indices.dtype != _INT64:
        raise OperatorError(
            f"elements in indices should be type int64 but got: {dtype_of(indices).scalar_name}",
            code="dtype-mismatch",
        )
    if self.ndim not in (dims + 1, dims + 2):
        kind = "3D or 4D tensor" if dims == 2 else "4D or 5D tensor"
        raise OperatorError(
            f"Input to max_unpooling{dims}d should be a {kind}, but got a tensor with "
            f"{self.ndim} dimensions.",
            code="shape-mismatch",
        )
    if self.shape != indices.shape:
        raise OperatorError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(self.shape)}) but got indices tensor with shape: {list(indices.shape)}",
            code="shape-mismatch",
            headline=f"`self` has shape {list(self.shape)}, `indices` {list(indices.shape)}",
            roles={
                "self": f"has shape {list(self.shape)}",
                "indices": f"has shape {list(indices.shape)}",
            },
        )


def _unpool(self: Array, indices: Array, output: Ints) -> Array:
    """Zeros with every element put back at its place in its plane."""
    dims = len(output)
    outer = self.shape[: self.ndim - dims]
    planes, volume = prod(outer), prod(output)
    result = np.zeros((planes, volume), self.dtype)
    if self.size:
        at = settled(indices).reshape(planes, -1)
        wrong = at[(at < 0) | (at >= volume)]
        if wrong.size:
            raise OperatorError(
                f"Found an invalid max index: {wrong[0]} (output volumes are of size "
                f"{'x'.join(map(str, output))})",
                code="index-out-of-range",
                headline=f"{wrong[0]} is no place in an output of {volume} elements a plane",
            )
        np.put_along_axis(result, at, self.reshape(planes, -1), 1)
    made = result.reshape(*outer, *output)
    return follow_format(made, self) if dims == 2 else made


@operator(
    "aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
    autocast="full",
    refuses=Refusal("biuqc", "max_unpool2d"),
    face="layer",
    cost="reads",
)
def max_unpool2d(self: Array, indices: Array, output_size: Ints) -> Array:
    alert_not_deterministic("max_unpooling2d_forward_out")
    _check_unpool(self, indices, output_size, 2)
    return _unpool(self, indices, output_size)


@operator(
    "aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, "
    "int[3] padding) -> Tensor",
    autocast="full",
    refuses=Refusal("biuqc", "max_unpool3d"),
    face="layer",
    cost="reads",
)
def max_unpool3d(
    self: Array, indices: Array, output_size: Ints, stride: Ints, padding: Ints
) -> Array:
    alert_not_deterministic("max_unpooling3d_forward_out")
    _check_unpool(self, indices, output_size, 3)
    if any(step <= 0 for step in stride):
        raise OperatorError(f"strides should be greater than zero, but got stride: {list(stride)}")
    return _unpool(self, indices, output_size)


# --------------------------------------------------------------------------- fractional


def _starts(samples: Array, size: int, count: int, kernel: int) -> Array:
    """Where the windows of each plane start: samples of shape S give (*S, count)."""
    starts = np.empty((*samples.shape, count), _INT64)
    if count > 1:
        step = samples.dtype.type(size - kernel) / samples.dtype.type(count - 1)
        at = np.arange(count - 1, dtype=samples.dtype)
        moved = ((at + samples[..., None]) * step).astype(_INT64)
        starts[..., :-1] = moved - (samples * step).astype(_INT64)[..., None]
    starts[..., -1:] = size - kernel
    return starts


def _at(starts: Array) -> Callable[[int], tuple[Array, Array]]:
    def at(k: int) -> tuple[Array, Array]:
        return starts + k, np.asarray(True)

    return at


def _fractional(
    self: Array, kernel: Ints, output: Ints, samples: Array, order: Ints, name: str
) -> tuple[Array, Array]:
    """`order` says which sample moves which dimension of space."""
    dims = len(order)
    _check_fractional(self, kernel, output, samples, dims, name)
    batch = self if self.ndim == dims + 2 else self[None]
    wide = wide_dtype(self.dtype)
    values, index, scale = batch.astype(wide, copy=False), None, 1
    firsts: Any = 0
    moves = samples[: len(batch)].astype(wide, copy=False)
    for place in reversed(range(dims)):
        size, axis = batch.shape[2 + place], 2 + place
        starts = _starts(moves[..., order[place]], size, output[place], kernel[place])
        shape = [1] * batch.ndim
        shape[:2], shape[axis] = starts.shape[:2], output[place]
        starts = starts.reshape(shape)
        firsts = firsts + starts * scale
        if min(kernel) > 0:
            values, index = max_over(values, index, axis, kernel[place], _at(starts), scale)
        scale *= size
    if index is None:  # windows without elements: the place where one begins
        values, index = np.full(firsts.shape, -np.inf, wide), firsts
    values = values.astype(self.dtype, copy=False)
    index = np.ascontiguousarray(index)
    return (values, index) if self.ndim == dims + 2 else (values[0], index[0])


def _check_fractional(
    self: Array, kernel: Ints, output: Ints, samples: Array, dims: int, name: str
) -> None:
    for word, given in (("kernel_size", kernel), ("output_size", output)):
        if len(given) != dims:
            numbers = "three Ints" if dims == 3 else "Ints"
            raise OperatorError(f"{name}: {word} must either be a single Int or tuple of {numbers}")
    if dims == 3:
        name += "_out"
    if self.ndim not in (dims + 1, dims + 2):
        raise OperatorError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(self.shape)}",
            code="shape-mismatch",
        )
    for dim in range(self.ndim - dims - 1, self.ndim):
        if not self.shape[dim]:
            raise OperatorError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"got{list(self.shape)} with dimension {dim} being empty.",
                code="shape-mismatch",
            )
    letters = {2: "height width", 3: "time height width"}[dims].split()
    for letter, size, k, count in zip(letters, self.shape[-dims:], kernel, output, strict=True):
        if count + k - 1 + (dims == 3) > size:
            raise OperatorError(
                f"{name}(): pool {letter} {k} too large relative to input {letter} {size}"
            )
    _check_samples(self, samples, dims)
    if min(output) < 0:
        raise OperatorError(
            f"Trying to create tensor with negative dimension {min(output)}: "
            f"{[*self.shape[:-dims], *output]}"
        )
    if self.dtype.kind in "biuc":
        raise not_implemented(f"{name.removesuffix('_out')}_out_frame", self.dtype)


def _check_samples(self: Array, samples: Array, dims: int) -> None:
    """Random samples are numbers for each sample, channel and dimension of space."""
    batch, channels = self.shape[0] if self.ndim == dims + 2 else 1, self.shape[-dims - 1]
    if self.dtype != samples.dtype:
        raise OperatorError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise OperatorError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    if samples.shape[0] < batch:
        raise OperatorError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != channels:
        raise OperatorError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != dims:
        raise OperatorError(
            f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[2]}."
        )


@operator(
    "aten::fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, "
    "Tensor random_samples) -> (Tensor, Tensor)",
    autocast="full",
    face="layer",
    cost="windows",
    out="output output indices",
)
def fractional_max_pool2d(
    self: Array, kernel_size: Ints, output_size: Ints, random_samples: Array
) -> tuple[Array, Array]:
    name = "fractional_max_pool2d"
    return _fractional(self, kernel_size, output_size, random_samples, (1, 0), name)


@operator(
    "aten::fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, "
    "Tensor random_samples) -> (Tensor, Tensor)",
    autocast="full",
    face="layer",
    cost="windows",
    out="output output indices",
)
def fractional_max_pool3d(
    self: Array, kernel_size: Ints, output_size: Ints, random_samples: Array
) -> tuple[Array, Array]:
    name = "fractional_max_pool3d"
    return _fractional(self, kernel_size, output_size, random_samples, (0, 1, 2), name)
