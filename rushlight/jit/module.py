"""Scripted modules as Python sees them."""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import types
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from pickle import PickleError
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, NoReturn

from typing_extensions import ParamSpec, TypeVar

from .._C.handles import Graph
from ..frontend.diagnostics.exceptions import trim_traceback, trimmed
from ..frontend.foundations.port import Port
from ..frontend.limits.walks import fold
from ..interpreter.values.histories import keep_given, with_histories
from ..interpreter.values.objects import ScriptObject, python_classes
from ..interpreter.values.values import CastError, from_machine, to_machine
from ..nn.hooks import has_hooks
from ..nn.modules.module import Module
from ..ops.python_values.display_aten import format_for_print
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.tracing import ACTIVE
from ..typecheck.definitions.class_types import ClassType, InterfaceType
from ..typecheck.definitions.names import FunctionName, PythonName
from ..typecheck.relations.relations import is_subtype
from ..typecheck.types.types import TENSOR, EnumType, Type
from .compiled_members import compiled_members, python_methods
from .container_access import ContainerAccess, dict_method
from .conversion import CompiledConversions
from .decorators import Attribute
from .function import ConstMap, ScriptFunction, ScriptHook, ScriptMethod
from .unit import define_methods, names_of_frame

__all__ = [
    *("RecursiveScriptModule", "ScriptMeta", "ScriptModule", "SlotView", "not_castable", "wrap"),
]


class SlotView(MutableMapping[str, Any]):
    """The parameters or the buffers of a script object as a dictionary of live tensors."""

    def __init__(self, target: ScriptObject, kind: Literal["parameter", "buffer"]) -> None:
        self._target = target
        self._kind = kind

    def _has(self, name: str) -> bool:
        attribute = self._target.cls.attributes.get(name)
        return attribute is not None and attribute.kind == self._kind

    def __getitem__(self, name: str) -> Tensor | None:
        if not self._has(name):
            raise KeyError(name)
        value = self._target.slots[self._target.cls.slot(name)]
        assert value is None or isinstance(value, Tensor)
        return value

    def __setitem__(self, name: str, value: Tensor | None) -> None:
        if not self._has(name):
            added = f"Can't add a new {self._kind} after ScriptModule construction"
            raise RuntimeError(f"{added}. Tried to add '{name}'")
        self._target.slots[self._target.cls.slot(name)] = value

    def __delitem__(self, name: str) -> None:
        raise RuntimeError(f"cannot remove '{name}' from a scripted module")

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._target.cls.attributes if self._has(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Children(dict[str, Module]):
    """The modules below a scripted one: its class says which there are."""

    def __setitem__(self, name: str, module: Module) -> None:
        raise RuntimeError(
            "Cannot re-assign modules in a ScriptModule with non-scripted module, tried to "
            f"replace existing module '{name}': {module}"
        )


class _Forward:
    """`forward` of a script module is its compiled method, looked up like any other attribute."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else instance.__getattr__("forward")


FINISH: Final[Port[Callable[[Any], None]]] = Port()
"""What compiles an object whose `__init__` has run: see `script`."""


def _finish(module: object) -> None:
    assert FINISH.installed is not None
    FINISH.installed(module)


class ScriptMeta(type):
    """Takes the `script_method`s out of a class body and compiles them when an object is made."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object]) -> None:
        super().__init__(name, bases, namespace)
        methods: dict[str, object] = {}
        for base in reversed(bases):
            methods.update(getattr(base, "_script_methods", {}))
        for key, value in list(namespace.items()):
            if getattr(value, "_rushlight_script_method", False):
                methods[key] = value
                delattr(cls, key)
        cls._script_methods = methods
        if not namespace.get("_compiled", False):
            cls._compile_after_init()

    def _compile_after_init(cls) -> None:
        original: Callable[..., None] = cls.__init__  # type: ignore[misc]

        @functools.wraps(original)
        def initialise(self: object, *args: object, **kwargs: object) -> None:
            original(self, *args, **kwargs)
            made: object = type(self)
            if made is cls:
                _finish(self)

        cls.__init__ = initialise  # type: ignore[misc]


class ScriptModule(Module, metaclass=ScriptMeta):
    """The base class of scripted modules, and the older way to write one:

        class Model(torch.jit.ScriptModule):
            @torch.jit.script_method
            def forward(self, x): ...

    An object of such a class is compiled at the end of its `__init__`; from then on its attributes
    are those of the compiled module.
    """

    _compiled = True
    _not_stateless = "Jitted modules"
    _script_methods: ClassVar[dict[str, object]]
    forward: Any = _Forward()

    if TYPE_CHECKING:  # of the compiled module, where `__getattr__` finds them

        @property
        def graph(self) -> Graph: ...
        @property
        def inlined_graph(self) -> Graph: ...
        def graph_for(self, *args: object, **kwargs: object) -> Graph: ...
        @property
        def code(self) -> str: ...
        @property
        def code_with_constants(self) -> tuple[str, ConstMap]: ...
        def save(
            self, f: str | Path | IO[bytes], _extra_files: Mapping[str, str | bytes] | None = None
        ) -> None: ...
        def save_to_buffer(
            self, _extra_files: Mapping[str, str | bytes] | None = None
        ) -> bytes: ...

    else:
        locals().update(compiled_members(lambda: RecursiveScriptModule))

    def __getattr__(self, name: str) -> Any:
        compiled = self.__dict__.get("_actual_script_module")
        if compiled is None:
            return super().__getattr__(name)
        return getattr(compiled, name)

    def __setattr__(self, name: str, value: object) -> None:
        compiled = self.__dict__.get("_actual_script_module")
        if compiled is None:
            if isinstance(value, Attribute):
                self.__dict__.setdefault("_declared", {})[name] = value.type
                value = value.value
            super().__setattr__(name, value)
        else:
            setattr(compiled, name, value)

    def define(self, src: str) -> None:
        """Add the methods of a text; they see the names of the caller.

        Raises:
            RuntimeError: the code cannot be compiled.
        """
        scope = names_of_frame(1)
        with trimmed():
            compiled = self
            if "_c" not in self.__dict__:
                if type(self) is ScriptModule and "_actual_script_module" not in self.__dict__:
                    _finish(self)
                if "_actual_script_module" not in self.__dict__:
                    # still in `__init__`: compiled with the object, when all attributes are there
                    self.__dict__.setdefault("_texts", []).append((src, scope))
                    return
                compiled = self.__dict__["_actual_script_module"]
            define_methods(compiled.__dict__["_c"].cls, src, scope)


Given = ParamSpec("Given", default=...)
Result = TypeVar("Result", default=Any)


class RecursiveScriptModule(
    ContainerAccess, CompiledConversions, ScriptModule, Generic[Given, Result]
):
    """What `script` makes of a module, and what `load` returns.

    The attributes are those of the script object: reading `m.weight` gives the live Parameter, a
    list comes as a copy, setting one is seen by the compiled code.
    """

    _compiled = True
    _traced_inputs: Mapping[str, list[object]] = types.MappingProxyType({})
    if TYPE_CHECKING:
        _modules: dict[str, Module | None]

    def __init__(self, target: ScriptObject) -> None:
        Module.__init__(self)
        own = self.__dict__
        del own["training"]
        own.pop("_is_full_backward_hook", None)
        own["_c"] = target
        own["_parameters"] = SlotView(target, "parameter")
        own["_buffers"] = SlotView(target, "buffer")
        parts = list(_parts(target))
        if any(_bare(part) and any(map(_bare, dict(_parts(part)).values())) for _, part in parts):
            _wrap_parts(target)  # for each part to be made from here might be too deep
        own["_modules"] = _Children((name, wrap(part)) for name, part in parts)
        for table, hooks in (
            (self._forward_pre_hooks, target.cls.forward_pre_hooks),
            (self._forward_hooks, target.cls.forward_hooks),
        ):
            table.update((number, ScriptHook(hook)) for number, hook in enumerate(hooks))
        target.handle = self
        if target.cls in python_classes:  # exported methods stand before those of Module
            own.update(
                (name, ScriptMethod(target, method))
                for name, method in target.cls.methods.items()
                if name != "forward" and name[:2] != "__" and hasattr(Module, name)
            )

    def _reconstruct(self, cpp_module: ScriptObject) -> None:
        """Become the Python side of another script object; methods that are Python's own stay."""
        object.__setattr__(self, "__dict__", python_methods(self, self._c.cls))
        self.__init__(cpp_module)  # type: ignore[misc]

    def __copy__(self) -> Module:
        return wrap(copy.copy(self._c))

    def __deepcopy__(self, memo: dict[int, object]) -> Module:
        return wrap(copy.deepcopy(self._c, memo))

    @property
    def original_name(self) -> str:
        """The name of the class that was scripted."""
        return str(self._c.cls.name)

    if TYPE_CHECKING:

        def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Result: ...

    else:

        def __call__(self, *args, **kwargs):
            """Call `forward`, with its hooks."""
            own = self.__dict__
            method = own.get("_forward_method")
            try:
                if method is None or ACTIVE or has_hooks(self) or "forward" in own:
                    return self._call_impl(*args, **kwargs)
                target = own["_c"]
                is_it = target.cls.methods.get("forward") is method._rushlight_function
                if not is_it or method.owner is not target:
                    return self._call_impl(*args, **kwargs)
                quick = method._quick
                run = quick.call
                if run is not None and not kwargs and len(args) == quick.count and not quick.words:
                    return run(*args)
                return method(*args, **kwargs)
            except BaseException as error:
                trim_traceback(error)
                raise

    # -- texts

    @property
    def graph(self) -> Graph:
        """The graph of `forward`, calls not inlined.

        Raises:
            RuntimeError: there is no `forward`.
        """
        if "forward" not in self._c.cls.methods:
            raise RuntimeError("Method 'forward' is not defined.")
        return self._script_method("forward").graph

    @property
    def inlined_graph(self) -> Graph:
        """The graph of `forward` with all calls inlined."""
        return self._script_method("forward").inlined_graph

    def graph_for(self, *args: object, **kwargs: object) -> Graph:
        """The graph that runs when `forward` is called; the arguments make no difference here."""
        return self._script_method("forward").graph_for(*args, **kwargs)

    @property
    def code(self) -> str:
        """The source text of `forward`, as archives hold it."""
        return self._script_method("forward").code

    @property
    def code_with_constants(self) -> tuple[str, ConstMap]:
        """`code`, and the values it names `CONSTANTS.c0` and so on."""
        text, constants = self._script_method("forward").code_with_constants
        return text, ConstMap(constants)

    # -- attributes

    def _script_method(self, name: str) -> ScriptMethod:
        function = self._c.cls.method(name)
        if function is None:
            raise AttributeError(f"'{self.original_name}' has no method '{name}'")
        if name != "forward":
            return ScriptMethod(self._c, function)
        kept: ScriptMethod | None = self.__dict__.get("_forward_method")
        if kept is None or kept._rushlight_function is not function or kept.owner is not self._c:
            kept = self.__dict__["_forward_method"] = ScriptMethod(self._c, function)
        return kept

    def __getattr__(self, name: str) -> Any:
        target: ScriptObject | None = self.__dict__.get("_c")
        if target is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        modules = self.__dict__["_modules"]
        if name in modules:
            return modules[name]
        if name in target.cls.attributes:
            wanted = target.cls.attributes[name].type
            value = target.slots[target.cls.slot(name)]
            return from_machine(with_histories(target, value, wanted), wanted)
        if name in target.cls.methods:
            return self._script_method(name)
        if name in target.cls.constants:
            return target.cls.constants[name]
        if name in target.cls.properties:
            return ScriptMethod(target, target.cls.properties[name][0])()
        other = target.cls.other(name)
        if isinstance(other, PythonName) and other.receiver:
            return types.MethodType(other.function.run, self)
        if isinstance(other, FunctionName):
            return ScriptFunction(other.function)
        of_dict = dict_method(self, name)
        if of_dict is not None:
            return of_dict
        raise _no_attribute(self, target.cls, name)

    def __setattr__(self, name: str, value: Any) -> None:
        target: ScriptObject = self.__dict__["_c"]
        if name == "_c":
            RecursiveScriptModule.__init__(self, value)
            return
        setter = target.cls.properties.get(name, (None, None))[1]
        if setter is not None:
            ScriptMethod(target, setter)(value)
            return
        attribute = target.cls.attributes.get(name)
        wanted = attribute.type if attribute is not None else None
        given = getattr(value, "_c", None) if isinstance(value, ScriptModule) else None
        if isinstance(given, ScriptObject) and wanted is not None and name in self._modules:
            target.slots[target.cls.slot(name)] = _fitting(name, given, wanted)
            dict.__setitem__(self._modules, name, value)
        elif name in self._modules:
            self._modules[name] = value
        elif attribute is None:
            if name in target.cls.constants:
                _refuse_constant(name, target.cls.constants[name])
            object.__setattr__(self, name, value)
        elif isinstance(value, Tensor) and is_subtype(TENSOR, attribute.type):
            target.slots[target.cls.slot(name)] = value
        else:
            target.slots[target.cls.slot(name)] = _cast(name, value, attribute.type)
            keep_given(target, value)

    def __delattr__(self, name: str) -> None:
        if name in self._c.cls.attributes or name in self._c.cls.methods:
            raise RuntimeError("cannot delete methods or parameters of a script module")
        object.__delattr__(self, name)

    def __getstate__(self) -> None:
        raise PickleError(
            "a scripted module is not pickled with Python objects: save it with "
            "torch.jit.save(module, file)"
        )

    def __dir__(self) -> list[str]:
        cls: ClassType = self._c.cls
        written = python_classes.get(cls)  # whose names a module of it has in torch
        names = {*super().__dir__(), *cls.attributes, *cls.methods, *dir(written or type(self))}
        return sorted(names)

    # -- archives

    def save(
        self, f: str | Path | IO[bytes], _extra_files: Mapping[str, str | bytes] | None = None
    ) -> None:
        """Write an archive that `rushlight.jit.load` and `torch.jit.load` open.

        A file that is there is replaced when all is written, or stays as it was.

        Raises:
            OSError: the file cannot be written.
        """
        from ..serialization.saving.save import save_archive

        save_archive(self._c, f, _extra_files, self._traced_inputs)

    def save_to_buffer(self, _extra_files: Mapping[str, str | bytes] | None = None) -> bytes:
        """The bytes of the archive."""
        from ..serialization.saving.save import save_to_buffer

        return save_to_buffer(self._c, _extra_files, self._traced_inputs)

    def __reduce_package__(self, exporter: Any) -> tuple[object, tuple[str]]:
        """How a pickle of a package speaks of it: by its number there."""
        from ._script import unpackage_script_module

        return unpackage_script_module, (exporter.add_script_module(self),)

    def _save_for_lite_interpreter(
        self,
        f: str | Path | IO[bytes],
        _extra_files: dict[str, Any] | None = None,
        _save_mobile_debug_info: bool = False,
        _use_flatbuffer: bool = False,
    ) -> None:
        """Write an archive, or a flatbuffer, that the lite interpreter opens as well.

        `_save_mobile_debug_info` has an archive tell where instructions are from, which errors of
        the lite interpreter show then; flatbuffers tell nothing.

        Raises:
            RuntimeError: the module does what the lite interpreter cannot.
            OSError: the file cannot be written.
        """
        with trimmed():
            if _use_flatbuffer:
                from ..serialization.mobile.flatbuffer_save import save_mobile_flatbuffer

                save_mobile_flatbuffer(self._c, f, _extra_files)
            else:
                from ..serialization.mobile.save import save_mobile

                save_mobile(self._c, f, _extra_files, debug=_save_mobile_debug_info)

    def _save_to_buffer_for_lite_interpreter(
        self,
        _extra_files: dict[str, Any] | None = None,
        _save_mobile_debug_info: bool = False,
        _use_flatbuffer: bool = False,
    ) -> bytes:
        """The bytes of such an archive or flatbuffer."""
        with trimmed():
            if _use_flatbuffer:
                from ..serialization.mobile.flatbuffer_save import save_mobile_flatbuffer_to_buffer

                return save_mobile_flatbuffer_to_buffer(self._c, _extra_files)
            from ..serialization.mobile.save import save_mobile_to_buffer

            return save_mobile_to_buffer(self._c, _extra_files, debug=_save_mobile_debug_info)

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


def _refuse_constant(name: str, value: object) -> NoReturn:
    known = format_for_print(tuple(value) if isinstance(value, list) else value)
    raise RuntimeError(f"Can't set constant '{name}' which has value:{known}")


def _fitting(name: str, value: ScriptObject, wanted: Type) -> ScriptObject:
    """The script object of a module that takes another's place.

    Raises:
        RuntimeError: it is of another class, or lacks methods of the interface.
    """
    if isinstance(wanted, InterfaceType):
        try:
            to_machine(value, wanted)
        except CastError as error:
            raise RuntimeError(str(error).removeprefix(_DETAILS)) from None
    elif value.cls is not wanted:
        raise RuntimeError(
            f"Expected a value of type '{_in_unit(wanted)}' for field '{name}', but found "
            f"'{_in_unit(value.cls)}'"
        )
    return value


def _no_attribute(module: Module, cls: ClassType, name: str) -> AttributeError:
    """The error, with a note where the class has a method that was not compiled."""
    kind = type(module).__name__
    error = AttributeError(f"'{kind}' object has no attribute '{name}'", name=name, obj=module)
    written = getattr(python_classes.get(cls), name, None)
    if not name.startswith("_") and inspect.isfunction(written):
        error.add_note(
            f"help: `{name}` is not compiled, since `forward` does not call it: put "
            "`@torch.jit.export` before its `def`"
        )
    return error


def _in_unit(type: Type) -> str:
    return type.in_unit if isinstance(type, ClassType) else type.annotation_str


def _cast(name: str, value: object, type: Type) -> object:
    """The machine value for an attribute.

    Raises:
        RuntimeError: the value is not of the attribute's type.
    """
    try:
        return to_machine(value, type)
    except CastError as error:
        raise RuntimeError(not_castable(name, type, error)) from None


_DETAILS = "Cast error details: "
_RAISED = " Python error details: "


def not_castable(name: str, type: Type, error: CastError) -> str:
    """torch's sentence on a value that an attribute cannot hold."""
    told = str(error).removeprefix(_DETAILS).removeprefix(_RAISED)
    shown = str(type) if isinstance(type, EnumType) else type.annotation_str
    return f"Could not cast attribute '{name}' to type {shown}: {told}"


_OF_MODULES: Final = (ClassType, InterfaceType)


def _parts(target: ScriptObject) -> Iterator[tuple[str, ScriptObject]]:
    """The script objects of the modules in a module's, by name."""
    for (name, attribute), value in zip(target.cls.attributes.items(), target.slots, strict=True):
        if not (isinstance(value, ScriptObject) and value.cls.is_module):
            continue
        if isinstance(attribute.type, _OF_MODULES):
            yield name, value


def _bare(target: ScriptObject) -> bool:
    """Whether the Python module of a script object is still to be made."""
    return not isinstance(target.handle, Module)


def _wrap_parts(target: ScriptObject) -> None:
    """Make the Python modules of all modules in a module, the innermost first.

    Raises:
        BoundExceeded: they lie too deep in each other.
    """

    def bare(each: ScriptObject) -> list[ScriptObject]:
        return [value for _, value in _parts(each) if _bare(value)]

    def made(each: ScriptObject, _: object) -> None:
        if each is not target:
            wrap(each)

    fold(target, bare, made)


def wrap(target: ScriptObject) -> RecursiveScriptModule:
    """The Python module of a script object: the one it has, or a new one."""
    if isinstance(target.handle, RecursiveScriptModule):
        return target.handle
    return RecursiveScriptModule(target)


def member_of(target: ScriptObject, name: str) -> object:
    """A member that script objects have for looking into them, found when first needed."""
    method = target.cls.methods.get(name)
    if method is not None:
        return ScriptMethod(target, method)
    if name == "qualified_name":
        return target.cls.qualified_name
    if name in target.cls.constants:
        return target.cls.constants[name]
    members = importlib.import_module("rushlight._C.script_objects").MEMBERS
    if name not in members:
        raise AttributeError(f"{target.cls.in_unit} does not have a field with name '{name}'")
    return functools.partial(members[name], target)
