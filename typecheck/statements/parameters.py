"""The parameters of a function, and their defaults."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...frontend.diagnostics.diagnostics import Help
from ...frontend.syntax import tree
from ..definitions.class_types import ClassType
from ..definitions.functions import Function
from ..definitions.names import Constant, LiveDefaults, TextDefaults
from ..definitions.schema import NO_DEFAULT, Argument
from ..relations.literals import LARGEST_INT, type_of_value
from ..relations.relations import is_subtype
from ..reports.corrections import annotated_default, default_in_body, may_be_none
from ..reports.reasons import article
from ..scopes.annotations import broadcast_size
from ..scopes.environment import Variable
from ..scopes.scope import Scope
from ..types.types import ANY, FLOAT, INT, TENSOR, UNKNOWN, Type

__all__ = ["argument_of", "check_parameter"]


def check_parameter(scope: Scope, node: tree.Parameter, index: int) -> tuple[tree.Parameter, Type]:
    """Define a parameter, and give its type."""
    inferred = node.annotation is None
    if index == 0 and scope.self_type is not None and inferred:
        type: Type = scope.self_type
        inferred = False
    else:
        state = _state_type(scope, index) if inferred else None
        inferred = inferred and state is None
        type = state if state is not None else scope.annotations.read(node.annotation)
    if scope.frame.find(node.name) is None:
        scope.define(Variable(node.name, type, node.span, parameter=True, inferred=inferred))
    return node, type


def _state_type(scope: Scope, index: int) -> Type | None:
    """The type of what `__setstate__` takes: what `__getstate__` returns."""
    owner = scope.self_type
    if index != 1 or scope.tree.name != "__setstate__" or not isinstance(owner, ClassType):
        return None
    giver = owner.method("__getstate__")
    if giver is not None:
        return giver.signature.returns[0].type
    if owner.is_module and owner.is_live:
        scope.report(
            "missing-attribute",
            f"`{owner.name}` has a `__setstate__` that no `__getstate__` gives a state",
            scope.tree.name_span,
            "takes a state",
            torch="`__setstate__` defined but not `__getstate__`. You must have both defined on a "
            "ScriptModule to customize serialization.\nDid you forget to use `@torch.jit.export`?",
            torch_span=scope.tree.span,
        )
        return UNKNOWN
    return None


def argument_of(scope: Scope, node: tree.Parameter, type: Type) -> Argument:
    """A parameter as the signature has it, with its default."""
    default: object = NO_DEFAULT
    size = broadcast_size(node.annotation)
    if node.default is not None:
        one = isinstance(node.default, tree.Literal) and node.default.value is not None
        is_repeated = size is not None and type.list_of is not None and one
        wanted = (type.list_of if is_repeated else None) or type
        default = _default(scope, node, node.default, wanted)
        if is_repeated and size is not None and default is not NO_DEFAULT:
            default = [default] * size
    return Argument(node.name, type, default, node.keyword_only, size)


def _default(scope: Scope, node: tree.Parameter, written: tree.Expr, type: Type) -> object:
    """The value of a default: a constant, a name that stands for one, or what it computes."""
    found, value = _constant(scope, written)
    if not found:
        known = _computed(scope, node, written, type)
        if known is not None and is_subtype(known.type, type):
            return known.value
        if node.shared_default and not _is_mutable(written):
            return NO_DEFAULT
        return _report_default(scope, node, written, type, mutable=_is_mutable(written))
    value = _as_declared(value, type)
    if type == TENSOR and value is None:
        return None
    if isinstance(value, int) and not -LARGEST_INT - 1 <= value <= LARGEST_INT:
        return _report_default(scope, node, written, type, mutable=False)
    if not _fits(value, type):
        if node.shared_default:
            return NO_DEFAULT
        return _report_default(scope, node, written, type, mutable=False)
    return value


def _computed(
    scope: Scope, node: tree.Parameter, written: tree.Expr, type: Type
) -> Constant | None:
    """What a default is that is no constant: a live function has it, a text computes it once."""
    resolver = scope.resolver
    if isinstance(resolver, LiveDefaults):
        return None if _is_mutable(written) else resolver.default_of(node.name, type)
    if not isinstance(resolver, TextDefaults):
        return None
    body = (tree.Return(written.span, written),)
    giving = replace(scope.tree, parameters=(), returns=node.annotation, body=body, decorators=())
    name, is_text = scope.function.qualified_name, scope.function.is_text
    return resolver.result_of(Function(name, giving, is_text=is_text))


def _as_declared(value: object, type: Type) -> object:
    """A default as the declared type has it: a tuple is a list there, a whole number a float."""
    for each in type.alternatives:
        if isinstance(value, int) and not isinstance(value, bool) and each == FLOAT:
            return float(value)
        if not isinstance(value, tuple):
            continue
        if each.list_of is not None:
            return [_as_element(part, each.list_of) for part in value]
        parts = each.tuple_of
        if parts is not None and each.tuple_name is None and len(parts) == len(value):
            return tuple(map(_as_element, value, parts))
    return value


def _as_element(value: object, type: Type) -> object:
    """The same of what stands in a list or tuple, where a bool is a number if one is wanted."""
    if isinstance(value, bool) and type in (INT, FLOAT):
        return int(value) if type == INT else float(value)
    return _as_declared(value, type)


def _fits(value: object, type: Type) -> bool:
    """Whether a constant is of the type; what is no constant that types describe is not judged."""
    if isinstance(value, list):
        lists = [each.list_of for each in type.alternatives if each.list_of is not None]
        if lists:
            return any(all(_fits(part, element) for part in value) for element in lists)
    try:
        actual = type_of_value(value)
    except TypeError:
        return True
    return is_subtype(actual, type) or type is ANY or type is UNKNOWN


def _constant(scope: Scope, node: tree.Expr) -> tuple[bool, object]:
    """Whether the expression is a constant, and its value."""
    meaning = scope.meaning(node)
    if isinstance(meaning, Constant):
        return True, meaning.value
    match node:
        case tree.Literal(value=value):
            return value is not ..., value
        case tree.Unary(operator="-", operand=operand):
            found, number = _constant(scope, operand)
            if found and isinstance(number, int | float | complex):
                return True, -number
        case tree.Binary(
            operator="+" | "-", left=left, right=tree.Literal(value=complex() as part)
        ):
            found, number = _constant(scope, left)  # complex numbers, as archives have them
            if found and isinstance(number, int | float):
                return True, complex(number, part.imag if node.operator == "+" else -part.imag)
        case tree.TupleDisplay(elements=elements):
            parts = [_constant(scope, e) for e in elements]
            return all(f for f, _ in parts), tuple(v for _, v in parts)
    return False, None


def _report_default(
    scope: Scope, node: tree.Parameter, written: tree.Expr, type: Type, *, mutable: bool
) -> object:
    if mutable:
        kind = _MUTABLE[written.__class__]
        scope.report(
            "mutable-default",
            f"the default of `{node.name}` could be changed by a call",
            written.span,
            "made once, shared by all calls",
            helps=default_in_body(scope, node, written),
            torch="Mutable default parameters are not supported because Python binds them to "
            "the function and they persist across function calls.\n As a workaround, make the "
            "default None and instantiate the default parameter within the body of the "
            f"function. Found <class '{kind}'> on parameter {node.name}",
            torch_span=scope.tree.span,
            is_early=True,
        )
    else:
        inferred = "no annotation, so `Tensor`" if node.annotation is None else ""
        scope.report(
            "argument-type",
            f"the default of `{node.name}` is not {article(type)}",
            written.span,
            inferred or f"declared `{type.python}`",
            torch=_torch_default(node, type),
            torch_span=scope.tree.span,
            is_early=True,
            helps=_default_helps(scope, node, written),
        )
    return None


def _default_helps(scope: Scope, node: tree.Parameter, written: tree.Expr) -> tuple[Help, ...]:
    if written.span.text == "None":
        return may_be_none(scope, node)
    found, value = _constant(scope, written)
    if node.annotation is not None or not found:
        return ()
    try:
        return annotated_default(node, written, type_of_value(value))
    except TypeError:
        return ()


def _torch_default(node: tree.Parameter, type: Type) -> str:
    inferred = node.annotation is None
    shown = "Tensor (inferred)" if inferred else type.annotation_str
    text = f'Expected a default value of type {shown} on parameter "{node.name}".'
    if inferred:
        text += (
            f'Because "{node.name}" was not annotated with an explicit type it is assumed to '
            "be type 'Tensor'."
        )
    return text


_MUTABLE: Final[dict[type, str]] = {
    tree.ListDisplay: "list",
    tree.DictDisplay: "dict",
    tree.TupleDisplay: "tuple",
}
"""What may be changed by a call, a tuple through what it holds, and Python's names of it."""


def _is_mutable(node: tree.Expr) -> bool:
    if isinstance(node, tree.TupleDisplay):
        return any(map(_is_mutable, node.elements))
    return node.__class__ in _MUTABLE
