"""The tensors of objects' containers that have a history, or want gradients.

An attribute that is a tensor is held as Python's own, which knows its history.  Lists, tuples and
dicts hold bare arrays, as the machine has them: the tensors of those of which there is something to
know are kept beside (`ScriptObject.histories`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ...ops.memory.dtype import Array
from ...ops.python_values.named_tuples import NamedValues, make_named
from ...ops.tensors.tensor import Parameter, Tensor
from ...typecheck.types.types import Type
from .objects import ScriptObject
from .recognized import recognizing

__all__ = [
    *("arrays_in", "exchange_arrays", "held_by", "keep_given", "keep_wanted", "tensors_of"),
    "with_histories",
]

_WORDS = frozenset((int, float, bool, complex, str))
"""Types of elements that hold no arrays."""


def held_by(value: dict[Any, object]) -> Iterable[object]:
    """The values of a dict, and its keys where those are tensors."""
    if isinstance(next(iter(value), None), (Tensor, np.ndarray)):
        return [*value, *value.values()]
    return value.values()


def tensors_of(values: Iterable[object]) -> Iterator[Tensor]:
    """The tensors among values and in the containers among them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_of(value)
        elif isinstance(value, dict):
            yield from tensors_of(held_by(value))


def arrays_in(holder: ScriptObject) -> list[Array]:
    """The arrays in the containers of an object."""
    found: list[Array] = []
    seen: set[int] = set()
    left: list[object] = [each for each in holder.slots if isinstance(each, (list, tuple, dict))]
    while left:
        value = left.pop()
        if isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, (list, tuple, dict)) and value and id(value) not in seen:
            seen.add(id(value))  # lists may share others many times
            if isinstance(value, dict):
                left += held_by(value)
            elif type(value[0]) not in _WORDS or isinstance(value, tuple):
                left += value
    return found


def keep_given(holder: ScriptObject, value: object) -> None:
    """Keep what is to know of tensors among a value of Python's that came into an attribute, but of
    those that the machine has as tensors, too."""
    if not isinstance(value, (list, tuple, dict)):
        return
    bare = (each for each in tensors_of((value,)) if type(each) in (Tensor, Parameter))
    given = {id(each._array): each for each in bare if each.requires_grad}
    known = {**(holder.histories or {}), **given}
    if known:
        held = set(map(id, arrays_in(holder)))
        holder.histories = {key: each for key, each in known.items() if key in held} or None


def keep_wanted(holder: ScriptObject, tensor_of: Callable[[Array], Tensor | None]) -> None:
    """Keep those tensors of an object's containers that are known to want gradients."""
    found = {id(each): tensor_of(each) for each in arrays_in(holder)}
    holder.histories = {key: each for key, each in found.items() if each is not None} or None


def exchange_arrays(holder: ScriptObject, others: Mapping[int, Array]) -> None:
    """Have the containers of an object hold other arrays in the place of some, by identity."""
    if not any(id(each) in others for each in arrays_in(holder)):
        return
    done: dict[int, object] = {}
    holder.slots[:] = [_exchanged(each, others, done) for each in holder.slots]
    kept = (holder.histories or {}).values()
    holder.histories = {id(each._array): each for each in kept} or None


def _exchanged(value: Any, others: Mapping[int, Array], done: dict[int, object]) -> object:
    """A value with other arrays; lists and dicts stay the objects that they are."""
    if isinstance(value, np.ndarray):
        return others.get(id(value), value)
    if not isinstance(value, (list, tuple, dict)):
        return value
    if id(value) in done:
        return done[id(value)]
    done[id(value)] = value
    if isinstance(value, list):
        value[:] = [_exchanged(each, others, done) for each in value]
    elif isinstance(value, dict):
        for key, each in list(value.items()):
            value[key] = _exchanged(each, others, done)
    else:
        parts = [_exchanged(each, others, done) for each in value]
        named = make_named(value.type, parts) if isinstance(value, NamedValues) else None
        done[id(value)] = named or tuple(parts)
    return done[id(value)]


def with_histories(holder: ScriptObject, value: object, type: Type) -> object:
    """What a slot holds, with the tensors that are kept for it in place of their arrays."""
    known = holder.histories
    walk = None if known is None else recognizing(type)
    return value if known is None or walk is None else walk(value, known.values())
