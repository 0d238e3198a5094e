"""Forms that are called: `range`, `isinstance`, `annotate`, `fork`, and so on."""

from __future__ import annotations

import re

from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.torch_ranges import whole_end, whole_range
from ..binding.comprehensions import comprehend, dict_of, set_item
from ..definitions.class_types import ClassType
from ..definitions.names import OperatorName, SpecialForm, TypeName
from ..definitions.schema import Signature
from ..expressions.arguments import check_arguments
from ..expressions.attributes import Access, attribute_of, can_be_asked, has_attribute
from ..expressions.conversions import convert
from ..expressions.displays import check_list, fits, hinted_container, refuses_hint
from ..expressions.iteration import part_of, tuple_elements
from ..expressions.narrowing import check_condition, is_instance, is_pure, is_repeatable
from ..expressions.operators import call_operator
from ..relations.matching import Given
from ..relations.relations import is_subtype
from ..relations.variables import has_variables
from ..reports.corrections import annotated_parameter, on_self
from ..reports.other_types import whole_division
from ..reports.reasons import article, origin
from ..scopes.dispatch import expression, sugared
from ..scopes.idioms import number_of, without_keyword
from ..scopes.scope import Scope
from ..scopes.values import called, sequenced, value_of
from ..trees import typed
from ..trees.sugar import (
    PERHAPS,
    Closure,
    EnumerateValue,
    RangeValue,
    SliceValue,
    Sugar,
    ZipValue,
    type_of,
)
from ..types.types import (
    ANY,
    BOOL,
    INT,
    NONE,
    STRING,
    TENSOR,
    UNKNOWN,
    DictType,
    FutureType,
    ListType,
    TupleType,
    Type,
)
from .calls import apply
from .special_forms import (
    CASTS_BY_NAME,
    OPERATORS_BY_NAME,
    SPECIAL,
    constructed_type,
    special,
    takes,
)

__all__ = ["known_forms"]

_PRINT = Signature("prim::Print", "", (), (), vararg=True)


# --------------------------------------------------------------------------------- iteration


@special("range")
def _range(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 1, 3):
        return scope.unknown(node.span)
    parts: list[typed.Expr] = []
    for argument in node.arguments:
        value = expression(scope, argument)
        if not is_subtype(value.type, INT):
            scope.report(
                "argument-type",
                f"`range` expects `int`, not `{value.type.python}`",
                argument.span,
                f"this is `{value.type.python}`",
                torch=f"all inputs of range must be ints, found {scope.torch_type(value)} in "
                f"argument {len(parts)}",
                torch_span=whole_range(node),
                secondary=tuple(origin(scope, value)),
                helps=whole_division(scope.frame, value)
                or annotated_parameter(scope.frame.find(argument.span.text), INT)
                or number_of(value),
            )
        parts.append(value)
    if any(p.type is UNKNOWN or not is_subtype(p.type, INT) for p in parts):
        return RangeValue(node.span, None, scope.unknown(node.span), None)
    if len(parts) == 1:
        return RangeValue(node.span, None, parts[0], None)
    step = parts[2] if len(parts) == 3 else typed.Literal(node.span, INT, 1)
    return RangeValue(node.span, parts[0], parts[1], step)


@special("enumerate")
def _enumerate(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    named = [keyword.name for keyword in node.keywords]
    if len(node.arguments) == 1 and named == ["start"]:
        first: tree.Expr | None = node.keywords[0].value
    elif not takes(scope, node, 1, 2):
        return scope.unknown(node.span)
    else:
        first = node.arguments[1] if len(node.arguments) == 2 else None
    start = expression(scope, first) if first is not None else None
    iterated = part_of(scope, sugared(scope, node.arguments[0]), node.span)
    return EnumerateValue(node.span, iterated, start)


@special("zip")
def _zip(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 1, 1 << 30):
        return scope.unknown(node.span)
    parts = [part_of(scope, sugared(scope, a), node.span) for a in node.arguments]
    return ZipValue(node.span, tuple(parts))


@special("slice")
def _slice(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 1, 3):
        return scope.unknown(node.span)
    given = [expression(scope, a) for a in node.arguments]
    start, stop, step = (None, *given, None) if len(given) == 1 else (*given, None)[:3]
    lower = typed.Literal(node.span, INT, 0) if start is None or start.type is NONE else start
    return SliceValue(node.span, lower, stop, None if step is None or step.type is NONE else step)


# -------------------------------------------------------------------------------- containers


@special("list")
def _list(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 0, 1):
        return scope.unknown(node.span)
    if not node.arguments:
        type = constructed_type(hint, ListType) or ListType(TENSOR)
        return typed.ListLiteral(node.span, type, ())
    sugar = sugared(scope, node.arguments[0])
    if isinstance(sugar, typed.Expr) and (sugar.type.list_of is not None or sugar.type == STRING):
        return call_operator(scope, "aten::list", Given([sugar]), node.span, written="list")
    statements: list[typed.Statement] = []
    if isinstance(sugar, typed.Expr):
        sugar = typed.Numbered(sugar.span, sugar.type, scope.let(sugar, statements))
    return sequenced(statements, comprehend(scope, sugar, node.span, hint), node.span)


@special("tuple")
def _tuple(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 1, 1):
        return scope.unknown(node.span)
    value = expression(scope, node.arguments[0])
    if value.type is UNKNOWN:
        return value
    if value.type.tuple_of is not None:
        statements: list[typed.Statement] = []
        elements = tuple(tuple_elements(scope, value, statements))
        made = typed.TupleLiteral(node.span, TupleType(value.type.tuple_of), elements)
        return sequenced(statements, made, node.span)
    scope.report(
        "argument-type",
        f"`tuple` needs a length that is known now, which `{value.type.python}` does not have",
        node.arguments[0].span,
        f"this is `{value.type.python}`",
        torch="cannot statically infer the expected size of a list in this context",
        torch_span=whole_range(node),
    )
    return scope.unknown(node.span)


@special("dict")
def _dict(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if _are_several(scope, node, hint):
        return scope.unknown(node.span)
    wanted = hinted_container(hint, DictType)
    pairs = tuple(
        tree.TupleDisplay(k.span, (tree.Literal(k.span, k.name), k.value)) for k in node.keywords
    )
    first = node.arguments[0] if node.arguments else tree.ListDisplay(node.span, ())
    if isinstance(first, tree.ListDisplay):
        if not first.elements and not pairs:
            return _empty_dict(scope, node, hint, wanted)
        if refuses_hint(scope, node.span, hint, DictType):
            return scope.unknown(node.span)
        items = tree.ListDisplay(first.span, (*first.elements, *pairs))
        given = check_list(scope, first, None) if first.elements and pairs else None
        made = check_list(scope, items, None)
        result = dict_of(scope, made, whole_range(node), wanted, twice=not pairs)
        if given is None or not is_repeatable(scope, given):
            return result
        return sequenced([typed.Evaluate(given.span, given)], result, node.span)
    sugar = sugared(scope, first)
    if not isinstance(sugar, typed.Expr) or sugar.type.dict_of is None:
        if pairs:
            scope.report(
                "unknown-keyword",
                "`dict` takes keywords only with a dict or a list display",
                node.keywords[0].span,
                "not possible here",
                torch="dict takes no keyword arguments",
                torch_span=whole_range(node),
            )
            return scope.unknown(node.span)
        if refuses_hint(scope, node.span, hint, DictType):
            return scope.unknown(node.span)
        return dict_of(scope, sugar, whole_range(node), wanted)
    if isinstance(sugar, typed.DictLiteral) and wanted is not None and fits(sugar.type, wanted):
        sugar = typed.DictLiteral(sugar.span, wanted, sugar.keys, sugar.values)
    return _dict_of_dict(scope, node, sugar)


def _are_several(scope: Scope, node: tree.Call, hint: Type | None) -> bool:
    """Whether a hint names several dict types, of which `dict()` cannot choose; a report if so."""
    if hint is None or sum(t.dict_of is not None for t in hint.alternatives) < 2:
        return False
    scope.report(
        "annotation-conflict",
        f"`dict()` cannot choose between the dict types of `{hint.python}`",
        node.span,
        f"wanted is `{hint.python}`",
        torch="There are multiple candidate Dict types in the Union type annotation "
        f"`{hint.annotation_str}`, and full type inference is not yet supported for the `dict()` "
        "constructor.",
        torch_span=whole_range(node),
    )
    return True


def _empty_dict(
    scope: Scope, node: tree.Call, hint: Type | None, wanted: DictType | None
) -> typed.Expr:
    """`dict()`, of the hinted type; a `Dict[str, Tensor]` where there is none, as in torch."""
    is_open = hint is None or ANY in hint.alternatives or has_variables(hint)
    if wanted is None and hint is not None and hint is not UNKNOWN and not is_open:
        scope.report(
            "annotation-conflict",
            f"{article(hint)} is wanted where this dict stands",
            node.span,
            f"wanted is `{hint.python}`",
            torch=f"Expected a type annotation of Dict for dict constructor dict(), got {hint}",
            torch_span=whole_range(node),
        )
        return scope.unknown(node.span)
    return typed.DictLiteral(node.span, wanted or DictType(STRING, TENSOR), (), ())


def _dict_of_dict(scope: Scope, node: tree.Call, given: typed.Expr) -> Sugar:
    """A copy of a dict, with the keywords added."""
    copied = call_operator(scope, "aten::dict", Given([given]), node.span, written="dict")
    if not node.keywords:
        return copied
    statements: list[typed.Statement] = []
    result = scope.let(copied, statements)
    for keyword in node.keywords:
        key = typed.Literal(keyword.span, STRING, keyword.name)
        call = set_item(scope, result, key, expression(scope, keyword.value), node.span)
        statements.append(typed.Evaluate(node.span, call))
    return sequenced(statements, result, node.span)


# -------------------------------------------------------------------------------- statements


@special("print")
def _print(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    statements: list[typed.Statement] = []
    given = check_arguments(scope, node, statements)
    if node.keywords:
        scope.report(
            "unknown-keyword",
            "`print` takes no keywords in script",
            node.keywords[0].span,
            "not supported",
            torch="print doesn't accept any keyword arguments",
            torch_span=node.function.span,
            helps=without_keyword(node, 0, "what is printed ends its line")
            if len(node.keywords) == 1
            else (),
        )
        return scope.none(node.span)
    if node is not scope.discarded:
        scope.report(
            "argument-type",
            "`print` gives no value",
            node.span,
            "used as a value here",
            torch="None cannot be used as a value",
            torch_span=called(node.span),
        )
        return scope.unknown(node.span)
    bindings = tuple(typed.Given(i) for i in range(len(given.positional)))
    call = typed.OperatorCall(node.span, NONE, _PRINT, tuple(given.positional), bindings)
    return sequenced(statements, call, node.span)


# ------------------------------------------------------------------------------------- tests


@special("isinstance")
def _isinstance(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 2, 2):
        return scope.unknown(node.span)
    return is_instance(scope, node).value


@special("hasattr")
def _hasattr(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 2, 2):
        return scope.unknown(node.span)
    return check_condition(scope, node).value


@special("getattr")
def _getattr(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 2, 3):
        return scope.unknown(node.span)
    owner = sugared(scope, node.arguments[0])
    name = node.arguments[1]
    if name.string is None:
        scope.report(
            "argument-type",
            "`getattr` needs the name as a literal string",
            name.span,
            "not a literal",
            torch="getattr's second argument must be a string literal",
            torch_span=whole_range(node),
        )
        return scope.unknown(node.span)
    if len(node.arguments) == 3 and isinstance(owner, typed.Expr):
        if not can_be_asked(scope, owner, node.arguments[0].span, whole_range(node)):
            return scope.unknown(node.span)
        if not has_attribute(owner, name.string):
            other = sugared(scope, node.arguments[2], hint)
            made = [] if is_pure(owner) else [typed.Evaluate(node.span, owner)]
            return sequenced([*made], other, node.span)
    access = Access(node.span, name.string, name.span, node.arguments[0].span)
    return attribute_of(scope, owner, access)


# ------------------------------------------------------- types said out loud, and archives


def _arguments_span(node: tree.Call) -> Span:
    """All arguments of a call, as torch underlines them."""
    first, last = node.arguments[0].span, node.arguments[-1]
    return Span(first.source, first.start, last.span.end, whole_end(last))


@special("annotate")
def _annotate(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 2, 2):
        return scope.unknown(node.span)
    type = scope.annotations.read(node.arguments[0])
    value = expression(scope, node.arguments[1], type)
    value = convert(scope, value, type, node.span)
    if not is_subtype(value.type, type):
        scope.report(
            "annotation-conflict",
            f"annotated as `{type.python}`, but this is `{value.type.python}`",
            node.arguments[1].span,
            f"this is `{value.type.python}`",
            torch=f"expected an expression of type {type.annotation_str} but found "
            f"{scope.torch_type(value)}\n",
            torch_span=_arguments_span(node),
        )
        return typed.Uninitialized(node.span, type)
    if value.type is NONE and type.optional_of is not None:
        # The annotation is all that tells what else a variable of this value may hold.
        return typed.Numbered(NOWHERE, type, typed.Literal(NOWHERE, type, None))
    return value


@special("unchecked_cast")
def _unchecked_cast(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 2, 2):
        return scope.unknown(node.span)
    type = scope.annotations.read(node.arguments[0])
    return typed.UncheckedCast(node.span, type, expression(scope, node.arguments[1]))


@special("uninitialized")
def _uninitialized(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    if not takes(scope, node, 1, 1):
        return scope.unknown(node.span)
    return typed.Uninitialized(node.span, scope.annotations.read(node.arguments[0]))


@special("__new__")
def _new(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    """`C.__new__(C)`, as code files of archives make objects."""
    if not takes(scope, node, 1, 1):
        return scope.unknown(node.span)
    owner = sugared(scope, node.arguments[0])
    if isinstance(owner, TypeName) and isinstance(owner.type, ClassType):
        return typed.NewObject(node.span, owner.type, owner.type, None, (), ())
    scope.report(
        "argument-type",
        "`__new__` needs a class",
        node.arguments[0].span,
        "not a class",
        torch="Only class types can be passed to __new__",
        torch_span=node.span,
    )
    return scope.unknown(node.span)


@special("fork")
def _fork(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    return _task(scope, node, awaited=False)


@special("awaitable")
def _awaitable(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    return _task(scope, node, awaited=True)


def _task(scope: Scope, node: tree.Call, *, awaited: bool) -> Sugar:
    if not node.arguments:
        return _needs_function(scope, node, "awaitable" if awaited else "fork")
    callee = sugared(scope, node.arguments[0])
    if isinstance(callee, Closure):
        return _closure_task(scope, node, callee, awaited)
    if isinstance(callee, SpecialForm) and callee.name in OPERATORS_BY_NAME:
        callee = OperatorName(OPERATORS_BY_NAME[callee.name])
    whole = whole_range(node)  # which torch marks where the call is not valid
    rest = tree.Call(whole, tree.Name(whole, "task"), node.arguments[1:], node.keywords)
    statements: list[typed.Statement] = []
    given = check_arguments(scope, rest, statements)
    call = apply(scope, callee, given, rest)
    if not isinstance(call, typed.FunctionCall | typed.MethodCall | typed.OperatorCall):
        if type_of(call) is not UNKNOWN:
            value_of(scope, callee, whole)
        return scope.unknown(node.span)
    task = typed.Fork(node.span, _result_of_task(call.type, awaited), call, awaited)
    return sequenced(statements, task, node.span)


def _needs_function(scope: Scope, node: tree.Call, name: str) -> Sugar:
    scope.report(
        "missing-argument",
        f"`{node.function.span.text}` takes a function, and what it is called with",
        node.function.span,
        "called here",
        torch=f"Expected at least one argument to {name}()",
        torch_span=whole_range(node),
    )
    return scope.unknown(node.span)


def _result_of_task(type: Type, awaited: bool) -> FutureType:
    return FutureType(type, "Await" if awaited else "Future")


def _closure_task(scope: Scope, node: tree.Call, closure: Closure, awaited: bool) -> Sugar:
    """A local function.  If it only returns the result of a call, the call is the task."""
    body = closure.body
    match body.body:
        case (typed.Return(value=typed.FunctionCall() | typed.MethodCall() as call),):
            type = _result_of_task(call.type, awaited)
            return typed.Fork(node.span, type, call, awaited)
    names = (tree.Name(node.span, parameter.name) for parameter in body.parameters)
    inputs = tuple(expression(scope, name) for name in names)
    type = _result_of_task(body.returns, awaited)
    return typed.ForkedBody(node.span, type, body, inputs, awaited)


@special("is_scripting")
def _is_scripting(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    takes(scope, node, 0, 0)
    return typed.Literal(node.span, BOOL, True)


@special("asks")
def _asks(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    """Whether the class of an argument sees to a function itself: in script none does."""
    return typed.Literal(node.span, BOOL, False)


@special("is_tracing")
def _is_tracing(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    takes(scope, node, 0, 0)
    return typed.Literal(node.span, BOOL, False)


@special("unused")
def _unused(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    """A call of a function that is left out raises when it runs."""
    scope.report(
        "not-scriptable",
        f"`{node.function.span.text}` is marked as unused; calling it is not supported yet",
        node.function.span,
        "called here",
        torch="This Python function is annotated to be ignored and cannot be run",
    )
    return scope.unknown(node.span)


# ------------------------------------------------------------------------------- what is refused


@special("super")
def _super(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    """`super()`: refused.  To torch it is a function of Python that gives a tensor."""
    following = node.span.source.text[node.span.end :]
    name = re.match(r"\s*\.\s*(\w+)", following)
    torch = "Python builtin <built-in function super> is currently not supported in Torchscript"
    place = node.function.span
    if node.arguments:
        torch = f"python value of type 'type' cannot be used as a value{PERHAPS}"
        place = node.arguments[0].span
    elif name is not None:
        torch = f"'Tensor' object has no attribute or method '{name[1]}'."
        end = place.end + len(".") + len(name[1])  # torch takes the name to follow the callee
        place = Span(place.source, place.start, end)
    scope.report(
        "not-scriptable",
        "`super` cannot be used in script",
        node.function.span,
        "called here",
        torch=torch,
        torch_span=place,
        helps=on_self(scope, node, "" if name is None else name[1]),
    )
    return scope.unknown(node.span)


def known_forms() -> frozenset[str]:
    """The names a resolver may give as a `SpecialForm`."""
    return frozenset([*SPECIAL, *CASTS_BY_NAME, *OPERATORS_BY_NAME])
