"""What is done with types, by their kind: one table a use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, Generic, ParamSpec, TypeVar

from .types import Type

__all__ = ["TypeTable"]

T = TypeVar("T", bound=Type)
P = ParamSpec("P")
R = TypeVar("R")


class TypeTable(Generic[P, R]):
    """A function of types with a row for each kind of them; a kind's row is that of its base
    class if it has none of its own."""

    def __init__(self) -> None:
        self._rows: dict[type[Type], Callable[..., R]] = {}

    def row(
        self, *kinds: type[T]
    ) -> Callable[[Callable[Concatenate[T, P], R]], Callable[Concatenate[T, P], R]]:
        """Put in what is done with types of some kinds."""

        def put_in(row: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
            for kind in kinds:
                self._rows[kind] = row
            return row

        return put_in

    def row_of(self, type: Type) -> Callable[Concatenate[Type, P], R]:
        """The row for a type, to be called with the type itself."""
        kind = type.__class__
        row = self._rows.get(kind)
        if row is None:
            row = next(self._rows[base] for base in kind.__mro__ if base in self._rows)
            self._rows[kind] = row
        return row

    def __call__(self, type: Type, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.row_of(type)(type, *args, **kwargs)
