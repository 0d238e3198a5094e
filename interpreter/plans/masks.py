"""Which values of a code are masks: tensors of bools, as far as operators tell.

How large what a mask chooses is follows from how many of its elements are true.
"""

from __future__ import annotations

from ...ir.graphs.graph import Node, Value
from ...typecheck.types.types import TENSOR
from ..code.code import Code

__all__ = ["Masks"]


class Masks:
    """The masks of a code."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._known: dict[Value, bool] = {}

    def are_among(self, node: Node) -> bool:
        """Whether a node is given masks."""
        return any(map(self._is_one, node.inputs))

    def _is_one(self, value: Value) -> bool:
        """Whether a value is a mask, or a list with one."""
        known = self._known.get(value)
        if known is None:
            self._known[value] = False  # while it is looked at: loops carry what is made of itself
            known = self._known[value] = self._made_by(value.node)
        return known

    def _made_by(self, node: Node) -> bool:
        entry = self._code.called_by.get(node)
        if entry is None:
            return node.kind == "prim::ListConstruct" and self.are_among(node)
        if any(each.meets in ("operands", "bools") for each in entry.formula):
            return True
        tensors = [each for each in node.inputs if each.type == TENSOR]
        is_alike = bool(entry.formula) or entry.views_by_form
        return is_alike and bool(tensors) and all(map(self._is_one, tensors))
