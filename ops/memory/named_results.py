"""Several results of an operator, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, Self

from ...frontend.foundations.chosen import Chosen

__all__ = ["HOME", "NamedResults", "named_results"]


class NamedResults(tuple[Any, ...]):
    """Several results that have names: `torch.max(x, 0).values`."""

    __slots__ = ()
    fields: tuple[str, ...] = ()

    def __new__(cls, values: Iterable[object], hidden: Mapping[str, object] | None = None) -> Self:
        """`hidden` would hold fields without a place, of which there are none."""
        return tuple.__new__(cls, values)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (tuple(self), {})

    def __repr__(self) -> str:
        pairs = zip(self.fields, self, strict=True)
        inner = ",\n".join(f"{name}={value!r}" for name, value in pairs)
        return f"torch.return_types.{type(self).__name__}(\n{inner})"


HOME: Final = Chosen(f"{__package__.partition('.')[0]}.return_types")
"""Where programs and archives find the classes."""


def _field(place: int) -> property:
    return property(lambda self: tuple.__getitem__(self, place))


@cache
def named_results(name: str, fields: tuple[str, ...]) -> type[NamedResults]:
    """The type of an operator's results, `torch.return_types.<name>`."""
    body: dict[str, object] = {field: _field(i) for i, field in enumerate(fields)}
    body |= {"__slots__": (), "fields": fields, "__module__": HOME.now}
    body |= {"n_fields": len(fields), "n_sequence_fields": len(fields), "n_unnamed_fields": 0}
    body["__match_args__"] = fields
    return type(name, (NamedResults,), body)
