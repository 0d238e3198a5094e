"""The twins of views: copies of what a view shows, and tensors with a part replaced."""

from __future__ import annotations

from collections.abc import Callable

from ..arithmetic import complex_numbers
from ..memory.dims import wrap_dim
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..shapes import join, shape
from ..table.formula import Part, moved
from ..table.out_dtypes import SAME, OutDtype
from ..table.refusals import not_held
from ..table.table import operator
from .copying import copy_into
from .strides import copy_with_storage

# --------------------------------------------------------------------------- copies


def _copied(view: Callable[..., Array | list[Array]]) -> Callable[..., object]:
    def copy(*args: object) -> object:
        result = view(*args)
        return [each.copy() for each in result] if isinstance(result, list) else result.copy()

    return copy


def _same(self: Array) -> Array:
    return self


def _narrowed(self: Array, dim: int, start: int, length: int) -> Array:
    """`narrow`, whose copy words a negative length in its own way."""
    if self.ndim and dim >= self.ndim:
        raise not_held(
            "dim < static_cast<int64_t>(self_sizes.size())",
            headline=f"dimension {dim} of a tensor of {self.ndim} dimensions",
        )
    if length < 0 and self.ndim:
        size = self.shape[wrap_dim(dim, self.ndim)]
        raise OperatorError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return shape.narrow(self, dim, start, length)


for _schema, _view in (
    ("alias_copy(Tensor self) -> Tensor", _same),
    ("detach_copy(Tensor self) -> Tensor", _same),
    ("expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor", shape.expand),
    ("permute_copy(Tensor self, int[] dims) -> Tensor", shape.permute),
    ("select_copy.int(Tensor self, int dim, SymInt index) -> Tensor", shape.select),
    (
        "slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, "
        "SymInt step=1) -> Tensor",
        shape.slice_tensor,
    ),
    ("squeeze_copy(Tensor self) -> Tensor", shape.squeeze),
    ("squeeze_copy.dim(Tensor self, int dim) -> Tensor", shape.squeeze_dim),
    ("squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", shape.squeeze_dims),
    ("t_copy(Tensor self) -> Tensor", shape.t),
    ("transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor", shape.transpose),
    ("unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor", shape.unfold),
    ("unsqueeze_copy(Tensor self, int dim) -> Tensor", shape.unsqueeze),
    ("view_as_complex_copy(Tensor self) -> Tensor", complex_numbers.view_as_complex),
    ("view_as_real_copy(Tensor self) -> Tensor", complex_numbers.view_as_real),
    ("view_copy(Tensor self, SymInt[] size) -> Tensor", shape.reshape),
    ("view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", shape.view_dtype),
    (
        "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
        shape.diagonal,
    ),
    ("unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", shape.unbind),
    ("split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", join.split),
    (
        "split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
        join.split_with_sizes,
    ),
):
    operator(f"aten::{_schema}", face="function", out_dtype=SAME)(_copied(_view))

operator(
    "aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
    out_dtype=OutDtype(
        "same",
        "Expected self.dtype() == output.dtype() to be true, but got false.  (Could this "
        "error message be improved?  If so, please report an enhancement request to PyTorch.)",
    ),
)(_copied(_narrowed))
operator("aten::lift_fresh_copy(Tensor self) -> Tensor", face="operator")(_copied(_same))

operator("aten::_reshape_copy(Tensor self, SymInt[] size) -> Tensor", out="", face="operator")(
    _copied(shape.reshape)
)


# --------------------------------------------------------------------------- a part replaced


def _with_part(self: Array, src: Array, part: Callable[[Array], Array]) -> Array:
    """A copy of `self` in a storage like its own, with `src` in the place of a part."""
    result = copy_with_storage(self)
    view = part(result)
    if view.shape != src.shape:
        raise OperatorError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(view.shape)}",
            code="shape-mismatch",
            headline=f"`src` has shape {list(src.shape)}, the part has {list(view.shape)}",
            roles={"src": f"must have shape {list(view.shape)}"},
        )
    copy_into(view, src)
    return result


def _put_in(
    part: Callable[..., Array],
) -> Callable[..., list[Part]]:
    """Of what a result with a part replaced is put together, by how the part is taken."""

    def parts(result: Array, self: Array, src: Array, *way: object) -> list[Part]:
        if not self.flags.c_contiguous or not result.flags.c_contiguous:
            return []
        return [moved(self, result), moved(src, part(result, *way))]

    return parts


@operator(
    "aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
    parts=_put_in(shape.select),
)
def select_scatter(self: Array, src: Array, dim: int, index: int) -> Array:
    return _with_part(self, src, lambda whole: shape.select(whole, dim, index))


@operator(
    "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, "
    "SymInt? end=None, SymInt step=1) -> Tensor",
    parts=_put_in(shape.slice_tensor),
)
def slice_scatter(
    self: Array, src: Array, dim: int, start: int | None, end: int | None, step: int
) -> Array:
    return _with_part(self, src, lambda whole: shape.slice_tensor(whole, dim, start, end, step))


@operator(
    "aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) "
    "-> Tensor",
    parts=_put_in(shape.diagonal),
)
def diagonal_scatter(self: Array, src: Array, offset: int, dim1: int, dim2: int) -> Array:
    return _with_part(self, src, lambda whole: shape.diagonal(whole, offset, dim1, dim2))
