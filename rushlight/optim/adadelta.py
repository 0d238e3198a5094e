"""Adadelta: steps as long as recent ones, for gradients as long as recent ones."""

from __future__ import annotations

from ..ops.eager.dispatch import eager_function
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .optimizer import Group, Optimizer, Params, check_options, counter, with_decay

__all__ = ["Adadelta", "adadelta"]


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012).

    Args:
        params: the parameters or groups of them.
        lr: how much of a step is made.
        rho: how much of the two running means of squares is kept.
        eps: added to them.
        weight_decay: how much of the parameter is added to its gradient.
        maximize: whether to step along the gradient.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_options(eps=eps, weight_decay=weight_decay)
        defaults: Group = {
            **{"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay},
            **{"maximize": maximize, "capturable": capturable, "foreach": foreach},
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        if not state:
            zeros_like = eager_function("aten::zeros_like")
            state["step"] = counter()
            state["square_avg"] = zeros_like(parameter)
            state["acc_delta"] = zeros_like(parameter)
        state["step"] += 1
        grad = with_decay(parameter, grad, group)
        rho, eps = group["rho"], group["eps"]
        squares, steps = state["square_avg"], state["acc_delta"]
        squares.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = steps.add(eps).sqrt().div(squares.add(eps).sqrt()).mul(grad)
        steps.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        parameter.add_(delta, alpha=-group["lr"])


adadelta = step_of(Adadelta)
