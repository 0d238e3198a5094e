"""What nodes keep of arguments and results: tensors, lists of them, or what is known of them."""

from __future__ import annotations

from collections.abc import Sequence, Set

from ...table.grad_mode import RUNNING
from ...tensors.tensor import Tensor
from ..table.rules import Meta, is_by_columns
from .autograd import FREED, Saved, saved
from .packing import PACKING

__all__ = ["about", "columns_of", "kept_list", "kept_results", "sizes_of"]


def kept_list(values: Sequence[object], keep: bool) -> object:
    """The elements of an argument that is a list, its tensors kept or only described."""
    made: list[object] = []
    is_plain = True
    for value in values:
        if isinstance(value, Tensor):
            is_plain = False
            value = saved(value) if keep else Meta(value._array)
        made.append(value)
    return values if is_plain else made


def kept_results(
    tensors: Sequence[Tensor], reads: Set[int | None]
) -> tuple[Sequence[Saved | None], int]:
    """Those results that formulas read, by number, and None in the place of others, if any is
    read; how many are of floats.  None among the numbers stands for all."""
    kept: list[Saved | None] = []
    number = 0
    for place, tensor in enumerate(tensors):
        is_smooth = tensor._array.dtype.kind not in "biu"
        if reads and (place in reads or None in reads):
            version = RUNNING.version_of(tensor._array)
            found = Saved(tensor, None, version, number if is_smooth else None, True)
            kept.append(found.pack(tensor) if PACKING.used else found)
        elif reads:
            kept.append(None)
        number += is_smooth
    return tuple(kept), number


def sizes_of(value: Saved | Meta) -> tuple[int, ...]:
    """The sizes of an argument that is a tensor."""
    if type(value) is Meta:
        return value.sizes
    found: tuple[int, ...] = about(value, "sizes")  # type: ignore[assignment]
    return found


def columns_of(value: Saved | Meta) -> bool:
    """Whether an argument that is a tensor was a matrix by columns."""
    return value.columns if type(value) is Meta else bool(about(value, "columns"))


def about(value: object, word: str) -> object:
    """The sizes or the dtype of what is kept of a tensor."""
    if isinstance(value, Saved):
        if value.array is None:
            raise RuntimeError(FREED)
        if word == "columns":
            return is_by_columns(value.array)
        return value.array.shape if word == "sizes" else value.tensor_dtype()
    return None if value is None or not isinstance(value, Meta) else getattr(value, word)
