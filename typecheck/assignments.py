"""Assignment to names, tuples and attributes; elements are in `elements`."""

from __future__ import annotations

from ..frontend import tree
from ..frontend.diagnostics import Edit, Help, Label
from ..frontend.source import UNKNOWN as NOWHERE
from ..frontend.source import Span
from . import typed
from .environment import Variable
from .expressions import Expressions
from .iteration import Item
from .mismatches import article, origin_text
from .names import Constant
from .relations import is_subtype
from .signature_text import expected_text
from .sugar import Sugar, describe
from .types import (
    ANY_TUPLE,
    FLOAT,
    INT,
    UNKNOWN,
    ClassType,
    ListType,
    TupleType,
    Type,
)

__all__ = ["Assignments"]

Value = Item | Sugar


class Assignments(Expressions):
    """Assignment."""

    # ---------------------------------------------------------------------------- statements

    def assign(self, node: tree.Assign, into: list[typed.Statement]) -> None:
        """`a = b = value`."""
        hint = self.annotations.read(node.type_comment) if node.type_comment else None
        if len(node.targets) == 1:
            self._assign_one(node.targets[0], node.value, node.span, hint, into)
            return
        # torch, too, keeps the value in a variable, so that no target names it.
        shared = tree.Name(node.value.span, f"$assigned_{self.temporary()}")
        self._assign_one(shared, node.value, node.span, hint, into)
        for target in node.targets:
            self._assign_one(target, shared, node.span, None, into)

    def _assign_one(
        self,
        target: tree.Expr,
        value_node: tree.Expr,
        span: Span,
        annotated: Type | None,
        into: list[typed.Statement],
    ) -> None:
        if isinstance(target, tree.Name):
            self.direct = value_node, span
            value = self.sugared(value_node, annotated)
            self.assign_name(target, value, into, annotated, value_node)
        elif isinstance(target, tree.Subscript):
            shared = self.let(self.expression(value_node), into)
            self.assign_element(target, shared, span, into)
        elif isinstance(target, tree.Attribute):
            owner = self.expression(target.value)
            hint = annotated
            if hint is None and isinstance(owner.type, ClassType):
                slot = owner.type.attributes.get(target.name)
                hint = slot.type if slot is not None else None
            assigned = self.expression(value_node, hint)
            self.assign_attribute(owner, target, assigned, span, into, annotated)
        else:
            # torch places what an unpacking does to elements at the value.
            place = value_node.span
            self.assign_target(target, self.sugared(value_node), place, into, value_node)

    def annotated_assign(self, node: tree.AnnotatedAssign, into: list[typed.Statement]) -> None:
        """`target: annotation = value`."""
        type = self.annotations.read(node.annotation)
        if node.value is not None:
            self._assign_one(node.target, node.value, node.span, type, into)

    def assign_element(
        self, target: tree.Subscript, value: typed.Expr, span: Span, into: list[typed.Statement]
    ) -> None:
        """`container[index] = value`; given its meaning with the elements."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------- targets

    def assign_target(
        self,
        target: tree.Expr,
        item: Value,
        span: Span,
        into: list[typed.Statement],
        value_node: tree.Expr | None = None,
    ) -> None:
        """Bind any target to something already checked."""
        if isinstance(target, tree.Name):
            value = self.item_value(item, span) if isinstance(item, tuple) else item
            self.assign_name(target, value, into, None, value_node)
        elif isinstance(target, tree.TupleDisplay | tree.ListDisplay):
            if isinstance(target, tree.ListDisplay):
                self._report_list_target(target)
            self._unpack(target, item, span, into)
        elif isinstance(target, tree.Subscript):
            value = self._plain(item, span)
            self.assign_element(target, self.let(value, into), span, into)
        elif isinstance(target, tree.Attribute):
            owner = self.expression(target.value)
            self.assign_attribute(owner, target, self._plain(item, span), span, into, None)
        else:
            self.report(
                "unsupported-syntax",
                "this cannot be assigned to",
                target.span,
                "not a target",
                torch="left-hand side of assignment must be a variable",
            )

    def _plain(self, item: Value, span: Span) -> typed.Expr:
        if isinstance(item, tuple):
            return self.item_value(item, span)
        return self.value(item, span)

    def _unpack(
        self,
        target: tree.TupleDisplay | tree.ListDisplay,
        item: Value,
        span: Span,
        into: list[typed.Statement],
    ) -> None:
        parts = target.elements
        stars = sum(isinstance(p, tree.Starred) for p in parts)
        if stars > 1:
            self._report_stars(target)
        fixed = len(parts) - stars
        values = self._values(target, item, fixed, stars, span, into)
        if values is None:
            values = [self.unknown(span) for _ in parts]
            stars = 0 if stars == 0 else stars
            fixed = len(parts) - stars
        extra = len(values) - fixed
        place = 0
        for part in parts:
            if isinstance(part, tree.Starred):
                taken = tuple(self._plain(v, span) for v in values[place : place + extra])
                place += extra
                type = TupleType(tuple(t.type for t in taken))
                rest = typed.TupleLiteral(NOWHERE, type, taken)
                self.assign_target(part.value, rest, span, into)
            else:
                self.assign_target(part, values[place], span, into)
                place += 1

    def _report_stars(self, target: tree.TupleDisplay | tree.ListDisplay) -> None:
        second = [part for part in target.elements if isinstance(part, tree.Starred)][1]
        self.report(
            "unsupported-syntax",
            "only one part of an assignment can take the rest",
            second.span,
            "a second one",
            torch="Only one starred expression is allowed on the lhs",
            torch_span=target.span,
        )

    def _values(
        self,
        target: tree.TupleDisplay | tree.ListDisplay,
        item: Value,
        fixed: int,
        stars: int,
        span: Span,
        into: list[typed.Statement],
    ) -> list[Value] | None:
        """What the parts of an unpacking get; None after an error."""
        values: list[Value]
        if isinstance(item, tuple):
            values = list(item)
        else:
            value = self.value(item, span)
            if value.type is UNKNOWN:
                return None
            if isinstance(value.type, TupleType):
                values = list(self.tuple_elements(value, into))
            elif isinstance(value.type, ListType) and not stars:
                return list(self._list_elements(value, value.type, fixed, into))
            else:
                self._report_not_unpackable(value)
                return None
        if len(values) < fixed or (len(values) > fixed and not stars):
            self._report_count(target, len(values), fixed, stars)
            return None
        return values

    def _list_elements(
        self, value: typed.Expr, type: ListType, count: int, into: list[typed.Statement]
    ) -> list[typed.Expr]:
        indices = tuple(self.temporary() for _ in range(count))
        types = (type.element,) * count
        into.append(typed.Unpack(value.span, value, indices, types))
        return [typed.Temporary(value.span, type.element, i) for i in indices]

    def _report_not_unpackable(self, value: typed.Expr) -> None:
        if isinstance(value.type, ListType):
            message = "`*` cannot take from a list, whose length is not known now"
            torch = "cannot statically infer the expected size of a list in this context"
        else:
            message = f"`{value.type.python}` cannot be unpacked"
            torch = f"'{self.torch_type(value)}' cannot be used as a tuple"
        if value.type == ANY_TUPLE:
            torch = (
                "Provided tuple is not fully defined/refined including its element types, please "
                "provide a value of type like Tuple[int, int]"
            )
        self.report(
            "argument-type",
            message,
            value.span,
            f"this is `{value.type.python}`",
            torch=torch,
            secondary=tuple(self.origin(value)),
        )

    def _report_count(
        self, target: tree.TupleDisplay | tree.ListDisplay, found: int, fixed: int, stars: int
    ) -> None:
        if found < fixed:
            least = "at least " if stars else ""
            torch = f"need {least}{fixed} values to unpack but found only {found}"
        else:
            torch = f"too many values to unpack: need {fixed} but found {found}"
        self.report(
            "argument-type",
            f"{found} value{'' if found == 1 else 's'} cannot be unpacked into {fixed}",
            target.span,
            f"{fixed} target{'' if fixed == 1 else 's'}",
            torch=torch,
        )

    def _report_list_target(self, target: tree.ListDisplay) -> None:
        names = ", ".join(element.span.text for element in target.elements)
        self.report(
            "unsupported-syntax",
            "a list cannot stand on the left of an assignment",
            target.span,
            "leave out the brackets",
            torch="unexpected expression on left-hand side of assignment",
            helps=(Help("leave out the brackets", (Edit(target.span.whole, names),)),),
        )

    # --------------------------------------------------------------------------------- names

    def assign_name(
        self,
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
            value = self.value(value, span)
        outer = self.frame.find_outside(name)
        if isinstance(value, typed.Expr) and _is_live_module(value) and annotated is None:
            self._bind_sugar(target, self.let(value, into), outer)
            return
        if not isinstance(value, typed.Expr):
            self._bind_sugar(target, value, outer)
            return
        if outer is not None and annotated is not None:
            self._report_redeclared(target, outer)
            return
        if outer is not None and outer.sugar is not None:
            self._report_fixed(target, value)
            return
        if outer is not None and outer.type is not None:
            value = self.convert(value, outer.type, span)
            if not is_subtype(value.type, outer.type):
                self._report_changed(target, outer, value, value_node)
                return
        type = annotated if annotated is not None else value.type
        if annotated is not None and not is_subtype(value.type, annotated):
            self._report_annotation(target, annotated, value)
        if value.type is UNKNOWN and outer is not None and outer.type is not None:
            type = outer.type
        self.define(
            Variable(
                name,
                type,
                span,
                value_node,
                value,
                inferred=self.torch_type(value) == "Tensor (inferred)",
                declared=annotated is not None,
            )
        )
        into.append(typed.Assign(span, name, type, value))

    def _report_redeclared(self, target: tree.Name, outer: Variable) -> None:
        labels = (Label(outer.span.whole, "defined here"),) if outer.span is not None else ()
        self.report(
            "annotation-conflict",
            f"`{target.id}` has a type already, from the block around this one",
            target.span,
            "annotated here",
            torch=f"Attempting to declare and annotate the type of variable '{target.id}' but it "
            "is already defined in an outer block",
            secondary=labels,
        )

    def _report_fixed(self, target: tree.Name, value: typed.Expr) -> None:
        self.report(
            "type-changed",
            f"`{target.id}` stands for no value in the block around this one, and becomes one here",
            target.span,
            f"assigned a `{value.type.python}` here",
            torch=f"Cannot re-assign '{target.id}' because it has type value of type "
            f"'{expected_text(value.type)}' and {target.id} is not a first-class value.  Only "
            "reassignments to first-class values are allowed",
        )

    def _bind_sugar(self, target: tree.Name, value: Sugar, outer: Variable | None) -> None:
        if getattr(value, "torch_message", None) is not None:
            self.value(value, target.span)
            self.define(Variable(target.id, UNKNOWN, target.span))
            return
        if outer is not None:
            word = describe(value)
            self.report(
                "type-changed",
                f"`{target.id}` cannot become a {word} here",
                target.span,
                f"assigned a {word} here",
                torch=f"Cannot re-assign '{target.id}' to a value of type {word} because "
                f"{target.id} is not a first-class value.  Only reassignments to first-class "
                "values are allowed",
            )
            return
        self.define(Variable(target.id, None, target.span, sugar=value))

    def _report_changed(
        self,
        target: tree.Name,
        outer: Variable,
        value: typed.Expr,
        value_node: tree.Expr | None,
    ) -> None:
        assert outer.type is not None
        old, new = outer.type, value.type
        torch = (
            f"Variable '{target.id}' previously had type {self._torch_outer(outer)} but is now "
            f"being assigned to a value of type {self.torch_type(value)}"
        )
        if isinstance(old, ListType) and isinstance(new, ListType):
            torch += (
                "\nEmpty lists default to List[Tensor]. Add a variable annotation to the "
                "assignment to create an empty list of another type (torch.jit.annotate(List[T, "
                "[]]) where T is the type of elements in the list for Python 2)"
            )
        inside_loop = self.frame.is_inside_loop()
        block = "loop" if inside_loop else "branch"
        self.report(
            "type-changed",
            f"`{target.id}` is {article(old)}, and cannot become {article(new)}",
            target.span,
            f"assigned {article(new)} here",
            torch=torch + "\n",
            secondary=self._changed_labels(outer, value, value_node),
            notes=(f"a variable keeps one type through a {block}",),
            helps=self._start_help(outer, new),
        )

    def _torch_outer(self, outer: Variable) -> str:
        assert outer.type is not None
        return "Tensor (inferred)" if outer.inferred else expected_text(outer.type)

    def _changed_labels(
        self, outer: Variable, value: typed.Expr, value_node: tree.Expr | None
    ) -> tuple[Label, ...]:
        assert outer.type is not None
        labels: list[Label] = []
        if outer.parameter and outer.span is not None:
            labels.append(Label(outer.span.whole, origin_text(outer)))
        elif outer.tree is not None:
            labels.append(Label(outer.tree.span.whole, f"starts as `{outer.type.python}`"))
        if isinstance(value_node, tree.Binary) and isinstance(value, typed.OperatorCall):
            kinds = [e.type.python for e in value.inputs]
            if len(kinds) == 2:
                text = f"`{f' {value_node.operator} '.join(kinds)}`"
                labels.append(Label(value_node.span.whole, text))
        return tuple(labels)

    def _start_help(self, outer: Variable, new: Type) -> tuple[Help, ...]:
        """`0` that should have been `0.0`, or a list that should have been annotated."""
        node = outer.tree
        if isinstance(node, tree.Literal) and outer.type == INT and new == FLOAT:
            edit = Edit(node.span.whole, f"{node.value}.0")
            return (Help("start with a float", (edit,)),)
        if isinstance(node, tree.ListDisplay) and not node.elements and outer.span is not None:
            edit = Edit(outer.span.whole, f"{outer.name}: {new.annotation_str}")
            return (Help("say what the list holds", (edit,)),)
        return ()

    def _report_annotation(self, target: tree.Name, type: Type, value: typed.Expr) -> None:
        if type is UNKNOWN:
            return
        self.report(
            "annotation-conflict",
            f"`{target.id}` is annotated as `{type.python}`, but is assigned {article(value.type)}",
            value.span,
            f"this is {article(value.type)}",
            torch=f"Variable '{target.id}' is annotated with type {type.annotation_str} but is "
            f"being assigned to a value of type {self.torch_type(value)}",
            torch_span=target.span,
        )

    # ---------------------------------------------------------------------------- attributes

    def assign_attribute(
        self,
        owner: typed.Expr,
        target: tree.Attribute,
        value: typed.Expr,
        span: Span,
        into: list[typed.Statement],
        annotated: Type | None,
    ) -> None:
        """`object.name = value`; in `__init__` of a script class it may be new."""
        cls, name = owner.type, target.name
        if cls is UNKNOWN:
            return
        if not isinstance(cls, ClassType):
            self._report_no_object(owner, target, span)
            return
        setter = cls.properties.get(name, (None, None))[1]
        if setter is not None:
            call = self.call_method(owner, setter.name, [value], span)
            into.append(typed.Evaluate(span, call))
            return
        slot = cls.attributes.get(name)
        if slot is None and self._initializes(cls):
            if self.frame.parent is not None:
                self._report_hidden(target, span)
                return
            wanted = value.type
            if _contains(wanted, cls):
                self._report_recursive(cls, target, span)
                return
            cls.add_attribute(name, wanted)
        elif slot is None:
            self._report_no_slot(cls, target, span)
            return
        else:
            wanted = slot.type
        value = self.convert(value, wanted, span)
        if not is_subtype(value.type, wanted):
            self.report(
                "type-changed",
                f"`{target.span.text}` is {article(wanted)}, and cannot become "
                f"{article(value.type)}",
                value.span,
                f"this is {article(value.type)}",
                torch="Wrong type for attribute assignment. Expected "
                f"{wanted.annotation_str} but got {self.torch_type(value)}",
                torch_span=span,
                secondary=tuple(self.origin(value)),
            )
            return
        into.append(typed.SetAttribute(span, owner, name, value))

    def _report_recursive(self, cls: ClassType, target: tree.Attribute, span: Span) -> None:
        self.report(
            "recursion",
            f"`{target.name}` would hold an object of its own class `{cls.name}`",
            target.span,
            "classes that contain themselves are not possible",
            torch=f"Assignment to attribute '{target.name}' cannot be of a type that contains "
            f"class '{cls}'.\nClasses that recursively contain instances of themselves are not "
            "yet supported",
            torch_span=span,
        )

    def _initializes(self, cls: ClassType) -> bool:
        return self.self_type is cls and self.tree.name == "__init__" and not cls.is_module

    def _report_no_object(self, owner: typed.Expr, target: tree.Attribute, span: Span) -> None:
        self.report(
            "missing-attribute",
            f"attributes of `{owner.type.python}` cannot be set",
            target.span,
            f"`{target.value.span.text}` is `{owner.type.python}`",
            torch=f"Tried to set an attribute: {target.name} on a non-class: {owner.type}",
            torch_span=span,
        )

    def _report_no_slot(self, cls: ClassType, target: tree.Attribute, span: Span) -> None:
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
            message = f"`{cls.name}` has no attribute `{target.name}` to set"
            label = "attributes are made in `__init__`, before scripting"
        self.report(
            "missing-attribute",
            message,
            target.span,
            label,
            torch=torch,
            torch_span=span,
            helps=self.near(target.name, list(cls.attributes), target.name_span),
        )

    def _report_hidden(self, target: tree.Attribute, span: Span) -> None:
        self.report(
            "possibly-undefined",
            f"`{target.name}` must first be set outside of `if` and loops",
            target.span,
            "first set here",
            torch="First assignment cannot be in a control-flow block. Initialize the field at "
            "the top level first",
            torch_span=span,
        )


def _is_live_module(value: typed.Expr) -> bool:
    """Whether a name for the value stands for one module, known now, and is no variable."""
    return isinstance(value.type, ClassType) and value.type.is_live


def _contains(type: Type, cls: ClassType) -> bool:
    """Whether objects of the class occur in values of the type."""
    return type is cls or any(_contains(part, cls) for part in type.contained)
