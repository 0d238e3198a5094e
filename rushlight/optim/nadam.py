"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..ops.eager.dispatch import eager_function
from ..ops.table.updates import Program, Update
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .fused_steps import Fused, Way, mean_square
from .optimizer import Group, Optimizer, Params, check_means, counter, with_decay

__all__ = ["NAdam", "nadam"]


@cache
def _update(way: Way) -> Update:
    """The step on parameter, gradient, means of it and its square, as one kernel."""

    def write(program: Program) -> Iterator[tuple[int, int, int]]:
        decay, share, kept, other, correction, eps, now, then = range(4, 12)
        parameter, grad = way.begin(program, decay)
        mean = program("lerp", 2, grad, share)
        yield 2, mean, 1
        square = mean_square(program, 3, grad, kept, other)
        yield 3, square, 2
        scale = program("add", program("sqrt", program("divide", square, correction)), eps)
        for value, size in ((grad, now), (mean, then)):
            step = program("divide", program("multiply", value, size), scale)
            parameter = program("add", parameter, step)
        yield 0, parameter, way.times + 2

    return Update(4, 8, write)


class NAdam(Optimizer):
    """NAdam (Dozat 2016).

    Args:
        params: the parameters or groups of them.
        lr: how far the steps go.
        betas: how much of the two running means is kept.
        eps: added to the root of the second one.
        weight_decay: how much of the parameter is added to its gradient.
        momentum_decay: how fast the momentum grows to the first beta.
        decoupled_weight_decay: whether the decay is taken from the parameter itself.
        maximize: whether to step along the gradient.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_means(lr, betas, eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults: Group = {
            **{"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay},
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            **{"maximize": maximize, "foreach": foreach, "capturable": capturable},
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        if not state:
            zeros_like = eager_function("aten::zeros_like")
            state["step"] = counter()
            state["mu_product"] = counter(1.0)
            state["exp_avg"] = zeros_like(parameter)
            state["exp_avg_sq"] = zeros_like(parameter)
        state["step"] += 1
        step, lr = state["step"].item(), group["lr"]
        beta1, beta2 = group["betas"]
        now, then = (
            beta1 * (1 - 0.5 * 0.96 ** (at * group["momentum_decay"])) for at in (step, step + 1)
        )
        state["mu_product"] *= now
        is_recorded = group["differentiable"]
        product = state["mu_product"] if is_recorded else state["mu_product"].item()
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        correction = 1 - beta2**step
        sizes = -lr * (1 - now) / (1 - product), -lr * then / (1 - product * then)
        way = Way.of(group)
        numbers = way.factor(group), 1 - beta1, beta2, 1 - beta2, correction, group["eps"], *sizes
        fused = Fused(_update(way), ("exp_avg", "exp_avg_sq"), numbers)
        if not is_recorded and fused.done(parameter, grad, state):
            return
        grad = with_decay(parameter, grad, group)
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        scale = square.div(correction).sqrt().add(group["eps"])
        for value, size in zip((grad, mean), sizes, strict=True):
            if is_recorded:  # sizes are tensors, which have gradients themselves
                parameter.addcdiv_(value * size, scale)
            else:
                parameter.addcdiv_(value, scale, value=size)


nadam = step_of(NAdam)
