"""Adamax: Adam with the largest recent gradient as the scale."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..ops.table.updates import Program, Update
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .fused_steps import Fused, Way
from .optimizer import Group, Optimizer, Params, check_means, count_step, with_decay

__all__ = ["Adamax", "adamax"]


@cache
def _update(way: Way) -> Update:
    """The step on parameter, gradient, its mean and its largest size, as one kernel."""

    def write(program: Program) -> Iterator[tuple[int, int, int]]:
        decay, share, kept, eps, size = range(4, 9)
        parameter, grad = way.begin(program, decay)
        mean = program("lerp", 2, grad, share)
        yield 2, mean, 1
        now = program("add", program("absolute", grad), eps)
        largest = program("maximum", program("multiply", 3, kept), now)
        yield 3, largest, 1
        step = program("divide", program("multiply", mean, size), largest)
        yield 0, program("add", parameter, step), way.times + 1

    return Update(4, 5, write)


class Adamax(Optimizer):
    """Adamax (Kingma and Ba 2015, section 7.1).

    Args:
        params: the parameters or groups of them.
        lr: how far the steps go.
        betas: how much of the running mean, and of the largest gradient, is kept.
        eps: added to the gradients' sizes.
        weight_decay: how much of the parameter is added to its gradient.
        maximize: whether to step along the gradient.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_means(lr, betas, eps, weight_decay=weight_decay)
        defaults: Group = {
            **{"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay},
            **{"foreach": foreach, "maximize": maximize, "differentiable": differentiable},
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        count_step(state, parameter, "exp_avg", "exp_inf")
        form = self._fused(state["step"].item(), group)
        if form.done(parameter, grad, state):
            return
        _, share, kept, eps, size = form.numbers
        mean, largest = (state[name] for name in form.names)
        grad = with_decay(parameter, grad, group)
        mean.lerp_(grad, share)
        largest.copy_((largest * kept).maximum(grad.abs().add_(eps)))
        parameter.addcdiv_(mean, largest, value=size)

    def _fused(self, step: float, group: Group) -> Fused:
        way = Way.of(group)
        beta1, beta2 = group["betas"]
        size = -group["lr"] / (1 - beta1**step)
        numbers = way.factor(group), 1 - beta1, beta2, group["eps"], size
        return Fused(_update(way), ("exp_avg", "exp_inf"), numbers)


adamax = step_of(Adamax)
