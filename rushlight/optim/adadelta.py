"""Adadelta: steps as long as recent ones, for gradients as long as recent ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..ops.table.updates import Program, Update
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .fused_steps import Fused, Way, mean_square
from .optimizer import Group, Optimizer, Params, check_options, count_step, with_decay

__all__ = ["Adadelta", "adadelta"]


@cache
def _update(way: Way) -> Update:
    """The step on parameter, gradient and the means of squares of gradients and of steps, as one
    kernel."""

    def write(program: Program) -> Iterator[tuple[int, int, int]]:
        decay, kept, other, eps, rate = range(4, 9)
        parameter, grad = way.begin(program, decay)
        square = mean_square(program, 2, grad, kept, other)
        yield 2, square, 2
        long = program("sqrt", program("add", 3, eps))
        scale = program("divide", long, program("sqrt", program("add", square, eps)))
        delta = program("multiply", scale, grad)
        yield 3, mean_square(program, 3, delta, kept, other), 2
        step = program("multiply", delta, rate)
        yield 0, program("add", parameter, step), way.times + 1

    return Update(4, 5, write)


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
        count_step(state, parameter, "square_avg", "acc_delta")
        form = self._fused(0, group)
        if form.done(parameter, grad, state):
            return
        _, rho, other, eps, size = form.numbers
        squares, steps = (state[name] for name in form.names)
        grad = with_decay(parameter, grad, group)
        squares.mul_(rho).addcmul_(grad, grad, value=other)
        delta = steps.add(eps).sqrt().div(squares.add(eps).sqrt()).mul(grad)
        steps.mul_(rho).addcmul_(delta, delta, value=other)
        parameter.add_(delta, alpha=size)

    def _fused(self, step: float, group: Group) -> Fused:
        way, rho = Way.of(group), group["rho"]
        numbers = way.factor(group), rho, 1 - rho, group["eps"], -group["lr"]
        return Fused(_update(way), ("square_avg", "acc_delta"), numbers)


adadelta = step_of(Adadelta)
