"""Tensors that parts of a code read of modules, read in front of them instead.

loop:                              r9 = r0.slots[2]._array
    r3 = r0.slots[2]._array   ->   loop:
    ...                                r3 = r9
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ...ir.graphs.graph import Node
from ...typecheck.types.types import TENSOR
from ..code.code import Branch, Code, Region, Repeat, Step, parts_of
from ..code.instructions import opcode, row
from ..plans.registers import Part, Registers, targets_of
from ..plans.taken import is_object
from .kinds import NotNative, holds_arrays, kind_of

__all__ = ["ReadsInFront", "is_read_of_tensor", "names_set", "sources_of_reads", "touches_tensors"]

_MOVE = opcode("move")


def is_read_of_tensor(part: Part) -> bool:
    """Whether a part reads a tensor of an object."""
    return isinstance(part, Step) and row(part.instruction).name == "get_tensor"


def touches_tensors(code: Code) -> bool:
    """Whether a code reads or sets tensors of objects, or containers of theirs with tensors."""
    nodes = (part.node for part in parts_of(code.body) if isinstance(part, Step))
    return any(map(_touches_tensors, nodes))


def _touches_tensors(node: Node) -> bool:
    if node.kind not in ("prim::GetAttr", "prim::SetAttr"):
        return False
    held = node.output if node.kind == "prim::GetAttr" else node.inputs[1]
    try:
        return holds_arrays(kind_of(held.type))
    except NotNative:
        return False


def names_set(code: Code) -> frozenset[str]:
    """The names of all attributes that a code sets."""
    nodes = (part.node for part in parts_of(code.body) if isinstance(part, Step))
    return frozenset(str(n.attributes["name"]) for n in nodes if n.kind == "prim::SetAttr")


def sources_of_reads(code: Code) -> Iterator[tuple[Node, int]]:
    """The nodes that read tensors of objects in front of a code, and the register of each."""
    for part in parts_of(code.body):
        if isinstance(part, Step) and part.node.kind == "prim::GetAttr":
            source = part.instruction[-1]
            if part.instruction[0] == _MOVE and isinstance(source, int):
                yield part.node, source


class ReadsInFront:
    """A region with moves from registers of its own, the first of which is `first`, in the place of
    what reads tensors; `texts` are these by register.

    One whose owner is made on the way stays where it is, and so does what has one of the names of
    what is `changing`.
    """

    def __init__(
        self, registers: Registers, region: Region, first: int, changing: Collection[str]
    ) -> None:
        self._registers, self._first, self._changing = registers, first, changing
        self._paths: dict[int, str] = {}
        self._own: set[int] = set()
        self._numbers: dict[str, int] = {}
        self._nodes = {part.node for part in parts_of(region)}
        self.region = self._rewritten(region)

    @property
    def texts(self) -> dict[int, str]:
        """What each register of its own is given, as Python."""
        return {number: text for text, number in self._numbers.items()}

    def _rewritten(self, region: Iterable[Part]) -> Region:
        found: Region = []
        for part in region:
            if isinstance(part, Branch):
                paths = dict(self._paths)
                then = self._rewritten(part.then)
                self._paths = dict(paths)
                otherwise = self._rewritten(part.otherwise)
                self._forget(self._registers.written([part]))
                found.append(Branch(part.condition, then, otherwise, part.node, part.results))
            elif isinstance(part, Repeat):
                self._forget(self._registers.written([part]))
                body = self._rewritten(part.body)
                self._forget(self._registers.written([part]))
                found.append(
                    Repeat(
                        *(part.count, part.condition, part.index, part.numbers),
                        *(body, part.node, part.carried),
                    )
                )
            else:
                found += self._step(part)
        return found

    def _forget(self, registers: Iterable[int]) -> None:
        """They hold something else now."""
        for register in registers:
            self._own.add(register)
            self._paths.pop(register, None)

    def _step(self, step: Step) -> list[Step]:
        name, place = row(step.instruction).name, ""
        if name in ("get_slot", "get_tensor") and self._stays(step.node):
            place = self._place(step)
        self._forget(targets_of(step))
        target = step.instruction[1]
        if not place or not isinstance(target, int):
            return [step]
        if name == "get_tensor":
            text = f"{place}._array"
            number = self._numbers.setdefault(text, self._first + len(self._numbers))
            return [Step((_MOVE, target, number), step.node)]
        if not is_object(step.node.output.type):
            return [step]
        self._paths[target] = place
        users = (use.user for use in step.node.output.uses)
        return [] if all(map(self._goes_in_front, users)) else [step]

    def _goes_in_front(self, user: Node) -> bool:
        """Whether what uses an object reads a tensor of it here, where that is read in front."""
        is_read = user.kind == "prim::GetAttr" and user.output.type == TENSOR
        return is_read and user in self._nodes and self._stays(user)

    def _stays(self, read: Node) -> bool:
        """Whether what a node reads stays what it is."""
        return read.attributes["name"] not in self._changing

    def _place(self, step: Step) -> str:
        """The text of the slot that a step reads; empty if it is not known whose it is."""
        _, _, owner, slot = step.instruction
        assert isinstance(owner, int)
        before = self._paths.get(owner) or ("" if owner in self._own else f"r{owner}")
        return before and f"{before}.slots[{slot}]"
