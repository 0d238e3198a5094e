"""`autograd.grad` of tensors that stand for slices: every slice has a gradient of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..eager.aten import aten
from ..tensors.tensor import Tensor
from .opened import Level

__all__ = ["grad_of_batched"]


class _Slices(Protocol):
    """The class of tensors that stand for slices."""

    def over(self, value: Tensor, level: Level, /) -> Tensor:
        """What stands for the slices of a tensor."""


def grad_of_batched(
    level: Level,
    kind: _Slices,
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, object],
) -> tuple[Tensor | None, ...]:
    """The gradients of all slices together: slices do not depend on each other, so the gradient of
    their sum is that of each."""
    outputs, inputs = ([*each] if isinstance(each, (list, tuple)) else [each] for each in args[:2])
    given = kwargs.get("grad_outputs")
    grads = [None] * len(outputs) if given is None else _list(given)
    options = {key: each for key, each in kwargs.items() if key != "grad_outputs"}
    if all(_slices(kind, each, level) is None for each in (*outputs, *inputs)):
        return _one_by_one(level, kind, func, outputs, inputs, grads, options)
    pairs = [_with_gradient(level, kind, o, g) for o, g in zip(outputs, grads, strict=True)]
    bare = [_bare(kind, each, level) for each in inputs]
    found = func([o for o, _ in pairs], bare, [g for _, g in pairs], **options)
    return tuple(
        kind.over(g, level) if g is not None and _slices(kind, x, level) is not None else g
        for g, x in zip(found, inputs, strict=True)
    )


def _one_by_one(
    level: Level,
    kind: _Slices,
    func: Callable[..., Sequence[Tensor | None]],
    outputs: Sequence[object],
    inputs: Sequence[object],
    grads: Sequence[Tensor | None],
    options: dict[str, object],
) -> tuple[Tensor | None, ...]:
    """Several vectors sent back through one and the same history."""
    options["retain_graph"] = True
    all_slices = [_slices(kind, each, level) for each in grads]
    rows = [
        func(
            outputs,
            inputs,
            [g if s is None else s.select(0, i) for g, s in zip(grads, all_slices, strict=True)],
            **options,
        )
        for i in range(level.count)
    ]
    columns = zip(*rows, strict=True)
    return tuple(None if c[0] is None else kind.over(aten.stack(list(c)), level) for c in columns)


def _list(value: Any) -> list[Tensor | None]:
    return list(value) if isinstance(value, Sequence) else [value]


def _slices(kind: object, value: object, level: Level) -> Tensor | None:
    """The slices that a tensor stands for at a level, if it stands for some."""
    is_at = type(value) is kind and getattr(value, "_level", None) is level
    return getattr(value, "_value", None) if is_at else None


def _bare(kind: object, value: Tensor, level: Level) -> Tensor:
    found = _slices(kind, value, level)
    return value if found is None else found


def _with_gradient(
    level: Level, kind: object, output: Tensor, grad: Tensor | None
) -> tuple[Tensor, Tensor]:
    """An output's slices with a gradient for each."""
    found = _slices(kind, output, level)
    if found is None:
        found = output.expand([level.count, *output.shape])
    return found, _whole(level, kind, output, grad)


def _whole(level: Level, kind: object, output: Tensor, grad: Tensor | None) -> Tensor:
    """The gradients of all slices of an output."""
    given = output.new_ones(output.shape) if grad is None else grad
    found = _slices(kind, given, level)
    return given.expand([level.count, *output.shape]) if found is None else found
