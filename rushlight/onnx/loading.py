"""ONNX files as graph modules that run here: the way back for what is exported."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from operator import getitem
from pathlib import Path
from typing import IO, Final

from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.node import Node
from ..nn.modules.module import Module
from ..ops.tensors.tensor import Tensor
from ..serialization.files.atomic_file import is_path
from . import proto
from .errors import OnnxLoadError
from .file_checks import check_attributes, check_expansion, check_place, check_tensor
from .meanings.table import MEANINGS, TAKES_KIND, torch
from .messages import (
    GraphMessage,
    NodeMessage,
    TensorMessage,
)
from .plain_names import PlainNames

__all__ = ["load"]

_SEVERAL: Final = frozenset(
    {
        *("Split", "TopK", "Unique", "LSTM", "GRU", "RNN", "MaxPool", "Dropout", "If", "Loop"),
        *("DynamicQuantizeLinear", "LayerNormalization"),
    }
)
"""Operators that give tuples."""


def load(f: str | Path | IO[bytes]) -> GraphModule:
    """A graph module that computes what an ONNX file does; it takes the inputs in their order.

    Branches and loops are modules of it, with the graphs of their ways in them; functions of the
    file are written out where they are called.  Weights are buffers.  A model with one result gives
    it, one with several a tuple.

    Raises:
        OnnxLoadError: the file is no ONNX model, or has an operator without a meaning here.
        OSError: the file, or one with its weights, cannot be read.
    """
    try:
        onnx = import_module("onnx")
    except ImportError:
        raise OnnxLoadError(
            "onnx.load needs the package onnx: pip install rushlight[onnx]"
        ) from None
    import_module(".meanings", __package__)
    try:
        model = onnx.load(f)
        onnx.checker.check_model(os.fspath(f) if is_path(f) else model)
    except OSError:
        raise
    except Exception as error:  # whatever protobuf or the checker says
        raise OnnxLoadError(f"onnx.load: this is no ONNX model: {error}") from None
    if not model.graph.output:
        raise OnnxLoadError("onnx.load: this is no ONNX model: it has no results")
    if not is_path(f):
        check_place(model)
    if model.functions:
        check_expansion(model)
        model = proto._onnx("inliner").inline_local_functions(model)
    return _Reading(model.graph, "").module()


class _Reading:
    """The making of one graph; `outer` are names of the graphs around it that it may use."""

    def __init__(self, message: GraphMessage, place: str, outer: Sequence[str] = ()) -> None:
        self.message = message
        self.place = place
        self.outer = list(outer)
        self.graph = Graph()
        self.root = Module()
        self.known: dict[str, Node] = {}
        self.names = PlainNames(dir(self.root))

    def module(self, always_tuple: bool = False) -> GraphModule:
        """The graph as a module."""
        held = {each.name for each in self.message.initializer}
        for value in self.message.input:
            if value.name not in held:
                self.known[value.name] = self.graph.placeholder(self.names.plain(value.name))
        for name in self.outer:
            self.known[name] = self.graph.placeholder(self.names.plain(name))
        for each in self.message.initializer:
            self.known[each.name] = self.constant(each)
        for node in self.message.node:
            self.node(node)
        results = tuple(self.value(each.name, "a result") for each in self.message.output)
        is_one = len(results) == 1 and not always_tuple
        self.graph.output(results[0] if is_one else results)
        return GraphModule(
            self.root, self.graph, PlainNames().plain(self.message.name or "OnnxGraph")
        )

    def value(self, name: str, what: str) -> Node:
        if name not in self.known:
            raise OnnxLoadError(f"onnx.load: {what}{self.place} uses `{name}`, which nothing makes")
        return self.known[name]

    def constant(self, message: TensorMessage) -> Node:
        """A tensor of the file, as a buffer."""
        check_tensor(message, f"the weight `{message.name}`{self.place}")
        array = proto._onnx("numpy_helper").to_array(message)
        name = self.names.plain(message.name or "constant")
        self.root.register_buffer(name, Tensor._of(array.copy()))
        return self.graph.get_attr(name)

    # -- nodes

    def node(self, message: NodeMessage) -> None:
        kind = message.op_type
        where = f"the node `{message.name}` ({kind}){self.place}"
        if message.domain not in ("", "ai.onnx"):
            raise OnnxLoadError(f"onnx.load: {where} is of the unknown domain {message.domain}")
        inputs = [self.value(each, where) if each else None for each in message.input]
        if kind in ("If", "Loop"):
            made = self.flow(message, inputs, where)
        elif kind == "Constant" and [each.name for each in message.attribute] == ["value"]:
            made = self.constant(message.attribute[0].t)
        else:
            meaning = MEANINGS.get(kind)
            if meaning is None:
                raise OnnxLoadError(f"onnx.load: {where} has no meaning here")
            while inputs and inputs[-1] is None:
                inputs.pop()
            options = self.attributes(message, where)
            if TAKES_KIND.get(kind):
                options["kind"] = kind
            made = self.graph.call_function(meaning, tuple(inputs), options)
        if kind not in _SEVERAL or kind == "LayerNormalization":
            self.known[message.output[0]] = made
            return
        for place, name in enumerate(message.output):
            if name:
                self.known[name] = self.graph.call_function(getitem, (made, place))

    def attributes(self, message: NodeMessage, where: str) -> dict[str, object]:
        check_attributes(message, where)
        onnx = proto._onnx("helper")
        made = {}
        for each in message.attribute:
            value = onnx.get_attribute_value(each)
            if isinstance(value, bytes):
                value = value.decode("utf-8")
            elif isinstance(value, list | tuple) or type(value).__name__.startswith("Repeated"):
                value = [v.decode("utf-8") if isinstance(v, bytes) else v for v in value]
            elif hasattr(value, "data_type"):
                value = self.constant(value)
            made[each.name] = value
        return made

    # -- branches and loops

    def flow(self, message: NodeMessage, inputs: list[Node | None], where: str) -> Node:
        graphs = {each.name: each.g for each in message.attribute if each.HasField("g")}
        needed = dict.fromkeys(name for g in graphs.values() for name in _free(g))
        outer = [name for name in needed if name in self.known]
        parts = {
            name: _Reading(g, f" in {where}", outer).module(always_tuple=True)
            for name, g in graphs.items()
        }
        if message.op_type == "If":
            made: Module = Branches(parts["then_branch"], parts["else_branch"])
        else:
            made = Rounds(parts["body"], len(inputs) - 2, len(message.output))
        count = sum(1 for _ in self.root.children())
        name = f"{message.op_type.lower()}_{count}"
        self.root.add_module(name, made)
        captured = tuple(self.known[each] for each in outer)
        return self.graph.call_module(name, (*inputs, *captured))


def _free(message: GraphMessage) -> Iterator[str]:
    """The names that a graph uses and does not make."""
    made = {each.name for each in (*message.input, *message.initializer)}
    for node in message.node:
        inner = [name for a in node.attribute if a.HasField("g") for name in _free(a.g)]
        yield from (name for name in (*node.input, *inner) if name and name not in made)
        made.update(node.output)
    yield from (each.name for each in message.output if each.name not in made)


class Branches(Module):
    """`If`: one of two graphs, over the values around it that they use."""

    def __init__(self, then: Module, otherwise: Module) -> None:
        super().__init__()
        self.then, self.otherwise = then, otherwise

    def forward(self, condition: Tensor, *captured: object) -> object:
        """Run the one that the condition says."""
        return (self.then if bool(condition) else self.otherwise)(*captured)


class Rounds(Module):
    """`Loop`: a graph again and again, with `carried` values; what else it gives is stacked."""

    def __init__(self, body: Module, carried: int, results: int) -> None:
        super().__init__()
        self.body, self.carried, self.results = body, carried, results

    def forward(self, count: Tensor | None, condition: Tensor | None, *given: object) -> object:
        """Run the graph while the count and the condition allow it."""
        state, captured = list(given[: self.carried]), given[self.carried :]
        scans: list[list[Tensor]] = [[] for _ in range(self.results - self.carried)]
        goes_on, turn = condition is None or bool(condition), 0
        most = None if count is None else int(count)
        while goes_on and (most is None or turn < most):
            now, *made = self.body(torch.tensor(turn), torch.tensor(True), *state, *captured)
            goes_on, turn = bool(now), turn + 1
            state = made[: self.carried]
            for held, each in zip(scans, made[self.carried :], strict=True):
                held.append(each)
        return (*state, *(torch.stack(held) if held else torch.zeros(0) for held in scans))
