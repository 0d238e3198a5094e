"""How constants and types are spelled in graph text."""

from __future__ import annotations

import numpy as np

from ...frontend.syntax.literal_text import complex_text, escape, float_text
from ...ops.python_values.display_aten import format_tensor
from ...ops.random_numbers.random import Generator
from ...ops.tensors.tensor import Tensor
from ...typecheck.trees.typed import EnumMember
from ...typecheck.types.tensor_facts import RefinedTensor
from ...typecheck.types.types import (
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    element_is_evident,
)

__all__ = [
    "SCALARS",
    "TENSOR_CLASSES",
    "constant_text",
    "type_text",
]

_SHOWN_ELEMENTS = 10


def type_text(type: Type) -> str:
    """A type as graphs spell it: `Future[int]` where schemas say `Future(int)`."""
    match type:
        case RefinedTensor():
            return type.graph_text
        case FutureType(element, "Await"):
            return f"Await({type_text(element)})"
        case FutureType(element, kind):
            return f"{kind}[{type_text(element)}]"
        case ListType(element):
            return f"{type_text(element)}[]"
        case OptionalType(element):
            return f"{type_text(element)}?"
        case TupleType(elements, _, ()):
            return f"({', '.join(map(type_text, elements))})"
        case TupleType(elements, _, fields, given):
            defaults = dict(given)
            parts = (
                f"{n} : {type_text(t)}"
                + (f" = {_default(defaults[n], t)}" if n in defaults else "")
                for n, t in zip(fields, elements, strict=True)
            )
            return f"NamedTuple({', '.join(parts)})"
    return str(type)


def _default(value: object, type: Type) -> str:
    """The default of a field; torch writes strings without quotes."""
    type = type.inner
    if isinstance(value, dict) and (entry := type.dict_of) is not None:
        items = (f"{_default(k, entry[0])}: {_default(v, entry[1])}" for k, v in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list) and (element := type.list_of) is not None:
        return f"[{', '.join(_default(v, element) for v in value)}]"
    return value if isinstance(value, str) else _text(value, type)


def constant_text(value: object, type: Type) -> str:
    """The value of a `prim::Constant`."""
    if isinstance(value, bool):
        return str(int(value))
    return _text(value, type)


def _text(value: object, type: Type) -> str:
    match value:
        case bool() | None:
            return str(value)
        case int():
            return str(value)
        case float():
            return float_text(value)
        case complex():
            return complex_text(value)
        case str():
            return escape(value)
        case EnumMember(name=name) if (enum := type.optional_of or type).is_enum:
            return f"{enum.annotation_str}.{name}"
    return _container_text(value, type)


def _container_text(value: object, type: Type) -> str:
    if isinstance(value, Tensor) and value.is_meta:
        return "<Tensor>"
    array = getattr(value, "_array", value)
    if isinstance(array, (np.ndarray, np.generic)):
        return tensor_text(np.asarray(array))
    if isinstance(value, tuple) and type.tuple_of is not None:
        parts = [_text(v, t) for v, t in zip(value, type.tuple_of, strict=True)]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if isinstance(value, list) and (element := type.list_of) is not None:
        if value and str(element) == "Tensor":
            return "[<Tensors>]"
        text = f"[{', '.join(_text(v, element) for v in value)}]"
        evident = bool(value) and element_is_evident(element)
        return text if evident else f"annotate({type.annotation_str}, {text})"
    if isinstance(value, dict) and (entry := type.dict_of) is not None:
        items = (f"{_text(k, entry[0])}: {_text(v, entry[1])}" for k, v in value.items())
        text = f"{{{', '.join(items)}}}"
        evident = bool(value) and element_is_evident(entry[1])
        return text if evident else f"annotate({type.annotation_str},{text})"
    if str(type) == "Device":
        return escape(str(value))
    if isinstance(value, Generator):
        return f'torch.Generator(device="cpu", seed={value.initial_seed()})'
    if type.is_declared:
        return f"object({id(value):#x})"
    raise TypeError(f"no text for a constant {value!r} of type {type}")


# --------------------------------------------------------------------------------------- tensors


def tensor_text(array: np.ndarray) -> str:
    """`{1.5}` for one element, what `print` shows on one line for up to ten, else `<Tensor>`."""
    if array.size == 1:
        item = array.item()
        if isinstance(item, complex):
            return f"{{({item.real:g},{item.imag:g})}}"
        return f"{{{item:g}}}" if isinstance(item, float) else f"{{{int(item)}}}"
    return "<Tensor>" if array.size > _SHOWN_ELEMENTS else format_tensor(array).replace("\n", " ")


TENSOR_CLASSES = {
    "float32": "CPUFloatType",
    "float64": "CPUDoubleType",
    "float16": "CPUHalfType",
    "bfloat16": "CPUBFloat16Type",
    "int64": "CPULongType",
    "int32": "CPUIntType",
    "int16": "CPUShortType",
    "int8": "CPUCharType",
    "uint8": "CPUByteType",
    "bool": "CPUBoolType",
}


SCALARS = {
    **{cls[len("CPU") : -len("Type")]: name for name, cls in TENSOR_CLASSES.items()},
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}
"""Element types as tensor types spell them, and NumPy's names of them."""
