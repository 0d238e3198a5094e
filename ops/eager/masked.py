"""Reductions that leave elements out: the functions of `torch.masked`.

A mask is a tensor of bools that broadcasts to the input; elements where it is False do not count.
Where no element counts, the result is what the reduction starts from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, Literal

import numpy as np

from ..memory.dtype import DTYPES, STRIDED, DType, Layout
from ..table.promotion import kind
from ..tensors.tensor import Tensor
from .aten import aten
from .masked_sparse import product_along, reduced
from .masks import SPARSE_COO, SPARSE_CSR, Dims, canonical_dims, dense, dims_of, input_mask, mask_of

__all__ = ["FUNCTIONS", "filled_for", "output_mask"]

_FLOAT: Final = DTYPES["float32"]
_LONG: Final = DTYPES["int64"]


# --------------------------------------------------------------------------- starts


def _cast(tensor: Tensor, dtype: DType) -> Tensor:
    return tensor.to(dtype)


_Start = Literal["zero", "one", "highest", "lowest"]
"""What counts in the place of elements that do not."""
_MOST: Final = {"lowest": "the maximum", "highest": "the minimum"}


def _start(start: _Start, dtype: DType) -> object:
    """The number that a reduction starts from."""
    if start in ("zero", "one"):
        return int(start == "one")
    low = start == "lowest"
    if dtype.is_floating_point or dtype.is_complex:
        return -np.inf if low else np.inf
    if dtype.name == "bool":
        return not low
    limits = np.iinfo(dtype.numpy)
    return limits.min if low else limits.max


def _filled(input: Tensor, mask: Tensor | None, start: _Start) -> Tensor:
    """The input with what a reduction starts from where the mask does not hold."""
    if mask is None:
        return input
    first = np.asarray(_start(start, input.dtype)).astype(input.dtype.numpy)
    filled: Tensor = aten.where(mask_of(input, mask), input, Tensor._of(first))
    return filled


def _of_sparse(
    name: str,
    input: Tensor,
    dim: Dims,
    keepdim: bool | None,
    mask: Tensor | None,
    start: _Start,
) -> Tensor:
    first = np.asarray(_start(start, input.dtype)).astype(input.dtype.numpy)
    return reduced(name, input, dim, bool(keepdim), mask, Tensor._of(first))


def filled_for(name: str, input: Tensor, mask: Tensor, order: object = None) -> Tensor:
    """The input with what a function of some name starts from where the mask does not hold.

    `order` is that of a norm, the least of which begins above all others.
    """
    least = name == "norm" and order in (-np.inf, "-inf")
    return _filled(input, mask, "highest" if least else _STARTS[name])


def _sum_dtype(input: Tensor, dtype: DType | None) -> DType:
    if dtype is not None:
        return dtype
    return _LONG if kind(input.dtype.numpy) < 2 else input.dtype


# --------------------------------------------------------------------------- sums


def sum(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The sum of the elements that count."""
    if input.layout is not STRIDED:
        return _of_sparse("sum", input.to(_sum_dtype(input, dtype)), dim, keepdim, mask, "zero")
    values = _filled(input, mask, "zero")
    dims = dims_of(dim, input.ndim)
    return aten.sum(values, dims, bool(keepdim), dtype=_sum_dtype(input, dtype))


def prod(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The product of the elements that count."""
    if input.layout is not STRIDED:
        return _of_sparse("prod", input.to(_sum_dtype(input, dtype)), dim, keepdim, mask, "one")
    values = _cast(_filled(input, mask, "one"), _sum_dtype(input, dtype))
    return product_along(values, canonical_dims(dim, input.ndim), bool(keepdim))


def cumsum(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """The running sum of the elements that count."""
    values = _filled(input, mask, "zero")
    return aten.cumsum(values, dim, dtype=dtype or input.dtype)


def cumprod(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """The running product of the elements that count."""
    values = _filled(input, mask, "one")
    return aten.cumprod(values, dim, dtype=dtype or input.dtype)


# --------------------------------------------------------------------------- extremes


def _extreme(name: str, start: _Start) -> Callable[..., Tensor]:
    def extreme(
        input: Tensor,
        dim: Dims = None,
        *,
        keepdim: bool | None = False,
        dtype: DType | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        if input.layout is not STRIDED:
            found = _of_sparse(name, input, dim, keepdim, mask, start)
            return _cast(found, dtype or input.dtype)
        values = _filled(input, mask, start)
        found = getattr(aten, name)(values, dims_of(dim, input.ndim), bool(keepdim))
        return _cast(found, dtype or input.dtype)

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = f"{_MOST[start].capitalize()} of the elements that count."
    return extreme


def _place(name: str, start: _Start) -> Callable[..., Tensor]:
    def place(
        input: Tensor,
        dim: int | None = None,
        *,
        keepdim: bool | None = False,
        dtype: DType | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        values = _filled(input, mask, start)
        found: Tensor = getattr(aten, name)(values, dim, bool(keepdim))
        return _cast(found, dtype or input.dtype)

    place.__name__ = place.__qualname__ = name
    place.__doc__ = f"The place of {_MOST[start]} of the elements that count."
    return place


def median(
    input: Tensor,
    dim: Dims = -1,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The median of the elements that count along one dimension: NaN where none does.

    Of several dimensions the first is meant.  Integers are compared as float32.

    Raises:
        ValueError: of integers none counts.
    """
    axis = next(iter(dims_of(None if dim == () else dim, input.ndim)), 0)
    is_float = input.dtype.is_floating_point
    values = input if is_float else input.to(DTYPES["float32"])
    if mask is not None:
        nan = Tensor._of(np.asarray(np.nan, values.dtype.numpy))
        values = aten.where(mask_of(values, mask), values, nan)
    found: Tensor = aten.nanmedian(values, axis, keepdim)[0]
    if is_float:
        return found
    if found.isnan().any():
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return _cast(found, dtype or input.dtype)


def logsumexp(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The logarithm of the sum of the exponentials of the elements that count."""
    values = _filled(input, mask, "lowest").to(dtype or input.dtype)
    found: Tensor = aten.logsumexp(values, dims_of(dim, input.ndim), keepdim)
    return _cast(found, dtype or input.dtype)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: DType | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """`log(exp(input) + exp(other))` of the elements that count."""
    first, second = _filled(input, input_mask, "lowest"), _filled(other, other_mask, "lowest")
    found: Tensor = aten.logaddexp(first, second)
    return _cast(found, dtype or input.dtype)


# --------------------------------------------------------------------------- means and norms


def _counts(input: Tensor, dim: Dims, keepdim: bool, mask: Tensor | None) -> Tensor:
    ones: Tensor = aten.ones_like(input, dtype=DTYPES["int64"])
    return sum(ones, dim, keepdim=keepdim, mask=mask)


def mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The mean of the elements that count: NaN where none does.

    Raises:
        ValueError: what the mean is to be of has no fractions.
    """
    wanted = dtype or input.dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        source = "Optional" if dtype else "Input"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point "
            f"or complex dtype. Got: {wanted}"
        )
    if input.layout is not STRIDED:
        return _of_sparse("mean", input.to(wanted), dim, keepdim, mask, "zero")
    total = sum(input, dim, keepdim=keepdim, dtype=wanted, mask=mask)
    return total / _counts(input, dim, bool(keepdim), mask)


def _spread(
    input: Tensor,
    dim: Dims,
    correction: float,
    keepdim: bool | None,
    dtype: DType | None,
    mask: Tensor | None,
) -> tuple[Tensor, DType]:
    """The variance in the dtype of computation, and the result's dtype."""
    wanted = dtype or input.dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        wanted = _FLOAT
    wide = _FLOAT if wanted.itemsize < 4 else wanted
    count = _counts(input, dim, True, mask)
    total = sum(input, dim, keepdim=True, dtype=wanted, mask=mask)
    distance = input - total / count
    squares = sum(
        (distance * distance.conj()).to(wide), dim, keepdim=keepdim, dtype=wide, mask=mask
    )
    freedom = count.reshape(squares.shape)
    if correction:
        freedom = aten.maximum(freedom - correction, Tensor._of(np.zeros((), np.int64)))
    spread = squares / freedom
    return (spread.real if spread.dtype.is_complex else spread), wanted


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is not None:
        return correction
    return 0 if unbiased is False else 1


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance of the elements that count."""
    spread, wanted = _spread(input, dim, _correction(unbiased, correction), keepdim, dtype, mask)
    return _cast(spread, wanted)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The standard deviation of the elements that count."""
    spread, wanted = _spread(input, dim, _correction(unbiased, correction), keepdim, dtype, mask)
    return _cast(spread.sqrt(), wanted)


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The norm of the elements that count, taken as a vector."""
    order = 2.0 if ord is None else float(ord)
    values = _filled(input, mask, "highest" if order == -np.inf else "zero")
    dims = dims_of(dim, input.ndim)
    return aten.linalg_vector_norm(values, order, dims, bool(keepdim), dtype=dtype)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The elements that count, divided by their norm; zeros elsewhere."""
    wanted = dtype or input.dtype
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    divisor = aten.maximum(size, Tensor._of(np.full((), eps, size.dtype.numpy)))
    return _filled(input, mask, "zero").to(wanted) / divisor


# --------------------------------------------------------------------------- softmax


def _softmax(name: str) -> Callable[..., Tensor]:
    def softmax(
        input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
    ) -> Tensor:
        values = _filled(
            input.to(dtype or input.dtype), mask, "highest" if name == "softmin" else "lowest"
        )
        if name == "softmin":
            values = -values
        return (aten.log_softmax if name == "log_softmax" else aten.softmax)(values, dim)

    softmax.__name__ = softmax.__qualname__ = name
    softmax.__doc__ = f"`{name}` of the elements that count."
    return softmax


amin, amax = _extreme("amin", "highest"), _extreme("amax", "lowest")
argmin, argmax = _place("argmin", "highest"), _place("argmax", "lowest")
softmin, softmax, log_softmax = map(_softmax, ("softmin", "softmax", "log_softmax"))

_BY_START: Final[dict[_Start, tuple[Callable[..., Tensor], ...]]] = {
    "zero": (sum, mean, norm, var, std, cumsum),
    "one": (prod, cumprod),
    "highest": (amin, argmin, softmin),
    "lowest": (amax, argmax, softmax, log_softmax, logsumexp, logaddexp),
}
_STARTS: Final = {each.__name__: start for start, found in _BY_START.items() for each in found}


_LAYOUTS: Final[dict[object, tuple[Layout, ...]]] = {
    **dict.fromkeys((sum, prod, amin, amax), (STRIDED, SPARSE_COO, SPARSE_CSR)),
    mean: (STRIDED, SPARSE_CSR),
}
"""What tensors a function takes, where not strided ones alone."""
_WORDS: Final = {"var": "std/var", "std": "std/var"}


def _of_its_layouts(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function that refuses tensors of other layouts."""
    name = function.__name__
    layouts = _LAYOUTS.get(function, (STRIDED,))
    words = [str(each).removeprefix("torch.") for each in layouts]
    said = " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)

    @wraps(function)
    def call(input: Tensor, *args: object, **options: object) -> Tensor:
        if input.layout not in layouts:
            raise ValueError(
                f"masked {_WORDS.get(name, name)} expects {said} tensor (got {input.layout} tensor)"
            )
        return function(input, *args, **options)

    return call


FUNCTIONS: Final[dict[str, Callable[..., Tensor]]] = {
    each.__name__: _of_its_layouts(each)
    for found in (*_BY_START.values(), (normalize, median))
    for each in found
}
"""What `rushlight.masked.<name>` stands for, by name."""


# --------------------------------------------------------------------------- masks of results


_ALONG: Final = (softmax, log_softmax, softmin, normalize, cumsum, cumprod)
"""What gives an element for each one."""
_PAIRS: Final = (logaddexp,)


def output_mask(op: object, input: Tensor, *args: object, **options: object) -> Tensor:
    """Where the result of a function has an element that comes of one that counts.

    Raises:
        ValueError: it is none of `torch.masked` that has one mask, or there is none.
    """
    name = getattr(op, "__name__", "")
    if not callable(op):
        said = f"{type(op).__name__} object"
    elif name in {each.__name__ for each in _ALONG}:
        return input_mask(input, *args, **options)  # type: ignore[arg-type]
    elif name in FUNCTIONS and name not in {each.__name__ for each in _PAIRS}:
        args = args[1:] if name == norm.__name__ else args
        counts = dense(input_mask(input, *args, **options))  # type: ignore[arg-type]
        dims = canonical_dims(args[0] if args else options.get("dim"), input.ndim)
        return aten.any(counts, list(dims), bool(options.get("keepdim"))) if dims else counts
    else:
        said = f"callable {op.__module__}.{name}"
    raise ValueError(f"_output_mask expected masked operation (got {said})")
