"""Inputs resized over their last one, two or three dimensions."""

# mypy: disable-error-code="arg-type, no-any-return"
from __future__ import annotations

from typing import ClassVar

from ...ops.tensors.tensor import Tensor
from .. import functional
from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]

Sizes = int | tuple[int, ...] | None
Factors = float | tuple[float, ...] | None


class Upsample(Module):
    """An input with the sizes `size`, or its own times `scale_factor`.

    `mode` is nearest, nearest-exact, linear, bilinear, bicubic or trilinear.
    """

    __constants__: ClassVar[list[str]] = [
        "size",
        "scale_factor",
        "mode",
        "align_corners",
        "name",
        "recompute_scale_factor",
    ]
    name: str
    mode: str
    align_corners: bool | None
    recompute_scale_factor: bool | None

    def __init__(
        self,
        size: Sizes = None,
        scale_factor: Factors = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: Factors
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault(
            "recompute_scale_factor", True
        )  # what was done before it could be said

    def extra_repr(self) -> str:
        known = "scale_factor" if self.scale_factor is not None else "size"
        return f"{known}={getattr(self, known)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of (N, C, H, W) that repeats the nearest element."""

    def __init__(self, size: Sizes = None, scale_factor: Factors = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of (N, C, H, W) by straight lines, corner to corner."""

    def __init__(self, size: Sizes = None, scale_factor: Factors = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
