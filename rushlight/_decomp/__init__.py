"""`torch._decomp`: functions that packages register as operators in terms of others.

They are kept and given to who asks.  Operators here run by their own kernels, so nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, TypeVar

from ..ops.eager.packets import Packet

__all__ = [
    *("core_aten_decompositions", "decomposition_table", "get_decompositions"),
    "register_decomposition",
]

F = TypeVar("F", bound=Callable[..., object])
Kind = Literal["post_autograd", "pre_autograd", "meta"]

global_decomposition_table: Final[dict[str, dict[object, Callable[..., object]]]] = {
    "post_autograd": {},
    "pre_autograd": {},
    "meta": {},
}
decomposition_table: Final = global_decomposition_table["post_autograd"]
pre_autograd_decomposition_table: Final = global_decomposition_table["pre_autograd"]
meta_table: Final = global_decomposition_table["meta"]


def _overloads(operators: object) -> Iterator[object]:
    """All overloads of operators in lists and packets."""
    for operator in operators if isinstance(operators, Sequence) else (operators,):
        if isinstance(operator, Packet):
            yield from (getattr(operator, name) for name in operator.overloads())
        elif isinstance(operator, Sequence):
            yield from _overloads(operator)
        else:
            yield operator


def register_decomposition(
    aten_op: object,
    registry: dict[object, Callable[..., Any]] | None = None,
    *,
    type: Kind = "post_autograd",
    unsafe: bool = False,
) -> Callable[[F], F]:
    """A decorator that keeps a function for operators.

    Args:
        aten_op: an operator of `torch.ops`, all overloads of one, or a list of them.
        registry: where to keep it; the table of the given type without one.

    Raises:
        ValueError: there is no such type.
        RuntimeError: there is a function for such an operator already.
    """
    del unsafe
    if type not in global_decomposition_table:
        raise ValueError(f"type must be one of {set(global_decomposition_table)}, got {type!r}")
    kept = global_decomposition_table[type] if registry is None else registry

    def keep(function: F) -> F:
        for overload in _overloads(aten_op):
            if overload in kept:
                raise RuntimeError(f"duplicate registrations for {overload}")
            kept[overload] = function
        return function

    return keep


def get_decompositions(
    aten_ops: Iterable[object], type: Kind = "post_autograd"
) -> dict[object, Callable[..., Any]]:
    """The functions that are kept for operators, those without one left out."""
    kept = global_decomposition_table[type]
    return {each: kept[each] for each in _overloads(list(aten_ops)) if each in kept}


def core_aten_decompositions() -> dict[Any, Callable[..., Any]]:
    """A table of its own of what was registered: operators need none to run."""
    return dict(decomposition_table)
