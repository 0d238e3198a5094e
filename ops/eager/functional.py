"""Functions of tensors that are more than an operator: variable arguments, optional results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, Literal, NoReturn, overload

import numpy as np

from ..memory.dtype import DTYPES, STRIDED, MemoryFormat
from ..memory.shared_memory import share
from ..tensors.construct import stands_for, tensor
from ..tensors.overriding import PLAIN, ask_for, askers, asks, handle_torch_function
from ..tensors.tensor import Tensor
from .dispatch import eager_function
from .elsewhere import elsewhere

__all__ = ["FUNCTIONS", "METHODS"]


def _tensors(given: tuple[object, ...]) -> list[Any]:
    """The tensors of `f(a, b)` and of `f([a, b])`."""
    if len(given) == 1 and isinstance(given[0], (list, tuple)):
        return list(given[0])
    return list(given)


def _atleast(count: int) -> Callable[..., object]:
    name = f"atleast_{count}d"

    def atleast(*tensors: object) -> object:
        asked = askers(tensors, {})
        if asked is not None:
            return handle_torch_function(atleast, asked, *tensors)
        given = tensors[0] if len(tensors) == 1 else tensors
        return eager_function(f"aten::{name}")(given)

    atleast.__name__ = atleast.__qualname__ = name
    atleast.__doc__ = f"The tensor, or each of several, with {count} dimensions or more."
    return stands_for(f"aten::{name}")(atleast)


@stands_for("aten::block_diag")
def block_diag(*tensors: object) -> object:
    """Matrices one after the other along the diagonal of a matrix of zeros."""
    asked = askers(tensors, {})
    if asked is not None:
        return handle_torch_function(block_diag, asked, *tensors)
    return eager_function("aten::block_diag")(list(tensors))


@stands_for("aten::cartesian_prod")
def cartesian_prod(*tensors: object) -> object:
    """All combinations of an element of each vector, as rows."""
    asked = askers(tensors, {})
    if asked is not None:
        return handle_torch_function(cartesian_prod, asked, *tensors)
    found = eager_function("aten::cartesian_prod")(list(tensors))
    return tensors[0] if len(tensors) == 1 else found


# --------------------------------------------------------------------------- unique


def _chosen(results: Sequence[Tensor], return_inverse: bool, return_counts: bool) -> object:
    """The unique elements, with what else was asked for."""
    chosen = [results[0]]
    chosen += [results[1]] if return_inverse else []
    chosen += [results[2]] if return_counts else []
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[Tensor, ...]: ...
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> object:
    """The different elements, or slices along a dimension.

    With them come, if asked for, the place of each element among them and how often each occurs.
    """
    if type(input) not in PLAIN and asks(input):
        return ask_for(unique, locals())
    flags = {"return_inverse": return_inverse, "return_counts": return_counts}
    if dim is None:
        results = eager_function("aten::_unique2")(input, sorted, **flags)
    else:
        results = eager_function("aten::unique_dim")(input, dim, sorted, **flags)
    return _chosen(results, return_inverse, return_counts)


@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Tensor: ...
@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[Tensor, ...]: ...
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> object:
    """The elements, or slices along a dimension, without those that equal the one before.

    With them come, if asked for, the place of each element among them and how long each run is.
    """
    if type(input) not in PLAIN and asks(input):
        return ask_for(unique_consecutive, locals())
    results = eager_function("aten::unique_consecutive")(
        input, return_inverse=return_inverse, return_counts=return_counts, dim=dim
    )
    return _chosen(results, return_inverse, return_counts)


# --------------------------------------------------------------------------- places


def unravel_index(indices: Tensor, shape: object) -> tuple[Tensor, ...]:
    """Places in a flattened tensor as places in one of a shape: a tensor for each dimension.

    Raises:
        TypeError: the indices are not whole numbers, or the shape is none.
        ValueError: a size is negative.
    """
    if type(indices) not in PLAIN and asks(indices):
        return ask_for(unravel_index, locals())
    if indices.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    steps = [int(np.prod(sizes[dim + 1 :], dtype=np.int64)) for dim in range(len(sizes))]
    of_steps, of_sizes = (
        tensor(each, dtype=DTYPES["int64"], device=indices.device) for each in (steps, sizes)
    )
    wholes = eager_function("aten::floor_divide")(indices.unsqueeze(-1), of_steps)
    return tuple(eager_function("aten::remainder")(wholes, of_sizes).unbind(-1))


atleast_1d, atleast_2d, atleast_3d = map(_atleast, (1, 2, 3))

_MADE = (
    *(atleast_1d, atleast_2d, atleast_3d, block_diag, cartesian_prod),
    *(unique, unique_consecutive, unravel_index),
)
FUNCTIONS: Final[dict[str, object]] = {
    **{function.__name__: function for function in _MADE},
    "_segment_reduce": eager_function("aten::segment_reduce"),
}
"""What `rushlight.<name>` stands for, by name."""

# --------------------------------------------------------------------------- methods alone


def _polygamma(self: Tensor, n: int) -> object:
    """The derivative of order n of digamma."""
    return eager_function("aten::polygamma")(n, self)


def _nelement(self: Tensor) -> int:
    """The number of elements."""
    return int(self.numel())


def _ndimension(self: Tensor) -> int:
    """The number of dimensions."""
    return int(self.dim())


def _dim_order(self: Tensor, ambiguity_check: bool | list[MemoryFormat] = False) -> tuple[int, ...]:
    """The dimensions from the one of the largest stride to that of the smallest.

    Args:
        ambiguity_check: whether to refuse several orders; or memory formats, of which one has to
            decide then.

    Raises:
        RuntimeError: there are several orders.
        TypeError: the argument is neither.
    """
    strides = self.stride()
    formats = [] if isinstance(ambiguity_check, bool) else ambiguity_check
    if not isinstance(formats, list) or any(not isinstance(f, MemoryFormat) for f in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    if ambiguity_check and (1 in self.shape or len(set(strides)) < len(strides)):
        had = [f for f in formats if self.is_contiguous(memory_format=f)]
        if len(had) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the "
                "given memory formats."
            )
        dims = list(range(self.dim()))
        return tuple(dims if had[0].name == "contiguous_format" else [0, *dims[2:], 1])
    return tuple(sorted(range(self.dim()), key=lambda dim: -strides[dim]))


def _in_layout(name: str) -> object:
    """A method that sparse tensors know of."""

    def method(self: Tensor, *args: object, **kwargs: object) -> object:
        return elsewhere("sparse", f"aten::{name}", (self, *args), kwargs, _never)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = "What the name says, in a sparse layout."
    return method


def _never(run: object) -> NoReturn:
    raise AssertionError("sparse layouts have forms of their own")


_LAYOUTS: Final = (
    "to_sparse_coo sparse_resize_ sparse_resize_and_clear_ resize_as_sparse_ smm sspaddmm"
).split()


def _share_memory(self: Tensor) -> Tensor:
    """The tensor, its storage moved to memory that processes share."""
    if self.layout is STRIDED and not self.is_meta:
        share(self._array)  # without a storage beside it, for which all others are looked through
    else:
        self.untyped_storage().share_memory_()
    return self


def _is_shared(self: Tensor) -> bool:
    """Whether processes share the memory."""
    return self.untyped_storage().is_shared()


def _is_distributed(self: Tensor) -> bool:
    """False: no tensor is."""
    return False


def _again(function: Callable[..., object]) -> object:
    """A second function that does the same, so that the method is not the function."""
    made = FunctionType(function.__code__, globals(), function.__name__, function.__defaults__)
    made.__doc__ = function.__doc__
    return made


METHODS: Final[dict[str, Any]] = {
    **{"unique": _again(unique), "unique_consecutive": _again(unique_consecutive)},
    **{"polygamma": _polygamma},
    **{"nelement": _nelement, "ndimension": _ndimension, "dim_order": _dim_order},
    **{name: _in_layout(name) for name in _LAYOUTS},
    **{"share_memory_": _share_memory, "is_shared": _is_shared},
    **{"is_distributed": _is_distributed},
}
"""What `Tensor.<name>` stands for, by name."""
