"""Which tensors that native code is given it writes."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graphs.graph import Node, Value
from ...ops.table.inline import Native
from ...ops.table.record import Operator
from ...ops.table.table import TABLE
from ..code.code import Code, Step, parts_of
from ..plans.registers import made_by, values_read
from .kinds import NotNative
from .reads import sources_of_reads

__all__ = ["forms_at", "is_maker", "is_of_few", "written_places", "written_wholes"]


def forms_at(entry: Operator, node: Node) -> Sequence[Native]:
    """The native forms of an operator at a node: a tensor that is only asked for its truth is a
    truth value."""
    if not any(form.gives == "bool" for form in entry.native):
        return entry.native
    is_asked = all(_takes_truth(use.user) for use in node.output.uses)
    return [form for form in entry.native if (form.gives == "bool") is is_asked]


def _takes_truth(node: Node) -> bool:
    """Whether an operator over a tensor has a form for its truth value."""
    entry = None if node.signature is None else TABLE.operator(node.signature.full_name)
    return entry is not None and any("bool" in form.of for form in entry.native)


def is_maker(code: Code, step: Step) -> bool:
    """Whether native code makes the tensors that a step gives."""
    entry = code.called(step)
    return entry is not None and any(form.gives == "made" for form in forms_at(entry, step.node))


def is_of_few(code: Code, step: Step) -> bool:
    """Whether native code makes the tensors that a step gives of others, or writes to one of them,
    which have to have few numbers then."""
    entry = code.called(step)
    if entry is None or "Tensor" not in entry.schema.partition("->")[0]:
        return False
    return any(form.gives in ("made", "written") for form in forms_at(entry, step.node))


def written_wholes(code: Code) -> set[Value]:
    """The tensors that a code writes, as wholes."""
    steps = (part for part in parts_of(code.body) if isinstance(part, Step))
    called = ((step.node, code.called(step)) for step in steps)
    return {code.whole_of(node.inputs[0]) for node, entry in called if entry and entry.is_in_place}


def written_places(code: Code, registers: Sequence[int]) -> list[int]:
    """The places among what a code is given, in `registers`, of tensors that it writes.

    Raises:
        NotNative: it writes a tensor that is none of these, or may not be.
    """
    steps = [part for part in parts_of(code.body) if isinstance(part, Step)]
    own, found = set(made_by(code.body)), set[int]()
    sources = {node.output: number for node, number in sources_of_reads(code)}
    makers = (each.node for each in steps if is_maker(code, each))
    made_here = {value for each in makers for value in each.outputs}
    for step in steps:
        entry = code.called(step)
        if entry is None or not entry.is_in_place:
            continue
        whole = code.whole_of(step.node.inputs[0])
        if whole in made_here:
            continue
        if whole in sources:
            found.add(registers.index(sources[whole]))
            continue
        read = {number for each in steps for number, value in values_read(each) if value is whole}
        if whole in own or len(read) != 1 or not read <= set(registers):
            raise NotNative(f"`{entry.name}` of a tensor that is made on the way")
        found.add(registers.index(read.pop()))
    return sorted(found)
