"""What `rushlight.<name>` offers of tensors: functions, dtypes, modes, random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, Literal, overload

import numpy as np

from ...typecheck.types.scalar_types import OLD_NAMES
from ..kernels.threads import get_threads, set_threads
from ..linear_algebra.einsum import from_sublists
from ..memory.dtype import (
    DTYPES,
    LAYOUTS,
    MEMORY_FORMATS,
    QSCHEMES,
    Device,
    DType,
    Layout,
    MemoryFormat,
    QScheme,
    dtype_by_number,
    get_default_dtype,
    set_default_dtype,
)
from ..memory.errors import OperatorError
from ..memory.warned import warn_caller, warn_caller_once
from ..random_numbers.random import Generator, default_generator
from ..random_numbers.random import manual_seed as seed_default_generator
from ..table.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from ..table.table import TABLE
from ..tensors import following as following  # memory that moves tells it
from ..tensors.asarray import asarray
from ..tensors.construct import (
    as_tensor,
    finfo,
    from_numpy,
    frombuffer,
    given_dtype,
    iinfo,
    stands_for,
    tensor,
)
from ..tensors.display import set_printoptions
from ..tensors.interchange import dlpack, dlpack_device, from_dlpack
from ..tensors.overriding import PLAIN, ask_for, askers, asks, handle_torch_function
from ..tensors.sizes import Size
from ..tensors.tensor import Parameter, Tensor
from . import asking as asking  # it tells tensors
from . import methods
from .aten import aten
from .calls import seen_as_view
from .dispatch import EagerFunction, eager_function
from .functional import FUNCTIONS

__all__ = ["names_with_prefix", "public_names"]


# --------------------------------------------------------------------------- written by hand


@stands_for("aten::is_tensor")
def is_tensor(obj: object) -> bool:
    """Whether it is a tensor."""
    return isinstance(obj, Tensor)


@stands_for("aten::manual_seed")
def manual_seed(seed: int) -> Generator:
    """Start the stream of a seed in the default generator, which is returned."""
    return seed_default_generator(seed)


def seed() -> int:
    """Start the stream of a seed from the operating system, which is returned."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator was started with."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, as bytes."""
    return Tensor._of(np.frombuffer(default_generator.state_bytes(), np.uint8).copy())


def _bytes_of(state: object) -> bytes:
    """The bytes of a state.

    Raises:
        TypeError: it is no tensor of bytes.
    """
    if not isinstance(state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
    if state._array.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    return state._array.tobytes()


def set_rng_state(new_state: Tensor) -> None:
    """Go back to a state of the default generator.

    Raises:
        TypeError: it is no tensor of bytes.
        RuntimeError: it is no state.
    """
    default_generator.set_state_bytes(_bytes_of(new_state))


def _get_state(self: Generator) -> Tensor:
    """The state, as bytes."""
    return Tensor._of(np.frombuffer(self.state_bytes(), np.uint8).copy())


def _set_state(self: Generator, new_state: Tensor) -> Generator:
    """Go back to a state that `get_state` gave.

    Raises:
        TypeError: it is no tensor of bytes.
        RuntimeError: it is no state.
    """
    self.set_state_bytes(_bytes_of(new_state))
    return self


Tensor.__dlpack__ = dlpack  # type: ignore[method-assign, assignment]
Tensor.__dlpack_device__ = dlpack_device  # type: ignore[method-assign, assignment]
Generator.get_state = _get_state  # type: ignore[attr-defined]
Generator.set_state = _set_state  # type: ignore[attr-defined]


@overload
def nonzero(
    input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def nonzero(
    input: Tensor, *, as_tuple: Literal[True], out: Tensor | None = None
) -> tuple[Tensor, ...]: ...
@stands_for("aten::nonzero")
def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> object:
    """The positions of the elements that are not zero, as rows or as one tensor a dimension."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(nonzero, locals())
    if not as_tuple and out is None:
        return eager_function("aten::nonzero")(input)
    find: Callable[..., object] = methods.nonzero
    return find(input, as_tuple=as_tuple, out=out)


@stands_for("aten::split")
def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> object:
    """Parts of the given size, or sizes, along a dimension."""
    if type(tensor) not in PLAIN and asks(tensor):
        return ask_for(split, locals())
    return eager_function("aten::split")(tensor, split_size_or_sections, dim)


@stands_for("aten::einsum")
def einsum(equation: object, *operands: object) -> object:
    """Sums of products named by letters: `einsum("ij,jk->ik", a, b)`."""
    given: Sequence[object] = operands
    if isinstance(equation, str) and len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        given = operands[0]
    asked = askers(given, {})
    if asked is not None:
        return handle_torch_function(einsum, asked, equation, *given)
    if not given:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    if not isinstance(equation, str):
        equation, given = from_sublists(equation, *given)
    made: object = eager_function("aten::einsum")(equation, list(given))
    return seen_as_view(made, given[0]) if len(given) == 1 else made


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: object = None) -> Tensor:
    """The sums of products over pairs of dimensions, or over `dims` last and first ones."""
    if (type(a) not in PLAIN or type(b) not in PLAIN) and asks(a, b):
        return ask_for(tensordot, locals())
    options = {} if out is None else {"out": out}
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = [list(range(-dims, 0)), list(range(dims))]
    if isinstance(dims, float):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
            f"containing two lists, but got dims={dims}"
        )
    return aten.tensordot(a, b, list(dims[0]), list(dims[1]), **options)


@stands_for("aten::chain_matmul")
def chain_matmul(*matrices: object, out: object = None) -> object:
    """The product of matrices, in the order that takes the fewest multiplications."""
    asked = askers(matrices, {})
    if asked is not None:
        return handle_torch_function(chain_matmul, asked, *matrices)
    options = {} if out is None else {"out": out}
    given = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], list) else matrices
    return eager_function("aten::chain_matmul")(list(given), **options)


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The Fourier transforms of overlapping pieces of a signal."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(stft, locals())
    given = (input, n_fft, hop_length, win_length, window, center, pad_mode, normalized)
    return methods.stft(*given, onesided, return_complex, align_to_window)


def lu(
    A: Tensor,
    pivot: bool = True,
    get_infos: bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> tuple[Tensor, ...]:
    """L and U in one matrix, the rows exchanged, and on demand where U has a zero."""
    if type(A) not in PLAIN and asks(A):
        return ask_for(lu, locals())
    found: tuple[Tensor, ...] = eager_function("aten::_lu_with_info")(A, pivot, not get_infos)
    if out is not None:
        for result, target in zip(found, out, strict=False):
            target.resize_as_(result).copy_(result)
        return out
    return found if get_infos else tuple(found)[:2]


def norm(
    input: Tensor,
    p: object = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: object = None,
    dtype: DType | None = None,
) -> Tensor:
    """The norm over some dimensions, or all."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(norm, locals())
    dims = [dim] if isinstance(dim, int) else dim
    options: dict[str, object] = {} if out is None else {"out": out}
    named = isinstance(p, str)
    if named and not (p == "fro" and (dims is None or len(dims) <= 2)):
        dims = list(range(input.dim())) if dims is None else dims
        return aten.linalg_matrix_norm(input, p, dims, keepdim, dtype=dtype, **options)
    order = 2 if named or p is None else p
    return aten.linalg_vector_norm(input, order, dims, keepdim, dtype=dtype, **options)


@stands_for("aten::meshgrid")
def meshgrid(*tensors: object, indexing: str | None = None) -> object:
    """The coordinates of the grid that some vectors span."""
    in_list = len(tensors) == 1 and isinstance(tensors[0], (list, tuple))
    asked = askers(tensors, {})
    if asked is not None:
        options = {} if in_list and indexing is None else {"indexing": indexing}
        return handle_torch_function(meshgrid, asked, *tensors, **options)
    given: Any = tensors[0] if in_list else tensors
    if indexing is None:
        warn_caller_once(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument."
        )
    if len({each.device for each in given if isinstance(each, Tensor)}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same device")
    return eager_function("aten::meshgrid")(
        list(given), indexing="ij" if indexing is None else indexing
    )


@stands_for("aten::range")
def closed_range(*args: object, **kwargs: object) -> Tensor:
    """The numbers from `start` up to and with `end`, in steps: torch's older `arange`."""
    warn_caller(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end)."
    )
    return aten.range(*args, **kwargs)


closed_range.__name__ = closed_range.__qualname__ = "range"


@stands_for("aten::broadcast_tensors")
def broadcast_tensors(*tensors: object) -> object:
    """The tensors, expanded to their common shape."""
    asked = askers(tensors, {})
    if asked is not None:
        return handle_torch_function(broadcast_tensors, asked, *tensors)
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    return eager_function("aten::broadcast_tensors")(list(given))


@stands_for("aten::broadcast_shapes")
def broadcast_shapes(*shapes: object) -> Size:
    """The shape that all the given ones broadcast to.

    Raises:
        RuntimeError: there is none, or a shape is something else.
        ValueError: a size is negative.
    """
    sizes = [_sizes(shape) for shape in shapes]
    common = [1] * max(map(len, sizes), default=0)
    for number, size in enumerate(sizes):
        for place in range(-1, -1 - len(size), -1):
            if size[place] in (1, common[place]):
                continue
            if common[place] != 1:
                raise OperatorError(
                    f"Attempting to broadcast a dimension of length {size[place]} at {place}! "
                    f"Mismatching argument at index {number} had {size}; but expected shape should "
                    f"be broadcastable to {common}",
                    code="shape-mismatch",
                )
            if size[place] < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            common[place] = size[place]
    return Size(common)


def _sizes(shape: object) -> tuple[int, ...]:
    """A shape as `broadcast_shapes` takes it: one size or several."""
    if isinstance(shape, int):
        return (shape,)
    if not isinstance(shape, (tuple, list)):
        raise RuntimeError(
            f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}"
        )
    return tuple(shape)


def is_storage(obj: object) -> bool:
    """Whether it is a storage."""
    return hasattr(obj, "nbytes") and hasattr(obj, "data_ptr") and not isinstance(obj, Tensor)


@stands_for("aten::numel")
def numel(input: Tensor) -> int:
    """The number of elements."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(numel, locals())
    return input._array.size


@stands_for("aten::promote_types")
def promote_types(type1: DType, type2: DType) -> DType:
    """The smallest dtype above both."""
    one = given_dtype("promote_types", type1, "type1", 1)
    return _promoted(one, given_dtype("promote_types", type2, "type2", 2))


@cache
def _promoted(one: DType, two: DType) -> DType:
    return eager_dtype("aten::promote_types", one, two)


@stands_for("aten::can_cast")
def can_cast(from_: DType, to: DType) -> bool:
    """Whether a result of one dtype may be written into a tensor of the other."""
    read, written = given_dtype("can_cast", from_, "from_", 1), given_dtype("can_cast", to, "to", 2)
    return _can_be_cast(read, written)


@cache
def _can_be_cast(read: DType, written: DType) -> bool:
    return bool(TABLE.operators("aten::can_cast")[0].forward(read.number, written.number))


def eager_dtype(name: str, *dtypes: DType) -> DType:
    """The dtype an operator over dtypes gives."""
    number = TABLE.operators(name)[0].forward(*(d.number for d in dtypes))
    assert isinstance(number, int)
    return dtype_by_number(number)


def get_num_threads() -> int:
    """How many threads share a large piece of work."""
    return get_threads()


def set_num_threads(count: int) -> None:
    """Let that many threads share a large piece of work.

    Raises:
        RuntimeError: the count is not a positive int.
        ValueError: it does not fit into 64 bits.
    """
    set_threads(count)


_MADE = (
    *(methods.slice_inverse, tensor, as_tensor, asarray, from_numpy, from_dlpack, frombuffer),
    *(get_num_threads, set_num_threads),
    *(is_tensor, is_storage, numel, manual_seed, seed, initial_seed, get_rng_state, set_rng_state),
    *(nonzero, split, einsum, meshgrid, tensordot, chain_matmul, norm, lu, stft),
    *(broadcast_tensors, broadcast_shapes, promote_types, can_cast, finfo, iinfo),
    *(set_printoptions, get_default_dtype, set_default_dtype, no_grad, enable_grad),
    *(inference_mode, set_grad_enabled, is_grad_enabled, closed_range),
    *(Tensor, Size, Generator, Parameter, Device, DType, QScheme, Layout, MemoryFormat),
)
"""Functions and classes that Python finds by their own names."""

_BY_HAND: Final[dict[str, object]] = {
    **{made.__name__: made for made in _MADE},
    **{"legacy_contiguous_format": MEMORY_FORMATS["contiguous_format"], "bit": DTYPES["uint1"]},
    **{"default_generator": default_generator, "newaxis": None},
    **FUNCTIONS,
    **{"inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e},
}


def public_names() -> dict[str, Any]:
    """What `rushlight.<name>` stands for, by name."""
    names: dict[str, object] = {}
    for qualified, face in TABLE.faces().items():
        if face in ("function", "both"):
            names[qualified.removeprefix("aten::")] = eager_function(qualified)
    names |= DTYPES
    names |= {short: DTYPES[name] for short, name in OLD_NAMES.items()}
    names |= LAYOUTS
    names |= QSCHEMES
    names |= MEMORY_FORMATS
    return names | _BY_HAND


def names_with_prefix(prefix: str) -> dict[str, EagerFunction]:
    """What a package stands for whose operators are called `aten::<prefix><name>`, by name."""
    space = f"aten::{prefix}"
    return {
        name.removeprefix(space): eager_function(name)
        for name in TABLE.names()
        if name.startswith(space)
    }
