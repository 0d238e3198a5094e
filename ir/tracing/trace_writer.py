"""The tracer as its parts see it, which write some things for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...ops.tensors.tensor import Tensor
from ...typecheck.types.types import Type
from ..graphs.graph import Node, Value

__all__ = ["Writer"]


class Writer(Protocol):
    """What writes a graph while the program runs: see `GraphTracer`."""

    strict: bool
    known: dict[int, Value]
    """The values of tensors, by the identity of their arrays."""

    def knows(self, tensor: Tensor) -> bool: ...
    def learn_result(self, tensor: Tensor, value: Value) -> None: ...
    def value_of(self, tensor: Tensor) -> Value: ...
    def constant(self, value: object, type: Type) -> Value: ...
    def insert(
        self, kind: str, inputs: Sequence[Value], outputs: Sequence[Type], placed: bool = False
    ) -> Node: ...
    def apply(self, full_name: str, inputs: Sequence[Value], type: Type | None = None) -> Value: ...
    def settle(self) -> None: ...
    def refuse_gradients(self, tensor: Tensor) -> None: ...
    def warn(self, text: str) -> None: ...
