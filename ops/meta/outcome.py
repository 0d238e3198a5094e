"""What an operator gives for tensors without data: sizes, dtypes and strides, and its errors.

No operator has a second description of its sizes.  Its forward is called, on a part of its operands
that costs nothing: without their rows where rows pass through it, on single elements where it works
element by element.  What the part leaves out is put back into the result's sizes.  Operators that
allow no such part are computed over zeros, within a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Final

import numpy as np

from ..linear_algebra.matrix_checks import LinAlgError
from ..memory.dims import wrap_dims
from ..memory.dtype import Array
from ..memory.errors import OnMeta, OperatorError
from ..memory.reserved import reserved
from ..random_numbers.random import default_generator
from ..shapes.windows import ends_in_channels
from ..table.pointwise import check_result_shape
from ..table.table import TABLE, Operator

__all__ = ["meets_elements", "outcome"]

Values = Sequence[Any]

_MOST: Final = 1 << 30
"""Bytes of operands up to which an operator is computed in full."""


def outcome(entry: Operator, values: Values) -> Any:
    """What the forward of an operator gives, in arrays that hold nothing but zeros.

    Views are views of the operands, what works in place gives its operand back.

    Raises:
        OnMeta: the result depends on what the tensors hold, or cannot be known without computing
            with more than 1 GiB.
        Exception: what the forward refuses.
    """
    asks = entry.data_dependent
    if asks is not None and asks(*values):
        if len(entry.signature.arguments) == 1 and not _gives_tensors(entry):
            raise RuntimeError("Tensor.item() cannot be called on meta tensors")
        raise OnMeta(f"{entry.full_name}: its result depends on data, and meta tensors hold none")
    if not _gives_tensors(entry):
        return entry.forward(*values)
    if entry.is_in_place:
        return _in_place(entry, values)
    with _nothing_drawn() if entry.random else nullcontext():
        found = _by_part(entry, values)
        return _in_full(entry, values) if found is None else found


@contextmanager
def _nothing_drawn() -> Iterator[None]:
    """What is drawn meanwhile is drawn again by whoever comes next."""
    state = default_generator.place()
    try:
        yield
    finally:
        default_generator.return_to(state)


def _gives_tensors(entry: Operator) -> bool:
    return "Tensor" in entry.schema[entry.schema.rindex("->") :]


# --------------------------------------------------------------------------- ways


def _by_part(entry: Operator, values: Values) -> object:
    """The outcome, found from a part of the operands; None where that tells nothing."""
    make = _way(entry)
    if make is None:
        return None
    try:
        return make(entry, values)
    except Exception:  # what is wrong is told by the whole forward, in words about whole tensors
        return None


Way = Callable[[Operator, Values], object]


def _way(entry: Operator) -> Way | None:
    if entry.rows:
        return _without_rows
    if entry.is_view or entry.is_in_place:
        return None
    names = [argument.name for argument in entry.signature.arguments]
    if "keepdim" in names:
        return _reduced
    if "size" in names and "device" in names:
        return _made
    if entry.formula or ("dim" not in names and _has_twin(entry)):
        return _element_by_element
    return None


def meets_elements(entry: Operator) -> bool:
    """Whether an operator takes its operands element by element."""
    return _way(entry) is _element_by_element


def _has_twin(entry: Operator) -> bool:
    return any(twin.is_in_place for twin in TABLE.operators(entry.name + "_"))


def _in_place(entry: Operator, values: Values) -> object:
    """What is written stays as it is, unless it is the tensor itself that changes."""
    if entry.written == "replaced":
        return entry.forward(*values)
    name, dot, overload = entry.full_name.partition(".")
    plain = TABLE.operator(name.removesuffix("_") + dot + overload)
    if plain is not None and not plain.is_in_place:
        made = outcome(plain, values)
        check_result_shape(values[0].shape, made.shape)
    return values[0]


def _in_full(entry: Operator, values: Values) -> object:
    given = _arrays(values)
    if entry.is_view:
        return _emptied(entry.forward(*values), given)
    size = sum(array.nbytes for array in given)
    if size > _MOST:
        raise OnMeta(f"{entry.full_name}: no sizes are known without computing with {size} bytes")
    try:
        made = _tried(entry, values)
    except (np.linalg.LinAlgError, LinAlgError) as error:
        raise OnMeta(f"{entry.full_name}: no sizes are known without data: {error}") from None
    return _emptied(made, [])


def _tried(entry: Operator, values: Values) -> object:
    """What the forward gives of elements that it does not refuse.

    Raises:
        Exception: what it refuses of the first.
    """
    first: Exception | None = None
    for sample in (*_adding_up(entry, values), _sample, _counted, _irregular):
        try:
            return entry.forward(*(_each(value, sample) for value in values))
        except (OperatorError, np.linalg.LinAlgError) as error:
            first = first or error
    assert first is not None
    raise first


def _adding_up(entry: Operator, values: Values) -> Iterator[Callable[[Array], Array]]:
    """Samples in which whole numbers add up, along their last dimension, to what is asked of them:
    the size of a result, or that of the runs of a dimension."""
    given = dict(zip([a.name for a in entry.signature.arguments], values, strict=False))
    total = given.get("output_size")
    if "lengths" in given and "axis" in given:
        total = given["data"].shape[given["axis"]]
    if not isinstance(total, int):
        return

    def sample(array: Array) -> Array:
        made = _sample(array)
        if array.dtype.kind == "i" and array.ndim and array.size:
            made[..., -1] = total
        return made

    yield sample


def _counted(array: Array) -> Array:
    """Ones: pivots count from 1 on, and something has to be drawn with some probability."""
    return np.ones_like(array)


def _irregular(array: Array) -> Array:
    """Numbers between 1 and 2 with no order in them, so that they make a matrix that can be
    inverted, however they are arranged; ones in the place of whole ones."""
    if array.dtype.kind in "biu":
        return np.ones_like(array)
    numbers = np.arange(1, array.size + 1) * 0.6180339887498949 % 1
    made = np.empty_like(array)
    made[...] = (1 + numbers**2).reshape(array.shape)
    return made


def _sample(array: Array) -> Array:
    """Zeros, with ones along the diagonals of matrices."""
    made = np.zeros_like(array)
    if array.ndim > 1 and array.dtype.kind != "i":
        places = np.arange(min(array.shape[-2:]))
        made[..., places, places] = 1
    return made


# --------------------------------------------------------------------------- parts


def _element_by_element(entry: Operator, values: Values) -> object:
    """Computed on single elements; sizes are those in which the operands meet."""
    arrays = _arrays(values)
    sizes = np.broadcast_shapes(*(array.shape for array in arrays))
    part = entry.forward(*_each(values, lambda a: np.ones([min(n, 1) for n in a.shape], a.dtype)))
    strides = _common_strides(arrays, sizes)

    def whole(array: Array) -> Array:
        steps = strides and [step * array.itemsize for step in strides]
        return reserved(sizes, array.dtype, steps)

    return _each(part, whole)


def _common_strides(arrays: list[Array], sizes: tuple[int, ...]) -> list[int] | None:
    """In elements, those of the first operand of full size, if they leave no gaps."""
    for array in arrays:
        if array.shape == sizes:
            order = sorted(range(array.ndim), key=lambda d: (-array.strides[d], d))
            if all(array.strides):
                return _dense(sizes, reversed(order))
    return None


def _dense(sizes: tuple[int, ...], inner_first: Iterable[int]) -> list[int]:
    """In elements, strides without gaps, of dimensions that lie in this order."""
    step, found = 1, [0] * len(sizes)
    for dim in inner_first:
        found[dim] = step
        step *= max(sizes[dim], 1)
    return found


def _without_rows(entry: Operator, values: Values) -> object:
    """Computed on operands without rows; the results' sizes of 0 are the number of rows."""
    assert entry.rows is not None
    names = [argument.name for argument in entry.signature.arguments]
    chosen = [names.index(name) for name in entry.rows.arguments if name in names]
    own = _arrays([values[chosen[0]]])[0]
    dim = _row_dim(entry.rows.dim, names, values, own)
    if dim is None:
        return None
    count, whole_dims = own.shape[dim], (slice(None),) * dim

    def cut(rows: int) -> object:
        def shorter(array: Array) -> Array:
            has_rows = array.ndim == own.ndim and array.shape[dim] == count
            return array[(*whole_dims, slice(rows))] if has_rows else array

        given = [_each(value, shorter) if i in chosen else value for i, value in enumerate(values)]
        made = entry.forward(*given)
        return own if made is given[chosen[0]] else made

    part = cut(0)
    if part is own:
        return own
    if any(array.shape.count(0) != 1 for array in _arrays([part])):
        return None
    memory_format = values[names.index("memory_format")] if "memory_format" in names else None
    has_channels_last = any(map(ends_in_channels, _arrays(values)))
    with_one = iter(_arrays([cut(1)]) if has_channels_last and not entry.formula else ())

    def whole(array: Array) -> Array:
        sizes = tuple(n or count for n in array.shape)
        strides = None
        if entry.formula:
            strides = _strides_by_format(own, sizes, memory_format)
        elif has_channels_last and ends_in_channels(next(with_one)):
            strides = _dense(sizes, _CHANNELS_FIRST[len(sizes)])
        return reserved(sizes, array.dtype, strides and [n * array.itemsize for n in strides])

    return _each(part, whole)


_CHANNELS_FIRST: Final = {n: (1, *range(n - 1, 1, -1), 0) for n in (4, 5)}
"""Dimensions of images and volumes with channels last, from the innermost one on."""


def _strides_by_format(own: Array, sizes: tuple[int, ...], asked: int | None) -> list[int] | None:
    """In elements, the strides of a copy in the memory format asked for; None for the usual."""
    if asked in (None, 1):
        return _common_strides([own], sizes)
    if asked == 0:
        return None
    return _dense(sizes, _CHANNELS_FIRST[len(sizes)])


def _row_dim(dim: int | None, names: list[str], values: Values, array: Array) -> int | None:
    """The dimension of rows; None if there is none, or a dimension is empty already."""
    if not all(array.shape):
        return None
    if dim is not None:
        return dim + array.ndim if array.ndim >= -dim else None
    busy = values[names.index("dim")] if "dim" in names else None
    dims = [] if busy is None else [busy] if isinstance(busy, int) else busy
    used = {each % max(array.ndim, 1) for each in dims}
    return next((each for each in range(array.ndim) if each not in used), None)


def _made(entry: Operator, values: Values) -> object:
    """Made with nothing along a dimension."""
    given = dict(zip([a.name for a in entry.signature.arguments], values, strict=True))
    size = given["size"]
    if not size or min(size) < 1:
        return None
    part = entry.forward(*({**given, "size": [0, *size[1:]]}.values()))
    strides = given.get("stride")
    if given.get("physical_layout"):
        strides = _dense(size, reversed(given["physical_layout"]))
    elif given.get("memory_format") not in (None, 0, 1):
        strides = _dense(size, _CHANNELS_FIRST[len(size)])
    return _each(
        part,
        lambda array: reserved(
            size, array.dtype, strides and [step * array.itemsize for step in strides]
        ),
    )


def _reduced(entry: Operator, values: Values) -> object:
    """Computed over one element of each dimension that goes, and over none of another."""
    names = [argument.name for argument in entry.signature.arguments]
    own = values[0]
    dims = values[names.index("dim")] if "dim" in names else None
    axes = wrap_dims([dims] if isinstance(dims, int) else dims, own.ndim)
    if not all(own.shape):
        return None
    keep = values[names.index("keepdim")]
    sizes = [1 if d in axes else n for d, n in enumerate(own.shape) if keep or d not in axes]
    part = entry.forward(own[(*(slice(1),) * own.ndim, ...)], *values[1:])
    if any(array.ndim != len(sizes) for array in _arrays([part])):
        return None  # there are several results in one, as of several quantiles
    return _each(part, lambda array: reserved(sizes, array.dtype))


# --------------------------------------------------------------------------- walks


def _arrays(values: Values) -> list[Array]:
    found = list[Array]()
    for value in values:
        if isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _arrays(value)
    return found


def _each(value: object, make: Callable[[Array], Array]) -> Any:
    """The same value with other arrays in it."""
    if isinstance(value, np.ndarray):
        return make(value)
    if type(value) is list or type(value) is tuple:
        return type(value)(_each(part, make) for part in value)
    return value


def _emptied(result: object, given: list[Array]) -> object:
    """The result without its data, unless it is a view of an operand."""

    def without_data(array: Array) -> Array:
        if any(array is each or np.may_share_memory(array, each) for each in given):
            return array
        steps = [abs(step) for step in array.strides]
        return reserved(array.shape, array.dtype, steps)

    return _each(result, without_data)
