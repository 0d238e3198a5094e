"""Running sums and products, integrals, differences and numerical gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Final

import numpy as np

from ..arithmetic.pairs import sum_of_exponentials
from ..kernels import family, in_order, is_whole, move
from ..memory.complex_parts import parts
from ..memory.dims import wrap_dim, wrap_dims
from ..memory.dtype import Array, Key, Scalar, default_dtype, dtype_by_number, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..table.formula import Part
from ..table.layouts import contiguous, lies_like
from ..table.out_dtypes import COMPUTED, SPELLED_APART
from ..table.pointwise import as_array, binary, cast, number_as, with_number, write
from ..table.promotion import kind, result_dtype
from ..table.refusals import check_kernel, cpp_name, not_implemented
from ..table.table import operator
from ..table.without_data import rows_of
from .reduce import sum_input, sum_over

_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)
_ALL: Final = slice(None)


def _part(axis: int, start: int | None, stop: int | None) -> tuple[slice, ...]:
    return (_ALL,) * axis + (slice(start, stop),)


# --------------------------------------------------------------------------- running totals


def _running(name: str, accumulate: Any) -> Callable[[Array, int, int | None], Array]:
    def running(self: Array, dim: int, dtype: int | None) -> Array:
        self = self[...]  # which no other thread can change
        axis = wrap_dim(dim, self.ndim)
        values = sum_input(self, dtype)
        if not values.ndim:
            return values.copy()
        check_kernel(f"{name}_out_cpu", values, "uqe" if dtype is None else "buqe")
        values = in_order(values)
        scans = family("rows.scans") if is_whole(values) else None
        if scans is not None and values.dtype.kind == "c" and name == "cumsum":
            return _complex_sums(scans, values, axis)
        if scans is not None:
            found: Array | None = scans.running(
                values, axis, "sum" if name == "cumsum" else "product"
            )
            if found is not None:
                return found
        if kind(values.dtype) == 3 and values.size:  # torch begins with 0 or 1
            first, function = _part(axis, None, 1), accumulate.__self__
            values = values.copy()
            values[first] = function(values[first], function.identity)
        if kind(values.dtype) == 2 and values.itemsize < 8:
            wide = _FLOAT64 if values.itemsize == 4 else _FLOAT32
            sums = as_array(accumulate(values.astype(wide), axis, wide))
            return contiguous(sums.astype(values.dtype))
        if values.dtype == np.complex64 and name == "cumsum":
            sums = as_array(accumulate(values, axis, np.complex128))
            return contiguous(sums.astype(values.dtype))
        return contiguous(as_array(accumulate(values, axis, values.dtype)))

    return running


def _complex_sums(scans: ModuleType, values: Array, axis: int) -> Array:
    """Running sums of complex numbers: those of all real parts, and of all imaginary ones."""
    planes = in_order(np.moveaxis(parts(values), -1, 0))
    out = np.empty_like(values)
    move(np.moveaxis(scans.running(planes, axis + 1, "sum"), 0, -1), parts(out))
    return out


def _running_in_place(name: str, accumulate: object) -> Callable[[Array, int, int | None], Array]:
    """The dtype in place is the tensor's own, also for small whole numbers."""
    running = _running(name, accumulate)

    def in_its_dtype(self: Array, dim: int, dtype: int | None) -> Array:
        own = dtype_of(self)
        if dtype is not None and dtype != own.number:
            wanted = dtype_by_number(dtype)
            raise OperatorError(
                f"Bad in-place call: input tensor dtype {cpp_name(own)} and "
                f"output tensor dtype {cpp_name(wanted)} should match",
                code="dtype-mismatch",
                headline=f"`self` is `{own}`, so `dtype` cannot be `{wanted}`",
            )
        return write(self, running(self, dim, own.number))

    return in_its_dtype


for _name, _accumulate in (
    ("cumsum", np.add.accumulate),
    ("cumprod", np.multiply.accumulate),
):
    _forward = _running(_name, _accumulate)
    operator(
        f"aten::{_name}(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
        autocast_in_graphs="full-unless-dtype",
        on_slices="dims",
        prepared=True,
        out_dtype=COMPUTED,
        rows=rows_of("self"),
    )(_forward)
    operator(f"aten::{_name}_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)")(
        _running_in_place(_name, _accumulate)
    )


# --------------------------------------------------------------------------- log-sum-exp so far


@operator(
    "aten::logcumsumexp(Tensor self, int dim) -> Tensor",
    layout="C",
    out_dtype=SPELLED_APART,
    rows=rows_of("self"),
    on_slices="dims",
    prepared=True,
)
def logcumsumexp(self: Array, dim: int) -> Array:
    self = self[...]  # which no other thread can change
    if kind(self.dtype) < 2:
        raise not_implemented(
            "logcumsumexp_out_cpu",
            self.dtype,
            headline=f"`logcumsumexp` is not defined for `{dtype_of(self)}`",
        )
    axis = wrap_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy()
    if self.dtype.kind == "c":
        return _complex_logcumsumexp(self, axis)
    self = in_order(self)
    scans = family("rows.scans") if is_whole(self) else None
    found: Array | None = None
    if scans is not None:
        found = scans.running(self, axis, "exponentials")
    if found is not None:
        return found
    sums = np.logaddexp.accumulate(self.astype(_FLOAT64), axis)
    return as_array(sums).astype(self.dtype)


def _complex_logcumsumexp(self: Array, axis: int) -> Array:
    """Each sum is that of the exponentials before and the next one."""
    result = np.moveaxis(self.astype(np.complex128), axis, 0)
    before: Array = np.full(result.shape[1:], complex(-np.inf, 0))
    for place in range(result.shape[0]):
        before = result[place] = sum_of_exponentials(result[place], before)
    return np.moveaxis(result, 0, axis).astype(self.dtype)


# --------------------------------------------------------------------------- trapezoids


def _sides(y: Array, axis: int) -> Array:
    """Twice the mean height of each trapezoid."""
    return binary(np.add, y[_part(axis, 1, None)], y[_part(axis, None, -1)])


def _widths(name: str, y: Array, x: Array, axis: int) -> Array:
    """The distances of sample points, shaped to go with the heights."""
    if x.ndim == 1 and y.ndim != 1:
        if x.shape[0] != y.shape[axis]:
            raise OperatorError(
                f"{name}: There must be one `x` value for each sample point",
                code="shape-mismatch",
            )
        shape = [1] * y.ndim
        shape[axis] = x.size
        x = x.reshape(shape)
    elif x.ndim < y.ndim:
        x = x.reshape((1,) * (y.ndim - x.ndim) + x.shape)
    place = axis - y.ndim + x.ndim
    if x.ndim > y.ndim:
        place = axis + x.ndim - y.ndim
    return as_array(np.subtract(x[_part(place, 1, None)], x[_part(place, None, -1)]))


def _no_points(dim: int) -> IndexOutOfRange:
    return IndexOutOfRange(
        f"Dimension specified as {dim} but tensor has no dimensions",
        headline="points lie along a dimension, and `y` has none",
    )


def _zeros_without(y: Array, axis: int) -> Array:
    dtype = y.dtype if kind(y.dtype) >= 2 else default_dtype.float
    return np.zeros(y.shape[:axis] + y.shape[axis + 1 :], dtype)


def _refuse_kinds(name: str, y: Array, by: Array | Scalar) -> None:
    if isinstance(by, complex):
        raise OperatorError(f"{name}: Currently, we only support dx as a real number.")
    for word, each in (("y", y), ("x", by)):
        if isinstance(each, np.ndarray) and each.dtype.kind == "b":
            raise OperatorError(
                f"{name}: received a bool input for `{word}`, but bool is not supported",
                code="dtype-mismatch",
            )


def _areas(name: str, y: Array, by: Array | Scalar, dim: int) -> Array:
    """The area below each pair of neighbouring points."""
    _refuse_kinds(name, y, by)
    axis = wrap_dim(dim, y.ndim)
    sides = _sides(y, axis)
    if isinstance(by, np.ndarray):
        doubled = binary(np.multiply, sides, _widths(name, y, by, axis))
    else:
        doubled = with_number(np.multiply, sides, by)
    if kind(doubled.dtype) < 2:
        doubled = doubled.astype(default_dtype.float)
    return with_number(np.true_divide, doubled, 2)


def _trapezoid(y: Array, by: Array | Scalar, dim: int) -> Array:
    axis = wrap_dim(dim, y.ndim)
    if not y.ndim:
        raise _no_points(axis if isinstance(by, np.ndarray) else dim)
    if not y.shape[axis]:
        return _zeros_without(y, axis)
    if not isinstance(by, np.ndarray):
        return _even_trapezoid(y, by, axis)
    areas = _areas("trapezoid", y, by, dim)
    last = areas.ndim - y.ndim + axis
    return contiguous(as_array(np.add.reduce(areas, last, areas.dtype)))


def _even_trapezoid(y: Array, by: Scalar, axis: int) -> Array:
    """The sum of the heights without half of the first and the last."""
    _refuse_kinds("trapezoid", y, by)
    before: Key = (_ALL,) * axis
    ends = binary(np.add, y[(*before, 0, ...)], y[(*before, -1, ...)])
    halves = with_number(np.multiply, ends, 0.5)
    middle = binary(np.subtract, sum_over(y, [axis], False, None), halves)
    return with_number(np.multiply, middle, by)


@operator("aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", out="")
def trapezoid(y: Array, x: Array, dim: int) -> Array:
    return _trapezoid(y, x, dim)


@operator("aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", out="")
def trapezoid_even(y: Array, dx: Scalar, dim: int) -> Array:
    return _trapezoid(y, dx, dim)


operator("aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", out="")(trapezoid)
operator("aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor", out="")(trapezoid_even)


def _cumulative(y: Array, by: Array | Scalar, dim: int) -> Array:
    if not y.ndim:
        if isinstance(by, np.ndarray) and by.ndim:
            raise _no_points(0)
        raise IndexOutOfRange("slice() cannot be applied to a 0-dim tensor.")
    areas = _areas("cumulative_trapezoid", y, by, dim)
    axis = wrap_dim(dim, y.ndim) + areas.ndim - y.ndim
    return contiguous(as_array(np.add.accumulate(areas, axis, areas.dtype)))


operator("aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", out="")(
    _cumulative
)
operator("aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", out="")(
    _cumulative
)


# --------------------------------------------------------------------------- differences


def _differences(
    result: Array, self: Array, n: int, dim: int, prepend: Array | None, append: Array | None
) -> list[Part]:
    if n != 1 or prepend is not None or append is not None or self.dtype.kind == "b":
        return []
    axis = wrap_dim(dim, self.ndim)
    operands = [self[_part(axis, 1, None)], self[_part(axis, None, -1)]]
    return [Part([("subtract", "", (0, 1))], operands, result)]


@operator(
    "aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) "
    "-> Tensor",
    parts=_differences,
    on_slices="dims",
)
def diff(self: Array, n: int, dim: int, prepend: Array | None, append: Array | None) -> Array:
    if not self.ndim:
        raise OperatorError("diff expects input to be at least one-dimensional")
    axis = wrap_dim(dim, self.ndim)
    for each in (prepend, append):
        if each is not None:
            _check_ends(self, each, axis)
    if n < 0:
        raise OperatorError(f"order must be non-negative but got {n}")
    if not n:
        return lies_like(self.copy(), self)
    parts = [each for each in (prepend, self, append) if each is not None]
    dtype = result_dtype(parts)
    joined = np.concatenate([cast(each, dtype) for each in parts], axis)
    joined = joined if len(parts) == 1 else contiguous(joined)
    step = np.not_equal if dtype.kind == "b" else np.subtract
    for _ in range(min(n, joined.shape[axis])):
        joined = binary(step, joined[_part(axis, 1, None)], joined[_part(axis, None, -1)])
    return joined


def _check_ends(self: Array, end: Array, axis: int) -> None:
    if end.ndim != self.ndim:
        raise OperatorError(
            "diff expects prepend or append to be the same dimension as input",
            code="shape-mismatch",
        )
    for dim in range(self.ndim):
        if dim != axis and end.shape[dim] != self.shape[dim]:
            raise OperatorError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({dim}) = {self.shape[dim]}, "
                f"but got tensor.size({dim}) = {end.shape[dim]}",
                code="shape-mismatch",
            )


# --------------------------------------------------------------------------- gradient


def _check_gradient(
    self: Array,
    dims: tuple[int, ...],
    edge_order: int,
    spacing: Sequence[object] | None,
    given: bool,
) -> None:
    if edge_order not in (1, 2):
        raise OperatorError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if spacing is not None and len(spacing) != len(dims):
        raise OperatorError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to 'self.dim() = {self.ndim}', since dim argument was not given, but got a "
            f"list of length {len(spacing)}"
            if not given
            else "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and "
            f"dim arguments to have the same length, but got a spacing argument of length "
            f"{len(spacing)} and a dim argument of length {len(dims)}."
        )
    for axis in dims:
        if self.shape[axis] < edge_order + 1:
            raise OperatorError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )


def _gradients(
    self: Array, spacing: Sequence[Any], dims: tuple[int, ...], edge_order: int
) -> list[Array]:
    if kind(self.dtype) < 2:
        self = self.astype(default_dtype.float)
    if self.dtype.kind != "c" and any(isinstance(by, complex) for by in spacing):
        self = self.astype(np.result_type(self.dtype, np.complex64))
    return [
        _even_gradient(self, axis, by, edge_order)
        if not isinstance(by, np.ndarray)
        else _uneven_gradient(self, axis, by, edge_order)
        for axis, by in zip(dims, spacing, strict=True)
    ]


def _even_gradient(self: Array, axis: int, by: Scalar, edge_order: int) -> Array:
    f = np.moveaxis(self, axis, 0)
    step = number_as(by, self.dtype)
    result = np.empty_like(f)
    result[1:-1] = (f[2:] - f[:-2]) / (step * self.dtype.type(2))
    if edge_order == 1:
        result[0, ...], result[-1, ...] = (f[1] - f[0]) / step, (f[-1] - f[-2]) / step
    else:
        a, b, c = (self.dtype.type(number) for number in (-1.5, 2, -0.5))
        result[0, ...] = (a * f[0] + b * f[1] + c * f[2]) / step
        result[-1, ...] = -(a * f[-1] + b * f[-2] + c * f[-3]) / step
    return contiguous(np.moveaxis(result, 0, axis))


def _uneven_gradient(self: Array, axis: int, places: Array, edge_order: int) -> Array:
    f = np.moveaxis(self, axis, 0)
    steps = np.diff(places).reshape(-1, *[1] * (self.ndim - 1))
    before, after = steps[:-1], steps[1:]
    result = np.empty(f.shape, result_dtype([self, places]))
    result[1:-1] = (
        f[:-2] * (-after / (before * (before + after)))
        + f[1:-1] * ((after - before) / (before * after))
        + f[2:] * (before / (after * (before + after)))
    )
    if edge_order == 1:
        result[0, ...] = (f[1] - f[0]) / steps[0]
        result[-1, ...] = (f[-1] - f[-2]) / steps[-1]
    else:
        result[0, ...] = _edge(f[:3], steps[0], steps[1])
        result[-1, ...] = -_edge(f[::-1][:3], steps[-1], steps[-2])
    return contiguous(np.moveaxis(result, 0, axis))


def _edge(f: Array, near: Array, far: Array) -> Array:
    """The second-order one-sided slope at the first of three points."""
    first = -(2 * near + far) / (near * (near + far))
    second = (near + far) / (near * far)
    third = -near / (far * (near + far))
    return as_array(first * f[0] + second * f[1] + third * f[2])


def _gradient_over(self: Array, spacing: object, dim: Any, edge_order: int) -> list[Array]:
    if self.dtype == np.uint8:
        raise OperatorError("torch.gradient does not support uint8 input.", code="dtype-mismatch")
    if self.dtype.kind == "b":
        raise OperatorError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead.",
            code="dtype-mismatch",
        )
    is_none = isinstance(dim, (list, tuple)) and not dim  # which elsewhere means all dimensions
    dims = () if is_none else wrap_dims([dim] if isinstance(dim, int) else dim, self.ndim)
    several = spacing if isinstance(spacing, list) else None
    _check_gradient(self, dims, edge_order, several, dim is not None)
    steps = spacing if isinstance(spacing, list) else [spacing] * len(dims)
    return _gradients(self, steps, dims, edge_order)


@operator(
    "aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, "
    "int edge_order=1) -> Tensor[]",
    face="function",
    order="array scalarrayint scalarrayarray tensorarrayint tensorarray",
)
def gradient(self: Array, spacing: Scalar | None, dim: int | None, edge_order: int) -> list[Array]:
    return _gradient_over(self, 1 if spacing is None else spacing, dim, edge_order)


operator(
    "aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) "
    "-> Tensor[]",
    "aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, "
    "int edge_order=1) -> Tensor[]",
    "aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, "
    "int edge_order=1) -> Tensor[]",
    "aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, "
    "int edge_order=1) -> Tensor[]",
    "aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) "
    "-> Tensor[]",
    face="function",
)(_gradient_over)


@operator(
    "aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]", face="function"
)
def gradient_along(self: Array, dim: Sequence[int], edge_order: int) -> list[Array]:
    return _gradient_over(self, 1, list(dim), edge_order)
