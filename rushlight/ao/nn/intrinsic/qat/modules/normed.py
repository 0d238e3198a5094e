"""What layers that are trained along with a batch norm have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ......nn import init
from ......nn.modules.module import Module
from ......ops.eager.dispatch import eager_function
from ......ops.tensors.tensor import Tensor
from ....configuration import Configuration

__all__ = ["Normed"]

_sqrt = eager_function("aten::sqrt")
_zeros = eager_function("aten::zeros_like")


class Normed:
    """A layer whose weight is rounded as it will be with the norm, `bn`, taken into it."""

    bn: Module
    weight: Tensor
    bias: Any
    freeze_bn: bool
    weight_fake_quant: Module

    def _norm(
        self, bn: Module, qconfig: Configuration | None, freeze_bn: bool, training: bool
    ) -> None:
        """Take a norm and a configuration; its statistics stay as they are if they are frozen."""
        assert qconfig is not None
        self.qconfig = qconfig
        self.freeze_bn = freeze_bn if training else True
        self.bn = bn
        self.weight_fake_quant = qconfig.weight()
        if training and not freeze_bn:
            self.update_bn_stats()
        else:
            self.freeze_bn_stats()

    def reset_running_stats(self) -> None:
        """Forget the statistics of the norm."""
        self.bn.reset_running_stats()

    def reset_bn_parameters(self) -> None:
        """Draw the norm's weights anew."""
        self.bn.reset_running_stats()
        init.uniform_(self.bn.weight)
        init.zeros_(self.bn.bias)

    def update_bn_stats(self) -> Normed:
        """Have the norm take statistics from now on."""
        self.freeze_bn = False
        self.bn.training = True
        return self

    def freeze_bn_stats(self) -> Normed:
        """Keep the statistics of the norm as they are."""
        self.freeze_bn = True
        self.bn.training = False
        return self

    def _normed(self, apply: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """The layer and the norm of its result.

        The weight that is rounded is that of evaluation; what the norm then sees is scaled back.

        Args:
            apply: the layer by a weight and a bias of zeros.
        """
        factor = self.bn.weight / _sqrt(self.bn.running_var + self.bn.eps)
        lines = [-1] + [1] * (self.weight.dim() - 1)
        weight = self.weight_fake_quant(self.weight * factor.reshape(lines))
        bias = self.bias if self.bias is not None else self.bn.bias
        made = apply(weight, _zeros(bias, dtype=weight.dtype))
        channels = [1, -1] + [1] * (self.weight.dim() - 2)
        made = made / factor.reshape(channels)
        if self.bias is not None:
            made = made + self.bias.reshape(channels)
        normed: Tensor = self.bn(made)
        return normed

    def _set_mode(self, mode: bool, children: Iterable[tuple[str, Module]]) -> None:
        """Go into training, or out of it; frozen norms stay in evaluation."""
        for name, module in children:
            if name != "bn" or not self.freeze_bn:
                module.train(mode)
