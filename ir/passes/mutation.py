"""Changes in place of what nobody else knows become new values.

    %y = aten::add(%x, %x, %1)             %y = aten::add(%x, %x, %1)
    %z = aten::relu_(%y)             ->    %3 = aten::relu(%y)
    %w = aten::mul(%y, %y)                 %w = aten::mul(%3, %3)

    %l = prim::ListConstruct(%a)           %l = prim::ListConstruct(%a)
    %m = aten::append(%l, %b)        ->    %5 = prim::ListConstruct(%a, %b)
    %n = aten::len(%l)                     %n = aten::len(%5)

Only where what is changed was made in the same block, and nothing has used it before, or holds it.
Operands are taken to have the element type of what is changed, as in torch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import FLOAT, INT, NONE, NUMBER, ListType
from ..aliases.alias_db import AliasDb
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Graph, Node, Value
from ..graphs.kinds import asks_for_form
from .context import PassContext
from .dead_code import eliminate_dead_code
from .operators import overload

__all__ = [
    *("remove_list_mutation", "remove_mutation", "remove_some_mutation"),
    *("remove_tensor_mutation", "same_arguments"),
]

_LIST_CHANGES = ("aten::append", "aten::insert", "aten::_set_item")
_FILLED = ("aten::zero_", "aten::fill_")
_NOT_MADE = frozenset({"prim::Param", "prim::Constant", "prim::GetAttr", "prim::Uninitialized"})

Functional = Callable[[Node, PassContext], Node | None]


def remove_mutation(graph: Graph, context: PassContext) -> bool:
    """Make changes of lists and tensors into new values."""
    changed = remove_list_mutation(graph, context)
    return remove_tensor_mutation(graph, context) or changed


def remove_list_mutation(graph: Graph, context: PassContext) -> bool:
    """The same for lists alone."""
    return _remove(graph, context, _new_list)


def remove_tensor_mutation(graph: Graph, context: PassContext) -> bool:
    """The same for tensors alone."""
    return _remove(graph, context, _new_tensor)


def remove_some_mutation(graph: Graph, context: PassContext, kinds: Collection[str]) -> bool:
    """The same for operators of some kinds alone."""

    def functional(node: Node, context: PassContext) -> Node | None:
        return _new_tensor(node, context) if node.kind in kinds else None

    return _remove(graph, context, functional)


def _new_list(node: Node, context: PassContext) -> Node | None:
    """The list that there is after the node has appended, inserted or set an element."""
    made = node.inputs[0].node if node.inputs else node
    if node.kind not in _LIST_CHANGES or made.kind != "prim::ListConstruct":
        return None
    elements = list(made.inputs)
    if node.kind == "aten::append":
        elements.append(node.inputs[1])
    else:
        index, size = constant_value(node.inputs[1]), len(elements)
        if not isinstance(index, int):
            return None
        if node.kind == "aten::insert":
            elements.insert(index, node.inputs[2])
        elif -size <= index < size:
            elements[index] = node.inputs[2]
        else:
            return None
    return node.graph.create("prim::ListConstruct", elements, (made.output.type,), node.span)


def _new_tensor(node: Node, context: PassContext) -> Node | None:
    """The operator that gives what the node writes into its first input."""
    own = node.signature
    if own is None or not node.kind.endswith("_") or node.kind.endswith("__"):
        return None
    written = [a.alias is not None and a.alias.is_write for a in own.arguments]
    if not written or not written[0] or any(written[1:]) or len(node.outputs) != 1:
        return None
    if node.kind in _FILLED and (len(node.inputs) == 1 or _is_number(node.inputs[1])):
        return _filled(node, context)
    if node.kind == "aten::normal_":
        return _drawn(node, context)
    kind = node.kind[:-1]
    for signature in context.table.overloads(kind):
        if same_arguments(signature, own) and len(signature.returns) == 1:
            types = (node.output.type,)
            return node.graph.create(kind, node.inputs, types, node.span, signature)
    return None


def _filled(node: Node, context: PassContext) -> Node | None:
    """`full_like`, or `zeros_like`, for a tensor that is filled."""
    kind = "aten::zeros_like" if node.kind == "aten::zero_" else "aten::full_like"
    signature = next((s for s in context.table.overloads(kind) if not s.overload), None)
    if signature is None:
        return None
    inputs = list(node.inputs)
    if len(inputs) > 1 and (dtype := overload(context, "prim::dtype", "")) is not None:
        # whatever the number is, the tensor keeps its type
        known = node.graph.create("prim::dtype", inputs[:1], (INT,), signature=dtype)
        inputs.append(known.insert_before(node).output)
    for _ in signature.arguments[len(inputs) :]:
        constant = create_constant(node.graph, None, NONE)
        inputs.append(constant.insert_before(node).output)
    return node.graph.create(kind, inputs, (node.output.type,), node.span, signature)


def _drawn(node: Node, context: PassContext) -> Node | None:
    """`normal` of the same sizes and element type, for a tensor that is filled by `normal_`."""
    signature = overload(context, "aten::normal", "float_float")
    sizes, kind = overload(context, "aten::size", ""), overload(context, "prim::dtype", "")
    if signature is None or sizes is None or kind is None:
        return None
    graph, old = node.graph, node.inputs[0]
    size = graph.create("aten::size", (old,), (ListType(INT),), node.span, sizes)
    dtype = graph.create("prim::dtype", (old,), (INT,), node.span, kind)
    none = create_constant(graph, None, NONE)
    for each in (size, dtype, none):
        each.insert_before(node)
    inputs = [*node.inputs[1:3], size.output, node.inputs[3], dtype.output]
    inputs += [none.output] * (len(signature.arguments) - len(inputs))
    return graph.create("aten::normal", inputs, (node.output.type,), node.span, signature)


def _is_number(value: Value) -> bool:
    return value.type in (INT, FLOAT, NUMBER)


def same_arguments(one: Signature, other: Signature) -> bool:
    """Whether two operators take values of the same types."""
    return [a.type for a in one.arguments] == [a.type for a in other.arguments]


def _remove(graph: Graph, context: PassContext, functional: Functional) -> bool:
    changed = False
    while _remove_some(graph, context, functional):
        changed = True
    if changed:
        eliminate_dead_code(graph, context)
    return changed


def _remove_some(graph: Graph, context: PassContext, functional: Functional) -> bool:
    """Replace the changes that can be, in one walk over the graph; whether there were any.

    What shares memory is found out once: the new value has the place of the old one, which is more
    than it shares.
    """
    aliases: AliasDb | None = None
    former = dict[Value, set[Value]]()
    changed = False
    for node in graph.all_nodes:
        if node.blocks or not node.inputs or node.inputs[0].node.kind in _NOT_MADE:
            continue
        made = functional(node, context)
        if made is None:
            continue
        aliases = aliases or AliasDb(graph)
        old = node.inputs[0]
        known = _same_object(old) | _given_by_branches(old) | former.get(old, set())
        if _is_private(node, aliases, known):
            former[made.output] = known
            aliases.take_place_of(made.output, node)
            _replace(node, made)
            changed = True
        else:
            made.clear_inputs()
    return changed


def _replace(node: Node, made: Node) -> None:
    changed = node.inputs[0]
    made.call_stack = node.call_stack
    made.insert_before(node)
    for output in node.outputs:
        output.replace_uses(made.output)
    changed.replace_uses_after(node, made.output)
    node.destroy()


def _is_private(node: Node, aliases: AliasDb, known: set[Value]) -> bool:
    """Whether what the node changes was made in its block, and nothing has it yet but the node;
    `known` are the values that are it, or were what it was made anew of."""
    changed = node.inputs[0]
    places = aliases.places(changed)
    if changed.node.owner is not node.owner or any(place.unknown for place in places):
        return False
    if not places or any(aliases.is_known_before(node, place, known) for place in places):
        return False
    if node.kind in _LIST_CHANGES:
        # the list is made again of what it was made of, so nothing may have changed it meanwhile
        return not any(aliases.is_written_before(node, place) for place in places)
    users = {use.user for use in changed.uses if use.user.owner is not None} - {node}
    return all(node.is_before(user) or asks_for_form(user) for user in users)


def _given_by_branches(value: Value) -> set[Value]:
    """The values inside branches that become the value and are nothing else."""
    node = value.node
    if node.kind != "prim::If":
        return set()
    index = node.outputs.index(value)
    found: set[Value] = set()
    for block in node.blocks:
        given = block.outputs[index]
        if len(given.uses) == 1 and given.node.owner is block:
            found |= {given} | _given_by_branches(given)
    return found


def _same_object(value: Value) -> set[Value]:
    """The value, and the results of changes of it in its block, which are the value itself."""
    found = {value}
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            user = use.user
            signature = user.signature
            if user.owner is not value.node.owner or use.number or signature is None:
                continue
            if signature.is_mutable and len(user.outputs) == 1 and user.output not in found:
                found.add(user.output)
                pending.append(user.output)
    return found
