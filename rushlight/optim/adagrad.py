"""Adagrad: steps scaled by the sum of all squared gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from ..ops.eager.dispatch import eager_function
from ..ops.table.updates import Program, Update
from ..ops.tensor_lists.steps import adagrad_step
from ..ops.tensors.tensor import Tensor
from .functional import step_of
from .fused_steps import Fused, Way
from .optimizer import Group, Optimizer, Params, check_options, toward
from .saved_state import counter

__all__ = ["Adagrad", "adagrad"]

_full_like: Callable[..., Tensor] = eager_function("aten::full_like")


@cache
def _update(way: Way) -> Update:
    """The step on parameter, gradient and the sum of its squares as one kernel."""

    def write(program: Program) -> Iterator[tuple[int, int, int]]:
        decay, eps, size = range(3, 6)
        parameter, grad = way.begin(program, decay)
        square = program("add", 2, program("multiply", grad, grad))
        yield 2, square, 1
        scale = program("add", program("sqrt", square), eps)
        step = program("divide", program("multiply", grad, size), scale)
        yield 0, program("add", parameter, step), 1

    return Update(3, 3, write)


class Adagrad(Optimizer):
    """Adagrad (Duchi, Hazan and Singer 2011).

    Args:
        params: the parameters or groups of them.
        lr: how far the steps go.
        lr_decay: how fast they get shorter.
        weight_decay: how much of the parameter is added to its gradient.
        initial_accumulator_value: what the sums begin with.
        eps: added to their roots.
        maximize: whether to step along the gradient.
    """

    sparse_refusal = None

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay)
        check_options(initial_accumulator_value=initial_accumulator_value, eps=eps)
        defaults: Group = {
            **{"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay},
            **{"initial_accumulator_value": initial_accumulator_value, "foreach": foreach},
            **{"maximize": maximize, "differentiable": differentiable, "fused": fused},
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                value: complex = initial_accumulator_value
                if parameter.is_complex():  # whose parts have a sum each
                    value = complex(value.real, value.real)
                first = _full_like(parameter.detach(), value)
                self.state[parameter] = {
                    "step": counter(),
                    "sum": first,
                }

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        state["step"] += 1
        count = state["step"].item()
        form = self._fused(count, group)
        if form.done(parameter, grad, state):
            return
        grad = toward(grad, group)
        if grad.is_sparse:
            self._sparse(parameter, grad, state["sum"], form.numbers[-1], group)
            return
        adagrad_step(
            *(parameter, grad, state["sum"]),
            **{each: group[each] for each in ("lr", "lr_decay", "weight_decay", "eps")},
            count=count,
        )

    @staticmethod
    def _sparse(parameter: Tensor, grad: Tensor, total: Tensor, size: float, group: Group) -> None:
        """The step of those elements alone that have a gradient."""
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        grad = grad.coalesce()
        places, values = tuple(grad.indices()), grad.values()
        total.index_put_(places, values * values, accumulate=True)
        scale = total[places].sqrt().add_(group["eps"])
        parameter.index_put_(places, values / scale * size, accumulate=True)

    def _fused(self, step: float, group: Group) -> Fused:
        way = Way.of(group)
        length = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        return Fused(_update(way), ("sum",), (way.factor(group), group["eps"], -length))


adagrad = step_of(Adagrad)
