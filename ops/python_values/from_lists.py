"""`torch.tensor` and `torch.as_tensor` of numbers and lists, as script calls them.

Unlike in Python, an empty list has a type, which gives the dtype; floats pass through the
default dtype on their way to another; and what does not fit a dtype is cut, as C cuts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from struct import pack
from typing import Any, Final

import numpy as np

from ..memory.dtype import Array, Device, Scalar, default_dtype, numpy_dtype, of_numpy
from ..memory.errors import OperatorError
from ..table.grad_mode import RUNNING
from ..table.inline import native
from ..table.pointwise import cast, number_in
from ..table.promotion import number_dtype
from ..table.table import operator
from .hashing import type_name

_OPTIONS: Final = "*, ScalarType? dtype=None, Device? device=None, bool requires_grad=False"


def _first(data: object) -> object:
    while isinstance(data, list) and data:
        data = data[0]
    return data


def _element_type(data: object) -> str:
    """The type of the elements of lists of which nothing else tells it."""
    first = _first(data)
    return "float" if isinstance(first, list) else type_name(first)


def _shape(data: object) -> list[int]:
    shape: list[int] = []
    while isinstance(data, list):
        shape.append(len(data))
        if not data:
            break
        data = data[0]
    return shape


def _array_of_lists(data: object, element: str) -> Array:
    """A tensor of the numbers in lists, of the dtype that their type gives.

    Raises:
        OperatorError: the lists differ in length, or hold something else.
    """
    _check_element(element, data)
    dtype = default_dtype.float if element == "float" else _DTYPES[element]
    shape = _shape(data)
    if 0 in shape:
        return np.empty(shape, dtype)
    if len(shape) == 1:
        return _array_of_list(data, element).astype(dtype)
    return _array_of_list(_elements(data, shape), element).astype(dtype).reshape(shape)


def _array_of_list(data: Any, element: str) -> Array:
    """The numbers of one list: those of a long one are packed first, as Python does it sooner."""
    letter = _PACKED.get(element)
    if letter is None or len(data) < _MANY:
        return np.array(data, _DTYPES[element])
    return np.frombuffer(pack(f"{len(data)}{letter}", *data), _DTYPES[element])


_MANY: Final = 16
_PACKED: Final = {"int": "q", "float": "d"}
_DTYPES: Final = {"int": np.dtype(np.int64), "float": np.dtype(float), "bool": np.dtype(bool)}


def _check_element(element: str, data: object) -> None:
    of_numbers = element.startswith("Union[") and "bool" not in element
    if element in ("complex", "number") or of_numbers:
        shown = "Scalar" if element == "number" else element.replace("[", "(").replace("]", ")")
        raise OperatorError(
            f"Add new condition, expected Float, Complex, Int, or Bool but got{shown}",
            headline=f"no tensor is made of a list of `{element}` here",
        )
    if element not in _DTYPES:
        rest = _EMPTY if element == "Tensor" and not data else ""
        raise OperatorError(f"Input must be of ints, floats, or bools, got {element}{rest}")


_EMPTY: Final = (
    "\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to create "
    "an empty list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements"
    " in the list for Python 2)"
)


def _elements(data: Any, shape: Sequence[int]) -> list[object]:
    """What lists in lists hold."""
    level: list[Any] = data
    for size in shape[1:]:
        if {*map(len, level)} != {size}:
            return list(_one_by_one(data, shape, 0))  # which says what is wrong
        level = [*chain.from_iterable(level)]
    return level


def _one_by_one(data: Any, shape: Sequence[int], depth: int) -> Iterator[object]:
    if len(data) != shape[depth]:
        raise OperatorError(
            f"Expected sequence of length {shape[depth]} at dim {depth} (got {len(data)})",
            code="shape-mismatch",
            headline=f"the lists of `data` differ in length: {shape[depth]} and {len(data)}",
        )
    if depth == len(shape) - 1:
        yield from data
        return
    for each in data:
        yield from _one_by_one(each, shape, depth + 1)


def _array_of(data: Any, element: str | None) -> Array:
    if isinstance(data, np.ndarray):
        return data.copy()
    if isinstance(data, list | tuple):
        data = list(data)
        return _array_of_lists(data, element or _element_type(data))
    return number_in(data, number_dtype(data))


_SAFE: Final = 1e38
"""Floats up to which every dtype of 32 bits holds."""


def _of_number(data: object, dtype: int | None) -> Array | None:
    """A float in the default dtype, or a whole number as int64; None of others, and of what may not
    fit."""
    if type(data) is float:
        first = default_dtype.float
        is_first = dtype is None or numpy_dtype(dtype) is first
        if is_first and first in _FLOATS and -_SAFE < data < _SAFE:
            return np.array(data, first)
        return None
    fits = type(data) is int and -(1 << 63) <= data < 1 << 63
    is_whole = fits and (dtype is None or numpy_dtype(dtype) is _INT64)
    return np.array(data, _INT64) if is_whole else None


def _of_whole_numbers(data: list[Any], dtype: int | None, element: str | None) -> Array | None:
    """A short list of ints as int64; None of others."""
    if element != "int" or not 0 < len(data) < _MANY or type(data[0]) is not int:
        return None
    return np.array(data, _INT64) if dtype is None or numpy_dtype(dtype) is _INT64 else None


_FLOATS: Final = frozenset((np.dtype(np.float32), np.dtype(np.float64)))
_INT64: Final = np.dtype(np.int64)


def tensor(
    data: Array | Scalar | list[object],
    dtype: int | None,
    device: Device | None,
    requires_grad: bool,
    element: str | None = None,
) -> Array:
    if not requires_grad:
        if isinstance(data, list):
            found = _of_whole_numbers(data, dtype, element)
        else:
            found = _of_number(data, dtype)
        if found is not None:
            return found
    made = _array_of(data, element)
    if dtype is not None:
        made = cast(made, numpy_dtype(dtype))
    if requires_grad and of_numpy(made.dtype).kind not in "fc":
        raise OperatorError(
            "Only Tensors of floating point and complex dtype can require gradients"
        )
    if requires_grad and RUNNING.record is not None:
        RUNNING.record.handle_of(made).requires_grad_(True)
        RUNNING.record.guard(made)
    return made


operator(
    f"aten::tensor(t[] data, {_OPTIONS}) -> Tensor",
    of_leaves=True,
    order="bool float int complex -",
    told="elements",
    native=native(
        "list_tensor({0}, {1})",
        at={3: "False"},
        of=[
            f"{element}{levels} {dtype} {device} bool str"
            for element in ("int", "float", "bool")
            for levels in ("[]", "[][]", "[][][]")
            for dtype in ("int", "none")
            for device in ("place", "none")
        ],
        gives="made",
    ),
)(tensor)
operator(
    f"aten::tensor.complex(complex t, {_OPTIONS}) -> Tensor",
    of_leaves=True,
    order="bool float int complex -",
)(tensor)
for _type in ("float", "int", "bool"):
    operator(
        f"aten::tensor.{_type}({_type} t, {_OPTIONS}) -> Tensor",
        of_leaves=True,
        native=native(
            f"{_type}_tensor({{0}}, {{1}})",
            at={3: "False"},
            of=(f"{_type} int place bool", f"{_type} int none bool"),
        ),
    )(tensor)


def as_tensor(
    data: Array, dtype: int | None, device: Device | None, element: str | None = None
) -> Array:
    return tensor(data, dtype, device, False, element)


for _type in ("float", "int", "bool", "complex"):
    operator(
        f"aten::as_tensor.{_type}({_type} t, *, ScalarType? dtype=None, Device? device=None) "
        "-> Tensor",
    )(as_tensor)
operator(
    "aten::as_tensor.list(t[] data, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
    order="bool float int complex -",
    told="elements",
)(as_tensor)
