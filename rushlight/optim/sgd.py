"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..ops.table.updates import Program, Update
from ..ops.tensor_lists.steps import sgd_step
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .fused_steps import Fused
from .optimizer import Group, Optimizer, Params, check_options, toward

__all__ = ["SGD", "sgd"]


@cache
def _update(maximizes: bool, decays: bool, has_momentum: bool, nesterov: bool) -> Update:
    """The step on parameter, gradient and momentum as one kernel; the numbers are the decay, how
    much of the momentum is kept, how much of the gradient joins it, and the rate."""

    def write(program: Program) -> Iterator[tuple[int, int, int]]:
        parameter, grad, *buffers = range(program.arrays)
        decay, kept, share, rate = range(program.arrays, program.arrays + 4)
        if maximizes:
            grad = program("negate", grad)
        if decays:
            grad = program("add", grad, program("multiply", parameter, decay))
        for buffer in buffers:
            new = program(
                "add", program("multiply", buffer, kept), program("multiply", grad, share)
            )
            yield 2, new, 2
            grad = program("add", grad, program("multiply", new, kept)) if nesterov else new
        yield 0, program("add", parameter, program("multiply", grad, rate)), 1

    return Update(3 if has_momentum else 2, 4, write)


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
        momentum = group["momentum"]
        buffer = state.get("momentum_buffer") if momentum != 0 else None
        is_begun = buffer is not None or momentum == 0
        if is_begun and self._fused(0, group).done(parameter, grad, state):
            return
        names = "lr", "momentum", "dampening", "weight_decay", "nesterov"
        options = {each: group[each] for each in names}
        made = sgd_step(parameter, toward(grad, group), buffer, is_first_step=False, **options)
        if made is not None:
            state["momentum_buffer"] = made

    def _fused(self, step: float, group: Group) -> Fused:
        momentum, decay = group["momentum"], group["weight_decay"]
        signs = bool(group["maximize"]), decay != 0, momentum != 0, bool(group["nesterov"])
        names = ("momentum_buffer",) if momentum != 0 else ()
        numbers = decay, momentum, 1 - group["dampening"], -group["lr"]
        return Fused(_update(*signs), names, numbers)


sgd = step_of(SGD)
