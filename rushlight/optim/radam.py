"""RAdam: Adam that begins without the second mean, until enough is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..ops.table.updates import Program, Update
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .fused_steps import Fused, Way, mean_square
from .optimizer import Group, Optimizer, Params, check_means, count_step, with_decay

__all__ = ["RAdam", "radam"]


@cache
def _update(way: Way, is_scaled: bool) -> Update:
    """The step on parameter, gradient, means of it and its square, as one kernel."""

    def write(program: Program) -> Iterator[tuple[int, int, int]]:
        decay, share, kept, other, eps, size = range(4, 10)
        parameter, grad = way.begin(program, decay)
        mean = program("lerp", 2, grad, share)
        yield 2, mean, 1
        square = mean_square(program, 3, grad, kept, other)
        yield 3, square, 2
        step = program("multiply", mean, size)
        if is_scaled:
            step = program("divide", step, program("add", program("sqrt", square), eps))
        yield 0, program("add", parameter, step), way.times + 1

    return Update(4, 6, write)


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
        check_means(lr, betas, eps, weight_decay=weight_decay)
        defaults: Group = {
            **{"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay},
            **{"maximize": maximize, "foreach": foreach, "capturable": capturable},
            **{"decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable},
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        count_step(state, parameter, "exp_avg", "exp_avg_sq")
        form = self._fused(state["step"].item(), group)
        if form.done(parameter, grad, state):
            return
        _, share, kept, other, eps, size = form.numbers
        mean, square = (state[name] for name in form.names)
        grad = with_decay(parameter, grad, group)
        mean.lerp_(grad, share)
        square.mul_(kept).addcmul_(grad, grad, value=other)
        if form.update is _update(Way.of(group), True):
            parameter.addcdiv_(mean, square.sqrt().add(eps), value=size)
        else:
            parameter.add_(mean, alpha=size)

    def _fused(self, step: float, group: Group) -> Fused:
        way = Way.of(group)
        beta1, beta2 = group["betas"]
        size = -group["lr"] / (1 - beta1**step)
        correction = 1 - beta2**step
        limit = 2 / (1 - beta2) - 1
        known = limit - 2 * step * beta2**step / correction
        is_scaled = known > 5.0  # before, the variance of the second mean is not tractable
        if is_scaled:
            rectified = (known - 4) * (known - 2) * limit / ((limit - 4) * (limit - 2) * known)
            size *= (correction * rectified) ** 0.5
        numbers = way.factor(group), 1 - beta1, beta2, 1 - beta2, group["eps"], size
        return Fused(_update(way, is_scaled), ("exp_avg", "exp_avg_sq"), numbers)


radam = step_of(RAdam)
