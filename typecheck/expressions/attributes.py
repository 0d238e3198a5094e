"""`value.name`: slots, constants, methods, properties of tensors, fields of named tuples."""

from __future__ import annotations

import re

from ...frontend.diagnostics.diagnostics import Edit, Help, Label
from ...frontend.diagnostics.near_miss import near_misses
from ...frontend.foundations.value_class import value_class
from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.places import BaseClass, Place
from ..definitions.class_types import ClassType, InterfaceType
from ..definitions.names import (
    Constant,
    Meaning,
    OverloadedFunction,
    PythonName,
    SpecialForm,
    TypeName,
    Unusable,
)
from ..definitions.schema import Argument, Signature
from ..relations.literals import type_of_value
from ..relations.matching import Given
from ..relations.relations import is_subtype
from ..relations.variables import instantiate, match
from ..reports.corrections import NUMPY_METHODS, in_container
from ..reports.declarations import declare_container
from ..reports.operand_faults import report_optional
from ..reports.reasons import origin
from ..scopes.advice import OF_MODULES
from ..scopes.dispatch import checks, sugared
from ..scopes.idioms import foreign_member
from ..scopes.members import container_method
from ..scopes.scope import Scope
from ..scopes.values import report_unusable, value_of
from ..trees import typed
from ..trees.sugar import (
    CASTS,
    OWNER,
    BoundMethod,
    BoundOperator,
    BoundOverloads,
    BoundPython,
    StaticMethod,
    Sugar,
    describe,
)
from ..types.types import (
    ANY_ENUM,
    DEVICE,
    STRING,
    TENSOR,
    UNKNOWN,
    EnumType,
    FutureType,
    TupleType,
    Type,
)
from .function_calls import call_bound
from .operators import call_operator, has_operator

__all__ = ["Access", "attribute_of", "can_be_asked", "has_attribute", "has_static", "of_property"]

_PRIM = (
    "dtype device grad data is_cuda is_cpu is_xla is_xpu is_sparse is_sparse_csr is_mkldnn is_mps "
    "is_quantized is_vulkan is_ipu is_meta is_mtia is_maia is_nested requires_grad layout name "
    "itemsize nbytes shape ndim T H"
)

_ATEN = "is_leaf retains_grad real imag mT mH output_nr"

_PROPERTIES: dict[Type, dict[str, str]] = {
    TENSOR: {
        **{name: f"prim::{name}" for name in _PRIM.split()},
        **{name: f"aten::{name}" for name in _ATEN.split()},
    },
    DEVICE: {"type": "prim::type", "index": "prim::index"},
}
"""Attributes of tensors and devices that are read without a call."""

_ENUM = (Argument("enum", ANY_ENUM),)


@value_class(frozen=True, slots=True)
class Access:
    """One attribute access as written: the whole of it, its name, and whose it is in `getattr`."""

    span: Span
    name: str
    name_span: Span
    owner: Span | None = None


@checks(tree.Attribute)
def check_attribute(scope: Scope, node: tree.Attribute, hint: Type | None) -> Sugar:
    """What `value.name` stands for."""
    access = Access(node.span, node.name, node.name_span)
    found = attribute_of(scope, sugared(scope, node.value), access)
    return of_property(scope, found, node)


def attribute_of(scope: Scope, owner: Sugar, access: Access) -> Sugar:
    """What the attribute of something already checked stands for; a missing one is reported."""
    if isinstance(owner, Constant):
        owner = value_of(scope, owner, access.span)
    if isinstance(owner, typed.Expr):
        return _of_value(scope, owner, access)
    if isinstance(owner, TypeName):
        return _of_type(scope, owner, access)
    member = getattr(owner, "member", None)
    if member is not None:
        found: Sugar | None = member(access.name, access.name_span)
        return found if found is not None else _missing_member(scope, owner, access)
    if isinstance(owner, Unusable):
        span = access.owner or _before_the_dot(access)
        report_unusable(scope, owner, span, purpose=OWNER, torch_span=access.span)
        return scope.unknown(access.span)
    scope.report(
        "missing-attribute",
        f"`{access.span.text}`: a function has no attributes in script",
        access.span,
        "read here",
        torch=f"attribute lookup is not defined on {describe(owner)}",
    )
    return scope.unknown(access.span)


def _before_the_dot(access: Access) -> Span:
    place, end = access.span.whole, access.name_span.whole.start
    named = place.source.text[place.start : end].rstrip(". \n\\")
    return Span(place.source, place.start, place.start + len(named))


def has_attribute(value: typed.Expr, name: str) -> bool:
    """Whether an object has the attribute or method, for `hasattr`; properties and static methods
    do not count, as in torch."""
    type = value.type
    if isinstance(type, ClassType):
        if name in type.properties or name in type.static_methods:
            return False
        if name in type.attributes or name in type.constants or type.method(name) is not None:
            return True
        return type.other(name) is not None
    return name in type.fields or type.method(name) is not None


def can_be_asked(scope: Scope, value: typed.Expr, span: Span, torch_span: Span) -> bool:
    """Whether `hasattr` knows the names that a value has; a report if it does not."""
    type = value.type
    if type.is_class or type.is_interface or type is UNKNOWN:
        return True
    torch = f"an object or NamedTuple, got {scope.torch_type(value)} instead"
    if type.tuple_of is not None:
        if type.fields:
            return True
        torch = f"a object or NamedTuple, but got a normal Tuple {type.annotation_str} instead"
    scope.report(
        "argument-type",
        f"`hasattr`, and `getattr` with a default, are about objects, not `{type.python}`",
        span,
        f"this is `{type.python}`",
        torch=f"hasattr's first argument must be {torch}",
        torch_span=torch_span,
    )
    return False


def has_static(type: ClassType, name: object) -> bool:
    """Whether a class itself, not its objects, has the member, for `hasattr`."""
    if not isinstance(name, str):
        return False
    return name in type.static_methods or type.method(name) is not None


# ------------------------------------------------------------------------------- values


def _of_value(scope: Scope, value: typed.Expr, access: Access) -> Sugar:
    type, name, span = value.type, access.name, access.span
    if type is UNKNOWN:
        return scope.unknown(span)
    if isinstance(type, FutureType) and type.kind == "Await":  # stands for its result
        result = call_operator(scope, "prim::awaitable_wait", Given([value]), span)
        return _of_value(scope, result, access)
    if isinstance(type, ClassType):
        return _of_object(scope, value, type, access)
    if isinstance(type, InterfaceType) and name in type.methods:
        return BoundMethod(value, name, type.methods[name])
    if name in type.fields:
        index = type.fields.index(name)
        return typed.TupleIndex(span, type.contained[index], value, index)
    if isinstance(type, EnumType) and name in ("name", "value"):
        return _of_enum(value, type, access)
    operator = _PROPERTIES.get(type, {}).get(name)
    if operator is not None and has_operator(scope, operator):
        return call_operator(scope, operator, Given([value]), NOWHERE)
    is_opaque = type.optional_of is not None or type.tuple_of is not None
    if not is_opaque and _takes(scope, f"aten::{name}", type):
        return BoundOperator(value, name, span)
    if type == TENSOR and name in CASTS:
        return BoundOperator(value, name, span)
    if type == TENSOR and name == "type":
        return BoundOperator(value, "to", span)
    return _missing_on_value(scope, value, access)


def _of_object(scope: Scope, value: typed.Expr, cls: ClassType, access: Access) -> Sugar:
    name, span = access.name, access.span
    if name in cls.attributes:
        return typed.GetAttribute(span, cls.attributes[name].type, value, name)
    if name in cls.constants:
        return _constant(cls.constants[name], span)
    if name in cls.static_methods:
        return StaticMethod(cls.static_methods[name])
    if name in cls.properties:
        getter = cls.properties[name][0]
        return BoundMethod(value, getter.name, getter)
    found = container_method(value, name, span)
    method = cls.method(name) if found is None else None
    if method is not None:
        return BoundMethod(value, name, method)
    found = found or _other(value, cls.other(name))
    if found is not None:
        return found
    _report_missing_attribute(scope, cls, access)
    return scope.unknown(span)


def _other(value: typed.Expr, found: Meaning | None) -> Sugar | None:
    """What an attribute stands for that is neither a slot nor a compiled method."""
    if isinstance(found, PythonName) and found.receiver:
        return BoundPython(value, found)
    if isinstance(found, OverloadedFunction) and found.functions[0].owner is not None:
        return BoundOverloads(value, found.functions)
    return found


def _of_enum(value: typed.Expr, type: EnumType, access: Access) -> Sugar:
    known = value.literal
    if isinstance(known, typed.EnumMember):
        if access.name == "name":
            return typed.Literal(NOWHERE, STRING, known.name)
        return typed.Literal(NOWHERE, type.value, known.value)
    if access.name == "name":
        result: Type = STRING
        signature = Signature("prim::EnumName", "", _ENUM, (Argument("", STRING),))
    else:
        overload, returned = str(type.value), (Argument("", type.value),)
        signature = Signature("prim::EnumValue", overload, _ENUM, returned)
        result = type.value
    return typed.OperatorCall(NOWHERE, result, signature, (value,), (typed.Given(0),))


# -------------------------------------------------------------------------------- types


def _of_type(scope: Scope, owner: TypeName, access: Access) -> Sugar:
    type, name, span = owner.type, access.name, access.span
    for member, value in type.enum_members:
        if member == name:
            return typed.Literal(span, type, typed.EnumMember(member, value))
    if isinstance(type, ClassType):
        if name == "__new__":
            return SpecialForm("__new__")
        if name in type.static_methods:
            return StaticMethod(type.static_methods[name])
    found = owner.inside.member(name, access.name_span) if owner.inside is not None else None
    if found is not None:
        return found
    scope.report(
        "missing-attribute",
        f"`{type.python}` has no attribute `{name}`",
        access.name_span,
        "no such attribute",
        torch=_no_attribute(type, name),
        torch_span=span,
    )
    return scope.unknown(span)


# ------------------------------------------------------------------------------- errors


def _no_attribute(type: Type, name: str) -> str:
    if type.tuple_of is not None:
        return f"attribute lookup is not defined on {type.annotation_str}"
    if type.is_enum:
        return f"{type}' has no attribute '{name}'"
    return f"{type.annotation_str} has no attribute '{name}'"


def _missing_member(scope: Scope, owner: Sugar, access: Access) -> Sugar:
    title = str(getattr(owner, "title", "module"))
    names = list(getattr(owner, "names", list)())
    scope.report(
        "missing-attribute",
        f"`{title}` has no member `{access.name}`",
        access.name_span,
        "no such member",
        torch=getattr(owner, "refusal", f"object has no attribute {access.name}"),
        torch_span=access.span,
        helps=scope.near(access.name, names, access.name_span),
    )
    return scope.unknown(access.span)


def _missing_on_value(scope: Scope, value: typed.Expr, access: Access) -> Sugar:
    if value.type.optional_of is not None:
        torch = f"'{scope.torch_type(value)}' object has no attribute or method '{access.name}'."
        report_optional(scope, f".{access.name}", value, access.span, torch)
        return scope.unknown(access.span)
    candidates = [
        name.rpartition("::")[2]
        for name in scope.table.names()
        if name.startswith("aten::") and "__" not in name and _is_method(scope, name, value)
    ]
    candidates.extend(_PROPERTIES.get(value.type, {}))
    if value.type.tuple_of is not None:
        candidates = list(value.type.fields)
    scope.report(
        "missing-attribute",
        f"`{value.type.python}` has no attribute or method `{access.name}`",
        access.name_span,
        "no such method" if _is_called(access) else "no such attribute",
        torch=f"'{scope.torch_type(value)}' object has no attribute or method '{access.name}'.",
        torch_span=access.span,
        secondary=tuple(origin(scope, value)) if value.type != TENSOR else (),
        helps=_meant(scope, value, access, candidates),
    )
    return scope.unknown(access.span)


def _meant(
    scope: Scope, value: typed.Expr, access: Access, candidates: list[str]
) -> tuple[Help, ...]:
    name = NUMPY_METHODS.get(access.name) if value.type == TENSOR else None
    if name is not None and _is_called(access):
        return (Help(f"did you mean `{name}`?", (Edit(access.name_span, name),), "machine"),)
    helps = foreign_member(value.type, access.name, access.span, access.name_span)
    return helps or scope.near(access.name, candidates, access.name_span)


def _is_called(access: Access) -> bool:
    """Whether a parenthesis follows the name."""
    span = access.name_span
    return span.source.text[span.end : span.end + 1] == "("


def _report_missing_attribute(scope: Scope, cls: ClassType, access: Access) -> None:
    name = access.name
    if (cls.qualified_name, name) in scope.told:
        return
    scope.told.add((cls.qualified_name, name))
    base = cls.bases[0]() if cls.bases else None
    if base is not None and (inherited := cls.place(name)) is not None:
        _report_inherited(scope, cls, access, inherited, base)
        return
    reason = cls.missing.get(name, "")
    candidates = [*cls.attributes, *cls.constants, *cls.methods, *cls.static_methods]
    close = near_misses(name, candidates)
    helps = tuple(
        Help(f"did you mean `{c}`?", (Edit(access.name_span, c),), "machine") for c in close
    )
    if cls.is_module:
        torch = f"Module '{cls.name}' has no attribute '{name}' {reason}"
    else:
        hint = reason or "Did you forget to initialize an attribute in __init__()?"
        torch = f"'{cls}' object has no attribute or method '{name}'. {hint}"
    used = [] if cls.is_module else _used_label(scope, cls)
    label = "no such attribute"
    if cls.is_module and not reason and name in OF_MODULES:
        label = "modules have it in Python alone"
    elif reason:
        label = "not kept in the compiled module"
    elif cls.is_module:
        label = "no such attribute, parameter, buffer, submodule or method"
    place = cls.place(name) if reason else cls.place(close[0]) if close else None
    text = "set here" if reason else f"`{close[0]}` is set here" if close else ""
    scope.report(
        "attribute-not-converted" if reason else "missing-attribute",
        f"`{cls.name}` has no attribute `{name}`",
        access.span,
        label,
        torch=torch,
        secondary=(*([Label(place.target, text)] if place is not None else []), *used),
        notes=(_left_out(reason),) if reason else (),
        helps=_declare_help(scope, reason, name, place) if reason else helps or _of_python(name),
    )


def _report_inherited(
    scope: Scope, cls: ClassType, access: Access, place: Place, base: BaseClass
) -> None:
    """Report an attribute that a base class would set."""
    text = f"`{place.holder}` sets it, but the bases of a scripted class are ignored"
    labels = [Label(place.target, text), Label(base.name, "the ignored base class")]
    scope.report(
        "missing-attribute",
        f"`{cls.name}` has no attribute `{access.name}`",
        access.span,
        "no such attribute",
        torch=f"'{cls}' object has no attribute or method '{access.name}'. "
        "Did you forget to initialize an attribute in __init__()?",
        secondary=(*labels, *_used_label(scope, cls)),
        notes=(
            "only `torch.nn.Module` subclasses, `Enum`, `NamedTuple` and exceptions keep "
            "their base class",
        ),
        helps=(Help(f"put the members of `{place.holder}` in `{cls.name}`", base.moved),),
    )


def _used_label(scope: Scope, cls: ClassType) -> list[Label]:
    """Why a class is compiled at all, if a function's use of it is the reason."""
    for demand in reversed(scope.collector.demands):
        if demand.callee == cls.qualified_name:
            text = f"`{cls.name}` is compiled because it is used here"
            return [Label(demand.span.whole, text)]
    return []


def _takes(scope: Scope, name: str, type: Type) -> bool:
    """Whether an overload of an operator has a `self` of the type."""
    for signature in scope.table.overloads(name):
        for argument in signature.arguments:
            if argument.name == "self":
                bound: dict[str, Type] = {}
                reason = match(argument.type, type, bound)
                wanted = None if reason else instantiate(argument.type, bound)
                if wanted is not None and is_subtype(type, wanted):
                    return True
    return False


def _is_method(scope: Scope, name: str, value: typed.Expr) -> bool:
    """Whether an operator's self could be the value."""
    for signature in scope.table.overloads(name):
        if signature.arguments and signature.arguments[0].name == "self":
            first = signature.arguments[0].type
            if first == value.type or type(first) is type(value.type) is not type(TENSOR):
                return True
    return False


def _constant(value: object, span: Span) -> typed.Expr:
    """A constant that is compiled in; of a tuple every element is a constant of its own."""
    if isinstance(value, tuple):
        elements = tuple(_constant(element, span) for element in value)
        return typed.TupleLiteral(span, TupleType(tuple(e.type for e in elements)), elements)
    return typed.Literal(span, type_of_value(value), value)


def _left_out(reason: str) -> str:
    """Why an attribute was left out, in other words than torch's where those mislead."""
    if "List trace inputs must have elements" in reason:
        return "an empty list does not say what it will hold, so it has no type"
    if "Dictionary inputs must have entries" in reason:
        return "an empty dict does not say what it will hold, so it has no type"
    found = re.search(r"instead got value of type (\w+)", reason)
    if found is not None and found[1] == "type":
        return "a class is no value in script"
    if found is not None:
        return f"a `{found[1]}` has no type in script"
    found = re.search(r"must have consistent type. Found (\S+) and (\S+?)\.? ", reason)
    if found is not None:
        return f"its values are of different types: `{found[1]}` and `{found[2]}`"
    if _HOLDS_MODULES in reason:
        return "the modules in a list or dict of Python are no submodules"
    return reason.strip(" ()")


_HOLDS_MODULES = "Cannot infer concrete type of torch.nn.Module"


def _declare_help(scope: Scope, reason: str, name: str, place: Place | None) -> tuple[Help, ...]:
    """How to declare an attribute that says nothing of its type, or what to keep in its place."""
    if "List trace inputs must have elements" in reason:
        return declare_container(scope, name, place, "list")
    if "Dictionary inputs must have entries" in reason:
        return declare_container(scope, name, place, "dict")
    if _HOLDS_MODULES in reason:
        return in_container(place)
    if "instead got value of type ndarray" in reason and place is not None and place.value:
        value = place.value.whole
        edit = Edit(value, f"torch.from_numpy({value.text})")
        known = scope.resolver.lookup("torch", scope.tree.span) is not None
        return (Help("keep a tensor", (edit,) if known else ()),)
    if "instead got value of type" in reason or "must have consistent type" in reason:
        return (Help("keep the values that scripted code needs as attributes of their own"),)
    return ()


def _of_python(name: str) -> tuple[Help, ...]:
    """What to do where a module has a method in Python alone."""
    text = OF_MODULES.get(name)
    return () if text is None else (Help(text),)


def of_property(scope: Scope, found: Sugar, node: tree.Attribute) -> Sugar:
    """The call of the getter, if an attribute is a property."""
    if isinstance(found, BoundMethod) and isinstance(found.receiver.type, ClassType):
        getter = found.receiver.type.properties.get(node.name)
        if getter is not None and getter[0] is found.function:
            call = tree.Call(node.span, node, (), ())
            return call_bound(scope, found, Given([]), call)
    return found
