"""What is asked of a code before and after it runs, found once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...ir.graphs.graph import Graph, Node
from ...ir.graphs.kinds import entry_of
from ...ops.memory.dtype import Device
from ...ops.table.table import TABLE
from ...typecheck.types.types import TENSOR, Type
from ..code.code import Code
from ..code.instructions import row
from ..code.shared_views import SharedView
from ..native.reads import touches_tensors

__all__ = ["Traits", "traits_of"]


class Traits(NamedTuple):
    """What is known of a code.

    One that `shares_views` has conjugates that may have to share memory, for which values are
    tensors themselves; one that `asks_elsewhere` may make tensors of another device.
    One that `touches_tensors` reads or sets some that objects hold.
    `sets` are the names of attributes that it sets itself; `calls` the methods that it calls, each
    with the type of its object, or None if it calls or makes anything else.
    """

    makes_leaves: bool
    gives_slots: bool
    asks_elsewhere: bool
    shares_views: bool
    changes: bool
    sets: tuple[str, ...]
    calls_others: bool
    makes_objects: bool
    touches_tensors: bool
    loops: bool
    length: int
    operand_count: int
    calls: tuple[tuple[Type, str], ...] | None = None

    @property
    def is_left(self) -> bool:
        """Whether its values may be tensors themselves."""
        return self.asks_elsewhere or self.makes_leaves or self.shares_views

    @property
    def sets_slots(self) -> bool:
        """Whether attributes may hold something else afterwards."""
        return bool(self.sets) or self.calls_others


def traits_of(graph: Graph, code: Code) -> Traits:
    """The traits of the code of a graph."""
    kinds = {row(instruction).name for instruction in code.instructions}
    nodes = [node for each in graph.with_tasks for node in each.all_nodes]
    names = {node.kind for node in nodes}
    # what is left to Python may use parameters that no argument reaches
    makes_leaves = "function" in kinds or (
        not names.isdisjoint(TABLE.names_with("of_leaves")) and any(map(_makes_leaves, nodes))
    )
    changes = not kinds.isdisjoint(_CHANGING) or any(entry.changes for entry in code.operators)
    return Traits(
        makes_leaves=makes_leaves,
        gives_slots="prim::GetAttr" in names and any(map(_gives_slot, graph.all_nodes)),
        asks_elsewhere=_makes_on_meta(nodes),
        shares_views=any(isinstance(each, SharedView) for each in code.operators),
        changes=changes,
        sets=tuple(sorted({str(n.attributes["name"]) for n in nodes if n.kind == "prim::SetAttr"})),
        calls_others=not kinds.isdisjoint(_CALLING),
        makes_objects=not kinds.isdisjoint(_MAKING),
        touches_tensors=touches_tensors(code),
        loops=code.has_loop,
        length=len(code.instructions),
        operand_count=code.operand_count,
        calls=_methods_called(nodes, code),
    )


def _methods_called(nodes: Sequence[Node], code: Code) -> tuple[tuple[Type, str], ...] | None:
    """The methods that a code calls; None if it calls or makes anything else."""
    names = [row(instruction).name for instruction in code.instructions]
    calls = [node for node in nodes if node.kind == "prim::CallMethod"]
    if names.count("method") > len(calls) or not _UNKNOWN.isdisjoint(names):
        return None
    found = ((node.inputs[0].type, str(node.attributes["name"])) for node in calls)
    return tuple(dict.fromkeys(found))


def _makes_on_meta(nodes: Sequence[Node]) -> bool:
    """Whether there is a constant that the device without memory may be made of: `torch.norm` only
    compares its name with that of another."""
    named = [node for node in nodes if node.is_constant and _is_meta(node.value)]
    if any(isinstance(node.value, Device) for node in named):
        return True
    texts = [node.inputs[0].node for node in nodes if node.kind == "aten::device"]
    return bool(named) and any(not node.is_constant or node in named for node in texts)


def _is_meta(constant: object) -> bool:
    """Whether a constant names the device without memory."""
    return isinstance(constant, (str, Device)) and str(constant).partition(":")[0] == "meta"


_CALLING = ("method", "function")
_MAKING = frozenset(("create", *_CALLING))
"""Instructions that may make objects."""
_UNKNOWN = frozenset(("create", "function"))
"""Instructions that bring in objects, or calls, of which nothing is known."""
_CHANGING = frozenset(("set_slot", "set_tensor", "append", *_CALLING))
"""Instructions that may change what outlives the run."""


def _gives_slot(node: Node) -> bool:
    """Whether an attribute goes anywhere but into an operator: it may come out as it is."""
    if node.kind != "prim::GetAttr" or not _holds_tensors(node.output.type):
        return False
    users = [use.user for use in node.output.uses]
    if node.output.type == TENSOR:
        return not all(user.kind.startswith("aten::") for user in users)
    return not all(map(_makes_anew, users))


def _holds_tensors(type: Type) -> bool:
    return type == TENSOR or any(map(_holds_tensors, type.contained))


def _makes_anew(node: Node) -> bool:
    """Whether it is an operator that gives nothing of what it takes."""
    returns = () if node.signature is None else node.signature.returns
    return bool(returns) and all(each.alias is None for each in returns)


def _makes_leaves(node: Node) -> bool:
    """Whether an operator can make tensors that require gradients, or must know of views."""
    entry = entry_of(node)
    if entry is None or not entry.of_leaves or entry.is_in_place:
        return entry is not None and entry.of_leaves
    requires_grad = node.inputs[-1].node
    return not (requires_grad.is_constant and requires_grad.value is False)
