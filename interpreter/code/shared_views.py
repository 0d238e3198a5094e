"""Operators whose results have to share memory, in code whose values are arrays.

Such an operator computes its elements at once wherever nobody can tell.  Where somebody could, its
call is one of these instead: arrays cannot say what is done to their elements, so it raises what
has the code run with tensors themselves.
"""

from __future__ import annotations

from functools import cache

from ...ops.memory.complex_parts import is_complex
from ...ops.memory.dtype import Array
from ...ops.memory.errors import OnConjugate
from ...ops.table.table import Operator

__all__ = ["SharedView", "shared"]


class SharedView(Operator):
    """An operator marked `lazily` whose result is written, or leaves the code."""

    def __init__(self, entry: Operator) -> None:
        self.__dict__.update(entry.__dict__)
        always, plain = entry.lazily == "all", entry.forward

        def forward(self: Array) -> object:
            if always or is_complex(self.dtype):
                raise OnConjugate(
                    f"`{entry.name}` gives a view here that is written, or leaves the code, where "
                    "that cannot be had: `conj_physical` and `neg` give tensors of their own"
                )
            return plain(self)

        self.forward = forward


@cache
def shared(entry: Operator) -> Operator:
    """An operator as it is called where its result has to share memory."""
    return SharedView(entry) if entry.lazily else entry
