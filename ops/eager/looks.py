"""Methods and properties that need no more than a look at a tensor: how many dimensions it has, its
sizes, whether it lies in one piece.  Native code looks once there is some (`fronts.py`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from ...frontend.foundations.declared import Declared
from ..memory.dtype import CPU, DTYPES, Dtype, dtype_of
from ..table.direct import LISTENING
from ..table.record import Look as Told
from ..table.table import TABLE, Operator
from ..tensors.overriding import PLAIN
from ..tensors.tensor import PLAIN_TENSORS, Tensor
from ..tensors.tracing import ACTIVE
from .callables import when_native
from .dispatch import EagerFunction, EagerMethod, eager_function
from .fronts import Front, Given, Look, NativeMembers, Way, front_of
from .keyword_calls import NOT_RECORDED
from .shortcuts import MISFIT

__all__ = ["is_left_alone", "made_by_look", "members_by_look"]

_KINDS: Final[dict[Told, int]] = {
    **{"rank": 1, "count": 2, "whole": 3, "dtype": 4, "itself": 5, "again": 6},
}


def is_left_alone(tensor: Tensor) -> bool:
    """Whether a tensor is an array and nothing else, and nobody hears of what is done with it."""
    kind = type(tensor)
    return kind in PLAIN_TENSORS and kind in PLAIN and not ACTIVE and not LISTENING


def made_by_look(qualified: str) -> Callable[[str], EagerFunction] | None:
    """What makes the method of an operator that tells something of a tensor at a look; None of
    others."""
    entry = TABLE.said(qualified, _looking_alone)
    return None if entry is None else lambda name: _AtOnce(name, entry)


def _looking_alone(entry: Operator) -> Operator | None:
    """An operator that tells something of one tensor at a look.  This is asked of all methods when
    the library is imported: few have to know their signature for it."""
    if not entry.looks:
        is_told = entry.asks_form and not entry.quantized
        if not (is_told and entry.gives_number and len(entry.signature.arguments) == 1):
            return None
    return entry


class _AtOnce(EagerMethod):
    """A method that mostly needs no more than a look at a tensor: `_look` gives its result, or
    `MISFIT`, where nobody hears of the call."""

    __slots__ = ("_entry", "_look", "_otherwise", "_told")

    def __init__(self, operator_name: str, entry: Operator) -> None:
        super().__init__(operator_name, operator_name.partition("::")[2], as_method=True)
        self._entry, self._look = entry, _looking(entry)
        self._told: Look | None = None
        self._otherwise, self._quickly = self._quickly, self._at_first
        when_native(self._settle)

    def _at_first(self, *args: Any, **kwargs: object) -> object:
        if len(args) == 1 and not kwargs and is_left_alone(args[0]):
            found = self._look(args[0])
            if found is not MISFIT:
                return found
        return self._otherwise(*args, **kwargs)

    def _learn(self, way: Way) -> None:
        super()._learn(way)  # after which native code may look already
        if self.front is not None:
            self._otherwise = self.front.call
        self.quicken(self._at_first if self._told is None else self._told.call)

    def _settle(self) -> None:
        kind = _KINDS.get(self._entry.looks)
        if kind is not None:
            told = _of_dtypes(self._entry) if self._entry.looks == "dtype" else {}
            self._told = Look(self.__name__, kind, self._at_first, told)
            self.quicken(self._told.call)


def _looking(entry: Operator) -> Callable[[Tensor], object]:
    if entry.looks == "itself":
        return lambda tensor: tensor if tensor._array.flags.c_contiguous else MISFIT
    if entry.looks == "again":
        return lambda tensor: Tensor._of(tensor._array.view())
    read = entry.forward
    return lambda tensor: read(tensor._array)


def _of_dtypes(entry: Operator) -> Mapping[Dtype, object]:
    """What an operator says of arrays of each dtype."""
    return {dtype: entry.forward(np.empty(0, dtype)) for dtype in _dtypes()}


@cache
def _dtypes() -> list[Dtype]:
    """Those that NumPy has itself; others are not worth their import."""
    return [np.dtype(name) for name in DTYPES if name in np.sctypeDict]


_PROPERTIES: Final = {
    **{"ndim": _KINDS["rank"], "dtype": _KINDS["dtype"], "shape": 7, "device": _KINDS["dtype"]},
    **{"requires_grad": 8, "data": 9},
}
_STEPS: Final = ("select", "slice", "unsqueeze", "alias")
"""What names a part of a tensor that wants gradients."""
_TURNS: Final = {"T": "aten::numpy_T", "mT": "aten::mT"}
_LOOKS: Final[Declared[str, Look | Front | NativeMembers]] = Declared()
"""What native code looks at as long as there are these members."""


def members_by_look() -> dict[str, object]:
    """Members of tensors that native code has, in the place of those in Python."""
    told: dict[str, dict[Any, object]] = {
        "dtype": {each: dtype_of(np.empty(0, each)) for each in _dtypes()},
        "device": dict.fromkeys(_dtypes(), CPU),
    }
    found: dict[str, object] = {}
    for name, kind in _PROPERTIES.items():
        written = inspect.getattr_static(Tensor, name)
        look = Look(name, kind, written.fget, told.get(name, {}))
        _LOOKS.put([name], look)
        found[name] = property(look.call, written.fset, written.fdel, written.__doc__)
    for name, operator in _TURNS.items():
        written = vars(Tensor)[name]
        front = _turning(written.fget, operator)
        if front is not None:
            _LOOKS.put([name], front)
            found[name] = property(front.call, doc=written.__doc__)
    members = NativeMembers(
        Tensor, {f"{name}_step": eager_function(f"aten::{name}") for name in _STEPS}
    )
    _LOOKS.put(["members"], members)
    return found | members.found


def _turning(written: Callable[..., object], name: str) -> Front | None:
    """What gives a view of a tensor by an operator; who wants gradients gets it as is written."""
    entry, front = TABLE.operator(name), front_of(written)
    if entry is None or front is None:
        return None
    given = Given(0, "", Tensor._of(np.empty((0, 0))), None)
    front.add(Way(entry, [given], [None], -1, NOT_RECORDED))
    return front
