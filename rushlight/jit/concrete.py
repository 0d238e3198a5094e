"""A live `nn.Module` -> the class type it is compiled under.

Modules of one Python class share a class type if everything that is compiled in is equal: types of
attributes, constants, submodules' class types, and functions held as attributes.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Literal

from ..frontend.foundations.locks import DEFINING
from ..frontend.limits.walks import check_copies
from ..frontend.syntax.places import attribute_place
from ..interpreter.values.inference import CannotInfer, infer_type, type_of_value
from ..interpreter.values.objects import ScriptObject, python_classes
from ..nn.modules.container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from ..nn.modules.module import Module
from ..nn.parameter import is_lazy
from ..nn.registration import type_name
from ..ops.memory.dtype import Device, DType, Layout, QScheme
from ..typecheck.definitions.class_types import ClassType, InterfaceType
from ..typecheck.definitions.functions import Function
from ..typecheck.types.dict_keys import DictKeyError
from ..typecheck.types.types import MOST_PARTS, NONE, Type
from . import decorators, overloads
from .compile import method_function
from .decorators import Attribute
from .members import (
    Contents,
    add_properties,
    container_method,
    contents_of,
    find_other,
    is_function,
)
from .python_types import type_of_annotation
from .qualified_names import mangled, qualified_name
from .shared_types import types_known

__all__ = [
    *("concrete_type", "gather_facts", "kept_if_compiled", "no_longer_shared", "own_methods"),
]

Kind = Literal["parameter", "buffer", "attribute"]

# What nn.Module keeps for itself; no program sees it.
_INTERNAL = frozenset(
    """_version _parameters _buffers _non_persistent_buffers_set _backward_hooks
    _backward_pre_hooks _forward_hooks _forward_hooks_with_kwargs _forward_pre_hooks
    _forward_pre_hooks_with_kwargs _forward_hooks_always_called _state_dict_hooks
    _state_dict_pre_hooks _load_state_dict_pre_hooks _load_state_dict_post_hooks _modules
    _initializing dump_patches _texts _declared""".split()
)

_PICKLING = ("__getstate__", "__setstate__")


@dataclass
class Facts:
    """All that is compiled into a module's code; equal facts, equal class type."""

    attributes: list[tuple[str, Type, Kind]] = field(default_factory=list)
    modules: list[tuple[str, ClassType | InterfaceType]] = field(default_factory=list)
    constants: dict[str, object] = field(default_factory=dict)
    functions: dict[str, object] = field(default_factory=dict)
    methods: dict[str, FunctionType] = field(default_factory=dict)
    texts: object = None
    missing: dict[str, str] = field(default_factory=dict)
    hooks: tuple[list[Any], list[Any]] = field(default_factory=lambda: ([], []))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Facts):
            return NotImplemented
        return self.modules == other.modules and self._key() == other._key()

    def _key(self) -> tuple[object, ...]:
        constants = {name: (type(value), value) for name, value in self.constants.items()}
        functions = {name: id(value) for name, value in self.functions.items()}
        hooks = [[id(hook) for hook in table] for table in self.hooks]
        methods = {name: id(value) for name, value in self.methods.items()}
        missing = sorted(self.missing)
        facts = (self.attributes, self.modules, constants, functions, methods, missing, hooks)
        return (*facts, self.texts)


Found = dict[int, ClassType]
"""The class types of modules that were looked at, by the identity of the module."""


def concrete_type(module: Module, found: Found | None = None) -> ClassType:
    """The class type of a module, made when no earlier module has equal facts.

    `found` are those found in the same compilation, and are added to.
    """
    scripted = getattr(module, "_c", None)
    if isinstance(scripted, ScriptObject):
        return scripted.cls
    found = {} if found is None else found
    if id(module) not in found:
        facts = gather_facts(module, found)
        with DEFINING:  # two threads find one and the same
            found[id(module)] = _type_with(module, facts)
    return found[id(module)]


def _type_with(module: Module, facts: Facts) -> ClassType:
    known = types_known().setdefault(type(module), [])
    for other, cls in known:
        if other == facts:
            return cls
    cls = _make(module, facts)
    known.append((facts, cls))
    if (made := _made.get()) is not None:
        made.append((type(module), cls))
    return cls


_Made = list[tuple[type, ClassType]]
_made: ContextVar[_Made | None] = ContextVar("made", default=None)
"""The class types made so far inside the innermost `kept_if_compiled` of this thread."""


@contextmanager
def kept_if_compiled() -> Iterator[None]:
    """Forget the class types made inside if it fails, so that another attempt fails too."""
    made: _Made = []
    token = _made.set(made)
    try:
        yield
    except BaseException:
        with DEFINING:
            for python, cls in made:
                _forget(python, cls)
        raise
    finally:
        _made.reset(token)


def _forget(python: type, cls: ClassType) -> None:
    known = types_known().get(python, [])
    known[:] = [entry for entry in known if entry[1] is not cls]


def no_longer_shared(cls: ClassType) -> None:
    """Modules compiled from now on get a class type of their own: this one has grown."""
    python = python_classes.get(cls)
    if python is not None:
        with DEFINING:
            _forget(python, cls)


def _make(module: Module, facts: Facts) -> ClassType:
    cls = ClassType(
        mangled(qualified_name(type(module))),
        is_module=True,
        container=_container(module),
        is_live=True,
    )
    for name, type_, kind in facts.attributes:
        cls.add_attribute(name, type_, kind)
    for name, submodule in facts.modules:
        cls.add_attribute(name, submodule)
    cls.constants.update(facts.constants)
    cls.missing.update(facts.missing)
    python, contents = type(module), contents_of(module)  # the module itself need not live on
    cls.finder.append(lambda name: _find_method(cls, python, contents, facts.methods, name))
    cls.others.append(lambda name: find_other(cls, python, facts.functions, name))
    cls.places.append(lambda name: attribute_place(python, name))
    add_properties(cls, python)
    for hooks, found in zip((cls.forward_pre_hooks, cls.forward_hooks), facts.hooks, strict=True):
        hooks.extend(method_function(cls, hook.__name__, hook) for hook in found)
    python_classes[cls] = python
    return cls


def _container(module: Module) -> str:
    """The kind of container that a module is; "" for all others."""
    for kind in (ModuleList, Sequential, ModuleDict, ParameterList, ParameterDict):
        if isinstance(module, kind):
            return kind.__name__
    return ""


def _find_method(
    cls: ClassType, owner: type, contents: Contents, own: Mapping[str, object], name: str
) -> Function | None:
    """A method that compiled code reaches, found when it is first asked for.

    It is the Python class's; or the module's own, where one was put in the place of the class's.
    """
    written = own.get(name) or inspect.getattr_static(owner, name, None)
    synthetic = container_method(cls, contents, name)
    if synthetic is not None and decorators.modifier(written) != decorators.EXPORT:
        cls.methods[name] = synthetic
        return synthetic
    scripted = getattr(owner, "_script_methods", {})
    python = scripted.get(name) or written
    if isinstance(python, classmethod):
        python = python.__func__  # its class is the module, as in torch
    if not inspect.isfunction(python) or getattr(Module, name, None) is python:
        return None
    if decorators.modifier(python) in (decorators.IGNORE, decorators.UNUSED, decorators.DROP):
        return None
    is_marked = name in scripted or decorators.modifier(python) == decorators.EXPORT
    if name in _PICKLING and not is_marked:
        return None  # for Python's own pickling
    if overloads.overloads_of(python):
        return None
    method = method_function(cls, name, python)
    cls.methods[name] = method
    return method


def _check_complete(module: Module) -> None:
    """See that a module is complete, and that all its tensors have sizes by now.

    Raises:
        RuntimeError: `__init__` of Module did not run, or it is a lazy module that was not called
            yet.
    """
    if "_parameters" not in vars(module):
        name = type_name(module)
        raise RuntimeError(f"'{name}' has not been initialized, did you forget to call 'super()'?")
    for name, tensor in (*module._parameters.items(), *module._buffers.items()):
        if is_lazy(tensor):
            lazy = f"'{type_name(module)}' has uninitialized parameters {name}."
            raise RuntimeError(f"{lazy} Did you forget to run a forward pass?")


def ignored_attributes(module: Module) -> Collection[str]:
    """The names that a module keeps from compiled code, by `__jit_ignored_attributes__`."""
    ignored: Collection[str] = getattr(module, "__jit_ignored_attributes__", ())
    return ignored


def gather_facts(module: Module, found: Found | None = None) -> Facts:
    """All that is compiled into the code of a module; for `found` see `concrete_type`."""
    _check_complete(module)
    facts = Facts()
    annotations = {**dict(_annotations(type(module))), **vars(module).get("_declared", {})}
    tables: list[tuple[Kind, dict[str, object]]] = [
        ("parameter", dict(module._parameters)),
        ("buffer", dict(module._buffers)),
    ]
    for kind, table in tables:
        for name, value in table.items():
            facts.attributes.append((name, _type_of(name, value, annotations)[0] or NONE, kind))
    ignored = ignored_attributes(module)
    for name, submodule in module._modules.items():
        if name in ignored:
            continue
        if submodule is None:
            facts.attributes.append((name, NONE, "attribute"))
        else:
            wanted = type_of_annotation(annotations.get(name)) if name in annotations else None
            inner = concrete_type(submodule, found)
            if isinstance(wanted, InterfaceType):
                for method in wanted.methods:
                    getattr(submodule, method)  # raises for what the interface has and it has not
            facts.modules.append((name, wanted if isinstance(wanted, InterfaceType) else inner))
    facts.hooks[0].extend(module._forward_pre_hooks.values())
    facts.hooks[1].extend(module._forward_hooks.values())
    _gather_constants(module, facts, annotations)
    _gather_attributes(module, facts, annotations)
    return facts


def _annotations(cls: type) -> Iterator[tuple[str, object]]:
    """The annotations of a class, or of the nearest base that has any.

    Those of Module itself say nothing but this, as torch's do.
    """
    for base in cls.__mro__:
        if base is Module:
            yield "_is_full_backward_hook", typing.Optional[bool]  # noqa: UP045
            return
        found = inspect.get_annotations(base)
        if found:
            names = dict(vars(inspect.getmodule(base) or typing))
            yield from ((n, _evaluated(a, names)) for n, a in found.items())
            return


def _evaluated(annotation: object, names: dict[str, object]) -> object:
    """A string annotation (`from __future__ import annotations`) as the object it names."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names)
    except (NameError, AttributeError, SyntaxError, TypeError):
        return annotation


def _type_of(
    name: str, value: object, annotations: Mapping[str, object]
) -> tuple[Type | None, bool]:
    """An attribute's type, and whether it had to be inferred from the value.

    Raises:
        RuntimeError: it needs a dict with keys that no dict has.
    """
    try:
        if name in annotations:
            return type_of_annotation(annotations[name]), False
        if isinstance(value, Attribute):
            return type_of_annotation(value.type), False
        return type_of_value(value), True
    except DictKeyError as error:
        raise RuntimeError(f"Error inferring type for {name}: {value}: {error}") from None


def _gather_constants(module: Module, facts: Facts, annotations: Mapping[str, object]) -> None:
    names = dict.fromkeys(getattr(module, "__constants__", ()))
    names |= {n: None for n, a in annotations.items() if _is_final(a)}
    taken = {name for name, _, _ in facts.attributes} | {name for name, _ in facts.modules}
    for name in names:
        if name not in taken and hasattr(module, name):
            value = getattr(module, name)
            check_copies(value, MOST_PARTS)  # a constant's type has as many parts
            facts.constants[name] = _constant(value, name, type(module))


def _is_final(annotation: object) -> bool:
    return annotation is typing.Final or typing.get_origin(annotation) is typing.Final


def _constant(value: object, name: str, owner: type) -> object:
    """A constant's value: a list becomes a tuple, as in torch.

    Raises:
        TypeError: the value is no constant.
    """
    if value is None or isinstance(value, bool | int | float | str | Device):
        return value
    if isinstance(value, DType | Layout | QScheme):
        return value.number
    if isinstance(value, list | tuple):
        return tuple(_constant(v, name, owner) for v in value)
    raise TypeError(
        f"\n'{type_name(value)}' object in attribute '{owner.__name__}.{name}' is not a valid "
        "constant.\nValid constants are:\n1. a nn.ModuleList\n2. a value of type {bool, float, "
        "int, str, NoneType, torch.device, torch.layout, torch.dtype, torch.qscheme}\n"
        "3. a list or tuple of (2)\n"
    )


def _gather_attributes(module: Module, facts: Facts, annotations: dict[str, object]) -> None:
    taken = {name for name, _, _ in facts.attributes} | {name for name, _ in facts.modules}
    ignored = ignored_attributes(module)
    facts.missing.update(dict.fromkeys(ignored, "attribute was ignored during compilation"))
    facts.methods = own_methods(module)
    if "_texts" in vars(module):  # the methods of these texts are its class's alone
        facts.texts = object()
    for name, value in vars(module).items():
        if name in _INTERNAL or name.startswith("__") or name in (*ignored, *facts.methods):
            continue
        if name in taken or name in facts.constants:
            continue
        if callable(value) and not isinstance(value, type) and is_function(value):
            facts.functions[name] = value
            continue
        found, inferred = _type_of(name, value, annotations)
        if found is not None:
            facts.attributes.append((name, found, "attribute"))
        else:
            facts.missing[name] = _why_missing(value, inferred)


def own_methods(module: Module) -> dict[str, FunctionType]:
    """The functions that a module has in the place of its class's `forward` or exported methods."""
    found = {}
    for name, value in vars(module).items():
        function = getattr(value, "__func__", value)
        called = name == "forward" or decorators.modifier(function) == decorators.EXPORT
        if called and inspect.isfunction(function):
            found[name] = function
    return found


def _why_missing(value: object, inferred: bool) -> str:
    """torch's sentence on an attribute that script cannot hold."""
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    try:
        infer_type(value)
        reason = "Its annotation is no type of TorchScript"
    except CannotInfer as error:
        reason = str(error)
    hint = "Its type was inferred; try adding a type annotation for the attribute." * inferred
    return (
        "(This attribute exists on the Python module, but we failed to convert Python type: "
        f"'{name}' to a TorchScript type. {reason}. {hint})"
    )
