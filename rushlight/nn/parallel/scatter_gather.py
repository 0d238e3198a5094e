"""Inputs cut into pieces for several devices, and results joined again; all lie in one memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor

Arguments = tuple[tuple[tuple[object, ...], ...], tuple[dict[str, object], ...]]
"""Of several calls what they get by position, and what by name."""

__all__ = ["Arguments", "gather", "is_namedtuple", "scatter", "scatter_kwargs"]


def is_namedtuple(obj: object) -> bool:
    """Whether it is a tuple whose parts have names."""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def scatter(inputs: object, target_gpus: Sequence[object], dim: int = 0) -> Sequence[Any]:
    """For each target what it gets of the inputs: tensors are cut, the rest is shared."""
    count = len(target_gpus)
    if isinstance(inputs, Tensor):
        return inputs.chunk(count, dim)
    if isinstance(inputs, tuple) and (inputs or is_namedtuple(inputs)):
        rows = zip(*_pieces(inputs, target_gpus, dim), strict=False)
        return [type(inputs)(*row) for row in rows] if is_namedtuple(inputs) else list(rows)
    if isinstance(inputs, list) and inputs:
        return [list(parts) for parts in zip(*_pieces(inputs, target_gpus, dim), strict=False)]
    if isinstance(inputs, dict) and inputs:
        rows = zip(*_pieces(inputs.items(), target_gpus, dim), strict=False)
        return [type(inputs)(row) for row in rows]
    return [inputs] * count


def _pieces(
    parts: Iterable[object], target_gpus: Sequence[object], dim: int
) -> list[Sequence[object]]:
    return [scatter(each, target_gpus, dim) for each in parts]


def scatter_kwargs(
    inputs: tuple[object, ...],
    kwargs: Mapping[str, object] | None,
    target_gpus: Sequence[object],
    dim: int = 0,
) -> Arguments:
    """The same for the arguments of a call, by position and by name: as many of either."""
    places = [*scatter(inputs, target_gpus, dim)] if inputs else []
    names = [*scatter(kwargs, target_gpus, dim)] if kwargs else []
    count = max(len(places), len(names))
    places += [()] * (count - len(places))
    names += [{} for _ in range(count - len(names))]
    return tuple(places), tuple(names)


def gather(outputs: Sequence[Any], target_device: object, dim: int = 0) -> Any:
    """Results of the same structure as one: tensors are joined along `dim`.

    Raises:
        ValueError: dicts have different keys.
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        given = [each.reshape(1) if not each.dim() else each for each in outputs]
        return eager_function("aten::cat")(given, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(each.keys() != first.keys() for each in outputs):
            raise ValueError("All dicts must have the same number of keys")
        pairs = (
            (key, gather([each[key] for each in outputs], target_device, dim)) for key in first
        )
        return type(first)(pairs)
    joined = [gather(parts, target_device, dim) for parts in zip(*outputs, strict=True)]
    return type(first)(*joined) if is_namedtuple(first) else type(first)(joined)
