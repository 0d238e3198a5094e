"""Live classes -> types: script classes, enumerations and interfaces."""

from __future__ import annotations

import builtins
import enum
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..frontend.diagnostics.diagnostics import Collector
from ..frontend.diagnostics.paths import is_library_file
from ..frontend.foundations.kept import KeptWith
from ..frontend.foundations.locks import DEFINING
from ..frontend.syntax import tree
from ..frontend.syntax.data_classes import field_names
from ..frontend.syntax.from_python import class_tree
from ..frontend.syntax.places import attribute_place, base_place
from ..interpreter.running.evaluating import evaluate
from ..interpreter.values.inference import type_of_value
from ..interpreter.values.objects import comes_from
from ..interpreter.values.values import to_machine
from ..ir.functions.define import define_function
from ..nn.modules.module import Module
from ..ops.memory.errors import LimitExceeded
from ..ops.table.table import TABLE
from ..typecheck.definitions.class_types import ClassType, InterfaceType
from ..typecheck.definitions.functions import Function
from ..typecheck.definitions.names import TypeName
from ..typecheck.definitions.schema import Argument, Signature
from ..typecheck.scopes.annotations import AnnotationReader
from ..typecheck.types.types import ANY, FLOAT, INT, STRING, EnumType, Type
from . import decorators
from ._state import named_classes, script_classes
from .compile import compile_function
from .grad_modes import STAND_INS
from .python_types import type_of_annotation, type_of_class
from .qualified_names import mangled, qualified_name
from .resolver import LiveResolver
from .session import GivenUp, compiling, trying

__all__ = ["class_type", "inferred_class", "interface", "script_class"]

AnyClass = TypeVar("AnyClass", bound=type)
Scope = Mapping[str, object]

_being_made: set[int] = set()
"""The ids of classes that are known already for their own methods' sake, but are not complete."""


_interfaces: KeptWith[type, Type] = KeptWith()


def _known(cls: type) -> Type | None:
    found = script_classes.get(cls)
    return _interfaces.get(cls) if found is None else found


def class_type(cls: type) -> Type | None:
    """The type of a Python class: an interface, enumeration or script class, compiled now if that
    has not happened; None for a class that cannot be compiled."""
    stand_in = vars(cls).get("_compiled_as")
    cls = STAND_INS.get(cls) or (_named_alike(cls) if stand_in is None else stand_in())
    found = _known(cls)
    if found is not None and id(cls) not in _being_made:
        return found
    with DEFINING:
        found = _known(cls)
        if found is not None:
            return found
        if issubclass(cls, enum.Enum):
            return _enum_type(cls)
        return script_class(cls, {}) if _can_be_compiled(cls) else None


def _named_alike(cls: type) -> type:
    """The compiled class that one stands for which says its name, else that one itself."""
    name = vars(cls).get("_jit_override_qualname")
    return named_classes.get(name, cls) if isinstance(name, str) else cls


def inferred_class(cls: type) -> Type | None:
    """The type of the objects of a Python class that no script code names, such as that of an
    attribute; None if it cannot be compiled, which is reported when script code names it."""
    found = _known(cls)
    if found is not None:
        return found
    with DEFINING, trying():
        try:
            return class_type(cls)
        except LimitExceeded:
            raise
        except (GivenUp, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
            return None


def _can_be_compiled(cls: type) -> bool:
    """Whether a class that nobody marked is compiled when script code names it."""
    if issubclass(cls, Module | tuple | list | type | Exception) or cls.__module__ == "builtins":
        return False
    if decorators.modifier(cls) in (decorators.IGNORE, decorators.UNUSED):
        return False
    is_ours = cls.__module__.startswith(("rushlight.", "torch."))  # by name after `as_torch()`
    if is_ours and not hasattr(cls, "_jit_override_qualname"):
        return False
    routines = [value for name in vars(cls) if inspect.isroutine(value := getattr(cls, name, None))]
    if not routines:
        return _is_written_in_python(cls)
    return all(hasattr(routine, "__code__") for routine in routines) and not _is_pythons(cls)


def _is_pythons(cls: type) -> bool:
    """Whether a class is of Python's own library."""
    if cls.__module__.partition(".")[0] not in sys.stdlib_module_names:
        return False
    return is_library_file(getattr(sys.modules.get(cls.__module__), "__file__", None))


def _is_written_in_python(cls: type) -> bool:
    """Whether a class without methods, `numbers.Number`, stands in a source file."""
    try:
        return bool(inspect.getsource(cls))
    except (OSError, TypeError):
        return False


# -------------------------------------------------------------------------------- enumerations


def _enum_type(cls: type[enum.Enum]) -> EnumType | None:
    """The type of an enumeration; None if it has no members.

    Raises:
        RuntimeError: the values are not of one type, or it is none that torch has.
    """
    values = [member.value for member in cls]
    if not values:
        return None
    types = [type_of_value(value) or ANY for value in values]
    for number, found in enumerate(types):
        if found != types[0]:
            raise RuntimeError(
                f"Could not unify type list since element {number} of type "
                f"{types[0].annotation_str} did not match the types before it "
                f"({found.annotation_str})"
            )
    if types[0] not in (INT, FLOAT, STRING):
        shown = "Any" if types[0].contained else types[0].annotation_str
        raise RuntimeError(
            f"Cannot create Enum with value type '{shown}', only int, float and string are "
            "supported"
        )
    members = tuple((m.name, to_machine(m.value, types[0])) for m in cls)
    made = EnumType(mangled(qualified_name(cls)), types[0], members)
    script_classes[cls] = made
    comes_from(made, cls)
    return made


# ------------------------------------------------------------------------------ script classes


def script_class(cls: type, scope: Scope) -> ClassType:
    """Compile a class; `scope` holds further names that its methods see.

    Base classes are not looked at, as in torch.

    Raises:
        RuntimeError: it cannot be compiled.
    """
    with DEFINING:
        known = script_classes.get(cls)
        return known if isinstance(known, ClassType) else _script_class(cls, scope)


def _script_class(cls: type, scope: Scope) -> ClassType:
    made = ClassType(mangled(qualified_name(cls)))
    made.places.append(lambda name: attribute_place(cls, name))
    made.bases.append(lambda: base_place(cls))
    is_whole = False
    try:
        _being_made.add(id(cls))
        script_classes[cls] = made
        named_classes[qualified_name(cls)] = cls
        comes_from(made, cls)
        with compiling() as collector:
            before = len(collector.errors)
            _compile_class(made, cls, scope, collector)
            is_whole = len(collector.errors) == before
    finally:
        _being_made.discard(id(cls))
        if not is_whole:
            script_classes.pop(cls, None)  # so that another attempt reports the errors again
    return made


def _compile_class(made: ClassType, cls: type, scope: Scope, collector: Collector) -> None:
    written = class_tree(cls, collector)
    if written is not None:
        _add_members(made, cls, written, scope)
        for method in sorted(made.methods.values(), key=lambda m: m.name != "__init__"):
            if not method.is_being_defined:
                method.ensure_defined()


def _add_members(made: ClassType, cls: type, written: tree.ClassDefinition, scope: Scope) -> None:
    local = _annotated_names(cls, written)
    define = _define_in({cls.__name__: cls, **_field_types(cls), **local, **scope})
    for member in sorted(written.properties, key=lambda p: p.name):
        python = getattr(cls, member.name)
        getter = _method(made, member.getter, python.fget, define)
        setter = None
        if member.setter is not None:
            setter = _method(made, member.setter, python.fset, define)
        made.properties[member.name] = getter, setter
    for method in written.methods:
        python = getattr(cls, method.name)
        if decorators.modifier(python) != decorators.DROP:
            _method(made, method, python, define)
    for name, value in vars(cls).items():
        if isinstance(value, staticmethod):
            made.static_methods[name] = compile_function(value.__func__)
        elif not callable(value) and not name.startswith("__") and name not in made.properties:
            made.missing[name] = (
                f"'{name}' is defined as a class attribute which currently is not supported. "
                "Consider converting this to an instance attribute."
            )


def _field_types(cls: type) -> dict[str, object]:
    """The names in the methods of a dataclass, with the types they stand for."""
    found: dict[str, object] = {}
    for name, annotation in field_names(cls).items():
        type = type_of_annotation(annotation)
        found[name] = annotation if type is None else TypeName(type)
    return found


def _annotated_names(cls: type, written: tree.ClassDefinition) -> dict[str, object]:
    """The names of annotations that no method sees, as they are local to what made the class, with
    the types they stand for: annotations are evaluated when methods are made."""
    found: dict[str, object] = {}
    for method in written.methods:
        python = getattr(cls, method.name)
        hints = getattr(python, "__annotations__", {})
        seen = {*getattr(python, "__globals__", {}), *vars(builtins), cls.__name__}
        nodes = [(p.name, p.annotation) for p in method.parameters] + [("return", method.returns)]
        for name, node in nodes:
            if isinstance(node, tree.Name) and node.id not in seen and name in hints:
                hint = hints[name]
                type = None if isinstance(hint, str) else type_of_annotation(hint)
                found |= {} if type is None else {node.id: TypeName(type)}
    return found


def _method(
    owner: ClassType, written: tree.Function, python: object, define: Callable[[Function], None]
) -> Function:
    name = f"{owner.qualified_name}.{written.name}"
    made = Function(name, written, define, owner=owner, python=python)
    owner.methods[written.name] = made
    return made


def _define_in(scope: Scope) -> Callable[[Function], None]:
    """What compiles methods that see the names of a scope besides their own."""

    def define(function: Function) -> None:
        assert callable(function.python)
        with compiling() as collector:
            resolver = LiveResolver(function.python, compile_function, scope)
            define_function(function, resolver, collector, TABLE, evaluate)

    return define


# ---------------------------------------------------------------------------------- interfaces


def interface(cls: AnyClass) -> AnyClass:
    """Declare the methods of a class, without bodies, as what objects or modules must have.

    An annotation with the class then stands for whatever has these methods.

    Raises:
        RuntimeError: it is a module interface that defines more than methods.
    """
    is_module = issubclass(cls, Module)
    if cls.__bases__ not in ((object,), (Module,)):
        raise RuntimeError(
            "TorchScript interface does not support inheritance yet. Please directly inherit from "
            "'object' or 'nn.Module'."
        )
    with DEFINING:
        made = InterfaceType(mangled(qualified_name(cls)), is_module)
        _interfaces[cls] = made
    scope = {cls.__name__: cls, **sys._getframe(1).f_locals}
    with DEFINING, compiling() as collector:
        written = class_tree(cls, collector)
        for method in written.methods if written is not None else ():
            python = getattr(cls, method.name)
            resolver = LiveResolver(python, compile_function, scope)
            where = f"in method `{cls.__name__}.{method.name}`"
            reader = AnnotationReader(resolver, collector, where, is_text=False)
            made.methods[method.name] = _declared(made, method, reader)
    marked: Any = cls
    marked.__torch_script_interface__ = made
    return cls


def _declared(owner: InterfaceType, method: tree.Function, reader: AnnotationReader) -> Function:
    """A method of an interface: a signature without a body."""
    arguments = tuple(
        Argument(p.name, owner if i == 0 else reader.read(p.annotation))
        for i, p in enumerate(method.parameters)
    )
    returns = (Argument("", reader.read(method.returns)),)
    name = f"{owner.qualified_name}.{method.name}"
    return Function(name, method, declared=Signature(method.name, "", arguments, returns))


def is_known(cls: type) -> bool:
    """Whether a class has been compiled, or names a type of the language."""
    return _known(cls) is not None or type_of_class(cls) is not None
