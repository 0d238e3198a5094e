"""Which pipes a pipe is made of."""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Collection
from typing import Any, TypeAlias

from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]

DataPipe: TypeAlias = IterDataPipe[Any] | MapDataPipe[Any]
DataPipeGraph: TypeAlias = dict[int, tuple[DataPipe, "DataPipeGraph"]]
_KINDS: tuple[Any, ...] = (IterDataPipe, MapDataPipe)


def _in_place_of_a_pipe() -> str:
    return "STUB"


def _without_others(state: object) -> object:
    """What of a pipe's state may hold pipes."""

    def may(value: object) -> bool:
        return isinstance(value, (*_KINDS, Collection))

    if isinstance(state, dict):
        return {name: value for name, value in state.items() if may(value)}
    if isinstance(state, tuple | list):
        return [value for value in state if may(value)]
    return state if may(state) else None


def _held_by(pipe: DataPipe, only_datapipe: bool, known: set[int]) -> list[DataPipe]:
    """The pipes that a pipe holds, found as pickle finds them, each once.

    Args:
        only_datapipe: look at attributes that are pipes or collections, and at no others.
        known: the numbers of pipes that are not to be named.
    """
    found: list[DataPipe] = []

    def met(other: DataPipe) -> object:
        if other is pipe or id(other) in known:
            raise NotImplementedError
        known.add(id(other))
        found.append(other)
        return _in_place_of_a_pipe, ()

    try:
        for kind in _KINDS:
            kind.set_reduce_ex_hook(met)
            if only_datapipe:
                kind.set_getstate_hook(_without_others)
        pickle.Pickler(io.BytesIO()).dump(pipe)
    finally:
        for kind in _KINDS:
            kind.set_reduce_ex_hook(None)
            if only_datapipe:
                kind.set_getstate_hook(None)
    return found


def _traverse(pipe: object, only_datapipe: bool, above: frozenset[int]) -> DataPipeGraph:
    if not isinstance(pipe, _KINDS):
        raise RuntimeError(f"Expected `IterDataPipe` or `MapDataPipe`, but {type(pipe)} is found")
    if id(pipe) in above:
        return {}
    here = above | {id(pipe)}
    below: DataPipeGraph = {}
    for held in _held_by(pipe, only_datapipe, set(here)):
        below.update(_traverse(held, only_datapipe, here))
    return {id(pipe): (pipe, below)}


def traverse_dps(datapipe: DataPipe) -> DataPipeGraph:
    """The pipes that a pipe is made of, as a tree: `id` of the pipe to the pipe and what it holds.

    Attributes are looked at that are pipes or collections.

    Raises:
        RuntimeError: something that is no pipe.
    """
    return _traverse(datapipe, True, frozenset())


def traverse(datapipe: DataPipe, only_datapipe: bool | None = None) -> DataPipeGraph:
    """The same (see `traverse_dps`); all attributes are looked at unless `only_datapipe`."""
    said = (
        "`traverse` function is deprecated and will be removed after 1.13. Please use "
        "`traverse_dps` instead."
    )
    if not only_datapipe:
        said += " And, the behavior will be changed to the equivalent of `only_datapipe=True`."
    warnings.warn(said, FutureWarning, stacklevel=2)
    return _traverse(datapipe, bool(only_datapipe), frozenset())
