"""Adafactor: squares of gradients remembered by their rows and columns alone."""

from __future__ import annotations

import math

from ..ops.eager.dispatch import eager_function
from ..ops.tensors.construct import finfo
from ..ops.tensors.tensor import Tensor
from .optimizer import Group, Optimizer, Params, check_one_rate, check_ranges, counter

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Adafactor (Shazeer and Stern 2018), its defaults those of `torch.optim`.

    Args:
        params: the parameters or groups of them.
        lr: how far the steps go at most, as a share of the parameter's own size.
        beta2_decay: the power of the step's number by which new squares count less and less.
        eps: the least mean square (None: the dtype's own) and the least size of a parameter.
        d: how large the root of the step's mean square may be before it is cut.
        weight_decay: how much of the parameter is taken away, times lr.
        maximize: whether to step along the gradient.

    Raises:
        ValueError: an option is out of its range.
    """

    takes_pairs = False

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_one_rate(lr)
        check_ranges(("Learning rate", lr, 0.0))
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        check_ranges(
            *((("epsilon1", eps[0], 0.0),) if eps[0] is not None else ()),
            ("epsilon2", eps[1], 0.0),
            ("Clipping threshold d", d, 1),
            ("weight_decay", weight_decay, 0.0),
        )
        defaults: Group = {
            **{"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d},
            **{"weight_decay": weight_decay, "foreach": foreach, "maximize": maximize},
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        if parameter.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        if not state:
            _begin(state, grad)
        if group["maximize"]:
            grad = -grad
        state["step"] += 1
        step = state["step"].item()
        lr, (least, smallest) = float(group["lr"]), group["eps"]
        least = finfo(parameter.dtype).eps if least is None else least
        size = max(smallest, _root_mean_square(parameter)) * min(lr, 1 / step**0.5)
        if group["weight_decay"] != 0:
            parameter.mul_(1 - lr * group["weight_decay"])
        change = grad * _scale(grad, state, step ** group["beta2_decay"], least)
        cut = max(1.0, _root_mean_square(change) / group["d"])
        parameter.add_(change, alpha=-size / cut)


def _begin(state: Group, grad: Tensor) -> None:
    state["step"] = counter()
    if grad.dim() > 1:
        state["row_var"] = grad.new_zeros([*grad.shape[:-1], 1])
        state["col_var"] = grad.new_zeros([*grad.shape[:-2], 1, grad.shape[-1]])
    else:
        state["variance"] = eager_function("aten::zeros_like")(grad)


def _scale(grad: Tensor, state: Group, share: float, least: float) -> Tensor:
    """One over the root of the mean squares, in which the new ones have this share."""
    square = grad * grad
    if grad.dim() > 1:
        rows, columns = state["row_var"], state["col_var"]
        rows.lerp_(square.mean(-1, keepdim=True), share)
        columns.lerp_(square.mean(-2, keepdim=True), share)
        square = (rows @ columns) / rows.mean(-2, keepdim=True).clamp(min=least)
    else:
        square = state["variance"].lerp_(square, share)
    scale: Tensor = square.clamp(min=least * least).rsqrt()
    return scale


def _root_mean_square(tensor: Tensor) -> float:
    count = tensor.numel()
    return float(tensor.norm(2).item()) / math.sqrt(count) if count else math.nan
