"""Giving registers to values, and moving several values at once."""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.graphs.graph import Value
from ...typecheck.types.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NONE,
    NUMBER,
    STRING,
    Type,
)

__all__ = ["Registers", "is_heavy", "sequence_moves"]

_LIGHT = frozenset({BOOL, COMPLEX, DEVICE, FLOAT, GENERATOR, INT, NONE, NUMBER, STRING})

_LIGHT_THEMSELVES = frozenset(map(id, _LIGHT))
"""Most values are of these: to find one among equals takes longer."""


def is_heavy(type: Type) -> bool:
    """Whether a value of the type can hold on to much memory, so that it is worth letting go."""
    return id(type) not in _LIGHT_THEMSELVES and type.inner not in _LIGHT


class Registers:
    """The registers of a code while it is assembled.

    `of` says where a value is.  `pinned` registers belong to the loops around the present place.
    A `hint` is where a value should go if that register is free when the value comes to be.
    """

    def __init__(self) -> None:
        self.count = 0
        self.of: dict[Value, int] = {}
        self.hints: dict[Value, int] = {}
        self.pinned: set[int] = set()
        self.free: set[int] = set()

    def take(self, hint: int | None = None) -> int:
        """A free register: the hinted one if possible, else the lowest."""
        if hint is not None and (hint in self.free or hint in self.pinned):
            self.free.discard(hint)
            return hint
        if self.free:
            register = min(self.free)
            self.free.remove(register)
            return register
        self.count += 1
        return self.count - 1

    def define(self, value: Value) -> int:
        """A register for a new value."""
        register = self.of[value] = self.take(self.hints.get(value))
        return register

    def release(self, values: Iterable[Value]) -> None:
        """The values are needed no more."""
        self.free.update(self.of[v] for v in values if self.of[v] not in self.pinned)

    def keep_only(self, values: Iterable[Value]) -> None:
        """Nothing but these values lives on."""
        held = {self.of[v] for v in values}
        self.free = set(range(self.count)) - held - self.pinned


def sequence_moves(moves: list[tuple[int, int]], scratch: int) -> list[tuple[int, int]]:
    """Moves `(to, from)` that happen all at once, as moves one after another.

    Every register is the target of one move at most.  A cycle goes over the register `scratch`.
    """
    waiting = {to: source for to, source in moves if to != source}
    done: list[tuple[int, int]] = []
    while waiting:
        sources = set(waiting.values())
        ready = [to for to in waiting if to not in sources]
        if not ready:
            first = next(iter(waiting))
            done.append((scratch, first))
            waiting = {to: scratch if s == first else s for to, s in waiting.items()}
            continue
        for to in ready:
            done.append((to, waiting.pop(to)))
    return done
