"""RAdam: Adam that begins without the second mean, until enough is known of it."""

from __future__ import annotations

from ..ops.eager.dispatch import eager_function
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .optimizer import Group, Optimizer, Params, check_betas, check_options, counter, with_decay

__all__ = ["RAdam", "radam"]


class RAdam(Optimizer):
    """RAdam (Liu and others 2020).

    Args:
        params: the parameters or groups of them.
        lr: how far the steps go.
        betas: how much of the two running means is kept.
        eps: added to the root of the second one.
        weight_decay: how much of the parameter is added to its gradient.
        decoupled_weight_decay: whether the decay is taken from the parameter itself.
        maximize: whether to step along the gradient.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps)
        check_betas(betas)
        check_options(weight_decay=weight_decay)
        defaults: Group = {
            **{"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay},
            **{"maximize": maximize, "foreach": foreach, "capturable": capturable},
            **{"decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable},
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        if not state:
            zeros_like = eager_function("aten::zeros_like")
            state["step"] = counter()
            state["exp_avg"] = zeros_like(parameter)
            state["exp_avg_sq"] = zeros_like(parameter)
        state["step"] += 1
        grad = with_decay(parameter, grad, group)
        step = state["step"].item()
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        length = group["lr"] / (1 - beta1**step)
        correction = 1 - beta2**step
        limit = 2 / (1 - beta2) - 1
        known = limit - 2 * step * beta2**step / correction
        if known <= 5.0:  # the variance of the second mean is not tractable yet
            parameter.add_(mean, alpha=-length)
            return
        rectified = (known - 4) * (known - 2) * limit / ((limit - 4) * (limit - 2) * known)
        scale = square.sqrt().add(group["eps"])
        parameter.addcdiv_(mean, scale, value=-length * (correction * rectified) ** 0.5)


radam = step_of(RAdam)
