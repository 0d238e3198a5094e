"""Arrays made of Python data: numbers, nested sequences of them, arrays and tensors.

Data is looked at three times, as in torch: the first items of sequences give the shape, the types
of all items the dtype, and then each number is stored.  Each look has errors of its own, so what
is wrong first is told first.  Lists of plain numbers, which are nearly all, NumPy reads at once.
"""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable, Iterable
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ..arithmetic.scalar_maths import int_of
from ..memory.dtype import Array, Device, DType, Dtype, admitted, default_dtype, of_numpy
from ..memory.errors import BadNumber, OperatorError
from ..memory.quiet import QUIET, enter, leave
from ..memory.warned import warn_caller_once
from ..table.pointwise import cast
from ..table.promotion import promote
from .untyped_storage import Storage

__all__ = ["array_of_arguments", "array_of_data", "is_sequence", "on_cpu_alone", "spelled_type"]

_MOST_DIMS: Final = 128
_HEAP_TYPE: Final = 1 << 9
_INT64: Final = np.dtype(np.int64)
_BOOL: Final = np.dtype(np.bool_)
_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)
_NESTED: Final = ({list}, {tuple})
_NUMBERS: Final = frozenset({bool, int, float, complex})


def array_of_data(data: object, dtype: Dtype | None) -> Array:
    """A new array of Python data; without a dtype it has the one that the numbers call for.

    Raises:
        TypeError: something is no number, or none that the dtype takes.
        ValueError: sequences differ in length; a whole number has more than 64 bits.
        OverflowError: a whole number is too large for a float or for uint64.
        RuntimeError: no dtype stands for something; a number is too large for the dtype.
    """
    state = enter(QUIET)  # what a dtype cannot hold is infinite there, which nobody is told
    try:
        return _array_of_data(data, dtype)
    finally:
        leave(state)


def _array_of_data(data: object, dtype: Dtype | None) -> Array:
    array = _of_numbers(data, dtype)
    if array is not None:
        return array
    array = _array_in(data)
    if array is not None:
        return array.astype(array.dtype if dtype is None else dtype).view(np.ndarray)
    if isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{spelled_type(data)}'")
    found = _at_once(data, None if dtype is None else of_numpy(dtype))
    if found is None:
        found = _of_another_library(data, dtype)
    return _one_by_one(data, dtype) if found is None else found


def _of_another_library(data: object, dtype: Dtype | None) -> Array | None:
    """A copy of a storage, or of memory shown by DLPack's protocol; None for anything else."""
    if hasattr(data, "_untyped_storage"):
        return None if dtype is None else _array_of_storage(data, dtype).copy()
    if not hasattr(data, "__dlpack__"):
        return None
    shared = admitted(np.from_dlpack(data))
    return shared.astype(shared.dtype if dtype is None else dtype)


def _array_in(data: object) -> Array | None:
    """The array that data is or holds."""
    if isinstance(data, np.ndarray):
        return admitted(data)
    return _array_of_tensor(data)


def _array_of_tensor(data: object) -> Array | None:
    """The array that a tensor holds; None for anything else."""
    found = getattr(data, "_array", None)
    return found if isinstance(found, np.ndarray) else None


_NO_DEVICE: Final = {
    "constructor": "constructor of the form torch.Tensor(tensor, device=device) is not supported.  "
    "Use torch.tensor(...) or torch.as_tensor(...) instead.",
    "new": "new of the form tensor.new(tensor, device=device) is not supported.  "
    "Use torch.as_tensor(...) instead.",
}


def on_cpu_alone(
    device: Device | str | None, args: tuple[object, ...], form: str = "constructor"
) -> None:
    """Refuse another device where `torch.Tensor(...)` and its like are told one.

    Raises:
        RuntimeError: it is not the CPU, or a tensor is given beside it.
    """
    if device is None:
        return
    if (kind := Device(device).type) != "cpu":
        raise RuntimeError(
            f"legacy constructor expects device type: cpu but device type: {kind} was passed"
        )
    if len(args) == 1 and _array_of_tensor(args[0]) is not None:
        raise RuntimeError(f"Legacy tensor {_NO_DEVICE[form]}")


def array_of_arguments(
    args: tuple[object, ...], sizes_class: type[tuple[int, ...]], dtype: Dtype | None = None
) -> Array:
    """The array of `torch.Tensor(...)`: sizes, or numbers; of a tensor its own.

    Args:
        args: what the class is called with.
        sizes_class: a tuple of this class is sizes, any other holds numbers.
        dtype: the one to have, which a tensor must have; the default dtype, and then a tensor may
            have any.

    Raises:
        TypeError: the arguments are neither; a tensor has another dtype.
        OperatorError: a size is negative.
    """
    made = default_dtype.float if dtype is None else dtype
    if not args:
        return np.empty(0, made)
    first = args[0]
    if len(args) == 1 and not isinstance(first, sizes_class):
        array = _array_of_tensor(first)
        if array is not None:
            if dtype is not None and array.dtype != dtype:
                raise TypeError(f"expected {of_numpy(dtype)} (got {of_numpy(array.dtype)})")
            return array
        if isinstance(first, Storage):
            held = first._bytes()
            return held[: held.size // made.itemsize * made.itemsize].view(made)
        if hasattr(first, "_untyped_storage"):
            return _array_of_storage(first, made)
        if is_sequence(first):
            return array_of_data(first, made)
    return np.empty(_sizes(first if isinstance(first, sizes_class) else args), made)


def _array_of_storage(storage: Any, dtype: Dtype) -> Array:
    """The elements of a storage, which shares its memory."""
    wanted, found = of_numpy(dtype), storage.dtype
    if found is not wanted:
        raise OperatorError(
            f"Expected a Storage of type {wanted.scalar_name} or an UntypedStorage, but got type "
            f"{found.scalar_name} for argument 1 'storage'"
        )
    elements: Array = storage._flat()._array
    return elements


def _sizes(given: Iterable[object]) -> list[int]:
    sizes: list[int] = []
    for size in given:
        number = None if isinstance(size, bool) else _whole(size)
        if number is None:
            raise TypeError(f"new(): data must be a sequence (got {type(size).__name__})")
        sizes.append(number)
    for size in sizes:
        if size < 0:
            raise OperatorError(f"Trying to create tensor with negative dimension {size}: {sizes}")
    return sizes


def _whole(number: Any) -> int | None:
    try:
        return python.index(number)
    except TypeError:
        return None


# ----------------------------------------------------------------------- at once


def _of_numbers(data: Any, dtype: Dtype | None) -> Array | None:
    """The array of a number, or of a list, or a list of lists, of numbers of one type, where NumPy
    makes it as torch does; None for others.  Tuples are as good as lists."""
    kind = type(data)
    if kind is list or kind is tuple:
        kinds = {*map(type, data)}
        if kinds in _NESTED:
            kinds = {*map(type, chain.from_iterable(data))}
        kind = kinds.pop() if len(kinds) == 1 else list
    if kind is float:
        wanted = default_dtype.float if dtype is None else dtype
        is_plain = wanted is _FLOAT32 or wanted is _FLOAT64
    elif kind is int:
        wanted = _INT64 if dtype is None else dtype
        is_plain = wanted is _INT64 or wanted is _FLOAT32 or wanted is _FLOAT64
    else:
        wanted = _BOOL if dtype is None else dtype
        is_plain = kind is bool and wanted is _BOOL
    if not is_plain:
        return None
    try:
        return np.array(data, wanted)
    except (ValueError, OverflowError):
        return None  # which is told by who looks at one after the other


def _at_once(data: object, wanted: DType | None) -> Array | None:
    """The array as NumPy reads lists; None where it may see them otherwise than torch."""
    first = data
    while isinstance(first, list | tuple) and first:
        first = first[0]
    own = first.dtype if isinstance(first, np.ndarray | np.generic) else None
    if own is None and type(first) not in _NUMBERS:
        return None
    try:
        found = np.array(data)
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return None
    if not found.size or (own is not None and (own != found.dtype or not found.ndim)):
        return None
    if isinstance(first, np.ndarray):
        if not first.ndim:
            return None
        _warn_of_arrays()
    return _without_dtype(data, found, own) if wanted is None else _of_dtype(data, found, wanted)


def _without_dtype(data: object, found: Array, own: Dtype | None) -> Array | None:
    if own is not None:
        return admitted(found)
    if found.dtype == _INT64 or found.dtype == _BOOL:
        return found
    if not _types_in(data, found.ndim) <= _NUMBERS:
        return None
    if found.dtype == np.float64:
        return found.astype(default_dtype.float, copy=False)
    return found.astype(default_dtype.complex) if found.dtype == np.complex128 else None


def _types_in(data: Any, depth: int) -> set[type]:
    """The types of what lists of lists hold."""
    items: Iterable[Any] = data if depth else (data,)
    for _ in range(depth - 1):
        items = chain.from_iterable(items)
    return set(map(type, items))


def _of_dtype(data: object, found: Array, wanted: DType) -> Array | None:
    source, target = found.dtype.kind, wanted.kind
    if target == "f" and source in "bif":
        wide = found.astype(np.float64, copy=False) if source == "i" else found
        return _rounded(wide, wanted.numpy)
    if target == "c" and source in "bifc":
        return found.astype(np.complex128, copy=False).astype(wanted.numpy, copy=False)
    if target in "iu" and source in "bi" and wanted.numpy != np.uint64:
        return _narrowed(found, wanted.numpy)
    if target == "i" and source == "f" and _types_in(data, found.ndim) == {float}:
        return _narrowed(found, wanted.numpy)
    return found.astype(np.bool_) if target == "b" and source == "b" else None


def _limits(dtype: Dtype) -> tuple[int, int]:
    """The least and greatest whole number that a dtype takes: an unsigned one takes negatives."""
    limits = np.iinfo(dtype)
    return int(limits.min) or -int(limits.max), int(limits.max)


def _narrowed(numbers: Array, dtype: Dtype) -> Array | None:
    """Numbers in a whole-number dtype; None if one is too large."""
    least, most = _limits(dtype)
    if not np.all((numbers >= least) & (numbers <= most)):
        return None
    with np.errstate(invalid="ignore"):  # 2.0**63 passes, and wraps
        return numbers.astype(dtype)


def _rounded(numbers: Array, dtype: Dtype) -> Array:
    """Doubles in another dtype; to 16 bits and less by way of float32."""
    if dtype.itemsize < 4:
        numbers = numbers.astype(_FLOAT32)
    return cast(numbers, dtype)


# ----------------------------------------------------------------------- shape and dtype


def is_sequence(data: object) -> bool:
    """Whether an object has items by number, as far as its type tells (tensors do not count)."""
    if isinstance(data, dict | np.generic | MappingProxyType):
        return False
    if not any("__getitem__" in vars(cls) for cls in type(data).__mro__):
        return False
    return _array_of_tensor(data) is None


def _shape(data: Any) -> list[int]:
    shape: list[int] = []
    while type(data) not in _NUMBERS and is_sequence(data):
        shape.append(len(data))
        if len(shape) > _MOST_DIMS:
            raise ValueError(f"too many dimensions '{spelled_type(data)}'")
        if not shape[-1]:
            break
        try:
            item = data[0]
        except Exception:
            raise ValueError(
                f"could not determine the shape of object type '{spelled_type(data)}'"
            ) from None
        _check_self(item, data)
        data = item
    return shape


def _check_self(item: object, data: object) -> None:
    if item is data and not isinstance(data, str):
        raise TypeError("new(): self-referential lists are incompatible")


def _inferred(data: Any) -> Dtype:
    """The dtype that data calls for: of the items of a sequence the common one."""
    array = _array_in(data)
    if array is not None:
        return array.dtype
    if isinstance(data, np.generic) and not isinstance(data, np.str_ | np.bytes_):
        return of_numpy(data.dtype).numpy
    for number, dtype in (
        *((bool, _BOOL), (int, _INT64), (float, default_dtype.float)),
        (complex, default_dtype.complex),
    ):
        if isinstance(data, number):
            return dtype
    if isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{spelled_type(data)}'")
    if not is_sequence(data):
        raise RuntimeError(f"Could not infer dtype of {spelled_type(data)}")
    found = None
    for place in range(len(data)):
        item = data[place]
        _check_self(item, data)
        kind = _inferred(item)
        found = kind if found is None else promote(found, kind)
    return default_dtype.float if found is None else found


def spelled_type(data: object) -> str:
    """The name of a type as C has it: of one written in C with its module."""
    cls = type(data)
    if cls.__module__ == "builtins" or cls.__flags__ & _HEAP_TYPE:
        return cls.__name__
    return f"{cls.__module__}.{cls.__name__}"


# ----------------------------------------------------------------------- one by one


def _one_by_one(data: object, dtype: Dtype | None) -> Array:
    shape = _shape(data)
    if dtype is None:
        dtype = _inferred(data)
    if 0 in shape:
        return np.empty(shape, dtype)
    letter = of_numpy(dtype).kind
    if letter in "iu":
        stored: list[object] = list(_leaves(data, shape, 0, _whole_number(dtype)))
        return np.array(stored, dtype).reshape(shape)
    if letter == "b":
        return np.array(list(_leaves(data, shape, 0, _truth)), np.bool_).reshape(shape)
    if letter == "c":
        return np.array(list(_leaves(data, shape, 0, _complex))).astype(dtype).reshape(shape)
    if letter != "f":
        raise RuntimeError("store_scalar: invalid type")
    numbers = np.array(list(_leaves(data, shape, 0, _real)), np.float64)
    return _rounded(numbers, dtype).reshape(shape)


def _leaves(
    data: Any, shape: list[int], depth: int, store: Callable[[object], object]
) -> Iterable[object]:
    if depth == len(shape):
        yield store(data)
        return
    array = _array_in(data)
    try:
        items = list(data if array is None else array)
    except TypeError:
        raise TypeError("not a sequence") from None
    if len(items) != shape[depth]:
        raise ValueError(
            f"expected sequence of length {shape[depth]} at dim {depth} (got {len(items)})"
        )
    for item in items:
        if isinstance(item, np.ndarray):
            _warn_of_arrays()
        yield from _leaves(item, shape, depth + 1, store)


def _warn_of_arrays() -> None:
    warn_caller_once(
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
        "converting the list to a single numpy.ndarray with numpy.array() before converting to a "
        "tensor."
    )


def _real(number: Any) -> float:
    return math.ldexp(number, 0) if _array_of_tensor(number) is None else float(number)


def _complex(number: Any) -> complex:
    if isinstance(number, complex) or hasattr(type(number), "__complex__"):
        return complex(number)
    return complex(_real(number))


def _truth(number: Any) -> bool:
    return bool(number if isinstance(number, float | complex | np.bool_) else python.index(number))


def _whole_number(dtype: Dtype) -> Callable[[object], int]:
    """What stores a number in a whole-number dtype: floats are cut, too large numbers refused."""
    (least, most), low, bits = _limits(dtype), int(np.iinfo(dtype).min), 8 * dtype.itemsize

    def store(number: Any) -> int:
        if isinstance(number, float):
            fits = low <= number <= float(most)
            value = int_of(number) if fits else 0  # 2.0**63 passes, and wraps
        else:
            value = _of_64_bits(python.index(number))
            fits = least <= value <= most
        if not fits:
            raise _overflow(dtype)
        return value if value >= 0 or low else value + (1 << bits)

    return _store_uint64 if dtype == np.uint64 else store


def _store_uint64(number: object) -> int:
    if not isinstance(number, int | np.integer):
        raise TypeError("an integer is required")
    if number < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if number >> 64:
        raise OverflowError("int too big to convert")
    return int(number)


def _of_64_bits(number: int) -> int:
    if not -(1 << 63) <= number < 1 << 63:
        raise BadNumber("Overflow when unpacking long long", code="number-too-large")
    return int(number)


def _overflow(dtype: Dtype) -> OperatorError:
    return OperatorError(
        f"value cannot be converted to type {dtype.name} without overflow",
        code="number-too-large",
        headline=f"`data` has a number that does not fit `torch.{dtype.name}`",
    )
