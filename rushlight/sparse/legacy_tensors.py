"""`torch.sparse.FloatTensor` and its like: old names of sparse tensors by their dtype."""

from __future__ import annotations

from typing import Any

from ..legacy_tensors import TENSOR_CLASSES
from ..ops.memory.dtype import Device, DType
from ..ops.sparse_tensors.creation import sparse_coo_tensor
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor

__all__ = ["SPARSE_CLASSES"]


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
        sizes = args[0] if len(args) == 1 and isinstance(args[0], Size) else args or (0,)
        if not all(type(size) is int for size in sizes):
            raise TypeError(
                "torch.sparse.SparseTensor(sequence) only accepts sizes.  Please use "
                "torch.sparse_coo_tensor() or construct a strided tensor and convert it to sparse "
                "via to_sparse."
            )
        return sparse_coo_tensor(sizes, dtype=cls.dtype, device=device)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.is_sparse and value.dtype is cls.dtype


SPARSE_CLASSES: dict[str, SparseTensorClass] = {
    name: SparseTensorClass(name, (), {"__module__": "torch.sparse", "dtype": dense.dtype})
    for name, dense in TENSOR_CLASSES.items()
    if name != "BoolTensor"
}
