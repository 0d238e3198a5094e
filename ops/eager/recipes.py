"""Recipes: how the arguments of an eager call become an operator's values, kept by their types.

Finding the overload that fits takes several microseconds; the next call whose arguments have the
same types, names and lengths takes the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from keyword import iskeyword
from typing import Any, Final

import numpy as np

from ..kernels import TRIALS
from ..memory.dtype import Device, DType
from ..table.direct import direct_form, has_direct_form
from ..tensors.sizes import Size
from ..tensors.tensor import PLAIN_TENSORS, Tensor
from .binding import Form, fits
from .calls import run
from .fronts import Given, Learn, Recording, Way, constants_among, learning_more
from .shortcuts import MISFIT, Taken, written_out

__all__ = ["Key", "Recipe", "keep", "key_of"]

Key = tuple[object, ...]
"""Names and types, those of parts of lists, too."""

_PLAIN: Final = PLAIN_TENSORS | {int, float, bool, complex, str, type(None), DType, Device}
_ELEMENTS: Final = PLAIN_TENSORS | {int, float}
_OTHERWISE: Final = frozenset({"out", "requires_grad"})
"""Names of arguments that are looked at before an overload is chosen."""


_ARRAY: Final = object()
"""Stands for taking the array of a tensor."""


def key_of(args: Sequence[Any], kwargs: dict[str, object]) -> Key | None:
    """What decides the overload; None if that is more than types."""
    if kwargs and not _OTHERWISE.isdisjoint(kwargs):
        return None
    parts: list[object] = list(kwargs)
    for value in (*args, *kwargs.values()) if kwargs else args:
        kind = type(value)
        if kind not in _PLAIN:
            if kind is Size:
                kind = tuple
            elif kind is not list and kind is not tuple:
                return None
            if not value:
                parts.append((kind, 0))
                continue
            kinds = set(map(type, value))
            if len(kinds) != 1 or not kinds <= _ELEMENTS:
                return None
            parts.append((kind, len(value)))
            kind = kinds.pop()
        parts.append(kind)
    return tuple(parts)


class Recipe:
    """An overload, and for each argument given its place and what converts it.

    `call` does a call, or gives `MISFIT`; it is written out when it is used often, and a front may
    `learn` it.
    """

    __slots__ = (
        *("_learn", "_left", "_names", "_sizes_at", "_steps", "_template", "call", "form"),
        "has_numbers_in_tensors",
    )

    def __init__(
        self,
        form: Form,
        args: Sequence[object],
        kwargs: dict[str, object],
        values: Sequence[object],
        learn: Learn,
    ) -> None:
        self.form, self._learn = form, learn
        gathered = form._gather(args)
        given = dict(enumerate(gathered))
        for key, value in kwargs.items():
            given[form._place(key, given)] = value
        self._template = [None if place in given else v for place, v in enumerate(values)]
        self._steps = [
            (place, _converter(form, place, value, values[place])) for place, value in given.items()
        ]
        self.has_numbers_in_tensors = any(
            _is_of(value, Tensor) and not _is_of(values[place], np.ndarray)
            for place, value in given.items()
        )
        self._names = list(kwargs)
        self._sizes_at = -1 if gathered is args else form.spread
        is_plain = gathered is args or set(map(type, args[form.spread :])) == {int}
        is_plain = is_plain and all(name.isidentifier() for name in kwargs)
        self._left = TRIALS if is_plain and not any(map(iskeyword, kwargs)) else 1 << 62
        self.call: Callable[..., object] = self._counted

    def _counted(self, *args: object, **kwargs: object) -> object:
        self._left -= 1
        if self._left < 0:
            constants = constants_among((*args, *kwargs.values()))

            def exchange(call: Callable[..., object]) -> None:
                self.call = learning_more(call, learn, constants)

            call, recording = self._written_out(args, kwargs, exchange)
            learn = partial(self.learn_natively, recording)
            learn(args, kwargs)
            exchange(call)
        values = self.values(args, kwargs)
        if values is None:
            return MISFIT
        return run(self.form.entry, values, [*args, *kwargs.values()] if kwargs else args)

    def values(self, args: Sequence[Any], kwargs: dict[str, object]) -> list[object] | None:
        """The operator's values; None if an argument turns out not to fit."""
        made = self._template.copy()
        if self.form.spread is not None:
            args = self.form._gather(args)
        given = (*args, *kwargs.values()) if kwargs else args
        for (place, convert), value in zip(self._steps, given, strict=True):
            if convert is None:
                made[place] = value
            elif convert is _ARRAY:
                made[place] = value._array
            else:
                converted = convert(value, False)
                if not fits(converted):
                    return None
                made[place] = converted
        return made

    @property
    def is_plain(self) -> bool:
        """Whether a front may learn its calls."""
        return self._left <= TRIALS

    def learn_natively(
        self, recording: Recording, args: Sequence[object], kwargs: dict[str, object]
    ) -> None:
        """Have a front learn calls with such arguments."""
        sizes_at = -1 if self._sizes_at is None else self._sizes_at
        given = [*args, *kwargs.values()]
        names = [*([""] * len(args)), *self._names]
        steps = self._steps
        if sizes_at >= 0:
            sizes = [(sizes_at, None)] * (len(args) - sizes_at)
            steps = [*steps[:sizes_at], *sizes, *steps[sizes_at + 1 :]]
        pairs = zip(steps, names, given, strict=True)
        found = [
            Given(place, name, value, None if convert is _ARRAY else convert)
            for (place, convert), name, value in pairs
        ]
        self._learn(Way(self.form.entry, found, self._template, sizes_at, recording))

    def _written_out(
        self,
        args: Sequence[object],
        kwargs: dict[str, object],
        late: Callable[[Callable[..., object]], None],
    ) -> tuple[Callable[..., object], Recording]:
        """The same for all arguments of the types of these, and what records such a call."""
        args = self.form._gather(args)
        names = [*([""] * len(args)), *self._names]
        given = (*args, *kwargs.values())
        taken = [
            Taken(place, "sizes" if place == self._sizes_at else _way(convert, value), name)
            for (place, convert), value, name in zip(self._steps, given, names, strict=True)
        ]
        pairs = zip(taken, self._steps, strict=True)
        converters = [convert for each, (_, convert) in pairs if each.way == "converted"]
        entry = self.form.entry
        forward = direct_form(entry) if has_direct_form(entry) else entry.forward
        own = entry.unwatched is not None
        values = self._template
        return written_out(
            entry, forward, taken, converters, values, own=own, is_sure=False, late=late
        )


def _way(convert: object, value: object) -> str:
    """How an argument is taken."""
    if convert is None:
        return "same"
    if convert is _ARRAY:
        return "tensor"
    return "tensors" if _is_of(value, Tensor) else "converted"


def _is_of(value: object, kind: type) -> bool:
    """Whether it is a list or a tuple that begins with one of a kind."""
    return isinstance(value, (list, tuple)) and bool(value) and isinstance(value[0], kind)


def _converter(form: Form, place: int, value: object, converted: object) -> Any:
    if isinstance(value, Tensor) and converted is value._array:
        return _ARRAY
    if converted is value and not isinstance(value, (list, tuple)):
        return None
    return form.converters[place]


_MOST: Final = 500


def keep(recipes: dict[Key, Recipe], key: Key, recipe: Recipe) -> None:
    """Remember a recipe; there is one for lists of every length, so all are forgotten at times.

    Sizes that are given as tensors of one number are found anew in each call: types tell nothing
    of them, and whoever learns a call takes a list of tensors for one.
    """
    if recipe.has_numbers_in_tensors:
        return
    if len(recipes) > _MOST:
        recipes.clear()
    recipes[key] = recipe
