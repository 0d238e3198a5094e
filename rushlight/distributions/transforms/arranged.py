"""Transforms that change shapes, or act on slices of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ...ops.gradients.table.rows import aten
from ...ops.tensors.sizes import Size
from ...ops.tensors.tensor import Tensor
from .. import constraints
from ..constraints import Constraint
from ..utils import _sum_rightmost
from .base import Shape, Transform, check_length

__all__ = ["CatTransform", "ReshapeTransform", "StackTransform"]


class ReshapeTransform(Transform):
    """The last dimensions in another shape.

    Raises:
        ValueError: the shapes hold different numbers of elements.
    """

    bijective = True
    _arguments = ("in_shape", "out_shape")

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0):
        self.in_shape = Size(in_shape)
        self.out_shape = Size(out_shape)
        if prod(self.in_shape) != prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    @property
    def domain(self) -> Constraint:
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Constraint:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Shape) -> Shape:
        return _exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return _exchanged(shape, self.out_shape, self.in_shape)


def _exchanged(shape: Shape, expected: Size, other: Size) -> Shape:
    check_length(len(shape) >= len(expected))
    kept = len(shape) - len(expected)
    if shape[kept:] != expected:
        raise ValueError(f"Shape mismatch: expected {shape[kept:]} but got {expected}")
    return shape[:kept] + other


class _Sliced(Transform):
    """Transforms along a dimension, each for slices of its own."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(each, Transform) for each in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) if cache_size else each for each in tseq]
        self.dim = dim

    @property
    def bijective(self) -> bool:
        return all(each.bijective for each in self.transforms)

    def _slices(self, whole: Tensor) -> Sequence[Tensor]:
        raise NotImplementedError

    def _check(self, whole: Tensor, length: int, name: str) -> None:
        if not -whole.dim() <= self.dim < whole.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for tensor with {whole.dim()} dimensions"
            )
        if whole.size(self.dim) != length:
            raise AssertionError(
                f"x.size({self.dim}) = {whole.size(self.dim)} must equal {name} {length}"
            )

    def _joined(self, pieces: Sequence[Tensor]) -> Tensor:
        raise NotImplementedError

    def _each(self, whole: Tensor, run: Callable[[Transform, Tensor], Tensor]) -> Tensor:
        slices = self._slices(whole)
        return self._joined([run(t, s) for t, s in zip(self.transforms, slices, strict=True)])

    def _call(self, x: Tensor) -> Tensor:
        return self._each(x, lambda transform, piece: transform(piece))

    def _inverse(self, y: Tensor) -> Tensor:
        return self._each(y, lambda transform, piece: transform.inv(piece))

    def _stretches(self, x: Tensor, y: Tensor) -> list[Tensor]:
        rows = zip(self.transforms, self._slices(x), self._slices(y), strict=True)
        return [each.log_abs_det_jacobian(a, b) for each, a, b in rows]


class CatTransform(_Sliced):
    """Transforms of `lengths` slices each along `dim`, put together as by `torch.cat`."""

    _arguments = ("transforms", "dim", "lengths")

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )

    @property
    def event_dim(self) -> int:
        return max(each.event_dim for each in self.transforms)

    @property
    def length(self) -> int:
        """How many slices there are in all."""
        return sum(self.lengths)

    def _slices(self, whole: Tensor) -> Sequence[Tensor]:
        self._check(whole, self.length, "length")
        return whole.split(self.lengths, self.dim)

    def _joined(self, pieces: Sequence[Tensor]) -> Tensor:
        return aten.cat(pieces, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        own = self.event_dim
        stretches = [
            _sum_rightmost(stretch, own - each.event_dim)
            for each, stretch in zip(self.transforms, self._stretches(x, y), strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + own
        if dim < 0:
            return aten.cat(stretches, dim)
        return aten.stack(stretches).sum(0)

    @property
    def domain(self) -> Constraint:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Constraint:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Sliced):
    """A transform for each slice along `dim`, put together as by `torch.stack`."""

    _arguments = ("transforms", "dim")

    def _slices(self, whole: Tensor) -> Sequence[Tensor]:
        self._check(whole, len(self.transforms), "len(transforms)")
        return whole.unbind(self.dim)

    def _joined(self, pieces: Sequence[Tensor]) -> Tensor:
        return aten.stack(pieces, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self._joined(self._stretches(x, y))

    @property
    def domain(self) -> Constraint:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Constraint:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
