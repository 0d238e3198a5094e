"""What is asked of the messages of ONNX files, which the package `onnx` makes."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Protocol

__all__ = [
    *("AttributeMessage", "FunctionMessage", "GraphMessage", "ModelMessage", "NodeMessage"),
    *("TensorMessage", "ValueMessage"),
]


class _Entry(Protocol):
    key: str
    value: str


class TensorMessage(Protocol):
    """A constant."""

    name: str
    data_type: int

    @property
    def external_data(self) -> Sequence[_Entry]: ...


class ValueMessage(Protocol):
    """The name of an input or a result, with its type."""

    name: str


class AttributeMessage(Protocol):
    """An attribute of a node."""

    name: str
    type: int
    INT: int
    i: int

    @property
    def g(self) -> GraphMessage: ...
    @property
    def t(self) -> TensorMessage: ...
    def HasField(self, name: str, /) -> bool: ...


class NodeMessage(Protocol):
    """A node."""

    name: str
    op_type: str
    domain: str

    @property
    def input(self) -> MutableSequence[str]: ...
    @property
    def output(self) -> MutableSequence[str]: ...
    @property
    def attribute(self) -> Sequence[AttributeMessage]: ...
    def SerializeToString(self) -> bytes: ...


class FunctionMessage(Protocol):
    """A function that nodes call by its name."""

    name: str
    domain: str

    @property
    def node(self) -> Sequence[NodeMessage]: ...


class GraphMessage(Protocol):
    """A graph, of a model or in an attribute."""

    name: str

    @property
    def node(self) -> Sequence[NodeMessage]: ...
    @property
    def input(self) -> Sequence[ValueMessage]: ...
    @property
    def output(self) -> Sequence[ValueMessage]: ...
    @property
    def initializer(self) -> Sequence[TensorMessage]: ...


class ModelMessage(Protocol):
    """A model."""

    @property
    def graph(self) -> GraphMessage: ...
    @property
    def functions(self) -> Sequence[FunctionMessage]: ...
    def SerializeToString(self) -> bytes: ...
