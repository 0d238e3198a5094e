"""Categories that are drawn by their weights."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..kernels import family, is_real
from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..selection.ranking import topk
from ..selection.searching import search
from ..table.layouts import strides_like
from ..table.out_dtypes import OutDtype
from ..table.pointwise import as_array
from ..table.promotion import kind
from ..table.table import operator
from .random import Generator, default_generator
from .whole_numbers import exponential


@operator(
    "aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, "
    "Generator? generator=None) -> Tensor",
    out_dtype=OutDtype("same", "multinomial expects {result} tensor out, got: {out}"),
)
def multinomial(
    self: Array, num_samples: int, replacement: bool, generator: Generator | None
) -> Array:
    if self.ndim not in (1, 2):
        raise OperatorError("prob_dist must be 1 or 2 dim")
    if num_samples <= 0:
        raise OperatorError("cannot sample n_sample <= 0 samples")
    if kind(self.dtype) != 2:
        raise OperatorError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{dtype_of(self).scalar_name}",
            code="dtype-mismatch",
        )
    if not replacement and num_samples > self.shape[-1]:
        raise OperatorError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if self.shape[-1] > _MOST_CATEGORIES:
        raise OperatorError("number of categories cannot exceed 2^24")
    _check_chances(self, not replacement or num_samples == 1)
    if not replacement or num_samples == 1:
        rates = exponential(generator, self.size, 1.0).astype(self.dtype)
        scores = self / _as_it_lies(rates, self)
        if num_samples == 1:
            return as_array(np.argmax(scores, -1, keepdims=True))
        return topk(scores, num_samples, -1, True, True)[1]
    return _with_replacement(self, num_samples, generator)


def _as_it_lies(drawn: Array, array: Array) -> Array:
    """Numbers in the shape of an array, one after the other as they would lie like it."""
    if array.flags.c_contiguous:
        return drawn.reshape(array.shape)
    steps = strides_like(array)
    dims = sorted(range(array.ndim), key=lambda dim: -steps[dim])
    back = sorted(range(array.ndim), key=dims.__getitem__)
    return drawn.reshape([array.shape[dim] for dim in dims]).transpose(back)


_MOST_CATEGORIES: Final = 1 << 24


def _check_chances(self: Array, at_once: bool) -> None:
    native = family("drawing.categories") if self.size and is_real(self) else None
    if not self.size or (native is not None and native.are_fit(self)):
        return
    wide = self.astype(np.float32) if self.itemsize < 4 else self
    largest = np.max(wide, -1)
    no_negative, no_infinity = bool(np.min(wide) >= 0), bool((largest < np.inf).all())
    if at_once:
        if not (no_negative and no_infinity):
            raise OperatorError("probability tensor contains either `inf`, `nan` or element < 0")
    elif not no_negative:
        raise _wrong_chances("encountering probability entry < 0")
    elif not no_infinity:
        raise _wrong_chances("encountering probability entry = infinity or NaN")
    if not (largest > 0).all():
        raise _wrong_chances("sum of probabilities <= 0")


def _wrong_chances(why: str) -> OperatorError:
    return OperatorError(f"invalid multinomial distribution ({why})")


def _with_replacement(weights: Array, count: int, generator: Generator | None) -> Array:
    generator = generator or default_generator
    if weights.itemsize < 4:  # shares are float32 then
        weights = weights.astype(np.float32)
    native = family("drawing.categories") if is_real(weights) else None
    if native is not None:
        rows = weights.reshape(-1, weights.shape[-1])
        words = generator.words(2 * count * len(rows))
        made: Array = native.drawn(rows, words, count)
        return made.reshape(*weights.shape[:-1], count)
    running = np.add.accumulate(weights, -1)
    running = running / running[..., -1:]
    running[..., -1] = 1
    shape = *weights.shape[:-1], count
    places = generator.doubles(math.prod(shape)).reshape(shape)
    return search(running.astype(np.float64), places, False)
