"""The class types of modules, which modules of equal facts share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..frontend.foundations.kept import KeptWith
from ..typecheck.definitions.class_types import ClassType
from .qualified_names import forget_names

__all__ = ["SHARED", "_jit_clear_class_registry", "first_type_of", "own_types", "types_known"]

Types = list[tuple[object, ClassType]]
"""Class types with all that is compiled into them."""

Known = KeptWith[type, Types] | dict[type, Types]
SHARED: KeptWith[type, Types] = KeptWith()
"""The class types that modules share, by their classes."""

_own: ContextVar[Known | None] = ContextVar("own", default=None)


def types_known() -> Known:
    """The class types that modules may share, by their classes."""
    own = _own.get()
    return SHARED if own is None else own


def first_type_of(cls: type) -> ClassType | None:
    """What a class of modules means in an annotation: the type that was compiled first of it; None
    if there is none."""
    known = types_known().get(cls)
    return known[0][1] if known else None


def _jit_clear_class_registry() -> None:
    """Let modules that are compiled from now on share no class types with earlier ones."""
    SHARED.clear()
    forget_names()


@contextmanager
def own_types() -> Iterator[None]:
    """Make class types that modules outside do not share, as traces need: each has its methods."""
    token = _own.set({})
    try:
        yield
    finally:
        _own.reset(token)
