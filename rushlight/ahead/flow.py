"""Branches and loops of a program that is being written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..ir.graphs.graph import Block, Graph, Node
from ..ops.table.table import TABLE, Operator
from .known import Known, Tensor
from .program import Branch, Copy, Fail, Loop, Move, Place, Scalar, Slot, Step
from .scalars import kind_of_number
from .writing import Writing

__all__ = ["Flow"]

_LONGEST: Final = 100_000
"""Rounds of loops that are written out."""


class Flow(Writing):
    """Writes what decides which steps are done."""

    def block(self, block: Block) -> None:
        """Write the nodes of a block."""
        raise NotImplementedError

    def on_tensors(
        self, node: Node, entry: Operator, values: Sequence[Known], plain: Sequence[object]
    ) -> None:
        """Write an operator on tensors."""
        raise NotImplementedError

    def choose(self, node: Node) -> None:
        """`prim::If`."""
        condition = self.known[node.inputs[0]]
        if not isinstance(condition, Scalar):
            block = node.blocks[0 if condition else 1]
            self.block(block)
            self.set(node, *(self.known[value] for value in block.outputs))
            return
        then, other = list[Step](), list[Step]()
        ends = []
        for steps, block in ((then, node.blocks[0]), (other, node.blocks[1])):
            with self.into(steps):
                self.block(block)
            raises = any(isinstance(each, Fail) and each.condition is None for each in steps)
            ends.append((steps, [self.known[v] for v in block.outputs], raises))
        first = next((results for _, results, raises in ends if not raises), ends[0][1])
        targets = [self._target(node, each) for each in first]
        for steps, results, raises in ends:
            if not raises:
                with self.into(steps):
                    for target, result in zip(targets, results, strict=True):
                        self._settle(node, target, result)
        self.add(Branch(condition, then, other))
        self.set(node, *targets)

    def _target(self, node: Node, value: Known) -> Known:
        """What two ways, or two rounds, meet in."""
        if isinstance(value, Tensor):
            array = np.array(value.array, order="C")
            return Tensor(array, Place(self.slot(array.nbytes)))
        kind = value.kind if isinstance(value, Scalar) else kind_of_number(value)
        if kind:
            return self.scalar(kind, value.example if isinstance(value, Scalar) else value)
        if isinstance(value, tuple):
            return tuple(self._target(node, each) for each in value)
        if value is None or isinstance(value, str):
            return value
        raise self.refused(node, f"a {type(value).__name__} is made in ways that only a run knows")

    def _settle(self, node: Node, target: Known, value: Known) -> None:
        """Put a value where ways meet."""
        if isinstance(target, Tensor) and isinstance(value, Tensor):
            if (target.array.shape, target.array.dtype) != (value.array.shape, value.array.dtype):
                raise self.refused(node, "sizes or dtypes of a tensor change from way to way")
            dense = self.dense(node, value)
            size = dense.array.nbytes
            self.add(Copy(self.use(target.place), self.use(dense.place), size))
        elif isinstance(target, Scalar):
            self.add(Move(target, self.as_kind(value, target.kind)))
        elif isinstance(target, tuple):
            for one, each in zip(target, value, strict=True):
                self._settle(node, one, each)
        elif target != value:
            raise self.refused(node, f"{target!r} in one way is {value!r} in another")

    def dense(self, node: Node, value: Tensor) -> Tensor:
        """A tensor whose elements lie in order."""
        if value.array.flags.c_contiguous:
            return value
        entry = TABLE.operator("aten::contiguous")
        assert entry is not None
        copy = Graph()
        given, form = copy.add_input(), copy.add_input()
        made = copy.create("aten::contiguous", [given, form], (), node.span, entry.signature)
        copy.insert(made)
        self.known[given], self.known[form] = value, 0
        made.add_output()
        self.on_tensors(made, entry, [value, 0], [value.array, 0])
        result: Tensor = self.known[made.output]
        return result

    def repeat(self, node: Node) -> None:
        """`prim::Loop`."""
        most, condition, *carried = self.values(node)
        if self._is_written_out(node, most, carried):
            self._write_out(node, most, condition, carried)
            return
        body = node.blocks[0]
        targets = [self._target(node, each) for each in carried]
        for target, value in zip(targets, carried, strict=True):
            self._settle(node, target, value)
        goes_on = self.scalar("i1", True)
        self.add(Move(goes_on, self.as_kind(condition, "i1")))
        index = self.scalar("i64", 0)
        steps: list[Step] = []
        begin, used = self.now, set[Slot]()
        self.loops.append((begin, used))
        for value, target in zip(body.inputs, (index, *targets), strict=True):
            self.known[value] = target
        with self.into(steps):
            self.block(body)
            again, *results = (self.known[value] for value in body.outputs)
            results = [self._apart(node, each, targets) for each in results]
            for target, result in zip(targets, results, strict=True):
                self._settle(node, target, result)
            self.add(Move(goes_on, self.as_kind(again, "i1")))
        self.loops.pop()
        limit = most if isinstance(most, Scalar) else int(most)
        self.add(Loop(limit, goes_on, index, steps))
        for slot in used:
            slot.end = max(slot.end, self.now)
            for outer_begin, outer in self.loops:
                if slot.begin < outer_begin:
                    outer.add(slot)
        self.set(node, *targets)

    def _apart(self, node: Node, value: Known, targets: Sequence[Known]) -> Known:
        """A result of a round, copied if it lies where another one goes."""
        if isinstance(value, Tensor) and any(
            isinstance(t, Tensor) and t.place.base is value.place.base for t in targets
        ):
            return self.copied(self.dense(node, value))
        if isinstance(value, Scalar) and value in targets:
            made = self.scalar(value.kind, value.example)
            self.add(Move(made, value))
            return made
        return value

    @staticmethod
    def _is_written_out(node: Node, most: Known, carried: Sequence[Known]) -> bool:
        if isinstance(most, Scalar):
            return False
        return any(isinstance(each, list) for each in carried) or most <= 1 or _appends(node)

    def _write_out(self, node: Node, most: int, condition: Known, carried: Sequence[Known]) -> None:
        body = node.blocks[0]
        number = 0
        while number < most and condition is not False:
            if isinstance(condition, Scalar) or number >= _LONGEST:
                raise self.refused(node, "how often it grows a list is not known beforehand")
            for value, known in zip(body.inputs, (number, *carried), strict=True):
                self.known[value] = known
            self.block(body)
            condition, *carried = (self.known[value] for value in body.outputs)
            number += 1
        self.set(node, *carried)

    def fail(self, node: Node) -> None:
        """`prim::RaiseException`."""
        text = self.known[node.inputs[0]]
        if not isinstance(text, str):
            raise self.refused(node, "its message is made by the run")
        self.add(Fail(self.failure(text)))


def _appends(node: Node) -> bool:
    """Whether a loop changes a list."""
    names = ("aten::append", "aten::_set_item", "aten::extend", "aten::insert", "aten::pop")
    return any(each.kind in names for block in node.blocks for each in block.all_nodes)
