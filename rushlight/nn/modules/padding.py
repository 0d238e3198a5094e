"""Elements added at the ends of the last one, two or three dimensions."""

# mypy: disable-error-code="arg-type, no-any-return"
from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from ...module_names import names_of
from ...ops.tensors.tensor import Tensor
from .. import functional
from .module import Module

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

Two = int | tuple[int, int]
Four = int | tuple[int, int, int, int]
Six = int | tuple[int, int, int, int, int, int]


def _both_ends(padding: int | Iterable[int], dimensions: int) -> tuple[int, ...]:
    """A number for each end of each dimension, the last dimension first."""
    return tuple(padding) if isinstance(padding, Iterable) else (padding,) * (2 * dimensions)


class _CircularPadNd(Module):
    __constants__: ClassVar[list[str]] = ["padding"]
    padding: tuple[int, ...]

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return functional.pad(input, self.padding, "circular")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class CircularPad1d(_CircularPadNd):
    """Elements from the other end of the last dimension."""

    def __init__(self, padding: Two) -> None:
        super().__init__()
        self.padding = _both_ends(padding, 1)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class CircularPad2d(_CircularPadNd):
    """Elements from the other ends of the last two dimensions."""

    def __init__(self, padding: Four) -> None:
        super().__init__()
        self.padding = _both_ends(padding, 2)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 3 and input.dim() != 4:
            raise ValueError(f"expected 3D or 4D input (got {input.dim()}D input)")


class CircularPad3d(_CircularPadNd):
    """Elements from the other ends of the last three dimensions."""

    def __init__(self, padding: Six) -> None:
        super().__init__()
        self.padding = _both_ends(padding, 3)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4 and input.dim() != 5:
            raise ValueError(f"expected 4D or 5D input (got {input.dim()}D input)")


class _ConstantPadNd(Module):
    __constants__: ClassVar[list[str]] = ["padding", "value"]
    value: float
    padding: tuple[int, ...]

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """`value` at both ends of the last dimension."""

    def __init__(self, padding: Two, value: float) -> None:
        super().__init__(value)
        self.padding = _both_ends(padding, 1)


class ConstantPad2d(_ConstantPadNd):
    """`value` around the last two dimensions."""

    def __init__(self, padding: Four, value: float) -> None:
        super().__init__(value)
        self.padding = _both_ends(padding, 2)


class ConstantPad3d(_ConstantPadNd):
    """`value` around the last three dimensions."""

    def __init__(self, padding: Six, value: float) -> None:
        super().__init__(value)
        self.padding = _both_ends(padding, 3)


class _ReflectionPadNd(Module):
    __constants__: ClassVar[list[str]] = ["padding"]
    padding: tuple[int, ...]

    def forward(self, input: Tensor) -> Tensor:
        return functional.pad(input, self.padding, "reflect")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReflectionPad1d(_ReflectionPadNd):
    """The last dimension mirrored at its ends, which are not repeated."""

    def __init__(self, padding: Two) -> None:
        super().__init__()
        self.padding = _both_ends(padding, 1)


class ReflectionPad2d(_ReflectionPadNd):
    """The last two dimensions mirrored at their ends, which are not repeated."""

    def __init__(self, padding: Four) -> None:
        super().__init__()
        self.padding = _both_ends(padding, 2)


class ReflectionPad3d(_ReflectionPadNd):
    """The last three dimensions mirrored at their ends, which are not repeated."""

    def __init__(self, padding: Six) -> None:
        super().__init__()
        self.padding = _both_ends(padding, 3)


class _ReplicationPadNd(Module):
    __constants__: ClassVar[list[str]] = ["padding"]
    padding: tuple[int, ...]

    def forward(self, input: Tensor) -> Tensor:
        return functional.pad(input, self.padding, "replicate")

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReplicationPad1d(_ReplicationPadNd):
    """The first and last element of the last dimension repeated."""

    def __init__(self, padding: Two) -> None:
        super().__init__()
        self.padding = _both_ends(padding, 1)


class ReplicationPad2d(_ReplicationPadNd):
    """The outermost elements of the last two dimensions repeated."""

    def __init__(self, padding: Four) -> None:
        super().__init__()
        self.padding = _both_ends(padding, 2)


class ReplicationPad3d(_ReplicationPadNd):
    """The outermost elements of the last three dimensions repeated."""

    def __init__(self, padding: Six) -> None:
        super().__init__()
        self.padding = _both_ends(padding, 3)


class ZeroPad1d(ConstantPad1d):
    """Zeros at both ends of the last dimension."""

    def __init__(self, padding: Two) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Zeros around the last two dimensions."""

    def __init__(self, padding: Four) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Zeros around the last three dimensions."""

    def __init__(self, padding: Six) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


__getattr__ = names_of(__name__)
