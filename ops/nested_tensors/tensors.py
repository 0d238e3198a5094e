"""Nested tensors: a handle over tensors that differ in sizes, but not in how many dimensions.

The parts are tensors with a history of their own, so gradients need nothing else.  No array stands
behind the handle: asking for one raises `OnNested`, and the call goes on in `calls.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NoReturn, Self, TypeGuard

import numpy as np

from ..eager import methods  # noqa: F401  (adds the methods that are called here)
from ..eager.aten import aten
from ..memory.dims import wrap_dim
from ..memory.dtype import LAYOUTS, get_default_dtype
from ..memory.errors import OnNested
from ..tensors import overriding
from ..tensors.tensor import Tensor

__all__ = ["NestedTensor", "is_nested", "of_parts", "parts_of", "sizes_of"]

_NO_SIZES = "Internal error: NestedTensorImpl doesn't support sizes. Please file an issue."
_NO_STRIDES = "Internal error: NestedTensorImpl doesn't support strides. Please file an issue."


def _array(self: object) -> NoReturn:
    raise OnNested("a nested tensor has no array in which all its parts lie")


def _no_sizes(self: object) -> NoReturn:
    raise RuntimeError(_NO_SIZES)


class _Nested:
    """What is otherwise about a nested tensor."""

    __slots__ = ()
    _array = property(_array)
    __class__ = property(lambda self: Tensor)

    shape = property(_no_sizes)
    dtype = property(lambda self: self.__dict__["dtype"])
    layout = LAYOUTS["strided"]
    ndim = property(lambda self: 1 + max((part.ndim for part in parts_of(self)), default=0))
    itemsize = property(lambda self: self.dtype.itemsize)
    is_leaf = property(lambda self: all(part.is_leaf for part in parts_of(self)))
    is_sparse = is_sparse_csr = is_quantized = False
    is_nested = True

    @property
    def grad_fn(self) -> object:
        """Where the parts came from; None for a leaf."""
        return next((part.grad_fn for part in parts_of(self) if part.grad_fn is not None), None)

    @property
    def requires_grad(self) -> bool:
        """Whether gradients of a part are wanted."""
        return any(part.requires_grad for part in parts_of(self))

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._want_gradients(wanted)

    def _want_gradients(self, requires_grad: bool = True) -> Self:
        """Say whether gradients of the parts are wanted."""
        for part in parts_of(self):
            part.requires_grad_(requires_grad)
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradients of the parts, nested; None if there are none."""
        found = [part.grad for part in parts_of(self)]
        if all(each is None for each in found):
            return None
        zeros = aten.zeros_like
        pairs = zip(found, parts_of(self), strict=True)
        return of_parts([zeros(part) if each is None else each for each, part in pairs])

    @grad.setter
    def grad(self, gradient: object) -> None:
        given = [None] * len(parts_of(self)) if gradient is None else parts_of(gradient)
        for part, each in zip(parts_of(self), given, strict=True):
            part.grad = each

    @property
    def data(self) -> Tensor:
        """The same elements without gradients."""
        return of_parts([part.detach() for part in parts_of(self)], self.dtype)

    def size(self, dim: int | None = None) -> int:
        """The size of a dimension.

        Raises:
            RuntimeError: the parts differ in it, or no dimension is named.
            IndexError: there is no such dimension.
        """
        if dim is None:
            raise RuntimeError(_NO_SIZES)
        parts, place = parts_of(self), wrap_dim(dim, self.ndim)
        if place == 0:
            return len(parts)
        found = {part.shape[place - 1] for part in parts}
        if len(found) != 1:
            raise RuntimeError(f"Given dimension {place} is irregular and does not have a size.")
        return found.pop()

    def dim(self) -> int:
        """How many dimensions: one more than the parts have."""
        return int(self.ndim)

    def numel(self) -> int:
        """How many elements all parts have."""
        return sum(part.numel() for part in parts_of(self))

    def stride(self, dim: int | None = None) -> NoReturn:
        """There are none.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NO_STRIDES)

    def numpy(self, *, force: bool = False) -> NoReturn:
        """There is no one array.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NO_SIZES)

    def tolist(self) -> NoReturn:
        """There is no one list.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NO_STRIDES)

    def item(self) -> object:
        """The one element as a Python number.

        Raises:
            RuntimeError: there are several.
        """
        if self.numel() != 1:
            raise RuntimeError(
                f"a Tensor with {self.numel()} elements cannot be converted to Scalar"
            )
        return next(part.item() for part in parts_of(self) if part.numel())

    def is_contiguous(self, memory_format: object = None) -> bool:
        """Whether every part lies in order."""
        return all(part.is_contiguous() for part in parts_of(self))

    def element_size(self) -> int:
        """The bytes of an element."""
        return int(self.itemsize)

    def values(self) -> Tensor:
        """All elements in a row."""
        return aten.cat([part.reshape(-1) for part in parts_of(self)])

    def _nested_tensor_size(self) -> Tensor:
        return sizes_of(self)

    def _nested_tensor_strides(self) -> Tensor:
        strides = [part.stride() for part in parts_of(self)]
        return Tensor._of(np.array(strides, np.int64).reshape(len(strides), -1))

    def __len__(self) -> int:
        return len(parts_of(self))

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.item())

    def __iter__(self) -> Iterator[Tensor]:
        return iter(parts_of(self))

    def __getitem__(self, key: object) -> Tensor:
        first, *rest = key if isinstance(key, tuple) else (key,)
        if not isinstance(first, int):
            raise NotImplementedError("nested tensors are indexed by a number first; see unbind")
        part = parts_of(self)[first]
        return part[tuple(rest)] if rest else part

    def __setitem__(self, key: object, value: object) -> None:
        first, *rest = key if isinstance(key, tuple) else (key,)
        if not isinstance(first, int):
            raise NotImplementedError("nested tensors are indexed by a number first; see unbind")
        parts_of(self)[first][tuple(rest) if rest else ...] = value

    def __copy__(self) -> object:
        return of_parts(parts_of(self), self.dtype)

    def __deepcopy__(self, memo: dict[int, object]) -> Tensor:
        copied = [part.__deepcopy__(memo) for part in parts_of(self)]
        made = memo[id(self)] = of_parts(copied, self.dtype)
        return made

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        return of_parts, (list(parts_of(self)), self.dtype)

    def __repr__(self) -> str:
        inner = ",\n".join(f"  {part!s}".replace("\n", "\n  ") for part in parts_of(self))
        node = self.grad_fn
        said = "" if node is None else f", grad_fn=<{type(node).__name__}>"
        said = said or (", requires_grad=True" if self.requires_grad else "")
        return f"nested_tensor([\n{inner}\n]{said})"

    __str__ = __repr__


_MEMBERS: Final = {"__slots__": (), "__torch_function__": staticmethod(overriding.disabled)}
NestedTensor: Final = type("Tensor", (_Nested, Tensor), _MEMBERS)
overriding.make_plain(NestedTensor)


def is_nested(value: object) -> TypeGuard[Tensor]:
    """Whether a value is a nested tensor."""
    return type(value) is NestedTensor


def of_parts(parts: Sequence[Tensor], dtype: object = None) -> Tensor:
    """The nested tensor of these parts, in the dtype of the first one if none is said.

    Raises:
        NotImplementedError: a part is nested itself.
    """
    if any(type(part) is NestedTensor for part in parts):
        raise NotImplementedError("the parts of a nested tensor are plain tensors")
    made: Tensor = object.__new__(NestedTensor)
    made._requires_grad, made._view_of = False, None
    known = dtype or (parts[0].dtype if parts else get_default_dtype())
    made.__dict__.update(parts=tuple(parts), dtype=known)
    return made


def parts_of(value: object) -> tuple[Tensor, ...]:
    """The parts of a nested tensor."""
    found: tuple[Tensor, ...] = value.__dict__["parts"]
    return found


def sizes_of(value: object) -> Tensor:
    """The sizes of the parts: (parts, dimensions)."""
    rows = [part.shape for part in parts_of(value)]
    return Tensor._of(np.array(rows, np.int64).reshape(len(rows), -1))
