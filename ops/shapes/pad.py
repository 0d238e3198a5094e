"""Padding: with a number, by reflection, by repeating the edge, by going around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..kernels import family, in_order, is_last_whole, move, unfilled, written_by_numpy
from ..memory.dtype import Array, Key, Scalar
from ..memory.errors import OperatorError, UnsupportedOperator
from ..memory.remembered import remembered
from ..table.direct import notes_of
from ..table.formula import Part, filled_with, moved
from ..table.inline import native
from ..table.layouts import contiguous, like
from ..table.pointwise import checked_operand
from ..table.record import Policy
from ..table.refusals import Refusal, check_kernel
from ..table.table import operator
from ..table.without_data import rows_of
from .windows import Ints, ends_in_channels, follow_format

__all__ = ["constant_pad_nd", "pad"]

Indexer = Callable[[Array, int], Array]


def _pairs(pad: Ints) -> list[tuple[int, int]]:
    """(before, after) of each padded dimension, the first of them first."""
    return [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]


# --------------------------------------------------------------------------- constant


def _bordered(result: Array, self: Array, pad: Ints, value: Scalar) -> list[Part]:
    """What stays, and the strips around it, those of the first dimension as long as the result."""
    left, parts = result, list[Part]()
    for dim, (before, after) in enumerate(_pairs(pad), self.ndim - len(pad) // 2):
        if before < 0 or after < 0:
            return []
        here, end = (slice(None),) * dim, before + self.shape[dim]
        for strip in (slice(before), slice(end, None)):
            parts.append(filled_with(value, left[(*here, strip)]))
        left = left[(*here, slice(before, end))]
    return [*parts, moved(self, left)]


def _bordered_natively(result: Array, self: Array, pad: Ints, value: Scalar) -> bool:
    """Whether kernels have put a result together, which they do for who learns from them."""
    native = family("calls.run")
    if native is None or not native.is_told() or not result.size:
        return False
    arrays = family("elementwise.arrays")
    if not arrays.LETTERS[result.dtype]:
        return False
    notes = notes_of(arrays, _bordered(result, self, pad, value))
    if not notes:
        return False
    for note in notes:
        native.run(*note)
    return True


def _part(self: Array, left: Sequence[slice]) -> Array:
    """A copy of a part, dense as a clone of it is."""
    part = self[tuple(left)]
    made = like(part, self.dtype)
    move(part, made)
    return made


@operator(
    "aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
    face="function",
    parts=_bordered,
    rows=rows_of("self"),
    on_slices="borders",
)
def constant_pad_nd(self: Array, pad: Ints, value: Scalar) -> Array:
    if len(pad) % 2:
        raise OperatorError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) // 2 > self.ndim:
        raise OperatorError(
            f"Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)} while the input has {self.ndim} dimensions."
        )
    pairs = [(0, 0)] * (self.ndim - len(pad) // 2) + _pairs(pad)
    shape = tuple(
        size + before + after for size, (before, after) in zip(self.shape, pairs, strict=True)
    )
    for size, (before, after) in zip(self.shape, pairs, strict=True):
        if size + min(before, 0) + min(after, 0) < 0:
            raise OperatorError("narrow(): length must be non-negative.", code="shape-mismatch")
    for dim, (size, pair) in enumerate(zip(self.shape, pairs, strict=True)):
        if shape[dim] < 0:
            raise OperatorError(
                f"The input size {size}, plus negative padding {pair[0]} and {pair[1]} resulted "
                "in a negative output size, which is invalid. Check dimension "
                f"{dim} of your input.",
                code="shape-mismatch",
                roles={"self": f"has {size} in dimension {dim}"},
            )
    if all(part <= 0 for pair in pairs for part in pair):
        left = [slice(-b, size + a) for size, (b, a) in zip(self.shape, pairs, strict=True)]
        return _part(self, left)
    number = checked_operand(value, self.dtype)
    result = unfilled(shape, self.dtype, is_last=ends_in_channels(self))
    if _bordered_natively(result, self, pad, value):
        return result
    written_by_numpy()
    result.fill(number)
    target = tuple(slice(max(b, 0), n - max(a, 0)) for n, (b, a) in zip(shape, pairs, strict=True))
    source = tuple(
        slice(max(-b, 0), s - max(-a, 0)) for s, (b, a) in zip(self.shape, pairs, strict=True)
    )
    if all(shape):
        result[target] = self[source]
    return result


# --------------------------------------------------------------------------- by index


def _reflected(at: Array, size: int) -> Array:
    at = np.abs(at)
    return np.where(at >= size, 2 * (size - 1) - at, at)


def _replicated(at: Array, size: int) -> Array:
    return np.clip(at, 0, size - 1)


def _circular(at: Array, size: int) -> Array:
    return at % size


def _taken(self: Array, pad: Ints, indexer: Indexer) -> Array:
    """The array, which is nobody else's, with each padded dimension read at the places `indexer`
    says."""
    pairs = _pairs(pad)
    is_plain = self.size and not self.dtype.hasobject and self.dtype.names is None
    native = family("convolutions.edges") if is_plain else None
    if native is not None and self.itemsize in native.SIZES:
        space = self.shape[self.ndim - len(pairs) :]
        if min(size + sum(pair) for size, pair in zip(space, pairs, strict=True)) > 0:
            if len(pairs) == self.ndim - 2 and is_last_whole(self):
                pixels = self.transpose(0, *range(2, self.ndim), 1)
                places = _places(pixels.shape[1:], (*pairs, (0, 0)), indexer)
                made = native.edged(pixels, places)
                return made.transpose(0, -1, *range(1, self.ndim - 1))  # type: ignore[no-any-return]
            places = _places(space, tuple(pairs), indexer)
            return follow_format(native.edged(in_order(self), places), self)
    result = self
    for dim, (before, after) in enumerate(pairs, self.ndim - len(pairs)):
        size = self.shape[dim]
        if before or after:
            result = result.take(indexer(np.arange(-before, size + after), size), dim)
    return follow_format(result.copy() if result is self else result, self)


@remembered(4 << 20)
def _places(space: tuple[int, ...], pairs: tuple[tuple[int, int], ...], indexer: Indexer) -> Any:
    """Where the elements of a result come from, for a kernel."""
    each = zip(space, pairs, strict=True)
    tables = [indexer(np.arange(-before, n + after), n) for n, (before, after) in each]
    before, after = pairs[-1]
    inner = space[-1] + min(before, 0) + min(after, 0)
    return family("convolutions.edges").Places.of(space, tables, max(before, 0), max(inner, 0))


def _sizes(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _check_rank(self: Array, pad: Ints, dims: int) -> None:
    if len(pad) != 2 * dims:
        raise OperatorError(f"padding size is expected to be {2 * dims}, but got: {len(pad)}")
    inner = self.shape[1:] if self.ndim == dims + 2 else self.shape
    if self.ndim not in (dims + 1, dims + 2) or 0 in inner:
        raise OperatorError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size "
            f"and other non-zero dimensions for input, but got: {_sizes(self.shape)}",
            code="shape-mismatch",
            headline=f"padding {dims} dimensions takes inputs of {dims + 1} or {dims + 2} "
            f"dimensions, not {self.ndim}",
            roles={"self": f"has shape {list(self.shape)}"},
        )


_LETTERS: Final = {1: ("W",), 2: ("H", "W"), 3: ("D", "H", "W")}


def _check_output(self: Array, pad: Ints, dims: int) -> None:
    space = self.shape[-dims:]
    made = [s + sum(p) for s, p in zip(space, _pairs(pad), strict=True)]
    if max(made) < 1 or min(made) < 0:  # one of several may be empty
        letters = _LETTERS[dims]
        before = " ".join(f"{n}: {s}" for n, s in zip(letters, space, strict=True))
        after = " ".join(f"{n}: {s}" for n, s in zip(letters, made, strict=True))
        if dims == 1:
            before, after = f"W: {space[0]}", f"W: {made[0]}"
        raise OperatorError(
            f"input ({before}) is too small. Calculated output {after}", code="shape-mismatch"
        )


def _check_reflection(self: Array, pad: Ints) -> None:
    pairs = _pairs(pad)
    for dim, (before, after) in reversed(list(enumerate(pairs, self.ndim - len(pairs)))):
        if before >= self.shape[dim] or after >= self.shape[dim]:
            place = 4 + 2 * (self.ndim - 1 - dim)
            raise OperatorError(
                f"Argument #{place}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({before}, {after}) at dimension {dim} of input "
                f"{_sizes(self.shape)}",
                code="shape-mismatch",
                headline=f"reflection by {max(before, after)} needs more than "
                f"{self.shape[dim]} elements in dimension {dim}",
                roles={"self": f"has {self.shape[dim]} in dimension {dim}"},
            )


def _declare(dims: int) -> None:
    def reflection(self: Array, padding: Ints) -> Array:
        self = self[...]  # which no other thread can change
        _check_rank(self, padding, dims)
        _check_reflection(self, padding)
        _check_output(self, padding, dims)
        return _taken(self, padding, _reflected)

    def replication(self: Array, padding: Ints) -> Array:
        self = self[...]  # which no other thread can change
        _check_rank(self, padding, dims)
        _check_output(self, padding, dims)
        return _taken(self, padding, _replicated)

    arguments = f"(Tensor self, SymInt[{2 * dims}] padding) -> Tensor"
    autocast: Policy = "full" if dims < 3 else ""
    of_reflection, of_replication = (
        Refusal("b", f"{name}_pad{dims}d") for name in ("reflection", "replication")
    )
    operator(
        f"aten::reflection_pad{dims}d{arguments}",
        autocast=autocast,
        refuses=of_reflection,
        face="layer",
        prepared=True,
        rows=rows_of("self"),
    )(reflection)
    operator(
        f"aten::replication_pad{dims}d{arguments}",
        autocast="full",
        refuses=of_replication,
        face="layer",
        prepared=True,
        rows=rows_of("self"),
    )(replication)


for _dims in (1, 2, 3):
    _declare(_dims)


@operator(
    "aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor",
    out="",
    face="layer",
    prepared=True,
)
def _pad_circular(self: Array, pad: Ints) -> Array:
    self = self[...]  # which no other thread can change
    pairs = _pairs(pad)
    if len(pairs) + 2 != self.ndim:
        raise OperatorError("Invalid padding size, expected 2 * the number of dimensions of space")
    for size, (before, after) in zip(self.shape[2:], pairs, strict=True):
        if before > size or after > size:
            raise OperatorError(
                "Padding value causes wrapping around more than once.",
                code="shape-mismatch",
                headline=f"padding by {max(before, after)} goes around {size} elements more "
                "than once",
            )
        if size + before + after < 0:
            raise OperatorError("Negative padding value is resulting in an empty dimension")
    crops: Key = tuple(
        slice(max(-b, 0), s - max(-a, 0)) for s, (b, a) in zip(self.shape[2:], pairs, strict=True)
    )
    inner: Key = (..., *crops)
    return contiguous(_taken(self[inner], [max(p, 0) for p in pad], _circular))


# --------------------------------------------------------------------------- by name

_BY_RANK: Final = {(2, 2): 1, (2, 3): 1, (4, 3): 2, (4, 4): 2, (6, 4): 3, (6, 5): 3}


def _padded(self: Array, pad: Ints, mode: int, value: float | None) -> Array:
    self = self[...]  # which no other thread can change
    if len(pad) % 2:
        raise OperatorError("Padding length must be divisible by 2")
    if len(pad) > 2 * self.ndim:
        raise OperatorError(
            f"Padding length should be less than or equal to two times the input dimension but "
            f"got padding length {len(pad)} and input of dimension {self.ndim}"
        )
    if mode == 0:
        return constant_pad_nd(self, pad, 0.0 if value is None else value)
    if value not in (None, 0):
        name = _NAMES[mode]
        raise OperatorError(f'Padding mode "{name}" doesn\'t take in value argument')
    dims = _BY_RANK.get((len(pad), self.ndim))
    if dims is None:
        raise UnsupportedOperator(
            f"Padding size {len(pad)} is not supported for {self.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == 3:
        batched = self if self.ndim == dims + 2 else self[None]
        made = _pad_circular(batched, pad)
        return made if self.ndim == dims + 2 else made[0]
    _check_rank(self, pad, dims)
    if mode == 1:
        _check_reflection(self, pad)
    _check_output(self, pad, dims)
    name = "reflection" if mode == 1 else "replication"
    check_kernel(f"{name}_pad{len(pad) // 2}d", self, "b")
    return _taken(self, pad, _reflected if mode == 1 else _replicated)


_NAMES: Final = ("constant", "reflect", "replicate", "circular")


@operator(
    "aten::_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor",
    out="",
    face="layer",
    prepared=True,
)
def _pad_enum(self: Array, pad: Ints, mode: int, value: float | None) -> Array:
    return _padded(self, pad, mode, value)


@operator(
    'aten::pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor',
    out="",
    face="layer",
    native=native(
        "array_padded({0}, {1}, {3})",
        ('{2} == "constant"',),
        of=("array int[] str none", "array int[] str float"),
        gives="made",
    ),
    prepared=True,
    rows=rows_of("self"),
    on_slices="borders",
)
def pad(self: Array, pad: Ints, mode: str, value: float | None) -> Array:
    if mode not in _NAMES:
        raise UnsupportedOperator(f"Unrecognised padding mode {mode}")
    return _padded(self, pad, _NAMES.index(mode), value)
