"""Linear layers with a batch norm that round their weights."""

from __future__ import annotations

from typing import Self

from ......nn import functional as F
from ......nn.modules import linear as floats
from ......nn.modules.batchnorm import BatchNorm1d
from ......nn.modules.module import Module
from ......nn.utils.fusion import fuse_linear_bn_weights
from ......ops.tensors.tensor import Parameter, Tensor
from ....configuration import Configuration
from ...modules import fused
from .normed import Normed

__all__ = ["LinearBn1d"]


class LinearBn1d(Normed, floats.Linear, fused._FusedModule):
    """`nn.Linear` and `nn.BatchNorm1d`; the weight goes through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        eps: float = 1e-05,
        momentum: float = 0.1,
        freeze_bn: bool = False,
        qconfig: Configuration | None = None,
    ) -> None:
        floats.Linear.__init__(self, in_features, out_features, bias)
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        norm = BatchNorm1d(out_features, eps, momentum, True, True)
        self._norm(norm, qconfig, freeze_bn, self.training)
        self.reset_bn_parameters()

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 2:
            raise AssertionError("The input must be of 2 dimensions")
        made: Tensor = self._normed(lambda w, b: F.linear(input, w, b))
        return made

    def train(self, mode: bool = True) -> Self:
        """Go into training, or out of it; a frozen norm stays in evaluation."""
        self.training = mode
        self._set_mode(mode, self.named_children())
        return self

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of a fused pair in floats, with its weights and norm.

        Raises:
            AssertionError: another module; no configuration.
        """
        if type(mod) is not fused.LinearBn1d:
            raise AssertionError(f"qat.{cls.__name__}.from_float only works for LinearBn1d")
        if not getattr(mod, "qconfig", None):
            raise AssertionError("Input float module must have a qconfig")
        source, norm = mod[0], mod[1]
        made = cls(
            source.in_features,
            source.out_features,
            source.bias is not None,
            norm.eps,
            norm.momentum,
            False,
            mod.qconfig,
        )
        made.weight = source.weight
        made.bias = source.bias
        for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
            setattr(made.bn, name, getattr(norm, name))
        return made

    def to_float(self) -> Module:
        """The linear layer in floats with the norm taken in."""
        made = floats.Linear(self.in_features, self.out_features)
        statistics = (self.bn.running_mean, self.bn.running_var, self.bn.eps)
        held = (self.weight, self.bias, *statistics, self.bn.weight, self.bn.bias)
        weight, bias = fuse_linear_bn_weights(*held)
        made.weight, made.bias = Parameter(weight.detach()), Parameter(bias.detach())
        made.train(self.training)
        return made
