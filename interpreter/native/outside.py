"""What native code must know of Python's objects for classes, NamedTuples and enumerations.

The table of outer addresses has a word for each: `made <name>` is called with a tuple of the
elements of a NamedTuple or of the attributes of an object; `members <name>` is the tuple of an
enumeration's members, `numbers <name>` the dict of their places by name, `enum <name>` its type.
What Python has in the place of such values is `called <name>`, called in the same way, and
`class <name>` with its `shown <name>`, the tuple of members.  The `cls` of an object is
`type <name>`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from ...ops.python_values.named_tuples import make_named
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import EnumType, TupleType, Type
from ..values.objects import EnumMember, ScriptObject, python_class
from ..values.outward import named_tuple_class
from .kinds import NONE, Kind, NotNative, kind_of
from .native_source import NativeSource

__all__ = ["attribute_kinds", "check_name", "note_outside"]


def note_outside(source: NativeSource) -> None:
    """Note what the arguments and the result of a program are made of.

    Raises:
        NotNative: two types have one name, or a value has no form outside.
    """
    seen = set[Kind]()
    for kind in source.arguments:
        _note(kind, source, seen)
    assert source.result is not None
    _note(source.result, source, seen)


def _note(kind: Kind, source: NativeSource, seen: set[Kind]) -> None:
    if kind in seen:
        return
    seen.add(kind)
    if kind.family == "place":
        raise NotNative(f"{kind.family} outside")
    check_name(kind, source)
    type = kind.type
    if isinstance(type, EnumType):
        members = tuple(EnumMember(type, name) for name, _ in type.members)
        source.outer[f"enum {kind.name}"] = type
        source.outer[f"members {kind.name}"] = members
        source.outer[f"numbers {kind.name}"] = {m.name: i for i, m in enumerate(members)}
        python = python_class(type)
        source.outer[f"class {kind.name}"] = python
        source.outer[f"shown {kind.name}"] = (
            members if python is None else tuple(getattr(python, m.name) for m in members)
        )
    elif isinstance(type, TupleType):
        source.outer[f"made {kind.name}"] = partial(make_named, type)
        shown = named_tuple_class(kind.name.rpartition(".")[2], type.fields)
        source.outer[f"called {kind.name}"] = _new(shown)
    elif isinstance(type, ClassType):
        source.outer[f"type {kind.name}"] = type
        attributes = attribute_kinds(kind, source)
        is_made = NONE not in attributes and not type.is_module
        if is_made:
            source.outer[f"made {kind.name}"] = partial(ScriptObject, type)
        for slot, each in enumerate(attributes):
            if each != NONE and (is_made or slot in source.slots[kind.name]):
                _note(each, source, seen)
    for part in () if kind.family == "array" else kind.parts:
        _note(part, source, seen)


def check_name(kind: Kind, source: NativeSource) -> None:
    """Kinds are told apart by name.

    Raises:
        NotNative: two types have one.
    """
    if kind.type is not None and source.types.setdefault(kind.name, kind.type) != kind.type:
        raise NotNative(f"two types are called {kind.name}")


def attribute_kinds(kind: Kind, source: NativeSource) -> tuple[Kind, ...]:
    """The kinds of an object's attributes; NONE for what can only be passed by."""
    check_name(kind, source)
    if kind.name not in source.objects:
        assert isinstance(kind.type, ClassType)
        source.objects[kind.name] = tuple(
            map(_attribute_kind, (each.type for each in kind.type.attributes.values()))
        )
        source.slots[kind.name] = set()
    return source.objects[kind.name]


def _new(shown: Callable[..., object]) -> Callable[..., object]:
    """What makes a tuple of a class without asking it, as the elements are known to be all."""
    return partial(tuple.__new__, cast("type[tuple[object, ...]]", shown))


def _attribute_kind(type: Type) -> Kind:
    try:
        return kind_of(type)
    except NotNative:
        return NONE
