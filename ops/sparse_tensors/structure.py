"""What sparse tensors are and how they change their form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import numpy as np

from ..eager.aten import aten
from ..eager.dispatch import eager_function
from ..memory.dims import wrap_dim
from ..memory.dtype import LAYOUTS, Array, DType, Layout, Scalar
from ..memory.inference import is_for_inference
from ..selection.ranking import argsort_stable
from ..tensors.sizes import Size
from ..tensors.tensor import Tensor
from .forms import form
from .parts import Compressed, Coo, Parts, flat_places
from .tensors import is_sparse, of_parts, parts_of, without

__all__ = ["compress", "laid_as", "mask", "to_coo", "to_csc", "to_csr", "to_dense"]

_put: Final = aten.index_put
_select: Final = aten.index_select
_to: Final = aten.to


@form("aten::to_sparse_coo")
def to_coo(tensor: Tensor, sparse_dim: int | None = None) -> Tensor:
    """The tensor by coordinates; of a dense one the elements (or slices) that are not zero."""
    if is_sparse(tensor):
        return of_parts(parts_of(tensor).to_coo())
    depth = tensor.ndim if sparse_dim is None else sparse_dim
    if not 0 <= depth <= tensor.ndim:
        raise RuntimeError(
            f"sparse_dim argument should be in [0,{tensor.ndim}] range, but {depth} was given"
        )
    dense, shape = tensor.detach()._array, tuple(tensor.shape)
    is_there = dense != 0
    if depth < dense.ndim:
        is_there = is_there.any(axis=tuple(range(depth, dense.ndim)))
    if not depth:  # the tensor itself is the only element, or there is none
        count = int(dense.any())
        values = tensor.unsqueeze(0)[:count]
        return of_parts(Coo(Tensor._of(np.empty((0, count), np.int64)), values, shape, True))
    places = [Tensor._of(row.astype(np.int64)) for row in is_there.nonzero()]
    indices = Tensor._of(np.array([p._array for p in places], np.int64).reshape(depth, -1))
    values = tensor[tuple(places)]
    return of_parts(Coo(indices, values, shape, True))


def compress(given: Coo, by_columns: bool = False) -> Tensor:
    """A matrix by rows, or by columns; its elements may have dense dimensions.

    Raises:
        RuntimeError: it is no matrix.
    """
    if given.depth != 2:
        raise RuntimeError(
            f"only matrices are compressed, not a tensor of sizes {list(given.sizes)}"
        )
    given = given.once()
    outer, inner = given.indices.numpy()[::-1] if by_columns else given.indices.numpy()
    counts = np.bincount(outer, minlength=given.sizes[1 if by_columns else 0])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    values = given.values  # which lie by rows
    if by_columns:
        order = argsort_stable(np.ascontiguousarray(outer), True, 0, False)
        inner, values = inner[order], _select(values, 0, Tensor._of(order))
    made = Compressed(Tensor._of(starts), Tensor._of(inner.copy()), values, given.sizes, by_columns)
    return of_parts(made)


def laid_as(like: Parts, made: Coo) -> Tensor:
    """A tensor in the layout of others."""
    return compress(made, like.by_columns) if isinstance(like, Compressed) else of_parts(made)


@form("aten::to_sparse_csr")
def to_csr(tensor: Tensor, dense_dim: int | None = None) -> Tensor:
    """The matrix by its rows; the last `dense_dim` dimensions are those of its elements."""
    return compress(parts_of(to_coo(tensor, tensor.ndim - (dense_dim or 0))).to_coo())


@form("aten::to_sparse_csc")
def to_csc(tensor: Tensor, dense_dim: int | None = None) -> Tensor:
    """The matrix by its columns."""
    return compress(parts_of(to_coo(tensor, tensor.ndim - (dense_dim or 0))).to_coo(), True)


@form("aten::to_sparse_bsr")
def to_bsr(tensor: Tensor, blocksize: object, dense_dim: int | None = None) -> NoReturn:
    """The matrix by rows of blocks, which is not kept so here.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(_NO_BLOCKS.format("to_sparse_bsr", "sparse_bsr"))


@form("aten::to_sparse_bsc")
def to_bsc(tensor: Tensor, blocksize: object, dense_dim: int | None = None) -> NoReturn:
    """The matrix by columns of blocks, which is not kept so here.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(_NO_BLOCKS.format("to_sparse_bsc", "sparse_bsc"))


_NO_BLOCKS: Final = "{}: the layout torch.{} is not supported here"


@form("aten::to_sparse")
def to_sparse(
    tensor: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Layout | None = None,
    blocksize: object = None,
    dense_dim: int | None = None,
) -> Tensor:
    """The tensor in a layout, by coordinates if none is named.

    Raises:
        NotImplementedError: blocks are asked for.
    """
    name = "sparse_coo" if layout is None else layout.name
    if tensor.layout.name == name and sparse_dim is None:
        return tensor
    if name == "strided":
        return to_dense(tensor)
    if name == "sparse_coo":
        return to_coo(tensor, sparse_dim)
    if name in ("sparse_csr", "sparse_csc"):
        return (to_csr if name == "sparse_csr" else to_csc)(tensor, dense_dim)
    raise NotImplementedError(f"to_sparse: the layout {layout} is not supported here")


@form("aten::to_dense")
def to_dense(
    tensor: Tensor, dtype: DType | None = None, *, masked_grad: bool | None = None
) -> Tensor:
    """All elements, zero where none is kept."""
    if not is_sparse(tensor):
        return tensor if dtype is None else tensor.to(dtype)
    own = parts_of(tensor).to_coo()
    values = own.values if dtype is None else own.values.to(dtype)
    empty = values.detach().new_zeros(list(own.sizes))
    if not own.depth:
        return empty + values.sum(0).to(values.dtype)
    return _put(empty, tuple(own.indices.unbind(0)), values, True)


# --------------------------------------------------------------------------- what they are


@form("aten::dim")
def dim(tensor: Tensor) -> int:
    """The number of dimensions."""
    return len(parts_of(tensor).sizes)


@form("aten::numel")
def numel(tensor: Tensor) -> int:
    """How many elements there are, kept or not."""
    return int(np.prod(parts_of(tensor).sizes, dtype=np.int64))


@form("aten::size")
def size(tensor: Tensor, dim: int | None = None) -> Size | int:
    """The sizes, or one of them."""
    found: Size | int = tensor.size(dim)
    return found


@form("aten::is_floating_point")
def is_floating_point(tensor: Tensor) -> bool:
    """Whether the values are floats."""
    return bool(parts_of(tensor).values.is_floating_point())


@form("aten::is_complex")
def is_complex(tensor: Tensor) -> bool:
    """Whether the values are complex numbers."""
    return bool(parts_of(tensor).values.is_complex())


@form("aten::is_inference")
def is_inference(tensor: Tensor) -> bool:
    """Whether the values were made in `inference_mode`."""
    return is_for_inference(parts_of(tensor).values._array)


@form("aten::element_size")
def element_size(tensor: Tensor) -> int:
    """The bytes of a value."""
    return int(parts_of(tensor).values.element_size())


@form("aten::is_contiguous")
def is_contiguous(tensor: Tensor, memory_format: object = None) -> bool:
    """Never: elements do not lie in one memory.

    Raises:
        RuntimeError: of one by rows or columns, as in torch.
    """
    without(tensor, "is_contiguous")
    return False


@form("aten::is_same_size")
def is_same_size(tensor: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return tuple(tensor.shape) == tuple(other.shape)


@form("aten::_has_compatible_shallow_copy_type")
def can_be_given_data_of(tensor: Tensor, source: Tensor) -> bool:
    """Whether `tensor.data = source` keeps the layout."""
    return tensor.layout == source.layout


def _asked(name: str) -> Callable[..., object]:
    """What the tensor's own method says."""
    return lambda tensor: getattr(tensor, name)()


for _name in (
    *("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices"),
    *("_indices", "_values", "_nnz", "_dimI", "_dimV", "coalesce", "is_coalesced"),
    *("sparse_dim", "dense_dim"),
):
    form(f"aten::{_name}")(_asked(_name))


@form("aten::_coalesced_")
def say_coalesced(tensor: Tensor, coalesced: bool) -> Tensor:
    """Say that places are sorted and named once, or that they may not be; nobody checks it.

    Raises:
        NotImplementedError: the tensor is not by coordinates.
    """
    own = parts_of(tensor)
    if not isinstance(own, Coo):
        raise NotImplementedError(
            "Could not run 'aten::_coalesced_' with arguments from the 'SparseCsrCPU' backend."
        )
    tensor.__dict__["parts"] = own._replace(coalesced=coalesced)
    return tensor


# --------------------------------------------------------------------------- copies


@form("aten::clone")
def clone(tensor: Tensor, *, memory_format: object = None) -> Tensor:
    """The same places with a copy of the values, and the history of `clone`."""
    own = parts_of(tensor)
    return of_parts(own.with_values(own.values.clone()))


@form("aten::detach")
def detach(tensor: Tensor) -> Tensor:
    """The same places and values, without history."""
    own = parts_of(tensor)
    return of_parts(own.with_values(own.values.detach()))


@form("aten::cpu")
def cpu(tensor: Tensor, memory_format: object = None) -> Tensor:
    """The tensor itself."""
    return tensor


@form("aten::to")
def to(tensor: Tensor, *args: object, **options: object) -> Tensor:
    """The tensor with its values in another dtype; itself if nothing changes."""
    own = parts_of(tensor)
    values = _to(own.values, *args, **options)
    return tensor if values is own.values else of_parts(own.with_values(values))


@form("aten::is_pinned")
def is_pinned(tensor: Tensor, device: object = None) -> bool:
    """Whether a card could read the memory directly: no."""
    return False


@form("aten::storage_offset")
def storage_offset(tensor: Tensor) -> int:
    """Zero: elements lie nowhere."""
    return 0


@form("aten::contiguous")
def contiguous(tensor: Tensor, memory_format: object = None) -> Tensor:
    """The tensor itself."""
    return tensor


@form("aten::zeros_like", "aten::empty_like")
def zeros_like(tensor: Tensor, **options: DType | None) -> Tensor:
    """A tensor of the same sizes that keeps no elements."""
    layout: Any = options.get("layout")
    if not is_sparse(tensor) or layout is LAYOUTS["strided"]:  # the other one is wanted
        dtype = options.get("dtype") or tensor.dtype
        return aten.zeros(list(tensor.shape), dtype=dtype, layout=layout)
    if options.get("memory_format") is not None:
        raise RuntimeError("memory format option is only supported by strided tensors")
    kept = parts_of(tensor)
    own = kept.to_coo()
    dtype = options.get("dtype") or own.values.dtype
    values = own.values.detach().new_zeros([0, *own.values.shape[1:]], dtype=dtype)
    indices = Tensor._of(np.empty((own.depth, 0), np.int64))
    return laid_as(kept, Coo(indices, values, own.sizes, True))


def _at_same_places(name: str) -> Callable[..., Tensor]:
    """Such other values for a matrix by rows or columns; torch has none for coordinates."""
    function: Callable[..., Tensor] = eager_function(f"aten::{name}")

    def made(tensor: Tensor, *args: Scalar, layout: object = None, **options: object) -> Tensor:
        own = parts_of(tensor)
        if not isinstance(own, Compressed):
            raise NotImplementedError(
                f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend."
            )
        return of_parts(own.with_values(function(own.values.detach(), *args, **options)))

    return made


for _name in ("ones_like", "full_like", "randn_like"):
    form(f"aten::{_name}")(_at_same_places(_name))


@form("aten::result_type")
def result_type(*operands: Any) -> DType:
    """The dtype in which operands meet: of a sparse tensor that of its values counts."""
    stand_ins = [
        parts_of(each).values.detach().new_empty([1] * each.ndim) if is_sparse(each) else each
        for each in operands
    ]
    found: DType = eager_function("aten::result_type")(*stand_ins)
    return found


@form("aten::zero_")
def zero(tensor: Tensor) -> Tensor:
    """The same tensor, which keeps no elements any more."""
    tensor.__dict__["parts"] = parts_of(zeros_like(tensor))
    return tensor


# --------------------------------------------------------------------------- other places


@form("aten::permute")
def permute(
    tensor: Tensor, *places: int | Sequence[int], dims: Sequence[int] | None = None
) -> Tensor:
    """The sparse dimensions in another order; dense ones stay where they are."""
    order: Sequence[Any] = places if dims is None else dims
    if len(order) == 1 and isinstance(order[0], (list, tuple)):
        order = order[0]
    own = parts_of(tensor)
    if isinstance(own, Compressed):
        if list(order) == [1, 0]:
            return of_parts(own._replace(sizes=own.sizes[::-1], by_columns=not own.by_columns))
        return tensor
    axes = [wrap_dim(each, len(own.sizes)) for each in order]
    if sorted(axes[: own.depth]) != list(range(own.depth)) or len(axes) != len(own.sizes):
        raise RuntimeError("permute: sparse and dense dimensions cannot change places")
    turned = [place - own.depth + 1 for place in axes[own.depth :]]
    values = own.values.permute([0, *turned]) if turned else own.values
    indices = own.indices[axes[: own.depth]]
    return of_parts(Coo(indices, values, tuple(own.sizes[axis] for axis in axes)))


@form("aten::transpose", "aten::swapaxes", "aten::swapdims")
def transpose(tensor: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    order = list(range(tensor.ndim))
    a, b = wrap_dim(dim0, tensor.ndim), wrap_dim(dim1, tensor.ndim)
    order[a], order[b] = b, a
    return permute(tensor, order)


@form("aten::t")
def t(tensor: Tensor) -> Tensor:
    """The transposed matrix."""
    if tensor.ndim > 2:
        raise RuntimeError(
            "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
            f"{tensor.ndim} sparse and 0 dense dimensions"
        )
    return tensor if tensor.ndim < 2 else permute(tensor, [1, 0])


@form("aten::unsqueeze")
def unsqueeze(tensor: Tensor, dim: int) -> Tensor:
    """A new sparse dimension of size 1."""
    own = parts_of(tensor).to_coo()
    place = wrap_dim(dim, len(own.sizes) + 1)
    if place > own.depth:
        values = own.values.unsqueeze(place - own.depth + 1)
        return of_parts(Coo(own.indices, values, _with_size(own.sizes, place), own.coalesced))
    zeros = own.indices.new_zeros([1, own.indices.shape[1]])
    rows = eager_function("aten::cat")([own.indices[:place], zeros, own.indices[place:]])
    return of_parts(Coo(rows, own.values, _with_size(own.sizes, place), own.coalesced))


def _with_size(sizes: tuple[int, ...], place: int) -> tuple[int, ...]:
    return (*sizes[:place], 1, *sizes[place:])


def _kept(own: Coo, keep: Array, indices: Tensor, sizes: Sequence[int]) -> Tensor:
    """The elements at some positions, at other places."""
    values = _select(own.values, 0, Tensor._of(keep.astype(np.int64)))
    return of_parts(Coo(indices, values, tuple(sizes)))


@form("aten::index_select")
def index_select(tensor: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices that an index names, in its order."""
    own = parts_of(tensor).to_coo()
    place = wrap_dim(dim, len(own.sizes))
    count = own.sizes[place]
    sizes = (*own.sizes[:place], index.numel(), *own.sizes[place + 1 :])
    if place >= own.depth:
        values = own.values.index_select(place - own.depth + 1, index)
        return of_parts(Coo(own.indices, values, sizes, own.coalesced))
    wanted, row = index.numpy(), own.indices.numpy()[place]
    outside = (wanted < -count) | (wanted >= count)
    if outside.any():
        raise IndexError(
            f"index_select(): index contains {wanted[outside][0]} that is out of range for tensor "
            f"of size {list(own.sizes)} at dimension {place}"
        )
    wanted = np.where(wanted < 0, wanted + count, wanted)
    order = argsort_stable(np.ascontiguousarray(row), True, 0, False)
    ordered = row[order]
    first = np.searchsorted(ordered, wanted)
    counts = np.searchsorted(ordered, wanted, "right") - first
    steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    keep = order[np.repeat(first, counts) + steps]
    places = own.indices.numpy()[:, keep].copy()
    places[place] = np.repeat(np.arange(len(wanted)), counts)
    return _kept(own, keep, Tensor._of(places), sizes)


@form("aten::select")
def select(tensor: Tensor, dim: int, index: int) -> Tensor:
    """One slice; a dense tensor where no sparse dimension is left."""
    own = parts_of(tensor).to_coo()
    place = wrap_dim(dim, len(own.sizes))
    if not -own.sizes[place] <= index < own.sizes[place]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(own.sizes)} at "
            f"dimension {dim}"
        )
    at = index % own.sizes[place]
    sizes = own.sizes[:place] + own.sizes[place + 1 :]
    if place >= own.depth:
        return of_parts(
            Coo(own.indices, own.values.select(place - own.depth + 1, at), sizes, own.coalesced)
        )
    keep = np.flatnonzero(own.indices.numpy()[place] == at)
    rest = np.delete(own.indices.numpy(), place, 0)[:, keep]
    if not len(rest):
        alone = _select(own.values, 0, Tensor._of(keep.astype(np.int64)))
        return alone.sum(0, dtype=own.values.dtype)
    return _kept(own, keep, Tensor._of(rest.copy()), sizes)


@form("aten::unbind")
def unbind(tensor: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All slices along a dimension."""
    count = tensor.shape[wrap_dim(dim, tensor.ndim)]
    return tuple(select(tensor, dim, place) for place in range(count))


@form("aten::narrow_copy")
def narrow_copy(tensor: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Some slices behind each other.

    Raises:
        RuntimeError: there is no such dimension, or fewer slices.
    """
    if not 0 <= dim < tensor.ndim:
        raise RuntimeError(f"Dimension {dim} out of range. Expecting 0 <= dim < {tensor.ndim}.")
    count = tensor.shape[dim]
    if not 0 <= start <= start + length <= count:
        raise RuntimeError(
            "Invalid range to narrow. range(start, start+length) must be a subset of "
            f"range(0, {count})."
        )
    return index_select(tensor, dim, Tensor._of(np.arange(start, start + length)))


@form("aten::sparse_mask")
def mask(dense: Tensor, pattern: Tensor) -> Tensor:
    """The elements of a tensor at the places of a sparse one, zeros where it keeps none.

    Raises:
        RuntimeError: sizes differ.
    """
    if tuple(dense.shape) != tuple(pattern.shape):
        raise RuntimeError(
            "sparse_mask(): operands have incompatible sizes; self has size "
            f"{list(dense.shape)} but mask has size {list(pattern.shape)}"
        )
    own = parts_of(pattern)
    places = own.to_coo().indices
    if is_sparse(dense):
        return of_parts(own.with_values(_at(parts_of(dense).to_coo().once(), own.to_coo())))
    if places.shape[0]:
        values = dense[tuple(places.unbind(0))]
    else:  # no dimension is sparse: each place is the whole
        values = dense.unsqueeze(0).expand([places.shape[1], *dense.shape]).clone()
    return of_parts(own.with_values(values))


def _at(own: Coo, wanted: Coo) -> Tensor:
    """What a coalesced tensor keeps at the places of another, with zeros for what it does not.

    Raises:
        RuntimeError: other dimensions of it are sparse.
    """
    if own.depth != wanted.depth:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sparse dimensions: {own.depth} and "
            f"{wanted.depth}"
        )
    kept, asked = flat_places(own), flat_places(wanted)
    at = np.searchsorted(kept, asked)
    is_kept = np.append(kept, -1)[at] == asked
    zero = own.values.detach().new_zeros([1, *own.values.shape[1:]])
    values = eager_function("aten::cat")([own.values, zero])
    chosen: Tensor = _select(values, 0, Tensor._of(np.where(is_kept, at, len(kept))))
    return chosen
