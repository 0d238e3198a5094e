"""Layers that find the number of their inputs themselves: `LazyLinear`, `LazyConv2d` and so on."""

# mypy: disable-error-code="misc, assignment"
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES, Device, DType
from ...ops.tensors.tensor import Tensor
from ..layer_options import Placed
from ..parameter import UninitializedBuffer, UninitializedParameter
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .lazy import LazyModuleMixin
from .linear import Linear
from .module import Module

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
]

_zeros = eager_function("aten::zeros")

if TYPE_CHECKING:
    from .batchnorm import _NormBase
    from .conv import _ConvNd

    class _LazyConv(LazyModuleMixin, _ConvNd): ...

    class _LazyNorm(LazyModuleMixin, _NormBase): ...

else:

    class _LazyConv(LazyModuleMixin):
        pass

    class _LazyNorm(LazyModuleMixin):
        pass


def _give_sizes(module: Module, **sizes: tuple[int, ...]) -> None:
    """Materialize parameters and buffers by name, those that the module has."""
    for name, size in sizes.items():
        tensor = getattr(module, name)
        if tensor is not None:
            tensor.materialize(size)


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` whose `in_features` is the last size of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            _give_sizes(
                self, weight=(self.out_features, self.in_features), bias=(self.out_features,)
            )
            self.reset_parameters()
        if self.in_features == 0:  # the weight was loaded
            given, known = input.shape[-1], self.weight.shape[-1]
            if given != known:
                raise AssertionError(
                    f"The in_features inferred from input: {given} is not equal to in_features "
                    f"from self.weight: {known}"
                )
            self.in_features = known


class _LazyConvNd(_LazyConv):
    dimensions: ClassVar[int]

    def __init__(
        self,
        out_channels: int,
        kernel_size: object,
        *args: object,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        **kwargs: object,
    ) -> None:
        # bias is not among the first arguments after the sizes: its place differs between classes
        super().__init__(0, 0, kernel_size, *args, bias=False, **kwargs)
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._channels_of(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        channels = (self.out_channels, self.in_channels // self.groups)
        if self.transposed:
            channels = (self.in_channels, self.out_channels // self.groups)
        _give_sizes(self, weight=(*channels, *self.kernel_size), bias=(self.out_channels,))
        self.reset_parameters()

    def _channels_of(self, input: Tensor) -> int:
        alone = self.dimensions + 1
        if input.dim() not in (alone, alone + 1):
            raise RuntimeError(
                f"Expected {alone}D (unbatched) or {alone + 1}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        channels: int = input.shape[1] if input.dim() == alone + 1 else input.shape[0]
        return channels


class _LazyNormNd(_LazyNorm):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=bias)
        self.affine = affine
        self.track_running_stats = track_running_stats
        made: Placed = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**made)
            if bias:
                self.bias = UninitializedParameter(**made)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**made)
            self.running_var = UninitializedBuffer(**made)
            self.num_batches_tracked = _zeros([], dtype=DTYPES["int64"], device=device)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            names = ["weight", "bias"] if self.affine else []
            names += ["running_mean", "running_var"] if self.track_running_stats else []
            _give_sizes(self, **dict.fromkeys(names, (self.num_features,)))
            self.reset_parameters()


class LazyConv1d(_LazyConvNd, Conv1d):
    """A `Conv1d` whose `in_channels` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = Conv1d
    dimensions = 1


class LazyConv2d(_LazyConvNd, Conv2d):
    """A `Conv2d` whose `in_channels` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = Conv2d
    dimensions = 2


class LazyConv3d(_LazyConvNd, Conv3d):
    """A `Conv3d` whose `in_channels` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = Conv3d
    dimensions = 3


class LazyConvTranspose1d(_LazyConvNd, ConvTranspose1d):
    """A `ConvTranspose1d` whose `in_channels` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = ConvTranspose1d
    dimensions = 1


class LazyConvTranspose2d(_LazyConvNd, ConvTranspose2d):
    """A `ConvTranspose2d` whose `in_channels` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = ConvTranspose2d
    dimensions = 2


class LazyConvTranspose3d(_LazyConvNd, ConvTranspose3d):
    """A `ConvTranspose3d` whose `in_channels` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = ConvTranspose3d
    dimensions = 3


class LazyBatchNorm1d(_LazyNormNd, BatchNorm1d):
    """A `BatchNorm1d` whose `num_features` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = BatchNorm1d


class LazyBatchNorm2d(_LazyNormNd, BatchNorm2d):
    """A `BatchNorm2d` whose `num_features` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = BatchNorm2d


class LazyBatchNorm3d(_LazyNormNd, BatchNorm3d):
    """A `BatchNorm3d` whose `num_features` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = BatchNorm3d


class LazyInstanceNorm1d(_LazyNormNd, InstanceNorm1d):
    """An `InstanceNorm1d` whose `num_features` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormNd, InstanceNorm2d):
    """An `InstanceNorm2d` whose `num_features` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormNd, InstanceNorm3d):
    """An `InstanceNorm3d` whose `num_features` is that of its first input."""

    cls_to_become: ClassVar[type[Module] | None] = InstanceNorm3d
