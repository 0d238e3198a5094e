"""RMSprop: steps scaled by a running mean of squared gradients."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..ops.table.updates import Program, Update
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .fused_steps import Fused, Way, mean_square
from .optimizer import Group, Optimizer, Params, check_options, count_step, with_decay

__all__ = ["RMSprop", "rmsprop"]


@cache
def _update(way: Way, has_momentum: bool, is_centered: bool) -> Update:
    """The step on parameter, gradient, the mean of its square and what momentum and centering
    keep, as one kernel."""
    count = 3 + has_momentum + is_centered

    def write(program: Program) -> Iterator[tuple[int, int, int]]:
        decay, kept, share, eps, momentum, rate = range(count, count + 6)
        parameter, grad = way.begin(program, decay)
        square = mean_square(program, 2, grad, kept, share)
        yield 2, square, 2
        if is_centered:
            mean = program("lerp", count - 1, grad, share)
            yield count - 1, mean, 1
            square = program("add", square, program("multiply", program("negate", mean), mean))
        scale = program("add", program("sqrt", square), eps)
        if has_momentum:
            buffer = program("multiply", 3, momentum)
            buffer = program("add", buffer, program("divide", grad, scale))
            yield 3, buffer, 2
            step = program("multiply", buffer, rate)
        else:
            step = program("divide", program("multiply", grad, rate), scale)
        yield 0, program("add", parameter, step), 1

    return Update(count, 6, write)


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
        wanted = {"momentum_buffer": group["momentum"] > 0, "grad_avg": group["centered"]}
        count_step(state, parameter, "square_avg", *(name for name in wanted if wanted[name]))
        if self._fused(0, group).done(parameter, grad, state):
            return
        alpha, square = group["alpha"], state["square_avg"]
        grad = with_decay(parameter, grad, group)
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

    def _fused(self, step: float, group: Group) -> Fused:
        way, alpha = Way.of(group), group["alpha"]
        names = {"momentum_buffer": group["momentum"] > 0, "grad_avg": bool(group["centered"])}
        numbers = way.factor(group), alpha, 1 - alpha, group["eps"], group["momentum"]
        kept = [name for name, has in names.items() if has]
        update = _update(way, *names.values())
        return Fused(update, ("square_avg", *kept), (*numbers, -group["lr"]))


rmsprop = step_of(RMSprop)
