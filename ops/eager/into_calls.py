"""Calls with `out=`, which a front learns: what they give is written into the given memory.

Native code is given the array of `out` before the operator's arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..memory.dtype import Array, dtype_of, of_numpy
from ..memory.overlap import check_out
from ..table.direct import into_form
from ..table.listed import listed
from ..table.out_dtypes import check_out_dtype
from ..table.table import Operator
from ..tensors.tensor import Parameter, Tensor
from .fronts import Given, Inner, Way, arrays_form, quiet
from .keyword_calls import NOT_RECORDED, KeywordCalls
from .out_tensors import write_array
from .recipes import Recipe

__all__ = ["IntoCalls"]

_COMPUTED_IN: tuple[str, ...] = ("made", "computed")
"""Operators that compute in the dtype of `out`, and are told so."""


class IntoCalls(KeywordCalls):
    """The calls of a function with `out`."""

    def _told(self, kwargs: Mapping[str, object]) -> object:
        return type(kwargs["out"])

    def _learn_like(
        self, args: Sequence[object], kwargs: Mapping[str, object], rest: dict[str, object]
    ) -> None:
        out: Any = kwargs["out"]
        found = self._match(args, rest)
        if type(out) not in (Tensor, Parameter) or found is None or found[2]:
            return
        form, values, _ = found
        entry = form.entry
        if not entry.schema.endswith("-> Tensor") or entry.effects or entry.may_write:
            return
        if entry.out_dtype.demand in _COMPUTED_IN:
            own = self._match(args, rest | {"dtype": out.dtype})
            if not {"dtype", "layout", "device"}.isdisjoint(rest) or not own or own[0] is not form:
                return
        written = Given(0, "out", out, None)
        at = len(args) + [*kwargs].index(written.name)

        def learn(way: Way) -> None:
            moved = [each._replace(place=each.place + 1) for each in way.given]
            moved.insert(at, written)
            template, inner = [None, *way.template], way.inner or _inner(way.entry)
            self._learn(way._replace(given=moved, template=template, inner=inner))

        recipe = Recipe(form, args, rest, values, learn)
        if recipe.is_plain and not recipe.has_numbers_in_tensors:
            recipe.learn_natively(NOT_RECORDED, args, rest)


class _Writing:
    """An operator, and how its result gets into an array: as `out` does."""

    def __init__(self, entry: Operator) -> None:
        self._entry = entry
        form = listed(entry)
        forward = arrays_form(entry)
        self._plain = forward if form is None else form.taken_apart(forward)
        names = [each.name for each in entry.signature.arguments]
        is_told = entry.out_dtype.demand in _COMPUTED_IN
        others = [name for at, name in enumerate(names) if form is None or at not in form.lists]
        self._dtype_at = others.index("dtype") if is_told and "dtype" in others else -1

    def into(self, out: Array, *values: object) -> Array:
        """The array, with the operator's result."""
        given = self.check(out, values)
        self.write(out, self.result(given), given)
        return out

    def check(self, out: Array, values: Sequence[object]) -> Sequence[object]:
        check_out(self._entry.out_overlap, out, values)
        if self._dtype_at < 0:
            return values
        at = self._dtype_at
        return [*values[:at], dtype_of(out).number, *values[at + 1 :]]

    def result(self, values: Sequence[object]) -> Any:
        return self._plain(*values)

    def write(self, out: Array, result: Any, values: Sequence[object]) -> None:
        entry = self._entry
        assert type(result) is np.ndarray
        check_out_dtype(entry.out_dtype, entry.name, of_numpy(result.dtype), of_numpy(out.dtype))
        write_array(entry, result, out, values)


@cache
def _inner(entry: Operator) -> Inner:
    """What does an operator's calls with `out`; the lists that it takes apart stand one further."""
    writing, form = _Writing(entry), listed(entry)
    known = into_form(entry, writing)
    if known is not None:
        lists = None if form is None else [at + 1 for at in form.lists]
        return Inner(known.around(quiet(entry)), lists, writes=True)

    def plainly(out: Array, *values: object) -> Array:
        given = values if form is None else form.apart(values)
        return writing.into(out, *given)

    return Inner(quiet(entry)(plainly), None, writes=True)
