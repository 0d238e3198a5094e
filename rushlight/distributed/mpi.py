"""Groups over MPI, through `mpi4py`.

Everything is begun without waiting (`MPI_I...`), and waited for with pauses: MPI's own calls would
keep a core busy, could not be interrupted, and know no time after which they fail.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..frontend.diagnostics.uncaught import after_uncaught
from ..ops.memory.dtype import Array
from .agreement import Agreed, told
from .backends import DistBackendError, ReduceOp, default_pg_timeout
from .communicators import Communicator, Pending
from .printed import wait_until_read
from .works import waited

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["HOW_TO_START", "MPICommunicator", "all_processes"]

HOW_TO_START: Final = (
    "start them with `python -m rushlight.distributed.run --nproc-per-node N script.py`, or with "
    "mpiexec"
)


@cache
def _mpi() -> ModuleType:
    """`mpi4py.MPI`, which starts MPI in this process.

    Raises:
        RuntimeError: it is not installed, or finds no MPI.
    """
    try:
        return import_module("mpi4py.MPI")
    except ImportError as error:
        raise RuntimeError(
            "Distributed package doesn't have MPI built in: several processes need mpi4py and an "
            f"MPI; install `rushlight[mpi]` ({error})"
        ) from error


class _Request:
    """A request of MPI's, and what has to live as long."""

    def __init__(
        self, owner: MPICommunicator, request: MPI.Request, held: Sequence[object], cancels: bool
    ) -> None:
        self._owner = owner
        self._request: MPI.Request | None = request
        self._held = held
        self._cancels = cancels
        self._status = _mpi().Status()

    def done(self) -> bool:
        if self._request is None:
            return True
        try:
            if not self._request.Test(self._status):
                return False
        except _mpi().Exception as error:
            raise _failed(error) from error
        self._request, held, self._held = None, self._held, ()
        self._owner.forget(self)
        if self._cancels:
            self._check_length(held[0])
        return True

    def _check_length(self, room: Any) -> None:
        """See that a message was as long as its place: MPI says nothing of shorter ones."""
        came = self._status.Get_count(_mpi().BYTE)
        if came != room.nbytes:
            raise DistBackendError(f"recv: {came} bytes came, and the tensor has {room.nbytes}")

    def abandon(self) -> None:
        if not self._cancels:
            _LEFT.append(self)  # MPI goes on writing to its memory, and cannot end in order
            return
        if self._request is not None:
            self._request.Cancel()
            self._request.Wait(self._status)
        self._request, self._held = None, ()
        self._owner.forget(self)

    def source(self) -> int:
        found: int = self._status.Get_source()
        return found


_LEFT: Final[list[_Request]] = []


def _failed(error: Exception) -> DistBackendError:
    return DistBackendError(f"MPI: {str(error).partition(', error stack')[0]}")


class MPICommunicator:
    """A group that talks through a communicator of MPI's."""

    def __init__(self, comm: MPI.Comm) -> None:
        self._comm = comm
        self._open: dict[int, _Request] = {}
        self.rank: int = comm.rank
        self.size: int = comm.size

    def forget(self, request: _Request) -> None:
        """A request is done, and need not be held."""
        self._open.pop(id(request), None)

    def _begun(
        self, begin: Callable[[], MPI.Request], *held: object, cancels: bool = False
    ) -> Pending:
        try:
            request = _Request(self, begin(), held, cancels)
        except _mpi().Exception as error:
            raise _failed(error) from error
        self._open[id(request)] = request  # also where nobody waits for it
        return request

    def _agreed(self, says: Array, begin: Callable[[], MPI.Request], *held: object) -> Pending:
        """Begin what all members are to begin, and tell them so."""
        rows = np.empty((self.size, len(says)), np.int64)
        telling = self._begun(lambda: self._comm.Iallgather(says, rows), says, rows)
        return Agreed(telling, rows, self._begun(begin, *held))

    def barrier(self) -> Pending:
        return self._agreed(told("barrier", self.size), self._comm.Ibarrier)

    def broadcast(self, values: Array, root: int) -> Pending:
        says = told("broadcast", self.size, values, root=root)
        return self._agreed(says, lambda: self._comm.Ibcast(_bytes(values), root), values)

    def reduce(self, values: Array, op: ReduceOp, root: int | None) -> Pending:
        how, numbers, in_place = _operation(op, values), _numbers(values), _mpi().IN_PLACE
        says = told("all_reduce" if root is None else "reduce", self.size, values, op, root)

        def begin() -> MPI.Request:
            if root is None:
                return self._comm.Iallreduce(in_place, numbers, how)
            if root == self.rank:
                return self._comm.Ireduce(in_place, numbers, how, root)
            return self._comm.Ireduce(numbers, None, how, root)

        return self._agreed(says, begin, values)

    def reduce_scatter(self, sent: Array, received: Array, op: ReduceOp) -> Pending:
        how, numbers, into = _operation(op, sent), _numbers(sent), _numbers(received)
        return self._agreed(
            told("reduce_scatter", self.size, sent, op),
            lambda: self._comm.Ireduce_scatter_block(numbers, into, how),
            *(sent, received),
        )

    def gather(
        self, sent: Array, received: Array | None, counts: Sequence[int], root: int | None
    ) -> Pending:
        into = None if received is None else _parts(received, counts)
        call = "all_gather" if root is None else "gather"
        gives = [sent.nbytes if root in (None, to) else 0 for to in range(self.size)]
        takes = [0] * self.size if received is None else list(counts)

        def begin() -> MPI.Request:
            if root is None:
                return self._comm.Iallgatherv(_bytes(sent), into)
            return self._comm.Igatherv(_bytes(sent), into, root)

        says = told(call, self.size, root=root, exchanged=(gives, takes))
        return self._agreed(says, begin, sent, received, into)

    def scatter(
        self, sent: Array | None, counts: Sequence[int], received: Array, root: int
    ) -> Pending:
        parts = None if sent is None else _parts(sent, counts)
        gives = [0] * self.size if sent is None else list(counts)
        takes = [received.nbytes if each == root else 0 for each in range(self.size)]
        return self._agreed(
            told("scatter", self.size, root=root, exchanged=(gives, takes)),
            lambda: self._comm.Iscatterv(parts, _bytes(received), root),
            *(sent, received, parts),
        )

    def all_to_all(
        self,
        sent: Array,
        sent_counts: Sequence[int],
        received: Array,
        received_counts: Sequence[int],
    ) -> Pending:
        parts, into = _parts(sent, sent_counts), _parts(received, received_counts)
        return self._agreed(
            told("all_to_all", self.size, exchanged=(list(sent_counts), list(received_counts))),
            lambda: self._comm.Ialltoallv(parts, into),
            *(sent, received, parts, into),
        )

    def send(self, values: Array, to: int, tag: int) -> Pending:
        return self._begun(lambda: self._comm.Isend(_bytes(values), to, tag), values)

    def receive(self, values: Array, source: int | None, tag: int) -> Pending:
        chosen = _mpi().ANY_SOURCE if source is None else source
        return self._begun(
            lambda: self._comm.Irecv(_bytes(values), chosen, tag), values, cancels=True
        )

    def part(self, members: Sequence[int]) -> Communicator | None:
        mpi = _mpi()
        # what follows waits in MPI, and so does not begin before all are here
        waited(self.barrier(), default_pg_timeout.total_seconds(), "new_group")
        inside = self.rank in members
        key = members.index(self.rank) if inside else 0
        comm = self._comm.Split(0 if inside else mpi.UNDEFINED, key)
        return MPICommunicator(comm) if inside else None


def _bytes(values: Array) -> list[object]:
    return [values, _mpi().BYTE]


def _parts(values: Array, counts: Sequence[int]) -> list[object]:
    begins = [sum(counts[:at]) for at in range(len(counts))]
    return [values, list(counts), begins, _mpi().BYTE]


def _numbers(values: Array) -> list[object]:
    mpi = _mpi()
    return [values, mpi.C_BOOL if values.dtype.char == "?" else mpi._typedict[values.dtype.char]]


def _operation(op: ReduceOp, values: Array) -> MPI.Op:
    names = _OF_BOOLS if values.dtype.char == "?" else _OF_NUMBERS
    found: MPI.Op = getattr(_mpi(), names[op])
    return found


_OF_NUMBERS: Final = {
    **{ReduceOp.SUM: "SUM", ReduceOp.AVG: "SUM", ReduceOp.PRODUCT: "PROD"},
    **{ReduceOp.MIN: "MIN", ReduceOp.MAX: "MAX"},
    **{ReduceOp.BAND: "BAND", ReduceOp.BOR: "BOR", ReduceOp.BXOR: "BXOR"},
}
_OF_BOOLS: Final = {
    **dict.fromkeys((ReduceOp.SUM, ReduceOp.MAX, ReduceOp.BOR), "LOR"),
    **dict.fromkeys((ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.BAND), "LAND"),
    ReduceOp.BXOR: "LXOR",
}


def all_processes(size: int, rank: int) -> MPICommunicator:
    """What all processes talk through.

    Args:
        size: how many there are to be; negative if that was not said.
        rank: the number that this one is to have; negative if that was not said.

    Raises:
        RuntimeError: there is no MPI.
        ValueError: MPI started another number of processes, or the ranks are not each given once.
    """
    mpi = _mpi()
    started = mpi.COMM_WORLD
    if size >= 0 and started.size != size:
        raise ValueError(
            f"init_process_group: there are to be {size} processes, and MPI started "
            f"{started.size}; {HOW_TO_START}"
        )
    whole = MPICommunicator(started)
    waited(whole.barrier(), default_pg_timeout.total_seconds(), "init_process_group")
    comm = started.Split(0, started.rank if rank < 0 else rank)
    if 0 <= rank != comm.rank:
        raise ValueError(
            f"init_process_group: this process is to have rank {rank}, and comes at place "
            f"{comm.rank} of {comm.size}; the ranks are to be 0 to {comm.size - 1}, each once"
        )
    _end_together()
    return MPICommunicator(comm)


@cache
def _end_together() -> None:
    """From now on an exception that nobody catches ends all processes, once it is printed.

    Without that, the others would wait for this one, and so would MPI's own end in this one.
    """
    after_uncaught(_abort)
    atexit.register(lambda: _abort() if _LEFT else None)  # before MPI's own end


def _abort() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    wait_until_read()
    if not _mpi().Is_finalized():
        _mpi().COMM_WORLD.Abort(1)
