"""Structures of trees as JSON: names of classes, and what belongs to a node beside its children."""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Sequence
from enum import Enum
from importlib import import_module
from operator import attrgetter
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from ..ops.tensors.sizes import Size

__all__ = [
    *("SERIALIZED_TYPE_TO_PYTHON_TYPE", "SUPPORTED_SERIALIZED_TYPES"),
    *("dumped", "has_name", "loaded"),
]

_PROTOCOL: Final = 1
"""The one form of the text that there is."""


class Named(NamedTuple):
    """How a class of nodes is written."""

    typ: object
    name: str | None
    written: Callable[[object], object] | None
    read: Callable[[Any], object] | None


SUPPORTED_SERIALIZED_TYPES: Final[dict[object, Named]] = {}
"""What is known of classes."""
SERIALIZED_TYPE_TO_PYTHON_TYPE: Final[dict[str, object]] = {}
"""The classes by the names that stand for them."""


class Structure(Protocol):
    """What is asked of a structure."""

    @property
    def type(self) -> object: ...

    @property
    def context(self) -> object: ...

    @property
    def children_specs(self) -> Sequence[Structure]: ...

    def is_leaf(self) -> bool: ...


def has_name(
    cls: object,
    name: str | None,
    written: Callable[[Any], object] | None = None,
    read: Callable[[Any], object] | None = None,
) -> None:
    """Note which name stands for a class, and how its contexts become JSON and back.

    Raises:
        ValueError: one of the two functions is missing.
    """
    if (written is None) is not (read is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or "
            "registered."
        )
    SUPPORTED_SERIALIZED_TYPES[cls] = Named(cls, name, written, read)
    if name is not None:
        SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


# ------------------------------------------------------------------------------------ contexts


def _found(module: str, path: str) -> object:
    return attrgetter(path)(import_module(module))


def _member_written(value: object) -> object:
    if not isinstance(value, Enum):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    cls = type(value)
    return {"__enum__": True, "fqn": f"{cls.__module__}:{cls.__qualname__}", "name": value.name}


def _member_read(value: dict[str, Any]) -> object:
    if "__enum__" not in value:
        return value
    cls = _found(*value["fqn"].split(":"))
    if not (isinstance(cls, type) and issubclass(cls, Enum)):
        raise TypeError(f"{value['fqn']} is no enumeration")
    return cls[value["name"]]


def _context_written(context: object) -> str:
    try:
        return json.dumps(context, default=_member_written)
    except TypeError as error:
        raise TypeError(
            "Unable to serialize context. Please make the context json dump-able, or register a "
            "custom serializer using _register_pytree_node."
        ) from error


def _context_read(text: str) -> object:
    return json.loads(text, object_hook=_member_read)


def _named_tuple_written(cls: type) -> str:
    known = SUPPORTED_SERIALIZED_TYPES.get(cls)
    if known is None or known.name is None:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a "
            "serializated_type_name. Please register using `_register_namedtuple`."
        )
    return known.name


def _class_named(name: str) -> object:
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    return SERIALIZED_TYPE_TO_PYTHON_TYPE[name]


def _factory_written(context: Sequence[Any]) -> object:
    factory, keys = context
    module = None if factory is None else factory.__module__
    name = None if factory is None else factory.__qualname__
    return {"default_factory_module": module, "default_factory_name": name, "dict_context": keys}


def _factory_read(data: Any) -> object:
    module, name = data["default_factory_module"], data["default_factory_name"]
    return [None if module is None else _found(module, name), data["dict_context"]]


for _cls in (tuple, list, dict):
    has_name(_cls, f"builtins.{_cls.__name__}")
has_name(namedtuple, "collections.namedtuple", _named_tuple_written, _class_named)
has_name(OrderedDict, "collections.OrderedDict")
has_name(defaultdict, "collections.defaultdict", _factory_written, _factory_read)
has_name(deque, "collections.deque")
has_name(Size, "torch.Size")


# ---------------------------------------------------------------------------------- structures


def dumped(spec: Structure, protocol: int | None) -> str:
    """A structure as JSON.

    Raises:
        ValueError: there is no such protocol.
        NotImplementedError: a class in it has no name.
        TypeError: JSON cannot hold what belongs to a node.
    """
    _check(_PROTOCOL if protocol is None else protocol)
    return json.dumps([_PROTOCOL, _written(spec)])


def _check(protocol: object) -> None:
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")


def _written(spec: Structure) -> dict[str, object]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    known = SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if known is None:
        raise NotImplementedError(f"Serializing {spec.type} in pytree is not registered.")
    if known.name is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your "
            "_register_pytree_node call with a `serialized_type_name` kwarg."
        )
    return {
        "type": known.name,
        "context": (known.written or _context_written)(spec.context),
        "children_spec": [_written(each) for each in spec.children_specs],
    }


Spec = TypeVar("Spec")


def loaded(text: str, node: Callable[[Any, object, list[Spec]], Spec], leaf: Spec) -> Spec:
    """The structure that JSON describes.

    Args:
        node: makes a structure of a class, its context and what is below.
        leaf: the structure of a leaf.

    Raises:
        ValueError: it is of another protocol.
        NotImplementedError: no class has a name that stands in it.
    """

    def read(data: Any) -> Spec:
        if data["type"] is None and data["context"] is None and not data["children_spec"]:
            return leaf
        known = SUPPORTED_SERIALIZED_TYPES[_class_named(data["type"])]
        context = (known.read or _context_read)(data["context"])
        return node(known.typ, context, [read(each) for each in data["children_spec"]])

    protocol, data = json.loads(text)
    _check(protocol)
    return read(data)
