"""Tensors that follow from numbers alone, such as the sizes that traces compute with.

A stretch that is given the same numbers, and arrays of the same sizes, makes the same of them, so
it may ask for their elements.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...ir.graphs.graph import Node, Value
from ...ops.table.record import Operator
from ...typecheck.types.types import TENSOR
from ..code.code import Code

__all__ = ["Numerals", "is_numeral"]


class Numerals:
    """Those of a code, of which tensors are written in place."""

    def __init__(self, code: Code, written: Collection[Value]) -> None:
        self._code, self._written = code, written
        self._known: dict[Value, bool] = {}

    def read_by(self, node: Node) -> list[Value]:
        """The tensors that a node makes a number of, which no element of another tensor is needed
        for; none if it does something else."""
        entry = self._code.called_by.get(node)
        gives_tensors = any("Tensor" in str(each.type) for each in node.outputs)
        if entry is None or not _is_plain(entry) or gives_tensors:
            return []
        read = [each for each in node.inputs if each.type == TENSOR]
        return read if all(map(self._is_one, read)) else []

    def _is_one(self, value: Value) -> bool:
        known = self._known.get(value)
        if known is None:
            self._known[value] = False  # while it is looked at: loops carry what is made of itself
            known = self._known[value] = self._is_made_of_numbers(value)
        return known

    def _is_made_of_numbers(self, value: Value) -> bool:
        if value.node.is_constant:
            return is_numeral(value.node.value)
        entry = self._code.called_by.get(value.node)
        if entry is None or not _is_plain(entry) or self._code.whole_of(value) in self._written:
            return False
        inputs = [each for each in value.node.inputs if "Tensor" in str(each.type)]
        return all(each.type == TENSOR and self._is_one(each) for each in inputs)


def is_numeral(constant: object) -> bool:
    """Whether a constant is a whole number without dimensions, which nobody writes to."""
    if not isinstance(constant, np.ndarray):
        return False
    return constant.ndim == 0 and constant.dtype.kind in "biu"


def _is_plain(entry: Operator) -> bool:
    """Whether an operator does nothing but compute."""
    return not (entry.random or entry.effects or entry.may_write or entry.undefined)
