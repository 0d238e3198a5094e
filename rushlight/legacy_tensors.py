"""`torch.FloatTensor` and its like: old names of tensors by their dtype."""

from __future__ import annotations

from typing import Final

from .ops.memory.dtype import DTYPES, DType
from .ops.tensors.called_classes import called
from .ops.tensors.tensor import Tensor

__all__ = ["TENSOR_CLASSES"]

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

    def __new__(mcs, name: str, bases: tuple[type, ...], names: dict[str, object]) -> TensorClass:
        """One of these names; nothing is derived from them.

        Raises:
            TypeError: a class is.
        """
        for base in bases:
            if isinstance(base, TensorClass):
                raise TypeError(
                    f"type '{base.__module__}.{base.__name__}' is not an acceptable base type"
                )
        return super().__new__(mcs, name, bases, names)

    def __call__(cls, *args: object, **options: object) -> Tensor:
        """A tensor of the given values, or of the given sizes with values that mean nothing.

        Raises:
            TypeError: a Tensor of another dtype is given, or what is neither sizes nor numbers.
            RuntimeError: `device` is not the CPU.
        """
        made: Tensor = called(Tensor, args, options, cls.dtype.numpy)
        return made

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype


_TOLD: Final = "Makes tensors of `torch.{}`, of sizes or of what Python holds; use `torch.tensor`."

TENSOR_CLASSES: dict[str, TensorClass] = {
    name: TensorClass(
        name, (), {"__module__": "torch", "dtype": DTYPES[dtype], "__doc__": _TOLD.format(dtype)}
    )
    for name, dtype in _DTYPES.items()
}
globals().update(TENSOR_CLASSES)
