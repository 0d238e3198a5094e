"""What a write in place leaves in the history of a tensor, and of what it is a view of."""

from __future__ import annotations

from weakref import ref

from ...memory.dtype import Array
from ...memory.inference import MADE, is_for_inference
from ...table.grad_mode import RUNNING
from ...tensors.differentiable import BEHIND
from ...tensors.dispatched import Dispatched
from ...tensors.tensor import Tensor
from ..nodes.autograd import Edge, Node, edge_of, single
from ..nodes.view_nodes import AsStridedBackward0, CopySlices, Places
from ..nodes.view_rules import refuse_changed

__all__ = [
    "as_it_was",
    "copied_before",
    "rebase",
    "refresh",
    "retain_grad",
    "root_of",
    "single_edge",
]


def root_of(view: Tensor) -> Tensor | None:
    """The tensor that a view is of; None if it is none."""
    return view._base if view._view_of is not None else None


def rebase(target: Tensor, node: Node, own: int | None) -> None:
    """Make a node the history of a tensor written in place, and of what it is a view of; `own` is
    the node's edge of what was written over."""
    root = root_of(target)
    written = (target,) if root is None else (root, target)
    kept = [(each, each._grad_node, each._output_number) for each in written if each._retains_grad]
    if root is None:
        target._mark(BEHIND)
        target._requires_grad = True
        target._grad_node, target._output_number = node, 0
    else:
        copy = CopySlices(root, target, node, own)
        for each in written:
            each._mark(BEHIND)
        root._requires_grad = True
        root._grad_node, root._output_number = copy, 0
        target._view_version = BEHIND  # its own history is made when somebody asks for it
    for tensor, before, number in kept:
        _retain_here(tensor, before, number)


def as_it_was(target: Tensor, array: Array) -> Tensor:
    """A tensor of what another one is before that is written over or becomes a view, with its
    history."""
    made = Tensor._of(array)
    edge = edge_of(target)
    if edge is not None:
        made._requires_grad = True
        made._grad_node, made._output_number = edge
    return made


def copied_before(target: Tensor) -> Tensor:
    """A copy of a tensor, for what its gradients read of it, before it is written over."""
    return as_it_was(target, target._array.copy("K"))


def _retain_here(tensor: Tensor, before: Node | None, number: int) -> None:
    """Keep the gradient of what stands in a tensor now, and not of what stood there before."""
    if before is not None:
        before.extras().retained.pop(number, None)
    retain_grad(tensor)


def refresh(view: Tensor) -> None:
    """Bring the history of a view up to date after its memory was written through others."""
    if MADE[0] and is_for_inference(view._array):
        return  # which nobody counts the writes of
    marks = view._requires_grad
    if not marks:
        return
    version = RUNNING.version_of(view._array)
    known = marks[0] if type(marks) is list else view._view_version
    if version == known or view._array.dtype.kind in "biu":
        return
    root = root_of(view)
    if root is None or not root._requires_grad:
        return
    if root._requires_grad is not True and edge_of(root) is None:
        return
    if isinstance(view, Dispatched):
        raise NotImplementedError(
            "a view of a tensor whose class has a __torch_dispatch__ is used after that was written"
            " in place: gradients do not follow such writes"
        )
    if view._unwatched or view._view_of_function or view._view_among is not None:
        refuse_changed(view)
    view._view_version = version
    edge = edge_of(root)
    if edge is not None:
        before, number = view._grad_node, view._output_number
        view._grad_node = AsStridedBackward0(Places.of(root._array, view._array), edge)
        view._output_number = 0
        view._requires_grad = True
        if view._retains_grad:
            _retain_here(view, before, number)


def single_edge(tensor: Tensor) -> Edge | None:
    """Where a tensor came from, as a node of a single operator."""
    edge = edge_of(tensor)
    if edge is not None and edge[0].is_call:
        edge = single(edge)
        tensor._grad_node, tensor._output_number = edge
    return edge


def retain_grad(tensor: Tensor) -> None:
    """Have the gradient of a tensor that is no leaf kept in its `grad`.

    Raises:
        RuntimeError: the tensor needs no gradient.
    """
    edge = single_edge(tensor)
    if edge is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if tensor._grad_node is not None:
        edge[0].extras().retained[edge[1]] = ref(tensor)
        tensor.__dict__["_retains_grad"] = True
