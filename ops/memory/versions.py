"""How often memory was written in place: what gradients were promised must still be there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any, Final
from weakref import ref

import numpy as np

from .dtype import Array
from .inference import MADE, is_for_inference, is_on
from .made_since import WATCHED, check_age

__all__ = [
    *("APART", "count_writes", "counted_apart", "counted_on", "counts_by_owner", "counts_of"),
    *("moved", "owner_of", "unwritten", "version_of", "version_to_keep", "versions_then"),
    *("write_clock", "write_count", "written"),
]

_COUNTS: Final[dict[int, list[Any]]] = {}
"""By the id of the array that owns the memory: [a weak reference to it, how often it was written,
the count of all writes at the last one, whether it is memory for inference].  Memory never
written has no entry."""

_CLOCK: Final = count(1)


def counts_by_owner() -> dict[int, list[object]]:
    """What is counted, by the id of what counts, for native code that reads it."""
    return _COUNTS


def write_clock() -> Iterator[int]:
    """What counts all writes, for native code that counts some."""
    return _CLOCK


class _Apart(np.ndarray[tuple[int, ...], np.dtype]):
    """A view behind which writes are counted for themselves."""

    __slots__ = ()


APART: Final = _Apart


def counted_apart(array: Array) -> Array:
    """The same memory; writes through this array and its views are not counted for the others.

    That is `Tensor.data`, with which programs change what gradients were promised on purpose.
    """
    if type(array) is not np.ndarray:
        return array.view()
    # Two: a view of a view gets that one's base where it is of the new view's own class.
    return array.view(APART).view(APART).view(np.ndarray)


def counted_on(array: Array, old: Array) -> Array:
    """The memory of an array as that of a tensor that had another: writes are counted from that
    one's count on.  Where both were written equally often they share their count."""
    kept = _COUNTS.get(id(old if old.base is None else owner_of(old)))
    found = _COUNTS.get(id(array if array.base is None else owner_of(array)))
    if kept is found:  # mostly since both were never written
        return array
    before = 0 if kept is None else kept[1]
    if before == (0 if found is None else found[1]):
        return array
    own = counted_apart(array)
    counts_of(own)[1] = before
    return own


def owner_of(array: Array) -> Array:
    """The array that counts the writes of an array: views of one tensor have one."""
    base: object = array.base
    if type(base) is np.ndarray and base.base is None:  # nearly always
        return base
    other = None if type(array) is np.ndarray else getattr(array, "counted_by", None)
    if other is not None:
        return owner_of(other)
    while base is not None and type(base) is not APART:
        if isinstance(base, np.ndarray):
            array = base
        base = getattr(base, "base", None)
    return array


def version_of(array: Array) -> int:
    """How often the memory of an array was written in place."""
    found = _COUNTS.get(id(array if array.base is None else owner_of(array)))
    return 0 if found is None else found[1]


def version_to_keep(array: Array) -> int:
    """The same, of memory that gradients will read.

    Raises:
        RuntimeError: it was made in `inference_mode`, and this is outside.
    """
    if MADE[0] and is_for_inference(array) and not is_on():
        raise RuntimeError(_NOT_KEPT)
    found = _COUNTS.get(id(array if array.base is None else owner_of(array)))
    return 0 if found is None else found[1]


def versions_then(clock: int, undone: Mapping[int, int]) -> Callable[[Array], int]:
    """What tells the version that memory had at a count of all writes; too low a one if it was
    written since, or if the count is 0 nothing of that.

    `undone` says how many of the writes are not to be counted, by the id of what counts them.
    """

    def version(array: Array) -> int:
        owner = array if array.base is None else owner_of(array)
        found = _COUNTS.get(id(owner))
        if found is None:
            return 0
        is_changed = clock and found[2] > clock
        return int(found[1]) - undone.get(id(owner), 0) - bool(is_changed)

    return version


def write_count() -> int:
    """The count of all writes in place, and of all such questions: it only grows."""
    return next(_CLOCK)


_NOT_WRITTEN: Final = (
    "Inplace update to inference tensor outside InferenceMode is not allowed."
    "You can make a clone to get a normal tensor before doing inplace update."
    "See https://github.com/pytorch/rfcs/pull/17 for more details."
)
_NOT_KEPT: Final = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a clone "
    "to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)


def written(array: Array, times: int = 1) -> None:
    """Note that the memory of an array was written in place, once or more often.

    Raises:
        RuntimeError: it was made in `inference_mode`, and this is outside.
    """
    if WATCHED:
        check_age(array)
    found = _COUNTS.get(id(array if array.base is None else owner_of(array)))
    if found is None:
        found = counts_of(array)
    found[1] += times
    found[2] = next(_CLOCK)
    if found[3] and not is_on():
        raise RuntimeError(_NOT_WRITTEN)


def unwritten(array: Array) -> None:
    """Note that an operator which writes this array leaves it as it is: whoever counts its calls
    counts one too many."""
    counts_of(array)[1] -= 1


def counts_of(array: Array) -> list[Any]:
    """What is counted of the writes of an array, for `count_writes`."""
    owner = array if array.base is None else owner_of(array)
    key = id(owner)
    found = _COUNTS.get(key)
    if found is None:
        gone = ref(owner, partial(_COUNTS.pop, key))  # without a line of Python: no interrupt
        found = _COUNTS.setdefault(key, [gone, 0, 0, is_for_inference(owner)])
    return found


def moved(array: Array, other: Array) -> None:
    """Go on counting where the memory of an array has moved to."""
    found = _COUNTS.get(id(owner_of(array)))
    if found is not None:
        counts_of(other)[1:3] = found[1:3]


def count_writes(counts: Iterable[tuple[list[Any], int]]) -> None:
    """Note that memory was written, each so many times.

    Raises:
        RuntimeError: some was made in `inference_mode`, and this is outside.
    """
    now = next(_CLOCK)
    for found, times in counts:
        found[1] += times
        found[2] = now
        if found[3] and not is_on():
            raise RuntimeError(_NOT_WRITTEN)
