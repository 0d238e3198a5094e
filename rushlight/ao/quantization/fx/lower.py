"""What lies between quantizers exchanged for what computes with whole numbers.

dequantize -> layer -> quantize      ->      quantized layer
"""

from __future__ import annotations

import operator
from functools import cache
from typing import Any, Final, Protocol

from ....fx.graph_module import GraphModule
from ....fx.node import Argument, Node
from ....nn import functional as F
from ....nn import modules as nn
from ....nn.modules.module import Module
from ....ops.eager.dispatch import eager_function
from ....ops.eager.packets import Namespace
from ...nn import intrinsic as nni
from ...nn import quantized as nnq
from ...nn.intrinsic import quantized as nniq
from ...nn.quantized import reference as nnqr
from ..backend_config.native import _AROUND_0, _FROM_0, _SHARING
from ..quantization_mappings import get_default_dynamic_quant_module_mappings
from .convert import _PER_CHANNEL, _PER_TENSOR
from .fuse import put_module
from .matching import kind_of
from .prepare import Quantized

__all__ = ["exchange_dynamic", "lower"]


def _function(name: str) -> object:
    return eager_function(f"aten::{name}")


_OPS: Final = Namespace("quantized")


class _Layer(Protocol):
    """A class of quantized layers."""

    def from_reference(self, ref: Module, scale: float, zero_point: int, /) -> Module:
        """The layer of a reference one."""


@cache
def _layers() -> dict[object, _Layer]:
    """Quantized layers by reference ones, and by those in floats that have no weight to round."""
    names = [f"Conv{d}d" for d in (1, 2, 3)] + [f"ConvTranspose{d}d" for d in (1, 2, 3)]
    made: dict[object, _Layer] = {getattr(nnqr, n): getattr(nnq, n) for n in (*names, "Linear")}
    plain = (
        *("BatchNorm2d", "BatchNorm3d", "Dropout", "ELU", "Hardswish", "PReLU"),
        *("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "LeakyReLU"),
    )
    made |= {getattr(nn, n): getattr(nnq, n) for n in plain}
    pairs = ("ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearReLU", "BNReLU2d", "BNReLU3d")
    return made | {getattr(nni, n): getattr(nniq, n) for n in pairs}


_BINARY: Final = {
    operator.add: "add",
    _function("add"): "add",
    operator.mul: "mul",
    _function("mul"): "mul",
    _function("matmul"): "matmul",
}
_POINTWISE: Final[dict[object, tuple[str, tuple[str, ...]]]] = {
    F.hardswish: ("hardswish", ()),
    F.elu: ("elu", ("alpha",)),
    F.leaky_relu: ("leaky_relu", ("negative_slope", "inplace")),
}
"""Functions, and the arguments that go on into the quantized ones."""
_WEIGHTED: Final = {
    _function("linear"): "linear",
    **{_function(f"conv{d}d"): f"conv{d}d" for d in (1, 2, 3)},
}
_RELUS: Final = (nn.ReLU, F.relu, _function("relu"), "relu", "relu_")
_KEEPING: Final = frozenset((*_SHARING, *_FROM_0, *_AROUND_0, _function("cat"))) - {nn.Softmax}
_ASKING: Final = frozenset({"size", "dim", "numel", "shape"})


# --------------------------------------------------------------------------- dynamic


def exchange_dynamic(model: GraphModule, quantized: list[Quantized]) -> None:
    """Put layers that quantize their inputs in the place of others, and quantized tables."""
    known = get_default_dynamic_quant_module_mappings()
    tables: dict[type, type[nnq.Embedding]] = {
        nnqr.Embedding: nnq.Embedding,
        nnqr.EmbeddingBag: nnq.EmbeddingBag,
    }
    for each in quantized:
        node = each.found.first
        if node.op != "call_module":
            continue
        module: Module = model.get_submodule(str(node.target))
        made: Module
        if type(module) in tables:
            made = tables[type(module)].from_reference(module)
        elif each.is_dynamic and type(module) in known:
            module.qconfig = each.qconfig
            made = known[type(module)].from_float(module)
        else:
            continue
        put_module(model, str(node.target), made)


# --------------------------------------------------------------------------- static


def lower(model: GraphModule) -> None:
    """Exchange all that can be, in place."""
    lowering = _Lowering(model)
    for node in list(model.graph.nodes):
        if node.op == "call_function" and node.target is _PER_TENSOR:
            lowering.quantizer(node)
        elif kind_of(node, lowering.modules) in _ASKING:
            for operand in node.all_input_nodes:
                node.replace_input_with(operand, _whole(operand) or operand)
    lowering.clean_up()


def _whole(node: Node) -> Node | None:
    """What a node was dequantized from."""
    if isinstance(node, Node) and node.op == "call_method" and node.target == "dequantize":
        source = node.args[0]
        return source if isinstance(source, Node) else None
    return None


class _Lowering:
    def __init__(self, model: GraphModule) -> None:
        self.model = model
        self.modules: dict[str, Module] = dict(model.named_modules())
        self.done: set[str] = set()
        """Layers that were exchanged."""

    def kind(self, node: Node) -> object:
        return kind_of(node, self.modules)

    def value(self, node: Argument) -> Any:
        """The number that a node reads."""
        return getattr(self.model, str(node.target))

    def quantizer(self, node: Node) -> None:
        """A quantizer, and what it is of."""
        made = node.args[0]
        if not isinstance(made, Node) or list(made.users) != [node]:
            return
        relu = None
        if self.kind(made) in _RELUS and isinstance(made.args[0], Node):
            before = made.args[0]
            if list(before.users) == [made] and self.kind(before) in (*_BINARY, *_WEIGHTED):
                relu, made = made, before
        kind = self.kind(made)
        if kind in _layers() and relu is None and made.op == "call_module":
            self.layer(made, node, _layers()[kind])
        elif kind in _BINARY:
            self.binary(made, node, _BINARY[kind], relu is not None)
        elif kind in _WEIGHTED:
            self.weighted(made, node, _WEIGHTED[kind], relu is not None)
        elif kind in _POINTWISE:
            self.pointwise(made, node, *_POINTWISE[kind])
        elif kind in _KEEPING and relu is None:
            self.keeping(made, node)

    def layer(self, node: Node, quantizer: Node, kind: _Layer) -> None:
        operand = _whole(node.args[0])
        if operand is None:
            return
        scale, zero_point = (self.value(each) for each in quantizer.args[1:3])
        path = str(node.target)
        made = kind.from_reference(self.modules[path], float(scale), int(zero_point))
        if path in self.done:  # called twice, with results of two ranges
            node.target = path = f"{path}_{len(self.done)}"
        self.done.add(path)
        put_module(self.model, path, made)
        node.replace_input_with(node.args[0], operand)
        quantizer.replace_all_uses_with(node)
        self.model.graph.erase_node(quantizer)

    def call(self, quantizer: Node, name: str, args: tuple[object, ...]) -> None:
        """A quantized function in the place of a quantizer."""
        with self.model.graph.inserting_before(quantizer):
            made = self.model.graph.call_function(getattr(_OPS, name), args)
        quantizer.replace_all_uses_with(made)
        self.model.graph.erase_node(quantizer)

    def binary(self, node: Node, quantizer: Node, name: str, relu: bool) -> None:
        if len(node.args) != 2 or node.kwargs or (relu and name == "matmul"):
            return
        tensors = [each for each in node.args if isinstance(each, Node)]
        wholes = [_whole(each) for each in tensors]
        if any(each is None for each in wholes):
            return
        name += "_relu" * relu
        if len(tensors) == 2:
            self.call(quantizer, name, (*wholes, *quantizer.args[1:3]))
        elif name != "matmul":
            number = next(each for each in node.args if not isinstance(each, Node))
            self.call(quantizer, name, (wholes[0], number))

    def pointwise(self, node: Node, quantizer: Node, name: str, further: tuple[str, ...]) -> None:
        operand = _whole(node.args[0])
        if operand is None:
            return
        given = [node.kwargs[each] for each in further if each in node.kwargs]
        ends = quantizer.args[1:3]
        first, last = (given, ends) if name == "leaky_relu" else (ends, given)
        self.call(quantizer, name, (operand, *first, *last))

    def keeping(self, node: Node, quantizer: Node) -> None:
        """What computes on whole numbers as on others."""
        operands = node.all_input_nodes
        tensors = [each for each in operands if self.kind(each) not in _ASKING]
        if not tensors or any(_whole(each) is None for each in tensors):
            return
        for each in tensors:
            whole = _whole(each)
            assert whole is not None
            node.replace_input_with(each, whole)
        quantizer.replace_all_uses_with(node)
        self.model.graph.erase_node(quantizer)

    # -- functions with weights

    def weighted(self, node: Node, quantizer: Node, name: str, relu: bool) -> None:
        operand, weight = _whole(node.args[0]), _whole(node.args[1])
        rest = self.rest(node)
        if operand is None or weight is None or rest is None:
            return
        source, target = weight.args[0], weight.target
        if isinstance(target, str) or target not in (_PER_TENSOR, _PER_CHANNEL):
            return
        if not isinstance(source, Node) or source.op != "get_attr":
            return
        numbers = [self.value(each) if isinstance(each, Node) else each for each in weight.args]
        packed = getattr(_OPS, f"{name}_prepack")(target(*_typed(numbers)), *rest)
        count = 0
        while hasattr(self.model, f"_packed_weight_{count}"):
            count += 1
        setattr(self.model, f"_packed_weight_{count}", packed)
        with self.model.graph.inserting_before(quantizer):
            held = self.model.graph.get_attr(f"_packed_weight_{count}")
        self.call(quantizer, name + "_relu" * relu, (operand, held, *quantizer.args[1:3]))

    def rest(self, node: Node) -> list[object] | None:
        """The bias and what a convolution is told besides."""
        bias = node.args[2] if len(node.args) > 2 else node.kwargs.get("bias")
        if isinstance(bias, Node):
            if bias.op != "get_attr":
                return None
            bias = self.value(bias)
        if node.target is _function("linear"):
            return [bias]
        names = ("stride", "padding", "dilation", "groups")
        given = dict(zip(names, node.args[3:], strict=False)) | dict(node.kwargs)
        weight = node.args[1]
        dims = int(str(_WEIGHTED[node.target])[4])
        made: list[object] = [bias]
        for name, plain in zip(names, (1, 0, 1, 1), strict=True):
            value: object = given.get(name, plain)
            if isinstance(value, Node | str) or isinstance(weight, int):
                return None
            is_one = name == "groups"
            made.append(value if is_one or not isinstance(value, int) else [value] * dims)
        return made

    # -- what is left

    def clean_up(self) -> None:
        """Take away quantizers, dequantizers and numbers that nothing uses."""
        graph = self.model.graph
        for node in reversed(list(graph.nodes)):
            is_done = node.op not in ("placeholder", "output") and not node.users
            if is_done and not node.is_impure():
                graph.erase_node(node)


def _typed(numbers: list[Any]) -> list[Argument]:
    """The arguments of a quantizer, whose numbers for all are plain ones."""
    weight, scale, zero_point, *rest = numbers
    if scale.dim() == 0:
        return [weight, float(scale), int(zero_point), *rest]
    return [weight, scale, zero_point, *rest]
