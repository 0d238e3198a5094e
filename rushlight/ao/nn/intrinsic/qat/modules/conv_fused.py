"""Convolutions with a batch norm, a ReLU or both, that round their weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, Self

from ......nn import functional as F
from ......nn.modules import conv as floats
from ......nn.modules.activation import ReLU
from ......nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from ......nn.modules.module import Module
from ......nn.state import Metadata, StateDict
from ......nn.utils.fusion import fuse_conv_bn_weights
from ......ops.tensors.tensor import Parameter, Tensor
from .....nn.qat.modules import conv
from .....nn.qat.modules.conv import _sizes
from ....configuration import Configuration, configuration_of
from ...modules import fused
from .normed import Normed

__all__ = [
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "freeze_bn_stats",
    "update_bn_stats",
]

_OLD: Final = {"weight": "gamma", "bias": "beta"}
"""What the norm's weights were called in states of the first version."""


class _ConvBnNd(Normed, floats._ConvNd, fused._FusedModule):
    """What all with a batch norm are."""

    _version = 2
    _FLOAT_MODULE: ClassVar[type[Module]]
    _FLOAT_CONV_MODULE: ClassVar[Any]  # its `__init__` is called for a layer of another class
    _FLOAT_BN_MODULE: ClassVar[type[Module]]
    _FLOAT_RELU_MODULE: ClassVar[type[Module] | None] = None
    _FUSED_FLOAT_MODULE: ClassVar[type[Module] | None] = None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: str | int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool | None = None,
        padding_mode: str = "zeros",
        eps: float = 1e-05,
        momentum: float = 0.1,
        freeze_bn: bool = False,
        qconfig: Configuration | None = None,
    ) -> None:
        self._FLOAT_CONV_MODULE.__init__(
            self,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            False,
            padding_mode,
        )
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self.bias = Parameter(self.weight.new_zeros(out_channels)) if bias else None
        norm = self._FLOAT_BN_MODULE(out_channels, eps, momentum, True, True)
        self._norm(norm, qconfig, freeze_bn, self.training)
        self.reset_bn_parameters()

    def reset_bn_parameters(self) -> None:
        """Draw the norm's weights anew, and the bias of the layer."""
        super().reset_bn_parameters()
        self._draw_bias()

    def _forward(self, input: Tensor) -> Tensor:
        made: Tensor = self._normed(lambda w, b: self._conv_forward(input, w, b))
        return made

    def forward(self, input: Tensor) -> Tensor:
        return self._forward(input)

    def train(self, mode: bool = True) -> Self:
        """Go into training, or out of it; frozen norms stay in evaluation."""
        self.training = mode
        self._set_mode(mode, self.named_children())
        return self

    def _load_from_state_dict(
        self,
        state_dict: StateDict,
        prefix: str,
        local_metadata: Metadata,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        version = local_metadata.get("version")
        if version is None or version < 2:
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                old = prefix + _OLD.get(name, name)
                if (old != prefix + name and old in state_dict) or name not in _OLD:
                    if old in state_dict:
                        state_dict[f"{prefix}bn.{name}"] = state_dict.pop(old)
                    elif strict:
                        missing_keys.append(f"{prefix}bn.{name}")
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, *lists)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of a fused pair or triple in floats, with its weights and norm.

        Raises:
            AssertionError: another module; no configuration.
        """
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(
                f"qat.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__}"
            )
        qconfig = configuration_of(mod)
        source, norm, *_ = mod.children()
        *numbers, _, padding_mode = _sizes(source)
        kind: Callable[..., Self] = cls
        made: Self = kind(
            *numbers,
            source.bias is not None,
            padding_mode,
            norm.eps,
            norm.momentum,
            False,
            qconfig,
        )
        made.weight = source.weight
        made.bias = source.bias
        for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
            setattr(made.bn, name, getattr(norm, name))
        return made

    def to_float(self) -> Module:
        """The convolution in floats with the norm taken in, and the ReLU if it has one."""
        made: Module = self._FLOAT_CONV_MODULE(*_sizes(self))
        statistics = (self.bn.running_mean, self.bn.running_var, self.bn.eps)
        weight, bias = fuse_conv_bn_weights(
            self.weight.detach(),
            None if self.bias is None else self.bias.detach(),
            *statistics,
            self.bn.weight,
            self.bn.bias,
        )
        made.weight, made.bias = Parameter(weight.detach()), Parameter(bias.detach())
        if self._FLOAT_RELU_MODULE is not None and self._FUSED_FLOAT_MODULE is not None:
            made = self._FUSED_FLOAT_MODULE(made, self._FLOAT_RELU_MODULE())
        made.train(self.training)
        return made


class ConvBn1d(_ConvBnNd, floats.Conv1d):
    """`nn.Conv1d` and `nn.BatchNorm1d`; the weight goes through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvBn1d
    _FLOAT_CONV_MODULE = floats.Conv1d
    _FLOAT_BN_MODULE = BatchNorm1d


class ConvBnReLU1d(ConvBn1d):
    """`ConvBn1d` and a ReLU."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvBnReLU1d
    _FLOAT_RELU_MODULE = ReLU
    _FUSED_FLOAT_MODULE = fused.ConvReLU1d

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(self._forward(input))


class ConvReLU1d(conv.Conv1d, fused._FusedModule):
    """`nn.Conv1d` and a ReLU; the weight goes through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvReLU1d
    _FLOAT_CONV_MODULE = floats.Conv1d
    _FLOAT_RELU_MODULE = ReLU

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(conv.Conv1d.forward(self, input))


class ConvBn2d(_ConvBnNd, floats.Conv2d):
    """`nn.Conv2d` and `nn.BatchNorm2d`; the weight goes through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvBn2d
    _FLOAT_CONV_MODULE = floats.Conv2d
    _FLOAT_BN_MODULE = BatchNorm2d


class ConvBnReLU2d(ConvBn2d):
    """`ConvBn2d` and a ReLU."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvBnReLU2d
    _FLOAT_RELU_MODULE = ReLU
    _FUSED_FLOAT_MODULE = fused.ConvReLU2d

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(self._forward(input))


class ConvReLU2d(conv.Conv2d, fused._FusedModule):
    """`nn.Conv2d` and a ReLU; the weight goes through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvReLU2d
    _FLOAT_CONV_MODULE = floats.Conv2d
    _FLOAT_RELU_MODULE = ReLU

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(conv.Conv2d.forward(self, input))


class ConvBn3d(_ConvBnNd, floats.Conv3d):
    """`nn.Conv3d` and `nn.BatchNorm3d`; the weight goes through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvBn3d
    _FLOAT_CONV_MODULE = floats.Conv3d
    _FLOAT_BN_MODULE = BatchNorm3d


class ConvBnReLU3d(ConvBn3d):
    """`ConvBn3d` and a ReLU."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvBnReLU3d
    _FLOAT_RELU_MODULE = ReLU
    _FUSED_FLOAT_MODULE = fused.ConvReLU3d

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(self._forward(input))


class ConvReLU3d(conv.Conv3d, fused._FusedModule):
    """`nn.Conv3d` and a ReLU; the weight goes through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvReLU3d
    _FLOAT_CONV_MODULE = floats.Conv3d
    _FLOAT_RELU_MODULE = ReLU

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(conv.Conv3d.forward(self, input))


def update_bn_stats(mod: Module) -> None:
    """Have norms take statistics; for `model.apply`."""
    if isinstance(mod, _ConvBnNd):
        mod.update_bn_stats()


def freeze_bn_stats(mod: Module) -> None:
    """Keep the statistics of norms as they are; for `model.apply`."""
    if isinstance(mod, _ConvBnNd):
        mod.freeze_bn_stats()
