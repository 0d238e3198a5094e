"""What a value of a graph is while the graph is exported.

What is known when the export is made is Python's own value: a number, a text, None, a list, a
tuple, a script object.  What only a run knows is an `Operand`, the name of an ONNX value.  Tensors,
lists and dicts can be changed and have an identity: a `Cell`, whose contents the walk keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..ops.memory.dtype import Array, Dtype

__all__ = ["BROKEN", "UNSET", "Cell", "Item", "Maybe", "Operand", "Shape", "Unsupported", "View"]

Item: TypeAlias = object
"""A Python value, an `Operand`, a `Cell`, a `Maybe`, or a list or tuple of these."""

Shape = tuple[int | str | None, ...]
"""Sizes: a number, the name of an axis that varies, or None."""


class Unsupported(Exception):
    """What an operator's export says of a call that has no ONNX form."""


@dataclass(frozen=True, eq=False)
class Operand:
    """An ONNX value: a tensor, or a sequence of tensors.

    `shape` is None where not even the number of dimensions is known.  `array` holds the contents of
    a small constant.  One that is `weak` stands for a Python number or a list of them, which counts
    less than a tensor where dtypes meet.
    """

    name: str
    dtype: Dtype
    shape: Shape | None
    array: Array | None = None
    weak: bool = False
    is_sequence: bool = False

    @property
    def sizes(self) -> list[int] | None:
        """The sizes, if all are known."""
        if self.shape is None or not all(isinstance(size, int) for size in self.shape):
            return None
        return [size for size in self.shape if isinstance(size, int)]


@dataclass(frozen=True, eq=False)
class Maybe:
    """A value or None, where only a run knows which: `present` says it, a bool without dimensions.
    Where it is None, `value` is of the right form and means nothing."""

    present: Operand
    value: Item


class _Mark:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


BROKEN: Final = _Mark("BROKEN")
"""Stands for what has no ONNX form: that is told once, where it is made."""
UNSET: Final = _Mark("UNSET")
"""A value that no run looks at."""


@dataclass(frozen=True, eq=False)
class View:
    """A cell whose contents are a part of another's, or the same elements in another form.

    `take` gives them from the contents of `base`; `put` gives what `base` holds after they have
    been written, None where there is no way back.
    """

    base: Cell
    take: Callable[[Operand], Item]
    put: Callable[[Operand, Operand], Operand] | None


@dataclass(eq=False)
class Cell:
    """A tensor, list or dict.

    One that `is_slot` is an attribute: it holds a value, which may be a cell.
    """

    view: View | None = None
    is_slot: bool = False
