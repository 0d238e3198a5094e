"""Walks back from nested tensors and to them, and from views of conjugated elements: their parts,
and what has their history, take their place."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ...tensors.tensor import Tensor
from ..nodes.edges import GradientEdge

__all__ = ["in_parts", "joined", "results_in_parts"]

Asked = Tensor | GradientEdge
"""What gradients are asked of, or for: a tensor, or a place among the nodes."""


def _is_nested(value: object) -> bool:
    """Whether a value is a nested tensor, asked without loading them."""
    return getattr(type(value), "is_nested", None) is True


def _stands_for_others(value: object) -> bool:
    return _is_nested(value) or getattr(type(value), "_is_turned", False)


def _parts(value: Any) -> list[Any]:
    if not _is_nested(value):
        return [value._history_holder if getattr(type(value), "_is_turned", False) else value]
    return list(value.unbind())


def results_in_parts(
    results: Sequence[Asked], grads: Sequence[Tensor | None]
) -> tuple[Sequence[Asked], Sequence[Tensor | None]]:
    """Results and their gradients, with parts in the place of nested ones.

    Raises:
        RuntimeError: a nested result has no gradient, or one that has not as many parts.
    """
    if not any(map(_stands_for_others, results)):
        return results, grads
    pairs: list[tuple[Asked, Tensor | None]] = []
    for number, (result, grad) in enumerate(zip(results, grads, strict=True)):
        if not _is_nested(result):
            (part,) = _parts(result)
            pairs.append((part, grad))
            continue
        if grad is None:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if not _is_nested(grad) or len(grad) != len(result):
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{number}] and output[{number}] have not as many "
                "parts."
            )
        found = list(zip(_parts(result), _parts(grad), strict=True))
        pairs += [pair for pair in found if pair[0].requires_grad] or found
    return [result for result, _ in pairs], [grad for _, grad in pairs]


def in_parts(tensors: Sequence[Asked]) -> Sequence[Asked]:
    """Tensors, with parts in the place of nested ones."""
    if not any(map(_stands_for_others, tensors)):
        return tensors
    return [part for each in tensors for part in _parts(each)]


def joined(gradients: list[Tensor | None], wanted: Sequence[Asked]) -> list[Tensor | None]:
    """Gradients of what `in_parts` gave, as those of the tensors themselves."""
    if len(gradients) == len(wanted) and not any(map(_is_nested, wanted)):
        return gradients
    left, found = iter(gradients), []
    of_parts = import_module("...nested_tensors.tensors", __package__).of_parts
    for each in wanted:
        if not _is_nested(each):
            found.append(next(left))
            continue
        parts = _parts(each)
        rows = [next(left) for _ in parts]
        if all(row is None for row in rows):
            found.append(None)
            continue
        filled = [
            p.new_zeros(p.shape) if r is None else r for r, p in zip(rows, parts, strict=True)
        ]
        found.append(of_parts(filled))
    return found
