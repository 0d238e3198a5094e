"""Wild arguments for operators: values of each type of schemas, most of them hostile.

Tensors are of many dtypes, quantized ones too; empty, of no dimensions, turned, expanded, windows
on one another's memory.  Many lie between two strips of known bytes, `Strips`, which say
afterwards whether something was written beside a tensor.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

import ml_dtypes
import numpy as np

from rushlight.ops.memory.dtype import DTYPES, Device
from rushlight.ops.memory.storage import borrowed
from rushlight.ops.python_values.tensor_dict import TensorDict
from rushlight.ops.quantized_tensors.arrays import Quantizer, quantized_array
from rushlight.ops.quantized_tensors.packed_weights import PACKED_CLASSES
from rushlight.ops.random_numbers.random import Generator
from rushlight.typecheck.definitions.class_types import ClassType
from rushlight.typecheck.types.types import (
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    VariableType,
)

__all__ = ["Values"]

_WHOLE = (0, 1, -1, 2, 3, 4, 5, -2, -5, 7, 100, -100, 10**6, 2**31 - 1, 2**31, -(2**31), 2**32)
_HUGE = (2**62, 2**62 + 4, -(2**62), 2**63 - 1, -(2**63))
_REAL = (0.0, 1.0, -1.0, 0.5, 2.0, math.inf, -math.inf, math.nan, 1e-300, 1e300, 1e9, -1e9, 2.0**62)
_TEXTS = (
    *("", "sum", "mean", "max", "min", "prod", "none", "amax", "floor", "trunc", "tanh", "U", "L"),
    *("ij,jk->ik", "reflect", "constant", "reduced", "complete", "xy", "ij", "\ud800", "abc{}"),
    *("%d", "replicate", "circular", "linear", "bilinear", "add", "multiply", "fro", "nuc"),
)
_DTYPES: tuple[Any, ...] = (
    *(np.float32,) * 8,
    *(np.float64, np.int64, np.int64, np.int32, np.int16, np.uint8, np.int8, np.bool_),
    *(np.complex64, np.complex128, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn),
)
_INDEX = (
    *("ind", "len", "offset", "target", "size", "repeat", "count", "position", "sorter", "label"),
    *("batch", "bag", "seq", "ids", "mapping"),
)
_STRIP = 256
_MARK = 0xA5


class Values:
    """The values of one call, drawn by a generator of its own."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.shape = self._shape()
        self._strips: list[Any] = []
        self._made: list[Any] = []

    def whole(self) -> bool:
        """Whether nothing was written beside the tensors that lie between strips."""
        return all((strip == _MARK).all() for strip in self._strips)

    def value(self, type: Type, name: str) -> Any:
        """A value of a schema's type for the argument of that name."""
        if isinstance(type, OptionalType):
            return None if self.draw.random() < 0.4 else self.value(type.element, name)
        if isinstance(type, ListType):
            many = self.draw.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6))
            return [self.value(type.element, name) for _ in range(many)]
        if isinstance(type, TupleType):
            return tuple(self.value(each, name) for each in type.elements)
        if isinstance(type, DictType):
            pairs = [(self.value(type.key, name), self.value(type.value, name)) for _ in range(2)]
            return TensorDict(pairs) if str(type.key) == "Tensor" else dict(pairs)
        if isinstance(type, ClassType):
            return self._packed(type)
        if isinstance(type, VariableType) or str(type) == "Any":
            return self.draw.choice((self.number(), self.tensor(name), "a", [1], None))
        return self._simple(str(type), name)

    def _simple(self, type: str, name: str) -> Any:
        draw = self.draw
        match type:
            case "Tensor":
                return self.tensor(name)
            case "int":
                return draw.choice((*range(12), 15, 99, -1)) if name == "dtype" else self.number()
            case "float":
                return draw.choice(_REAL)
            case "Scalar" | "number":
                return draw.choice((self.number(), draw.choice(_REAL), True, 1j))
            case "complex":
                return complex(draw.choice(_REAL), draw.choice(_REAL))
            case "bool":
                return draw.random() < 0.5
            case "str":
                return draw.choice(_TEXTS)
            case "Device":
                return Device("cpu")
            case "Generator":
                return Generator()
        return None

    def number(self) -> int:
        """A whole number: mostly one that could be meant."""
        return self.draw.choice((*range(-2, 6), *range(-2, 6), *_WHOLE, *_HUGE))

    def _shape(self) -> tuple[int, ...]:
        rank = self.draw.choice((0, 1, 1, 2, 2, 3, 3, 4, 4, 5))
        return tuple(self.draw.choice((0, 1, 2, 3, 4, 5)) for _ in range(rank))

    # ------------------------------------------------------------------ tensors

    def tensor(self, name: str) -> Any:
        """An array as operators take them; for names of indices mostly one of whole numbers."""
        draw = self.draw
        if self._made and draw.random() < 0.12:  # the same memory twice
            return self._window(draw.choice(self._made))
        shape = self.shape if draw.random() < 0.6 else self._shape()
        is_index = any(part in name.lower() for part in _INDEX) and draw.random() < 0.9
        if is_index and draw.random() < 0.5:
            shape = (draw.choice((1, 2, 3, 4)),)
        made = self._elements(np.dtype(np.int64 if is_index else draw.choice(_DTYPES)), shape)
        if draw.random() < 0.06:
            made = self._quantized(made)
        elif draw.random() < 0.3:
            made = self._window(made)
        self._made.append(made)
        return made

    def _elements(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
        draw, count = self.draw, math.prod(shape)
        wild = draw.random() < 0.4
        if dtype.kind in "iu":
            given = [self.number() if wild else draw.randint(0, 4) for _ in range(count)]
            size = 8 * dtype.itemsize
            low = -(2 ** (size - 1)) if dtype.kind == "i" else 0
            given = [(n - low) % 2**size + low for n in given]
        else:
            given = [draw.choice(_REAL) if wild else draw.uniform(-2, 2) for _ in range(count)]
        with np.errstate(all="ignore"):
            made = np.array(given, dtype if dtype.kind in "iu" else None).astype(dtype)
        return self._between_strips(made.reshape(shape))

    def _between_strips(self, array: Any) -> Any:
        """A copy of an array in memory of which we know what lies on both sides."""
        if array.dtype.isbuiltin != 1 or self.draw.random() < 0.3:
            return array
        memory = np.full(array.nbytes + 2 * _STRIP, _MARK, np.uint8)
        inside = memory[_STRIP : _STRIP + array.nbytes].view(array.dtype).reshape(array.shape)
        inside[...] = array
        self._strips += [memory[:_STRIP], memory[_STRIP + array.nbytes :]]
        return borrowed(inside)

    def _window(self, array: Any) -> Any:
        """Another view of an array's memory."""
        if not array.ndim:
            return array
        match self.draw.randint(0, 4):
            case 0:
                return array.T
            case 1:
                return array[::2]
            case 2:
                return array[1:]
            case 3 if array.shape[0]:
                return np.broadcast_to(array[:1], (3, *array.shape[1:]))[...]
        return array[...]

    def _quantized(self, array: Any) -> Any:
        dtype = DTYPES[self.draw.choice(("qint8", "quint8", "qint32"))]
        numbers = np.zeros(array.shape, dtype.numpy[0])
        axis = self.draw.randint(0, 3)
        if axis < array.ndim and self.draw.random() < 0.4:
            count = array.shape[axis]
            return quantized_array(
                numbers, dtype, Quantizer(np.full(count, 0.5), np.zeros(count, np.int64), axis)
            )
        return quantized_array(numbers, dtype, Quantizer(0.5, 2))

    def _packed(self, type: ClassType) -> Any:
        """Packed weights, made as archives make them, of plausible parts or of wild ones.

        Raises:
            OperatorError: there are none of these parts.
        """
        name = type.qualified_name.removeprefix("__torch__.torch.classes.")
        dims = {"quantized.Conv2dPackedParamsBase": 2, "quantized.Conv3dPackedParamsBase": 3}
        rank = dims.get(name, 0) + 2
        wild = self.draw.random() < 0.4
        weight = self._quantized(np.empty([self.draw.choice((1, 2, 3)) for _ in range(rank)]))
        bias = self.draw.choice((None, self._elements(np.dtype(np.float32), weight.shape[:1])))
        numbers = [self.draw.choice((0, 1, 1, 2)) for _ in range(4 * (rank - 2))]
        groups = 1
        if wild:
            weight = self.draw.choice((weight, self.tensor("weight")))
            bias = self.draw.choice((None, self.tensor("bias"), bias))
            numbers = [self.number() % 2**15 - self.draw.choice((0, 2**14)) for _ in numbers]
            groups = self.draw.choice((0, 1, 2, -1, 7))
        numbers = [rank - 2, *numbers, groups, self.draw.choice((0, 1))]
        states = {
            "quantized.LinearPackedParamsBase": (weight, bias),
            "quantized.EmbeddingPackedParamsBase": (1, [weight], [], [8]),
            "rnn.CellParamsBase": self._cell(wild),
        }
        state = states.get(name, ("2", [np.array(numbers, np.int16), weight], [bias]))
        return PACKED_CLASSES[name](state)

    def _cell(self, wild: bool) -> tuple[Any, ...]:
        make = PACKED_CLASSES["quantized.LinearPackedParamsBase"]
        packed: list[Any] = [
            make((self._quantized(np.empty((self.draw.choice((3, 4, 6)), 2))), None))
            for _ in range(self.draw.choice((0, 1, 2, 2, 2, 3)))
        ]
        if wild:
            packed += self.draw.choice(([], [None], [3]))
        tensors = [self.tensor("bias") for _ in range(self.draw.choice((0, 2, 2, 4)))]
        kind = self.draw.choice(("quantized", "quantized_dynamic", "quantized_fp16", "x"))
        return (
            kind,
            tensors,
            [0.5] * self.draw.choice((0, 2)),
            [1] * self.draw.choice((0, 2)),
            packed,
        )
