"""Views: the same memory in another shape.  What cannot be a view says so, as in torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..kernels import LARGE, family, in_order
from ..memory.dims import infer_size, wrap_dim, wrap_dims
from ..memory.dtype import Array, Dtype, Key, dtype_of, numpy_dtype
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import contiguous_strides, spread, storage_of, strides_of, view_of
from ..table.formula import Part, moved
from ..table.inline import ORDINARY, inline, native
from ..table.pointwise import checked_broadcast
from ..table.promotion import kind
from ..table.table import operator

__all__ = [
    *("expand", "move_dims", "narrow", "permute", "reshape", "select", "slice_tensor", "view"),
]

_WHOLE: Final = slice(None)


def _like(kind: str, shape: Sequence[int]) -> str:
    return f"{kind}{{[{', '.join(map(str, shape))}]}}"


def _placed(self: Array) -> Array:
    """The tensor; one without elements has the strides of a new one where NumPy gave it none."""
    if self.size or any(self.strides):
        return self
    return view_of(self, self.shape, [n * self.itemsize for n in contiguous_strides(self.shape)])


# --------------------------------------------------------------------------- other sizes


@operator("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", face="operator")
@operator(
    "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
    native=native("array_reshape({0}, {1})"),
    face="method",
    on_slices="sizes",
)
def view(self: Array, size: Sequence[int]) -> Array:
    is_whole = self.flags.c_contiguous
    result = reshape(self, size)
    if not is_whole and self.size and not np.may_share_memory(result, self):
        raise OperatorError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
            code="shape-mismatch",
            headline=f"a tensor of shape {list(self.shape)} and strides "
            f"{[s // self.itemsize for s in self.strides]} cannot be viewed as {list(size)} "
            "without a copy",
            roles={"self": "is not contiguous"},
        )
    return result


@operator(
    "aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", face="method", on_slices="sizes"
)
def view_as(self: Array, other: Array) -> Array:
    return view(self, other.shape)


def _copied(result: Array, self: Array, *_: object) -> list[Part]:
    """What a copy in one piece holds, which has other sizes."""
    return [moved(self, result.reshape(self.shape))] if result.flags.c_contiguous else []


@operator(
    "aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
    native=native("array_reshape({0}, {1})"),
    parts=_copied,
    on_slices="sizes",
)
def reshape(self: Array, shape: Sequence[int]) -> Array:
    if self.size and (not shape or min(shape) >= -1):
        try:
            return _reshaped(self, shape)
        except ValueError:  # the words for it come from infer_size
            pass
    return self.reshape(infer_size(shape, self.size))


def _reshaped(self: Array, shape: Sequence[int]) -> Array:
    """The same memory, or a copy, which kernels make where there is much of it.

    Raises:
        ValueError: there is no such shape.
    """
    if self.size < LARGE or self.flags.c_contiguous:
        return self.reshape(shape)
    try:
        return self.reshape(shape, copy=False)
    except ValueError:
        arrays = family("elementwise.arrays") if self.flags.aligned else None
        copy = arrays and arrays.copied_by_rows(self)
        return (self if copy is None else copy).reshape(shape)


@operator(
    "aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", face="method", on_slices="sizes"
)
def reshape_as(self: Array, other: Array) -> Array:
    return reshape(self, other.shape)


@operator("aten::ravel(Tensor(a) self) -> Tensor(a)")
def ravel(self: Array) -> Array:
    """One row; a copy of what does not lie in order, also where a view would do."""
    return in_order(self).reshape(-1)


@operator(
    "aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    parts=_copied,
    on_slices="dims",
)
def flatten(self: Array, start_dim: int, end_dim: int) -> Array:
    first, last = wrap_dim(start_dim, self.ndim), wrap_dim(end_dim, self.ndim)
    if first > last:
        raise OperatorError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not self.ndim:
        return self.reshape(1)
    if first == last:
        return self
    count = math.prod(self.shape[first : last + 1])
    return _reshaped(self, [*self.shape[:first], count, *self.shape[last + 1 :]])


@operator(
    "aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", on_slices="dims"
)
def unflatten(self: Array, dim: int, sizes: Sequence[int]) -> Array:
    axis = wrap_dim(dim, self.ndim)
    if not sizes:
        raise OperatorError("unflatten: sizes must be non-empty")
    if not self.ndim:
        raise OperatorError(
            "unflatten got an unexpected error:\n"
            f"Dimension specified as {axis} but tensor has no dimensions",
            code="shape-mismatch",
        )
    try:
        parts = infer_size(sizes, self.shape[axis])
    except OperatorError:
        raise OperatorError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim "
            f"{axis} ({self.shape[axis]}) in the input tensor",
            code="shape-mismatch",
            headline=f"{self.shape[axis]} elements cannot have the shape {list(sizes)}",
        ) from None
    return view(self, (*self.shape[:axis], *parts, *self.shape[axis + 1 :]))


@operator("aten::squeeze(Tensor(a) self) -> Tensor(a)", on_slices="dims")
def squeeze(self: Array) -> Array:
    return self.squeeze() if 1 in self.shape else self.view()


@operator(
    "aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
    native=native("array_squeeze({0}, {1})"),
)
def squeeze_dim(self: Array, dim: int) -> Array:
    axis = wrap_dim(dim, self.ndim)
    return self.squeeze(axis) if self.ndim and self.shape[axis] == 1 else self.view()


@operator("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)")
def squeeze_dims(self: Array, dim: Sequence[int]) -> Array:
    axes = wrap_dims(dim, self.ndim) if dim else ()
    return self.squeeze(tuple(a for a in axes if self.ndim and self.shape[a] == 1)).view()


_SOME_ELEMENTS: Final = f"{ORDINARY} and {{0}}.size"
_SOME_DIMS: Final = f"{_SOME_ELEMENTS} and {{0}}.ndim"
_MORE_DIMS: Final = f"{_SOME_ELEMENTS} and {{0}}.ndim > 1"
"""Views of tensors without elements are laid out by the operators."""


@operator(
    "aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    inline=inline("{0}[None]", _SOME_ELEMENTS, at={1: "0"})
    + inline("{0}[:, None]", _SOME_DIMS, at={1: "1"})
    + inline("{0}[..., None]", _SOME_ELEMENTS, at={1: "(-1)"}),
    on_slices="dims",
    native=native("array_unsqueeze({0}, {1})"),
)
def unsqueeze(self: Array, dim: int) -> Array:
    axis = wrap_dim(dim, self.ndim + 1)
    if not self.size:
        self = _placed(self)
        sizes, steps = list(self.shape), list(self.strides)
        sizes.insert(axis, 1)
        steps.insert(axis, steps[axis] * self.shape[axis] if axis < self.ndim else self.itemsize)
        return view_of(self, sizes, steps)
    return self[(_WHOLE,) * axis + (None,)] if axis else self[None]


def _expand_error(size: Sequence[int], shape: tuple[int, ...], dim: int) -> OperatorError:
    existing = shape[dim - len(size) + len(shape)]
    return OperatorError(
        f"The expanded size of the tensor ({size[dim]}) must match the existing size "
        f"({existing}) at non-singleton dimension {dim}.  "
        f"Target sizes: {list(size)}.  Tensor sizes: {list(shape)}",
        code="shape-mismatch",
        headline=f"a tensor of shape {list(shape)} cannot be expanded to {list(size)}",
        roles={"self": f"has shape {list(shape)}"},
    )


@operator(
    "aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
    face="method",
    on_slices="sizes",
)
def expand(self: Array, size: Sequence[int], implicit: bool = False) -> Array:
    self = self[...]  # which no other thread can change
    shape, new = self.shape, len(size) - self.ndim
    if new < 0:
        kind = f"torch.{dtype_of(self).scalar_name}Tensor"
        raise OperatorError(
            f"expand({_like(kind, shape)}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor "
            f"({self.ndim})",
            code="shape-mismatch",
            headline=f"a tensor of shape {list(shape)} cannot be expanded to {list(size)}",
        )
    sizes, strides = list(size), [0] * new + list(self.strides)
    for dim in range(len(sizes) - 1, -1, -1):
        wanted = sizes[dim]
        existing = shape[dim - new] if dim >= new else 1
        if wanted == existing:
            continue
        if wanted == -1 and dim >= new:
            sizes[dim] = existing
        elif wanted < 0:
            raise OperatorError(
                f"The expanded size of the tensor ({wanted}) isn't allowed in a leading, "
                f"non-existing dimension {dim}"
            )
        elif existing != 1:
            raise _expand_error(size, shape, dim)
        else:
            strides[dim] = 0
    return spread(self, sizes, strides)


@operator(
    "aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", face="method", on_slices="sizes"
)
def expand_as(self: Array, other: Array) -> Array:
    return expand(self, other.shape)


@operator("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", on_slices="sizes")
def broadcast_to(self: Array, size: Sequence[int]) -> Array:
    return expand(self, size)


@operator(
    "aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]", on_slices="sizes", views_of_each=True
)
def broadcast_tensors(tensors: list[Array]) -> list[Array]:
    shape = tensors[0].shape if tensors else ()
    for tensor in tensors:
        shape = checked_broadcast(shape, tensor.shape, ("tensors", "tensors"))
    return [t if t.shape == shape else expand(t, shape) for t in tensors]


@operator("aten::broadcast_shapes(int[] a, int[] b) -> int[]")
def broadcast_shapes(a: list[int], b: list[int]) -> list[int]:
    return list(checked_broadcast(tuple(a), tuple(b), ("a", "b")))


@operator(
    "aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
    cuts_off=True,
    face="method",
    unchosen="dtype",
)
def view_dtype(self: Array, dtype: int) -> Array:
    """The same bytes as numbers of another type; the last dimension shrinks or grows with them."""
    wanted = numpy_dtype(dtype)
    if self.itemsize == wanted.itemsize:
        return self.view(wanted)
    _check_bytes(self, wanted)
    size = self.shape[-1] * self.itemsize // wanted.itemsize
    strides = (*(step * self.itemsize for step in strides_of(self)[:-1]), wanted.itemsize)
    return view_of(self, (*self.shape[:-1], size), strides, 0, wanted)


def _check_bytes(self: Array, wanted: Dtype) -> None:
    """Whether elements can be taken apart, or together."""
    types = f"{dtype_of(self).scalar_name} as {dtype_of(np.empty(0, wanted)).scalar_name}"
    wrong = _wrong_bytes(self, wanted.itemsize // self.itemsize)
    if wrong:
        what, _, but = wrong.partition(", ")
        raise OperatorError(
            f"self.{what} to view {types} (different element sizes){but and f', {but}'}",
            code="shape-mismatch",
            headline=f"the memory of this tensor cannot be read as `torch.{wanted}`",
        )


def _wrong_bytes(self: Array, ratio: int) -> str:
    """What stands against taking `ratio` elements as one, or one (`ratio` 0) as several."""
    if not self.ndim:
        return "dim() cannot be 0"
    steps = strides_of(self)
    if ratio and self.shape[-1] % ratio:
        return f"size(-1) must be divisible by {ratio}, but got {self.shape[-1]}"
    if steps[-1] != 1:
        return f"stride(-1) must be 1, but got {steps[-1]}"
    if not ratio:
        return ""
    offset = storage_of(self)[1]
    if offset % ratio:
        return f"storage_offset() must be divisible by {ratio}, but got {offset}"
    for dim, step in enumerate(steps[:-1]):
        if step % ratio:
            return f"stride({dim}) must be divisible by {ratio}, but got {step}"
    return ""


# --------------------------------------------------------------------------- other orders


@operator(
    "aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    native=native("array_transpose({0}, {1}, {2})"),
    on_slices="dims",
)
def transpose(self: Array, dim0: int, dim1: int) -> Array:
    a, b = wrap_dim(dim0, self.ndim), wrap_dim(dim1, self.ndim)
    return _placed(self).swapaxes(a, b) if self.ndim else self.view()


operator(
    "aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
    first_name="transpose",
    on_slices="dims",
)(transpose)
operator(
    "aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    first_name="transpose",
    on_slices="dims",
)(transpose)


@operator(
    "aten::t(Tensor(a) self) -> Tensor(a)",
    inline=inline("{0}.T", f"{{0}}.ndim == 2 and {_SOME_ELEMENTS}"),
    native=native("array_turned({0})"),
)
def t(self: Array) -> Array:
    if self.ndim > 2:
        raise OperatorError(
            f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D",
            code="shape-mismatch",
            headline=f"`t` takes tensors of up to 2 dimensions, not {self.ndim}",
        )
    return _placed(self).T if self.ndim == 2 else self.view()


@operator(
    "aten::numpy_T(Tensor(a) self) -> Tensor(a)",
    "aten::numpy_T.a(Tensor(a) self) -> Tensor(a)",
    face="operator",
)
def numpy_t(self: Array) -> Array:
    return _placed(self).T if self.ndim else self.view()


@operator(
    "aten::mT(Tensor(a) self) -> Tensor(a)",
    "aten::mT.a(Tensor(a) self) -> Tensor(a)",
    face="method",
)
def matrix_t(self: Array, name: str = "mT") -> Array:
    if not self.ndim:
        return self.view()
    if self.ndim < 2:
        raise OperatorError(
            f"tensor.{name} is only supported on matrices or batches of matrices. "
            f"Got {self.ndim}-D tensor.",
            code="shape-mismatch",
        )
    return _placed(self).swapaxes(-1, -2)


@operator(
    "aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)",
    native=native("array_permuted({0}, {1})"),
    on_slices="dims",
)
def permute(self: Array, dims: Sequence[int]) -> Array:
    if len(dims) != self.ndim:
        raise OperatorError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of the desired ordering of dimensions i.e. input.dim() = "
            f"{self.ndim} is not equal to len(dims) = {len(dims)}",
            code="shape-mismatch",
            headline=f"`dims` names {len(dims)} dimensions, the tensor has {self.ndim}",
        )
    if not dims:
        return self.view()
    try:
        return _placed(self).transpose(dims)
    except ValueError:
        for dim in dims:
            wrap_dim(dim, self.ndim)
        raise OperatorError("permute(): duplicate dims are not allowed.") from None


def move_dims(self: Array, source: Sequence[int], destination: Sequence[int]) -> Array:
    if len(source) != len(destination):
        raise OperatorError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should "
            f"contain the same number of dims as destination ({list(destination)} dims)"
        )
    where = [wrap_dim(d, self.ndim) for d in source]
    to = [wrap_dim(d, self.ndim) for d in destination]
    for name, dims, given in (("source", where, source), ("destination", to, destination)):
        if len(set(dims)) != len(dims):
            raise OperatorError(f"movedim: repeated dim in `{name}` ({list(given)})")
    return np.moveaxis(_placed(self), where, to) if self.ndim else self.view()


@operator(
    "aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", on_slices="dims"
)
def movedim(self: Array, source: int, destination: int) -> Array:
    return move_dims(self, [source], [destination])


operator("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")(
    move_dims
)


# --------------------------------------------------------------------------- parts


@operator(
    "aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
    inline=inline("{0}[{2}]", "{0}.ndim > 1 and {0}.size", at={1: "0"})
    + inline("{0}[{2}, ...]", _SOME_ELEMENTS, at={1: "0"})
    + inline("{0}[:, {2}]", _MORE_DIMS, at={1: "1"})
    + inline("{0}[..., {2}]", _SOME_DIMS, at={1: "(-1)"}),
    native=native("array_select({0}, {2})", at={1: "(0)"})
    + native("array_select_along({0}, {1}, {2})"),
    on_slices="dims",
)
def select(self: Array, dim: int, index: int) -> Array:
    self = _placed(self)
    if dim == 0 and self.ndim > 1:
        try:
            return self[index]  # type: ignore[no-any-return]
        except IndexError:
            raise _select_error(self, 0, index) from None
    if not self.ndim:
        raise IndexOutOfRange("select() cannot be applied to a 0-dim tensor.")
    axis = wrap_dim(dim, self.ndim)
    size = self.shape[axis]
    if not -size <= index < size:
        raise _select_error(self, axis, index)
    return self[(slice(None),) * axis + (index, ...)]


def _select_error(self: Array, dim: int, index: int) -> IndexOutOfRange:
    return IndexOutOfRange(
        f"select(): index {index} out of range for tensor of size {list(self.shape)} "
        f"at dimension {dim}",
        headline=f"index {index} is out of range for dimension {dim} of size {self.shape[dim]}",
    )


@operator(
    "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, "
    "SymInt step=1) -> Tensor(a)",
    inline=inline("{0}[{2}:{3}]", _SOME_DIMS, at={1: "0", 4: "1"})
    + inline("{0}[:, {2}:{3}]", _MORE_DIMS, at={1: "1", 4: "1"})
    + inline("{0}[..., {2}:{3}]", _SOME_DIMS, at={1: "(-1)", 4: "1"}),
    native=native("array_slice({0}, {1}, {2}, {3}, {4})"),
    face="operator",
    on_slices="dims",
)
def slice_tensor(self: Array, dim: int, start: int | None, end: int | None, step: int) -> Array:
    if not self.ndim:
        raise OperatorError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise OperatorError("slice step must be positive")
    self = _placed(self)
    axis = wrap_dim(dim, self.ndim)
    return self[(_WHOLE,) * axis + (slice(start, end, step),)] if axis else self[start:end:step]


@operator(
    "aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
    on_slices="dims",
)
def narrow(self: Array, dim: int, start: int, length: int) -> Array:
    if not self.ndim:
        raise OperatorError("narrow() cannot be applied to a 0-dim tensor.")
    axis = wrap_dim(dim, self.ndim)
    size = self.shape[axis]
    if length < 0:
        raise OperatorError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexOutOfRange(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start += size if start < 0 else 0
    if start + length > size:
        raise OperatorError(
            f"start ({start}) + length ({length}) exceeds dimension size ({size}).",
            code="index-out-of-range",
            headline=f"{length} elements from {start} on are not in a dimension of size {size}",
        )
    return _placed(self)[(slice(None),) * axis + (slice(start, start + length),)]


@operator("aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)")
def narrow_from_tensor(self: Array, dim: int, start: Array, length: int) -> Array:
    if start.ndim or kind(start.dtype) != 1:
        raise OperatorError("start must be an 0-dim integral Tensor.")
    return narrow(self, dim, int(start), length)


@operator(
    "aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
    native=native("array_parts({0}, {1})"),
    on_slices="dims",
)
def unbind(self: Array, dim: int) -> list[Array]:
    axis = wrap_dim(dim, self.ndim)
    if not self.ndim:
        raise IndexOutOfRange("Dimension specified as 0 but tensor has no dimensions")
    before: Key = (slice(None),) * axis
    self = _placed(self)
    views: list[Any] = [None] * self.shape[axis]  # which says at once if memory does not do
    for index in range(self.shape[axis]):
        views[index] = self[(*before, index, ...)]
    return views


@operator(
    "aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    on_slices="dims",
)
def diagonal(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    a, b = wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim)
    if a == b:
        raise OperatorError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, columns = self.shape[a], self.shape[b]
    down, right = max(-offset, 0), max(offset, 0)
    count = max(min(rows - down, columns - right), 0)
    rest = [axis for axis in range(self.ndim) if axis not in (a, b)]
    corner: list[slice] = [slice(None)] * self.ndim
    if count:
        corner[a], corner[b] = slice(down, None), slice(right, None)
    moved = _placed(self)[tuple(corner)].transpose(*rest, a, b)
    strides = (*moved.strides[:-2], moved.strides[-2] + moved.strides[-1])
    return view_of(moved, (*moved.shape[:-2], count), strides)


@operator(
    "aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", face="method"
)
def unfold(self: Array, dimension: int, size: int, step: int) -> Array:
    axis = wrap_dim(dimension, self.ndim)
    length = self.shape[axis] if self.ndim else 1
    if size < 0:
        raise OperatorError(f"size is {size} but must be >= 0")
    if size > length:
        raise OperatorError(
            f"maximum size for tensor at dimension {axis} is {length} but size is {size}",
            code="shape-mismatch",
        )
    if step <= 0:
        raise OperatorError(f"step is {step} but must be > 0")
    if not self.ndim:
        return view_of(self, (size,), (self.itemsize,))
    self = _placed(self)
    count = (length - size) // step + 1
    shape = (*self.shape[:axis], count, *self.shape[axis + 1 :], size)
    stride = self.strides[axis]
    strides = (*self.strides[:axis], stride * step, *self.strides[axis + 1 :], stride)
    return view_of(self, shape, strides)
