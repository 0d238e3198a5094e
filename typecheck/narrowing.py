"""Conditions: what they are worth, whether they are known now, and what they say of variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..frontend import tree
from ..frontend.source import UNKNOWN as NOWHERE
from ..frontend.source import Span
from ..frontend.torch_ranges import whole_range
from . import typed
from .attributes import Attributes
from .matching import Given
from .names import SpecialForm, TypeName
from .relations import can_be_none, in_order, is_subtype, join_all, members, union, without_none
from .types import (
    ANY,
    ANY_LIST,
    ANY_TUPLE,
    BOOL,
    INT,
    NONE,
    STRING,
    UNKNOWN,
    ClassType,
    DictType,
    ListType,
    TupleType,
    Type,
)

__all__ = ["Condition", "Narrowing", "evaluated", "is_pure"]

Facts = Mapping[str, Type]


@dataclass(frozen=True)
class Condition:
    """A checked condition.

    `static` is its value if that is known now; `if_true` and `if_false` are the narrower types
    variables have where it holds and where it does not.
    """

    value: typed.Expr
    static: bool | None = None
    if_true: Facts = field(default_factory=dict)
    if_false: Facts = field(default_factory=dict)

    def negated(self, value: typed.Expr) -> Condition:
        static = None if self.static is None else not self.static
        return Condition(value, static, self.if_false, self.if_true)


def _both(a: Facts, b: Facts) -> Facts:
    """What holds where both sets of facts do; contradictions cancel out, as in torch."""
    merged = dict(a)
    for name, type in b.items():
        if name not in merged:
            merged[name] = type
        elif merged[name] != type:
            del merged[name]
    return merged


def _either(a: Facts, b: Facts) -> Facts:
    """What holds where one of two sets of facts does."""
    return {name: type for name, type in a.items() if b.get(name) == type}


class Narrowing(Attributes):
    """Conditions and the refinements they give."""

    def condition(self, node: tree.Expr) -> Condition:
        """Check an expression as a condition: its value is a bool."""
        if isinstance(node, tree.Boolean):
            return self._boolean(node)
        if isinstance(node, tree.Unary) and node.operator == "not":
            inner = self.condition(node.operand)
            value = self.call_operator("aten::__not__", Given([inner.value]), node.span)
            return inner.negated(value)
        if isinstance(node, tree.Compare) and node.operators in (("is",), ("is not",)):
            return self._identity(node)
        if isinstance(node, tree.Compare) and node.operators in (("==",), ("!=",)):
            return self._equality(node)
        if isinstance(node, tree.Call):
            special = self._special_test(node)
            if special is not None:
                return special
        return self._truth(node, self._tested(node))

    def _tested(self, node: tree.Expr) -> typed.Expr:
        """The value of a condition.  The object of a method is evaluated once more before the
        call, as in torch, which looks whether `f(x).g` names a special form."""
        value = self.expression(node)
        if not isinstance(node, tree.Call) or not isinstance(node.function, tree.Attribute):
            return value
        owner = self.sugared(node.function.value)
        if not isinstance(owner, typed.Expr) or is_pure(owner) or value.type is UNKNOWN:
            return value
        first = typed.Evaluate(owner.span, owner)
        return typed.Sequenced(node.span, value.type, (first,), value)

    def _truth(self, node: tree.Expr, value: typed.Expr) -> Condition:
        value = self.to_bool(value, node.span)
        static: bool | None = None
        if isinstance(value, typed.Literal):
            static = bool(value.value)
        elif isinstance(value, typed.OperatorCall):
            static = {"aten::is_scripting": True, "aten::is_notscripting": False}.get(
                value.signature.name
            )
        return Condition(value, static)

    def to_bool(self, value: typed.Expr, span: Span) -> typed.Expr:
        """The value as a bool, by `aten::Bool` if it is none yet."""
        if value.type in (BOOL, UNKNOWN):
            return value
        if self.has_length(value):
            length = self.call_operator("aten::len", Given([value]), span, written="len")
            zero = typed.Literal(NOWHERE, INT, 0)
            return self.call_operator("aten::gt", Given([length, zero]), span, written=">")
        if isinstance(value.type, ClassType) and value.type.method("__bool__") is not None:
            return self.call_method(value, "__bool__", [], span)
        if isinstance(value.type, ClassType) or not self._has_truth(value):
            self.report(
                "argument-type",
                f"`{value.type.python}` has no truth value",
                span,
                f"this is `{value.type.python}`, where a condition is expected",
                torch=f"Could not cast value of type {self.torch_type(value)} to bool",
                secondary=tuple(self.origin(value)),
            )
            return self.unknown(span)
        return self.call_operator("aten::Bool", Given([value]), span, written="bool")

    def call_method(
        self, value: typed.Expr, name: str, arguments: list[typed.Expr], span: Span
    ) -> typed.Expr:
        """A call of an object's method by name; given its meaning with the other calls."""
        raise NotImplementedError

    @staticmethod
    def has_length(value: typed.Expr) -> bool:
        """Whether the truth of a value is that its length is not zero."""
        return isinstance(value.type, ListType | DictType) or value.type == STRING

    def _has_truth(self, value: typed.Expr) -> bool:
        return any(
            s.arguments and is_subtype(value.type, s.arguments[0].type)
            for s in self.table.overloads("aten::Bool")
        )

    # ---------------------------------------------------------------------------- and, or

    def _boolean(self, node: tree.Boolean) -> Condition:
        result = self.condition(node.values[0])
        start = node.values[0].span
        for value in node.values[1:]:
            result = self._short_circuit(node.operator, result, value, start.to(value.span))
        return result

    def _short_circuit(
        self, operator: str, left: Condition, node: tree.Expr, span: Span
    ) -> Condition:
        """`left operator node`; the right side is checked knowing what the left says."""
        is_or = operator == "or"
        facts = left.if_false if is_or else left.if_true
        with self.new_frame():
            refinements = self.refine(facts, span)
            right = self.condition(node)
        with self.new_frame():
            skipped = self.refine(left.if_true if is_or else left.if_false, span)
        value = typed.ShortCircuit(
            span, BOOL, operator, left.value, right.value, refinements, skipped
        )
        decided = is_or  # the value one side alone decides
        static: bool | None = None
        if decided in (left.static, right.static):
            static = decided
        elif left.static is not None and right.static is not None:
            static = not decided
        if is_or:
            true, false = _either(left.if_true, right.if_true), _both(left.if_false, right.if_false)
        else:
            true, false = _both(left.if_true, right.if_true), _either(left.if_false, right.if_false)
        return Condition(value, static, true, false)

    def refine(self, facts: Facts, span: Span) -> tuple[typed.Statement, ...]:
        """Give variables the narrower types in the current frame."""
        statements: list[typed.Statement] = []
        for name, type in facts.items():
            variable = self.frame.find(name)
            if variable is None or variable.type is None:
                continue
            read = typed.Local(span, variable.type, name)
            cast = typed.UncheckedCast(span, type, read)
            statements.append(typed.Assign(span, name, type, cast))
            self.frame.define(variable.narrowed(type))
        return tuple(statements)

    # -------------------------------------------------------------------------- is, is not

    def _identity(self, node: tree.Compare) -> Condition:
        operator, right_node = node.operators[0], node.rights[0]
        left = self.expression(node.left)
        right = self.expression(right_node)
        is_test = operator == "is"
        left_is, right_is = left.type is NONE, right.type is NONE
        if UNKNOWN in (left.type, right.type):
            return Condition(typed.Uninitialized(node.span, BOOL))
        if left_is and right_is:
            return self.known(node.span, is_test, [left, right])
        if (left_is and not _maybe_none(right)) or (right_is and not _maybe_none(left)):
            return self.known(node.span, not is_test, [left, right])
        name = "aten::__is__" if is_test else "aten::__isnot__"
        value = self.call_operator(name, Given([left, right]), node.span, written=operator)
        tested, target = (left, node.left) if right_is else (right, right_node)
        if isinstance(target, tree.Attribute) and (left_is or right_is):
            self.checked_attributes[target.span.text] = (node.span, target.span)
        if not (left_is or right_is) or not isinstance(target, tree.Name):
            return Condition(value)
        facts = {target.id: without_none(tested.type)}
        return Condition(value, None, {}, facts) if is_test else Condition(value, None, facts, {})

    def _equality(self, node: tree.Compare) -> Condition:
        """`x == None` is an error with a sure edit: what follows is checked as if it were made."""
        value = self.expression(node)
        condition = self._truth(node, value)
        right = node.rights[0]
        is_none = isinstance(right, tree.Literal) and right.value is None
        if value.type is not UNKNOWN or not is_none or not isinstance(node.left, tree.Name):
            return condition
        variable = self.frame.find(node.left.id)
        if variable is None or variable.type is None:
            return condition
        facts = {node.left.id: without_none(variable.type)}
        if node.operators == ("==",):
            return Condition(condition.value, None, {}, facts)
        return Condition(condition.value, None, facts, {})

    def known(
        self,
        span: Span,
        answer: bool,
        evaluated: list[typed.Expr],
        if_true: Facts | None = None,
        if_false: Facts | None = None,
    ) -> Condition:
        """A condition decided now; the operands are still evaluated if that may do something."""
        value: typed.Expr = typed.Literal(span, BOOL, answer)
        effects = tuple(typed.Evaluate(e.span, e) for e in evaluated if not is_pure(e))
        if effects:
            value = typed.Sequenced(span, BOOL, effects, value)
        return Condition(value, answer, if_true or {}, if_false or {})

    # --------------------------------------------------------------- isinstance and hasattr

    def _special_test(self, node: tree.Call) -> Condition | None:
        if not isinstance(node.function, tree.Name | tree.Attribute):
            return None
        name = _dotted(node.function)
        if name.rpartition(".")[2] not in ("isinstance", "hasattr"):
            return None
        callee = self.sugared(node.function)
        if not isinstance(callee, SpecialForm) or len(node.arguments) != 2:
            return None
        if callee.name == "isinstance":
            return self.is_instance(node)
        return self._has_attr(node) if callee.name == "hasattr" else None

    def _has_attr(self, node: tree.Call) -> Condition:
        sugar = self.sugared(node.arguments[0])
        name = node.arguments[1]
        if isinstance(sugar, TypeName) and isinstance(name, tree.Literal):
            known = isinstance(sugar.type, ClassType) and self.has_static(sugar.type, name.value)
            return self.known(node.span, known, [])
        value = self.value(sugar, node.span)
        if value.type is UNKNOWN:
            return Condition(typed.Uninitialized(node.span, BOOL))
        if not isinstance(name, tree.Literal) or not isinstance(name.value, str):
            self.report(
                "argument-type",
                "`hasattr` needs the name as a literal string",
                name.span,
                "not a literal",
                torch="hasattr's second argument must be a string literal",
            )
            return Condition(typed.Uninitialized(node.span, BOOL))
        if not self.can_be_asked(value, node.arguments[0].span, whole_range(node.arguments[0])):
            return Condition(typed.Uninitialized(node.span, BOOL))
        return self.known(node.span, self.has_attribute(value, name.value), [value])

    def is_instance(self, node: tree.Call) -> Condition:
        """`isinstance(value, types)`, decided now if the types allow it."""
        value = self.expression(node.arguments[0])
        known = self._is_module_of(value, node.arguments[1])
        if known is not None:
            return self.known(node.span, known, [value])
        wanted = [t for t in self._class_info(node.arguments[1]) for t in members(t)]
        if value.type is UNKNOWN or UNKNOWN in wanted:
            return Condition(typed.Uninitialized(node.span, BOOL))
        yes, no, all_fit = _split(members(value.type), wanted)
        if_true: dict[str, Type] = {}
        if_false: dict[str, Type] = {}
        subject = node.arguments[0]
        if isinstance(subject, tree.Name):
            if yes:
                if_true[subject.id] = join_all(yes, or_union=True) or union(yes)
            if no:
                if_false[subject.id] = join_all(no, or_union=True) or union(no)
        if yes and all_fit:
            return self.known(node.arguments[0].span, True, [value], if_true, if_false)
        if not yes:
            return self.known(node.arguments[0].span, False, [value], if_true, if_false)
        test = typed.IsInstance(node.span, BOOL, value, tuple(in_order(wanted)))
        return Condition(test, None, if_true, if_false)

    def _is_module_of(self, value: typed.Expr, wanted: tree.Expr) -> bool | None:
        """Whether a live module is of a class; None if something else is asked."""
        if not isinstance(value.type, ClassType) or not value.type.is_live:
            return None
        nodes = wanted.elements if isinstance(wanted, tree.TupleDisplay) else (wanted,)
        tests = [getattr(self.meaning(node), "has_instance", None) for node in nodes]
        return any(test(value.type) for test in tests if test is not None) if any(tests) else None

    def _class_info(self, node: tree.Expr) -> list[Type]:
        if isinstance(node, tree.TupleDisplay):
            return [t for e in node.elements for t in self._class_info(e)]
        return [self.annotations.read(node)]


def _split(given: list[Type], wanted: list[Type]) -> tuple[list[Type], list[Type], bool]:
    """The types a value has where the test holds, those where it does not, and whether the
    test always holds."""
    yes: list[Type] = []
    no: list[Type] = []
    all_fit = True
    for type in given:
        if type is ANY:
            return wanted, [ANY], wanted == [ANY]
        found = next((s for s in (_smaller(type, w) for w in wanted) if s is not None), None)
        if found is None:
            no.append(type)
            all_fit = False
        else:
            yes.append(found)
            if found != type:
                all_fit = False
    return yes, no, all_fit


def _smaller(given: Type, wanted: Type) -> Type | None:
    """The type of a value that is of both types, if one contains the other."""
    if wanted is ANY_LIST and isinstance(given, ListType):
        return given
    if wanted is ANY_TUPLE and isinstance(given, TupleType):
        return given
    if is_subtype(given, wanted):
        return given
    return wanted if is_subtype(wanted, given) else None


def _maybe_none(value: typed.Expr) -> bool:
    """Whether a test against None is worth making; torch does not ask it of `Any`."""
    return value.type is not ANY and can_be_none(value.type)


def is_pure(value: typed.Expr) -> bool:
    """Whether evaluating the expression surely does nothing but give its value."""
    if isinstance(value, typed.GetAttribute):
        return is_pure(value.object)
    return isinstance(value, typed.Literal | typed.Local | typed.Temporary | typed.Uninitialized)


def evaluated(test: typed.Expr) -> tuple[typed.Statement, ...]:
    """What is left of a test whose outcome is known: it may assign and have effects."""
    if isinstance(test, typed.Sequenced):
        return test.statements
    return () if is_pure(test) else (typed.Evaluate(test.span, test),)


def _dotted(node: tree.Expr) -> str:
    if isinstance(node, tree.Attribute):
        return f"{_dotted(node.value)}.{node.name}"
    return node.id if isinstance(node, tree.Name) else "?"
