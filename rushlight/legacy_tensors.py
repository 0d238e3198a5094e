"""`torch.FloatTensor` and its like: old names of tensors by their dtype."""

from __future__ import annotations

from .ops.memory.dtype import DTYPES, Device, DType
from .ops.tensors.python_data import array_of_arguments, on_cpu_alone
from .ops.tensors.sizes import Size
from .ops.tensors.tensor import Tensor
from .ops.tensors.tracing import told

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

    def __call__(cls, *args: object, device: Device | str | None = None) -> Tensor:
        """A tensor of the given values, or of the given sizes with values that mean nothing.

        Raises:
            TypeError: a Tensor of another dtype is given, or what is neither sizes nor numbers.
            RuntimeError: `device` is not the CPU.
        """
        on_cpu_alone(device, args)
        return told(Tensor._of(array_of_arguments(args, Size, cls.dtype.numpy)), args, Size)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype


TENSOR_CLASSES: dict[str, TensorClass] = {
    name: TensorClass(name, (), {"__module__": "torch", "dtype": DTYPES[dtype]})
    for name, dtype in _DTYPES.items()
}
globals().update(TENSOR_CLASSES)
