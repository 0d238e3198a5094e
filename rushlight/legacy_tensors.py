"""`torch.FloatTensor`, `torch.sparse.FloatTensor` and their like: old names by the dtype."""

from __future__ import annotations

from typing import Any

from .ops.memory.dtype import DTYPES, Device, DType
from .ops.tensors.python_data import array_of_arguments
from .ops.tensors.sizes import Size
from .ops.tensors.tensor import Tensor
from .sparse.creation import sparse_coo_tensor

__all__ = ["SPARSE_CLASSES", "TENSOR_CLASSES"]

_DTYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "ShortTensor": "int16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "BoolTensor": "bool",
}


class TensorClass(type):
    """The class of these names: a call makes a tensor, `isinstance` looks at the dtype."""

    dtype: DType

    def __call__(cls, *args: object) -> Tensor:
        """A tensor of the given values, or of the given sizes with values that mean nothing.

        Raises:
            TypeError: a Tensor of another dtype is given, or what is neither sizes nor numbers.
        """
        return Tensor._of(array_of_arguments(args, Size, cls.dtype.numpy))

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype


class SparseTensorClass(type):
    """The class of such a name of sparse tensors, which are those by coordinates."""

    dtype: DType

    def __call__(cls, *args: Any, device: Device | str | None = None) -> Tensor:
        """A tensor of places, values (whose dtype it has) and sizes, or without values of sizes.

        Raises:
            TypeError: the arguments are neither.
            RuntimeError: places and values do not belong together.
        """
        if len(args) in (2, 3) and isinstance(args[0], Tensor) and isinstance(args[1], Tensor):
            return sparse_coo_tensor(*args, device=device)
        sizes = args[0] if len(args) == 1 and isinstance(args[0], Size) else args
        if not all(type(size) is int for size in sizes):
            raise TypeError(
                "torch.sparse.SparseTensor(sequence) only accepts sizes.  Please use "
                "torch.sparse_coo_tensor() or construct a strided tensor and convert it to sparse "
                "via to_sparse."
            )
        return sparse_coo_tensor(sizes or (0,), dtype=cls.dtype, device=device)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.is_sparse and value.dtype is cls.dtype


SPARSE_CLASSES: dict[str, SparseTensorClass] = {
    name: SparseTensorClass(name, (), {"__module__": "torch.sparse", "dtype": DTYPES[dtype]})
    for name, dtype in _DTYPES.items()
    if dtype != "bool"
}
TENSOR_CLASSES: dict[str, TensorClass] = {
    name: TensorClass(name, (), {"__module__": "torch", "dtype": DTYPES[dtype]})
    for name, dtype in _DTYPES.items()
}
globals().update(TENSOR_CLASSES)
