"""How many arguments mobile code pushes for an operator: defaults need not be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...ir.graphs.graph import Block, Graph, Node, Value
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.relations.relations import is_subtype
from ...typecheck.relations.variables import has_variables
from ...typecheck.types.types import ANY, NONE, STRING, TENSOR, UNKNOWN, Type

__all__ = ["argument_counts", "counted", "pushed", "written_to"]


def argument_counts(graph: Graph, version: int) -> dict[str, int]:
    """By operator, the most arguments that one of its calls in a graph needs.

    Up to version 5 of the bytecode all are pushed, in version 6 all of operators with arguments
    that are written to.
    """
    counts: dict[str, int] = {}
    for node in _nodes(graph.block):
        signature = node.signature
        if signature is None or signature.vararg:
            continue
        last = written_to(signature)
        needed = len(node.inputs)
        if version >= 7 or (version == 6 and not last):
            needed = _needed(signature.arguments, node.inputs, last)
        counts[signature.full_name] = max(counts.get(signature.full_name, 0), needed)
    return counts


def pushed(signature: Signature, inputs: Sequence[Value], count: int) -> Sequence[Value]:
    """The inputs that are pushed if there are `count` of them: those written to come last."""
    last = written_to(signature)
    return [*inputs[: count - last], *inputs[len(inputs) - last :]]


def counted(
    arguments: Sequence[Argument], stack: Sequence[Value], declared: Mapping[Value, Type]
) -> int:
    """How many arguments were pushed by code that does not say it: all that fit.

    What an operator has got since the code was written has a default and comes last; the values on
    the stack tell that it is not there.  `declared` are the types of the function's own arguments.
    """
    needed = sum(not each.has_default for each in arguments)
    for count in range(len(arguments), needed - 1, -1):
        values = stack[len(stack) - count :]
        types = [declared.get(value) or _type_of(value) for value in values]
        if count <= len(stack) and all(map(_may_be, types, arguments)):
            return count
    return len(arguments)


def _type_of(value: Value) -> Type:
    """What an operator gives, where no types were found yet."""
    signature = value.node.signature
    if value.type is not UNKNOWN or signature is None:
        return value.type
    return signature.returns[value.node.outputs.index(value)].type


def _may_be(type: Type, argument: Argument) -> bool:
    """Whether a value of a type may be an argument; nothing is said of those that tell little."""
    if type not in (NONE, STRING, TENSOR):
        return True
    wanted = argument.type
    return wanted is ANY or has_variables(wanted) or is_subtype(type, wanted)


def written_to(signature: Signature) -> int:
    """How many arguments at the end are written to, as `out`."""
    last = 0
    for argument in reversed(signature.arguments):
        alias = argument.alias
        if not (argument.keyword_only and alias is not None and alias.is_write):
            break
        last += 1
    return last


def _needed(arguments: Sequence[Argument], inputs: Sequence[Value], last: int) -> int:
    """How many inputs are left when defaults at the end are left out."""
    needed = len(inputs) - last
    while needed and _is_default(arguments[needed - 1], inputs[needed - 1]):
        needed -= 1
    return needed + last


def _is_default(argument: Argument, value: Value) -> bool:
    if not argument.has_default or not value.node.is_constant:
        return False
    given = value.node.value
    return type(given) is type(argument.default) and bool(given == argument.default)


def _nodes(block: Block) -> Iterator[Node]:
    for node in block.nodes:
        yield node
        for inner in node.blocks:
            yield from _nodes(inner)
