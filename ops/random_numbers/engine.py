"""The engine mt19937 (Matsumoto and Nishimura 1998), whose draws come from NumPy, many of them from
native code.

NumPy takes and gives the engine's words one by one; here they are read and written in its memory,
whose address it tells (`BitGenerator.ctypes`).  Where that is not laid out as in the NumPy that
this was written with, its own way is taken.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from ..kernels import family
from ..memory.dtype import Array

__all__ = ["WORDS", "Engine"]

WORDS: Final = 624
"""Words of the state; a number says how many of them are used."""
_MANY: Final = 2048
"""Draws that are worth the way to native code."""


@cache
def _any_words() -> Any:
    """Words to begin with that need no hashing: others are put in their place."""

    class Constant(np.random.bit_generator.ISeedSequence):
        """The same words always."""

        def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Array:
            return np.ones(n_words, dtype)

    return Constant()


class Engine:
    """An engine; its state is its words and, last, how many of them are used."""

    __slots__ = ("_made", "_memory")

    def __init__(self, state: Array | None = None) -> None:
        self._made: Any = np.random.MT19937(_any_words())
        self._memory: Array | None = _memory(self._made) if _is_as_known() else None
        if state is not None:
            self.state = state

    def seed(self, seed: int) -> None:
        """Start the stream of a seed of 32 bits."""
        np.random.RandomState(self._made).seed(seed)

    def draw(self, count: int) -> Array:
        """So many draws of 32 bits."""
        native = family("drawing.engines") if count >= _MANY and self._memory is not None else None
        if native is None:
            return np.asarray(self._made.random_raw(count), np.uint64)
        out = np.empty(count, np.uint64)
        native.draw(self._memory, out)
        return out

    def skip(self, count: int) -> None:
        """Leave out so many draws."""
        if count >= _MANY:
            self.draw(count)
        else:
            self._made.random_raw(count, output=False)

    @property
    def state(self) -> Array:
        """The state, a copy."""
        if self._memory is not None:
            return self._memory.copy()
        known = self._made.state["state"]
        return np.append(known["key"], np.uint32(known["pos"]))

    @state.setter
    def state(self, state: Array) -> None:
        if self._memory is not None:
            self._memory[:] = state
            return
        known = self._made.state
        known["state"] = {"key": state[:WORDS], "pos": int(state[WORDS])}
        self._made.state = known


def _memory(engine: Any) -> Array:
    """The memory of an engine's words, which lives as long as that."""
    ctypes = import_module("ctypes")
    words: Any = (ctypes.c_uint32 * (WORDS + 1)).from_address(engine.ctypes.state_address)
    return np.frombuffer(words, np.uint32)


@cache
def _is_as_known() -> bool:
    """Whether the memory of engines is laid out as it is read here."""
    engine = np.random.MT19937(1)
    engine.random_raw(3)
    try:
        memory = _memory(engine)
    except (AttributeError, ImportError, TypeError, ValueError):
        return False
    state: Any = engine.state["state"]
    return bool(np.array_equal(memory[:WORDS], state["key"])) and memory[WORDS] == state["pos"]
