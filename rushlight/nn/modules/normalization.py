"""Normalisation of the last dimensions, of groups of channels, and across channels."""

# mypy: disable-error-code="arg-type, no-any-return"
from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import ClassVar

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Parameter, Tensor
from .. import functional, init
from .module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]

_empty = eager_function("aten::empty")
_stack = eager_function("aten::stack")


class LocalResponseNorm(Module):
    """Each element divided by `(k + alpha * mean of squares) ** beta` over `size` channels."""

    __constants__: ClassVar[list[str]] = ["size", "alpha", "beta", "k"]
    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """As `LocalResponseNorm` for (N, C, H, W), over a window of channels that grows.

    The window of the first channel reaches `(size + 1) // 2` channels far, and each next one a
    channel further; what leaves it at the other end is the channel `(size + 1) // 2` before, so
    that the first one stays in.  That is torch's definition.
    """

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (self.size + 1) // 2
        squares = input.pow(2)
        total = squares[:, :reach].sum(1)
        sums = [total]
        for channel in range(1, input.size(1)):
            if channel + reach <= input.size(1):
                total = total + squares[:, channel + reach - 1]
            if channel > reach:
                total = total - squares[:, channel - reach]
            sums.append(total)
        scale = _stack(sums, 1) * (self.alpha / self.size) + self.k
        return scale.pow(-self.beta) * input

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LayerNorm(Module):
    """The last dimensions, which have the shape `normalized_shape`, normalised together."""

    __constants__: ClassVar[list[str]] = ["normalized_shape", "eps", "elementwise_affine"]
    normalized_shape: tuple[int, ...]
    eps: float
    elementwise_affine: bool

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made: dict[str, object] = {"device": device, "dtype": dtype}
        weight = shift = None
        if elementwise_affine:
            weight = Parameter(_empty(self.normalized_shape, **made))
            shift = Parameter(_empty(self.normalized_shape, **made)) if bias else None
        self.register_parameter("weight", weight)
        self.register_parameter("bias", shift)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scale by one, shift by nothing."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


def _shape(given: object) -> tuple[int, ...]:
    return (given,) if isinstance(given, numbers.Integral) else tuple(given)  # type: ignore[return-value]


def _reset(weight: Tensor | None, bias: Tensor | None) -> None:
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)


class GroupNorm(Module):
    """Groups of channels of each sample of (N, C, *) normalised together."""

    __constants__: ClassVar[list[str]] = ["num_groups", "num_channels", "eps", "affine"]
    num_groups: int
    num_channels: int
    eps: float
    affine: bool

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            divisible = f"must be divisible by num_groups ({num_groups})"
            raise ValueError(f"num_channels ({num_channels}) {divisible}")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        made: dict[str, object] = {"device": device, "dtype": dtype}
        scale = Parameter(_empty(num_channels, **made)) if affine else None
        shift = Parameter(_empty(num_channels, **made)) if affine and bias else None
        self.register_parameter("weight", scale)
        self.register_parameter("bias", shift)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scale by one, shift by nothing."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, "
            f"affine={self.affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """The last dimensions divided by their root mean square."""

    __constants__: ClassVar[list[str]] = ["normalized_shape", "eps", "elementwise_affine"]
    normalized_shape: tuple[int, ...]
    eps: float | None
    elementwise_affine: bool

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = None
        if elementwise_affine:
            weight = Parameter(_empty(self.normalized_shape, device=device, dtype=dtype))
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scale by one."""
        _reset(self.weight, None)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


__getattr__ = names_of(__name__)
