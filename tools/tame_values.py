"""Arguments for operators that are mostly taken: small float64 tensors of shapes that fit together.

Sizes of one call are drawn from two or three numbers, so that two of them are equal often enough
for products and convolutions; whole numbers are small, and those of dimensions within reach.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np

from rushlight.typecheck.types.types import ListType, OptionalType, Type

__all__ = ["TameValues"]

_INDEX = (
    *("ind", "target", "repeats", "batch_sizes", "offset", "sorter", "label", "position", "pivots"),
    *("length", "permutation", "bins"),
)
_MASK = ("mask", "condition", "keep")
_TEXTS = (
    *("sum", "mean", "prod", "amax", "amin", "none", "tanh", "floor", "trunc", "U", "L", "ij"),
    *(
        "reflect",
        "constant",
        "replicate",
        "circular",
        "reduced",
        "complete",
        "fro",
        "nuc",
        "linear",
    ),
    *(
        "linear",
        "ortho",
        "forward",
        "backward",
        "max",
        "ij,jk->ik",
        "ij->ji",
        "i,i->",
        "gelu",
        "relu",
    ),
)
_NEVER = ("dtype", "layout", "device", "pin_memory", "memory_format", "generator", "out", "names")


class TameValues:
    """The values of one call, drawn by a generator of its own."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.sizes = draw.choice(((2, 3), (1, 2), (2, 2), (3, 2, 1), (3, 3), (4, 2), (1, 2, 4)))
        self.rank = draw.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5))
        self.shape = self._shape(self.rank)
        self.spread = draw.choice(("normal", "normal", "share", "positive"))
        self.count = draw.choice((1, 1, 2, 2, 3))
        self._numbers = np.random.default_rng(draw.getrandbits(32))

    def value(self, type: Type, name: str) -> Any:
        """A value of a schema's type for the argument of that name."""
        draw = self.draw
        if isinstance(type, OptionalType):
            if name in _NEVER or draw.random() < 0.4:
                return None
            return self.value(type.element, name)
        if isinstance(type, ListType):
            return self._several(type, name)
        match str(type):
            case "Tensor":
                return self.tensor(name)
            case "int":
                return self._whole(name)
            case "float":
                return draw.choice((0.0, 0.1, 0.5, 1.0, 1.5, 2.0))
            case "Scalar" | "number":
                return draw.choice((0.25, 0.5, 1.0, 1.5, 2.0, 2, 3, -0.5))
            case "bool":
                return draw.random() < 0.5
            case "str":
                return draw.choice(_TEXTS)
        return None

    def _several(self, type: ListType, name: str) -> Any:
        draw = self.draw
        if str(type.element) == "int":
            if "size" in name or "shape" in name:
                return self._new_sizes(name)
            if name in ("dim", "dims", "dim_self", "dim_other"):
                dims = draw.sample(range(max(self.rank, 1)), draw.randint(0, self.rank))
                return [d - self.rank if draw.random() < 0.2 else d for d in dims]
            if name in ("pad", "padding") and draw.random() < 0.5:
                return [draw.choice((0, 1, 1)) for _ in range(2 * self.count)]
            return [self._whole(name) for _ in range(self.count)]
        if str(type.element) == "Tensor":
            return [self.tensor(name) for _ in range(draw.choice((1, 2, 2, 3)))]
        return [self.value(type.element, name) for _ in range(self.count)]

    def _new_sizes(self, name: str) -> list[int]:
        draw = self.draw
        if "kernel" in name or "output" in name or draw.random() < 0.2:
            return [draw.choice((1, 2, 2, 3)) for _ in range(self.count)]
        if draw.random() < 0.4:
            return [*self.shape]
        if draw.random() < 0.5:
            return draw.sample(self.shape, self.rank)
        whole = math.prod(self.shape)
        return draw.choice(([whole], [-1], [1, whole], [draw.choice(self.sizes), *self.shape]))

    def _whole(self, name: str) -> int:
        draw = self.draw
        if name in ("dim", "axis", "dim0", "dim1", "dim2", "dim_self", "source", "destination"):
            return draw.randrange(-max(self.rank, 1), max(self.rank, 1))
        if name == "groups":
            return draw.choice((1, 1, 1, 2))
        if name in ("reduction", "mode"):
            return draw.choice((0, 1, 2))
        if name in ("interpolation_mode", "padding_mode"):
            return draw.choice((0, 0, 1))
        if name == "num_layers":
            return draw.choice((1, 1, 2))
        if name in ("stride", "dilation", "n", "step", "kernel_size", "chunks", "k"):
            return draw.choice((1, 1, 1, 2))
        if name == "dtype":
            return 7
        return draw.choice((0, 0, 1, 1, 2, -1))

    # ------------------------------------------------------------------ tensors

    def tensor(self, name: str) -> Any:
        """An array: of whole numbers or truths by its name, of float64 else."""
        draw, lowered = self.draw, name.lower()
        shape = self._shape_of_tensor()
        if any(part in lowered for part in _MASK):
            return np.asarray(self._numbers.random(shape) < 0.6)
        if any(part in lowered for part in _INDEX) and draw.random() < 0.8:
            return np.asarray(self._numbers.integers(0, min(self.sizes), shape))
        normal = np.asarray(self._numbers.standard_normal(shape))
        if self.spread == "normal":
            return normal
        lowest, highest = (0.15, 0.85) if self.spread == "share" else (0.3, 2.5)
        return np.asarray(lowest + (highest - lowest) * self._numbers.random(shape))

    def _shape(self, rank: int) -> tuple[int, ...]:
        return tuple(self.draw.choice(self.sizes) for _ in range(rank))

    def _shape_of_tensor(self) -> tuple[int, ...]:
        draw, shape = self.draw, self.shape
        chance = draw.random()
        if chance < 0.5:
            return shape
        if chance < 0.6:
            return tuple(1 if draw.random() < 0.4 else n for n in shape)
        if chance < 0.75:
            return shape[draw.randint(0, len(shape)) :]
        if chance < 0.9:
            return self._shape(self.rank)
        return self._shape(draw.choice((0, 1, 1, 1, 2, 2, 3, 4)))
