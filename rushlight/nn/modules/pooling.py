"""Pooling: windows of the last one, two or three dimensions made one element each."""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="arg-type, no-any-return"
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...module_names import names_of
from ...ops.tensors.tensor import Tensor
from .. import functional
from ..sizes import pair, single, triple
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

Sizes = int | tuple[int, ...]


class _MaxPoolNd(Module):
    __constants__: ClassVar[list[str]] = [
        "kernel_size",
        "stride",
        "padding",
        "dilation",
        "return_indices",
        "ceil_mode",
    ]
    return_indices: bool
    ceil_mode: bool

    if TYPE_CHECKING:  # with `return_indices` two tensors, which unpacking a tensor gives as well

        def __call__(self, input: Tensor) -> Tensor: ...

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window; with `return_indices` also where it was."""

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]
        """Apply the layer."""
        return functional.max_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window; with `return_indices` also where it was."""

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]
        """Apply the layer."""
        return functional.max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window; with `return_indices` also where it was."""

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]
        """Apply the layer."""
        return functional.max_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class _MaxUnpoolNd(Module):
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Maxima put back where `MaxPool1d` found them, zeros elsewhere."""

    kernel_size: tuple[int]
    stride: tuple[int]
    padding: tuple[int]

    def __init__(
        self,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] | None = None,
        padding: int | tuple[int] = 0,
    ) -> None:
        super().__init__()
        self.kernel_size = single(kernel_size)
        self.stride = single(stride if stride is not None else kernel_size)
        self.padding = single(padding)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: list[int] | None = None
    ) -> Tensor:
        """Apply the layer."""
        return functional.max_unpool1d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool2d(_MaxUnpoolNd):
    """Maxima put back where `MaxPool2d` found them, zeros elsewhere."""

    kernel_size: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]

    def __init__(
        self,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, int] = 0,
    ) -> None:
        super().__init__()
        self.kernel_size = pair(kernel_size)
        self.stride = pair(stride if stride is not None else kernel_size)
        self.padding = pair(padding)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: list[int] | None = None
    ) -> Tensor:
        """Apply the layer."""
        return functional.max_unpool2d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool3d(_MaxUnpoolNd):
    """Maxima put back where `MaxPool3d` found them, zeros elsewhere."""

    kernel_size: tuple[int, int, int]
    stride: tuple[int, int, int]
    padding: tuple[int, int, int]

    def __init__(
        self,
        kernel_size: int | tuple[int, int, int],
        stride: int | tuple[int, int, int] | None = None,
        padding: int | tuple[int, int, int] = 0,
    ) -> None:
        super().__init__()
        self.kernel_size = triple(kernel_size)
        self.stride = triple(stride if stride is not None else kernel_size)
        self.padding = triple(padding)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: list[int] | None = None
    ) -> Tensor:
        """Apply the layer."""
        return functional.max_unpool3d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class _AvgPoolNd(Module):
    __constants__: ClassVar[list[str]] = [
        "kernel_size",
        "stride",
        "padding",
        "ceil_mode",
        "count_include_pad",
    ]
    kernel_size: int | tuple[int, ...]
    stride: int | tuple[int, ...]
    padding: int | tuple[int, ...]
    ceil_mode: bool
    count_include_pad: bool

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window."""

    def __init__(
        self,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] | None = None,
        padding: int | tuple[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = single(kernel_size)
        self.stride = single(stride if stride is not None else kernel_size)
        self.padding = single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class _DividedPool(_AvgPoolNd):
    """Means whose divisor can be chosen."""

    __constants__: ClassVar[list[str]] = [*_AvgPoolNd.__constants__, "divisor_override"]
    divisor_override: int | None

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override


class AvgPool2d(_DividedPool):
    """The mean of each window, or its sum divided by `divisor_override`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d(_DividedPool):
    """The mean of each window, or its sum divided by `divisor_override`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class _FractionalMaxPoolNd(Module):
    __constants__: ClassVar[list[str]] = [
        "kernel_size",
        "return_indices",
        "output_size",
        "output_ratio",
    ]
    return_indices: bool

    if TYPE_CHECKING:  # with `return_indices` two tensors, which unpacking a tensor gives as well

        def __call__(self, input: Tensor) -> Tensor: ...

    def _set_up(
        self,
        dimensions: int,
        kernel_size: Sizes,
        output_size: Sizes | None,
        output_ratio: float | tuple[float, ...] | None,
        return_indices: bool,
        random_samples: Tensor | None,
    ) -> None:
        each = {2: pair, 3: triple}[dimensions]
        if dimensions == 3 and not all(k > 0 for k in each(kernel_size)):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size = each(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", random_samples)
        self.output_size = None if output_size is None else each(output_size)
        self.output_ratio = None if output_ratio is None else each(output_ratio)
        if output_size is None and output_ratio is None:
            wanted = "requires specifying either an output size, or a pooling ratio"
            raise ValueError(f"{type(self).__name__} {wanted}")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest elements of windows at random places, as many as size or ratio say."""

    def __init__(
        self,
        kernel_size: int | tuple[int, int],
        output_size: int | tuple[int, int] | None = None,
        output_ratio: float | tuple[float, float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self._set_up(2, kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]
        return functional.fractional_max_pool2d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest elements of windows at random places, as many as size or ratio say."""

    def __init__(
        self,
        kernel_size: int | tuple[int, int, int],
        output_size: int | tuple[int, int, int] | None = None,
        output_ratio: float | tuple[float, float, float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self._set_up(3, kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]
        return functional.fractional_max_pool3d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class _LPPoolNd(Module):
    __constants__: ClassVar[list[str]] = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    norm_type: float
    ceil_mode: bool

    def __init__(
        self,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The `norm_type`-norm of each window."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.lp_pool1d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool2d(_LPPoolNd):
    """The `norm_type`-norm of each window."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.lp_pool2d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool3d(_LPPoolNd):
    """The `norm_type`-norm of each window."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.lp_pool3d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


OutputSizes = int | tuple[int | None, ...] | None


class _AdaptiveMaxPoolNd(Module):
    __constants__: ClassVar[list[str]] = ["output_size", "return_indices"]
    return_indices: bool

    if TYPE_CHECKING:  # with `return_indices` two tensors, which unpacking a tensor gives as well

        def __call__(self, input: Tensor) -> Tensor: ...

    def __init__(self, output_size: OutputSizes, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of `output_size` windows; with `return_indices` also where they were."""

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]
        """Apply the layer."""
        return functional.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of `output_size` windows; with `return_indices` also where they were."""

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]
        """Apply the layer."""
        return functional.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of `output_size` windows; with `return_indices` also where they were."""

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]
        """Apply the layer."""
        return functional.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    __constants__: ClassVar[list[str]] = ["output_size"]

    def __init__(self, output_size: OutputSizes) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of `output_size` windows."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of `output_size` windows; a size that is None stays as it is."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of `output_size` windows; a size that is None stays as it is."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.adaptive_avg_pool3d(input, self.output_size)


__getattr__ = names_of(__name__)
