"""Tensors as what goes between processes: contiguous arrays, of bytes or of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..ops.memory.dtype import Array
from ..ops.memory.versions import written
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.tensor import Tensor
from .backends import ReduceOp, supports_complex

__all__ = ["Reduced", "Target", "bytes_of", "check_tensor", "check_tensors", "joined", "shared_out"]

_INTEGERS: Final = "?bBhHiIlLqQ"
_NUMBERS: Final = _INTEGERS + "fdFD"


def check_tensor(value: object, name: str) -> None:
    """
    Raises:
        TypeError: it is no tensor.
    """
    if not isinstance(value, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(value)} instead."
        )


def check_tensors(values: object, name: str) -> None:
    """
    Raises:
        TypeError: it is no list of tensors.
        ValueError: they are of several dtypes.
    """
    if not isinstance(values, (list, tuple)):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(values)} instead."
        )
    if not all(isinstance(each, Tensor) for each in values):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(values)} with elements of type "
            f"{[type(each) for each in values]}."
        )
    for each in values[1:]:
        if each.dtype != values[0].dtype:
            raise ValueError(
                "Invalid usage of tensors with different dtypes"
                f"Found {values[0].dtype} and  {each.dtype}"
            )


def _plain(tensor: Tensor) -> Array:
    """A tensor's array.

    Raises:
        RuntimeError: it is sparse, nested, quantized or has no elements (`meta`).
    """
    array = tensor._array
    if type(array) is not np.ndarray or array.dtype.names is not None:
        raise RuntimeError(
            f"a tensor of layout {tensor.layout} and dtype {tensor.dtype} is no plain one, and "
            "does not go between processes"
        )
    return array


def bytes_of(tensor: Tensor) -> Array:
    """The elements of a tensor as bytes: of its own memory, if it is contiguous."""
    return _as_bytes(np.ascontiguousarray(_plain(tensor)))


def _as_bytes(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)


def joined(tensors: Sequence[Tensor]) -> Array:
    """The bytes of tensors behind each other."""
    return np.concatenate([bytes_of(each) for each in tensors])


class Target:
    """A tensor that is to be filled.

    Attributes:
        array: a contiguous array that is filled in its place: the tensor's own, if that will do.
    """

    def __init__(self, tensor: Tensor) -> None:
        array = _plain(tensor)
        self._tensor = tensor
        self._own = array.flags.c_contiguous and array.flags.writeable
        self.array: Array = array if self._own else np.array(array, order="C")

    @property
    def bytes(self) -> Array:
        """The array as bytes."""
        return _as_bytes(self.array)

    def finish(self) -> None:
        """The array is filled; have the tensor be so."""
        if self._own:
            written(self._tensor._array)
        else:
            with no_grad():
                self._tensor.copy_(Tensor._of(self.array))


def shared_out(received: Array, tensors: Sequence[Tensor]) -> Callable[[], None]:
    """What fills tensors with the bytes that were received, one after another."""

    def finish() -> None:
        begin = 0
        for tensor in tensors:
            target = Target(tensor)
            end = begin + target.array.nbytes
            target.bytes[...] = received[begin:end]
            target.finish()
            begin = end

    return finish


def _is_narrow(array: Array) -> bool:
    return array.dtype.char == "e" or array.dtype.name == "bfloat16"


class Reduced:
    """Numbers that are reduced: as the tensor's own, or wider where MPI knows none of those.

    Halves (`float16`, `bfloat16`) are reduced as `float32`, and rounded once.

    Attributes:
        array: the contiguous numbers.

    Raises:
        RuntimeError: numbers of this dtype cannot be reduced, or not so.
        ValueError: complex numbers cannot be reduced so.
        TypeError: `op` is no operation.
    """

    def __init__(self, array: Array, op: ReduceOp, what: str, size: int) -> None:
        _check_operation(array, op, what)
        self.array: Array = array.astype(np.float32) if _is_narrow(array) else array
        self._divisor = size if op is ReduceOp.AVG else 1

    def result(self, reduced: Array, into: Array) -> None:
        """Put what came of it into an array, which may be the same."""
        if self._divisor != 1:
            if reduced.dtype.char in _INTEGERS:
                reduced[...] = np.trunc(reduced / self._divisor)
            else:
                reduced /= self._divisor
        if reduced is not into:
            into[...] = reduced.astype(into.dtype).reshape(into.shape)


def _check_operation(array: Array, op: object, what: str) -> None:
    if not isinstance(op, ReduceOp):
        raise TypeError(f"{what}: op is to be a ReduceOp, and is {op!r}")
    if op is ReduceOp.PREMUL_SUM:
        raise RuntimeError(f"{what}: ReduceOp.PREMUL_SUM is of NCCL alone")
    if array.dtype.kind == "c" and not supports_complex(op):
        raise ValueError(f"{what} does not support RedOpType.{op.name} on complex tensors")
    narrow = _is_narrow(array)
    if not narrow and array.dtype.char not in _NUMBERS:
        raise RuntimeError("Invalid scalar type")
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR) and (
        narrow or array.dtype.char not in _INTEGERS
    ):
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
