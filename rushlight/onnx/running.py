"""What goes into a runtime of ONNX, and what comes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..ops.memory.dtype import Array
from ..ops.tensors.tensor import Tensor

__all__ = ["as_floats", "feeds", "result_of"]


def feeds(
    names: Sequence[str], args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, Array]:
    """The arrays of a model's inputs: those named by `kwargs`, and those of `args` in order.

    Numbers among `args` count where the inputs need them; others were hard-coded.
    """
    free = [name for name in names if name not in kwargs]
    values = list(_leaves(args))
    if len(values) != len(free):
        values = [value for value in values if isinstance(value, Tensor)]
    unknown = [name for name in kwargs if name not in names]
    if unknown or len(values) != len(free):
        wanted = ", ".join(names)
        count = len(values) + len(kwargs)
        raise TypeError(f"the model has the inputs {wanted}, and there are {count} arguments")
    given = {**dict(zip(free, values, strict=True)), **kwargs}
    return {name: as_floats(value) for name, value in given.items()}


def _leaves(item: object) -> Iterator[object]:
    """The tensors and numbers of arguments, in order."""
    if isinstance(item, Mapping):
        item = list(item.values())
    if isinstance(item, list | tuple):
        for each in item:
            yield from _leaves(each)
    elif isinstance(item, Tensor | bool | int | float):
        yield item


def as_floats(value: object) -> Array:
    """The array of a tensor or number as files have it: complex numbers are two floats."""
    if not isinstance(value, Tensor):
        return np.asarray(value)
    array = np.asarray(value.detach().resolve_conj().numpy(), order="C")
    return np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array


def result_of(value: object) -> Any:
    """A result of a runtime: a tensor, or a list of them for a sequence."""
    if isinstance(value, list):
        return [result_of(each) for each in value]
    return Tensor._of(np.asarray(value, order="C"))
