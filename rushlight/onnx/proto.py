"""ONNX's own messages: types, tensors, and what its schemas say of a node's results.

This is the only file that asks for `onnx`, an optional dependency, and only when something is
exported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ..ops.memory.dtype import Array, Dtype
from .errors import OnnxExporterError
from .items import Operand, Shape, Unsupported
from .messages import (
    FunctionMessage,
    GraphMessage,
    ModelMessage,
    NodeMessage,
    TensorMessage,
    ValueMessage,
)

__all__ = [
    *(
        "check",
        "element_type",
        "functions_used",
        "infer",
        "little",
        "make_function",
        "make_graph",
        "make_model",
    ),
    *(
        "make_node",
        "names_from_outside",
        "names_made",
        "names_used",
        "with_names",
        "newest",
        "outside",
        "tensor",
        "value_info",
        "with_weights",
    ),
]


@cache
def _onnx(part: str = "") -> ModuleType:
    return import_module(f"onnx.{part}" if part else "onnx")


def newest() -> int:
    """The newest opset of the installed package."""
    return int(_onnx("defs").onnx_opset_version())


_NAMES = {
    **{"float32": "FLOAT", "float64": "DOUBLE", "float16": "FLOAT16", "bfloat16": "BFLOAT16"},
    **{"bool": "BOOL", "object": "STRING", "complex64": "FLOAT", "complex128": "DOUBLE"},
    **{
        f"{sign}int{bits}": f"{sign}int{bits}".upper()
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}


@cache
def element_type(dtype: Dtype) -> int:
    """The number of a dtype in ONNX files; of a complex one that of its parts.

    Raises:
        Unsupported: ONNX has no such elements.
    """
    name = _NAMES.get(dtype.name)
    if name is None:
        raise Unsupported(f"ONNX has no tensors of {dtype.name}")
    return int(getattr(_onnx().TensorProto, name))


@cache
def _dtype(number: int) -> Dtype:
    found: Dtype = _onnx("helper").tensor_dtype_to_np_dtype(number)
    return found


def _type(operand: Operand) -> object:
    shape = operand.shape
    if operand.dtype.kind == "c" and shape is not None:
        shape = (*shape, 2)
    made = _onnx("helper").make_tensor_type_proto(element_type(operand.dtype), shape)
    return _onnx("helper").make_sequence_type_proto(made) if operand.is_sequence else made


def little(array: Array) -> Array:
    """The array as files have it: contiguous, the least byte first."""
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)


def outside(name: str, array: Array, file: str, place: int) -> TensorMessage:
    """A tensor's message whose contents are in another file."""
    made: Any = _onnx().TensorProto(
        name=name, data_type=element_type(array.dtype), dims=array.shape
    )
    made.data_location = _onnx().TensorProto.EXTERNAL
    for key, value in (("location", file), ("offset", place), ("length", array.nbytes)):
        made.external_data.add(key=key, value=str(value))
    message: TensorMessage = made
    return message


def tensor(name: str, array: Array) -> TensorMessage:
    """A tensor's message."""
    number, make = element_type(array.dtype), _onnx("helper").make_tensor
    if number == _onnx().TensorProto.STRING:
        texts = [str(t).encode() for t in array.flat]
        made: TensorMessage = make(name, number, array.shape, texts)
    else:
        made = make(name, number, array.shape, little(array).tobytes(), raw=True)
    return made


def value_info(operand: Operand) -> ValueMessage:
    """The message that tells a value's name and type."""
    made: ValueMessage = _onnx("helper").make_value_info(operand.name, _type(operand))
    return made


def make_node(
    kind: str, inputs: Sequence[str], outputs: Sequence[str], attributes: Mapping[str, object]
) -> NodeMessage:
    """A node's message."""
    made: NodeMessage = _onnx("helper").make_node(kind, inputs, outputs, **attributes)
    return made


def infer(
    node: NodeMessage, inputs: Mapping[str, Operand], opset: int
) -> list[tuple[Dtype, Shape | None, bool]]:
    """Dtype and shape of each result of a node, and whether it is a sequence.

    Raises:
        Unsupported: the opset has no such operator, or not for these operands.
    """
    data = {
        name: tensor(name, operand.array)
        for name, operand in inputs.items()
        if operand.array is not None
    }
    try:
        schema = _onnx("defs").get_schema(node.op_type, opset, "")
        found = _onnx("shape_inference").infer_node_outputs(
            schema,
            node,
            {name: _type(operand) for name, operand in inputs.items()},
            data,
            {},
            [_onnx("helper").make_opsetid("", opset)],
            _ir_version(opset),
        )
    except (
        _onnx("defs").SchemaError,
        _onnx("shape_inference").InferenceError,
        _onnx("checker").ValidationError,
    ) as error:
        raise Unsupported(f"ONNX's {node.op_type} in opset {opset}: {error}") from None
    return [_read(found.get(name), node) for name in node.output]


def _read(found: Any, node: NodeMessage) -> tuple[Dtype, Shape | None, bool]:
    if found is None:
        raise Unsupported(f"ONNX's {node.op_type} gives no type here")
    is_sequence = found.HasField("sequence_type")
    inner = found.sequence_type.elem_type.tensor_type if is_sequence else found.tensor_type
    shape = None
    if inner.HasField("shape"):
        shape = tuple(
            d.dim_value if d.HasField("dim_value") else (d.dim_param or None)
            for d in inner.shape.dim
        )
    return _dtype(inner.elem_type), shape, is_sequence


def _ir_version(opset: int) -> int:
    """The version of the file format that came with an opset, or the first that has it."""
    return int(
        _onnx("helper").find_min_ir_version_for([_onnx("helper").make_opsetid("", opset)], True)
    )


def make_graph(name: str, nodes: object, inputs: object, outputs: object) -> GraphMessage:
    """A graph's message."""
    made: GraphMessage = _onnx("helper").make_graph(nodes, name, inputs, outputs)
    return made


def with_weights(graph: GraphMessage, weights: Sequence[object]) -> GraphMessage:
    """A graph's message with its constants."""
    parts = (graph.node, graph.name, graph.input, graph.output)
    made: GraphMessage = _onnx("helper").make_graph(*parts, weights)
    return made


def names_used(nodes: Sequence[NodeMessage]) -> set[str]:
    """The values that nodes read, those of their inner graphs included."""
    found = {name for node in nodes for name in node.input}
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found |= names_used(attribute.g.node)
    return found


def names_made(nodes: Sequence[NodeMessage]) -> list[str]:
    """The values that nodes make, those of their inner graphs included, in order."""
    found = list[str]()
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found += [each.name for each in attribute.g.input]
                found += names_made(attribute.g.node)
        found += node.output
    return list(dict.fromkeys(found))


def names_from_outside(nodes: Sequence[NodeMessage]) -> list[str]:
    """The values that nodes read and do not make, in order."""
    made, found = set(names_made(nodes)), dict[str, None]()

    def look(nodes: Sequence[NodeMessage]) -> None:
        for node in nodes:
            found.update(dict.fromkeys(name for name in node.input if name and name not in made))
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    look(attribute.g.node)
                    ends = [each.name for each in attribute.g.output]
                    found.update(dict.fromkeys(name for name in ends if name not in made))

    look(nodes)
    return list(found)


def with_names(node: NodeMessage, renamed: Mapping[str, str]) -> NodeMessage:
    """A node's message with other names of values."""
    made = _onnx().NodeProto()
    made.CopyFrom(node)
    _rename(made, renamed)
    message: NodeMessage = made
    return message


def _rename(node: NodeMessage, renamed: Mapping[str, str]) -> None:
    node.input[:] = [renamed.get(name, name) for name in node.input]
    node.output[:] = [renamed.get(name, name) for name in node.output]
    for attribute in node.attribute:
        if attribute.HasField("g"):
            attribute.g.name = "graph"
            for each in (*attribute.g.input, *attribute.g.output):
                each.name = renamed.get(each.name, each.name)
            for inner in attribute.g.node:
                _rename(inner, renamed)


def make_function(
    domain: str,
    name: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    nodes: Sequence[NodeMessage],
    opset: int,
) -> FunctionMessage:
    """A function's message."""
    others = sorted({node.domain for node in _all(nodes)} - {""})
    made: FunctionMessage = _onnx("helper").make_function(
        domain, name, inputs, outputs, nodes, _imports(opset, others)
    )
    return made


def functions_used(
    nodes: Sequence[NodeMessage], functions: Sequence[FunctionMessage]
) -> tuple[FunctionMessage, ...]:
    """The functions that nodes call, those they call included."""
    known = {(each.domain, each.name): each for each in functions}
    waiting, found = list(_all(nodes)), set[tuple[str, str]]()
    while waiting:
        node = waiting.pop()
        key = node.domain, node.op_type
        if key in known and key not in found:
            found.add(key)
            waiting += _all(known[key].node)
    return tuple(each for key, each in known.items() if key in found)


def _all(nodes: Sequence[NodeMessage]) -> Iterator[NodeMessage]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _all(attribute.g.node)


def _imports(opset: int, domains: Sequence[str]) -> list[object]:
    make = _onnx("helper").make_opsetid
    return [make("", opset), *(make(domain, 1) for domain in domains)]


def make_model(
    graph: object,
    opset: int,
    producer: str,
    version: str,
    functions: Sequence[FunctionMessage] = (),
) -> ModelMessage:
    """A model's message."""
    made: ModelMessage = _onnx("helper").make_model(
        graph,
        functions=functions,
        opset_imports=_imports(opset, sorted({function.domain for function in functions})),
        ir_version=_ir_version(opset),
        producer_name=producer,
        producer_version=version,
    )
    return made


def check(data: bytes) -> None:
    """Ask ONNX's checker about a file's contents.

    Raises:
        OnnxExporterError: it finds a fault.
    """
    try:
        _onnx("checker").check_model(data)
    except _onnx("checker").ValidationError as error:
        raise OnnxExporterError(f"ONNX's checker refuses the model: {error}") from None
