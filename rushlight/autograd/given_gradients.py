"""The gradients that the `backward` of a function gives, one for each of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops.gradients.nodes.fitting import fit
from ..ops.tensors.tensor import Tensor

__all__ = ["checked"]


def checked(node: Any, given: object) -> list[Tensor | None]:
    """Those of the arguments that are tensors, as large as these are where they are asked for.

    Raises:
        RuntimeError: there are too few or too many; one has another size, is no tensor, or is of an
            argument that is none.
    """
    parts = list(given) if isinstance(given, tuple) else [given]
    count = len(node.needs_input_grad)
    if len(parts) < count or any(p is not None for p in parts[count:]):
        raise RuntimeError(
            f"function {node.name()} returned an incorrect number of gradients (expected "
            f"{count}, got {len(parts)})"
        )
    _check_places(node, parts)
    results: list[Tensor | None] = []
    for number, (place, (sizes, dtype)) in enumerate(node._arguments):
        part = parts[place]
        if part is not None and not isinstance(part, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(part).__name__})")
        if part is not None and node.edges[number] is not None:
            part = fit(part, sizes, dtype, node, number)
        else:
            part = None
        results.append(part)
    return results


def _check_places(node: Any, parts: Sequence[object]) -> None:
    tensors = {place for place, _ in node._arguments}
    for place, part in enumerate(parts):
        if part is not None and place not in tensors:
            raise RuntimeError(
                f"function {node.name()} returned a gradient different than None at position "
                f"{place + 1}, but the corresponding forward input was not a Variable"
            )
