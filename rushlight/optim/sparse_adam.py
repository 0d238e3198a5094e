"""SparseAdam: Adam that touches only what a sparse gradient names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import Array
from ..ops.memory.versions import written
from ..ops.tensors.tensor import Tensor
from .optimizer import Group, Optimizer, Params, check_betas, check_one_rate

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam whose running means stay as they are where the gradient has no element.

    Args:
        params: the parameters or groups of them, dense; their gradients are sparse (COO).
        lr: how far the steps go.
        betas: how much of the two running means is kept.
        eps: added to the root of the second one.
        maximize: whether to step along the gradient.

    Raises:
        ValueError: an option is out of its range, or a parameter is sparse or
            complex.
    """

    sparse_refusal = None
    has_counters = False

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_one_rate(lr)
        if not float(lr) > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        defaults: Group = {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize}
        super().__init__(params, defaults)
        sparse = self._places(lambda parameter: parameter.is_sparse)
        if sparse:
            raise ValueError(
                f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors"
            )
        pairs = self._places(lambda parameter: parameter.is_complex())
        if pairs:
            raise ValueError(
                f"Complex params at indices {pairs}: SparseAdam does not support complex parameters"
            )

    def _places(self, is_such: Callable[[Tensor], bool]) -> list[list[int]]:
        """The group and place of each such parameter."""
        return [
            [i, j]
            for i, group in enumerate(self.param_groups)
            for j, parameter in enumerate(group["params"])
            if is_such(parameter)
        ]

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        if not grad.is_sparse:
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )
        if not state:
            zeros_like = eager_function("aten::zeros_like")
            state["step"] = 0
            state["exp_avg"] = zeros_like(parameter)
            state["exp_avg_sq"] = zeros_like(parameter)
        state["step"] += 1
        grad = grad.coalesce()
        places, values = tuple(grad.indices()._array), grad.values()._array
        if not values.size:
            return
        if group["maximize"]:
            values = -values
        kind = values.dtype.type
        beta1, beta2 = group["betas"]
        mean = _moved(state["exp_avg"]._array, places, values, 1 - beta1)
        square = _moved(state["exp_avg_sq"]._array, places, values * values, 1 - beta2)
        root = (1 - beta2 ** state["step"]) ** 0.5
        length = float(group["lr"]) * root / (1 - beta1 ** state["step"])
        change = mean / (np.sqrt(square) + kind(group["eps"]))
        whole = parameter._array
        whole[places] += change * kind(-length)
        written(whole)


def _moved(kept: Array, places: tuple[Array, ...], values: Array, share: float) -> Array:
    """Move a running mean towards new values at these places, each named once; the mean there."""
    old = kept[places]
    new: Array = old + (values - old) * values.dtype.type(share)
    kept[places] = new
    return new
