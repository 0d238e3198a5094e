"""What the written recorders of calls, and what walks back through their nodes, call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...eager.calls import several_of
from ...memory.dtype import Array
from ...memory.inference import MADE, is_for_inference
from ...memory.versions import version_of
from ...table.grad_mode import RUNNING
from ...table.table import Operator
from ...tensors.tape_port import MISSED
from ...tensors.tensor import PLAIN_TENSORS, Tensor
from ..nodes.autograd import Edge, Saved, edge_of
from ..nodes.bound import RowNode
from ..table.rules import Meta

__all__ = [
    "are_new",
    "are_whole",
    "edges_of",
    "forms_of",
    "give_node",
    "handles_of",
    "idle_view",
    "is_among",
    "is_behind",
    "kept",
    "seen",
]

_LISTS: Final = (list, tuple)


def is_behind(view: Tensor, array: Array) -> bool:
    """Whether memory was written since a view got its history."""
    if MADE[0] and is_for_inference(array):
        return True  # of which there are no versions
    return bool(RUNNING.version_of(array) != view._view_version)


def edges_of(given: Sequence[Any], arrays: Sequence[Array]) -> tuple[Edge | None, ...] | None:
    """Where the elements of a list came from; None if they are not plain tensors of floats."""
    edges: list[Edge | None] = []
    for each, array in zip(given, arrays, strict=True):
        if type(each) not in PLAIN_TENSORS or array.dtype.kind in "biu":
            return None
        if not (wanted := each._requires_grad):
            edges.append(None)
        elif (
            wanted is not True
            or (each._view_of is not None and is_behind(each, array))
            or (node := each._grad_node) is None
        ):
            edges.append(edge_of(each))
        else:
            edges.append((node, each._output_number))
    return tuple(edges)


def are_whole(given: Sequence[object], arrays: Sequence[Array]) -> bool:
    """Whether they are plain tensors of whole numbers, or nothing."""
    for each, array in zip(given, arrays, strict=True):
        if each is not None and (type(each) not in PLAIN_TENSORS or array.dtype.kind not in "biu"):
            return False
    return True


def is_among(result: object, arrays: Sequence[object]) -> bool:
    """Whether it is one of some arrays."""
    return id(result) in map(id, arrays)


def forms_of(arrays: Sequence[Array]) -> list[object]:
    """The shapes and dtypes of arrays in turn."""
    found: list[object] = []
    for each in arrays:
        found += (each.shape, each.dtype)
    return found


def are_new(results: Any, values: Sequence[object]) -> bool:
    """Whether results are arrays, of floats the first, and none is an argument."""
    if type(results) not in _LISTS or not results:
        return False
    for each in results:
        if type(each) is not np.ndarray:
            return False
    if results[0].dtype.kind in "biu":
        return False
    return {*map(id, values)}.isdisjoint(map(id, results))


def handles_of(entry: Operator, results: list[Array] | tuple[Array, ...]) -> Sequence[Tensor]:
    """Tensors of several new arrays, in what the operator gives them in."""
    several = several_of(entry) if type(results) is tuple else None
    return tuple.__new__(several or tuple, map(Tensor._of, results))


def give_node(node: RowNode, results: Sequence[Tensor], base: Tensor) -> None:
    """Give several results their node; views are of `base`."""
    bound = node._bound
    apart = bound.row.apart if bound.row is not None else ()
    number = -1
    for result in results:
        array = result._array
        if array.dtype.kind in "biu":
            continue
        number += 1
        if number in apart:
            continue
        result._requires_grad = True
        result._grad_node, result._output_number = node, number
        if bound.is_view:
            result._view_of, result._view_version = base, version_of(array)
            if bound.forbids_writes:
                result._view_among = node.name().removesuffix("Backward0")
    node.set_results(results)


def idle_view(base: Tensor, view: Tensor) -> object:
    """Tell a view that needs no node what it is of; MISSED where more is to be asked."""
    return MISSED if base._view_of is not None else view._seen_as(base, True)


def kept(value: Saved | Meta, node: RowNode) -> Tensor | None:
    """A tensor that was kept; None for others."""
    return value.tensor(node) if type(value) is Saved else None


def seen(value: Saved | Meta, node: RowNode) -> Tensor | None:
    """The same where nobody asks for its history."""
    if type(value) is not Saved:
        return None
    array, handle = value.array, value.handle
    if array is None or value.packed is not None or version_of(array) != value.version:
        return value.tensor(node)  # which says what is wrong
    return handle if handle is not None and handle._array is array else Tensor._of(array)
