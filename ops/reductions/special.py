"""The functions of `torch.special` that are nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from ..arithmetic.rounding import round_decimals
from ..kernels import pointwise
from ..memory.dtype import Array
from ..special_functions import bessel, cylinder
from ..special_functions.error_functions import erfc
from ..special_functions.series import series
from ..table.declare import in_double, of_one
from ..table.formula import formula
from ..table.inline import inline_kernel
from ..table.refusals import Refusal
from ..table.table import operator
from .reduce import logsumexp

_ROOT: Final = math.sqrt(0.5)


def _entr(x: Array) -> object:
    inner = np.where(x > 0, -x * np.log(x), np.where(x == 0, x.dtype.type(0), -np.inf))
    return np.where(np.isnan(x), x, inner).astype(x.dtype)


def _erfcx(x: Array) -> Array:
    """`exp(x * x) * erfc(x)`."""
    size = np.abs(x)
    far = size > 100
    near = np.where(far, 1, size)
    inverse = 1 / np.where(far, size, 1)
    steps = inverse * inverse
    tail = inverse * (1 - steps * (0.5 - steps * (0.75 - steps * 1.875))) / math.sqrt(math.pi)
    right = np.where(far, tail, series("erfcx", 4 / (4 + near)))
    result = np.where(x < 0, 2 * np.exp(x * x) - right, right)
    return np.where(np.isnan(x), x, result)


def _ndtr(x: Array) -> object:
    """The area under the normal curve left of x."""
    return 0.5 * erfc(-x * _ROOT)


def _log_ndtr(x: Array) -> object:
    left = np.log(_erfcx(-np.minimum(x, 0) * _ROOT) / 2) - x * x / 2
    right = np.log1p(-erfc(np.maximum(x, -1) * _ROOT) / 2)
    left = np.where(x == -np.inf, x, left)
    return np.where(np.isnan(x), x, np.where(x < -1, left, right))


def _ndtri(p: Array) -> object:
    """The inverse of `ndtr`, by Newton's steps on the logarithm."""
    upper = p > 0.5
    tail = np.where(upper, 1 - p, p)
    target = np.log(np.where((tail > 0) & (tail <= 0.5), tail, 0.5))
    x = -np.sqrt(np.maximum(-2 * (target + 0.5 * math.log(2)), 0))
    for _ in range(12):
        slope = math.sqrt(2 / math.pi) / _erfcx(-x * _ROOT)
        x = np.minimum(x - (_log_ndtr(x) - target) / slope, 0)
    x = np.where(upper, -x, x)
    edge = np.where(p == 0, -np.inf, np.where(p == 1, np.inf, np.nan))
    return np.where((p > 0) & (p < 1), x, edge)


_OF_SELF: Final = {
    "entr": _entr,
    **{
        name: in_double(kernel)
        for name, kernel in (
            *(("erfcx", _erfcx), ("i0e", bessel.i0e), ("i1", bessel.i1), ("i1e", bessel.i1e)),
            *(("log_ndtr", _log_ndtr), ("ndtr", _ndtr), ("ndtri", _ndtri)),
            *(("bessel_j0", cylinder.j0), ("bessel_j1", cylinder.j1)),
            *(("bessel_y0", cylinder.y0), ("bessel_y1", cylinder.y1)),
            *(("modified_bessel_i0", bessel.i0), ("modified_bessel_i1", bessel.i1)),
            *(("modified_bessel_k0", bessel.k0), ("modified_bessel_k1", bessel.k1)),
        )
    },
}

_OF_X: Final = {
    **{"airy_ai": bessel.airy_ai, "spherical_bessel_j0": bessel.spherical_bessel_j0},
    **{"scaled_modified_bessel_k0": bessel.k0e, "scaled_modified_bessel_k1": bessel.k1e},
}
"""Those whose argument is called x."""

_REFUSALS: Final = {
    **{name: Refusal("qc", f"{name}_cpu") for name in ("entr", "i0e", "i1", "i1e")},
    "ndtr": Refusal("qc", "erf_vml_cpu"),
}
"""Where 16-bit floats are taken."""

_FORMULAS: Final = {"modified_bessel_i0": "i0", "modified_bessel_i1": "i1"}
"""Formulas that have another name than the operator."""


def _declare(name: str, argument: str, kernel: Callable[[Array], object]) -> None:
    refuse = _REFUSALS.get(name) or Refusal("hqc", f"{name}_cpu")
    own = _FORMULAS.get(name, name)
    native = pointwise(own, kernel)
    operator(
        f"aten::special_{name}(Tensor {argument}) -> Tensor",
        inline=inline_kernel(name, native),
        formula=formula(own),
    )(of_one(refuse, native))


for _name, _kernel in _OF_SELF.items():
    _declare(_name, "self", _kernel)
for _name, _kernel in _OF_X.items():
    _declare(_name, "x", in_double(_kernel))

operator(
    "aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    first_name="logsumexp",
)(logsumexp)


@operator(
    "aten::special_round(Tensor self, *, int decimals=0) -> Tensor",
    first_name="round",
    formula=formula("rint", meets="own", at={1: 0}),
)
def special_round(self: Array, decimals: int) -> Array:
    return round_decimals(self, decimals)
