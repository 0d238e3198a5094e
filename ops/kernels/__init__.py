"""Kernels in native code, for what NumPy has no fast form for.

The operators' files ask `family("rows.rows")` for a module of `code/`, whose kernels are written as
LLVM's text; they get None where the compiler is missing or native code is switched off
(`RUSHLIGHT_KERNELS=numpy`), and then do it with NumPy.  It is imported when the first input comes
that is large enough: whether an input is, is decided by its size alone, so that equal calls give
equal results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from ..memory.allocation import uncounted
from ..memory.dtype import Array, Dtype
from ..memory.heap import keep_freed_memory

__all__ = [
    *("ALWAYS", "KERNELS_VARIABLE", "LARGE", "NEAREST", "PLAN_VARIABLE", "TRIALS", "Prepared"),
    *("by_formula", "cast_by_kernel"),
    *("family", "in_order", "is_half", "is_large", "move"),
    *(
        "is_last_whole",
        "is_ready",
        "is_real",
        "is_whole",
        "of_floats",
        "pointwise",
        "unfilled",
        "waits_for_plans",
    ),
    "written_by_numpy",
]

_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)

KERNELS_VARIABLE: Final = "RUSHLIGHT_KERNELS"
"""The environment variable that, set to `numpy`, switches native code off."""

PLAN_VARIABLE: Final = "RUSHLIGHT_PLAN"
"""The environment variable that, set to `off`, leaves everything to the machine; `now` has plans
made, and calls learned from, before that pays."""

LARGE: Final = 8192
"""Elements from which native code is worth its start, unless an operator knows better."""

TRIALS: Final = 50
"""Calls after which it pays to learn what they do."""

_FAMILIES: Final[dict[str, object]] = {}


def family(name: str) -> Any:
    """The module of a family of kernels; None if there is no native code."""
    try:
        return _FAMILIES[name]
    except KeyError:
        _FAMILIES[name] = found = _find(name) if _is_on() else None
        return found


def waits_for_plans() -> bool:
    """Whether what pays only after many calls is left until then."""
    return os.environ.get(PLAN_VARIABLE, "").lower() != "now"


def _is_on() -> bool:
    return os.environ.get(KERNELS_VARIABLE, "").lower() not in ("numpy", "off", "0")


def _find(name: str) -> object:
    with uncounted():
        objects = import_module(".code.loading.objects", __name__)
        is_possible = objects.is_possible()
        if is_possible:
            keep_freed_memory()
        return import_module(f".code.{name}", __name__) if is_possible else None


def written_by_numpy() -> None:
    """Say that elements are written without native code: what ran before is not the whole call,
    though the values at hand may make it look so, such as a sum of zeros."""
    native = family("calls.run")
    if native is not None:
        native.unforeseen()


def is_ready(array: Array) -> bool:
    """Whether an array is what most kernels take: float32 in one piece."""
    return array.dtype is _FLOAT32 and is_whole(array)


def is_real(array: Array) -> bool:
    """Whether an array is what kernels of rows take: float32 or float64 in one piece."""
    dtype = array.dtype
    return (dtype is _FLOAT32 or dtype is _FLOAT64) and is_whole(array)


def is_large(array: Array) -> bool:
    """Whether an array of whatever dtype has many elements, in one piece."""
    return array.size >= LARGE and is_whole(array)


def is_whole(array: Array) -> bool:
    """Whether an array has elements, in one piece."""
    flags = array.flags
    return bool(array.size and flags.c_contiguous and flags.aligned)


def is_last_whole(array: Array) -> bool:
    """The same with channels last, which are several; such an array does not lie as usual."""
    if array.ndim not in (4, 5) or array.flags.c_contiguous:
        return False
    return is_whole(array.transpose(0, *range(2, array.ndim), 1))


def unfilled(shape: Sequence[int], dtype: Dtype | type[np.generic], *, is_last: bool) -> Array:
    """An array whose elements are still to be written; it has channels last if that is said."""
    if not is_last:
        return np.empty(shape, dtype)
    made = np.empty((shape[0], *shape[2:], shape[1]), dtype)
    return made.transpose(0, -1, *range(1, made.ndim - 1))


def is_half(dtype: Dtype) -> bool:
    """Whether a dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and dtype.kind not in "iub"


def cast_by_kernel(array: Array, dtype: Dtype, *, of_any_size: bool = False) -> Array:
    """The array in another dtype, as `astype` gives it, by native code where that pays, always of
    16-bit floats, and for who learns what it runs; single numbers are constants of such calls.

    One `of_any_size` is by native code wherever it can be; else nothing is learned of the call.
    """
    is_quick = of_any_size or array.size >= _LARGE_CAST
    if is_quick or is_half(array.dtype) or is_half(dtype) or (array.ndim and _is_told()):
        arrays = family("elementwise.arrays") if array.size else None
        found: Array | None = None if arrays is None else arrays.cast(array, dtype)
        if found is not None:
            return found
    if of_any_size:
        written_by_numpy()
    return array.astype(dtype)


_LARGE_CAST: Final = 2048
"""Elements from which a cast by native code is quicker, its call from Python included."""


def in_order(array: Array) -> Array:
    """The array if it is contiguous, else a copy that is: by native code where that pays, so that
    what is made of it may be learned."""
    if array.flags.c_contiguous:
        return array
    arrays = family("elementwise.arrays") if array.size else None
    found = None if arrays is None else arrays.in_order(array)
    return np.ascontiguousarray(array) if found is None else found


def move(source: Array, target: Array) -> None:
    """Write the elements of an array to another of its shape and dtype, which lies in one piece: by
    native code for who learns what it runs; what is only to be read is NumPy's to refuse."""
    is_learned = source.size and target.flags.writeable and _is_told()
    if not (is_learned and family("elementwise.arrays").moved(source, target)):
        target[...] = source


def by_formula(name: str, *operands: Array) -> Array | None:
    """A formula of arrays by native code; None where there is none, or where it does not pay.

    The operands are of one dtype, but for masks, and one of them is as large as the result.
    """
    is_small = name not in ALWAYS and max([each.size for each in operands]) < LARGE
    if is_small and not _is_learned(name):
        return None
    arrays = family("elementwise.arrays")
    return None if arrays is None else arrays.apply(name, operands)


def _is_told() -> bool:
    """Whether somebody learns what kernels give."""
    native = family("calls.run")
    return native is not None and bool(native.is_told())


def _is_learned(name: str) -> bool:
    """The same, where a formula gives the bits of NumPy's way."""
    return _is_told() and family("elementwise.arrays").FORMULAS[name].is_exact


def of_floats(name: str, *operands: Array) -> Array | None:
    """The same of arrays of float32 or float64; None of others."""
    dtype = operands[0].dtype
    if dtype is not _FLOAT32 and dtype is not _FLOAT64:
        return None
    return by_formula(name, *operands)


class Prepared:
    """A function whose calls native code learns to do (see `code/calls/prepared.py`): use `call`.

    Whoever calls it keeps it until the call has come back.
    """

    __slots__ = ("_function", "_known", "_writes", "call")

    def __init__(self, function: Callable[..., object], *, writes: bool = False) -> None:
        """One that `writes` does so to its first argument, which it gives back."""
        self._function, self._writes = function, writes
        self._known = list[Any]()
        self.call: Callable[..., Any] = self._first

    def _first(self, *values: object) -> object:
        module = family("calls.prepared")
        if module is None or module.CREW is None:
            return self._function(*values)
        trials = TRIALS if waits_for_plans() else 0
        known = module.Known(self._function, None, writes=self._writes, trials=trials)
        self._known.append(known)
        self.call = self._known[0].call  # that of another thread, which may be calling it
        return self.call(*values)


ALWAYS: Final = frozenset(
    """acos acosh airy_ai asin asinh atan atan2 atanh bessel_j0 bessel_j1 bessel_y0 bessel_y1
    beta_slope chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v
    chebyshev_polynomial_w cos cosh digamma elu entr erf erfc erfcx erfinv exp2 floor_divide
    fmax fmin fmod gamma_slope gelu gelu_tanh hermite_polynomial_h hermite_polynomial_he hypot
    i0 i0e i1 i1e igamma igammac laguerre_polynomial_l legendre_polynomial_p lgamma log10 log2
    log_ndtr log_sigmoid logaddexp logaddexp2 logit logit_within mish modified_bessel_k0
    modified_bessel_k1 multiply_add mvlgamma ndtr ndtri polygamma power remainder scaled_elu
    scaled_modified_bessel_k0 scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t
    shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w
    sigmoid silu sin sinc sinh softplus softplus_slope spherical_bessel_j0 tan tanh trigamma
    trunc_divide xlog1py xlogy zeta""".split()
)
"""Formulas that compute floats of every size where there is native code: NumPy's way takes several
passes, or gives other bits."""


NEAREST: Final = {each: f"nearest_{each}" for each in ("exp", "expm1", "log", "log1p")}
"""Formulas in whose place others are for fewer than LARGE float32 numbers, where there is native
code; those of float64 are of every size."""


def pointwise(name: str, kernel: Callable[[Array], object]) -> Callable[[Array], Any]:
    """A function of one float that is computed natively where that pays, else by `kernel`, which
    is its attribute `for_small` where that is by size."""
    nearest = NEAREST.get(name)
    least = 1 if name in ALWAYS else LARGE
    least_known = least if nearest is None else 1

    def compute(x: Array) -> object:
        arrays = family("elementwise.arrays")
        is_plain = x.size >= least or nearest is None or x.dtype is _FLOAT64
        chosen = name if is_plain else nearest
        found = None if arrays is None else arrays.apply(chosen, (x,))
        return kernel(x) if found is None else found

    known = Prepared(compute)

    def call(x: Array) -> object:
        dtype = x.dtype
        is_known = (dtype is _FLOAT32 or dtype is _FLOAT64) and x.size >= least_known
        return known.call(x) if is_known else kernel(x)

    if name not in ALWAYS and nearest is None:
        call.for_small = kernel  # type: ignore[attr-defined]
    return call
