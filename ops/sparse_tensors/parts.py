"""Where the elements of a sparse tensor lie: by coordinates, or by rows or columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ..eager import methods  # noqa: F401  (adds the methods that are called here)
from ..eager.dispatch import eager_function
from ..memory.dtype import LAYOUTS, Array, Layout
from ..selection.places import combined_natively
from ..selection.ranking import argsort_stable
from ..table.grad_mode import is_recording
from ..tensors.tensor import Tensor
from ..tensors.tracing import ACTIVE

__all__ = ["Compressed", "Coo", "Parts", "are_at_same_places", "are_unheard", "flat_places"]

_add_at = eager_function("aten::index_add")
_select = eager_function("aten::index_select")
_COO: Final = LAYOUTS["sparse_coo"]


def are_unheard(*values: Tensor) -> bool:
    """Whether they are plain tensors, and nobody asks for gradients or traces."""
    recorded = is_recording()
    return not ACTIVE and all(
        type(each) is Tensor and not (recorded and each.requires_grad) for each in values
    )


class Coo(NamedTuple):
    """Elements by their coordinates.

    `indices` (sparse dimensions, n) are int64, `values` (n, *dense dimensions); a place that is
    named twice holds the sum.  Coalesced ones are sorted, each place is named once.
    """

    indices: Tensor
    values: Tensor
    sizes: tuple[int, ...]
    coalesced: bool = False

    @property
    def layout(self) -> Layout:
        """`torch.sparse_coo`."""
        return _COO

    @property
    def depth(self) -> int:
        """The number of sparse dimensions."""
        return self.indices.shape[0]

    def to_coo(self) -> Coo:
        """Itself."""
        return self

    def once(self) -> Coo:
        """Coalesced."""
        if self.coalesced:
            return self
        keys, back = _told_apart(flat_places(self))
        indices, values = _unravelled(keys, self.sizes[: self.depth]), self.values
        array = values._array
        if not (are_unheard(values) and array.dtype.char in "fd"):
            empty = values.new_zeros([len(keys), *values.shape[1:]])
            return Coo(indices, _add_at(empty, 0, Tensor._of(back), values), self.sizes, True)
        sums = np.zeros((len(keys), *array.shape[1:]), array.dtype)
        if not combined_natively(sums, 0, back, np.ascontiguousarray(array), "sum"):
            np.add.at(sums, back, array)
        return Coo(indices, Tensor._of(sums), self.sizes, True)

    def pieces(self) -> dict[str, Tensor]:
        """What is printed, by name."""
        return {"indices": self.indices, "values": self.values.detach()}

    def with_values(self, values: Tensor) -> Coo:
        """Other values at the same places."""
        return self._replace(values=values)

    def with_gradient(self, values: Tensor) -> Coo:
        """The gradient of the tensor, of what was found for each element.

        Elements at one place are summed, so each of them has found the gradient of that place.
        """
        if self.coalesced:
            return self.with_values(values)
        _, first = np.unique(flat_places(self), return_index=True)
        chosen = Tensor._of(first)
        return Coo(_select(self.indices, 1, chosen), _select(values, 0, chosen), self.sizes, True)


class Compressed(NamedTuple):
    """The rows of a matrix (CSR), or its columns (CSC), one after the other.

    Row i holds `values[starts[i]:starts[i + 1]]` in the columns `inner` of the same positions.
    """

    starts: Tensor
    inner: Tensor
    values: Tensor
    sizes: tuple[int, ...]
    by_columns: bool = False

    @property
    def layout(self) -> Layout:
        """`torch.sparse_csr` or `torch.sparse_csc`."""
        return LAYOUTS["sparse_csc" if self.by_columns else "sparse_csr"]

    @property
    def depth(self) -> int:
        """The number of sparse dimensions."""
        return 2

    def to_coo(self) -> Coo:
        """The same elements by coordinates."""
        counts = np.diff(self.starts.numpy())
        outer = Tensor._of(np.repeat(np.arange(len(counts)), counts))
        inner = self.inner.long()
        pair = (inner, outer) if self.by_columns else (outer, inner)
        indices = eager_function("aten::stack")(list(pair))
        return Coo(indices, self.values, self.sizes, not self.by_columns)

    def once(self) -> Compressed:
        """Itself."""
        return self

    def pieces(self) -> dict[str, Tensor]:
        """What is printed, by name."""
        names = ("ccol", "row") if self.by_columns else ("crow", "col")
        starts, inner = (f"{name}_indices" for name in names)
        return {starts: self.starts, inner: self.inner, "values": self.values.detach()}

    def with_values(self, values: Tensor) -> Compressed:
        """Other values at the same places."""
        return self._replace(values=values)

    def with_gradient(self, values: Tensor) -> Compressed:
        """The gradient of the tensor, of what was found for each element."""
        return self.with_values(values)


Parts = Coo | Compressed


def are_at_same_places(one: Parts, other: Parts) -> bool:
    """Whether two tensors of the same sizes keep the same places, each once, in the same order."""
    if isinstance(one, Coo) and isinstance(other, Coo):
        is_once = one.coalesced and other.coalesced
        return is_once and _same(one.indices, other.indices)
    if not isinstance(one, Compressed) or not isinstance(other, Compressed):
        return False
    is_alike = one.by_columns == other.by_columns
    return is_alike and _same(one.starts, other.starts) and _same(one.inner, other.inner)


def _same(one: Tensor, other: Tensor) -> bool:
    return one is other or bool(np.array_equal(one._array, other._array))


def flat_places(given: Coo) -> Array:
    """Each element's place as one number, rows first.

    Raises:
        RuntimeError: an index lies outside its dimension.
    """
    indices = given.indices.numpy()
    for dim, (row, size) in enumerate(zip(indices, given.sizes, strict=False)):
        least, most = (row.min(), row.max()) if row.size else (0, -1)
        if least < 0:
            raise RuntimeError(f"found negative index {least} for dim {dim}")
        if most >= size:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {size} but found index "
                f"{most}"
            )
    places = np.zeros(indices.shape[1], np.int64)
    for row, size in zip(indices, given.sizes, strict=False):
        places = places * size + row
    return places


def _told_apart(places: Array) -> tuple[Array, Array]:
    """The places that there are, each once and in order, and of each element which one it has."""
    order = argsort_stable(places, True, 0, False)
    ordered, is_first = places[order], np.ones(len(order), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], is_first[1:])
    back = np.empty(len(order), np.int64)
    back[order] = np.cumsum(is_first) - 1
    return ordered[is_first], back


def _unravelled(places: Array, sizes: Sequence[int]) -> Tensor:
    rows = list[Array]()
    for size in reversed(sizes):
        rows.append(places % size if size else places)
        places = places // size if size else places
    return Tensor._of(np.array(rows[::-1], np.int64).reshape(len(sizes), len(places)))
