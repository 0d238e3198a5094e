"""Attributes of nodes, read and set by kind: `node.i("axis")`, `node.ss_("names", ["a"])`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ..ir.graphs.graph import Graph as InnerGraph
from ..ir.graphs.graph import Node as InnerNode
from ..ops.tensors.tensor import Tensor
from ..typecheck.types import types as language
from .types import Type, type_handle

__all__ = ["AttributesByKind", "attribute_kind", "outward_value"]


def attribute_kind(value: object, *, of_constant: bool) -> str:
    """The kind of an attribute's value: `i`, `f`, `s`, `t`, `is`, `ival` and so on."""
    if isinstance(value, list) and not of_constant and value:
        one = attribute_kind(value[0], of_constant=False)
        if len(one) <= 2 and all(attribute_kind(v, of_constant=False) == one for v in value):
            return {"i": "is", "f": "fs", "s": "ss", "t": "ts", "g": "gs", "ty": "tys"}[one]
    for types, kind in _KINDS:
        if isinstance(value, types):
            return kind
    return "ival"


_KINDS: tuple[tuple[Any, str], ...] = (
    (int, "i"),
    (float, "f"),
    (complex, "c"),
    (str, "s"),
    ((np.ndarray, np.generic, Tensor), "t"),
    (InnerGraph, "g"),
    (language.Type, "ty"),
)


def outward_value(value: object) -> Any:
    """A value as Python has it: arrays as tensors."""
    if isinstance(value, (np.ndarray, np.generic)):
        return Tensor._of(np.asarray(value))
    if isinstance(value, language.Type):
        return type_handle(value)
    if isinstance(value, list):
        return [outward_value(v) for v in value]
    if isinstance(value, tuple):
        return tuple(outward_value(v) for v in value)
    if isinstance(value, dict):
        return {outward_value(k): outward_value(v) for k, v in value.items()}
    return value


def _inward_value(value: object) -> object:
    if isinstance(value, Tensor):
        return value._array
    if isinstance(value, Type):
        return value._type
    if isinstance(value, (list, tuple)):
        return type(value)(map(_inward_value, value))
    return value


class AttributesByKind:
    """What nodes can do with their attributes."""

    __slots__ = ()
    _inner: InnerNode

    def attributeNames(self) -> list[str]:
        """The names, in the order they were set."""
        return [name for name in self._inner.attributes if name != "function"]

    def hasAttributes(self) -> bool:
        """Whether there is any."""
        return bool(self.attributeNames())

    def hasAttribute(self, name: str) -> bool:
        """Whether there is one of that name."""
        return name in self._inner.attributes

    def kindOf(self, name: str) -> str:
        """The kind of an attribute.

        Raises:
            RuntimeError: there is none of that name.
        """
        return attribute_kind(self._attribute(name), of_constant=self._inner.is_constant)

    def removeAttribute(self, name: str) -> Self:
        """Take an attribute away; gives the node."""
        del self._inner.attributes[name]
        return self

    def copyAttributes(self, other: AttributesByKind) -> Self:
        """Set all attributes that another node has; gives the node."""
        self._inner.attributes.update(other._inner.attributes)
        return self

    def _attribute(self, name: str) -> object:
        if name not in self._inner.attributes:
            raise RuntimeError(f"required keyword attribute '{name}' is undefined")
        return self._inner.attributes[name]

    def ival(self, name: str) -> Any:
        """The value of an attribute, of whatever kind."""
        return outward_value(self._attribute(name))


def _getter(kind: str) -> Callable[..., object]:
    def get(self: AttributesByKind, name: str) -> Any:
        value = self._attribute(name)
        if self.kindOf(name) != kind:
            raise RuntimeError(f"required keyword attribute '{name}' has the wrong type")
        return int(value) if isinstance(value, bool) else outward_value(value)

    get.__doc__ = f"The value of an attribute of kind `{kind}`."
    return get


def _setter(kind: str) -> Callable[..., object]:
    def put(self: AttributesByKind, name: str, value: object) -> AttributesByKind:
        self._inner.attributes[name] = _inward_value(value)
        return self

    put.__doc__ = f"Set an attribute of kind `{kind}`; gives the node."
    return put


for _kind in ("i", "f", "c", "s", "t", "ty", "is", "fs", "ss", "ts", "tys"):
    setattr(AttributesByKind, _kind, _getter(_kind))
    setattr(AttributesByKind, f"{_kind}_", _setter(_kind))
AttributesByKind.ival_ = _setter("ival")  # type: ignore[attr-defined]
