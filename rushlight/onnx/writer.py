"""The nodes of one ONNX graph, as they are written; each result's type is ONNX's own inference."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from ..ops.memory.dtype import Array, Dtype, default_dtype, numpy_dtype
from ..ops.table.promotion import number_dtype, result_dtype
from . import proto
from .items import Item, Maybe, Operand, Shape, Unsupported
from .messages import (
    FunctionMessage,
    NodeMessage,
)

__all__ = [
    *("BOOL", "DOUBLE", "END", "FLOAT", "INT", "Model", "Writer"),
    *("is_float", "is_number", "is_plain"),
]

INT = np.dtype(np.int64)
FLOAT = np.dtype(np.float32)
DOUBLE = np.dtype(np.float64)
BOOL = np.dtype(np.bool_)
_COMPLEX: dict[Dtype, Dtype] = {FLOAT: np.dtype(np.complex64), DOUBLE: np.dtype(np.complex128)}
_REAL: dict[Dtype, Dtype] = {dtype: part for part, dtype in _COMPLEX.items()}
END = (1 << 63) - 1
"""Where a slice ends that goes to the end."""
_SMALL = 1 << 12
"""Contents of constants up to this number of elements are remembered with them."""


def is_number(item: Item) -> TypeGuard[bool | int | float | complex]:
    """Whether it is a Python number."""
    return isinstance(item, bool | int | float | complex)


def is_plain(item: Item) -> bool:
    """Whether it is of Python's numbers, known or not, which count less than tensors do."""
    return is_number(item) or (isinstance(item, Operand) and item.weak)


def is_float(dtype: Dtype) -> bool:
    """Whether elements are floating-point numbers."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


class Model:
    """What the graphs of one file share: names, the opset, and the constants."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.arrays: dict[str, Array] = {}
        self.weights: list[str] = []
        self.functions: dict[object, FunctionMessage] = {}
        self._names: set[str] = set()
        self._constants: dict[object, Operand] = {}

    def name(self, wanted: str) -> str:
        """A name that nothing has yet."""
        names = itertools.chain([wanted], (f"{wanted}_{n}" for n in itertools.count(1)))
        found = next(name for name in names if name not in self._names)
        self._names.add(found)
        return found

    def fresh(self, kind: str) -> str:
        """A new name for a result."""
        found = f"{kind.lower()}_{len(self._names)}"
        return self.name(found)

    def constant(self, array: Array) -> Operand:
        """A constant; equal small ones are one."""
        proto.element_type(array.dtype)
        key: object = None
        if array.size <= _SMALL:
            contents = tuple(array.flat) if array.dtype == object else array.tobytes()
            key = array.dtype, array.shape, contents
            if key in self._constants:
                return self._constants[key]
        found = self._keep(self.fresh("constant"), array)
        if key is not None:
            self._constants[key] = found = replace(found, array=array)
        return found

    def weight(self, name: str, array: Array) -> Operand:
        """A parameter or buffer, under its own name."""
        found = self._keep(self.name(name), array)
        self.weights.append(found.name)
        return found

    def function(
        self,
        names: tuple[str, str],
        nodes: Sequence[NodeMessage],
        inputs: list[str],
        outputs: list[str],
    ) -> tuple[str, str]:
        """The domain and name of a function of these nodes; equal ones are one."""
        key = names, tuple(inputs), tuple(outputs), tuple(n.SerializeToString() for n in nodes)
        if key not in self.functions:
            domain, wanted = names
            taken = {each.name for each in self.functions.values() if each.domain == domain}
            tries = itertools.chain([wanted], (f"{wanted}_{n}" for n in itertools.count(1)))
            name = next(each for each in tries if each not in taken)
            made = proto.make_function(domain, name, inputs, outputs, nodes, self.opset)
            self.functions[key] = made
        return self.functions[key].domain, self.functions[key].name

    def _keep(self, name: str, array: Array) -> Operand:
        parts = np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array
        self.arrays[name] = parts
        return Operand(name, array.dtype, array.shape)


class Writer:
    """Writes nodes into one graph."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.nodes: list[NodeMessage] = []
        self.made: set[str] = set()

    @property
    def opset(self) -> int:
        return self.model.opset

    # -- nodes

    def ops(
        self, count: int, kind: str, *inputs: Operand | None, **attributes: object
    ) -> tuple[Operand, ...]:
        """The results of a new node; an input that is left out is None."""
        given = list(inputs)
        while given and given[-1] is None:
            given.pop()
        if any(i is not None and i.dtype.kind == "c" for i in given):
            raise Unsupported(f"ONNX's {kind} takes no complex numbers")
        names = [self.model.fresh(kind) for _ in range(count)]
        known = {key: value for key, value in attributes.items() if value is not None}
        node = proto.make_node(kind, ["" if i is None else i.name for i in given], names, known)
        operands = {operand.name: operand for operand in given if operand is not None}
        found = proto.infer(node, operands, self.opset)
        self.add(node)
        return tuple(
            Operand(name, dtype, shape, is_sequence=is_sequence)
            for name, (dtype, shape, is_sequence) in zip(names, found, strict=True)
        )

    def op(
        self,
        kind: str,
        *inputs: Operand | None,
        dims: Sequence[Item] | None = None,
        **attributes: object,
    ) -> Operand:
        """The only result of a new node; `dims` are sizes that are known from elsewhere."""
        (made,) = self.ops(1, kind, *inputs, **attributes)
        return made if dims is None else replace(made, shape=_merged(made.shape, dims))

    def add(self, node: NodeMessage) -> None:
        """Put a node at the end."""
        self.nodes.append(node)
        self.made.update(node.output)

    # -- operands

    def constant(self, value: object, dtype: Dtype | None = None) -> Operand:
        """A constant tensor of numbers or nested lists of numbers."""
        return self.model.constant(np.asarray(value, dtype, order="C"))

    def ints(self, *values: int) -> Operand:
        """A constant 1-d tensor of int64."""
        return self.constant(list(values), INT)

    def tensor(self, item: Item, dtype: Dtype | None = None) -> Operand:
        """An operand, cast where a dtype is asked for; numbers become 0-d."""
        if isinstance(item, Operand):
            if item.is_sequence:
                raise Unsupported("a list of tensors stands where ONNX wants a tensor")
            return item if dtype is None else self.cast(item, dtype)
        if is_number(item):
            own = DOUBLE if isinstance(item, float) else number_dtype(item)
            return self.constant(_within(item, dtype or own), dtype or own)
        if isinstance(item, list | tuple):
            return self.vector(item, dtype or INT)
        if isinstance(item, Maybe):
            raise Unsupported("whether an argument is None only a run knows")
        raise Unsupported(f"`{item}` stands where ONNX wants a tensor")

    def optional(self, item: Item) -> Operand | None:
        """An operand, or None for one that is left out."""
        return None if item is None else self.tensor(item)

    def cast(self, x: Operand, dtype: Dtype) -> Operand:
        """The operand in another dtype."""
        if x.dtype == dtype:
            return x
        if "c" in (x.dtype.kind, dtype.kind):
            return self._cast_complex(x, dtype)
        if x.array is not None and dtype.kind in "iufb" and x.dtype.kind in "iufb":
            with np.errstate(all="ignore"):
                return self.constant(x.array.astype(dtype))
        return self.op("Cast", x, to=proto.element_type(dtype))

    def common(self, *items: Item) -> tuple[Operand, ...]:
        """The operands in the dtype in which they meet."""
        dtype = self.meeting(*items)
        return tuple(self.tensor(item, dtype) for item in items)

    def meeting(self, *items: Item) -> Dtype:
        """The dtype in which tensors and numbers meet."""
        if not items:
            raise Unsupported("an empty list")
        if all(map(is_plain, items)):
            return np.result_type(*(self.tensor(item).dtype for item in items))
        return result_dtype([_stand_in(item) for item in items])

    def floating(self, item: Item) -> Operand:
        """The operand as floating-point numbers; whole numbers in the default dtype."""
        x = self.tensor(item)
        if is_float(x.dtype):
            return x
        return self.cast(x, DOUBLE if x.weak or is_number(item) else default_dtype.float)

    def vector(self, items: Item, dtype: Dtype = INT) -> Operand:
        """A 1-d tensor of a list of numbers."""
        if isinstance(items, Operand):
            return self.cast(items, dtype)
        if is_number(items):
            items = [items]
        if not isinstance(items, list | tuple):
            raise Unsupported(f"`{items}` stands where ONNX wants a list of numbers")
        if all(is_number(item) for item in items):
            return self.constant([_within(i, dtype) for i in items], dtype)
        parts = [self.unsqueeze(self.tensor(item, dtype), 0) for item in items]
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    # -- what is known

    def whole(self, item: Item, what: str) -> int:
        """A number that must be known."""
        if isinstance(item, Operand) and item.array is not None and item.array.size == 1:
            return int(item.array.reshape(()))
        if not isinstance(item, int):
            raise Unsupported(f"ONNX takes no `{what}` that is computed")
        return int(item)

    def wholes(self, item: Item, what: str, size: int | None = None) -> list[int]:
        """Numbers that must be known; a single one is repeated, if a size is given."""
        if isinstance(item, Operand) and item.array is not None and item.array.ndim == 1:
            item = item.array.tolist()
        found = list(item) if isinstance(item, list | tuple) else [item]
        if size is not None and len(found) == 1:
            found = found * size
        return [self.whole(each, what) for each in found]

    def real(self, item: Item, what: str) -> float:
        """A number that must be known."""
        if isinstance(item, Operand) and item.array is not None and item.array.size == 1:
            return float(item.array.reshape(()))
        if not isinstance(item, int | float):
            raise Unsupported(f"ONNX takes no `{what}` that is computed")
        return float(item)

    def dtype(self, item: Item, default: Dtype | None = None) -> Dtype:
        """The dtype that an argument names."""
        if item is None:
            return default_dtype.float if default is None else default
        return numpy_dtype(self.whole(item, "dtype"))

    def rank(self, x: Operand) -> int:
        """The number of dimensions, which must be known."""
        if x.shape is None:
            raise Unsupported("the number of dimensions is not known here")
        return len(x.shape)

    def axis(self, item: Item, rank: int, what: str = "dim") -> int:
        """A dimension, counted from the first; it must be known."""
        found = self.whole(item, what)
        return found + max(rank, 1) if found < 0 else found

    def axes(self, item: Item, rank: int) -> list[int]:
        """Several dimensions; all of them for None or an empty list."""
        if item is None or item == []:
            return list(range(rank))
        return [self.axis(each, rank) for each in self.wholes(item, "dim")]

    # -- sizes

    def size(self, x: Operand, axis: int) -> Item:
        """One size: a number where it is known, else an operand without dimensions."""
        size = None if x.shape is None else x.shape[axis]
        if isinstance(size, int):
            return size
        if x.dtype.kind == "c":
            x, axis = self.parts(x), axis - (axis < 0)
        found = self.op("Gather", self.op("Shape", x), self.constant(axis, INT), axis=0)
        return replace(found, weak=True)

    def sizes(self, x: Operand) -> list[Item]:
        """All sizes."""
        return [self.size(x, axis) for axis in range(self.rank(x))]

    def known_size(self, x: Operand, axis: int, what: str) -> int:
        """One size, which must be known."""
        size = None if x.shape is None else x.shape[axis]
        if not isinstance(size, int):
            raise Unsupported(f"{what} must be known when the model is exported")
        return size

    # -- complex numbers: `complex_parts` says how they stand in files

    def parts(self, x: Operand) -> Operand:
        """The floats of a complex tensor: [..., 2]."""
        shape = None if x.shape is None else (*x.shape, 2)
        array = None if x.array is None else np.stack([x.array.real, x.array.imag], -1)
        return Operand(x.name, _REAL[x.dtype], shape, array)

    def as_complex(self, parts: Operand) -> Operand:
        """The complex tensor that floats [..., 2] are."""
        shape = None if parts.shape is None else parts.shape[:-1]
        return Operand(parts.name, self.complex_of(parts.dtype), shape)

    def complex_of(self, dtype: Dtype) -> Dtype:
        """The complex dtype whose parts are of one."""
        found = dtype if dtype.kind == "c" else _COMPLEX.get(dtype)
        if found is None:
            raise Unsupported(f"complex numbers whose parts are of {dtype.name}")
        return found

    def halves(self, x: Operand) -> tuple[Operand, Operand]:
        """Real and imaginary part of a tensor."""
        if x.dtype.kind != "c":
            return x, self.zeros_as(x)
        if x.array is not None:
            return self.constant(x.array.real), self.constant(x.array.imag)
        parts = self.parts(x)
        one, other = (self.op("Gather", parts, self.constant(n, INT), axis=-1) for n in (0, 1))
        return one, other

    def from_halves(self, real: Operand, imaginary: Operand) -> Operand:
        """A complex tensor of its parts, which have the same sizes."""
        halves = (real, imaginary)
        return self.as_complex(self.op("Concat", *(self.unsqueeze(x, -1) for x in halves), axis=-1))

    def zeros_as(self, x: Operand) -> Operand:
        """Zeros of the dtype and the sizes of a tensor."""
        zero = self.constant(0, x.dtype)
        return self.expand_as(zero, x)

    def _cast_complex(self, x: Operand, dtype: Dtype) -> Operand:
        real, imaginary = self.halves(x)
        if dtype == BOOL:
            one, other = (self.cast(half, BOOL) for half in (real, imaginary))
            return self.op("Or", one, other)
        if dtype.kind != "c":
            return self.cast(real, dtype)
        return self.from_halves(*(self.cast(half, _REAL[dtype]) for half in (real, imaginary)))

    def same(self, x: Operand) -> Operand:
        """The operand under another name."""
        if x.dtype.kind == "c":
            return self.as_complex(self.op("Identity", self.parts(x)))
        return self.op("Identity", x)

    # -- forms that many operators use

    def batched(self, item: Item, rank: int) -> tuple[Operand, bool]:
        """A tensor with a batch dimension, which makes `rank`, and whether that was added."""
        x = self.tensor(item)
        is_single = self.rank(x) == rank - 1
        return (self.unsqueeze(x, 0) if is_single else x), is_single

    def unsqueeze(self, x: Operand, *axes: int) -> Operand:
        if not axes:
            return x
        if x.array is not None and len(axes) == 1 and axes[0] >= 0:
            return self.model.constant(np.expand_dims(x.array, axes[0]))
        return self.op("Unsqueeze", x, self.ints(*axes))

    def squeeze(self, x: Operand, *axes: int) -> Operand:
        return self.op("Squeeze", x, self.ints(*axes)) if axes else x

    def transpose(self, x: Operand, order: Sequence[int]) -> Operand:
        return x if list(order) == sorted(order) else self.op("Transpose", x, perm=list(order))

    def reshape(self, x: Operand, sizes: Sequence[Item]) -> Operand:
        """Other sizes; -1 stands for the one that is left."""
        known = [None if size == -1 or isinstance(size, Operand) else size for size in sizes]
        zero = 1 if 0 in known else None
        return self.op("Reshape", x, self.vector(list(sizes)), dims=known, allowzero=zero)

    def expand(self, x: Operand, sizes: Sequence[Item]) -> Operand:
        """Broadcast to sizes."""
        if x.sizes is not None and x.sizes == list(sizes):
            return x
        return self.op("Expand", x, self.vector(list(sizes)), dims=sizes)

    def expand_as(self, x: Operand, other: Operand) -> Operand:
        """Broadcast to the sizes of another."""
        if other.dtype.kind == "c":
            other = self.halves(other)[0]
        if x.dtype.kind == "c":
            return self.from_halves(*(self.expand_as(half, other) for half in self.halves(x)))
        return self.op("Expand", x, self.op("Shape", other), dims=other.shape)

    def slice(self, x: Operand, axis: int, start: Item, end: Item, step: Item = 1) -> Operand:
        bounds = [self.vector([bound]) for bound in (start, end)]
        return self.op("Slice", x, *bounds, self.ints(axis), self.vector([step]))

    def select(self, x: Operand, axis: int, index: Item) -> Operand:
        """One place of a dimension, which goes."""
        return self.op("Gather", x, self.tensor(index, INT), axis=axis)

    def filled(self, sizes: Item, value: Item, dtype: Dtype) -> Operand:
        """A tensor of one value."""
        if dtype.kind == "c":
            halves = self.halves(self.tensor(value, dtype))
            return self.from_halves(*(self.filled(sizes, half, half.dtype) for half in halves))
        known = sizes if isinstance(sizes, list | tuple) else None
        if known is not None and all(isinstance(size, int) for size in known):
            count = int(np.prod([size for size in known if isinstance(size, int)], dtype=np.int64))
            if count <= _SMALL and is_number(value):
                return self.constant(np.full(known, _within(value, dtype), dtype))
        if is_number(value):
            tensor = proto.tensor("value", np.full((1,), _within(value, dtype), dtype))
            return self.op("ConstantOfShape", self.vector(sizes), dims=known, value=tensor)
        return self.op("Expand", self.tensor(value, dtype), self.vector(sizes))

    def reduce(self, kind: str, x: Operand, axes: Iterable[int], keep: bool) -> Operand:
        """A reduction; its axes are an attribute in older opsets."""
        axes = list(axes)
        if not axes and self.rank(x) == 0:
            return x
        if kind == "ReduceSum" or self.opset >= 18:
            return self.op(kind, x, self.ints(*axes), keepdims=int(keep))
        return self.op(kind, x, axes=axes, keepdims=int(keep))

    def where(self, condition: Operand, x: Operand, y: Operand) -> Operand:
        return self.op("Where", condition, x, y)


def _merged(shape: Shape | None, dims: Sequence[Item]) -> Shape:
    """What inference found, completed by what else is known."""
    known = [d if isinstance(d, int | str) else None for d in dims]
    if shape is None or len(shape) != len(known):
        return tuple(known)
    return tuple(
        a if isinstance(a, int) or b is None else b for a, b in zip(shape, known, strict=True)
    )


def _within(value: Any, dtype: Dtype) -> object:
    """A number as an element of a dtype: whole ones wrap around."""
    if isinstance(value, Operand):
        raise Unsupported("a number is computed that must be known")
    if dtype.kind in "iu":
        bits = dtype.itemsize * 8
        wrapped = int(value) & ((1 << bits) - 1)
        return wrapped - (1 << bits) if dtype.kind == "i" and wrapped >> (bits - 1) else wrapped
    return value


def _stand_in(item: Item) -> Any:
    """What counts like an operand where dtypes meet."""
    if is_number(item):
        return item
    if not isinstance(item, Operand):
        raise Unsupported(f"`{item}` stands where a tensor or a number is wanted")
    if item.weak:
        return {"b": True, "i": 1, "f": 1.0}[item.dtype.kind]
    return np.empty((0,) * (1 if item.shape is None else min(len(item.shape), 1)), item.dtype)
