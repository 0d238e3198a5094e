"""Adam: steps scaled by running means of gradients and of their squares."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ..ops.table.updates import Program, Update
from ..ops.tensor_lists.steps import adam_step
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .fused_steps import Fused, Way, mean_square
from .optimizer import Group, Optimizer, Params, check_means, count_step, toward

__all__ = ["Adam", "AdamW", "adam"]


@cache
def _update(way: Way, keeps_largest: bool) -> Update:
    """The step on parameter, gradient, means of it and its square (and the largest of these), as
    one kernel; the numbers are those of `Adam.update`, in their order there."""

    def write(program: Program) -> Iterator[tuple[int, int, int]]:
        rest = range(4, program.arrays)
        decay, share, kept, other, root, eps, size = range(program.arrays, program.arrays + 7)
        parameter, grad = way.begin(program, decay)
        mean = program("lerp", 2, grad, share)
        yield 2, mean, 1
        square = mean_square(program, 3, grad, kept, other)
        yield 3, square, 2
        for largest in rest:
            square = program("maximum", largest, square)
            yield 4, square, 1
        scale = program("add", program("divide", program("sqrt", square), root), eps)
        step = program("divide", program("multiply", mean, size), scale)
        yield 0, program("add", parameter, step), way.times + 1

    return Update(5 if keeps_largest else 4, 7, write)


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015).

    Args:
        params: the parameters or groups of them.
        lr: how far the steps go.
        betas: how much of the two running means is kept.
        eps: added to the root of the second one.
        weight_decay: how much of the parameter is added to its gradient.
        amsgrad: whether the largest second mean so far is taken.
        maximize: whether to step along the gradient.
        decoupled_weight_decay: whether the decay is taken from the parameter itself.
    """

    sparse_refusal = "Adam does not support sparse gradients, please consider SparseAdam instead"

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_means(lr, betas, eps, weight_decay=weight_decay)
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        defaults: Group = {
            **{"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay},
            **{"amsgrad": amsgrad, "maximize": maximize, "foreach": foreach},
            **{"capturable": capturable, "differentiable": differentiable, "fused": fused},
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        largest_ones = ("max_exp_avg_sq",) if group["amsgrad"] else ()
        count_step(state, parameter, "exp_avg", "exp_avg_sq", *largest_ones)
        count = state["step"].item()
        if self._fused(count, group).done(parameter, grad, state):
            return
        adam_step(
            parameter,
            toward(grad, group),
            state["exp_avg"],
            state["exp_avg_sq"],
            state["max_exp_avg_sq"] if group["amsgrad"] else None,
            **{each: group[each] for each in ("lr", "weight_decay", "eps", "amsgrad")},
            **dict(zip(("beta1", "beta2"), group["betas"], strict=True)),
            count=count,
            decoupled=bool(group["decoupled_weight_decay"]),
        )

    def _fused(self, step: float, group: Group) -> Fused:
        way, lr = Way.of(group), group["lr"]
        beta1, beta2 = group["betas"]
        root = (1 - beta2**step) ** 0.5
        numbers = way.factor(group), 1 - beta1, beta2, 1 - beta2, root, group["eps"]
        names = "exp_avg", "exp_avg_sq", *["max_exp_avg_sq"][: bool(group["amsgrad"])]
        update = _update(way, bool(group["amsgrad"]))
        return Fused(update, names, (*numbers, -(lr / (1 - beta1**step))))


class AdamW(Adam):
    """Adam with the decay taken from the parameters themselves (Loshchilov and Hutter 2019)."""

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, decoupled_weight_decay=True, **options
        )


adam = step_of(Adam)
