"""`attributes.pkl` of archives before PyTorch 1.3.

It differs from later pickles: tensors are numbers in the table of `model.json`, called for by
`build_tensor_from_id` or, first of all, as the state of a `TensorID`; lists of integers were once
the state of an `IntList`; and the first writers took the one-byte integer for a signed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..files.limits import DEFAULT_LIMITS, Limits
from ..pickles.nodes import Global, ListNode, Node, ObjectNode, TensorNode, TupleNode
from ..pickles.reader import PickleReader, check_length

__all__ = ["read_attributes"]

_SIGNED = 3
"""The last version of `model.json` whose writers took one-byte integers for signed."""


def read_attributes(
    data: bytes,
    title: str,
    tensors: Sequence[TensorNode],
    version: int,
    limits: Limits = DEFAULT_LIMITS,
) -> Sequence[Node]:
    """The values of `attributes.pkl`; `version` is that of `model.json`.

    Raises:
        ArchiveError: it is damaged, or uses what archives do not use.
    """
    check_length(len(data), title, limits)
    reader = _AttributeReader(data, title, limits)
    reader.tensors = tensors
    reader.is_signed = version <= _SIGNED
    match reader.read():
        case TupleNode() | ListNode() as values:
            return list(values.items)
    raise reader.damaged("holds no tuple of values")


class _AttributeReader(PickleReader):
    actions: ClassVar = {
        **PickleReader.actions,
        b"K": lambda r: r.push(int.from_bytes(r.take(1), "little", signed=r.is_signed)),
    }
    tensors: Sequence[TensorNode] = ()
    is_signed = False

    def table_tensor(self, items: Sequence[Node]) -> Node:
        """The tensor of a number."""
        match items:
            case (int(number),) if 0 <= number < len(self.tensors):
                return self.tensors[number]
        raise self.damaged("refers to a tensor that is not in the table")

    def set_state(self) -> None:
        """Besides setting states: what was once a class stands for what its state says."""
        super().set_state()
        match self.stack.pop():
            case ObjectNode(Global("__main__", "TensorID"), state):
                self.push(self.table_tensor((state,)))
            case ObjectNode(Global("__main__", "IntList"), ListNode() as items):
                items.tag = "List[int]"
                self.push(items)
            case top:
                self.stack.append(top)


_AttributeReader.rebuilders = {
    **PickleReader.rebuilders,
    ("torch.jit._pickle", "build_tensor_from_id"): _AttributeReader.table_tensor,
}
