"""Gradients of open operators: a formula of the user's becomes an `autograd.Function`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from ..autograd.function import Function, run_function
from ..ops.eager.open_operators import OpenOperator, below_autograd
from ..ops.eager.packets import Overload
from ..ops.table.grad_mode import grad_mode_set
from ..ops.tensors.tensor import Tensor

__all__ = ["give_formula", "run_without_gradients"]

Backward = Callable[..., object]
Setup = Callable[..., object]
Layout = tuple[int | None, ...]
"""Of each argument how many tensors its list has, or None."""


def give_formula(entry: OpenOperator, backward: Backward | None, setup: Setup | None) -> None:
    """Have an operator's gradient computed by `backward(ctx, *grads)`; without one it has none.

    Raises:
        RuntimeError: it changes its arguments, or gives views of them.
    """
    marks = (*entry.signature.arguments, *entry.signature.returns)
    if any(each.alias is not None for each in marks):
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {Overload(entry)} with "
            f"schema {entry.schema}. Please create a functional operator and register an autograd "
            "formula for that."
        )
    entry.gradient = _Formula(entry, backward, setup)


def run_without_gradients(entry: OpenOperator) -> None:
    """Have an operator that changes its arguments run as it is, also where gradients are wanted."""

    def run(handles: Sequence[object]) -> object:
        with grad_mode_set(False):
            kernel = entry.kernel()
            return entry._missing() if kernel is None else entry.call(kernel, handles)

    entry.gradient = run


class _Formula:
    """Runs an operator on tensors, with a node that has the formula."""

    def __init__(self, entry: OpenOperator, backward: Backward | None, setup: Setup | None) -> None:
        self._entry, self._backward, self._setup = entry, backward, setup
        self._by_place = [not a.keyword_only for a in entry.signature.arguments]
        self._functions: dict[Layout, type[Function]] = {}

    def __call__(self, handles: Sequence[object]) -> object:
        positional = [h for h, by_place in zip(handles, self._by_place, strict=True) if by_place]
        layout = tuple(len(h) if _is_tensors(h) else None for h in positional)
        function = self._functions.get(layout)
        if function is None:
            function = self._functions[layout] = self._function(layout)
        flat = [each for h in positional for each in (h if _is_tensors(h) else (h,))]
        return run_function(function, flat, lambda node: self._compute(node, handles, positional))

    def _compute(
        self, node: object, handles: Sequence[object], positional: Sequence[object]
    ) -> object:
        entry = self._entry
        with below_autograd():
            kernel = entry.kernel()
            result = self._own(handles) if kernel is None else entry.call(kernel, handles)
        if self._setup is not None:
            keywords = {
                a.name: h
                for a, h in zip(entry.signature.arguments, handles, strict=True)
                if a.keyword_only
            }
            more = {"keyword_only_inputs": keywords} if keywords else {}
            self._setup(ctx=node, inputs=tuple(positional), output=result, **more)
        return result

    def _own(self, handles: Sequence[object]) -> object:
        return Overload(self._entry)(*handles)

    def _function(self, layout: Layout) -> type[Function]:
        def backward(ctx: object, *grads: object) -> tuple[object, ...]:
            if self._backward is None:
                raise RuntimeError(
                    f"Trying to backward through {Overload(self._entry)} but no autograd formula "
                    "was registered. Please use register_autograd to add one."
                )
            given = self._backward(ctx, *grads)
            parts = given if isinstance(given, (tuple, list)) and len(layout) > 1 else (given,)
            if len(layout) == 1 and layout[0] is None and isinstance(given, tuple):
                parts = given
            return tuple(_flat_gradients(parts, layout))

        name = self._entry.name.replace("::", "_")
        name = f"GeneratedBackwardFor_{name}_{self._entry.overload or 'default'}"
        return type(name, (Function,), {"backward": staticmethod(backward)})


def _is_tensors(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value)


def _flat_gradients(parts: Sequence[Any], layout: Layout) -> list[object]:
    """Gradients of arguments, those of lists one by one."""
    flat: list[object] = []
    for place, part in enumerate(parts):
        length = layout[place] if place < len(layout) else None
        if length is None:
            flat.append(part)
        else:
            flat.extend([None] * length if part is None else part)
    return flat
