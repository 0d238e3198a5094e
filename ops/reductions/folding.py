"""Tensors folded over dimensions by native code."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from types import ModuleType
from typing import Final

import numpy as np

from ..kernels import (
    Prepared,
    cast_by_kernel,
    family,
    in_order,
    is_half,
    is_real,
    written_by_numpy,
)
from ..kernels.flags import new_flag
from ..memory.complex_parts import parts
from ..memory.dtype import Array, Dtype
from ..memory.order import order_of
from ..memory.storage import view_of

__all__ = ["folded", "moments", "spread", "spread_and_middle"]

_FLOAT32: Final = np.dtype(np.float32)
_INT64: Final = np.dtype(np.int64)
_COPIED: Final = 1 << 26
"""Bytes of a tensor that are copied at most to be folded."""


def folded(
    self: Array,
    axes: tuple[int, ...] | None,
    keepdim: bool,
    operation: str,
    *,
    wide: bool = False,
) -> Array | None:
    """The "sum", "product", "max" or "min" over dimensions, in the tensor's dtype; None if it is to
    be had otherwise.  Of floats the "squares" too, the sum of them, and "present", the sum of what
    is not NaN; of complex numbers the sum alone.

    Sums and products of whole numbers and bools are in int64, of 16-bit floats in float32 where
    they are `wide`.  Groups of neighbouring dimensions are folded from the last one on.
    """
    if self.dtype.kind == "c":
        return _folded_parts(self, axes, keepdim) if operation == "sum" and self.size else None
    found: Array | None = _known.call(self, axes, keepdim, operation, wide)
    return found


def _folded_parts(self: Array, axes: tuple[int, ...] | None, keepdim: bool) -> Array | None:
    """The sum of complex numbers: real and imaginary parts are added for themselves."""
    ordered = tuple(range(self.ndim)) if axes is None else axes
    made: Array | None = _known.call(parts(self[...]), ordered, keepdim, "sum", False)
    return None if made is None else made.view(self.dtype)[..., 0]


def _folded(
    self: Array, axes: tuple[int, ...] | None, keepdim: bool, operation: str, wide: bool
) -> Array | None:
    self = self[...]  # which no other thread can change
    folds = family("rows.folds") if self.flags.aligned else None
    if folds is None:
        return None
    ordered = tuple(range(self.ndim)) if axes is None else tuple(sorted(axes))
    if 0 in self.strides:
        found = _folded_repeated(self, ordered, keepdim, operation, wide)
        if found is not None:
            return found
    if self.flags.c_contiguous:
        return _fold_groups(folds, self, ordered, keepdim, operation, wide)
    order = order_of(self)
    if order is None:
        made = _fold_lines(folds, self, ordered, keepdim, operation, wide)
        if made is not None or not _pays_copied(self):
            return made
        return _fold_groups(folds, in_order(self), ordered, keepdim, operation, wide)
    kept = [dim for dim in order if dim not in ordered]
    axes = tuple(place for place, dim in enumerate(order) if dim in ordered)
    found = _fold_groups(folds, self.transpose(order), axes, False, operation, wide)
    if found is None:
        return None
    if kept != sorted(kept):
        found = in_order(found.transpose([kept.index(dim) for dim in sorted(kept)]))
    return found.reshape(_kept(self, ordered)) if keepdim else found


def _folded_repeated(
    self: Array, axes: tuple[int, ...], keepdim: bool, operation: str, wide: bool
) -> Array | None:
    """What is folded where the same is repeated along dimensions: of that once, so many times.

    None where nothing is, and of what is rounded to 16 bits before it is multiplied.
    """
    repeated = [dim for dim, size in enumerate(self.shape) if size > 1 and not self.strides[dim]]
    times = prod(self.shape[dim] for dim in repeated if dim in axes)
    adds = operation in ("sum", "squares", "present")
    is_known = times == 1 or adds or operation in ("max", "min")
    is_rounded = adds and times > 1 and is_half(self.dtype) and not wide
    if not (repeated and self.size and is_known) or is_rounded:
        return None
    once = tuple(slice(1 if dim in repeated else None) for dim in range(self.ndim))
    made = _folded(self[once], axes, True, operation, wide)
    if made is not None and adds and times > 1:
        count = np.full((), times, made.dtype)
        count.setflags(write=False)
        made = family("elementwise.arrays").apply("multiply", (made, count))
    if made is None:
        return None
    sizes = _kept(self, axes)
    if list(made.shape) != sizes:
        made = in_order(np.broadcast_to(made, sizes))
    return made if keepdim else made.reshape([n for d, n in enumerate(sizes) if d not in axes])


def _pays_copied(self: Array) -> bool:
    """Whether a tensor is copied to be folded: it is not too large, and repeats nothing."""
    repeats = any(
        size > 1 and not step for size, step in zip(self.shape, self.strides, strict=True)
    )
    return self.nbytes <= _COPIED and not repeats


def _kept(self: Array, axes: tuple[int, ...]) -> list[int]:
    """The sizes with those of some dimensions 1."""
    return [1 if dim in axes else size for dim, size in enumerate(self.shape)]


def _fold_groups(
    folds: ModuleType,
    self: Array,
    ordered: tuple[int, ...],
    keepdim: bool,
    operation: str,
    wide: bool,
) -> Array | None:
    groups, dtype = _groups(ordered), _result_dtype(self, operation, wide)
    if operation == "present" and len(groups) > 1:
        return None
    if operation == "sum" and len(groups) > 1:
        operation = "total"
    made: Array | None = self if groups else None
    for first, last in groups:
        if made is None:
            return None
        made = folds.fold(made, first, last, operation, wide=wide)
        if operation in ("sum", "squares"):  # what is left is summed in double
            operation = "total"
    return None if made is None else _shaped(made, self, ordered, keepdim, dtype)


def _result_dtype(self: Array, operation: str, wide: bool) -> Dtype:
    """The dtype of what is folded."""
    if is_half(self.dtype):
        return _FLOAT32 if wide else self.dtype
    is_whole = self.dtype.kind in "iub" and operation in ("sum", "product")
    return _INT64 if is_whole else self.dtype


def _shaped(made: Array, self: Array, axes: tuple[int, ...], keepdim: bool, dtype: Dtype) -> Array:
    """What a tensor was folded to over some dimensions, in a dtype."""
    if made.dtype != dtype:  # always by native code, so that it may be learned
        made = family("elementwise.arrays").cast(made, dtype)
    sizes = _kept(self, axes)
    if not keepdim:
        sizes = [size for dim, size in enumerate(sizes) if dim not in axes]
    return made.reshape(sizes)


def _fold_lines(
    folds: ModuleType, self: Array, axes: tuple[int, ...], keepdim: bool, operation: str, wide: bool
) -> Array | None:
    """What lies in no order, by lines that do: over the last dimensions, then over the others."""
    last = next((n for n in range(len(axes), 0, -1) if _lines(self, axes[-n:]) is not None), 0)
    if not last:
        return None
    first, lines = axes[: len(axes) - last], _lines(self, axes[len(axes) - last :])
    now = "total" if first and operation == "sum" else operation
    made = folds.fold_lines(lines, now, wide=wide or (bool(first) and operation == "present"))
    if made is None:
        return None
    if first:
        rest = made.reshape(self.shape[: self.ndim - last])
        again = "total" if operation in ("sum", "squares", "present") else operation
        made = _fold_groups(folds, rest, first, False, again, wide)
    dtype = _result_dtype(self, operation, wide)
    return None if made is None else _shaped(made, self, axes, keepdim, dtype)


def _lines(self: Array, axes: tuple[int, ...]) -> Array | None:
    """A tensor as matrices whose rows are what its last dimensions hold; None if it does not lie
    so, or if others are folded."""
    kept = self.ndim - len(axes)
    if not self.size or axes != tuple(range(kept, self.ndim)) or self.dtype.kind == "c":
        return None
    levels, whole = list[tuple[int, int]](), 1
    for dim in reversed(range(self.ndim)):
        size, step = self.shape[dim], self.strides[dim]
        if size == 1:
            continue
        if dim >= kept:
            if step != whole * self.itemsize:
                return None
            whole *= size
        elif levels and step == levels[-1][0] * levels[-1][1]:
            levels[-1] = levels[-1][0] * size, levels[-1][1]
        else:
            levels.append((size, step))
    levels += [(1, 0)] * (2 - len(levels))
    if len(levels) > 2 or any(step % self.itemsize for _, step in levels):
        return None
    (lines, pitch), (outer, far) = levels
    steps = far, pitch, self.itemsize
    return view_of(self, (outer, lines, whole), steps, writeable=False)


_known: Final = Prepared(_folded)


def _groups(axes: tuple[int, ...]) -> list[tuple[int, int]]:
    """Runs of neighbouring dimensions, the last one first."""
    found: list[tuple[int, int]] = []
    for axis in reversed(axes):
        if found and found[-1][0] == axis + 1:
            found[-1] = axis, found[-1][1]
        else:
            found.append((axis, axis + 1))
    return found


def moments(self: Array, axes: tuple[int, ...]) -> tuple[Array, Array] | None:
    """Over some dimensions the sum of squared distances from the mean, and the mean, in double.

    None if it is to be had otherwise.
    """
    found = _in_rows(self[...], axes)
    if found is None:
        return None
    (self, shape), folds = found, family("rows.folds")
    if shape or self.size <= folds.PIECE:
        middle, squares = family("rows.rows").moments(self.reshape(prod(shape), -1))
    else:
        middle = folds.fold(self, 0, self.ndim, "total") / self.size
        squares = folds.fold(self, 0, self.ndim, "squares", float(middle))
    return np.asarray(squares).reshape(shape), np.asarray(middle).reshape(shape)


def spread(
    self: Array, axes: tuple[int, ...], freedom: float, *, keepdim: bool, of_root: bool
) -> Array | None:
    """Over some dimensions the sum of squared distances from the mean over a number, or the root
    of it, in the tensor's dtype; None if it is to be had otherwise."""
    found, sizes = _in_rows(self[...], axes), _kept(self, axes)
    if found is None or _is_one_long(*found):
        return None
    rows, shape = found
    made: Array = family("rows.rows").variance(
        rows.reshape(prod(shape), -1), freedom, of_root=of_root
    )
    return made.reshape(sizes if keepdim else shape)


def spread_and_middle(
    self: Array, axes: tuple[int, ...], freedom: float, *, keepdim: bool, of_root: bool
) -> tuple[Array, Array] | None:
    """The same, and the mean, of floats of 16 bits too; None also where a mean is not finite."""
    own, wide = self.dtype, self[...]
    if is_half(own):
        wide = cast_by_kernel(wide, _FLOAT32)
    found, sizes = _in_rows(wide, axes), _kept(wide, axes)
    if found is None or _is_one_long(*found):
        return None
    wide, shape = found
    middle, squares = family("rows.rows").moments(wide.reshape(prod(shape), -1))
    arrays, folds = family("elementwise.arrays"), family("rows.folds")
    lost = arrays.evaluate([("isfinite", "d", (0,)), ("is_zero", "?", (1,))], "?", middle)
    if folds.fold(lost, 0, 1, "sum", flag=new_flag()):
        written_by_numpy()
        return None
    letter = wide.dtype.char
    steps = [("divide", "d", (0, 1)), *([("sqrt", "d", (2,))] if of_root else [])]
    steps.append(("same", letter, (len(steps) + 1,)))
    both = (
        arrays.evaluate(steps, letter, squares, freedom),
        arrays.evaluate([("same", letter, (0,))], letter, middle),
    )
    shape = tuple(sizes) if keepdim else shape
    first, second = (
        (cast_by_kernel(each, own) if own is not wide.dtype else each).reshape(shape)
        for each in both
    )
    return first, second


def _in_rows(self: Array, axes: tuple[int, ...]) -> tuple[Array, tuple[int, ...]] | None:
    """A tensor with some dimensions last, and the sizes before them; None where there are no
    kernels for it.

    float32 is copied if need be: others would be rounded otherwise than along their own order.
    """
    last: Sequence[int] = axes
    if self.dtype is _FLOAT32:
        self, last = _turned(self, axes), range(self.ndim - len(axes), self.ndim)
    shape = _before(self, last)
    if shape is None or family("rows.folds") is None or family("rows.rows") is None:
        return None
    return self, shape


def _is_one_long(rows: Array, shape: tuple[int, ...]) -> bool:
    """Whether there is one row alone, which is longer than what one thread takes."""
    return not shape and rows.size > family("rows.folds").PIECE


def _turned(self: Array, axes: tuple[int, ...]) -> Array:
    """A tensor with some dimensions last, in one piece."""
    kept = [dim for dim in range(self.ndim) if dim not in axes]
    order = [*kept, *sorted(axes)]
    return in_order(self if order == sorted(order) else self.transpose(order))


def _before(self: Array, axes: Sequence[int]) -> tuple[int, ...] | None:
    """The sizes before some dimensions, of an array of reals in one piece; None if they are not the
    last ones."""
    kept = self.ndim - len(axes)
    if tuple(sorted(axes)) != tuple(range(kept, self.ndim)) or not is_real(self):
        return None
    return self.shape[:kept]
