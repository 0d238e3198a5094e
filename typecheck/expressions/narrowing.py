"""Conditions: what they are worth, whether they are known now, and what they say of variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import chain

from ...frontend.foundations.value_class import value_class
from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.torch_ranges import whole_range
from ..definitions.class_types import ClassType
from ..definitions.names import SpecialForm, TypeName
from ..relations.matching import Given
from ..relations.relations import can_be_none, in_order, is_subtype, join_all, union, without_none
from ..reports.other_types import truth_help
from ..reports.reasons import origin
from ..scopes.dispatch import expression, sugared
from ..scopes.idioms import is_type_test, taken_back, type_test
from ..scopes.scope import Scope
from ..scopes.values import value_of
from ..trees import typed
from ..trees.sugar import OWNER, EnumerateValue, RangeValue, Sugar, ZipValue
from ..types.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    UNKNOWN,
    Type,
)
from .attributes import can_be_asked, has_attribute, has_static
from .function_calls import call_method
from .operators import call_operator

__all__ = [
    "Condition",
    "cast_by",
    "check_condition",
    "evaluated",
    "has_length",
    "is_instance",
    "is_pure",
    "is_repeatable",
    "refine",
    "to_bool",
]

Facts = Mapping[str, Type]

_PARTS_OF_NUMBERS = (FLOAT, COMPLEX, INT)


@value_class(frozen=True, slots=True)
class Condition:
    """A checked condition.

    `static` is its value if that is known now; `if_true` and `if_false` are the narrower types
    variables have where it holds and where it does not.  `cast` is whether it is an expression of
    which a bool is made, not a test that is one by its form.
    """

    value: typed.Expr
    static: bool | None = None
    if_true: Facts = field(default_factory=dict)
    if_false: Facts = field(default_factory=dict)
    cast: bool = False

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


def check_condition(scope: Scope, node: tree.Expr, *, of_while: bool = False) -> Condition:
    """Check an expression as a condition: its value is a bool.

    A call that is the whole condition of a `while` is evaluated as any expression is.
    """
    match node:
        case tree.Boolean():
            return _boolean(scope, node)
        case tree.Unary(operator="not", operand=operand):
            inner = check_condition(scope, operand)
            return inner.negated(_negated(scope, operand, inner.value, node.span))
        case tree.Compare() if is_type_test(scope, node):
            return _type_test(scope, node)
        case tree.Compare(operators=("is" | "is not",)):
            return _identity(scope, node)
        case tree.Compare(operators=("==" | "!=",)):
            return _equality(scope, node)
        case tree.Call():
            special = _special_test(scope, node)
            if special is not None:
                return special
    return _truth(scope, node, expression(scope, node) if of_while else _tested(scope, node))


def _negated(scope: Scope, node: tree.Expr, value: typed.Expr, span: Span) -> typed.Expr:
    """`not value`; of a call that is known here (`is_tracing()`) it is a constant, so that what
    it stands in has the form that it will have when it is loaded."""
    inner = value.value if isinstance(value, typed.Sequenced | typed.Numbered) else value
    if isinstance(node, tree.Call) and inner.type == BOOL and inner.literal is not None:
        answer: typed.Expr = typed.Literal(span, BOOL, not inner.literal)
        if isinstance(value, typed.Sequenced):
            return typed.Sequenced(span, BOOL, value.statements, answer)
        answer = typed.Numbered(span, BOOL, answer)  # beside what it is the opposite of
        return typed.Numbered(span, BOOL, answer) if isinstance(value, typed.Numbered) else answer
    return call_operator(scope, "aten::__not__", Given([value]), span)


def _tested(scope: Scope, node: tree.Expr) -> typed.Expr:
    """The value of a condition.  The object of a method is evaluated once more before the
    call, as in torch, which looks whether `f(x).g` names a special form."""
    value = expression(scope, node)
    if not isinstance(node, tree.Call) or not isinstance(node.function, tree.Attribute):
        return value
    owner = sugared(scope, node.function.value)
    if not isinstance(owner, typed.Expr) or value.type is UNKNOWN:
        return value
    first = typed.Evaluate(owner.span, owner)
    return typed.Sequenced(node.span, value.type, (first,), value)


def _truth(scope: Scope, node: tree.Expr, value: typed.Expr) -> Condition:
    inner, tested = value.type.optional_of, value
    value = to_bool(scope, value, node.span)
    name = tested.variable
    if value.type is UNKNOWN and inner is not None and name is not None:
        # refused; what follows is checked as if the test had been for None
        return Condition(value, None, {name: inner}, {name: NONE}, cast=True)
    static: bool | None = None
    if tested.type is BOOL and tested.literal is not None:
        static = bool(tested.literal)
    elif isinstance(tested, typed.OperatorCall):
        static = {"aten::is_scripting": True, "aten::is_notscripting": False}.get(
            tested.signature.name
        )
    return Condition(value, static, cast=True)


def to_bool(scope: Scope, value: typed.Expr, span: Span) -> typed.Expr:
    """The value as a bool, by `aten::Bool` if it is none yet."""
    if value.type is BOOL:
        return typed.Numbered(span, BOOL, value)
    if value.type is UNKNOWN:
        return value
    if has_length(value):
        return _has_some(scope, value, span)
    if value.type.is_class and value.type.method("__bool__") is not None:
        return _checked_bool(scope, call_method(scope, value, "__bool__", [], span), span)
    if value.type.is_class or not _has_truth(scope, value):
        scope.report(
            "argument-type",
            f"`{value.type.python}` has no truth value",
            span,
            f"this is `{value.type.python}`, where a condition is expected",
            torch=f"Could not cast value of type {scope.torch_type(value)} to bool",
            secondary=tuple(origin(scope, value)),
            helps=truth_help(value, span),
        )
        return scope.unknown(span)
    return cast_by(call_operator(scope, "aten::Bool", Given([value]), span, written="bool"))


def cast_by(call: typed.Expr) -> typed.Expr:
    """The call of an operator that casts a value; see `typed.Numbered`."""
    if isinstance(call, typed.OperatorCall):
        return replace(call, discarded=call.discarded + 1)
    return call


def _has_some(scope: Scope, value: typed.Expr, span: Span) -> typed.Expr:
    """Whether a value's length is above zero, which is made behind the value."""
    before: list[typed.Statement] = []
    value = scope.let(value, before)
    zero = scope.let(typed.Literal(NOWHERE, INT, 0), before)
    length = call_operator(scope, "aten::len", Given([value]), span, written="len")
    test = call_operator(scope, "aten::gt", Given([length, zero]), span, written=">")
    return typed.Sequenced(span, test.type, tuple(before), test)


def _checked_bool(scope: Scope, value: typed.Expr, span: Span) -> typed.Expr:
    """What `__bool__` gave, which must be a bool."""
    if value.type in (BOOL, UNKNOWN):
        return value
    scope.report(
        "argument-type",
        f"`__bool__` gives a `{value.type.python}`, not a bool",
        span,
        "the truth of this is asked for",
        torch=f"expected a bool expression for condition but found {scope.torch_type(value)}",
    )
    return scope.unknown(span)


def has_length(value: typed.Expr) -> bool:
    """Whether the truth of a value is that its length is not zero."""
    return value.type.is_collection or value.type == STRING


def _has_truth(scope: Scope, value: typed.Expr) -> bool:
    return value.type is NUMBER or any(
        s.arguments and is_subtype(value.type, s.arguments[0].type)
        for s in scope.table.overloads("aten::Bool")
    )


# ---------------------------------------------------------------------------- and, or


def _asks_classes(scope: Scope, node: tree.Expr) -> bool:
    """Whether it asks if a class sees to a function itself, which no tensor of script's does."""
    if not isinstance(node, tree.Call) or node.function.variable != "asks":
        return False
    return sugared(scope, node.function) == SpecialForm("asks")


def _boolean(scope: Scope, node: tree.Boolean) -> Condition:
    if node.operator == "and" and _asks_classes(scope, node.values[-1]):
        return _decided(node.span, False, [])
    result = check_condition(scope, node.values[0])
    start = node.values[0].span
    for value in node.values[1:]:
        result = _short_circuit(scope, node.operator, result, value, start.to(value.span))
    return result


def _short_circuit(
    scope: Scope, operator: str, left: Condition, node: tree.Expr, span: Span
) -> Condition:
    """`left operator node`; the right side is checked knowing what the left says."""
    is_or = operator == "or"
    facts = left.if_false if is_or else left.if_true
    with scope.new_frame():
        refinements = refine(scope, facts, span)
        right = check_condition(scope, node)
    with scope.new_frame():
        skipped = refine(scope, left.if_true if is_or else left.if_false, span)
    value = typed.ShortCircuit(span, BOOL, operator, left.value, right.value, refinements, skipped)
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


def refine(scope: Scope, facts: Facts, span: Span) -> tuple[typed.Statement, ...]:
    """Give variables the narrower types in the current frame."""
    statements: list[typed.Statement] = []
    for name, type in facts.items():
        variable = scope.frame.find(name)
        if variable is None or variable.type is None:
            continue
        read = typed.Local(span, variable.type, name)
        cast = typed.UncheckedCast(span, type, read)
        statements.append(typed.Assign(span, name, type, cast))
        scope.frame.define(variable.narrowed(type))
    return tuple(statements)


# -------------------------------------------------------------------------- is, is not


def _identity(scope: Scope, node: tree.Compare) -> Condition:
    operator, right_node = node.operators[0], node.rights[0]
    left = expression(scope, node.left)
    right = expression(scope, right_node)
    is_test = operator == "is"
    left_is, right_is = left.type is NONE, right.type is NONE
    if UNKNOWN in (left.type, right.type):
        return Condition(typed.Uninitialized(node.span, BOOL))
    if left_is and right_is:
        return _decided(node.span, is_test, [left, right])
    if (left_is and not _maybe_none(right)) or (right_is and not _maybe_none(left)):
        return _decided(node.span, not is_test, [left, right])
    name = "aten::__is__" if is_test else "aten::__isnot__"
    value = call_operator(scope, name, Given([left, right]), node.span, written=operator)
    tested, target = (left, node.left) if right_is else (right, right_node)
    if isinstance(target, tree.Attribute) and (left_is or right_is):
        scope.checked_attributes[target.span.text] = (node.span, target.span)
    if not (left_is or right_is) or target.variable is None:
        return Condition(value)
    facts = {target.variable: without_none(tested.type)}
    return Condition(value, None, {}, facts) if is_test else Condition(value, None, facts, {})


def _type_test(scope: Scope, node: tree.Compare) -> Condition:
    """Report `type(x) == T`, in the place of what is wrong with either side."""
    assert isinstance(node.left, tree.Call)
    begun = len(scope.collector.found)
    value = expression(scope, node.left.arguments[0])
    expression(scope, node.rights[0])
    inner = taken_back(scope, begun, node.span)
    scope.report(
        "not-scriptable",
        "`type` cannot be used in script",
        node.left.span,
        "types are no values",
        torch="Python builtin <built-in function type> is currently not supported in Torchscript"
        if inner is None or value.type != TENSOR
        else inner.torch_message,
        torch_span=None if inner is None or value.type != TENSOR else inner.torch_span,
        helps=type_test(node),
    )
    return Condition(typed.Uninitialized(node.span, BOOL))


def _equality(scope: Scope, node: tree.Compare) -> Condition:
    """`x == None` is an error with a sure edit: what follows is checked as if it were made."""
    value = expression(scope, node)
    condition = _truth(scope, node, value)
    right = node.rights[0]
    is_none = isinstance(right, tree.Literal) and right.value is None
    if value.type is not UNKNOWN or not is_none or node.left.variable is None:
        return condition
    variable = scope.frame.find(node.left.variable)
    if variable is None or variable.type is None:
        return condition
    facts = {variable.name: without_none(variable.type)}
    if node.operators == ("==",):
        return replace(condition, if_false=facts)
    return replace(condition, if_true=facts)


def _decided(
    span: Span,
    answer: bool,
    evaluated: list[typed.Expr],
    if_true: Facts | None = None,
    if_false: Facts | None = None,
) -> Condition:
    """A condition decided now; the operands are still evaluated."""
    value: typed.Expr = typed.Literal(span, BOOL, answer)
    if evaluated:
        before = tuple(typed.Evaluate(e.span, e) for e in evaluated)
        value = typed.Sequenced(span, BOOL, before, value)
    return Condition(value, answer, if_true or {}, if_false or {})


# --------------------------------------------------------------- isinstance and hasattr


def _special_test(scope: Scope, node: tree.Call) -> Condition | None:
    named = node.function.dotted or ""
    if named.rpartition(".")[2] not in ("isinstance", "hasattr"):
        return None
    callee = sugared(scope, node.function)
    if not isinstance(callee, SpecialForm) or len(node.arguments) != 2:
        return None
    if callee.name == "isinstance":
        return is_instance(scope, node)
    return _has_attr(scope, node) if callee.name == "hasattr" else None


def _has_attr(scope: Scope, node: tree.Call) -> Condition:
    sugar = sugared(scope, node.arguments[0])
    name = node.arguments[1]
    if isinstance(sugar, TypeName) and isinstance(name, tree.Literal):
        known = isinstance(sugar.type, ClassType) and has_static(sugar.type, name.value)
        return _decided(node.span, known, [])
    value = value_of(scope, sugar, node.arguments[0].span, OWNER)
    if value.type is UNKNOWN:
        return Condition(typed.Uninitialized(node.span, BOOL))
    if name.string is None:
        scope.report(
            "argument-type",
            "`hasattr` needs the name as a literal string",
            name.span,
            "not a literal",
            torch="hasattr's second argument must be a string literal",
        )
        return Condition(typed.Uninitialized(node.span, BOOL))
    if not can_be_asked(scope, value, node.arguments[0].span, whole_range(node.arguments[0])):
        return Condition(typed.Uninitialized(node.span, BOOL))
    read = [value]
    held = value.type.slot_type(name.string) if value.type.is_module else None
    if held is not None:
        read.append(typed.GetAttribute(NOWHERE, held, value, name.string))
    return _decided(value.span, has_attribute(value, name.string), read)


def is_instance(scope: Scope, node: tree.Call) -> Condition:
    """`isinstance(value, types)`, decided now if the types allow it."""
    value = expression(scope, node.arguments[0])
    known = _is_module_of(scope, value, node.arguments[1])
    if known is not None:
        return _decided(node.span, known, [value])
    wanted = [t for t in _class_info(scope, node.arguments[1]) for t in t.alternatives]
    if value.type is UNKNOWN or UNKNOWN in wanted:
        return Condition(typed.Uninitialized(node.span, BOOL))
    given = (_PARTS_OF_NUMBERS if t is NUMBER else (t,) for t in value.type.alternatives)
    yes, no, all_fit = _split([*chain.from_iterable(given)], wanted)
    if_true: dict[str, Type] = {}
    if_false: dict[str, Type] = {}
    subject = node.arguments[0].variable
    if subject is not None:
        if yes:
            if_true[subject] = join_all(yes, or_union=True) or union(yes)
        if no:
            if_false[subject] = join_all(no, or_union=True) or union(no)
    if yes and all_fit:
        return _decided(node.arguments[0].span, True, [value], if_true, if_false)
    if not yes:
        return _decided(node.arguments[0].span, False, [value], if_true, if_false)
    test = typed.IsInstance(node.span, BOOL, value, tuple(in_order(wanted)))
    return Condition(test, None, if_true, if_false)


def _is_module_of(scope: Scope, value: typed.Expr, wanted: tree.Expr) -> bool | None:
    """Whether a live module is of a class; None if something else is asked."""
    if not value.type.is_live:
        return None
    nodes = wanted.elements if isinstance(wanted, tree.TupleDisplay) else (wanted,)
    tests = [getattr(scope.meaning(node), "has_instance", None) for node in nodes]
    return any(test(value.type) for test in tests if test is not None) if any(tests) else None


def _class_info(scope: Scope, node: tree.Expr) -> list[Type]:
    if isinstance(node, tree.TupleDisplay):
        return [t for e in node.elements for t in _class_info(scope, e)]
    if hasattr(scope.meaning(node), "has_instance"):
        return []  # a class of modules, which the value is none of
    return [scope.annotations.read(node)]


def _split(given: Sequence[Type], wanted: list[Type]) -> tuple[list[Type], list[Type], bool]:
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
    if is_subtype(given, wanted):
        return given
    return wanted if is_subtype(wanted, given) else None


def _maybe_none(value: typed.Expr) -> bool:
    """Whether a test against None is worth making; torch does not ask it of `Any`."""
    return value.type is not ANY and can_be_none(value.type)


def is_pure(value: typed.Expr) -> bool:
    """Whether evaluating the expression surely does nothing but give its value."""
    match value:
        case typed.Literal() | typed.Local() | typed.Temporary() | typed.Uninitialized():
            return True
        case typed.GetAttribute(object=object):
            return is_pure(object)
        case typed.Numbered(value=inner):
            return is_pure(inner)
        case typed.Sequenced():
            kept = _values_alone(value)
            return kept is not None and all(map(is_pure, kept))
    return False


def _values_alone(value: typed.Sequenced) -> list[typed.Expr] | None:
    """All that is evaluated, the value last, if nothing else is done there."""
    statements = value.statements
    kept = [s.value for s in statements if isinstance(s, typed.Let | typed.Evaluate)]
    return [*kept, value.value] if len(kept) == len(statements) else None


def is_repeatable(scope: Scope, value: Sugar) -> bool:
    """Whether nothing but numbers in graphs tells how often an expression is evaluated."""

    def all_of(parts: Sequence[Sugar | None]) -> bool:
        return all(part is None or is_repeatable(scope, part) for part in parts)

    match value:
        case typed.OperatorCall(signature=signature):
            gives = signature.name.startswith(("aten::", "prim::")) and signature.returns
            changes = signature.is_mutable or signature.name in scope.table.effects
            return bool(gives) and not changes and all_of(value.inputs)
        case typed.ListLiteral() | typed.TupleLiteral():
            return all_of(value.elements)
        case typed.TupleIndex() | typed.Numbered():
            return is_repeatable(scope, value.value)
        case typed.Sequenced():
            kept = _values_alone(value)
            return kept is not None and all_of(kept)
        case typed.Conditional(body_refinements=(), orelse_refinements=()):
            return all_of((value.test, value.body, value.orelse))
        case RangeValue():
            return all_of((value.start, value.stop, value.step))
        case EnumerateValue():
            return all_of((value.iterated, value.start))
        case ZipValue():
            return all_of(value.parts)
    return isinstance(value, typed.Expr) and is_pure(value)


def evaluated(test: typed.Expr) -> typed.Statement:
    """What is left of a test whose outcome is known: it may assign and have effects."""
    return typed.Evaluate(test.span, test)
