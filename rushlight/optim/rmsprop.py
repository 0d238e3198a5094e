"""RMSprop: steps scaled by a running mean of squared gradients."""

from __future__ import annotations

import numpy as np

from ..ops.eager.dispatch import eager_function
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .optimizer import Group, Optimizer, Params, check_options

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(Optimizer):
    """RMSprop (Hinton's lecture), also centered (Graves 2013).

    Args:
        params: the parameters or groups of them.
        lr: how far the steps go.
        alpha: how much of the running mean is kept.
        eps: added to its root.
        weight_decay: how much of the parameter is added to its gradient.
        momentum: how much of the last step is kept.
        centered: whether the mean of the gradient is taken from the mean square.
        maximize: whether to step along the gradient.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults: Group = {
            **{"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered},
            **{"weight_decay": weight_decay, "capturable": capturable, "foreach": foreach},
            **{"maximize": maximize, "differentiable": differentiable},
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        if group["maximize"]:
            grad = -grad
        if not state:
            zeros_like = eager_function("aten::zeros_like")
            state["step"] = Tensor._of(np.zeros((), np.float32))
            state["square_avg"] = zeros_like(parameter)
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros_like(parameter)
            if group["centered"]:
                state["grad_avg"] = zeros_like(parameter)
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(parameter, alpha=group["weight_decay"])
        alpha = group["alpha"]
        square = state["square_avg"]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            scale = square.addcmul(mean, mean, value=-1).sqrt()
        else:
            scale = square.sqrt()
        scale = scale.add(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, scale)
            parameter.add_(buffer, alpha=-group["lr"])
        else:
            parameter.addcdiv_(grad, scale, value=-group["lr"])


rmsprop = step_of(RMSprop)
