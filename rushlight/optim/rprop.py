"""Rprop: steps whose length depends on the signs of gradients alone."""

from __future__ import annotations

from ..ops.eager.dispatch import eager_function
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .optimizer import Group, Optimizer, Params, check_options, counter

__all__ = ["Rprop", "rprop"]


class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993).

    Args:
        params: the parameters or groups of them.
        lr: how far the first steps go.
        etas: by what a step is multiplied when the sign changes, and when it stays.
        step_sizes: the shortest and the longest step.
        maximize: whether to step along the gradient.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults: Group = {
            **{"lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach},
            **{"maximize": maximize, "differentiable": differentiable, "capturable": capturable},
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        if not state:
            state["step"] = counter()
            state["prev"] = eager_function("aten::zeros_like")(parameter)
            state["step_size"] = eager_function("aten::full_like")(parameter, group["lr"])
        state["step"] += 1
        if group["maximize"]:
            grad = -grad
        shorter, longer = group["etas"]
        product = grad * state["prev"]
        factor = (product > 0) * longer + (product < 0) * shorter + (product == 0) * 1.0
        lengths = state["step_size"]
        lengths.mul_(factor.to(lengths.dtype)).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(product < 0, 0)
        parameter.addcmul_(grad.sign(), lengths, value=-1)
        state["prev"].copy_(grad)


rprop = step_of(Rprop)
