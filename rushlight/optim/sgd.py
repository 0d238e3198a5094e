"""Stochastic gradient descent."""

from __future__ import annotations

from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .optimizer import Group, Optimizer, Params, check_options

__all__ = ["SGD", "sgd"]


class SGD(Optimizer):
    """Steps against the gradient, with momentum on demand.

    Args:
        params: the parameters or groups of them.
        lr: how far the steps go.
        momentum: how much of the last step is kept.
        dampening: how much of the gradient is left out where there is momentum.
        weight_decay: how much of the parameter is added to its gradient.
        nesterov: whether the momentum looks one step ahead.
        maximize: whether to step along the gradient.
    """

    sparse_refusal = None

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults: Group = {
            **{"lr": lr, "momentum": momentum, "dampening": dampening},
            **{"weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize},
            **{"foreach": foreach, "differentiable": differentiable, "fused": fused},
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"] != 0:
            grad = grad.add(parameter, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        parameter.add_(grad, alpha=-group["lr"])


sgd = step_of(SGD)
