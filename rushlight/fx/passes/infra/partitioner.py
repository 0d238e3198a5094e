"""`torch.fx.passes.infra.partitioner`: which nodes a back end computes together."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ....module_names import names_of
from ..._names import qualified_name
from ...graph_module import GraphModule
from ...node import Node
from ..operator_support import OperatorSupportBase
from ..utils.fuser_utils import fuse_by_partitions, leads_back

__all__ = ["CapabilityBasedPartitioner", "Partition"]

_WITHOUT_WORK: Final = frozenset({"torch.ops.aten.view", "_operator.getitem"})


class Partition:
    """Nodes that are to be one, with their places if known."""

    def __init__(
        self,
        id: int | None = None,
        nodes: Iterable[Node] | None = None,
        node_orders: Iterable[int] | None = None,
    ) -> None:
        self.id = id
        given = list(nodes or ())
        places = [None] * len(given) if node_orders is None else list(node_orders)
        self.nodes: dict[Node, int | None] = dict(zip(given, places, strict=True))

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Take one more in."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Leave one out."""
        del self.nodes[node]

    def size(self) -> int:
        """How many there are."""
        return len(self.nodes)


class CapabilityBasedPartitioner:
    """Puts the nodes that a back end supports together where nothing else comes between.

    Args:
        allows_single_node_partition: whether a partition may have just one node that computes.
        non_compute_ops: names of functions, `torch.ops.aten.permute`, that compute nothing.
        allowed_single_node_partition_ops: names of those that may be alone.
        skip_horizontal_fusion: whether nodes stay apart of which none uses another.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False,
        non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        skip_horizontal_fusion: bool = False,
    ) -> None:
        self.graph_module = graph_module
        self.operator_support = operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = non_compute_ops or []
        self.allowed_single_node_partition_ops = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def _is_node_supported(self, node: Node) -> bool:
        below = dict(self.graph_module.named_modules())
        return self.operator_support.is_node_supported(below, node)

    # -- proposing -----------------------------------------------------------------------------

    def propose_partitions(self) -> list[Partition]:
        """The sets of nodes that could each be one module, those at the graph's end first."""
        below = dict(self.graph_module.named_modules())
        places = {node: place for place, node in enumerate(self.graph_module.graph.nodes)}
        groups = _Groups(self.skip_horizontal_fusion)
        for node in reversed(places):
            if node.op in ("placeholder", "output") or _takes_a_part(node):
                continue
            if self.operator_support.is_node_supported(below, node):
                groups.take([node, *_parts_of(node)])
        found = [nodes for nodes in groups.members.values() if self._is_worth_it(nodes)]
        return [
            Partition(number, nodes, [places[node] for node in nodes])
            for number, nodes in enumerate(found)
        ]

    def _is_worth_it(self, nodes: Sequence[Node]) -> bool:
        if self.allows_single_node_partition:
            return True
        idle = {*_WITHOUT_WORK, *self.non_compute_ops}
        computing = [name for name in map(_function_name, nodes) if name and name not in idle]
        alone = {*computing} & {*self.allowed_single_node_partition_ops}
        return len(computing) > 1 or bool(alone)

    # -- changing ------------------------------------------------------------------------------

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Leave the nodes out that compute nothing before, or behind, all that do."""
        for partition in partitions:
            for step in (_users, _inputs):
                for node in self._at_the_edge(partition, step):
                    partition.remove_node(node)

    def _at_the_edge(
        self, partition: Partition, step: Callable[[Node], Iterable[Node]]
    ) -> list[Node]:
        """The nodes that compute nothing, and from which no step leads to one that does."""
        idle = {n for n in partition.nodes if self._is_idle(n)}
        inner = [n for n in partition.nodes if n not in idle]
        back = _inputs if step is _users else _users
        while inner:
            for before in back(inner.pop()):
                if before in idle:
                    idle.remove(before)
                    inner.append(before)
        return list(idle)

    def _is_idle(self, node: Node) -> bool:
        return _function_name(node) in self.non_compute_ops

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """The module, with one below it for each partition."""
        return fuse_by_partitions(self.graph_module, [each.nodes for each in partitions], prefix)

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """Both at once."""
        return self.fuse_partitions(self.propose_partitions(), prefix)


def _function_name(node: Node) -> str:
    """The name of the function that a node calls; empty where it does something else."""
    return qualified_name(node.target) if callable(node.target) else ""


def _users(node: Node) -> Iterable[Node]:
    return node.users


def _inputs(node: Node) -> Iterable[Node]:
    return node.all_input_nodes


def _takes_a_part(node: Node) -> bool:
    """Whether a node takes one of several results, so that it goes where these are made."""
    return node.target is operator.getitem and len(node.all_input_nodes) == 1


def _parts_of(node: Node) -> list[Node]:
    """The nodes that take parts of a node's results, and parts of parts."""
    parts = [user for user in node.users if _takes_a_part(user)]
    return parts + [below for part in parts for below in _parts_of(part)]


class _Groups:
    """Sets of nodes that grow together; each is one as far as the others are concerned."""

    def __init__(self, related_only: bool) -> None:
        self.members: dict[int, list[Node]] = {}
        self._of: dict[Node, int] = {}
        self._related_only = related_only

    def take(self, nodes: list[Node]) -> None:
        """Nodes that are one already, and in no group: joined to every group that they may be."""
        joined = []
        for number, group in self.members.items():
            if self._related_only and not _touch(nodes, group):
                continue
            if not leads_back((*group, *nodes), self._fused):
                joined.append(number)
                nodes = [*group, *nodes]
        first = joined[0] if joined else len(self._of)
        for number in joined[1:]:
            del self.members[number]
        self.members[first] = nodes
        self._of.update(dict.fromkeys(nodes, first))

    def _fused(self, node: Node) -> list[Node]:
        return self.members[self._of[node]] if node in self._of else [node]


def _touch(one: list[Node], other: list[Node]) -> bool:
    """Whether a node of the second uses one of the first."""
    return any(user in other for node in one for user in node.users)


__getattr__ = names_of(__name__)
