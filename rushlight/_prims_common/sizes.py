"""Sizes, dimensions and permutations: what holds of them, and what they become."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product
from typing import Any

from ..ops.memory.dims import infer_size as inferred
from ..ops.memory.dims import wrap_dim
from ..ops.primitives.declaring import check_dims, check_held, check_sizes, require
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor

__all__ = [
    *("apply_perm", "canonicalize_dim", "canonicalize_dims", "check_is_matrix"),
    *("check_same_shape", "compute_reduction_output_shape", "compute_required_storage_length"),
    *("extract_dims_from_varargs", "extract_shape", "extract_shape_from_varargs", "infer_size"),
    *("infer_size_shapes", "invert_perm", "is_expandable_to", "is_same_shape"),
    *("is_valid_permutation", "prod", "reduction_dims", "same_shape", "set_correction"),
    *("validate_dim_length", "validate_dimension_indices", "validate_exclusive_idx"),
    *("validate_idx", "validate_no_repeating_dims", "validate_shape", "validate_strides"),
]

Ints = Sequence[int]

# --------------------------------------------------------------------------- checks


def validate_idx(rank: int, idx: int) -> None:
    """Refuse a dimension that is not counted from the first one, or is not there.

    Raises:
        AssertionError: it is out of bounds.
    """
    check_dims((idx,), rank)


def validate_dimension_indices(rank: int, indices: Ints) -> None:
    """Refuse dimensions; see `validate_idx`."""
    check_dims(indices, rank)


def validate_exclusive_idx(rank: int, ex_idx: int) -> None:
    """Refuse an end of dimensions.

    Raises:
        AssertionError: it is out of bounds.
    """
    check_held(
        0 < ex_idx <= rank,
        f"ex_idx {ex_idx} is out of bounds for rank {rank} (must be in (0, rank])",
    )


def validate_dim_length(length: int) -> None:
    """Refuse a size below 0.

    Raises:
        RuntimeError: it is.
    """
    check_sizes((length,))


def validate_shape(shape: Ints) -> None:
    """Refuse sizes below 0.

    Raises:
        RuntimeError: there is one.
    """
    check_sizes(shape)


def validate_strides(strides: Ints) -> None:
    """Refuse strides below 0.

    Raises:
        AssertionError: there is one.
    """
    for stride in strides:
        check_held(stride >= 0, f"stride must be non-negative, got {stride}")


def validate_no_repeating_dims(dims: Ints) -> None:
    """Refuse dimensions of which one is named twice.

    Raises:
        RuntimeError: one is.
    """
    require(len(set(dims)) == len(dims), "duplicate value in the list of dims")


def check_is_matrix(A: Tensor, f_name: str, arg_name: str = "A") -> None:
    """Refuse a tensor that holds no matrices, the argument of a function.

    Raises:
        RuntimeError: it has fewer than two dimensions.
    """
    require(A.dim() >= 2, f"{f_name}: The input tensor {arg_name} must have at least 2 dimensions.")


def _shapes(args: Sequence[object], allow_cpu_scalar_tensors: bool) -> list[Size]:
    """The shapes of tensors, those of single numbers on the CPU left out if they may be any.

    Raises:
        RuntimeError: something is neither a tensor nor a number.
    """
    found = []
    for each in args:
        if isinstance(each, Tensor):
            is_number = not each.dim() and each.device.type == "cpu"
            if not (is_number and allow_cpu_scalar_tensors):
                found.append(each.shape)
        else:
            require(
                isinstance(each, (int, float, complex)),
                f"Unexpected type when checking for same shape, {type(each)}!",
            )
    return found


def check_same_shape(*args: object, allow_cpu_scalar_tensors: bool) -> None:
    """Refuse tensors of several shapes; numbers may be among them.

    Raises:
        RuntimeError: they are.
    """
    shapes = _shapes(args, allow_cpu_scalar_tensors)
    for shape in shapes:
        require(shape == shapes[0], f"Shape {shape} is not the expected shape {shapes[0]}!")


def extract_shape(*args: object, allow_cpu_scalar_tensors: bool) -> Size | None:
    """The shape of tensors; None where they have several, or there is none."""
    shapes = _shapes(args, allow_cpu_scalar_tensors)
    if any(shape != shapes[0] for shape in shapes):
        return None
    if shapes:
        return shapes[0]
    return next((each.shape for each in args if isinstance(each, Tensor)), None)


# --------------------------------------------------------------------------- questions


def is_same_shape(a: Ints, b: Ints) -> bool:
    """Whether two shapes are one."""
    return tuple(a) == tuple(b)


def same_shape(a: Ints, b: Ints, *, allow_rhs_unbacked: bool = False) -> bool:
    """Whether two shapes are one."""
    return tuple(a) == tuple(b)


def is_valid_permutation(rank: int, perm: object) -> bool:
    """Whether something is an order of that many dimensions."""
    return isinstance(perm, Sequence) and sorted(perm) == list(range(rank))


def is_expandable_to(shape: Ints, desired: Ints) -> bool:
    """Whether a tensor of a shape can be expanded to another one."""
    pairs = zip(reversed(shape), reversed(desired), strict=False)
    return len(shape) <= len(desired) and all(n in (1, wanted) for n, wanted in pairs)


def prod(xs: Sequence[Any]) -> Any:
    """The product of numbers."""
    return product(xs)


# --------------------------------------------------------------------------- dimensions


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """A dimension counted from the first one.

    Raises:
        IndexError: a tensor of that rank has it not.
    """
    if rank < 0:
        raise IndexError(f"Rank cannot be negative but got {rank}")
    if rank == 0 and not wrap_scalar:
        raise IndexError(f"Dimension specified as {idx} but tensor has no dimensions")
    return wrap_dim(idx, rank)


def canonicalize_dims(
    rank: int, indices: int | Ints, wrap_scalar: bool = True
) -> int | tuple[int, ...]:
    """Dimensions counted from the first one; see `canonicalize_dim`."""
    if isinstance(indices, int):
        return canonicalize_dim(rank, indices, wrap_scalar)
    return tuple(canonicalize_dim(rank, each, wrap_scalar) for each in indices)


def reduction_dims(shape: Ints, dims: Ints | None) -> tuple[int, ...]:
    """The dimensions that are folded, counted from the first one; all of them for None.

    Raises:
        RuntimeError: one is named twice.
    """
    if dims is None:
        return tuple(range(len(shape)))
    found = tuple(wrap_dim(each, len(shape)) for each in dims)
    validate_no_repeating_dims(found)
    return found


def compute_reduction_output_shape(shape: Ints, dimensions: Ints) -> tuple[int, ...]:
    """The sizes that are left when dimensions are folded."""
    check_dims(dimensions, len(shape))
    return tuple(size for dim, size in enumerate(shape) if dim not in dimensions)


def set_correction(unbiased: bool | None = None, correction: Any = None) -> float:
    """What is taken off the number of elements of a variance.

    Raises:
        RuntimeError: it is said in both ways.
    """
    require(
        unbiased is None or correction is None,
        "cannot specify both correction and unbiased arguments",
    )
    if correction is None:
        return float(unbiased is None or unbiased)
    return float(correction)


def apply_perm(inp: Sequence[Any], perm: Ints) -> list[Any]:
    """What stands in a list, in another order."""
    return [inp[each] for each in perm]


def invert_perm(perm: Ints) -> list[int]:
    """The order that undoes another one."""
    found = [-1] * len(perm)
    for place, each in enumerate(perm):
        found[each] = place
    return found


# --------------------------------------------------------------------------- sizes


def infer_size(shape: Ints, numel: int) -> tuple[int, ...]:
    """The sizes with a -1 among them replaced by what `numel` elements leave.

    Raises:
        RuntimeError: there is no such size.
    """
    return inferred(shape, numel)


def infer_size_shapes(a: Ints, b: Ints) -> tuple[int, ...]:
    """The sizes in which two shapes meet.

    Raises:
        RuntimeError: they do not.
    """
    count = max(len(a), len(b))
    wide = [[1] * (count - len(shape)) + list(shape) for shape in (a, b)]
    found = []
    for dim, (x, y) in enumerate(zip(*wide, strict=True)):
        require(
            x == y or 1 in (x, y),
            f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-jagged "
            f"dimension {dim}",
        )
        found.append(y if x == 1 else x)
    return tuple(found)


def extract_dims_from_varargs(dims: Any) -> Any:
    """Dimensions that are given one by one, or in one list."""
    return dims[0] if dims and isinstance(dims[0], Sequence) else dims


def extract_shape_from_varargs(shape: Any, validate: bool = True) -> tuple[int, ...]:
    """Sizes that are given one by one, or in one list.

    Raises:
        RuntimeError: one of them is below 0, where they are looked at.
    """
    found = tuple(extract_dims_from_varargs(shape))
    if validate:
        validate_shape(found)
    return found


def compute_required_storage_length(shape: Ints, strides: Ints, storage_offset: int) -> int:
    """How many elements of memory a tensor reaches over."""
    if not all(shape):
        return 0
    reach = sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    return storage_offset + reach + 1
