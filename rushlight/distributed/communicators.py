"""What a group talks through: arrays that go between processes, without waiting.

Arrays are contiguous.  What is only moved comes as bytes (`uint8`, one dimension), with how many of
them are each process's; what is reduced comes as numbers.  A call begins something, and gives what
tells whether it is done; until then its arrays are not to be touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..ops.memory.dtype import Array
from .backends import ReduceOp

__all__ = ["Alone", "Communicator", "Pending"]


class Pending(Protocol):
    """Something that was begun."""

    def done(self) -> bool:
        """Whether it is done; asking also lets it go on."""
        ...

    def abandon(self) -> None:
        """Nobody waits for it any more."""
        ...

    def source(self) -> int:
        """The member whose message was received."""
        ...


class Communicator(Protocol):
    """The members of a group, numbered from 0."""

    rank: int
    size: int

    def barrier(self) -> Pending:
        """Be done when all members have come here."""
        ...

    def broadcast(self, values: Array, root: int) -> Pending:
        """Fill an array with that of a member."""
        ...

    def reduce(self, values: Array, op: ReduceOp, root: int | None) -> Pending:
        """Reduce the arrays of all members to one, in place: that of a member, or of all."""
        ...

    def reduce_scatter(self, sent: Array, received: Array, op: ReduceOp) -> Pending:
        """Reduce arrays of all members, of which each gets its part."""
        ...

    def gather(
        self, sent: Array, received: Array | None, counts: Sequence[int], root: int | None
    ) -> Pending:
        """Put the bytes of all members behind each other: in a member's array, or in all."""
        ...

    def scatter(
        self, sent: Array | None, counts: Sequence[int], received: Array, root: int
    ) -> Pending:
        """Give each member its bytes of a member's array."""
        ...

    def all_to_all(
        self,
        sent: Array,
        sent_counts: Sequence[int],
        received: Array,
        received_counts: Sequence[int],
    ) -> Pending:
        """Give each member its bytes, and put those that it has for this one behind each other."""
        ...

    def send(self, values: Array, to: int, tag: int) -> Pending:
        """Send bytes to a member."""
        ...

    def receive(self, values: Array, source: int | None, tag: int) -> Pending:
        """Take bytes that a member sends to this one; any member, if none is named."""
        ...

    def part(self, members: Sequence[int]) -> Communicator | None:
        """What some members talk through, in this order; None where this one is not among them.

        All members call this at the same time.
        """
        ...


class _Done:
    """What was done at once."""

    def done(self) -> bool:
        return True

    def abandon(self) -> None:
        """It is done."""

    def source(self) -> int:
        return 0


class Alone:
    """A group of one: what it is to get from all members it has."""

    rank = 0
    size = 1

    def barrier(self) -> Pending:
        return _Done()

    def broadcast(self, values: Array, root: int) -> Pending:
        return _Done()

    def reduce(self, values: Array, op: ReduceOp, root: int | None) -> Pending:
        return _Done()

    def reduce_scatter(self, sent: Array, received: Array, op: ReduceOp) -> Pending:
        received[...] = sent.reshape(received.shape)
        return _Done()

    def gather(
        self, sent: Array, received: Array | None, counts: Sequence[int], root: int | None
    ) -> Pending:
        if received is not None:
            received[...] = sent
        return _Done()

    def scatter(
        self, sent: Array | None, counts: Sequence[int], received: Array, root: int
    ) -> Pending:
        if sent is not None:
            received[...] = sent
        return _Done()

    def all_to_all(
        self,
        sent: Array,
        sent_counts: Sequence[int],
        received: Array,
        received_counts: Sequence[int],
    ) -> Pending:
        received[...] = sent
        return _Done()

    def send(self, values: Array, to: int, tag: int) -> Pending:
        raise ValueError(f"send: the group has one member, and none with rank {to}")

    def receive(self, values: Array, source: int | None, tag: int) -> Pending:
        raise ValueError("recv: the group has one member; nobody could send anything")

    def part(self, members: Sequence[int]) -> Communicator | None:
        return Alone() if members else None
