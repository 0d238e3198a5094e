"""What the defaults of a text are, which are computed once."""

from __future__ import annotations

from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.names import Constant
from ..failures.errors import Failure
from .invoking import invoke

__all__ = ["result_of"]


def result_of(function: Function) -> Constant | None:
    """What a function without parameters gives; None if it cannot be compiled, or fails."""
    function.ensure_defined()
    if function.graph is None:
        return None
    try:
        return Constant(invoke(function, ()), function.signature.returns[0].type)
    except Failure:
        return None
