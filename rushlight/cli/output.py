"""Results written as NumPy's `.npz`, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np

from ..ops.memory.dtype import Array
from ..ops.tensors.tensor import Tensor
from .atomic import replacing
from .failure import CommandError
from .speech import complain

__all__ = ["arrays_of", "plain_data", "write_output"]


def write_output(path: str, result: object) -> None:
    """Write the tensors and numbers in a result; a file that is there is replaced at the end.

    Raises:
        CommandError: there is nothing to write, or the file cannot be written.
    """
    arrays = dict(arrays_of(result))
    if not arrays:
        raise CommandError(f"{path}: the result holds no tensor and no number to write")
    with replacing(path) as file:
        np.savez(file, **arrays)


def arrays_of(value: object, name: str = "") -> Iterator[tuple[str, Any]]:
    """The tensors and numbers in a value with their names: `result`, or `0`, `1.key` and so on.

    Element types that `.npz` does not have (bfloat16, float8) are widened to float32.
    """
    if isinstance(value, Tensor):
        yield name or "result", _storable(value._array, name)
    elif isinstance(value, bool | int | float | complex):
        yield name or "result", np.asarray(value)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from arrays_of(item, f"{name}.{number}" if name else str(number))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from arrays_of(item, f"{name}.{key}" if name else str(key))


def plain_data(value: object) -> object:
    """A result for JSON: a tensor has `dtype`, `shape` and `data` (nested lists); what is no number
    in JSON is a string (`"nan"`, `"inf"`, `"-inf"`, `"1+2j"`), as is what has no form there."""
    if isinstance(value, Tensor):
        plain = value.dequantize() if value.is_quantized else value
        data = plain_data(plain.tolist())
        return {"dtype": value.dtype.name, "shape": list(value.shape), "data": data}
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain_data(item) for key, item in value.items()}
    return str(value).strip("()") if isinstance(value, complex) else repr(value)


def _storable(array: Array, name: str) -> Array:
    if array.dtype.kind in "biufc":
        return array
    which = f"`{name}` " if name else ""
    complain(f"{which}({array.dtype}) is written as float32")
    return array.astype(np.float32)
