"""What traces and layers write, in the form in which it is quantized.

aten::_convolution(%x, %w, %b, %stride, %padding, %dilation, False, ...)
->  aten::conv2d(%x, %w, %b, %stride, %padding, %dilation, %groups)

aten::add(%x, %tensor_of_a_number, %alpha)  ->  aten::add(%x, %number, %alpha)

aten::elu_(%input, ...)  ->  aten::elu(%input, ...)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ....interpreter.running.evaluating import CONTEXT
from ....ir.graphs.constants import constant_value, create_constant
from ....ir.graphs.graph import Graph, Node, Value
from ....ir.graphs.kinds import entry_of
from ....ir.passes.operators import insert_operator, overload
from ....typecheck.types.types import FLOAT, INT, TENSOR
from .roles import ROLES

__all__ = ["leave_inputs", "name_convolutions", "take_numbers"]

_STRAIGHT: Final = "input weight bias stride padding dilation groups".split()
_TURNED: Final = "input weight bias stride padding output_padding groups dilation".split()


def name_convolutions(graph: Graph) -> None:
    """Exchange convolutions of any kind for those of the kind they are, if that is constant."""
    for node in list(graph.all_nodes):
        entry = entry_of(node)
        if entry is None or entry.cost != "convolved":
            continue
        names = [argument.name for argument in entry.signature.arguments]
        if "transposed" not in names:
            continue
        given = dict(zip(names, node.inputs, strict=True))
        turned, weight = constant_value(given["transposed"]), constant_value(given["weight"])
        if not isinstance(turned, bool) or not isinstance(weight, np.ndarray):
            continue
        kind = f"aten::conv{'_transpose' if turned else ''}{weight.ndim - 2}d"
        order = _TURNED if turned else _STRAIGHT
        for name in ("", "input"):
            if overload(CONTEXT, kind, name) is not None:
                _exchange(node, kind, name, [given[each] for each in order])
                break


def take_numbers(graph: Graph) -> None:
    """Have sums and products take numbers that are tensors without dimensions as numbers."""
    for node in [each for each in graph.all_nodes if _joins_two(each)]:
        array = constant_value(node.inputs[1])
        if not isinstance(array, np.ndarray) or array.ndim or array.dtype.kind not in "iuf":
            continue
        number = array.item()
        type = FLOAT if isinstance(number, float) else INT
        taken = create_constant(graph, number, type).insert_before(node).output
        _exchange(node, node.kind, "Scalar", [node.inputs[0], taken, *node.inputs[2:]])


def _joins_two(node: Node) -> bool:
    role = ROLES.get(node.kind)
    return role is not None and role.joins == 2


def leave_inputs(graph: Graph) -> None:
    """Have operators that are quantized leave the graph's inputs as they are.

    Quantized ones can write nothing back.  What somebody else reads as well stays written to.
    """
    for node in [each for each in graph.all_nodes if each.kind.endswith("_")]:
        kind, given = node.kind.removesuffix("_"), node.inputs[:1]
        if kind in ROLES and given and given[0] in graph.inputs and len(given[0].uses) == 1:
            name = "" if node.signature is None else node.signature.overload
            _exchange(node, kind, name, node.inputs)


def _exchange(node: Node, kind: str, name: str, inputs: Sequence[Value]) -> None:
    made = insert_operator(CONTEXT, node, kind, name, inputs, TENSOR)
    made.type, made.name = node.output.type, node.output.base_name
    node.output.replace_uses(made)
    node.destroy()
