"""What the names in a live function stand for.

Names are looked up where Python would: closure, globals, builtins.  Whatever is found is described
to the checker in the terms of `typecheck.names`; Python functions are handed on to be compiled.
"""

from __future__ import annotations

import builtins
import enum
import functools
import inspect
import math
import sys
import types
import typing
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..autograd.function import Function as Differentiated
from ..frontend.diagnostics.diagnostics import Demand, Diagnostic, Label
from ..frontend.diagnostics.exceptions import exception_for
from ..frontend.diagnostics.torch_text import highlight
from ..frontend.foundations.declared import Declared
from ..frontend.foundations.port import Port
from ..frontend.sources.source import Span
from ..frontend.syntax.from_python import comment_types
from ..frontend.syntax.ignored_blocks import IGNORED_BLOCKS
from ..frontend.syntax.places import global_place
from ..interpreter.running import tiers
from ..interpreter.values.inward import CastError
from ..interpreter.values.objects import python_classes
from ..interpreter.values.values import to_machine
from ..legacy_tensors import TensorClass
from ..nn.flag_dispatch import FlagDispatch
from ..nn.modules.module import Module
from ..ops.eager.packets import Namespace as OperatorNamespace
from ..ops.eager.packets import Packet as OperatorPacket
from ..ops.memory.dtype import Device, DType, Layout, MemoryFormat, QScheme
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.class_types import ClassType
from ..typecheck.definitions.functions import Function, PythonFunction
from ..typecheck.definitions.names import (
    Constant,
    ExceptionClass,
    FlaggedFunction,
    FunctionName,
    Meaning,
    OperatorName,
    OverloadedFunction,
    PythonName,
    SpecialForm,
    TypeName,
    Unusable,
)
from ..typecheck.definitions.schema import Argument, Signature
from ..typecheck.trees.typed import EnumMember
from ..typecheck.types.types import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    STRING,
    TENSOR,
    Type,
)
from . import decorators
from .builtin_functions import builtin_meaning
from .overloads import overloads_of
from .python_types import names_a_type, type_of_annotation, type_of_class, unknown_field
from .qualified_names import qualified_name
from .session import compiling
from .shared_types import first_type_of
from .unusable_values import is_compiled, unusable

__all__ = ["LiveNamespace", "LiveResolver", "register_special"]

CompileFunction = Callable[[Callable[..., object]], Function]

_SPECIAL: Final[Declared[int, tuple[object, Meaning]]] = Declared()


def register_special(value: object, meaning: Meaning) -> None:
    """Give an object of the public face (`torch.jit.annotate`) a meaning of its own."""
    _SPECIAL.put([id(value)], (value, meaning))


@dataclass
class LiveResolver:
    """The names a function sees: `scope` first (names of the frame that defines a class), then its
    closure, globals and the builtins.  `compile` makes a `Function` of a Python function."""

    function: Callable[..., object]
    compile: CompileFunction
    scope: Mapping[str, object] = field(default_factory=dict)

    def _environments(self) -> Iterable[Mapping[str, object]]:
        function = inspect.unwrap(self.function)
        function = getattr(function, "__func__", function)
        yield self.scope
        yield _closure(function)
        yield getattr(function, "__globals__", {})
        yield vars(builtins)

    def lookup(self, name: str, span: Span) -> Meaning | None:
        """See `typecheck.names.Resolver`."""
        for environment in self._environments():
            if name in environment:
                _check_fields(environment[name], span)
                with self._demanding(environment[name], span):
                    found = meaning_of(environment[name], self.compile, constant=False)
                return self._placed(found, name)
        return self._ignored_block(name) if name in IGNORED_BLOCKS else None

    def _ignored_block(self, name: str) -> PythonName:
        """The function that holds a block left to Python; it sees the names that the block sees."""
        found: dict[str, object] = dict(vars(typing))
        for environment in reversed(list(self._environments())):
            found.update(environment)
        exec(IGNORED_BLOCKS[name], found)
        return python_name(found[name])

    @contextmanager
    def _demanding(self, value: object, span: Span) -> Iterator[None]:
        """While a class is compiled for its use here, diagnostics say so."""
        if not isinstance(value, type) or value.__module__ == "builtins":
            yield
            return
        with compiling() as collector:
            function = inspect.unwrap(self.function)
            caller = str(getattr(function, "__name__", "function"))
            collector.demands.append(Demand(qualified_name(value), caller, span, span))
            try:
                yield
            finally:
                collector.demands.pop()

    def _placed(self, found: Meaning, name: str) -> Meaning:
        """What cannot be used, with the line of the file that makes it."""
        function = inspect.unwrap(self.function)
        code = getattr(function, "__code__", None)
        if not isinstance(found, Unusable) or code is None or found.code != "global-value":
            return found
        if name not in getattr(function, "__globals__", {}):
            shown = "`{name}` belongs to the enclosing function: scripted code cannot read it"
            return replace(found, message=shown)
        return replace(found, place=global_place(code.co_filename, name))

    def default_of(self, parameter: str, type: Type) -> Constant | None:
        """See `typecheck.names.LiveDefaults`."""
        function = inspect.unwrap(self.function)
        given = inspect.signature(function).parameters.get(parameter)
        if given is None or given.default is given.empty:
            return None
        if isinstance(given.default, Tensor):
            return Constant(given.default._array, TENSOR) if type == TENSOR else None
        try:
            return Constant(to_machine(given.default, type), type)
        except (CastError, RuntimeError, TypeError, ValueError):
            return None

    def shown(self, written: str) -> str | None:
        """See `typecheck.names.LiveAnnotations`."""
        try:
            return repr(eval(written, dict(ChainMap(*map(dict, self._environments())))))
        except Exception:  # whatever the user's classes raise
            return None

    def names(self) -> Iterable[str]:
        """See `typecheck.names.Resolver`."""
        found: dict[str, None] = {}
        for environment in self._environments():
            found.update(dict.fromkeys(environment))
        return found


def builtin_names() -> Mapping[str, object]:
    """The names of Python itself."""
    return vars(builtins)


def _closure(function: Callable[..., object]) -> dict[str, object]:
    cells = getattr(function, "__closure__", None) or ()
    names = function.__code__.co_freevars if cells else ()
    found: dict[str, object] = {}
    for name, cell in zip(names, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


@dataclass
class LiveNamespace:
    """A Python module, or anything else with attributes that script may read."""

    target: object
    compile: CompileFunction

    @property
    def title(self) -> str:
        name = getattr(self.target, "__name__", type(self.target).__name__)
        first, dot, rest = name.partition(".")
        return f"torch{dot}{rest}" if first == "rushlight" else name

    def member(self, name: str, span: Span) -> Meaning | None:
        """See `typecheck.names.Namespace`.  Numbers and strings of modules are constants."""
        try:
            value = getattr(self.target, name)
        except AttributeError:
            return None
        _check_fields(value, span)
        return meaning_of(value, self.compile, constant=True)

    def names(self) -> Iterable[str]:
        """See `typecheck.names.Namespace`."""
        return dir(self.target)


def _check_fields(value: object, span: Span) -> None:
    """Refuse a NamedTuple class with a field whose type is none of the language's.

    Raises:
        ValueError: it is one.
    """
    found = unknown_field(value)
    if found is None:
        return
    message = f"the field `{found[0]}` of `{span.text}` has a type that script does not know"
    text = f"{found[1]}{highlight(span)}"
    label = Label(span, "used here")
    raise exception_for(
        [Diagnostic("unknown-type", message, label, exception="ValueError", torch_text=text)]
    )


def meaning_of(value: object, compile: CompileFunction, *, constant: bool) -> Meaning:
    """What a live object means in script.

    A plain number or string is only usable if it is a member of a module (`constant`), since a
    global may change after compilation.
    """
    if isinstance(value, TypeName):
        return value
    special = _SPECIAL.get(id(value)) if not isinstance(value, int | float | str) else None
    if special is not None and special[0] is value:
        return special[1]
    if value is breakpoint and tiers.is_debugging():
        return _STOP
    if isinstance(value, type) and issubclass(value, Differentiated):
        return DifferentiatedClass(value, compile)
    known = builtin_meaning(value) or _library_class(value) or _annotation(value)
    known = known or _value(value, constant)
    if known is not None:
        return known
    operator = getattr(value, "operator_name", None)
    if isinstance(operator, str):
        return OperatorName(operator)
    if isinstance(value, type) and issubclass(value, Module):
        return ModuleClass(value, compile)
    applied = getattr(value, "__self__", None)
    if isinstance(applied, type) and issubclass(applied, Differentiated):
        return _applied(applied)
    if isinstance(value, types.ModuleType | OperatorNamespace):
        return LiveNamespace(value, compile)
    if isinstance(value, OperatorPacket):
        return OperatorName(value._name)
    called = _python_module(value) if isinstance(value, Module) and not is_compiled(value) else None
    return _function(value, compile) or unusable(value, called)


@dataclass(frozen=True)
class LiveClass:
    """A class of live code, whose static methods can be called."""

    cls: type
    compile: CompileFunction

    @property
    def title(self) -> str:
        return self.cls.__name__

    def member(self, name: str, span: Span) -> Meaning | None:
        """See `typecheck.names.Namespace`."""
        found = inspect.getattr_static(self.cls, name, None)
        if isinstance(found, staticmethod):
            return FunctionName(self.compile(found.__func__))
        return None

    def names(self) -> Iterable[str]:
        """See `typecheck.names.Namespace`."""
        return [n for n, v in vars(self.cls).items() if isinstance(v, staticmethod)]

    @property
    def refusal(self) -> str:
        """Torch's sentence about a member."""
        kind = type(self.cls).__name__
        return f"attribute lookup is not defined on python value of type '{kind}'"


class ModuleClass(LiveClass):
    """A class of modules, which `isinstance` knows."""

    @property
    def as_type(self) -> Type | None:
        """What it means in an annotation."""
        return first_type_of(self.cls)

    def has_instance(self, type: Type) -> bool:
        """Whether a live module of a type is of this class."""
        origin = python_classes.get(type) if isinstance(type, ClassType) else None
        return origin is not None and issubclass(origin, self.cls)


class DifferentiatedClass(LiveClass):
    """A `Function` of autograd's, whose `apply` is left to Python."""

    def member(self, name: str, span: Span) -> Meaning | None:
        """See `typecheck.names.Namespace`."""
        return _applied(self.cls) if name == "apply" else super().member(name, span)


def _applied(cls: type[Differentiated]) -> PythonName:
    """What autograd's `apply` is in script, a function of a tensor and whatever comes after it."""
    known = Signature(
        "Function.apply", "", (Argument("cls", TENSOR),), (Argument("0", TENSOR),), vararg=True
    )
    return PythonName(PythonFunction(cls.__name__, cls.apply, known, is_typed=False))


def _library_class(value: object) -> Meaning | None:
    """Classes such as `torch.finfo`: what is called `torch.x` is an operator or a type."""
    own = __name__.partition(".")[0]
    is_context = hasattr(value, "__enter__")  # these are classes of scripts
    if not isinstance(value, type) or names_a_type(value) or is_context:
        return None
    name: str = value.__name__
    if value.__module__.partition(".")[0] not in (own, "torch"):
        return None
    return OperatorName(f"aten::{name}") if getattr(sys.modules[own], name, 0) is value else None


def _annotation(value: object) -> Meaning | None:
    """Names that stand for types, and the generic ones of `typing`."""
    for word in ("List", "Dict", "Tuple", "Optional", "Union", "Any", "Final"):
        if value is getattr(typing, word):
            return SpecialForm(word)
    if isinstance(value, type) and issubclass(value, BaseException):
        return ExceptionClass(f"{value.__module__}.{value.__name__}")
    if isinstance(value, TensorClass):
        return TypeName(TENSOR, value.dtype.number)
    found = type_of_class(value)
    if found is None and typing.get_origin(value) is not None:
        found = type_of_annotation(value)
    return TypeName(found) if found is not None else None


_CONSTANTS: list[tuple[type, Type]] = [
    (bool, BOOL),
    (int, INT),
    (float, FLOAT),
    (complex, COMPLEX),
    (str, STRING),
    (type(None), NONE),
]


def _value(value: object, constant: bool) -> Meaning | None:
    if value is math.inf:
        return Constant(value, FLOAT)
    if isinstance(value, enum.Enum):
        type = type_of_class(value.__class__)
        return Constant(EnumMember(value.name, value.value), type) if type is not None else None
    if constant:
        if isinstance(value, DType | Layout | MemoryFormat | QScheme):
            return Constant(value.number, INT)
        if isinstance(value, Device):
            return Constant(value, DEVICE)
        for cls, type in _CONSTANTS:
            if isinstance(value, cls):
                return Constant(value, type)
    return None


OVERLOADS: Final[Port[Callable[[Any, Sequence[Any]], tuple[Function, ...]]]] = Port()
"""What compiles a function of several signatures: see `compile`."""


def python_name(python: Any, *, receiver: Type | None = None, dropped: bool = False) -> PythonName:
    """A function left to Python; with a receiver, a method that gets its object first.

    As in torch, the annotations or a `# type:` comment are all that is known of it; without any all
    is tensors.  `*args` are as many tensors as are given.

    Raises:
        RuntimeError: the comment cannot be used, or a method has no `self`.
    """
    function = python if receiver is None else getattr(python, "__func__", python)
    signature = inspect.signature(function)
    parameters = [
        p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if receiver is not None and not parameters:
        raise RuntimeError("Non-static method does not have a self argument")
    types, returned, is_typed = _python_types(function, signature, len(parameters), receiver)
    arguments = [
        Argument(p.name, type, keyword_only=p.kind is p.KEYWORD_ONLY)
        for p, type in zip(parameters, types, strict=True)
    ]
    name = str(getattr(function, "__name__", "python"))
    takes_more = any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values())
    known = Signature(
        name,
        "",
        tuple(arguments),
        (Argument("0", returned),),
        vararg=takes_more,
    )
    made = PythonFunction(name, function, known, is_typed)
    return PythonName(made, receiver is not None, dropped)


def _python_types(
    function: Callable[..., object], signature: inspect.Signature, count: int, receiver: Type | None
) -> tuple[list[Type], Type, bool]:
    """The types of a function's parameters and of its result, and whether it says any."""
    annotations: list[object] = [
        p.annotation
        for p in signature.parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    returned: object = signature.return_annotation
    own = [] if receiver is None else [receiver]
    if all(a is inspect.Parameter.empty for a in (*annotations[len(own) :], returned)):
        written = getattr(function, "__func__", function)
        comment = comment_types(written) if inspect.isfunction(written) else None
        if comment is None:
            return [*own, *[TENSOR] * (count - len(own))], TENSOR, False
        annotations, result = [*own, *comment[0]], comment[1]
        returned = inspect.Parameter.empty if result is None else result
        if len(annotations) != count:
            raise RuntimeError(
                f"Number of type annotations ({len(comment[0])}) did not match the number of "
                f"function parameters ({count - len(own)})"
            )
    names = {**vars(typing), **getattr(function, "__globals__", {})}
    names.update(
        inspect.getclosurevars(function).nonlocals if hasattr(function, "__code__") else {}
    )
    names.setdefault("Tensor", Tensor)
    types = [_annotated(a, names) for a in annotations[len(own) :]]
    return [*own, *types], _annotated(returned, names), True


def python_partial(python: functools.partial[object]) -> PythonName:
    """A partial application, which is left to Python: it takes and gives tensors."""
    try:
        places = [
            p.name
            for p in inspect.signature(python).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        ]
    except ValueError:  # a builtin function says nothing
        places = []
    arguments = tuple(Argument(name, TENSOR) for name in places)
    signature = Signature("<python_value>", "", arguments, (Argument("", TENSOR),), vararg=True)
    return PythonName(PythonFunction("<python_value>", python, signature))


def _annotated(annotation: object, names: Mapping[str, object]) -> Type:
    if annotation is inspect.Parameter.empty:
        return TENSOR
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, dict(names))
        except (NameError, AttributeError, SyntaxError, TypeError):
            return TENSOR
    return type_of_annotation(annotation) or ANY


def _python_module(module: Module) -> PythonName:
    """The call of a module that is part of no scripted one, which is left to Python."""
    signature = Signature(
        "<python_value>", "", (Argument("self", TENSOR),), (Argument("", TENSOR),), vararg=True
    )
    return PythonName(PythonFunction("<python_value>", module, signature))


def _stand_in(other: object, compile: CompileFunction) -> Meaning:
    """What script takes for a function: a form, an operator, a function, or several of these to
    choose from."""
    if isinstance(other, str):
        return OperatorName(other) if "::" in other else SpecialForm(other)
    functions = [compile(one) for one in (other if isinstance(other, tuple) else (other,))]
    for function in functions:
        function.is_inlined = True
    return (
        FunctionName(functions[0]) if len(functions) == 1 else OverloadedFunction(tuple(functions))
    )


def _flagged(value: FlagDispatch, compile: CompileFunction) -> FlaggedFunction:
    """What flags choose among, one flag after the other."""
    if_true, if_false = (
        _flagged(each, compile) if isinstance(each, FlagDispatch) else compile(each)
        for each in (value.if_true, value.if_false)
    )
    return FlaggedFunction(value.flag, value.place, if_true, if_false)


def _function(value: object, compile: CompileFunction) -> Meaning | None:
    scripted = getattr(value, "_rushlight_function", None)
    if isinstance(scripted, Function):
        return FunctionName(scripted)
    mark = decorators.modifier(value)
    is_marked = mark in (decorators.IGNORE, decorators.UNUSED)
    if is_marked and callable(value) and not isinstance(value, type):
        return python_name(value, dropped=mark == decorators.UNUSED)
    other = getattr(value, "_in_script", None)
    if other is not None:
        return _stand_in(other, compile)
    scripted_as = getattr(value, "_scripted_as", None)
    if scripted_as is not None:
        return _function(scripted_as, compile)
    if isinstance(value, FlagDispatch):
        return _flagged(value, compile)
    declared = overloads_of(value) if inspect.isfunction(value) else []
    if declared and OVERLOADS.installed is not None:
        return OverloadedFunction(OVERLOADS.installed(value, declared))
    if inspect.isfunction(value):
        return FunctionName(compile(value))
    if isinstance(value, functools.partial):
        return python_partial(value)
    if isinstance(value, type):
        return None
    call = inspect.getattr_static(type(value), "__call__", None)
    mark = decorators.modifier(call)
    if mark in (decorators.IGNORE, decorators.UNUSED):  # an object that is called
        bound = types.MethodType(typing.cast("Callable[..., Any]", call), value)
        return python_name(bound, dropped=mark == decorators.UNUSED)
    return None


_STOP: Final = PythonName(
    PythonFunction("breakpoint", breakpoint, Signature("breakpoint", "", (), (Argument("", NONE),)))
)
