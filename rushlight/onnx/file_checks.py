"""What is looked at in an ONNX file beyond what the package onnx checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..ops.memory.dtype import DType, of_numpy
from . import proto
from .errors import OnnxLoadError
from .messages import (
    FunctionMessage,
    GraphMessage,
    ModelMessage,
    NodeMessage,
    TensorMessage,
)

__all__ = ["check_attributes", "check_expansion", "check_place", "check_tensor", "dtype_of_number"]

_MOST: Final = 1_000_000
"""Nodes of a model whose functions are written out."""


def dtype_of_number(number: int) -> DType:
    """The dtype of a number in ONNX files.

    Raises:
        OnnxLoadError: there is no such dtype here.
    """
    types = proto._onnx().TensorProto.DataType
    try:
        return of_numpy(proto._dtype(number))
    except (KeyError, TypeError):
        name = types.Name(number) if number in types.values() else number
        raise OnnxLoadError(f"onnx.load: no tensor is of the type {name}") from None


def check_tensor(message: TensorMessage, what: str) -> None:
    """Raises OnnxLoadError if elements of that type cannot be here."""
    try:
        dtype_of_number(message.data_type)
    except OnnxLoadError as error:
        raise OnnxLoadError(f"{error}: {what}") from None


def check_attributes(node: NodeMessage, where: str) -> None:
    """Raises OnnxLoadError for what cannot be an attribute of a node, or is of another type."""
    for each in node.attribute:
        if not each.name.isidentifier():
            raise OnnxLoadError(f"onnx.load: {where} has the attribute {each.name[:80]!r}")
        if node.op_type == "Constant" and each.name in ("value_string", "value_strings"):
            raise OnnxLoadError(f"onnx.load: {where} is a text, which no tensor holds")
        if each.name in ("to", "dtype") and each.type == each.INT:
            dtype_of_number(each.i)
    if node.op_type == "Constant" and len(node.attribute) != 1:
        raise OnnxLoadError(f"onnx.load: {where} says no value")


def check_place(model: ModelMessage) -> None:
    """Raises OnnxLoadError if weights of a model that has no folder lie in files beside it."""
    for tensor in _tensors(model.graph):
        for each in tensor.external_data:
            if each.key == "location":
                raise OnnxLoadError(
                    f"onnx.load: the weight `{tensor.name}` lies in `{each.value[:80]}` beside the "
                    "model: give the path of the model, not a file object"
                )


def _tensors(graph: GraphMessage) -> Iterator[TensorMessage]:
    yield from graph.initializer
    for node in graph.node:
        for each in node.attribute:
            yield from ([each.t] if each.HasField("t") else [])
            yield from (_tensors(each.g) if each.HasField("g") else [])


def check_expansion(model: ModelMessage) -> None:
    """Raises OnnxLoadError if there are too many nodes once all calls of functions are written out.

    Functions may call what is below them several times, so a short file can mean any number.
    """
    functions = {_key(each, each.name): each.node for each in model.functions}
    sizes: dict[tuple[str, str, str], int] = {}

    def size_of(nodes: Sequence[NodeMessage]) -> int:
        total = 0
        for node in nodes:
            key = _key(node, node.op_type)
            if key in functions and key not in sizes:
                sizes[key] = size_of(functions[key])
            total += sizes.get(key, 1)
            total += sum(size_of(each.g.node) for each in node.attribute if each.HasField("g"))
            if total > _MOST:
                raise OnnxLoadError(
                    f"onnx.load: this model has more than {_MOST} nodes, its functions written out"
                )
        return total

    try:
        size_of(model.graph.node)
    except RecursionError:
        raise OnnxLoadError(
            "onnx.load: the functions of this model call each other too deep"
        ) from None


def _key(message: NodeMessage | FunctionMessage, name: str) -> tuple[str, str, str]:
    return message.domain, name, getattr(message, "overload", "")  # which old packages do not know
