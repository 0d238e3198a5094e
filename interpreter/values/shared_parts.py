"""Values with the same parts in many places, on their way between Python and the machine.

Each place gets a list of its own there, as in torch; so a small value may become a huge one.
"""

from __future__ import annotations

from collections.abc import Callable

from ...frontend.limits.bounds import BoundExceeded
from ...frontend.limits.walks import check_copies
from ...typecheck.definitions.class_types import ClassType, InterfaceType
from ...typecheck.types.types import ANY, ANY_LIST, ANY_TUPLE, Type, UnionType
from .counted_copies import small_copies

__all__ = ["bounded_conversion", "may_share"]

_OPEN = frozenset({ANY, ANY_LIST, ANY_TUPLE})


def may_share(type: Type) -> bool:
    """Whether a small value of a type may have a huge copy: lists in lists, or what can hold
    anything."""
    return _levels(type) > 1


def _levels(type: Type) -> int:
    """How deep lists, dicts and what can hold anything lie in each other."""
    if type in _OPEN or isinstance(type, ClassType | InterfaceType | UnionType):
        return 2
    inner = max(map(_levels, type.contained), default=0)
    return inner + type.is_collection


def bounded_conversion(
    type: Type, convert: Callable[[object], object]
) -> Callable[[object], object]:
    """A conversion of values of a type that raises BoundExceeded for what has too many copies, or
    holds itself."""

    is_small = small_copies(type)

    def convert_checked(value: object) -> object:
        if not is_small(value):
            check_copies(value)
        try:
            return convert(value)
        except RecursionError:
            raise BoundExceeded("objects lie too deep in each other") from None

    return convert_checked
