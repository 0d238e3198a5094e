"""Tensors that may not be written: their elements share memory with each other or with an input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Final, Literal

import numpy as np

from .dtype import Array
from .errors import OperatorError
from .storage import address, bounds_of, storage_of
from .warned import warn_caller

__all__ = [
    "OutOverlap",
    "Written",
    "check_apart",
    "check_inputs",
    "check_out",
    "check_resized",
    "check_written",
    "guarded",
    "holds_apart",
    "lies_as",
    "may_share",
    "overlaps_itself",
    "reach_apart",
    "reach_of",
    "warn_if_expanded",
]

ndarray: Final = np.ndarray

Written = Literal["checked", "itself", "unchecked", "replaced"]
"""What is looked at before an operator writes its first argument: whether its elements share memory
with each other and with inputs; the first alone; or nothing, as it writes one value everywhere or
looks itself after its other checks, or as it changes what the tensor is and no element."""

OutOverlap = Literal["", "read-first", "apart"]
"""Where the `out` of an operator may lie: not on a part of an input; anywhere, as inputs are read
first; or not even on an input itself."""


def overlaps_itself(array: Array) -> bool:
    return array.size > 0 and any(
        not step and count > 1 for step, count in zip(array.strides, array.shape, strict=True)
    )


def reach_apart(array: Array) -> int | None:
    """How many bytes an array reaches over, if each element has memory of its own, as strides tell
    that go forwards; None if they do not."""
    return reach_of(array.itemsize, array.shape, array.strides)


def reach_of(itemsize: int, shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """The same of an array of such elements, sizes and strides."""
    reach = itemsize
    for step, size in sorted(zip(strides, shape, strict=True)):
        if size > 1:
            if step < reach:
                return None
            reach += step * (size - 1)
    return reach


def holds_apart(array: Array, view: Array) -> bool:
    """Whether a view goes forwards through an array's memory, each element at a place of its own,
    as strides tell."""
    reach, begin = reach_apart(view), address(view) - address(array)
    if reach is None:
        return False
    return not view.size or (begin >= 0 and begin + reach <= array.nbytes)


def warn_if_expanded(array: Array, name: str, example: str) -> None:
    """Warn of a tensor that has several elements in one place and is about to be written."""
    if 0 in array.strides and overlaps_itself(array):
        warn_caller(
            f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before "
            f"performing this operation. This also applies to advanced indexing e.g. {example}"
        )


def _is_dense(array: Array) -> bool:
    """Whether the elements fill their memory without gaps or overlap, in some order."""
    if array.flags.forc:
        return True
    expected = array.itemsize
    for step, count in sorted(zip(array.strides, array.shape, strict=True)):
        if count != 1:
            if step != expected:
                return False
            expected *= count
    return True


def lies_as(array: Array, other: Array) -> bool:
    """Whether two tensors are the same elements of the same memory, in the same order."""
    return (
        array.dtype is other.dtype
        and array.shape == other.shape
        and array.strides == other.strides
        and _may_share(array, array if array.base is None else array.base, other)
        and address(array) == address(other)
    )


def _overlaps(target: Array, other: Array) -> bool:
    """Whether two tensors share some memory, as far as torch can tell."""
    if target is other:
        return True
    if not target.size or not other.size or not (_is_dense(target) and _is_dense(other)):
        return False
    a, b = bounds_of(target), bounds_of(other)
    return a[0] < b[1] and b[0] < a[1]


def _overlaps_in_part(target: Array, other: Array) -> bool:
    """Whether two tensors share some memory, but not as one and the same tensor."""
    if not target.size or not other.size or not (_is_dense(target) and _is_dense(other)):
        return False
    a, b = bounds_of(target), bounds_of(other)
    if a == b:
        return target.strides != other.strides
    return a[0] < b[1] and b[0] < a[1]


def _may_share(target: Array, owner: Array, other: Array) -> bool:
    """Whether two tensors may share memory; `owner` is whose memory the first one lies in.

    Arrays that own their memory share none with each other; other owners may have got it from
    anywhere, so that bytes decide.
    """
    base = other if other.base is None else other.base
    if base is owner:
        return True
    known = type(base) is ndarray and type(owner) is ndarray
    if known and base.flags.owndata and owner.flags.owndata:
        return False
    return np.may_share_memory(target, other)


def may_share(array: Array, other: Array) -> bool:
    """Whether two tensors may share memory."""
    return _may_share(array, array if array.base is None else array.base, other)


def _shared() -> OperatorError:
    return OperatorError(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer "
        "to a single memory location. Please clone() the tensor before performing the operation.",
        headline="an input shares some of its memory with the tensor that is written",
    )


def check_inputs(target: Array, operands: Iterable[object]) -> None:
    """Refuse to write a tensor that shares memory with an input it is not equal to.

    Raises:
        OperatorError: it does.
    """
    owner = target if target.base is None else target.base
    for other in operands:
        if type(other) is not ndarray or other is target:
            continue
        if _may_share(target, owner, other) and _overlaps_in_part(target, other):
            raise _shared()


def check_apart(target: Array, operands: Iterable[object], itself: bool = True) -> None:
    """Refuse to write a tensor that shares memory with an input, even where it is the input.

    `itself` says that its elements may not share memory with each other either.

    Raises:
        OperatorError: they do.
    """
    if itself:
        check_written(target)
    owner = target if target.base is None else target.base
    for other in operands:
        if type(other) is ndarray and _may_share(target, owner, other) and _overlaps(target, other):
            raise _shared()


def check_written(target: Array, operands: Iterable[object] = ()) -> None:
    """Refuse to write a tensor whose elements share memory with each other or with an input.

    Raises:
        OperatorError: they do.
    """
    if 0 in target.strides and overlaps_itself(target):
        raise OperatorError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation.",
            headline="several elements of the written tensor share one place in memory",
        )
    check_inputs(target, operands)


def check_out(overlap: OutOverlap, out: Array, operands: Iterable[object]) -> None:
    """`check_written` of an operator's `out=`, as far as torch's operator has it.

    Raises:
        OperatorError: its elements share memory with each other or with an input.
    """
    given = list(_flat(operands))
    check_written(out, [] if overlap == "read-first" else given)
    if overlap == "apart":
        arrays = (each for each in given if type(each) is ndarray)
        if any(out.size and each.size and np.may_share_memory(out, each) for each in arrays):
            raise _shared()


def check_resized(overlap: OutOverlap, out: Array, count: int, operands: Iterable[object]) -> None:
    """Refuse an `out` that is to hold so many elements if those would lie in memory of an input.

    Raises:
        OperatorError: they would.
    """
    if overlap != "apart" or not count:
        return
    first = address(out)
    owner = storage_of(out)[0]
    for each in _flat(operands):
        if each is out:
            raise _shared()
        if type(each) is ndarray and each.size and storage_of(each)[0] is owner:
            low, high = bounds_of(each)
            if low < first + count * out.itemsize and first < high:
                raise _shared()


def _flat(operands: Iterable[object]) -> Iterable[object]:
    return (part for each in operands for part in (each if type(each) is list else (each,)))


def guarded(written: Written, forward: Callable[..., object]) -> Callable[..., object]:
    """The forward of an in-place operator, with `check_written` before it where torch has it."""
    if written in ("unchecked", "replaced") or getattr(forward, "checks_overlap", False):
        return forward
    if written == "itself":

        @wraps(forward)
        def checked_alone(self: Array, *rest: object) -> object:
            check_written(self)
            return forward(self, *rest)

        return checked_alone

    @wraps(forward)
    def checked(self: Array, *rest: object) -> object:
        check_written(self, rest)
        return forward(self, *rest)

    return checked
