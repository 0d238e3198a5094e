"""The form between quantizers and dequantizers: all operators are of floats, their results rounded.

%y = aten::dequantize(%y.quant)           %y = aten::dequantize(%y.quant)
%z = aten::avg_pool2d(%y, ...)      ->    %z = aten::avg_pool2d(%y, ...)
                                          %1 = aten::q_scale(%y.quant)
                                          %2 = aten::q_zero_point(%y.quant)
                                          %z.quant = aten::quantize_per_tensor(%z, %1, %2, ...)
                                          ... = aten::dequantize(%z.quant)
"""

from __future__ import annotations

from ....interpreter.running.evaluating import CONTEXT
from ....ir.graphs.constants import create_constant
from ....ir.graphs.graph import Graph, Node, Value
from ....ir.passes.operators import insert_operator
from ....ops.memory.dtype import DTYPES
from ....typecheck.types.types import BOOL, FLOAT, INT, TENSOR
from .observe import with_scalar
from .roles import ROLES

__all__ = ["round_inputs", "round_results"]


def round_results(graph: Graph) -> None:
    """Round what operators give whose results are not observed."""
    for node in list(graph.all_nodes):
        role = ROLES.get(node.kind)
        is_one = role is not None and (role.rounds or role.gives is not None)
        if (
            (is_one or with_scalar(node))
            and node.inputs[0].node.kind == "aten::dequantize"
            and node.output.uses
        ):
            _round(node, node.inputs[0].node.inputs[0])


def _round(node: Node, operand: Value) -> None:
    after, value = node.next, node.output
    uses = list(value.uses)
    role = ROLES.get(node.kind)
    if role is None or role.gives is None:
        scale = insert_operator(CONTEXT, after, "aten::q_scale", "", [operand], FLOAT)
        zero_point = insert_operator(CONTEXT, after, "aten::q_zero_point", "", [operand], INT)
    else:
        scale, zero_point = (
            create_constant(node.graph, number, type).insert_before(after).output
            for number, type in zip(role.gives, (FLOAT, INT), strict=True)
        )
    made = _rounded(after, value, scale, zero_point)
    for use in uses:
        use.user.set_input(use.number, made)


def _rounded(before: Node, value: Value, scale: Value, zero_point: Value) -> Value:
    number = DTYPES["quint8"].number
    dtype = create_constant(before.graph, number, INT).insert_before(before).output
    inputs = [value, scale, zero_point, dtype]
    quantized = insert_operator(CONTEXT, before, "aten::quantize_per_tensor", "", inputs, TENSOR)
    return insert_operator(CONTEXT, before, "aten::dequantize", "self", [quantized], TENSOR)


def round_inputs(graph: Graph) -> None:
    """Round the inputs of dynamic layers, by the range of each call."""
    for node in list(graph.all_nodes):
        role = ROLES.get(node.kind)
        is_one = role is not None and role.dynamic
        if not is_one or node.inputs[1].node.kind != "aten::dequantize":
            continue
        reduced = create_constant(graph, True, BOOL).insert_before(node).output
        found = graph.create(
            "aten::_choose_qparams_per_tensor", [node.inputs[0], reduced], (FLOAT, INT), node.span
        )
        (found.signature,) = CONTEXT.table.overloads(found.kind)
        scale, zero_point = found.insert_before(node).outputs
        node.set_input(0, _rounded(node, node.inputs[0], scale, zero_point))
