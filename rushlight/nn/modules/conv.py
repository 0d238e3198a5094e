"""Convolutions and transposed convolutions over one, two and three dimensions."""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value, unreachable"
from __future__ import annotations

import math
from typing import ClassVar

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Parameter, Tensor
from .. import functional, init
from ..common_types import _size_1_t as _size_1_t
from ..common_types import _size_2_t as _size_2_t
from ..common_types import _size_3_t as _size_3_t
from ..sizes import annotate, pair, reversed_twice, single, triple
from .module import Module

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]

_empty = eager_function("aten::empty")

_PADDINGS = ("same", "valid")
_PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}


class _ConvNd(Module):
    """What all convolutions have; `weight` is (out, in / groups, *kernel_size)."""

    __constants__: ClassVar[list[str]] = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    _reversed_padding_repeated_twice: list[int]
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        _check_channels(in_channels, out_channels, groups)
        _check_padding(padding, stride, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _outer_padding(padding, dilation, kernel_size)
        channels = (out_channels, in_channels // groups)
        if transposed:
            channels = (in_channels, out_channels // groups)
        made: dict[str, object] = {"device": device, "dtype": dtype}
        self.weight = Parameter(_empty((*channels, *kernel_size), **made))
        if bias:
            self.bias = Parameter(_empty(out_channels, **made))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly from ±1/sqrt(numbers that go into an output)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        self._draw_bias()

    def _draw_bias(self) -> None:
        if self.bias is not None:
            entering = self.weight.shape[1] * math.prod(self.weight.shape[2:])
            if entering != 0:
                bound = 1 / math.sqrt(entering)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        dimensions = len(self.kernel_size)
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        if self.padding != (0,) * len(self.padding):
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * dimensions:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * dimensions:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "padding_mode"):  # pickled before there were others
            self.padding_mode = "zeros"


def _check_channels(in_channels: int, out_channels: int, groups: int) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")


def _check_padding(
    padding: str | tuple[int, ...], stride: tuple[int, ...], padding_mode: str
) -> None:
    if isinstance(padding, str):
        if padding not in _PADDINGS:
            wanted = "{'same', 'valid'}"
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {wanted}")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        given = f"but got padding_mode='{padding_mode}'"
        raise ValueError(f"padding_mode must be one of {_PADDING_MODES}, {given}")


def _outer_padding(
    padding: str | tuple[int, ...], dilation: tuple[int, ...], kernel_size: tuple[int, ...]
) -> object:
    """What `pad` must add before a convolution that adds nothing itself; last dimension first."""
    if not isinstance(padding, str):
        return reversed_twice(padding)
    added: list[int] = []
    for step, size in zip(reversed(dilation), reversed(kernel_size), strict=True):
        total = step * (size - 1) if padding == "same" else 0
        added += [total // 2, total - total // 2]
    return added


class Conv1d(_ConvNd):
    """Windows of (N, C, L) times a weight (out, in / groups, kernel), summed."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] = 1,
        padding: str | int | tuple[int] = 0,
        dilation: int | tuple[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        sizes = single(kernel_size), single(stride), _padding(padding, 1), single(dilation)
        super().__init__(
            *(in_channels, out_channels, *sizes),
            *(False, single(0), groups, bias, padding_mode, device, dtype),
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode != "zeros":
            return functional.conv1d(
                functional.pad(
                    input, self._reversed_padding_repeated_twice, mode=self.padding_mode
                ),
                weight,
                bias,
                self.stride,
                single(0),
                self.dilation,
                self.groups,
            )
        return functional.conv1d(
            input, weight, bias, self.stride, self.padding, self.dilation, self.groups
        )

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d(_ConvNd):
    """Windows of (N, C, H, W) times a weight (out, in / groups, *kernel), summed."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        padding: str | int | tuple[int, int] = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        sizes = pair(kernel_size), pair(stride), _padding(padding, 2), pair(dilation)
        super().__init__(
            *(in_channels, out_channels, *sizes),
            *(False, pair(0), groups, bias, padding_mode, device, dtype),
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode != "zeros":
            return functional.conv2d(
                functional.pad(
                    input, self._reversed_padding_repeated_twice, mode=self.padding_mode
                ),
                weight,
                bias,
                self.stride,
                pair(0),
                self.dilation,
                self.groups,
            )
        return functional.conv2d(
            input, weight, bias, self.stride, self.padding, self.dilation, self.groups
        )

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d(_ConvNd):
    """Windows of (N, C, D, H, W) times a weight (out, in / groups, *kernel), summed."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int, int],
        stride: int | tuple[int, int, int] = 1,
        padding: str | int | tuple[int, int, int] = 0,
        dilation: int | tuple[int, int, int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        sizes = triple(kernel_size), triple(stride), _padding(padding, 3), triple(dilation)
        super().__init__(
            *(in_channels, out_channels, *sizes),
            *(False, triple(0), groups, bias, padding_mode, device, dtype),
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode != "zeros":
            return functional.conv3d(
                functional.pad(
                    input, self._reversed_padding_repeated_twice, mode=self.padding_mode
                ),
                weight,
                bias,
                self.stride,
                triple(0),
                self.dilation,
                self.groups,
            )
        return functional.conv3d(
            input, weight, bias, self.stride, self.padding, self.dilation, self.groups
        )

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


def _padding(padding: object, dimensions: int) -> object:
    """A padding by name, or one number for each dimension."""
    if isinstance(padding, str):
        return padding
    return {1: single, 2: pair, 3: triple}[dimensions](padding)


class _ConvTransposeNd(_ConvNd):
    """What transposed convolutions have; `weight` is (in, out / groups, *kernel_size)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if padding_mode != "zeros":
            name = type(self).__name__
            raise ValueError(f'Only "zeros" padding mode is supported for {name}')
        sizes = kernel_size, stride, padding, dilation, transposed, output_padding
        rest = groups, bias, padding_mode, device, dtype
        super().__init__(in_channels, out_channels, *sizes, *rest)

    def _output_padding(
        self,
        input: Tensor,
        output_size: list[int] | None,
        stride: list[int],
        padding: list[int],
        kernel_size: list[int],
        num_spatial_dims: int,
        dilation: list[int] | None = None,
    ) -> list[int]:
        """What must be added at one end for the output to have the sizes `output_size`.

        Raises:
            ValueError: too few or too many sizes, or sizes out of reach.
        """
        if output_size is None:
            return single(self.output_padding)
        n = num_spatial_dims
        before = 2 if input.dim() == n + 2 else 1
        sizes = output_size[before:] if len(output_size) == before + n else output_size
        if len(sizes) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or "
                f"{before + n} elements (got {len(sizes)})"
            )
        low = _least_sizes(input, before, stride, padding, kernel_size, n, dilation)
        high = [low[d] + stride[d] - 1 for d in range(n)]
        for d in range(n):
            if not low[d] <= sizes[d] <= high[d]:
                raise ValueError(
                    f"requested an output size of {sizes}, but valid sizes range "
                    f"from {low} to {high} (for an input of {input.size()[2:]})"
                )
        return [sizes[d] - low[d] for d in range(n)]


def _least_sizes(
    input: Tensor,
    before: int,
    stride: list[int],
    padding: list[int],
    kernel_size: list[int],
    spatial: int,
    dilation: list[int] | None,
) -> list[int]:
    """The sizes of space of a transposed convolution's output if nothing is added to it."""
    sizes = annotate(list[int], [])
    for d in range(spatial):
        reach = (dilation[d] if dilation is not None else 1) * (kernel_size[d] - 1)
        sizes.append((input.size(before + d) - 1) * stride[d] - 2 * padding[d] + reach + 1)
    return sizes


class ConvTranspose1d(_ConvTransposeNd):
    """Each element of (N, C, L) spread by a weight (in, out / groups, kernel), and added up."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] = 1,
        padding: int | tuple[int] = 0,
        output_padding: int | tuple[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int] = 1,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        sizes = single(kernel_size), single(stride), single(padding), single(dilation)
        super().__init__(
            *(in_channels, out_channels, *sizes, True, single(output_padding)),
            *(groups, bias, padding_mode, device, dtype),
        )

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        if self.padding_mode != "zeros":
            raise ValueError("Only `zeros` padding mode is supported for ConvTranspose1d")

        num_spatial_dims = 1
        output_padding = self._output_padding(
            input,
            output_size,
            self.stride,
            self.padding,
            self.kernel_size,
            num_spatial_dims,
            self.dilation,
        )
        return functional.conv_transpose1d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )


class ConvTranspose2d(_ConvTransposeNd):
    """Each element of (N, C, H, W) spread by a weight (in, out / groups, *kernel), and added up."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] = 0,
        output_padding: int | tuple[int, int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, int] = 1,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        sizes = pair(kernel_size), pair(stride), pair(padding), pair(dilation)
        super().__init__(
            *(in_channels, out_channels, *sizes, True, pair(output_padding)),
            *(groups, bias, padding_mode, device, dtype),
        )

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        """Apply the layer."""
        if self.padding_mode != "zeros":
            raise ValueError("Only `zeros` padding mode is supported for ConvTranspose2d")

        num_spatial_dims = 2
        output_padding = self._output_padding(
            input,
            output_size,
            self.stride,
            self.padding,
            self.kernel_size,
            num_spatial_dims,
            self.dilation,
        )
        return functional.conv_transpose2d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )


class ConvTranspose3d(_ConvTransposeNd):
    """Each element of (N, C, D, H, W) spread by a weight (in, out / groups, *kernel), and added."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int, int],
        stride: int | tuple[int, int, int] = 1,
        padding: int | tuple[int, int, int] = 0,
        output_padding: int | tuple[int, int, int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, int, int] = 1,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        sizes = triple(kernel_size), triple(stride), triple(padding), triple(dilation)
        super().__init__(
            *(in_channels, out_channels, *sizes, True, triple(output_padding)),
            *(groups, bias, padding_mode, device, dtype),
        )

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        if self.padding_mode != "zeros":
            raise ValueError("Only `zeros` padding mode is supported for ConvTranspose3d")

        num_spatial_dims = 3
        output_padding = self._output_padding(
            input,
            output_size,
            self.stride,
            self.padding,
            self.kernel_size,
            num_spatial_dims,
            self.dilation,
        )
        return functional.conv_transpose3d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )


__getattr__ = names_of(__name__)


class _ConvTransposeMixin(_ConvTransposeNd):
    """The name that packages of before torch 1.8 build on."""
