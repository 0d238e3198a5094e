"""Tensors that are made to require gradients: `torch.randn(3, requires_grad=True)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..kernels import TRIALS
from ..memory.dtype import Device, DType
from ..table.record import Operator
from ..tensors.sizes import Size
from ..tensors.tape_port import MISSED
from .binding import Form
from .fronts import Given, Learn, Recording
from .recipes import Recipe, key_of

__all__ = ["LeafCalls", "as_leaf", "plain_keywords"]

_NUMBERS: Final = frozenset({int, float, bool})
_SIZES: Final = frozenset({tuple, list, Size})
_OTHERS: Final = _NUMBERS | {str, type(None), Device, DType}
_MOST: Final = 24
"""Kinds of calls of one function that are counted."""
_RECORDING: Final = Recording(lambda *_: MISSED, [MISSED])
"""How calls without tensors are recorded: not at all."""


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


class LeafCalls:
    """The calls of a function with `requires_grad`, which a front learns once they come often."""

    def __init__(
        self,
        match: Callable[
            [Sequence[object], dict[str, object]], tuple[Form, list[object], bool] | None
        ],
        learn: Learn,
    ) -> None:
        """`match` finds the overload that arguments fit, and what they become."""
        self._match, self._learn = match, learn
        self._seen: dict[object, int] = {}

    def count(
        self, args: Sequence[object], kwargs: Mapping[str, object], rest: dict[str, object]
    ) -> None:
        """Note a call that was done; the `rest` are its keywords without `requires_grad`."""
        constants = [each for each in kwargs.values() if type(each) not in (int, float)]
        key = (key_of(args, rest), *kwargs, *constants)
        count = self._seen.get(key, 0)
        if count > TRIALS or not (count or len(self._seen) < _MOST):
            return
        self._seen[key] = count + 1
        if count == TRIALS:
            self._learn_like(args, kwargs, rest)

    def _learn_like(
        self, args: Sequence[object], kwargs: Mapping[str, object], rest: dict[str, object]
    ) -> None:
        found = self._match(args, rest)
        if found is None or found[2] or not found[0].entry.schema.endswith("-> Tensor"):
            return
        wanted = Given(-1, "requires_grad", kwargs["requires_grad"], None)
        at = len(args) + [*kwargs].index(wanted.name)

        def learn(entry: Operator, given: Sequence[Given], *rest: Any) -> None:
            self._learn(entry, [*given[:at], wanted, *given[at:]], *rest)

        form, values, _ = found
        recipe = Recipe(form, args, rest, values, learn)
        if recipe.is_plain:
            recipe.learn_natively(_RECORDING, args, rest)
