"""Operators whose outcome the sizes and element types of tensors tell, or that undo each other.

%a = aten::t(%x)
%b = aten::t(%a)                                  ->   (users of %b use %x)
%s = aten::len(aten::size(%x)) (%x : Float(*, *)) ->   %s = prim::Constant[value=2]()
%y = aten::mul(%x, 1.)     (%x : Float)           ->   (users of %y use %x)
%s = aten::size(%x)        (%x : Float(2, 3))     ->   %s = prim::Constant[value=[2, 3]]()
%d = aten::dim(%x)         (%x : Float(*, *))     ->   %d = prim::Constant[value=2]()
%e = aten::expand(%x, ...) (to the sizes of %x)   ->   (users of %e use %x)
"""

from __future__ import annotations

from ...ops.memory.dtype import DTYPES
from ...typecheck.types.tensor_facts import RefinedTensor
from ...typecheck.types.types import INT, ListType
from ..aliases.alias_db import AliasDb
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Graph, Node, Value
from ..graphs.kinds import entry_of
from .context import PassContext
from .dead_code import eliminate_dead_code

__all__ = ["simplify_by_shape"]

_DIMENSIONS = {"aten::conv1d": 3, "aten::conv2d": 4, "aten::conv3d": 5}


def simplify_by_shape(graph: Graph, context: PassContext) -> bool:
    """Replace what facts about tensors, or neighbours, make superfluous."""
    changed = False
    aliases: AliasDb | None = None
    for node in list(graph.all_nodes):
        if len(node.outputs) != 1 or not node.inputs or node.signature is None:
            continue
        same = _same_tensor(node)
        if same is not None:
            aliases = aliases or AliasDb(graph)
            values = (same, node.output)
            tells = _neutral(node) is not None and all(map(aliases.escapes, values))
            if tells or any(map(aliases.has_writers, values)):
                continue  # somebody could see that they are one object
            node.output.replace_uses(same)
            changed = True
            continue
        outcome = _outcome(node)
        changeable = node.output if isinstance(outcome, list) else node.inputs[0]
        if outcome is not None:
            aliases = aliases or AliasDb(graph)
            outcome = None if aliases.has_writers(changeable) else outcome
        if outcome is not None:
            type = ListType(INT) if isinstance(outcome, list) else node.output.type
            constant = create_constant(graph, outcome, type).insert_before(node)
            node.output.replace_uses(constant.output)
            changed = True
    if changed:
        eliminate_dead_code(graph, context)
    return changed


def _same_tensor(node: Node) -> Value | None:
    """The tensor that the node gives unchanged."""
    value = node.inputs[0]
    if node.kind == "aten::t" and value.node.kind == "aten::t":
        return value.node.inputs[0]
    type = value.type
    if not isinstance(type, RefinedTensor):
        return None
    if _is_neutral_on_floats(node, type):
        return value
    if node.kind == "aten::expand" and type.sizes is not None and None not in type.sizes:
        return value if constant_value(node.inputs[1]) == list(type.sizes) else None
    if node.kind == "aten::type_as":
        other = node.inputs[1].type
        if isinstance(other, RefinedTensor) and type.scalar is not None:
            same = (type.scalar, type.device) == (other.scalar, other.device)
            return value if same and type.device is not None else None
    return None


def _neutral(node: Node) -> int | None:
    """The number with which the node gives its tensor, if there is one."""
    entry = entry_of(node)
    return None if entry is None or entry.overload != "Scalar" else entry.neutral


def _is_neutral_on_floats(node: Node, type: RefinedTensor) -> bool:
    """Whether the node adds 0 to floats, or multiplies or divides them by 1."""
    wanted = _neutral(node)
    number = constant_value(node.inputs[1]) if wanted is not None else None
    if not isinstance(number, (int, float)) or isinstance(number, bool) or number != wanted:
        return False
    alpha = [constant_value(value) for value in node.inputs[2:]]
    dtype = next((t for t in DTYPES.values() if t.scalar_name == type.scalar), None)
    return alpha in ([], [1]) and dtype is not None and dtype.is_floating_point


def _outcome(node: Node) -> object:
    """The number, truth value or list that a question about a tensor has as answer, if known."""
    type = node.inputs[0].type
    if node.kind == "aten::dim" and node.inputs[0].node.kind in _DIMENSIONS:
        return _DIMENSIONS[node.inputs[0].node.kind]
    if node.kind == "aten::len":
        return _number_of_sizes(node.inputs[0].node)
    if not isinstance(type, RefinedTensor):
        return None
    dtype = next((t for t in DTYPES.values() if t.scalar_name == type.scalar), None)
    sizes = type.sizes
    match node.kind:
        case "aten::dim" if sizes is not None:
            return len(sizes)
        case "aten::size" if sizes is not None:
            return _size(node, sizes)
        case "prim::dtype" if dtype is not None:
            return dtype.number
        case "aten::is_floating_point" if dtype is not None:
            return dtype.is_floating_point
        case "aten::is_complex" if dtype is not None:
            return dtype.is_complex
        case "prim::is_cuda" if type.device is not None:
            return type.device.startswith("cuda")
    return None


def _number_of_sizes(listed: Node) -> int | None:
    """How many sizes a tensor has, if they are what a node lists."""
    if listed.kind != "aten::size" or len(listed.inputs) != 1:
        return None
    of = listed.inputs[0].type
    return len(of.sizes) if isinstance(of, RefinedTensor) and of.sizes is not None else None


def _size(node: Node, sizes: tuple[int | None, ...]) -> object:
    if len(node.inputs) == 1:
        known = [size for size in sizes if size is not None]
        return known if len(known) == len(sizes) else None
    dim = constant_value(node.inputs[1])
    if isinstance(dim, int) and -len(sizes) <= dim < len(sizes):
        return sizes[dim]
    return None
