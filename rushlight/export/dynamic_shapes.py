"""Names for the sizes that vary in an exported program, and their bounds.

`torch.onnx.export` takes them; bounds are kept, and nobody checks them.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import ClassVar, Final

from ..module_names import names_of

__all__ = ["Dim", "dims"]

_USUAL_LEAST: Final = 2
_LINEAR: Final = "(Only increasing linear operations with integer coefficients are supported.)"


class _Endless(float):
    """The bound of sizes that have none."""

    def __repr__(self) -> str:
        return "int_oo"


_ENDLESS: Final = _Endless(math.inf)


class _Hint(Enum):
    AUTO = 1
    STATIC = 2
    DYNAMIC = 3


class _DimHint:
    """A size of which no more is said than whether it varies; a call adds bounds."""

    def __init__(self, kind: _Hint, min: int | None = None, max: int | None = None) -> None:
        self.type, self.min, self.max = kind, min, max

    def __call__(self, min: int | None = None, max: int | None = None) -> _DimHint:
        """The same within bounds."""
        return _DimHint(self.type, min, max)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DimHint) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        bounds = [f"{name}={getattr(self, name)}" for name in ("min", "max")]
        said = [bound for bound in bounds if not bound.endswith("None")]
        return f"DimHint({', '.join([self.type.name, *said])})"


class Dim:
    """A size that varies, the same wherever its name stands.

    Sums with integers and products with positive ones are sizes that follow it.

    Args:
        name: its name, an identifier.
        min: the least size.
        max: the largest size.
    """

    AUTO: ClassVar = _DimHint(_Hint.AUTO)
    DYNAMIC: ClassVar = _DimHint(_Hint.DYNAMIC)
    STATIC: ClassVar = _DimHint(_Hint.STATIC)

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.__name__ = name
        self.min: float = 0 if min is None else min
        self.max: float = _ENDLESS if max is None else max
        assert name.isidentifier(), f"Dim name must be a valid identifier, got {name}"
        assert self.min <= self.max, f"Cannot create Dim with inconsistent min={min}, max={max}"

    def __add__(self, other: object) -> _DerivedDim:
        return self._moved(1, self._number(other, f"add {other} to", "an"))

    def __radd__(self, other: object) -> _DerivedDim:
        return self + other

    def __sub__(self, other: object) -> _DerivedDim:
        return self._moved(1, -self._number(other, f"subtract {other} from", "an"))

    def __rsub__(self, other: object) -> _DerivedDim:
        raise NotImplementedError(f"Attempted to negate {self.__name__}. {_LINEAR}")

    def __mul__(self, other: object) -> _DerivedDim:
        number = self._number(other, f"multiply {other} with", "a positive")
        return self._moved(number, 0)

    def __rmul__(self, other: object) -> _DerivedDim:
        return self * other

    def __repr__(self) -> str:
        said = [repr(self.__name__)]
        said += [] if self.min == _USUAL_LEAST else [f"min={self.min}"]
        said += [] if self.max == _ENDLESS else [f"max={self.max}"]
        return f"Dim({', '.join(said)})"

    def _number(self, value: object, told: str, kind: str) -> int:
        if type(value) is not int or (kind == "a positive" and value <= 0):
            raise NotImplementedError(
                f"Attempted to {told} {self.__name__}, where {kind} integer was expected. {_LINEAR}"
            )
        return value

    def _moved(self, factor: int, offset: int) -> _DerivedDim:
        return _DerivedDim(self, factor, offset)


class _DerivedDim(Dim):
    """A size that follows another one, `root`: a multiple of it and a number."""

    def __init__(self, root: Dim, factor: int, offset: int) -> None:
        multiple = root.__name__ if factor == 1 else f"{factor}*{root.__name__}"
        sign = "-" if offset < 0 else "+"
        self.__name__ = f"{multiple} {sign} {abs(offset)}" if offset else multiple
        self.root, self._factor, self._offset = root, factor, offset
        self.min, self.max = self.fn(root.min), self.fn(root.max)
        assert self.min >= 0, (
            f"Expected derived min value of {self.__name__} to be >= 0. Please specify an "
            f"appropriate min value for {root.__name__} (currently {root.min})."
        )

    def fn(self, size: float) -> float:
        """This size where the other is `size`."""
        return size if size == _ENDLESS else size * self._factor + self._offset

    def __repr__(self) -> str:
        return self.__name__

    def _moved(self, factor: int, offset: int) -> _DerivedDim:
        return _DerivedDim(self.root, self._factor * factor, self._offset * factor + offset)


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Sizes that vary, within the same bounds."""
    return tuple(Dim(name, min=min, max=max) for name in names)


__getattr__ = names_of(__name__)
