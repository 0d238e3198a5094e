"""`script`: compile a function or a module."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ParamSpec, TypeVar, overload

from .._C.emit_hooks import emit_hooks
from ..frontend.diagnostics.call_sites import call_site
from ..frontend.diagnostics.diagnostics import Diagnostic, Edit, Help, Label
from ..frontend.diagnostics.exceptions import trimmed
from ..frontend.foundations.garbage import uncollected
from ..frontend.foundations.locks import DEFINING
from ..frontend.limits.bounds import bounded
from ..frontend.limits.walks import fold
from ..frontend.sources.source import Span
from ..frontend.syntax.places import attribute_place, base_place
from ..frontend.syntax.unsupported import PARSING
from ..interpreter.values.handles import keeping_handles
from ..interpreter.values.histories import keep_given
from ..interpreter.values.objects import ScriptObject
from ..interpreter.values.shared import ScriptDict, ScriptList
from ..interpreter.values.values import CastError, to_machine
from ..nn.modules.module import HasForward, Module
from ..ops.memory.errors import Elsewhere
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.class_types import ClassType, InterfaceType
from ..typecheck.definitions.functions import Function
from ..typecheck.definitions.names import OverloadedFunction
from ..typecheck.relations.relations import is_subtype
from ..typecheck.types.types import TENSOR, Type
from . import _state, decorators
from .classes import class_type, script_class
from .compile import compile_function
from .concrete import (
    concrete_type,
    ignored_attributes,
    kept_if_compiled,
    own_methods,
)
from .decorators import Attribute
from .function import ScriptFunction
from .hook_checks import check_hooks
from .members import container_method, contents_of
from .module import FINISH, RecursiveScriptModule, ScriptModule, not_castable
from .preparing import prepared
from .scripted_objects import RecursiveScriptClass, script_object
from .session import CompilationFailed, compiling, is_known
from .shared_types import own_types
from .unit import define_methods

__all__ = [
    *(
        "entry_points",
        "has_exports",
        "script",
        "script_method",
        "script_module",
        "script_with_exports",
        "slot_of",
    ),
]

Class = TypeVar("Class")
Given = ParamSpec("Given")
Result = TypeVar("Result")
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., object])


@overload
def script(  # type: ignore[overload-overlap]  # classes and modules can be called too
    obj: type[Class],
    optimize: object = None,
    _frames_up: int = 0,
    _rcb: object = None,
    example_inputs: object = None,
) -> type[Class]: ...
@overload
def script(
    obj: HasForward[Given, Result],
    optimize: object = None,
    _frames_up: int = 0,
    _rcb: object = None,
    example_inputs: object = None,
) -> RecursiveScriptModule[Given, Result]: ...
@overload
def script(
    obj: Callable[Given, Result],
    optimize: object = None,
    _frames_up: int = 0,
    _rcb: object = None,
    example_inputs: object = None,
) -> ScriptFunction[Given, Result]: ...
@overload
def script(
    obj: object,
    optimize: object = None,
    _frames_up: int = 0,
    _rcb: object = None,
    example_inputs: object = None,
) -> Any: ...
def script(
    obj: object,
    optimize: object = None,
    _frames_up: int = 0,
    _rcb: object = None,
    example_inputs: object = None,
) -> Any:
    """Compile a function (-> `ScriptFunction`), module (-> `RecursiveScriptModule`) or class.

    What it calls is compiled too: Python functions, methods, submodules.  An object of a class
    gives a `RecursiveScriptClass`, a list or dict a `ScriptList` or `ScriptDict`, which scripted
    code changes in place.  Objects may have a method `__prepare_scriptable__` that returns what is
    compiled instead.  `optimize` has no effect; types are not inferred from `example_inputs`.

    Raises:
        RuntimeError: the code cannot be compiled.  The text is torch's for the first error;
            `e.diagnostics` has all of them, and they are shown in full below the message.
        frontend.exceptions.NotSupportedError: it uses Python that script does not have.
        TypeError: `obj` is nothing that can be compiled.
    """
    if optimize is not None:
        warnings.warn(
            "`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution()"
            "` instead",
            FutureWarning,
            stacklevel=2,
        )
    if _rcb is not None:
        raise NotImplementedError("torch.jit.script: `_rcb` is not supported")
    if example_inputs is not None:
        warnings.warn(
            "torch.jit.script: types are not inferred from `example_inputs`; annotate the "
            "parameters",
            stacklevel=2,
        )
    if not _state._enabled:
        return obj
    try:
        with trimmed(), bounded("the program"), DEFINING:
            if inspect.isclass(obj):
                return _script_class(obj, sys._getframe(1 + _frames_up).f_locals)
            made = _script(obj if _is_function(obj) else prepared(obj))
    except CompilationFailed:
        return obj
    if made is not obj:
        _tell_hooks(made)
    return made


def _tell_hooks(made: object) -> None:
    """Call the hook that is set for modules, or for functions, with what was compiled; a module
    without a `forward` is of no interest to them."""
    for kind, hook in zip((ScriptModule, ScriptFunction), emit_hooks(), strict=True):
        if hook is not None and isinstance(made, kind) and hasattr(made, "code"):
            hook(made)


@uncollected
def _script(obj: Any) -> object:
    if isinstance(obj, _SCRIPTED):
        return obj
    if isinstance(obj, Module):
        return script_module(obj)
    if isinstance(obj, list):
        return ScriptList(obj)
    if isinstance(obj, dict):
        return ScriptDict(obj)
    if _is_function(obj):
        return _script_function(obj)
    return _script_object(obj)


def _is_function(obj: object) -> bool:
    return inspect.isfunction(obj) or inspect.ismethod(obj)


_SCRIPTED = (ScriptFunction, ScriptModule, ScriptList, ScriptDict, RecursiveScriptClass)


def _script_object(obj: object) -> RecursiveScriptClass:
    """Compile the class of an object, and share the object with scripted code."""
    if type(obj).__module__ == "builtins":
        raise TypeError(f"{type(obj)} is a built-in class")
    with compiling():
        cls = class_type(type(obj))
    if not isinstance(cls, ClassType):
        raise TypeError(
            f"`{obj!r}` is of type {type(obj).__name__}; script compiles functions and modules"
        )
    return script_object(obj, cls)


def _base_class(cls: type) -> Diagnostic:
    """What is wrong with a scripted class that has a base class."""
    base = base_place(cls)
    helps: tuple[Help, ...] = ()
    if base is not None and base.moved:
        helps = (Help(f"put the members of `{base.name.text}` in `{cls.__name__}`", base.moved),)
    return Diagnostic(
        "class-base",
        f"the scripted class `{cls.__name__}` cannot have a base class",
        None if base is None else Label(base.name, "the base class"),
        helps=helps,
        torch_text="TorchScript classes does not support inheritance yet. Please directly inherit "
        "from 'object'.",
    )


def _class_of_modules(cls: type) -> Diagnostic:
    """What is wrong with a class of modules where one of them is wanted."""
    call = call_site()
    text = f"{cls.__name__})"
    edits: tuple[Edit, ...] = ()
    label = None
    if call is not None and call.text.endswith(text):
        label = Label(Span(call.source, call.end - len(text), call.end - 1), "this is the class")
        edits = (Edit(Span(call.source, call.end - 1, call.end - 1), "()"),)
    elif call is not None:
        label = Label(call, "asked for here")
    return Diagnostic(
        "not-scriptable",
        f"the class `{cls.__name__}` is no module; script compiles its objects",
        label,
        helps=(Help("make a module of it", edits),),
        torch_text=f"Type '{cls}' cannot be compiled since it inherits from nn.Module, "
        "pass an instance instead",
    )


def _script_class(cls: type, scope: Mapping[str, object]) -> type:
    """Compile a class; the class itself is what Python goes on with."""
    if issubclass(cls, Module):
        with compiling() as collector:
            collector.add(_class_of_modules(cls))
        return cls
    if not issubclass(cls, Enum) and not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        if len(cls.mro()) > 2:
            with compiling() as collector:
                collector.add(_base_class(cls))
            return cls
        script_class(cls, dict(scope))
    return cls


def _script_function(python: Callable[..., object]) -> ScriptFunction:
    with compiling():
        function = compile_function(python)
        if not is_known(python):
            function.ensure_defined()
    return ScriptFunction(function)


def script_module(module: Module) -> RecursiveScriptModule:
    """Compile a module: its `forward`, its exported methods and what they reach.

    Raises: as `script`.
    """
    with kept_if_compiled(), compiling():
        target = _object_of(module)
        _compile_methods(target, module)
    made = RecursiveScriptModule(target)
    if any(ignored_attributes(each) for each in module.modules()):
        _keep_ignored(module, made)
    return made


def _keep_ignored(module: Module, made: RecursiveScriptModule) -> None:
    """Python still finds the attributes that compiled code does not see, in all modules inside."""
    for name in ignored_attributes(module):
        member = getattr(type(module), name, None)
        if isinstance(member, property):  # which is asked neither now nor for the compiled module
            object.__setattr__(made, name, member)
        elif hasattr(module, name):
            object.__setattr__(made, name, getattr(module, name))
    for name, part in made._modules.items():
        inner = module._modules[name]
        if inner is not None and isinstance(part, RecursiveScriptModule):
            _keep_ignored(inner, part)


DEEPEST_MODULES = 220
"""How deep modules may lie in each other: less than values may, of which the innermost has some."""


def _places_in(module: Module) -> int:
    """In how many places modules are, counting each again where it is met again.

    Refuses modules that lie too deep in each other to be saved, and a module inside itself.

    Raises:
        BoundExceeded: that is so.
    """

    def parts(each: Module) -> list[Module]:
        inner = vars(each).get("_modules", {}).values()
        return [part for part in inner if isinstance(part, Module)]

    def places(each: Module, made: dict[int, int]) -> int:
        return 1 + sum(made[id(part)] for part in parts(each))

    return fold(module, parts, places, DEEPEST_MODULES)


def has_exports(module: Module) -> bool:
    """Whether a module has methods that are compiled though nothing reaches them."""
    names = dir(type(module))
    return any(
        decorators.modifier(getattr(type(module), n, None)) == decorators.EXPORT for n in names
    )


def script_with_exports(module: Module) -> RecursiveScriptModule:
    """Compile the exported methods of a module, `forward` only if one of them reaches it.

    Raises: as `script`.
    """
    with DEFINING, own_types(), kept_if_compiled(), compiling():
        target = _object_of(module)
        _count_inside(target, module, set())
        for name in entry_points(module):
            if name != "forward":
                for method in _methods(target.cls, name):
                    method.ensure_defined()
    return RecursiveScriptModule(target)


MOST_PLACES = 10_000
"""In how many places modules may be before those that are met again become one object."""


def _object_of(module: Module) -> ScriptObject:
    """The script object of a module.

    As in torch a module in two places becomes two objects, which share nothing but tensors, unless
    it is compiled already.

    Raises:
        BoundExceeded: modules lie too deep in each other, or in themselves.
    """
    shares = _places_in(module) > MOST_PLACES
    return _instance(module, {} if shares else None, {})


def _instance(
    module: Module, made: dict[int, ScriptObject] | None, found: dict[int, ClassType]
) -> ScriptObject:
    """The script object of a module; one of those `made` if they are given and it is among them."""
    scripted = getattr(module, "_c", None)
    if isinstance(scripted, ScriptObject):
        return scripted
    if made is not None and id(module) in made:
        return made[id(module)]
    cls = concrete_type(module, found)
    target = ScriptObject(cls)
    if made is not None:
        made[id(module)] = target
    for name, attribute in cls.attributes.items():
        value = getattr(module, name)
        if isinstance(value, Module):
            slot: object = _instance(value, made, found)
        else:
            slot = _slot_of_attribute(module, value, name, attribute.type)
        target.slots[cls.slot(name)] = slot
        keep_given(target, value)
    return target


def _slot_of_attribute(module: Module, value: object, name: str, declared: Type) -> object:
    """`slot_of` an attribute; RuntimeError with its name if the value is not of its type."""
    try:
        return slot_of(value, declared)
    except CastError as error:
        told = not_castable(name, declared, error)
    place = attribute_place(type(module), name)
    with compiling() as collector:
        collector.add(
            Diagnostic(
                "annotation-conflict",
                f"`{name}` is declared `{declared.python}`, and holds `{value!r:.40}`",
                None if place is None else Label(place.statement, "declared here"),
                helps=(Help("declare what it holds, or convert the value"),),
                torch_text=told,
            )
        )
    return None


def slot_of(value: object, type: Any) -> object:
    """The content of an object's slot for a Python value."""
    if isinstance(value, Attribute):
        value = value.value
    if isinstance(value, Tensor) and is_subtype(TENSOR, type):
        return value
    try:
        return to_machine(value, type)
    except Elsewhere:  # tensors in lists and dicts behind which no array stands
        with keeping_handles():
            return to_machine(value, type)


def _compile_methods(target: ScriptObject, module: Module, done: set[int] | None = None) -> None:
    """Compile what Python may call: inner modules' first, as torch does; those `done` are.

    What torch does not even parse of the module's own methods is told before what inner ones have.
    """
    done = set() if done is None else done
    if id(target) in done:
        return
    done.add(id(target))
    with compiling() as collector:
        before = len(collector.found)
        _compile_inner(target, module, done)
        inside = len(collector.found)
        _compile_own(target, module)
        if inside > before:
            collector.move_up(inside, before, _is_not_parsed)


def _is_not_parsed(found: Diagnostic) -> bool:
    return found.exception in PARSING and not found.demands


def _compile_inner(target: ScriptObject, module: Module, done: set[int]) -> None:
    ignored = ignored_attributes(module)
    for name, submodule in module._modules.items():
        if submodule is None or name in ignored:
            continue
        inner = target.slots[target.cls.slot(name)]
        if isinstance(inner, ScriptObject):
            _compile_methods(inner, submodule, done)
            _check_interface(name, inner, target.cls.attributes[name].type)


def _compile_own(target: ScriptObject, module: Module) -> None:
    for getter, setter in target.cls.properties.values():
        for function in (getter, setter):
            if function is not None:
                function.ensure_defined()
    for name in entry_points(module):
        for method in _methods(target.cls, name):
            method.ensure_defined()
    for hook in (*target.cls.forward_pre_hooks, *target.cls.forward_hooks):
        hook.ensure_defined()
    check_hooks(target.cls)
    _count(target, module)


def _count(target: ScriptObject, module: Module) -> None:
    """Compile how many modules a container holds, and which."""
    for name in ("__len__", "__contains__"):
        counted = container_method(target.cls, contents_of(module), name)
        if counted is not None and name not in target.cls.methods:
            target.cls.methods[name] = counted
            counted.ensure_defined()


def _count_inside(target: ScriptObject, module: Module, done: set[int]) -> None:
    """The same for a module and those in it, where nothing else of them is compiled beforehand."""
    if id(target) in done:
        return
    done.add(id(target))
    for name, submodule in module._modules.items():
        inner = target.slots[target.cls.slot(name)] if name in target.cls.attributes else None
        if submodule is not None and isinstance(inner, ScriptObject):
            _count_inside(inner, submodule, done)
    _count(target, module)


def _check_interface(name: str, inner: ScriptObject, wanted: Type) -> None:
    """Compile what an interface asks for of a submodule.

    Raises:
        RuntimeError: the submodule does not have it.
    """
    if not isinstance(wanted, InterfaceType):
        return
    with compiling() as collector:
        for method in wanted.methods:
            for found in _methods(inner.cls, method):
                found.ensure_defined()
        if collector.errors:
            return
    try:
        to_machine(inner, wanted)
    except CastError as error:
        raise RuntimeError(not_castable(name, wanted, error)) from None


def _methods(cls: ClassType, name: str) -> tuple[Function, ...]:
    """A method, or all there are if it has several signatures."""
    method = cls.method(name)
    if method is not None:
        return (method,)
    other = cls.other(name)
    return other.functions if isinstance(other, OverloadedFunction) else ()


def entry_points(module: Module) -> list[str]:
    """`forward`, unless it is inherited or left out, then the exported methods by name."""
    if isinstance(module, ScriptModule):
        return list(type(module)._script_methods)
    names = []
    own = own_methods(module)
    forward = own.get("forward") or getattr(type(module), "forward", None)
    left_out = decorators.modifier(forward) in (decorators.IGNORE, decorators.UNUSED)
    if forward is not getattr(Module, "forward", None) and not left_out:
        names.append("forward")
    found = dict[str, object]()
    for base in reversed(type(module).__mro__):
        found.update(vars(base))
    for name in sorted(found):
        if decorators.modifier(found[name]) == decorators.EXPORT and name not in names:
            names.append(name)
    return names + [name for name in own if name not in names and name != "forward"]


def script_method(function: AnyFunction) -> AnyFunction:
    """Mark a method of a `ScriptModule` subclass as compiled."""
    if not _state._enabled:
        return function
    function._rushlight_script_method = True  # type: ignore[attr-defined]
    return function


@FINISH.install
def _finish(module: Module) -> None:
    """Compile an object whose `__init__` has run and hand its attributes over to the result."""
    own = module.__dict__
    with trimmed(), DEFINING, compiling():
        target = _object_of(module)
        texts = own.pop("_texts", [])
        for text, scope in texts:
            define_methods(target.cls, text, scope)
        _compile_methods(target, module)
    for name in target.cls.attributes:
        for table in (own, own["_parameters"], own["_buffers"], own["_modules"]):
            table.pop(name, None)
    for name in ("_parameters", "_buffers", "_modules"):
        del own[name]
    own["_actual_script_module"] = RecursiveScriptModule(target)
