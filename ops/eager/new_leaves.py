"""Tensors that are made to require gradients: `torch.randn(3, requires_grad=True)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..memory.dtype import Device, DType
from ..tensors.sizes import Size
from .fronts import Given, Way
from .keyword_calls import NOT_RECORDED, KeywordCalls
from .recipes import Recipe

__all__ = ["LeafCalls", "as_leaf", "plain_keywords"]

_NUMBERS: Final = frozenset({int, float, bool})
_SIZES: Final = frozenset({tuple, list, Size})
_OTHERS: Final = _NUMBERS | {str, type(None), Device, DType}


def as_leaf(made: Any) -> object:
    """A new tensor, of which gradients are wanted from now on.

    Raises:
        RuntimeError: the elements are of a dtype without gradients.
    """
    if made._array.dtype.kind in "biu":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return made._want_gradients(True)


def plain_keywords(args: Sequence[Any], kwargs: Mapping[str, object]) -> dict[str, object] | None:
    """The keywords without `requires_grad`, which is a bool; None where there is more than numbers,
    sizes, dtypes and devices, which no class of tensors is asked about."""
    for value in args:
        kind = type(value)
        if kind not in _NUMBERS and not (kind in _SIZES and _NUMBERS.issuperset(map(type, value))):
            return None
    rest = dict(kwargs)
    if type(rest.pop("requires_grad")) is not bool or not _OTHERS.issuperset(
        map(type, rest.values())
    ):
        return None
    return rest


class LeafCalls(KeywordCalls):
    """The calls of a function with `requires_grad`."""

    def _told(self, kwargs: Mapping[str, object]) -> object:
        return kwargs["requires_grad"]

    def _learn_like(
        self, args: Sequence[object], kwargs: Mapping[str, object], rest: dict[str, object]
    ) -> None:
        found = self._match(args, rest)
        if found is None or found[2] or not found[0].entry.schema.endswith("-> Tensor"):
            return
        wanted = Given(-1, "requires_grad", kwargs["requires_grad"], None)
        at = len(args) + [*kwargs].index(wanted.name)

        def learn(way: Way) -> None:
            self._learn(way._replace(given=[*way.given[:at], wanted, *way.given[at:]]))

        form, values, _ = found
        recipe = Recipe(form, args, rest, values, learn)
        if recipe.is_plain:
            recipe.learn_natively(NOT_RECORDED, args, rest)
