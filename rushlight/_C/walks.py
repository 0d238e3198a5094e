"""What `torch._C` tells of the walk back that runs in this thread."""

from __future__ import annotations

from weakref import ref

from ..ops.gradients.nodes.autograd import WALKING, Node
from ..ops.tensors.tensor import Tensor

__all__ = [
    *("_current_autograd_node", "_current_graph_task_id", "_will_engine_execute_node"),
    "_WeakTensorRef",
]


def _current_graph_task_id() -> int:
    """The number of the walk, which counts up; -1 outside of walks."""
    return -1 if WALKING.walk is None else WALKING.walk.number


def _current_autograd_node() -> Node | None:
    """The node that the walk has come to."""
    return None if WALKING.walk is None else WALKING.walk.node


def _will_engine_execute_node(node: object) -> bool:
    """Whether the walk comes to a node, or has.

    Raises:
        RuntimeError: it is no node, or there is no walk.
    """
    if not isinstance(node, Node):
        raise RuntimeError(
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}"
        )
    walk = WALKING.walk
    if walk is None:
        raise RuntimeError(
            "_get_should_execute_nodes should only be called during the backward pass"
        )
    return walk.reaches(node)


class _WeakTensorRef:
    """Knows of a tensor whether it is still there."""

    def __init__(self, tensor: Tensor) -> None:
        self._ref = ref(tensor)

    def expired(self) -> bool:
        """Whether it is gone."""
        return self._ref() is None
