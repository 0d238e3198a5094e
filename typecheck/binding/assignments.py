"""Binding names, and setting attributes of objects."""

from __future__ import annotations

from ...frontend.diagnostics.diagnostics import Edit, Help, Label
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..definitions.class_types import ClassType
from ..definitions.names import Constant
from ..definitions.signature_text import expected_text
from ..expressions.conversions import convert
from ..expressions.function_calls import call_method
from ..relations.relations import is_subtype
from ..reports.declarations import declare_optional, set_in_init
from ..reports.mismatch_texts import EMPTY_LISTS
from ..reports.reasons import article, operand_types, origin, origin_text
from ..scopes.environment import Variable
from ..scopes.scope import Scope
from ..scopes.values import value_of
from ..trees import typed
from ..trees.sugar import Sugar, describe
from ..types.types import FLOAT, INT, NONE, TENSOR, UNKNOWN, Type

__all__ = ["assign_attribute", "assign_name"]


# --------------------------------------------------------------------------------- names


def assign_name(
    scope: Scope,
    target: tree.Name,
    value: Sugar,
    into: list[typed.Statement],
    annotated: Type | None = None,
    value_node: tree.Expr | None = None,
) -> None:
    """Bind a variable; one of an outer block keeps its type."""
    name, span = target.id, target.span
    if name == tree.ERROR_NAME:
        return
    if isinstance(value, Constant):
        value = value_of(scope, value, span if value_node is None else value_node.span)
    outer = scope.frame.find_outside(name)
    if not isinstance(value, typed.Expr):
        _bind_sugar(scope, target, value, outer)
        return
    if value.type.is_live and annotated is None:
        # it stands for one module, known now, and is no variable
        _bind_sugar(scope, target, scope.let(value, into), outer)
        return
    if outer is not None and annotated is not None:
        _report_redeclared(scope, target, outer)
        return
    if outer is not None and (outer.sugar is not None or _is_fixed(outer.type)):
        _report_fixed(scope, target, value)
        return
    if outer is not None and outer.type is not None:
        value = convert(scope, value, outer.type, span)
        if not is_subtype(value.type, outer.type):
            _report_changed(scope, target, outer, value, value_node)
            scope.define(Variable(name, UNKNOWN, span))  # what follows from it is not told
            return
    type = annotated if annotated is not None else value.type
    if annotated is not None and not is_subtype(value.type, annotated):
        _report_annotation(scope, target, annotated, value)
    if value.type is UNKNOWN and outer is not None and outer.type is not None:
        type = outer.type
    scope.define(
        Variable(
            name,
            type,
            span,
            value_node,
            value,
            inferred=scope.torch_type(value) == "Tensor (inferred)",
            declared=annotated is not None,
        )
    )
    into.append(typed.Assign(span, name, type, value))


def _report_redeclared(scope: Scope, target: tree.Name, outer: Variable) -> None:
    labels = (Label(outer.span.whole, "defined here"),) if outer.span is not None else ()
    scope.report(
        "annotation-conflict",
        f"`{target.id}` has a type already, from the block around this one",
        target.span,
        "annotated here",
        torch=f"Attempting to declare and annotate the type of variable '{target.id}' but it "
        "is already defined in an outer block",
        secondary=labels,
    )


def _is_fixed(type: Type | None) -> bool:
    """Whether a name stands for one module, known now."""
    return type is not None and type.is_module and type.is_live


def _report_fixed(scope: Scope, target: tree.Name, value: typed.Expr) -> None:
    scope.report(
        "type-changed",
        f"`{target.id}` stands for no value in the block around this one, and becomes one here",
        target.span,
        f"assigned a `{value.type.python}` here",
        torch=f"Cannot re-assign '{target.id}' because it has type value of type "
        f"'{expected_text(value.type)}' and {target.id} is not a first-class value.  Only "
        "reassignments to first-class values are allowed",
    )


def _bind_sugar(scope: Scope, target: tree.Name, value: Sugar, outer: Variable | None) -> None:
    if outer is not None:
        word = describe(value)
        scope.report(
            "type-changed",
            f"`{target.id}` cannot become a {word} here",
            target.span,
            f"assigned a {word} here",
            torch=f"Cannot re-assign '{target.id}' to a value of type {word} because "
            f"{target.id} is not a first-class value.  Only reassignments to first-class "
            "values are allowed",
        )
        return
    scope.define(Variable(target.id, None, target.span, sugar=value))


def _report_changed(
    scope: Scope,
    target: tree.Name,
    outer: Variable,
    value: typed.Expr,
    value_node: tree.Expr | None,
) -> None:
    assert outer.type is not None
    old, new = outer.type, value.type
    torch = (
        f"Variable '{target.id}' previously had type {_torch_outer(outer)} but is now "
        f"being assigned to a value of type {scope.torch_type(value)}"
    )
    if old.list_of is not None and new.list_of is not None:
        torch += f"\n{EMPTY_LISTS}"
    inside_loop = scope.frame.is_inside_loop()
    block = "loop" if inside_loop else "branch"
    scope.report(
        "type-changed",
        f"`{target.id}` is {article(old)}, and cannot become {article(new)}",
        target.span,
        f"assigned {article(new)} here",
        torch=torch + "\n",
        secondary=_changed_labels(outer, value, value_node),
        notes=(f"a variable keeps one type through a {block}",),
        helps=_start_help(outer, new),
    )


def _torch_outer(outer: Variable) -> str:
    assert outer.type is not None
    return "Tensor (inferred)" if outer.inferred else expected_text(outer.type)


def _changed_labels(
    outer: Variable, value: typed.Expr, value_node: tree.Expr | None
) -> tuple[Label, ...]:
    assert outer.type is not None
    labels: list[Label] = []
    if outer.parameter and outer.span is not None:
        labels.append(Label(outer.span.whole, origin_text(outer)))
    elif outer.tree is not None:
        labels.append(Label(outer.tree.span.whole, f"starts as `{outer.type.python}`"))
    kinds = operand_types(value_node, value)
    if value_node is not None and kinds:
        labels.append(Label(value_node.span.whole, kinds))
    return tuple(labels)


def _start_help(outer: Variable, new: Type) -> tuple[Help, ...]:
    """`0` that should have been `0.0`, or a list that should have been annotated."""
    node = outer.tree
    if isinstance(node, tree.Literal) and outer.type == INT and new == FLOAT:
        edit = Edit(node.span.whole, f"{node.value}.0")
        return (Help("start with a float", (edit,)),)
    if isinstance(node, tree.ListDisplay) and not node.elements and outer.span is not None:
        edit = Edit(outer.span.whole, f"{outer.name}: {new.annotation_str}")
        return (Help("say what the list holds", (edit,)),)
    return ()


def _report_annotation(scope: Scope, target: tree.Name, type: Type, value: typed.Expr) -> None:
    if type is UNKNOWN:
        return
    scope.report(
        "annotation-conflict",
        f"`{target.id}` is annotated as `{type.python}`, but is assigned {article(value.type)}",
        value.span,
        f"this is {article(value.type)}",
        torch=f"Variable '{target.id}' is annotated with type {type.annotation_str} but is "
        f"being assigned to a value of type {scope.torch_type(value)}",
        torch_span=target.span,
    )


# ---------------------------------------------------------------------------- attributes


def assign_attribute(
    scope: Scope,
    owner: typed.Expr,
    target: tree.Attribute,
    value: typed.Expr,
    span: Span,
    into: list[typed.Statement],
) -> None:
    """`object.name = value`; in `__init__` of a script class it may be new."""
    cls, name = owner.type, target.name
    if cls is UNKNOWN:
        return
    if not isinstance(cls, ClassType):
        _report_no_object(scope, owner, target, span)
        return
    setter = cls.properties.get(name, (None, None))[1]
    if setter is not None:
        call = call_method(scope, owner, setter.name, [value], span)
        into.append(typed.Evaluate(span, call))
        return
    slot = cls.attributes.get(name)
    if slot is None and _initializes(scope, cls):
        if scope.frame.parent is not None:
            _report_hidden(scope, target, span)
            return
        wanted = value.type
        if _contains(wanted, cls):
            _report_recursive(scope, cls, target, span)
            return
        cls.add_attribute(name, wanted)
    elif slot is None:
        _report_no_slot(scope, cls, target, span, value.type)
        return
    else:
        wanted = slot.type
    if not is_subtype(value.type, wanted):
        scope.report(
            "type-changed",
            f"`{target.span.text}` is {article(wanted)}, and cannot become {article(value.type)}",
            value.span,
            f"this is {article(value.type)}",
            torch="Wrong type for attribute assignment. Expected "
            f"{wanted.annotation_str} but got {scope.torch_type(value)}",
            torch_span=span,
            secondary=(*_set_before(owner, name, wanted), *origin(scope, value)),
            helps=_other_start(scope, owner, name, wanted, value.type),
        )
        return
    into.append(typed.SetAttribute(span, owner, name, value))


def _set_before(owner: typed.Expr, name: str, type: Type) -> tuple[Label, ...]:
    """Where an attribute has its type from."""
    place = owner.type.place(name)
    return () if place is None else (Label(place.statement, f"{article(type)} since here"),)


def _other_start(
    scope: Scope, owner: typed.Expr, name: str, old: Type, new: Type
) -> tuple[Help, ...]:
    """How an attribute is of a type that fits both of its values."""
    place = owner.type.place(name)
    if old == NONE:
        return declare_optional(scope, name, place, new)
    value = None if place is None else place.value
    if old == INT and new == FLOAT and value is not None and value.whole.text.isdigit():
        edit = Edit(value.whole, f"{value.whole.text}.0")
        return (Help("begin with a `float`", (edit,)),)
    return ()


def _report_recursive(scope: Scope, cls: ClassType, target: tree.Attribute, span: Span) -> None:
    scope.report(
        "recursion",
        f"`{target.name}` would hold an object of its own class `{cls.name}`",
        target.span,
        "classes that contain themselves are not possible",
        torch=f"Assignment to attribute '{target.name}' cannot be of a type that contains "
        f"class '{cls}'.\nClasses that recursively contain instances of themselves are not "
        "yet supported",
        torch_span=span,
    )


def _initializes(scope: Scope, cls: ClassType) -> bool:
    return scope.self_type is cls and scope.tree.name == "__init__" and not cls.is_module


def _report_no_object(scope: Scope, owner: typed.Expr, target: tree.Attribute, span: Span) -> None:
    scope.report(
        "missing-attribute",
        f"attributes of `{owner.type.python}` cannot be set",
        target.span,
        f"`{target.value.span.text}` is `{owner.type.python}`",
        torch=f"Tried to set an attribute: {target.name} on a non-class: "
        f"{scope.torch_type(owner) if owner.type == TENSOR else owner.type.annotation_str}",
        torch_span=span,
    )


def _report_no_slot(
    scope: Scope, cls: ClassType, target: tree.Attribute, span: Span, type: Type
) -> None:
    is_new = False
    torch = (
        f"Tried to set nonexistent attribute: {target.name}. Did you forget to initialize it "
        "in __init__()?"
    )
    if target.name in cls.properties:
        message = f"`{target.name}` is a property of `{cls.name}` without a setter"
        label = "can only be read"
        torch = f"Tried to set read-only attribute: {target.name}"
    elif target.name in cls.constants:
        message = f"`{target.name}` is a constant of `{cls.name}` and cannot be set"
        label = "declared `Final`, or in `__constants__`"
    else:
        is_new = True
        message = f"`{cls.name}` has no attribute `{target.name}` to set"
        label = "attributes are made in `__init__`, before scripting"
    scope.report(
        "missing-attribute",
        message,
        target.span,
        label,
        torch=torch,
        torch_span=span,
        helps=scope.near(target.name, list(cls.attributes), target.name_span)
        or (set_in_init(scope, cls, target.name, type) if is_new and cls.is_module else ()),
    )


def _report_hidden(scope: Scope, target: tree.Attribute, span: Span) -> None:
    scope.report(
        "possibly-undefined",
        f"`{target.name}` must first be set outside of `if` and loops",
        target.span,
        "first set here",
        torch="First assignment cannot be in a control-flow block. Initialize the field at "
        "the top level first",
        torch_span=span,
    )


def _contains(type: Type, cls: ClassType) -> bool:
    """Whether objects of the class occur in values of the type."""
    return type is cls or any(_contains(part, cls) for part in type.contained)
