"""What must be true of every graph: each invariant is a function that yields its violations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...typecheck.relations.relations import is_subtype
from ...typecheck.relations.variables import has_variables
from ...typecheck.types.tensor_facts import RefinedTensor
from ...typecheck.types.types import BOOL, FLOAT, INT, NUMBER, Type
from .graph import Block, Graph, Node, Use, Value
from .kinds import ANY, KINDS

__all__ = ["INVARIANTS", "InvalidGraph", "faults", "verify"]


class InvalidGraph(AssertionError):
    """A graph breaks its invariants: a fault of this program, never of the user's."""


def verify(graph: Graph) -> None:
    """Check all invariants.

    Raises:
        InvalidGraph: with all faults, one a line.
    """
    found = faults(graph)
    if found:
        raise InvalidGraph("\n".join(found))


def faults(graph: Graph) -> list[str]:
    """All faults of a graph; empty for a valid one."""
    return [fault for invariant in INVARIANTS for fault in invariant(graph)]


def _blocks(graph: Graph) -> Iterator[Block]:
    yield graph.block
    for node in graph.all_nodes:
        yield from node.blocks


def _nodes_and_returns(graph: Graph) -> Iterator[Node]:
    for block in _blocks(graph):
        yield from block.nodes
        yield block.ret


def _values(graph: Graph) -> Iterator[Value]:
    for block in _blocks(graph):
        yield from block.inputs
        for node in block.nodes:
            yield from node.outputs


def uses_match_inputs(graph: Graph) -> Iterator[str]:
    """A value's uses are exactly the inputs that name it."""
    for value in _values(graph):
        for use in value.uses:
            if use.number >= len(use.user.inputs) or use.user.inputs[use.number] is not value:
                yield f"%{value.debug_name} has a use that is none, in {use.user!r}"
    for node in _nodes_and_returns(graph):
        for index, value in enumerate(node.inputs):
            if Use(node, index) not in value.uses:
                yield f"{node!r} does not count as a user of %{value.debug_name}"


def definitions_come_first(graph: Graph) -> Iterator[str]:
    """A value is used only where it is visible: later in its block, or in a block inside."""
    yield from _undefined(graph.block, set())


def _undefined(block: Block, outer: set[Value]) -> Iterator[str]:
    known = outer | set(block.inputs)
    for node in (*block.nodes, block.ret):
        for value in node.inputs:
            if value not in known:
                yield f"%{value.debug_name} is not defined where {node!r} uses it"
        for inner in node.blocks:
            yield from _undefined(inner, known)
        known.update(node.outputs)


def structure_is_linked(graph: Graph) -> Iterator[str]:
    """Nodes know their block and graph, neighbours know each other, positions rise."""
    for block in _blocks(graph):
        previous = block.param
        for node in (*block.nodes, block.ret):
            if node.owner is not block or node.graph is not graph:
                yield f"{node!r} is in a block that it does not know"
            if node.previous is not previous or node.position <= previous.position:
                yield f"{node!r} stands wrongly after {previous!r}"
            if any(output.node is not node for output in node.outputs):
                yield f"{node!r} has an output of another node"
            previous = node


def names_are_unique(graph: Graph) -> Iterator[str]:
    """No two values print alike, and the table of names is right."""
    seen: set[str] = set()
    for value in _values(graph):
        if value.debug_name in seen:
            yield f"two values are called %{value.debug_name}"
        seen.add(value.debug_name)
        if value.name is not None and graph._names.get(value.name) is not value:
            yield f"%{value.debug_name} is not in the table of names"
    for name in graph._names.keys() - seen:
        yield f"the name {name} belongs to a value that is gone"


def kinds_have_their_form(graph: Graph) -> Iterator[str]:
    """Nodes have the inputs, outputs, blocks and attributes of their kind."""
    for node in graph.all_nodes:
        kind = KINDS.get(node.kind)
        if kind is None:
            continue
        for wanted, count, what in (
            (kind.inputs, len(node.inputs), "inputs"),
            (kind.outputs, len(node.outputs), "outputs"),
            (kind.blocks, len(node.blocks), "blocks"),
        ):
            if wanted not in (ANY, count):
                yield f"{node!r} has {count} {what}, not {wanted}"
        known = {name for name, _ in (*kind.attributes, *kind.optional)}
        for name, _ in kind.attributes:
            if name not in node.attributes:
                yield f"{node!r} has no attribute {name}"
        for name in node.attributes.keys() - known:
            yield f"{node!r} has an attribute {name} that its kind does not know"


def branches_fit(graph: Graph) -> Iterator[str]:
    """A branch asks for a bool; both blocks give values for all outputs."""
    for node in graph.all_nodes:
        if node.kind != "prim::If":
            continue
        if not _fits(node.input.type, BOOL):
            yield f"{node!r} branches on a {node.input.type}"
        for block in node.blocks:
            if block.inputs:
                yield f"a block of {node!r} has inputs"
            yield from _all_fit(node, block.outputs, node.outputs)


def loops_fit(graph: Graph) -> Iterator[str]:
    """A loop has trips and condition; carried values agree before, inside and after."""
    for node in graph.all_nodes:
        if node.kind != "prim::Loop":
            continue
        body = node.blocks[0]
        if len(node.inputs) < 2 or not body.inputs or not body.outputs:
            yield f"{node!r} lacks its trip count or condition"
            continue
        for value, wanted in (
            (node.inputs[0], INT),
            (node.inputs[1], BOOL),
            (body.inputs[0], INT),
            (body.outputs[0], BOOL),
        ):
            if not _fits(value.type, wanted):
                yield f"%{value.debug_name} of {node!r} is a {value.type}, not a {wanted}"
        for values in (node.inputs[2:], body.outputs[1:]):
            yield from _all_fit(node, values, body.inputs[1:])
            yield from _all_fit(node, values, node.outputs)


def _all_fit(node: Node, values: Sequence[Value], targets: Sequence[Value]) -> Iterator[str]:
    if len(values) != len(targets):
        yield f"{node!r} has {len(targets)} values where {len(values)} are given"
    for value, target in zip(values, targets, strict=False):
        if not _fits(value.type, target.type):
            yield f"%{value.debug_name} : {value.type} becomes %{target.debug_name} : {target.type}"


def _fits(type: Type, wanted: Type) -> bool:
    return is_subtype(type, wanted)


def _is_number(type: Type, wanted: Type) -> bool:
    """Whether a tensor stands for a number, as `erase_number_types` has them."""
    is_single = isinstance(type, RefinedTensor) and type.sizes == ()
    return is_single and wanted.inner in (INT, FLOAT, BOOL, NUMBER)


def operators_fit(graph: Graph) -> Iterator[str]:
    """An operator has as many inputs as its signature has arguments, of their types."""
    for node in graph.all_nodes:
        signature = node.signature
        if signature is None:
            continue
        if signature.name != node.kind:
            yield f"{node!r} has the signature of {signature.name}"
        if signature.vararg:
            continue
        if len(node.inputs) != len(signature.arguments):
            yield f"{node!r} has {len(node.inputs)} inputs, not {len(signature.arguments)}"
        for argument, value in zip(signature.arguments, node.inputs, strict=False):
            if has_variables(argument.type) or _is_number(value.type, argument.type):
                continue
            if not _fits(value.type, argument.type):
                yield f"{node!r}: {argument.name} is a {value.type}, not a {argument.type}"


def construction_fits(graph: Graph) -> Iterator[str]:
    """Tuples and lists are made of, and give, elements of their types."""
    for node in graph.all_nodes:
        if node.kind == "prim::TupleConstruct" and node.output.type.tuple_of is not None:
            elements = node.output.type.tuple_of
            if len(elements) != len(node.inputs):
                yield f"{node!r} makes {node.output.type}"
            for value, wanted in zip(node.inputs, elements, strict=False):
                if not _fits(value.type, wanted):
                    yield f"{node!r} holds %{value.debug_name} : {value.type}"
        if node.kind == "prim::ListConstruct" and node.output.type.list_of is not None:
            for value in node.inputs:
                if not _fits(value.type, node.output.type.list_of):
                    yield f"{node!r} holds %{value.debug_name} : {value.type}"


INVARIANTS: tuple[Callable[[Graph], Iterator[str]], ...] = (
    structure_is_linked,
    uses_match_inputs,
    definitions_come_first,
    names_are_unique,
    kinds_have_their_form,
    branches_fit,
    loops_fit,
    operators_fit,
    construction_fits,
)
"""Every invariant, the basic ones first."""
