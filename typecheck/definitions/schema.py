"""Signatures: of operators (parsed from schema text) and of functions (made by the checker)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from typing import Final, Protocol

from ...frontend.foundations.value_class import value_class
from ..types.types import Type

__all__ = ["NO_DEFAULT", "AliasInfo", "Argument", "OperatorTable", "Signature"]


class _NoDefault:
    def __repr__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT: Final = _NoDefault()
"""The default of an argument that must be given."""


@value_class(frozen=True, slots=True)
class AliasInfo:
    """`Tensor(a!)`: the alias sets before and after the call, and whether it is written to.

    In `Tensor(a)[]` it is of the elements of a list.
    """

    sets: tuple[str, ...]
    is_write: bool = False
    after: tuple[str, ...] = ()
    of_elements: bool = False


@value_class(frozen=True, slots=True)
class Argument:
    """A parameter or result.

    `size` is the N of `int[N]`: a single number is then repeated N times.  `alias` is present
    where results may share memory or the argument is changed in place.  `word` is what schemas
    call a number that stands for something else, such as `ScalarType`; scripts see an `int`.
    """

    name: str
    type: Type
    default: object = field(default=NO_DEFAULT, hash=False)
    keyword_only: bool = False
    size: int | None = None
    alias: AliasInfo | None = None
    word: str = field(default="", compare=False)

    @property
    def has_default(self) -> bool:
        return self.default is not NO_DEFAULT


@value_class(frozen=True, slots=True)
class Signature:
    """`name.overload(arguments) -> returns`.

    `name` is qualified (`aten::add`, or a plain function name); `vararg` accepts any further
    arguments, `varret` any results.
    """

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    vararg: bool = False
    varret: bool = False
    _written: tuple[int, ...] | None = field(default=None, init=False, repr=False, compare=False)
    _full_name: str | None = field(default=None, init=False, repr=False, compare=False)
    _shares: bool | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def written(self) -> tuple[int, ...]:
        """The places of arguments that are changed in place."""
        if self._written is None:  # which is asked of every node, over and over
            found = enumerate(self.arguments)
            places = tuple(i for i, a in found if a.alias is not None and a.alias.is_write)
            object.__setattr__(self, "_written", places)
            return places
        return self._written

    @property
    def shares(self) -> bool:
        """Whether an argument or result says anything about what shares memory or is changed."""
        if self._shares is None:
            shares = any(a.alias is not None for a in (*self.arguments, *self.returns))
            object.__setattr__(self, "_shares", shares)
            return shares
        return self._shares

    @property
    def full_name(self) -> str:
        """`aten::add.Tensor`, or `aten::tanh` for an overload without a name."""
        if self._full_name is None:
            found = f"{self.name}.{self.overload}" if self.overload else self.name
            object.__setattr__(self, "_full_name", found)
            return found
        return self._full_name

    @property
    def is_mutable(self) -> bool:
        """Whether an argument is changed in place."""
        return bool(self.written)


class OperatorTable(Protocol):
    """What the checker asks of the operators; `ops` fills it."""

    @property
    def unchosen(self) -> Collection[str]:
        """The full names of overloads that a script does not mean by their name alone."""

    @property
    def effects(self) -> Collection[str]:
        """The names of operators that do something besides giving a value and writing arguments:
        drawing random numbers, too."""

    def overloads(self, name: str) -> Sequence[Signature]:
        """The overloads of `aten::add`, in registration order; empty for an unknown name."""

    def names(self) -> Sequence[str]:
        """All qualified names, for near misses."""
