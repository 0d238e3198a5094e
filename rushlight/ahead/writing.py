"""The parts of a program that is being written, and what stands in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import string_at
from dataclasses import dataclass, field

import numpy as np

from ..ir.graphs.graph import Node, Value
from ..ops.memory.dtype import Array
from .known import CannotCompile, Known, Tensor, as_kind_of_number
from .program import (
    Buffer,
    Compute,
    Constant,
    Copy,
    Kernel,
    Place,
    Program,
    Scalar,
    Slot,
    Step,
)
from .scalars import CONVERTED, Scalars

__all__ = ["Pool", "Writing"]


@dataclass
class Pool:
    """What programs of one graph share, each for arguments of other sizes.

    Constants are found by their bytes, weights by the identity of the value, which is kept, and
    kernels by their addresses; `failures` are the texts of codes, the first one's is 1.
    """

    constants: dict[bytes, Constant] = field(default_factory=dict)
    weights: dict[int, tuple[object, Tensor]] = field(default_factory=dict)
    kernels: dict[int, Kernel] = field(default_factory=dict)
    scalars: Scalars = field(default_factory=Scalars)
    failures: list[str] = field(default_factory=list)


class Writing:
    """A program, and the values of the graph as far as it is written."""

    def __init__(self, inputs: list[Buffer], pool: Pool) -> None:
        self.program = Program(inputs)
        self.pool = pool
        self.known: dict[Value, Known] = {}
        self.steps: list[Step] = self.program.steps
        self.now = 0
        self.loops: list[tuple[int, set[Slot]]] = []

    # ------------------------------------------------------------------ parts of the program

    def add(self, step: Step) -> None:
        self.steps.append(step)
        self.now += 1

    def slot(self, size: int) -> Slot:
        made = Slot(max(size, 1), self.now, self.now)
        self.program.slots.append(made)
        return made

    def use(self, place: Place) -> Place:
        """Note that memory is needed here, and in loops around that begun after it was made."""
        slot = place.base
        if isinstance(slot, Slot):
            slot.end = max(slot.end, self.now)
            for begin, used in self.loops:
                if slot.begin < begin:
                    used.add(slot)
        return place

    def scalar(self, kind: str, example: bool | int | float) -> Scalar:
        made = Scalar(kind, len(self.program.scalars), example)
        self.program.scalars.append(made)
        return made

    def constant(self, array: Array) -> Place:
        """A place with the memory of an array."""
        steps = zip(array.shape, array.strides, strict=True)
        span = sum((size - 1) * step for size, step in steps) + array.itemsize
        data = string_at(array.ctypes.data, int(span)) if array.size else b""
        if data not in self.pool.constants:
            self.pool.constants[data] = Constant(data)
        return Place(self.pool.constants[data])

    def failure(self, text: str) -> int:
        """The code of a text."""
        if text not in self.pool.failures:
            self.pool.failures.append(text)
        return self.pool.failures.index(text) + 1

    @contextmanager
    def into(self, steps: list[Step]) -> Iterator[None]:
        before, self.steps = self.steps, steps
        try:
            yield
        finally:
            self.steps = before

    @staticmethod
    def named(node: Node) -> str:
        """What a node does, and where."""
        what = node.kind if node.signature is None else node.signature.full_name
        place = f" at {node.span}" if node.span.filename is not None else ""
        return f"`{what}`{place}"

    def refused(self, node: Node, why: str) -> CannotCompile:
        return CannotCompile(f"{self.named(node)} cannot be compiled: {why}")

    def values(self, node: Node) -> list[Known]:
        return [self.known[value] for value in node.inputs]

    def set(self, node: Node, *results: Known) -> None:
        for value, result in zip(node.outputs, results, strict=True):
            self.known[value] = result

    def copied(self, tensor: Tensor) -> Tensor:
        """A dense tensor in memory of its own."""
        array = np.array(tensor.array, order="C")
        target = Place(self.slot(array.nbytes))
        self.add(Copy(self.use(target), self.use(tensor.place), array.nbytes))
        return Tensor(array, target)

    def as_kind(self, value: Known, kind: str) -> Scalar | bool | int | float:
        """A number as one of another kind."""
        if not isinstance(value, Scalar):
            number: bool | int | float = as_kind_of_number(kind, value)
            return number
        if value.kind == kind:
            return value
        made = self.scalar(kind, as_kind_of_number(kind, value.example))
        self.add(Compute(made, self.pool.scalars.of_kinds(CONVERTED[kind], value.kind), (value,)))
        return made
