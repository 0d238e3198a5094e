"""ASGD: steps down the gradient, and the mean of where they led."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..ops.eager.dispatch import eager_function
from ..ops.table.updates import Program, Update
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .fused_steps import Fused, Way
from .optimizer import Group, Optimizer, Params, check_options, counter, with_decay

__all__ = ["ASGD", "asgd"]


@cache
def _update(way: Way, averages: bool) -> Update:
    """The step on parameter, gradient and mean of parameters as one kernel."""

    def write(program: Program) -> Iterator[tuple[int, int, int]]:
        decay, shrinks, rate, share = range(3, 7)
        parameter, grad = way.begin(program, decay)
        step = program("multiply", grad, rate)
        parameter = program("add", program("multiply", parameter, shrinks), step)
        yield 0, parameter, way.times + 2
        mean = parameter
        if averages:
            change = program("multiply", program("subtract", parameter, 2), share)
            mean = program("add", 2, change)
        yield 2, mean, 1

    return Update(3, 4, write)


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992).

    Args:
        params: the parameters or groups of them.
        lr: how far the first steps go.
        lambd: how fast steps get shorter, and parameters smaller.
        alpha: the power of the steps' number.
        t0: from which step on the mean is taken.
        weight_decay: how much of the parameter is added to its gradient.
        maximize: whether to step along the gradient.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr=lr, weight_decay=weight_decay)
        defaults: Group = {
            **{"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay},
            **{"foreach": foreach, "maximize": maximize, "differentiable": differentiable},
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        lr, lambd = group["lr"], group["lambd"]
        if not state:
            state["step"] = counter()
            state["eta"] = counter(lr)
            state["mu"] = counter(1.0)
            state["ax"] = eager_function("aten::zeros_like")(parameter)
        state["step"] += 1
        step, length, share = (state[name].item() for name in ("step", "eta", "mu"))
        mean = state["ax"]
        way = Way.of(group)
        numbers = way.factor(group), 1 - lambd * length, -length, share
        if not Fused(_update(way, share != 1), ("ax",), numbers).done(parameter, grad, state):
            grad = with_decay(parameter, grad, group)
            parameter.mul_(1 - lambd * length).add_(grad, alpha=-length)
            if share != 1:
                mean.add_((parameter - mean).mul_(share))
            else:
                mean.copy_(parameter)
        state["eta"].fill_(lr / (1 + lambd * lr * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))


asgd = step_of(ASGD)
