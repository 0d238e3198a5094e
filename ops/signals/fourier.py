"""Discrete Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..kernels import family, threads
from ..kernels import in_order as as_it_lies
from ..memory.complex_parts import parts
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Dtype, default_dtype, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import strides_of
from ..shapes.creation import OPTIONS, float_dtype
from ..shapes.join import rolled
from ..table.formula import as_known
from ..table.layouts import contiguous, in_order
from ..table.out_dtypes import OutDtype
from ..table.pointwise import as_array
from ..table.promotion import kind
from ..table.refusals import Refusal
from ..table.table import operator
from .affordable import afford

__all__ = ["complex_of", "to_real", "transform", "transform_real"]

Sizes = Sequence[int] | None
_NORMS: Final = (None, "backward", "ortho", "forward")
_FLIPPED: Final = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The scale of the inverse transform, for what is computed as a conjugated one."""


# --------------------------------------------------------------------------- operands


def complex_of(dtype: Dtype) -> Dtype:
    """The complex dtype whose parts have that dtype."""
    if dtype.kind == "c":
        return dtype
    return np.dtype(np.complex128 if dtype == np.float64 else np.complex64)


def _operand(self: Array) -> Array:
    """Whole numbers and bools become floats; 16-bit floats have no transform."""
    if kind(self.dtype) < 2:
        return self.astype(default_dtype.float)
    if self.dtype.kind not in "fc" or self.dtype.itemsize < 4:
        raise OperatorError(
            f"Unsupported dtype {dtype_of(self).scalar_name}",
            code="dtype-mismatch",
            headline=f"there is no Fourier transform of `{dtype_of(self)}`",
        )
    return self


def _real_operand(self: Array, name: str) -> Array:
    if self.dtype.kind == "c":
        real = "real-valued" if name.endswith("n") else "real"
        raise OperatorError(
            f"{name} expects a {real} input tensor, but got {dtype_of(self).scalar_name}",
            code="dtype-mismatch",
            headline=f"`{name}` transforms real numbers, not `{dtype_of(self)}`",
        )
    return _operand(self)


def _check_norm(norm: str | None) -> str | None:
    if norm not in _NORMS:
        raise OperatorError(f'Invalid normalization mode: "{norm}"')
    return norm


def _check_size(size: int) -> int:
    if size < 1:
        raise OperatorError(f"Invalid number of data points ({size}) specified")
    return size


def _resized(array: Array, dim: int, size: int) -> Array:
    """Cut or filled with zeros at the end of a dimension."""
    have = array.shape[dim]
    if size <= have:
        return array[(slice(None),) * dim + (slice(size),)]
    wide = np.zeros((*array.shape[:dim], size, *array.shape[dim + 1 :]), array.dtype)
    wide[(slice(None),) * dim + (slice(have),)] = array
    return wide


def _laid(found: Array, given: Array, places: Sequence[int], last: bool = False) -> Array:
    """A transform stored as MKL stores it: the dimensions that were not transformed, then those
    that were, by the operand's strides; with `last`, the last of them innermost."""
    rank = found.ndim
    if given.flags.c_contiguous and list(places) == list(range(rank - len(places), rank)):
        return contiguous(found)
    steps = strides_of(given)
    free = sorted((d for d in range(rank) if d not in places), key=lambda d: -steps[d])
    most = places[:-1] if last else places
    inner = sorted(most, key=lambda d: -steps[d]) + list(places[len(most) :])
    return in_order(found, free + inner)


# --------------------------------------------------------------------------- one dimension


_PER_THREAD: Final = 1 << 15
"""Elements that are worth another thread."""


def _shared(
    function: Any, array: Array, dim: int, size: int, norm: str | None, made: Dtype
) -> Array:
    """One of NumPy's transforms along a dimension, whose results have `size` elements there and are
    `made` of a dtype; threads share those of a large array, each of which is computed alone."""
    array = array[...]  # which no other thread can change
    whole = size if made.kind == "f" else array.shape[dim]
    afford(whole, array.size // array.shape[dim])
    shape = (*array.shape[:dim], size, *array.shape[dim + 1 :])
    others = [d for d in range(array.ndim) if d != dim]
    axis = max(others, key=array.shape.__getitem__, default=dim)
    count = array.shape[axis] if others else 1
    least = _PER_THREAD * count // max(1, array.size) + 1
    length = whole if made.kind == "f" else None
    if threads.get_threads() == 1 or count < 2 * least:
        return as_array(function(array, length, axis=dim, norm=norm))
    out = np.empty_like(array, made, shape=shape)

    def work(start: int, stop: int) -> None:
        part = (slice(None),) * axis + (slice(start, stop),)
        function(array[part], length, axis=dim, norm=norm, out=out[part])

    threads.share(work, count, least)
    return out


def _scale(norm: str | None, size: int, forward: bool) -> float:
    """By what a transform is multiplied."""
    if norm == "ortho":
        return math.sqrt(1 / size)
    return 1 / size if (norm == "forward") is forward else 1.0


def _natively(name: str, array: Array, *settings: object, **more: object) -> Array | None:
    """What a kernel makes of an array; None where there is none for it."""
    kernels = family("transforms.fourier")
    if kernels is None:
        return None
    found: Array | None = getattr(kernels, name)(as_it_lies(array), *settings, **more)
    return found


def transform(
    array: Array, dim: int, norm: str | None, forward: bool, *, last: bool = False
) -> Array:
    """The complex transform along a dimension; where it is to lie as the `last` one it may do so
    already."""
    function, made = np.fft.fft if forward else np.fft.ifft, complex_of(array.dtype)
    if not array.size:
        return np.zeros(array.shape, made)
    scale = _scale(norm, array.shape[dim], forward)
    if array.dtype.kind == "f" and dim == array.ndim - 1 and (forward or last):
        half = _natively("of_real", array, scale)
        if half is not None:
            return _whole(half, array.shape[dim], inverse=not forward)
    found = _natively("along", array, dim, scale, inverse=not forward, last=last)
    if found is not None:
        return found
    return _shared(function, array, dim, array.shape[dim], norm, made).astype(made, copy=False)


def _whole(half: Array, points: int, *, inverse: bool) -> Array:
    """The transform of real numbers by its first half."""
    made: Array = family("transforms.mirrors").whole_of_half(half, points, inverse=inverse)
    return made


def transform_real(array: Array, dim: int, norm: str | None) -> Array:
    """The half of the transform of real numbers that tells it all."""
    if not array.size:
        shape = list(array.shape)
        shape[dim] = shape[dim] // 2 + 1
        return np.zeros(shape, complex_of(array.dtype))
    if dim == array.ndim - 1:
        scale = _scale(norm, array.shape[dim], True)
        known = _natively("of_real", array, scale)
        if known is not None:
            return known
        whole = _natively("along", array, dim, scale, inverse=False)
        if whole is not None:
            return as_it_lies(whole[..., : array.shape[dim] // 2 + 1])
    made = complex_of(array.dtype)
    found = _shared(np.fft.rfft, array, dim, array.shape[dim] // 2 + 1, norm, made)
    return found.astype(made, copy=False)


def to_real(array: Array, dim: int, size: int, norm: str | None) -> Array:
    """The inverse of `transform_real`, of a given size."""
    real = np.dtype(np.float64 if array.dtype in (np.complex128, np.float64) else np.float32)
    if not array.size:
        return np.zeros((*array.shape[:dim], size, *array.shape[dim + 1 :]), real)
    wide = array.astype(complex_of(array.dtype), copy=False)
    if dim == array.ndim - 1:
        scale = _scale(norm, size, False)
        known = _natively("of_half", wide, size, scale)
        if known is not None:
            return known
        if family("transforms.fourier") is not None:
            whole = _whole(as_it_lies(wide), size, inverse=False)
            found = _natively("along", whole, dim, scale, inverse=True)
            if found is not None:
                return as_it_lies(parts(found)[..., 0])
    return _shared(np.fft.irfft, wide, dim, size, norm, real).astype(real, copy=False)


def _dim(array: Array, dim: int) -> int:
    if not array.ndim:
        raise IndexOutOfRange(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, array.ndim)


def _along(self: Array, n: int | None, dim: int, norm: str | None) -> tuple[Array, int]:
    """The operand of a one-dimensional transform, cut or filled to its size."""
    _check_norm(norm)
    place = _dim(self, dim)
    size = _check_size(self.shape[place] if n is None else n)
    return _resized(self, place, size), place


def _rule(base: str, said: str) -> OutDtype:
    """The dtype of `out=` of a transform, which the sentence calls `said`."""
    if base in ("irfft", "hfft"):
        return OutDtype(
            "floating", f"{said} expects a floating point output tensor, but got {{out}}"
        )
    return OutDtype("complex", f"{said} expects a complex output tensor, but got {{out}}")


def _declare(name: str, forward: Callable[[Array, int | None, int, str | None], Array]) -> None:
    operator(
        f"aten::fft_{name}(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
        autocast="full",
        on_slices="dims",
        prepared=True,
        out_dtype=_rule(name, name),
        out_layout="" if name in ("ifft", "ihfft") else "C",
        out_overlap="read-first",
    )(forward)


def _transform(array: Array, place: int, norm: str | None, forward: bool) -> Array:
    return _laid(transform(array, place, norm, forward, last=True), array, [place])


def _fft(self: Array, n: int | None, dim: int, norm: str | None) -> Array:
    return _transform(*_along(_operand(self), n, dim, norm), norm, True)


def _ifft(self: Array, n: int | None, dim: int, norm: str | None) -> Array:
    return _transform(*_along(_operand(self), n, dim, norm), norm, False)


def _rfft(self: Array, n: int | None, dim: int, norm: str | None) -> Array:
    array, place = _along(_real_operand(self, "rfft"), n, dim, norm)
    return _laid(transform_real(array, place, norm), array, [place])


def _ihfft(self: Array, n: int | None, dim: int, norm: str | None) -> Array:
    array, place = _along(_real_operand(self, "ihfft"), n, dim, norm)
    found = _laid(transform_real(array, place, _FLIPPED[norm]), array, [place])
    return as_array(np.conj(found))


def _irfft(self: Array, n: int | None, dim: int, norm: str | None) -> Array:
    array, place = _operand(self), _dim(self, dim)
    _check_norm(norm)
    size = _check_size(2 * (array.shape[place] - 1) if n is None else n)
    array = _resized(array, place, size // 2 + 1)
    return _laid(to_real(array, place, size, norm), array, [place])


def _hfft(self: Array, n: int | None, dim: int, norm: str | None) -> Array:
    _check_norm(norm)
    return _irfft(as_array(np.conj(_operand(self))), n, dim, _FLIPPED[norm])


for _name, _forward in (
    *(("fft", _fft), ("ifft", _ifft), ("rfft", _rfft)),
    *(("irfft", _irfft), ("hfft", _hfft), ("ihfft", _ihfft)),
):
    _declare(_name, _forward)


# --------------------------------------------------------------------------- several dimensions


def _places(
    array: Array, s: Sizes, dim: Sizes, last: bool = False
) -> tuple[list[int], list[int | None]]:
    """The dimensions to transform and the sizes wanted of them; None for the size that is."""
    if dim is not None:
        places = [_dim(array, d) for d in dim]
        if len(set(places)) != len(places):
            raise OperatorError("FFT dims must be unique")
        if s is not None and len(s) != len(places):
            raise OperatorError("When given, dim and shape arguments must have the same length")
    elif s is not None:
        if len(s) > array.ndim:
            raise OperatorError(
                f"Got shape with {len(s)} values but input tensor only has {array.ndim} dimensions."
            )
        places = list(range(array.ndim - len(s), array.ndim))
    else:
        places = list(range(array.ndim))
    sizes: list[int | None]
    sizes = [None if size == -1 else size for size in s] if s is not None else [None] * len(places)
    for place, size in zip(places[:-1] if last else places, sizes, strict=False):
        _check_size(array.shape[place] if size is None else size)
    return places, sizes


def _fitted(array: Array, places: Sequence[int], sizes: Sequence[int | None]) -> Array:
    for place, size in zip(places, sizes, strict=True):
        if size is not None:
            array = _resized(array, place, size)
    return array


def _complex_over(self: Array, s: Sizes, dim: Sizes, norm: str | None, forward: bool) -> Array:
    array = _operand(self)
    places, sizes = _places(array, s, dim)
    _check_norm(norm)
    array = _fitted(array, places, sizes)
    if not places:
        return array.astype(complex_of(array.dtype))
    found = array
    for place in reversed(places):
        found = transform(found, place, norm, forward)
    return _laid(found, array, places)


def _fftn(self: Array, s: Sizes, dim: Sizes, norm: str | None) -> Array:
    return _complex_over(self, s, dim, norm, True)


def _ifftn(self: Array, s: Sizes, dim: Sizes, norm: str | None) -> Array:
    return _complex_over(self, s, dim, norm, False)


def _need_dims(places: Sequence[int], name: str) -> None:
    if not places:
        raise OperatorError(f"{name} must transform at least one axis")


def _rfftn(self: Array, s: Sizes, dim: Sizes, norm: str | None) -> Array:
    array = _real_operand(self, "rfftn")
    places, sizes = _places(array, s, dim)
    _need_dims(places, "rfftn")
    _check_norm(norm)
    array = _fitted(array, places, sizes)
    found = transform_real(array, places[-1], norm)
    for place in reversed(places[:-1]):
        found = transform(found, place, norm, True)
    return _laid(found, array, places, last=True)


def _ihfftn(self: Array, s: Sizes, dim: Sizes, norm: str | None) -> Array:
    array = _real_operand(self, "ihfftn")
    places, sizes = _places(array, s, dim)
    _need_dims(places, "ihfftn")
    _check_norm(norm)
    array = _fitted(array, places, sizes)
    half = _laid(transform_real(array, places[-1], _FLIPPED[norm]), array, places[-1:])
    found = half = as_array(np.conj(half))
    for place in reversed(places[:-1]):
        found = transform(found, place, norm, False)
    return _laid(found, half, places[:-1])


def _real_over(
    self: Array, s: Sizes, dim: Sizes, norm: str | None, name: str, hermitian: bool
) -> Array:
    """irfftn and hfftn: complex transforms over all dimensions but the last, which gives reals."""
    array = _operand(self)
    places, sizes = _places(array, s, dim, last=True)
    _need_dims(places, name)
    _check_norm(norm)
    last, wanted = places[-1], sizes[-1]
    size = _check_size(2 * (array.shape[last] - 1) if wanted is None else wanted)
    array = _resized(_fitted(array, places[:-1], sizes[:-1]), last, size // 2 + 1)
    given = array
    for place in places[:-1]:
        array = transform(array, place, norm, hermitian)
    array = _laid(array, given, places[:-1])
    if hermitian:
        found = to_real(as_array(np.conj(array)), last, size, _FLIPPED[norm])
    else:
        found = to_real(array, last, size, norm)
    return _laid(found, array, [last])


def _irfftn(self: Array, s: Sizes, dim: Sizes, norm: str | None) -> Array:
    return _real_over(self, s, dim, norm, "irfftn", False)


def _hfftn(self: Array, s: Sizes, dim: Sizes, norm: str | None) -> Array:
    return _real_over(self, s, dim, norm, "hfftn", True)


for _base, _over in (
    *(("fft", _fftn), ("ifft", _ifftn), ("rfft", _rfftn)),
    *(("irfft", _irfftn), ("hfft", _hfftn), ("ihfft", _ihfftn)),
):
    operator(
        f"aten::fft_{_base}n(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) "
        "-> Tensor",
        f"aten::fft_{_base}2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
        "-> Tensor",
        autocast="" if _over in (_hfftn, _ihfftn) else "full",
        prepared=True,
        out_dtype=_rule(_base, "fftn" if _base == "ifft" else f"{_base}n"),
        out_layout="C",
        out_overlap="read-first",
    )(_over)


# --------------------------------------------------------------------------- the inner operators


def _scaled(array: Array, sizes: Sequence[int], normalization: int) -> Array:
    """An unscaled transform divided by nothing, the root of the size, or the size."""
    count = float(np.prod(sizes, dtype=np.float64))
    if normalization == 0:
        return array
    factor = count**-0.5 if normalization == 1 else 1 / count
    return as_array(array * array.real.dtype.type(factor))


@operator("aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor")
def fft_c2c(self: Array, dim: Sequence[int], normalization: int, forward: bool) -> Array:
    _check_class(self, "c", "complex")
    array = self
    places = [wrap_dim(d, self.ndim) for d in dim]
    for place in places:
        array = transform(array, place, "backward" if forward else "forward", forward)
    return _scaled(array, [self.shape[p] for p in places], normalization)


@operator("aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor")
def fft_r2c(self: Array, dim: Sequence[int], normalization: int, onesided: bool) -> Array:
    _check_class(self, "f", "floating-point")
    places = _some_places(self, dim)
    first = transform_real if onesided else _both_sides
    array = first(self, places[-1], "backward")
    for place in places[:-1]:
        array = transform(array, place, "backward", True)
    return _scaled(array, [self.shape[p] for p in places], normalization)


def _check_class(array: Array, kind: str, said: str) -> None:
    dtype = dtype_of(array)
    if dtype.kind != kind:
        raise OperatorError(f"Only supports {said} dtypes, but found: {dtype.scalar_name}")


def _some_places(array: Array, dim: Sequence[int]) -> list[int]:
    if not dim:
        raise OperatorError("ArrayRef: attempted to access back() of empty list")
    return [wrap_dim(d, array.ndim) for d in dim]


def _both_sides(array: Array, dim: int, norm: str | None) -> Array:
    return transform(array, dim, norm, True)


@operator(
    "aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor"
)
def fft_c2r(self: Array, dim: Sequence[int], normalization: int, last_dim_size: int) -> Array:
    _check_class(self, "c", "complex")
    places, size = _some_places(self, dim), _check_size(last_dim_size)
    array = self
    for place in places[:-1]:
        array = transform(array, place, "forward", False)
    array = _resized(array, places[-1], size // 2 + 1)
    found = to_real(array, places[-1], size, "forward")
    return _scaled(found, [found.shape[p] for p in places], normalization)


# --------------------------------------------------------------------------- frequencies


@operator(
    f"aten::fft_fftfreq(int n, float d=1., {OPTIONS}) -> Tensor",
    parts=as_known,
    out_layout="C",
    out_overlap="read-first",
)
def fft_fftfreq(n: int, d: float, dtype: int | None, *options: object) -> Array:
    steps = np.arange(_checked_count(n))
    steps[(n + 1) // 2 :] -= n
    return _frequencies(steps, n, d, dtype, "fftfreq")


@operator(
    f"aten::fft_rfftfreq(int n, float d=1., {OPTIONS}) -> Tensor",
    parts=as_known,
    out_layout="C",
    out_overlap="read-first",
)
def fft_rfftfreq(n: int, d: float, dtype: int | None, *options: object) -> Array:
    return _frequencies(np.arange(_checked_count(math.trunc(n / 2) + 1)), n, d, dtype, "rfftfreq")


def _checked_count(n: int) -> int:
    if n < 0:
        raise OperatorError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    return n


def _frequencies(steps: Array, n: int, d: float, dtype: int | None, name: str) -> Array:
    """Whole steps divided by `n * d`."""
    wanted = float_dtype(dtype)
    if kind(wanted) < 2:
        raise OperatorError(f"{name} requires a floating point or complex dtype")
    _refuse_steps(wanted)
    unit = wanted.type(np.divide(1.0, n * d))
    return as_array(steps.astype(wanted) * unit).astype(wanted)


_refuse_steps: Final = Refusal("qc", "arange_cpu")


def _rolled(self: Array, dim: Sizes, sign: int) -> Array:
    return np.roll(self, *_by(self, dim, sign))


def _by(self: Array, dim: Sizes, sign: int) -> tuple[list[int], tuple[int, ...]]:
    """How far what is rolled, along which dimensions.

    Raises:
        OperatorError: there are none.
    """
    places = range(self.ndim) if dim is None else [wrap_dim(d, self.ndim) for d in dim]
    if not places:
        raise OperatorError("`shifts` required")
    return [(self.shape[p] + (sign < 0)) // 2 for p in places], tuple(places)


@operator(
    "aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
    layout="C",
    out="",
    parts=lambda result, self, dim: rolled(result, self, *_by(self, dim, 1)),
    out_layout="C",
    out_overlap="read-first",
)
def fft_fftshift(self: Array, dim: Sizes) -> Array:
    return _rolled(self, dim, 1)


@operator(
    "aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
    layout="C",
    out="",
    parts=lambda result, self, dim: rolled(result, self, *_by(self, dim, -1)),
    out_layout="C",
    out_overlap="read-first",
)
def fft_ifftshift(self: Array, dim: Sizes) -> Array:
    return _rolled(self, dim, -1)
