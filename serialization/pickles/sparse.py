"""Sparse tensors of archives: their places and values, as nodes and back.

Loaded where a value is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...ops.memory.dtype import Array
from ...ops.sparse_tensors.parts import Coo, flat_places
from ...ops.sparse_tensors.tensors import compressed, coo, parts_of
from ...ops.tensors.tensor import Tensor
from ..files.errors import archive_error
from .nodes import SparseNode, TensorNode

__all__ = ["sparse_node", "sparse_tensor"]


def sparse_node(value: Tensor, dense: Callable[[Array], TensorNode]) -> SparseNode:
    """The node of a sparse tensor; `dense` makes those of its parts.

    Raises:
        ArchiveError: it lies by columns, which archives cannot say.
    """
    own = parts_of(value)
    if isinstance(own, Coo):
        places = [own.indices]
    elif own.layout.name == "sparse_csr":
        places = [own.starts, own.inner]
    else:
        message = f"a tensor of the layout {own.layout} cannot be saved in an archive"
        raise archive_error("unsupported-value", message)
    nodes = tuple(dense(each._array) for each in (*places, own.values.detach()))
    return SparseNode(own.layout.name, tuple(own.sizes), nodes, bool(value.requires_grad))


def sparse_tensor(node: SparseNode, parts: Sequence[object]) -> Tensor:
    """The tensor of a node, given its parts.

    Raises:
        RuntimeError, TypeError, ValueError: places and values do not belong together.
    """
    tensors = [Tensor._of(part) for part in parts if isinstance(part, np.ndarray)]
    if len(tensors) < len(parts) or any(each.is_quantized for each in tensors):
        raise TypeError("its parts are on the meta device, or quantized")
    if node.layout == "sparse_coo":
        made = coo(tensors[0], tensors[1], node.size)
        flat_places(parts_of(made).to_coo())
    else:
        made = compressed(tensors[0], tensors[1], tensors[2], node.size, by_columns=False)
    if node.requires_grad:
        made.requires_grad_()
    return made
