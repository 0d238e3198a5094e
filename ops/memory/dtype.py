"""Dtypes, devices, layouts and memory formats, under torch's names and numbers.

At run time a script knows a dtype, layout or memory format by its number; these objects are what
Python sees.  Arrays of bfloat16 and the float8 types come from ml_dtypes, imported when first used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from types import EllipsisType
from typing import Any, ClassVar, Final, Self

import numpy as np

from ...typecheck.types.scalar_types import NUMBERS
from .entered import ENTERED
from .errors import OnMeta, OperatorError, no_device

__all__ = [
    "dtype_of_type",
    "admitted",
    "Array",
    "DType",
    "Device",
    "Key",
    "DTYPES",
    "QSCHEMES",
    "QScheme",
    "PYTHON_DTYPES",
    "Layout",
    "MemoryFormat",
    "Scalar",
    "default_dtype",
    "dtype_by_name",
    "dtype_by_number",
    "dtype_of",
    "is_here",
    "get_default_dtype",
    "layout_of",
    "numpy_dtype",
    "place_of",
    "set_default_dtype",
]

Dtype = np.dtype[Any]
"""NumPy's dtype of an array's elements."""

Array = np.ndarray[tuple[int, ...], Dtype]
Key = tuple[int | slice | EllipsisType | Array | None, ...]
"""What elements of an array are named by."""

Doubles = Array | np.float64
"""An array of float64, or what NumPy makes of one without dimensions."""
"""A tensor at run time."""

Scalar = bool | int | float | complex


class DType:
    """An element type: `torch.float32`.

    `number` is the one of archives and graphs, `scalar_name` the word of torch's messages
    (`Float`), `itemsize` in bytes.
    """

    __module__ = "rushlight"  # its public place, where pickles look for each dtype
    __slots__ = (
        *("_numpy", "is_complex", "is_floating_point", "itemsize"),
        *("kind", "name", "number", "scalar_name"),
    )

    def __init__(self, name: str, number: int, itemsize: int, kind: str, scalar_name: str) -> None:
        self.name = name
        self.number = number
        self.itemsize = itemsize
        self.kind = kind
        self.scalar_name = scalar_name
        self.is_floating_point = kind == "f"
        self.is_complex = kind == "c"
        self._numpy: Dtype | None = None

    @property
    def is_signed(self) -> bool:
        """Whether there are negative values.

        Raises:
            RuntimeError: it is a dtype of quantized numbers.
        """
        if self.kind == "q":
            raise RuntimeError("isSignedType not supported for quantized types")
        return self.kind in "ifc"

    @property
    def abbr(self) -> str:
        """A short name: `f32` of `torch.float32`; its own name where there is none."""
        found = re.fullmatch(r"(u?int|b?float|complex)(8|16|32|64|128|4(?=_))(\w*)", self.name)
        if found is None:
            return {"bool": "b8", "bits8": "b8x1", "bits16": "b16x1"}.get(self.name, self.name)
        word, bits, rest = found.groups()
        return word[: 2 if word == "bfloat" else 1] + bits + rest.replace("_", "")

    @property
    def numpy(self) -> Dtype:
        """The dtype of arrays.

        Raises:
            NotImplementedError: NumPy has no such element type.
        """
        if self._numpy is None:
            self._numpy = _numpy_dtype(self.name)
            _BY_NUMPY[self._numpy] = self
        return self._numpy

    def to_complex(self) -> DType:
        """The complex dtype whose parts are of this one; of bfloat16, complex64.

        Raises:
            RuntimeError: there is none.
        """
        if not (self.is_complex or self.name in ("float16", "bfloat16", "float32", "float64")):
            raise RuntimeError(f"Unknown Complex ScalarType for {self.scalar_name}")
        return self.complex_form

    @property
    def complex_form(self) -> DType:
        """The complex dtype that numbers of this one become."""
        names = {"float16": "complex32", "float64": "complex128"}
        return self if self.is_complex else dtype_by_name(names.get(self.name, "complex64"))

    def to_real(self) -> DType:
        """The dtype of a complex dtype's parts."""
        names = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
        return dtype_by_name(names.get(self.name, self.name))

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


_QUANTIZED: Final = {"qint8": np.int8, "quint8": np.uint8, "qint32": np.int32, "quint4x2": np.uint8}
"""The whole numbers that quantized elements are kept as; of four bits one in a byte."""


def _numpy_dtype(name: str) -> Dtype:
    if name in _QUANTIZED:  # a record of one field: NumPy computes with no such thing by mistake
        return np.dtype([(name, _QUANTIZED[name])])
    if name in ("bfloat16", "complex32") or name.startswith("float8"):
        import ml_dtypes

        found: Any = getattr(ml_dtypes, name, None)
    else:
        found = getattr(np, name, None)
    if found is None:
        raise NotImplementedError(f"tensors of torch.{name} are not supported")
    dtype: Dtype = np.dtype(found)
    return dtype


_WORDS: Final = """
uint8 1 u Byte; int8 1 i Char; int16 2 i Short; int32 4 i Int; int64 8 i Long; float16 2 f Half;
float32 4 f Float; float64 8 f Double; complex32 4 c ComplexHalf; complex64 8 c ComplexFloat;
complex128 16 c ComplexDouble; bool 1 b Bool; qint8 1 q QInt8; quint8 1 q QUInt8; qint32 4 q QInt32;
bfloat16 2 f BFloat16; quint4x2 1 q QUInt4x2; quint2x4 1 q QUInt2x4; bits1x8 1 x Bits1x8;
bits2x4 1 x Bits2x4; bits4x2 1 x Bits4x2; bits8 1 x Bits8; bits16 2 x Bits16;
float8_e5m2 1 f Float8_e5m2; float8_e4m3fn 1 f Float8_e4m3fn; float8_e5m2fnuz 1 f Float8_e5m2fnuz;
float8_e4m3fnuz 1 f Float8_e4m3fnuz; uint16 2 u UInt16; uint32 4 u UInt32; uint64 8 u UInt64;
uint1 1 u UInt1; uint2 1 u UInt2; uint3 1 u UInt3; uint4 1 u UInt4; uint5 1 u UInt5;
uint6 1 u UInt6; uint7 1 u UInt7; int1 1 i Int1; int2 1 i Int2; int3 1 i Int3; int4 1 i Int4;
int5 1 i Int5; int6 1 i Int6; int7 1 i Int7; float8_e8m0fnu 1 f Float8_e8m0fnu;
float4_e2m1fn_x2 1 f Float4_e2m1fn_x2
"""


def _read(words: str) -> dict[str, DType]:
    found = {}
    for entry in words.split(";"):
        name, itemsize, kind, scalar_name = entry.split()
        found[name] = DType(name, NUMBERS[name], int(itemsize), kind, scalar_name)
    return found


DTYPES: Final = _read(_WORDS)
"""All dtypes by name."""

PYTHON_DTYPES: Final[dict[object, DType]] = {
    **{float: DTYPES["float64"], int: DTYPES["int64"]},
    **{bool: DTYPES["bool"], complex: DTYPES["complex128"]},
}
"""What Python's own types stand for as a dtype."""


class _Numbers(dict[int, DType]):
    def __missing__(self, number: int) -> DType:
        raise OperatorError(
            "Unsupported TypeMeta in ATen: nullptr (uninitialized) (please report this error)",
            headline=f"there is no dtype of the number {number}",
        )


_BY_NUMBER: Final = _Numbers({d.number: d for d in DTYPES.values()})
_BY_NUMPY: Final[dict[Dtype, DType]] = {}


def dtype_by_name(name: str) -> DType:
    """The dtype `torch.<name>`.

    Raises:
        KeyError: there is none of that name.
    """
    return DTYPES[name]


def dtype_by_number(number: int) -> DType:
    """The dtype of a number.

    Raises:
        OperatorError: there is none.
    """
    return _BY_NUMBER[number]


def numpy_dtype(number: int) -> Dtype:
    """The array dtype of a dtype's number."""
    return _BY_NUMBER[number].numpy


def dtype_of(array: Array) -> DType:
    """The dtype of an array.

    Raises:
        TypeError: no tensor has such elements.
    """
    return of_numpy(array.dtype)


def of_numpy(dtype: Dtype) -> DType:
    """The dtype that a NumPy dtype stands for.

    Raises:
        TypeError: no tensor has such elements.
    """
    found = _BY_NUMPY.get(dtype)
    if found is None:
        found = DTYPES.get(dtype.name)
        if found is None or not dtype.isnative:
            raise TypeError(
                f"can't convert np.ndarray of type {dtype.type.__module__}.{dtype.type.__name__}. "
                "The only supported types are: float64, float32, float16, complex64, complex128, "
                "int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
            )
        _BY_NUMPY[dtype] = found
    return found


def admitted(ndarray: Array) -> Array:
    """An array from outside with the dtype object of a tensor: the same memory.

    NumPy has many objects for one dtype: pickled ones, ones with metadata, `longlong`.  Operators
    know a tensor's dtype by one of them.

    Raises:
        TypeError: no tensor has such elements.
        ValueError: a stride is negative or no multiple of the elements' size, or the byte order is
            not the machine's.
    """
    given = ndarray.dtype
    if not ndarray.flags.c_contiguous and _is_ragged(ndarray):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy "
            "array to reallocate the memory."
        )
    if not given.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. "
            "Conversion between byte orders is currently not supported."
        )
    own = of_numpy(given).numpy
    if any(stride < 0 for stride in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not currently supported. (You can probably work around this by making a "
            "copy of your array  with array.copy().) "
        )
    return ndarray if given is own else ndarray.view(np.ndarray).view(own)


def _is_ragged(array: Array) -> bool:
    """Whether elements do not lie a whole number of them apart."""
    known = array.dtype.kind not in "SUVO"
    return known and any(stride % array.itemsize for stride in array.strides)


class _Default:
    """The dtype that Python floats become; changed by `set_default_dtype`."""

    __slots__ = ("complex", "float", "followers", "number")

    def __init__(self) -> None:
        self.followers: list[Callable[[], object]] = []
        self.set(DTYPES["float32"])

    def set(self, dtype: DType) -> None:
        self.number = dtype.number
        self.float = dtype.numpy
        complex_name = "complex128" if dtype.itemsize == 8 else "complex64"
        self.complex = DTYPES[complex_name].numpy
        for each in self.followers:
            each()


default_dtype: Final = _Default()
"""`float` and `complex` are the array dtypes of Python floats and complex numbers; `followers` are
called where they change."""


def get_default_dtype() -> DType:
    """The dtype of new floating-point tensors."""
    return _BY_NUMBER[default_dtype.number]


def set_default_dtype(d: DType) -> None:
    """Set the dtype of new floating-point tensors.

    Raises:
        TypeError: it is not a floating-point dtype.
    """
    if not isinstance(d, DType):
        raise TypeError(f"invalid dtype object: {d!r}")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    default_dtype.set(d)


class Layout:
    """How a tensor lies in memory; only `torch.strided` exists here."""

    __slots__ = ("name", "number")

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[object, ...]:
        home = import_module(f"{__name__.partition('.')[0]}.serialization")
        return home._get_layout, (str(self),)


class MemoryFormat:
    """An order of dimensions in memory."""

    __module__ = "rushlight"  # its public place, where pickles look for each of them
    __slots__ = ("name", "number")

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class QScheme:
    """What the numbers of a quantized tensor mean: `torch.per_tensor_affine` and its like."""

    __module__ = "rushlight"  # its public place, where pickles look for each of them
    __slots__ = ("name", "number")
    name: str
    number: int

    def __new__(cls, *given: object) -> Self:
        """There is a fixed set of them.

        Raises:
            TypeError: always.
        """
        raise TypeError("cannot create 'torch.qscheme' instances")

    @classmethod
    def _of(cls, name: str, number: int) -> QScheme:
        made = object.__new__(cls)
        made.name, made.number = name, number
        return made

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


QSCHEMES: Final = {
    name: QScheme._of(name, number)
    for number, name in enumerate(
        (
            *("per_tensor_affine", "per_channel_affine", "per_tensor_symmetric"),
            *("per_channel_symmetric", "per_channel_affine_float_qparams"),
        )
    )
}
LAYOUTS: Final = {
    name: Layout(name, number)
    for number, name in enumerate(
        "strided sparse_coo sparse_csr _mkldnn sparse_csc sparse_bsr sparse_bsc jagged".split()
    )
}
STRIDED: Final = LAYOUTS["strided"]
"""That of elements in one memory, at steps of the same size."""
MEMORY_FORMATS: Final = {
    name: MemoryFormat(name, number)
    for number, name in enumerate(
        ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
    )
}


def layout_of(text: str) -> Layout:
    """The layout that is printed so: `torch.strided`.

    Raises:
        ValueError: there is none.
    """
    found = LAYOUTS.get(text.removeprefix("torch."))
    if found is None:
        raise ValueError(f"no layout is called {text!r}")
    return found


_DEVICE_TYPES: Final = (
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan"
)
_MORE_DEVICE_TYPES: Final = "mps meta hpu mtia privateuseone"
_DEVICE_NAMES: Final = (*_DEVICE_TYPES.split(), *_MORE_DEVICE_TYPES.split())


class Device:
    """A device; every kind can be named, tensors live on `cpu` alone.

    Args:
        type: `cpu`, `cuda:1`, or another Device.
        index: the number of the device of that type, if `type` does not say it.

    Raises:
        RuntimeError: no such device type.
    """

    __slots__ = ("index", "type")
    index: int | None
    type: str
    never_changes: ClassVar[bool] = True
    """So a call that is given one is known by it (`kernels/code/calls/prepared.py`)."""

    def __init__(self, type: str | int | Device, index: int | None = None) -> None:
        if index is None and type.__class__ is str and type in _DEVICE_NAMES:  # nearly always
            self.type, self.index = type, None
            return
        if isinstance(type, Device):
            index = type.index if index is None else index
            type = type.type
        if isinstance(type, int) and not isinstance(type, bool):
            raise RuntimeError(
                "Device index must not be negative"
                if type < 0
                else "Cannot access accelerator device when none is available."
            )
        if not isinstance(type, str):
            raise TypeError(f"Device(): argument 'type' must be str, not {type.__class__.__name__}")
        if not type:
            raise RuntimeError("Device string must not be empty")
        name, colon, number = type.partition(":")
        if colon:
            if index is not None:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed "
                    f"explicitly: {type}"
                )
            if not number.isdigit() or (number[0] == "0" and number != "0") or not name:
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        if name not in _DEVICE_NAMES:
            raise RuntimeError(
                "Expected one of "
                f"{', '.join(_DEVICE_NAMES)} "
                f"device type at start of device string: {name}"
            )
        self.type = name
        self.index = index

    def __enter__(self) -> Device:
        """Make tensors on this device, where nothing else is said, until it is left.

        Raises:
            AssertionError, RuntimeError: tensors cannot live there.
        """
        if self.type != "meta":
            check_device(self)
        ENTERED.put([*ENTERED.devices, self])
        return self

    def __exit__(self, *exception: object) -> None:
        ENTERED.devices.pop()

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{number})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[object, ...]:
        return Device, (self.type, self.index)


CPU: Final = Device("cpu")
META: Final = Device("meta")


def is_here(device: Device) -> bool:
    """Whether tensors can be on a device."""
    return device.type in ("cpu", "meta")


def check_device(device: Device | None) -> None:
    """Refuse every device but the CPU.

    Raises:
        OnMeta: it is the device of tensors without data.
        AssertionError, RuntimeError: tensors cannot live there.
    """
    if device is not None and device.type != "cpu":
        if device.type == "meta":
            raise OnMeta("only operators that Python calls make meta tensors")
        raise no_device(device.type)


def place_of(device: Device | str | int | None) -> Device:
    """The device that a caller gave, or else the one entered last, or the CPU.

    Raises:
        AssertionError, RuntimeError: tensors cannot live there.
    """
    if device is None:
        return ENTERED.devices[-1] if ENTERED.devices else CPU
    found = device if isinstance(device, Device) else Device(str(device))
    if found.type != "meta":
        check_device(found)
    return found


def dtype_of_type(kind: object) -> DType:
    """The dtype that `Tensor.type` is asked for: itself, `"torch.FloatTensor"`, or such a class.

    Raises:
        ValueError: there is no such type of tensors.
    """
    if isinstance(kind, str):
        word = kind.removeprefix("torch.").removesuffix("Tensor")
        known: object = next((d for d in DTYPES.values() if d.scalar_name == word), None)
        known = known if kind == f"torch.{word}Tensor" else None
    else:
        known = kind if isinstance(kind, DType) else getattr(kind, "dtype", None)
    if isinstance(known, DType):
        return known
    if getattr(kind, "__name__", "") == "Tensor":  # `torch.Tensor` is of the default dtype
        return get_default_dtype()
    shown = kind.__name__ if isinstance(kind, type) else kind
    raise ValueError(f"invalid type: '{shown}'")


dtype, layout, memory_format = DType, Layout, MemoryFormat
qscheme, device = QScheme, Device
"""The names that users see: messages tell them, and pickles look for them here."""
for _name in ("dtype", "layout", "memory_format", "qscheme", "device"):
    _class = globals()[_name]
    _class.__name__ = _class.__qualname__ = _name
