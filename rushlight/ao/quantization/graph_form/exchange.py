"""Observers exchanged for quantizers, and operators between these for quantized ones.

    %x.1 = prim::CallMethod[name="forward"](%_observer_0, %x)
    %y = aten::conv2d(%x.1, %w.1, %b, ...)
    %z = prim::CallMethod[name="forward"](%_observer_2, %y)

becomes, by `exchange_observers`,

    %x.quant = aten::quantize_per_tensor(%x, %scale, %zero_point, %dtype)
    %x.1 = aten::dequantize(%x.quant)
    %y = aten::conv2d(%x.1, %w.1, %b, ...)
    %z.quant = aten::quantize_per_tensor(%y, ...)
    %z = aten::dequantize(%z.quant)

and that, by `exchange_operators`,

    %x.quant = aten::quantize_per_tensor(%x, ...)
    %z.quant = quantized::conv2d(%x.quant, %packed, %scale, %zero_point)
    %z = aten::dequantize(%z.quant)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ....interpreter.running.evaluating import CONTEXT, evaluate
from ....interpreter.values.inference import infer_type
from ....interpreter.values.objects import ScriptObject
from ....ir.graphs.constants import MISSING, constant_value, create_constant
from ....ir.graphs.graph import Block, Graph, Node, Value
from ....ir.graphs.kinds import asks_for_form
from ....ir.graphs.tensor_types import type_of_array
from ....ir.passes.constant_pooling import pool_constants
from ....ir.passes.dead_code import eliminate_dead_code
from ....ir.passes.operators import insert_operator, overload
from ....nn.modules.module import Module
from ....ops.memory.dtype import DTYPES, QSCHEMES, DType, QScheme
from ....ops.tensors.tensor import Tensor
from ....typecheck.relations.relations import is_subtype
from ....typecheck.types.types import BOOL, FLOAT, INT, TENSOR, Type
from .observe import add_part, relu_after, with_scalar
from .roles import ROLES, Role

__all__ = ["exchange_observers", "exchange_operators"]

_QUANTIZE: Final = ("aten::quantize_per_tensor", "aten::quantize_per_channel")
_HALF: Final = "aten::_saturate_weight_to_fp16"

Ask = Callable[[ScriptObject], Any]
"""Gives the module of an observer: `dtype`, `qscheme`, `ch_axis`, `calculate_qparams()`."""


# --------------------------------------------------------------------------- observers


def exchange_observers(target: ScriptObject, graph: Graph, ask: Ask) -> None:
    """Put quantizers in the place of observers; those of weights see the weights once more."""
    for node in list(graph.all_nodes):
        name = _observer_name(node)
        if name is None:
            continue
        observer = ask(target.slots[target.cls.slot(name)])  # type: ignore[arg-type]
        made = _rounded(node, observer)
        node.output.replace_uses(made)
        node.destroy()
    eliminate_dead_code(graph, CONTEXT)


def _observer_name(node: Node) -> str | None:
    """The name of the observer that a node calls."""
    if node.kind == "prim::CallMethod" and node.inputs[0].node.kind == "prim::GetAttr":
        name = str(node.inputs[0].node.attributes["name"])
        return name if name.startswith("_observer_") else None
    return None


def _rounded(node: Node, observer: Module) -> Value:
    value = node.inputs[1]
    weight = constant_value(value)
    if isinstance(weight, np.ndarray):
        observer(Tensor._of(weight))
    dtype = _dtype(observer.dtype)
    if dtype.name == "float16":
        return insert_operator(CONTEXT, node, _HALF, "", [value], TENSOR)
    if dtype.name not in ("quint8", "qint8", "qint32"):
        return value
    scale, zero_point = observer.calculate_qparams()
    if _is_by_channels(observer.qscheme):
        axis = int(observer.ch_axis)
        given = [_constant(node, scale._array), _constant(node, zero_point._array)]
        rest = [_constant(node, axis), _constant(node, dtype.number)]
        kind = _QUANTIZE[1]
    else:
        given = [_constant(node, float(scale.detach())), _constant(node, int(zero_point))]
        rest, kind = [_constant(node, dtype.number)], _QUANTIZE[0]
    quantized = insert_operator(CONTEXT, node, kind, "", [value, *given, *rest], TENSOR)
    return insert_operator(CONTEXT, node, "aten::dequantize", "self", [quantized], TENSOR)


def _dtype(given: DType | int) -> DType:
    """The dtype of an observer, which scripts know by its number."""
    if isinstance(given, DType):
        return given
    return next(dtype for dtype in DTYPES.values() if dtype.number == given)


def _is_by_channels(given: QScheme | int) -> bool:
    """Whether a scheme, which scripts know by its number, has a scale for each channel."""
    known = QSCHEMES.values()
    scheme = given if isinstance(given, QScheme) else next(s for s in known if s.number == given)
    return "channel" in scheme.name


def _constant(before: Node, value: object) -> Value:
    if isinstance(value, np.ndarray):
        type: Type = type_of_array(value)
    else:
        type = FLOAT if isinstance(value, float) else INT
    return create_constant(before.graph, value, type).insert_before(before).output


# --------------------------------------------------------------------------- operators


def exchange_operators(target: ScriptObject, graph: Graph, dynamic: bool) -> None:
    """Put quantized operators in the place of those between quantizers; weights are packed."""
    exchanging = _Exchanging(target, graph)
    if dynamic:
        exchanging.dynamic()
    else:
        exchanging.block(graph.block)
    eliminate_dead_code(graph, CONTEXT)
    pool_constants(graph, CONTEXT)


class _Exchanging:
    def __init__(self, target: ScriptObject, graph: Graph) -> None:
        self.target = target
        self.graph = graph

    # -- static

    def block(self, block: Block) -> None:
        for node in block.nodes:
            for inner in node.blocks:
                self.block(inner)
            role = ROLES.get(node.kind)
            if node.kind in _QUANTIZE:
                self.quantizer(node)
            elif node.kind == "prim::If":
                self.branches(node)
            elif node.kind == "prim::ListConstruct":
                continue
            elif node.kind == "prim::ListUnpack" or (role is not None and role.passed):
                self.passed(node)
            elif with_scalar(node):
                self.with_number(node)
            elif asks_for_form(node) and node.inputs:
                node.set_input(0, _quantized(node.inputs[0]) or node.inputs[0])

    def quantizer(self, node: Node) -> None:
        """A quantizer of what an operator gives that can be computed with whole numbers."""
        last = node.inputs[0].node
        made = last
        relu = made.kind in ("aten::relu", "aten::relu_")
        if relu:
            made = made.inputs[0].node
        role = ROLES.get(made.kind)
        if role is None or not role.quantized or constant_value(node.inputs[1]) is MISSING:
            return
        if relu and not (role.relu and relu_after(made) is last):
            return
        if last.output.uses.keys() != {use for use in last.output.uses if use.user is node}:
            return
        operands = self.operands(made, role)
        if operands is None or node.kind != _QUANTIZE[0] or with_scalar(made):
            return
        ended = [made.inputs[index] for index in role.ends]
        taken = [self.folded(made, index, role) for index in role.takes]
        inputs = [*operands, *taken, *node.inputs[1:3]]
        name = role.quantized + "_relu" * relu
        self.replace(node, name, [*inputs, *ended])

    def operands(self, node: Node, role: Role) -> list[Value] | None:
        """The quantized operands of an operator, and packed weights; None if they are not."""
        if node.kind == "aten::cat":
            made = self.whole(node.inputs[0], node)
            return None if made is None else [made]
        if role.joins and not self.is_plain(node):
            return None
        found = [_quantized(value) for value in node.inputs[: role.joins or 1]]
        if any(value is None for value in found):
            return None
        operands = [value for value in found if value is not None]
        if role.weight is not None:
            packed = self.packed(node, role)
            return None if packed is None else [*operands, packed]
        return operands

    def folded(self, node: Node, index: int, role: Role) -> Value:
        """An input; a constant that is rounded as what comes of that."""
        value = node.inputs[index]
        quantized = _quantized(value) if index in role.rounded else None
        made = MISSING if quantized is None else _computed(quantized.node)
        if isinstance(made, np.ndarray) and value.node.signature is not None:
            return _constant(node, evaluate(value.node.signature, [made]))
        return value

    def is_plain(self, node: Node) -> bool:
        """Whether a sum takes its second operand as it is."""
        return len(node.inputs) == 2 or constant_value(node.inputs[2]) == 1

    def whole(self, value: Value, before: Node) -> Value | None:
        """A value without the dequantizer, or dequantizers, that it came from."""
        found = _quantized(value)
        if found is not None or value.node.kind != "prim::ListConstruct":
            return found
        parts = [_quantized(each) for each in value.node.inputs]
        if not parts or any(part is None for part in parts):
            return None
        inputs = [part for part in parts if part is not None]
        node = self.graph.create("prim::ListConstruct", inputs, (value.type,), before.span)
        return node.insert_before(before).output

    def replace(self, node: Node, kind: str, inputs: Sequence[Value]) -> None:
        name = "new" if overload(CONTEXT, kind, "new") is not None else ""
        made = insert_operator(CONTEXT, node, kind, name, inputs, TENSOR)
        made.copy_name(node.output)
        node.output.replace_uses(made)
        node.destroy()

    def passed(self, node: Node) -> None:
        """`op(dequantize(q))` -> `dequantize(op(q))`, for each result that is a tensor."""
        operand = self.whole(node.inputs[0], node)
        if operand is None or any(use.user is node for use in operand.uses):
            return
        node.set_input(0, operand)
        self.dequantize_results(node)

    def dequantize_results(self, node: Node) -> None:
        for output in node.outputs:
            if is_subtype(output.type, TENSOR) and output.uses:
                self.dequantized(output, node.next)
            elif output.type.list_of is not None:
                for use in list(output.uses):
                    if use.user.kind in ("aten::__getitem__", "prim::ListUnpack"):
                        self.dequantize_results(use.user)

    def dequantized(self, value: Value, before: Node) -> None:
        """Give all users of a quantized value its float form."""
        uses = list(value.uses)
        made = insert_operator(CONTEXT, before, "aten::dequantize", "self", [value], TENSOR)
        for use in uses:
            use.user.set_input(use.number, made)

    def branches(self, node: Node) -> None:
        """Values that are dequantized at the end of each branch are so after all of them."""
        for index, output in enumerate(node.outputs):
            parts = [_quantized(inner.outputs[index]) for inner in node.blocks]
            if output.uses and all(part is not None for part in parts):
                for inner, part in zip(node.blocks, parts, strict=True):
                    assert part is not None
                    inner.ret.set_input(index, part)
                self.dequantized(output, node.next)

    def with_number(self, node: Node) -> None:
        """A sum or product of a quantized tensor and a number, which decides on the range."""
        operand = _quantized(node.inputs[0])
        if operand is None or not self.is_plain(node):
            return
        relu = relu_after(node)
        last = node if relu is None else relu
        kind = f"quantized::{node.kind.removeprefix('aten::')}_scalar" + "_relu" * bool(relu)
        inputs = [operand, node.inputs[1]]
        made = insert_operator(CONTEXT, last, kind, "", inputs, TENSOR)
        last.output.replace_uses(made)
        self.dequantized(made, made.node.next)

    # -- weights

    def packed(self, node: Node, role: Role) -> Value | None:
        """The packed weights of a layer, as an attribute; None if they cannot be packed."""
        weight = node.inputs[1].node
        if weight.kind != "aten::dequantize" or weight.inputs[0].node.kind not in _QUANTIZE:
            return None
        quantized = _computed(weight.inputs[0].node)
        taken = range(2, len(node.inputs)) if role.packs is None else role.packs
        rest = [constant_value(node.inputs[index]) for index in taken]
        if quantized is MISSING or any(value is MISSING for value in rest):
            return None
        if any(isinstance(value, str) for value in rest):  # padding that is named
            return None
        return self.attribute(role.prepack, [quantized, *rest], node)

    def attribute(self, prepack: str, given: Sequence[object], before: Node) -> Value:
        signature = overload(CONTEXT, prepack, "")
        assert signature is not None
        made = evaluate(signature, given)
        taken = sum("_jit_pass_packed_weight_" in name for name in self.target.cls.attributes)
        name = f"quantized_forward._jit_pass_packed_weight_{taken}"
        type = infer_type(made)
        add_part(self.target, name, type, made)
        node = self.graph.create("prim::GetAttr", [self.graph.inputs[0]], (type,), before.span)
        node.attributes["name"] = name
        return node.insert_before(before).output

    # -- dynamic

    def dynamic(self) -> None:
        for node in list(self.graph.all_nodes):
            role = ROLES.get(node.kind)
            if role is None or not role.dynamic:
                continue
            weight, bias = node.inputs[1].node, constant_value(node.inputs[2])
            if weight.kind == _HALF and bias is not MISSING:
                given = [_computed(weight), bias]
                packed = self.attribute(f"{role.prepack}_fp16", given, node)
                self.replace(node, f"{role.dynamic}_fp16", [node.inputs[0], packed])
                continue
            packed_or_none = self.packed(node, role)
            if packed_or_none is not None:
                reduced = create_constant(self.graph, True, BOOL).insert_before(node).output
                self.replace(node, role.dynamic, [node.inputs[0], packed_or_none, reduced])


def _quantized(value: Value) -> Value | None:
    """What a value was dequantized from."""
    return value.node.inputs[0] if value.node.kind == "aten::dequantize" else None


def _computed(node: Node) -> object:
    """The result of an operator over constants, or MISSING."""
    values = [constant_value(value) for value in node.inputs]
    if any(value is MISSING for value in values) or node.signature is None:
        return MISSING
    return evaluate(node.signature, values)
