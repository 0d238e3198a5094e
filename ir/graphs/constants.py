"""Constants in graphs."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...frontend.sources.source import UNKNOWN, Span
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.class_types import FunctionType
from ...typecheck.definitions.functions import Function
from ...typecheck.trees.typed import EnumMember
from ...typecheck.types.types import BOOL, COMPLEX, FLOAT, INT, NONE, STRING, Type
from .graph import Graph, Node, Value

__all__ = ["MISSING", "constant_value", "create_constant", "same_constant", "type_of"]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""What `constant_value` gives for a value that is not a constant."""

_SCALARS: dict[type, Type] = {
    bool: BOOL,
    int: INT,
    float: FLOAT,
    complex: COMPLEX,
    str: STRING,
    type(None): NONE,
}


def type_of(value: object, declared: Type) -> Type:
    """The type of a scalar or nameless tuple of scalars; `declared` for any other value."""
    scalar = _SCALARS.get(type(value))
    if scalar is not None:
        return scalar
    if isinstance(value, tuple) and declared.tuple_of is not None and declared.tuple_name is None:
        parts = zip(value, declared.tuple_of, strict=True)
        return declared.with_contained(tuple(type_of(v, t) for v, t in parts))
    return declared


def create_constant(graph: Graph, value: object, type: Type, span: Span = UNKNOWN) -> Node:
    """A `prim::Constant`, in no block yet; a Function is known by its type and name."""
    node = graph.create("prim::Constant", outputs=(type,), span=span)
    if isinstance(value, Function):
        node.outputs[0].type = FunctionType(value)
        node.attributes["name"] = value.name
    elif value is not None:
        node.attributes["value"] = value
    return node


def constant_value(value: Value) -> object:
    """The value of a constant, or MISSING; a function is not a value."""
    node = value.node
    if not node.is_constant or isinstance(value.type, FunctionType):
        return MISSING
    return node.attributes.get("value")


def same_constant(one: Node, other: Node) -> bool:
    """Whether two `prim::Constant` nodes are interchangeable: equal value, equal type."""
    a, b = one.output.type, other.output.type
    if isinstance(a, FunctionType) and isinstance(b, FunctionType):
        return a.function is b.function
    return a == b and _same(one.value, other.value)


def _same(a: object, b: object) -> bool:
    """Equality that tells 1 from True; as in torch nan equals nothing, 0.0 equals -0.0, and tensors
    are compared by their elements, however they lie.

    A member of an enumeration is a new object wherever it is written, which `is` can tell.
    """
    if type(a) is not type(b) or isinstance(a, EnumMember):
        return False
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool(np.array_equal(a, b))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        pairs = zip(a.items(), b.items(), strict=False)
        return len(a) == len(b) and all(_same(x, y) for x, y in pairs)
    if isinstance(a, Tensor):  # without data, or not dense
        return a is b
    if isinstance(a, (bool, int, float, complex, str)) or type(a).__hash__ is not None:
        return bool(a == b)
    return a is b
