"""What packages take from `torch.autograd.functional` to write Jacobians of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ..ops.tensors.tensor import Tensor
from .functional_checks import tensors_of

__all__ = [
    *("_as_tuple", "_construct_standard_basis_for", "_grad_postprocess", "_tuple_postprocess")
]

Nested: TypeAlias = "Tensor | Iterable[Nested]"


def _as_tuple(inp: object, arg_name: str | None = None, fn_name: str | None = None) -> object:
    """Whether a value is a tuple, and the tuple (of itself); with names it is of tensors.

    Raises:
        TypeError: it has other things in it.
    """
    if arg_name is None and fn_name is None:
        return inp if isinstance(inp, tuple) else (inp,)
    return tensors_of(inp, str(arg_name), str(fn_name))


def _construct_standard_basis_for(
    tensors: Sequence[Tensor], tensor_numels: Sequence[int]
) -> tuple[Tensor, ...]:
    """For each tensor a matrix with a row for each element of all of them: 1 at the element."""
    if len(tensors) != len(tensor_numels) or not tensors:
        raise AssertionError(f"expected a size for each of some tensors, got {len(tensors)}")
    total, start, found = sum(tensor_numels), 0, []
    for tensor, count in zip(tensors, tensor_numels, strict=True):
        rows = tensor.new_zeros([total, count])
        rows.diagonal(-start).fill_(1)
        start += count
        found.append(rows)
    return tuple(found)


def _grad_postprocess(inputs: Nested, create_graph: bool) -> object:
    """Gradients, in tuples, with history if `create_graph`."""
    if isinstance(inputs, Tensor):
        return inputs if create_graph else inputs.detach()
    return tuple(_grad_postprocess(each, create_graph) for each in inputs)


def _tuple_postprocess(
    res: Sequence[Sequence[object]], to_unpack: bool | tuple[bool, bool]
) -> object:
    """Results, out of the tuples that the caller has not given.

    Args:
        res: a tuple, or one of tuples.
        to_unpack: whether the caller gave a tuple; of tuples, for the outer and the inner ones.
    """
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    found: Sequence[object] = res if inner else tuple(each[0] for each in res)
    return found if outer else found[0]
