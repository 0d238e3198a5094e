"""`autograd.grad` of tensors that stand for slices: every slice has a gradient of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..eager.dispatch import eager_function
from ..tensors.tensor import Tensor

__all__ = ["grad_of_batched"]


def grad_of_batched(
    level: object,
    kind: Any,
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, object],
) -> object:
    """The gradients of all slices together: slices do not depend on each other, so the gradient of
    their sum is that of each."""
    outputs, inputs = ([*each] if isinstance(each, (list, tuple)) else [each] for each in args[:2])
    given = kwargs.get("grad_outputs")
    grads = [None] * len(outputs) if given is None else _list(given)
    options = {key: each for key, each in kwargs.items() if key != "grad_outputs"}
    if not any(_is_at(kind, each, level) for each in (*outputs, *inputs)):
        return _one_by_one(level, kind, func, outputs, inputs, grads, options)
    pairs = [_with_gradient(level, kind, o, g) for o, g in zip(outputs, grads, strict=True)]
    bare = [each._value if _is_at(kind, each, level) else each for each in inputs]
    found = func([o for o, _ in pairs], bare, [g for _, g in pairs], **options)
    return tuple(
        kind.over(g, level) if g is not None and _is_at(kind, x, level) else g
        for g, x in zip(found, inputs, strict=True)
    )


def _one_by_one(
    level: Any,
    kind: Any,
    func: Callable[..., object],
    outputs: Sequence[object],
    inputs: Sequence[object],
    grads: list[Any],
    options: dict[str, object],
) -> tuple[Tensor | None, ...]:
    """Several vectors sent back through one and the same history."""
    options["retain_graph"] = True
    rows = [
        func(
            outputs,
            inputs,
            [g._value.select(0, i) if _is_at(kind, g, level) else g for g in grads],
            **options,
        )
        for i in range(level.count)
    ]
    columns = zip(*rows, strict=True)
    return tuple(None if c[0] is None else kind.over(_stack(list(c)), level) for c in columns)


_stack: Final = eager_function("aten::stack")


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, Sequence) else [value]


def _is_at(kind: object, value: Any, level: Any) -> bool:
    return type(value) is kind and value._level is level


def _with_gradient(level: Any, kind: Any, output: Any, grad: Any) -> tuple[Tensor, Tensor | None]:
    """An output's slices with a gradient for each."""
    if not _is_at(kind, output, level):
        return output.expand([level.count, *output.shape]), _whole(level, kind, output, grad)
    return output._value, _whole(level, kind, output, grad)


def _whole(level: Any, kind: Any, output: Any, grad: Any) -> Any:
    """The gradients of all slices of an output."""
    if _is_at(kind, grad, level):
        return grad._value
    given = output.new_ones(output.shape) if grad is None else grad
    bare = given._value if _is_at(kind, given, level) else given
    return bare if bare is not given else bare.expand([level.count, *output.shape])
