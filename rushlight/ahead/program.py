"""A program that is compiled ahead of time: kernels' calls, scalars, control flow over buffers.

All sizes are known.  A place is an address: where a buffer begins, bytes behind that, and numbers
of the run times bytes.  A number of the run has a variable; one that is known is Python's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..interpreter.native.emitter import Instance

__all__ = [
    *("Branch", "Buffer", "Call", "Compute", "Constant", "Copy", "Fail", "Input", "Kernel", "Load"),
    *("Loop", "Move", "Number", "Output", "Place", "Program", "Scalar", "Slot", "Step", "Store"),
    *("Word", "Zeroed", "place_constants", "plan"),
]

ALIGNMENT: Final = 64
"""Bytes: no two buffers share a line of the cache."""

Number = bool | int | float


@dataclass(eq=False)
class Scalar:
    """A number that only a run knows; `kind` is LLVM's, `example` what it was in the trial."""

    kind: str
    number: int
    example: Number


@dataclass(eq=False)
class Slot:
    """Memory of a run, needed from one step to another one."""

    size: int
    begin: int
    end: int
    offset: int = -1


@dataclass(eq=False)
class Constant:
    """Elements that are part of the program, in the order they lie in."""

    data: bytes
    offset: int = -1


@dataclass(frozen=True)
class Input:
    """The buffer of an argument."""

    number: int


@dataclass(frozen=True)
class Output:
    """The buffer of a result."""

    number: int


Base = Slot | Constant | Input | Output


@dataclass(frozen=True)
class Place:
    """An address."""

    base: Base
    offset: int = 0
    terms: tuple[tuple[Scalar, int], ...] = ()

    def moved(self, by: int) -> Place:
        """So many bytes further."""
        return Place(self.base, self.offset + by, self.terms)

    def indexed(self, index: Scalar, by: int) -> Place:
        """So many bytes further as often as a number says."""
        return Place(self.base, self.offset, (*self.terms, (index, by)))


@dataclass(frozen=True)
class Zeroed:
    """Eight bytes that are 0 when a kernel begins; `code` is the failure if they are not behind."""

    place: Place
    code: int = 0


Word = int | Place | Zeroed | Scalar
"""What a kernel is given; numbers are the bits of a word."""


@dataclass(frozen=True)
class Kernel:
    """A kernel by what its text is made from."""

    key: tuple[str | int, ...]
    function: str


@dataclass(frozen=True)
class Call:
    """A kernel does all of its `count` pieces."""

    kernel: Kernel
    count: int
    words: tuple[Word, ...]


@dataclass(frozen=True)
class Compute:
    """A scalar by a function of numbers; `code` is the failure if that gives none."""

    target: Scalar
    function: Instance
    operands: tuple[Scalar | Number, ...]
    code: int = 0


@dataclass(frozen=True)
class Move:
    """A scalar gets a value."""

    target: Scalar
    source: Scalar | Number


@dataclass(frozen=True)
class Load:
    """A scalar is read; `letter` is NumPy's for the dtype."""

    target: Scalar
    place: Place
    letter: str


@dataclass(frozen=True)
class Store:
    """A number of a kind of LLVM's is written."""

    place: Place
    kind: str
    source: Scalar | Number


@dataclass(frozen=True)
class Copy:
    """Bytes are copied."""

    target: Place
    source: Place
    size: int


@dataclass(frozen=True)
class Fail:
    """The function ends with a code, if a condition holds."""

    code: int
    condition: Scalar | None = None


@dataclass(frozen=True)
class Branch:
    """One of two lists of steps."""

    condition: Scalar
    then: list[Step]
    other: list[Step]


@dataclass(frozen=True)
class Loop:
    """Rounds: as many as `most` says, while `condition` holds; `index` counts them."""

    most: Scalar | int
    condition: Scalar
    index: Scalar
    body: list[Step]


Step = Call | Compute | Move | Load | Store | Copy | Fail | Branch | Loop


@dataclass(frozen=True)
class Buffer:
    """An argument or a result: its name, NumPy's letter for the dtype, sizes."""

    name: str
    letter: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


@dataclass
class Program:
    """All of it but for what programs of other sizes have as well."""

    inputs: list[Buffer]
    outputs: list[Buffer] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    scalars: list[Scalar] = field(default_factory=list)

    def calls(self) -> Iterator[Call]:
        """All calls of kernels."""
        waiting = list(reversed(self.steps))
        while waiting:
            step = waiting.pop()
            if isinstance(step, Call):
                yield step
            elif isinstance(step, Branch):
                waiting += [*step.then, *step.other]
            elif isinstance(step, Loop):
                waiting += step.body


def plan(program: Program) -> int:
    """Give slots their places; the bytes of the workspace.

    Slots that are needed at the same time do not overlap: the largest are placed first, each as low
    as it can be.
    """
    placed: list[Slot] = []
    most = 0
    for slot in sorted(program.slots, key=lambda s: (-s.size, s.begin)):
        meets = [p for p in placed if p.begin <= slot.end and slot.begin <= p.end]
        at = 0
        for other in sorted(meets, key=lambda p: p.offset):
            if at + slot.size <= other.offset:
                break
            at = max(at, _aligned(other.offset + other.size))
        slot.offset = at
        placed.append(slot)
        most = max(most, at + slot.size)
    return _aligned(most)


def place_constants(constants: Iterable[Constant]) -> int:
    """Give constants their places; the bytes of all."""
    end = 0
    for constant in constants:
        constant.offset = end
        end = _aligned(end + len(constant.data))
    return end


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
