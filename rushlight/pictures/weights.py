"""The modules of a program as a tree, with what their tensors hold: ranges and histograms."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ..frontend.diagnostics.cells import clean
from ..interpreter.values.objects import ScriptObject
from ..ops.memory.dtype import Array
from ..ops.memory.errors import Elsewhere
from ..ops.tensors.tensor import Tensor

__all__ = ["Tree", "fill_in", "module_tree"]

_BARS: Final = 32
_MOST: Final = 1 << 20
"""The elements that are looked at; of a larger tensor, as many at equal distances."""

Tree = dict[str, Any]


def module_tree(target: ScriptObject) -> tuple[Tree, list[tuple[Tree, Tensor]]]:
    """A module, its tensors and its submodules as plain data, and the tensors with their entries.

    A module that is met again is no child.
    """
    tensors: list[tuple[Tree, Tensor]] = []
    return _module(target, "", "", {id(target)}, tensors), tensors


def _module(
    target: ScriptObject, name: str, path: str, met: set[int], found: list[tuple[Tree, Tensor]]
) -> Tree:
    own, children = [], []
    for attribute, slot in zip(target.cls.attributes.values(), target.slots, strict=True):
        if isinstance(slot, Tensor):
            own.append(_tensor(attribute.name, attribute.kind, slot))
            found.append((own[-1], slot))
        elif isinstance(slot, ScriptObject) and slot.cls.is_module and id(slot) not in met:
            met.add(id(slot))
            inner = f"{path}.{attribute.name}" if path else attribute.name
            children.append(_module(slot, attribute.name, inner, met, found))
    parameters = sum(entry["elements"] for entry in own if entry["kind"] == "parameter")
    return {
        "name": clean(name),
        "path": clean(path),
        "class": clean(target.cls.name),
        "tensors": own,
        "modules": children,
        "parameters": parameters + sum(child["parameters"] for child in children),
        "bytes": sum(e["bytes"] for e in own) + sum(child["bytes"] for child in children),
    }


def _tensor(name: str, kind: str, tensor: Tensor) -> Tree:
    elements = math.prod(tensor.shape)
    return {
        "name": clean(name),
        "kind": kind,
        "dtype": tensor.dtype.name,
        "shape": list(tensor.shape),
        "elements": elements,
        "bytes": elements * tensor.itemsize,
    }


def fill_in(entry: Tree, tensor: Tensor) -> None:
    """Add what a tensor holds: its range, mean, deviation and a histogram; nothing for tensors
    without numbers of their own (sparse ones, those on `meta`)."""
    try:
        array = (tensor.dequantize() if tensor.is_quantized else tensor)._array
    except Elsewhere:
        return
    numbers = _sample(array)
    if numbers is None or not numbers.size:
        return
    finite = numbers[np.isfinite(numbers)]
    entry["looked at"] = int(numbers.size)
    entry["not finite"] = int(numbers.size - finite.size)
    if not finite.size:
        return
    low, high = float(finite.min()), float(finite.max())
    entry |= {"min": low, "max": high, "zeros": int(np.count_nonzero(finite == 0))}
    scale = max(abs(low), abs(high)) or 1.0  # sums of squares stay finite
    entry["mean"] = float((finite / scale).mean() * scale)
    entry["deviation"] = float((finite / scale).std() * scale)
    places = (finite / scale - low / scale) * (_BARS / (high / scale - low / scale or 1.0))
    bars = np.bincount(np.minimum(places.astype(np.int64), _BARS - 1), minlength=_BARS)
    entry["bars"] = bars.tolist()


def _sample(array: Array) -> Array | None:
    """Elements in double precision; None of a dtype that is not real.  What lies at one place for
    many elements is looked at once."""
    array = array[tuple(slice(1 if step == 0 else None) for step in array.strides)]
    step = -(-array.size // _MOST) or 1
    picked = array.reshape(-1)[::step] if array.flags.c_contiguous else array.ravel()[::step]
    if array.dtype.kind == "c":
        picked = np.abs(picked)
    try:
        return picked.astype(np.float64)
    except (TypeError, ValueError):
        return None
