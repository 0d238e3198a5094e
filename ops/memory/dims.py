"""Dimensions and sizes: negative ones, lists of them, the checks all operators share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import IndexOutOfRange, OperatorError

__all__ = [
    "checked_dim",
    "broadcast_error",
    "expands_to",
    "infer_size",
    "size_at",
    "sizes_given",
    "wrap_dim",
    "wrap_dims",
]


def sizes_given(size: Sequence[Any]) -> list[int]:
    """Sizes that a call gives one by one, or as one sequence."""
    return list(size[0]) if len(size) == 1 and not isinstance(size[0], int) else list(size)


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; 0-d tensors have a dimension 0 and -1.

    Raises:
        IndexOutOfRange: there is no such dimension.
    """
    count = ndim or 1
    if -count <= dim < count:
        return dim + count if dim < 0 else dim
    raise IndexOutOfRange(
        f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], "
        f"but got {dim})",
        headline=f"there is no dimension {dim}: the tensor has {ndim} dimension"
        f"{'' if ndim == 1 else 's'}",
    )


def size_at(shape: Sequence[int], dim: int) -> int:
    """The size of a dimension, which a 0-d tensor has none of.

    Raises:
        IndexOutOfRange: there is no such dimension.
    """
    if not shape:
        raise IndexOutOfRange(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape[wrap_dim(dim, len(shape))]


def wrap_dims(dims: Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Dimensions to reduce over, counted from the front; all of them for none.

    Raises:
        IndexOutOfRange: there is no such dimension.
        OperatorError: one is named twice.
    """
    if not dims:
        return tuple(range(ndim))
    if len(dims) == 1:
        axis = wrap_dim(dims[0], ndim)
        return (axis,) if ndim else ()
    wrapped = [wrap_dim(dim, ndim) for dim in dims]
    for dim in wrapped:
        if wrapped.count(dim) > 1:
            raise OperatorError(
                f"dim {dim} appears multiple times in the list of dims",
                headline=f"dimension {dim} is named more than once",
            )
    return tuple(wrapped) if ndim else ()


def infer_size(sizes: Sequence[int], numel: int) -> tuple[int, ...]:
    """The sizes with a -1 among them replaced by what `numel` elements leave.

    Raises:
        OperatorError: that many elements do not fit these sizes.
    """
    known = 1
    unknown = -1
    for position, size in enumerate(sizes):
        if size == -1:
            if unknown >= 0:
                raise OperatorError("only one dimension can be inferred")
            unknown = position
        elif size < 0:
            raise OperatorError(
                f"invalid shape dimension {size} at index {position} of shape {list(sizes)}"
            )
        else:
            known *= size
    if unknown < 0:
        if known == numel:
            return tuple(sizes)
    elif known and numel % known == 0:
        result = list(sizes)
        result[unknown] = numel // known
        return tuple(result)
    elif not known and not numel:
        raise OperatorError(
            f"cannot reshape tensor of 0 elements into shape {list(sizes)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    raise OperatorError(
        f"shape '{list(sizes)}' is invalid for input of size {numel}",
        code="shape-mismatch",
        headline=f"{numel} elements cannot have the shape {list(sizes)}",
        roles={"self": f"has {numel} elements"},
    )


def expands_to(sizes: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether a tensor of some sizes broadcasts to one of others."""
    pairs = zip(reversed(sizes), reversed(wanted), strict=False)
    return len(sizes) <= len(wanted) and all(size in (1, other) for size, other in pairs)


def broadcast_error(
    a: tuple[int, ...], b: tuple[int, ...], names: tuple[str, str]
) -> OperatorError:
    """The error for two shapes that do not broadcast; `names` are the arguments'."""
    longest = max(len(a), len(b))
    left = (1,) * (longest - len(a)) + a
    right = (1,) * (longest - len(b)) + b
    for dim in reversed(range(longest)):
        x, y = left[dim], right[dim]
        if x != y and 1 not in (x, y):
            return OperatorError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) "
                f"at non-singleton dimension {dim}",
                code="shape-mismatch",
                headline=f"shapes {list(a)} and {list(b)} do not broadcast: {x} against {y}",
                roles={names[0]: f"has {x} in dimension {dim}", names[1]: f"has {y} there"},
            )
    return OperatorError(f"shapes {list(a)} and {list(b)} broadcast")


def checked_dim(dim: int, ndim: int) -> int:
    """A dimension as a place from 0 on, in the words of `size` and `stride`."""
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, ndim)
