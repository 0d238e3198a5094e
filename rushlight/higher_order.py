"""Branches, loops and scans as functions of functions: `torch.cond`, `torch.while_loop`.

Python's own `if` and `while` decide, since nothing is captured; gradients are those of what ran.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ops.eager.dispatch import eager_function
from .ops.tensors.tensor import Tensor
from .utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["associative_scan", "cond", "while_loop"]


def cond(
    pred: bool | int | float | Tensor,
    true_fn: Callable[..., object],
    false_fn: Callable[..., object],
    operands: tuple[object, ...] | list[Any] = (),
) -> Any:
    """`true_fn(*operands)` if `pred` is true, else `false_fn(*operands)`.

    Args:
        pred: a number, or a tensor of one element.
        true_fn, false_fn: what is called; neither may change its operands.
        operands: the arguments of both.

    Raises:
        RuntimeError: `pred` is something else, or has several elements.
    """
    if not isinstance(pred, (bool, int, float, Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    return (true_fn if pred else false_fn)(*operands)


def while_loop(
    cond_fn: Callable[..., object],
    body_fn: Callable[..., Any],
    carried_inputs: tuple[object, ...] | list[Any],
) -> Any:
    """`carried = body_fn(*carried)` for as long as `cond_fn(*carried)` is true.

    Args:
        cond_fn: gives a bool, or a tensor of one bool.
        body_fn: gives as many values as it takes.
        carried_inputs: the values of the first round.

    Returns:
        The values of the last round, as `body_fn` gave them.

    Raises:
        RuntimeError: the first two are no functions, the third no tuple or list, or `body_fn` gives
            another number of values.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(
            f"Expect carried_inputs to be a tuple or list, but got {type(carried_inputs)}"
        )
    made, carried = carried_inputs, tuple(carried_inputs)
    while cond_fn(*carried):
        made = body_fn(*carried)
        carried = tuple(made) if isinstance(made, (tuple, list)) else (made,)
        if len(carried) != len(carried_inputs):
            raise RuntimeError(
                "body_fn should return the same number of elements as carried_inputs, but got "
                f"{len(carried)} for {len(carried_inputs)}"
            )
    return carried if isinstance(made, (tuple, list)) else made


def associative_scan(
    combine_fn: Callable[[Any, Any], object],
    xs: object,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:
    """All that `combine_fn` makes of the first slices, of one after the other, as `cumsum` of sums.

    Args:
        combine_fn: makes one slice of two, each put together as `xs` is; associative.
        xs: tensors, alone or in containers, of one size along `dim`.
        dim: the dimension that slices are taken from.
        reverse: whether the last slice is the first.
        combine_mode: "generic"; "pointwise" is for cards.

    Returns:
        What `xs` is, of the same sizes.

    Raises:
        ValueError: another mode, or no tensors, or of different sizes along `dim`.
    """
    if combine_mode != "generic":
        raise ValueError(
            "For combine_mode='pointwise', all input tensors need to be on CUDA or XPU"
            if combine_mode == "pointwise"
            else f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}"
        )
    leaves, form = tree_flatten(xs)
    if not leaves:
        raise ValueError("Expected at least 1 xs leaf")
    count = leaves[0].shape[dim]
    if any(each.shape[dim] != count for each in leaves):
        raise ValueError("All xs leaves must have the same size along dim")
    order = range(count - 1, -1, -1) if reverse else range(count)
    made: list[list[Tensor]] = []
    for place in order:
        here = tree_map(lambda x, place=place: x.select(dim, place), xs)
        known = combine_fn(tree_unflatten(made[-1], form), here) if made else here
        made.append(tree_flatten(known)[0])
    if not made:
        return xs
    stack = eager_function("aten::stack")
    columns = zip(*(made[::-1] if reverse else made), strict=True)
    return tree_unflatten([stack(list(each), dim) for each in columns], form)
