"""Calls of script functions, methods and classes, and of whatever else can be called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...frontend.diagnostics.diagnostics import Edit, Help
from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.torch_ranges import whole_range
from ..definitions.class_types import ClassType, InterfaceType
from ..definitions.functions import Function
from ..definitions.names import (
    ExceptionClass,
    FlaggedFunction,
    FunctionName,
    OperatorName,
    OverloadedFunction,
    PythonName,
    SpecialForm,
    TypeName,
    Unusable,
)
from ..definitions.schema import NO_DEFAULT, Argument, Signature
from ..expressions.arguments import check_arguments
from ..expressions.conversions import convert
from ..expressions.function_calls import call_bound, call_function, shifted, signature_of
from ..expressions.iteration import tuple_elements
from ..expressions.narrowing import is_repeatable
from ..expressions.operators import call_operator, has_operator
from ..expressions.subscripts import tensor_item
from ..relations.matching import Given, match_signature
from ..reports.mismatches import report_mismatch, report_mismatches, report_variants
from ..reports.module_calls import report_construction, report_no_forward
from ..reports.reasons import origin
from ..scopes.dispatch import checks, expression, sugared
from ..scopes.idioms import annotated_result, taken_back
from ..scopes.scope import Scope
from ..scopes.values import called, report_unusable, sequenced, value_of
from ..trees import typed
from ..trees.sugar import (
    CASTS,
    BoundMethod,
    BoundOperator,
    BoundOverloads,
    BoundPython,
    ContainerMethod,
    ExceptionValue,
    MemberSequence,
    StaticMethod,
    Sugar,
    as_called,
)
from ..types.types import (
    ANY,
    BOOL,
    DEVICE,
    GENERATOR,
    INT,
    NONE,
    STRING,
    TENSOR,
    UNKNOWN,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from .special_forms import special_form, tell_keywords

__all__ = ["apply", "make_exception"]

_TO_LIST = Signature(
    "prim::tolist",
    "",
    (Argument("self", TENSOR), Argument("dim", INT), Argument("element", INT)),
    (Argument("", ANY),),
)
"""`dim` is the depth of the wanted list; `element` 0 for int, 1 float, 2 bool, 3 complex."""


@checks(tree.Call)
def check_call(scope: Scope, node: tree.Call, hint: Type | None) -> Sugar:
    """What a call stands for."""
    if isinstance(node.function, tree.Attribute) and node.function.name in _OF_TENSORS:
        found = _OF_TENSORS[node.function.name](scope, node, node.function, hint)
        if found is not None:
            return found
    callee = sugared(scope, node.function)
    if isinstance(callee, SpecialForm):
        return special_form(scope, callee, node, hint)
    if isinstance(callee, FunctionName | BoundMethod):
        # as in torch, the callee is compiled where it is named: before the arguments
        named = callee if isinstance(callee, FunctionName) else None
        signature_of(scope, callee.function, node, node.function.span, named)
    statements: list[typed.Statement] = []
    begun = len(scope.collector.found)
    given = check_arguments(scope, node, statements)
    if node.keywords and isinstance(callee, BoundOperator):
        tell_keywords(scope, callee.name, f"aten::{callee.name}", node)
    if isinstance(callee, Unusable) and len(scope.collector.found) > begun:
        return _refused(scope, callee, node, begun)
    return sequenced(statements, apply(scope, callee, given, node), node.span)


def _refused(scope: Scope, callee: Unusable, node: tree.Call, begun: int) -> Sugar:
    """A call of what script cannot call: one error, whatever its arguments are."""
    inner = taken_back(scope, begun, node.span)
    reported = len(scope.collector.found)
    report_unusable(scope, callee, node.function.span, inner)
    if callee.is_unnamed:
        scope.collector.move_up(reported, begun)
    return scope.unknown(node.span)


# ------------------------------------------------------------------------------ dispatch


def apply(scope: Scope, callee: Sugar, given: Given, node: tree.Call) -> Sugar:
    """Call something already checked with arguments already checked."""
    callee, place = as_called(callee), node.function.span
    match callee:
        case OperatorName(name=name):
            words = place.text
            return call_operator(scope, name, given, node.span, written=words, torch_span=place)
        case BoundOperator(name=name):
            called = _of_receiver(scope, callee, given, node.span)
            return call_operator(scope, called, given, node.span, written=name, torch_span=place)
        case FunctionName(function=function) | StaticMethod(function=function):
            return call_function(scope, function, given, node)
        case OverloadedFunction():
            return _call_overloaded(scope, callee, given, node)
        case FlaggedFunction():
            return _call_flagged(scope, callee, given, node)
        case BoundMethod():
            return call_bound(scope, callee, given, node)
        case PythonName():
            return _call_python(scope, callee, given, node)
        case BoundPython(receiver=receiver, meaning=meaning):
            given.positional.insert(0, receiver)
            return _call_python(scope, meaning, given, node)
        case BoundOverloads():
            return _call_overloaded_method(scope, callee, given, node)
        case ContainerMethod(receiver=receiver, name=name):
            return MemberSequence(callee.span, receiver, name)
        case TypeName(dtype=int() as dtype):
            return _old_tensor(scope, dtype, given, node)
        case TypeName(type=type):
            return _call_type(scope, type, given, node)
        case ExceptionClass():
            return make_exception(callee, given, node)
    return _call_value(scope, callee, given, node)


def _of_receiver(scope: Scope, callee: BoundOperator, given: Given, span: Span) -> str:
    """The operator that a method of a value is, given the value; of casts that have none `to`."""
    given.receiver = callee.receiver
    name = f"aten::{callee.name}"
    if callee.name not in CASTS or has_operator(scope, name):
        return name
    number = typed.Literal(span, INT, CASTS[callee.name])
    no = typed.Literal(NOWHERE, BOOL, value=False)
    given.positional[:0] = [number, no, no]
    return "aten::to"


def _call_value(scope: Scope, callee: Sugar, given: Given, node: tree.Call) -> Sugar:
    if hasattr(callee, "has_instance"):
        return report_construction(scope, node)
    value = value_of(scope, callee, node.function.span)
    type = value.type
    if isinstance(type, ClassType | InterfaceType):
        name = "forward" if type.is_module else "__call__"
        sliced = isinstance(value, typed.Temporary) and value.index in scope.sliced
        if sliced or any(value is each for each in scope.picked):
            return _report_sliced(scope, type, node)
        method = type.method(name)
        if method is not None:
            bound = BoundMethod(value, name, method)
            if isinstance(type, ClassType) and type.is_live:
                return _call_module(scope, bound, type, given, node)
            return call_bound(scope, bound, given, node)
        other = type.other(name) if isinstance(type, ClassType) else None
        if isinstance(other, OverloadedFunction) and other.functions[0].owner is not None:
            return apply(scope, BoundOverloads(value, other.functions), given, node)
        if isinstance(other, PythonName):  # `forward` is left to Python
            return apply(scope, BoundPython(value, other), given, node)
    if isinstance(type, ClassType) and type.is_module:
        return report_no_forward(scope, type, node)
    if type is not UNKNOWN:
        scope.report(
            "argument-type",
            f"`{node.function.span.text}` is `{type.python}`, which cannot be called",
            node.function.span,
            f"this is `{type.python}`",
            torch=f"'{type}' object has no attribute or method '__call__'. Did you forget to "
            "initialize an attribute in __init__()?"
            if type.is_class
            else f"cannot call a value of type '{_called_type(scope, value)}'",
            torch_span=called(node.function.span) if type.is_class else None,
            secondary=tuple(origin(scope, value)),
            helps=_in_brackets(type, node),
        )
    return scope.unknown(node.span)


def _called_type(scope: Scope, value: typed.Expr) -> str:
    """torch's word for the type of what is no function, which for enumerations is the class."""
    type = value.type
    if type.is_enum or type == TENSOR:  # also where that is only inferred
        return type.annotation_str
    return scope.torch_type(value)


def _in_brackets(type: Type, node: tree.Call) -> tuple[Help, ...]:
    """`x.shape(0)` -> `x.shape[0]`."""
    is_indexed = type.is_collection or type.tuple_of is not None
    if not is_indexed or len(node.arguments) != 1 or node.keywords:
        return ()
    whole, begin = node.span.whole, node.function.span.whole.end
    source = whole.source
    if source.text[begin : begin + 1] != "(":
        return ()
    edits = (
        Edit(Span(source, begin, begin + 1), "["),
        Edit(Span(source, whole.end - 1, whole.end), "]"),
    )
    return (Help("elements are taken with brackets", edits),)


def _report_sliced(scope: Scope, type: Type, node: tree.Call) -> typed.Expr:
    scope.report(
        "unsupported-syntax",
        "a module out of a slice cannot be called",
        node.function.span,
        "loop over all modules, or index them one by one",
        torch=f"'{type}' object has no attribute or method '__call__'. Did you forget to "
        "initialize an attribute in __init__()?",
        torch_span=node.span,
    )
    return scope.unknown(node.span)


def _call_flagged(
    scope: Scope, callee: FlaggedFunction, given: Given, node: tree.Call
) -> typed.Expr:
    """A call of one of two functions, which a constant argument chooses."""
    place = callee.place
    positional = given.positional
    flag = positional[place] if place < len(positional) else given.keywords.get(callee.flag)
    if flag is not None and not isinstance(flag, typed.Literal):
        scope.report(
            "argument-type",
            f"`{callee.flag}` chooses a function, so it must be a constant",
            flag.span,
            "not known before the program runs",
            torch=f"argument for boolean dispatch at position {place} was not constant"
            if place < len(positional)
            else f"Keyword argument '{callee.flag}' for boolean dispatch at position was not "
            "constant",
            torch_span=node.function.span,
        )
        return scope.unknown(node.span)
    chosen = callee.if_true if flag is not None and flag.value else callee.if_false
    if isinstance(chosen, FlaggedFunction):
        return _call_flagged(scope, chosen, given, node)
    return call_function(scope, chosen, given, node)


def _call_overloaded(
    scope: Scope, callee: OverloadedFunction, given: Given, node: tree.Call
) -> typed.Expr:
    chosen = _chosen_variant(scope, callee.functions, given, node)
    if chosen is None:
        return scope.unknown(node.span)
    return call_function(scope, chosen, given, node)


def _call_overloaded_method(
    scope: Scope, callee: BoundOverloads, given: Given, node: tree.Call
) -> typed.Expr:
    whole = Given([callee.receiver, *given.positional], given.keywords, None, given.spans)
    chosen = _chosen_variant(scope, callee.functions, whole, node)
    if chosen is None:
        return scope.unknown(node.span)
    return call_bound(scope, BoundMethod(callee.receiver, chosen.name, chosen), given, node)


def _chosen_variant(
    scope: Scope, functions: Sequence[Function], given: Given, node: tree.Call
) -> Function | None:
    """The first function that takes the arguments, as operators are chosen: without conversions
    before with them.  None, and that is reported, if there is none."""
    signatures = []
    for function in functions:
        signature = signature_of(scope, function, node, node.function.span)
        if signature is None:
            return None
        signatures.append(signature)
    for converting in (False, True):
        failures = []
        for function, signature in zip(functions, signatures, strict=True):
            found = match_signature(signature, given, scope.table, convert=converting)
            if found:
                return function
            failures.append((function, found))
    report_variants(scope, failures, given, node)
    return None


def _call_module(
    scope: Scope, callee: BoundMethod, cls: ClassType, given: Given, node: tree.Call
) -> Sugar:
    """A module's `forward` with its hooks around it; they see the arguments as one tuple."""
    if not cls.forward_pre_hooks and not cls.forward_hooks:
        return call_bound(scope, callee, given, node)
    statements: list[typed.Statement] = []
    receiver = scope.let(callee.receiver, statements)
    values = tuple(given.positional)
    types = TupleType(tuple(v.type for v in values))
    packed = scope.let(typed.TupleLiteral(node.span, types, values), statements)
    for hook in cls.forward_pre_hooks:
        result = call_function(scope, hook, Given([receiver, packed]), node)
        result = scope.let(result, statements)
        if result.type.tuple_of is not None:
            packed = result
        elif result.type not in (NONE, UNKNOWN):
            single = typed.TupleLiteral(node.span, TupleType((result.type,)), (result,))
            packed = scope.let(single, statements)
    if values and packed.type is not UNKNOWN:
        given.positional[:] = tuple_elements(scope, packed, statements)
    output = call_bound(scope, BoundMethod(receiver, callee.name, callee.function), given, node)
    for hook in cls.forward_hooks:
        output = scope.let(output, statements)
        result = call_function(scope, hook, Given([receiver, packed, output]), node)
        if result.type is NONE:
            scope.let(result, statements)
        else:
            output = result
    return sequenced(statements, output, node.span)


def _call_python(scope: Scope, callee: PythonName, given: Given, node: tree.Call) -> typed.Expr:
    """A call that leaves compiled code; a dropped function raises instead."""
    signature = callee.function.signature
    found = match_signature(signature, given, scope.table, convert=True)
    if not found:
        name = callee.function.name
        report_mismatches(scope, [found], given, node.span, name, node.function.span)
        return typed.Uninitialized(node.span, signature.returns[0].type)
    if callee.dropped:
        return _dropped(node, signature.returns[0].type, found.inputs)
    return typed.PythonCall(
        node.span, found.result(), callee.function, found.inputs, found.bindings
    )


# ------------------------------------------------------------------------------- classes


def _call_type(scope: Scope, type: Type, given: Given, node: tree.Call) -> Sugar:
    if isinstance(type, ClassType):
        return _new_object(scope, type, given, node)
    if isinstance(type, TupleType) and type.name is not None:
        return _new_named_tuple(scope, type, given, node)
    if type == DEVICE:
        place = node.function.span
        if not given.positional and list(given.keywords) == ["type"]:
            given = Given([given.keywords["type"]])
        return call_operator(
            scope, "aten::device", given, node.span, written="device", torch_span=place
        )
    if type == GENERATOR:
        return call_operator(scope, "aten::Generator", given, node.span, written="Generator")
    if type.is_enum:
        scope.report(
            "not-scriptable",
            f"members of `{type.python}` cannot be made or looked up by value",
            node.function.span,
            "called here",
            torch="cannot call a EnumClass",
            torch_span=node.span,
        )
        return scope.unknown(node.span)
    form = {"list": "list", "tuple": "tuple"}.get(str(type), type.python)
    return special_form(scope, SpecialForm(form), node, None)


def _old_tensor(scope: Scope, dtype: int, given: Given, node: tree.Call) -> typed.Expr:
    """`torch.FloatTensor(...)`: an empty tensor of some sizes, or one of the given values."""
    values = given.positional
    sizes = bool(values) and all(value.type == INT for value in values)
    if given.keywords or (len(values) > 1 and not sizes):
        found = "keywords" if given.keywords else "several values that are not all sizes"
        scope.report(
            "no-matching-overload",
            f"`{node.function.span.text}` takes sizes or one value, not {found}",
            node.span,
            "called here",
            torch="Legacy Tensor Constructor only supports two schemas in TorchScript: \n"
            "1. A single list or tensor to be converted\n2. Integers that are sizes; got "
            + (f"keyword arguments {', '.join(given.keywords)}" if given.keywords else "")
            + (
                "" if given.keywords else "multiple positional arguments that were not all integers"
            ),
        )
        return scope.unknown(node.span)
    if sizes or not values:
        types = ListType(INT)
        values = [typed.ListLiteral(NOWHERE, types, tuple(values))]
    name = "aten::empty" if sizes else "aten::tensor"
    keywords: dict[str, typed.Expr] = {"dtype": typed.Literal(NOWHERE, INT, dtype)}
    span = node.span if sizes or not given.positional else NOWHERE
    return call_operator(scope, name, Given(list(values), keywords), span, written="Tensor")


def _new_object(scope: Scope, cls: ClassType, given: Given, node: tree.Call) -> typed.Expr:
    init = cls.method("__init__")
    if init is None:
        return typed.NewObject(node.span, cls, cls, None, (), ())
    signature = signature_of(scope, init, node, node.function.span)
    if signature is None:
        return typed.Uninitialized(node.span, cls)
    receiver = typed.Uninitialized(node.span, cls)
    whole = Given([receiver, *given.positional], given.keywords, None, given.spans)
    found = match_signature(signature, whole, scope.table, convert=True)
    if not found:
        report_mismatch(scope, found, whole, node.span, init, node.function.span)
        return typed.Uninitialized(node.span, cls)
    bindings = tuple(shifted(b) for b in found.bindings[1:])
    return typed.NewObject(node.span, cls, cls, init, found.inputs[1:], bindings)


def _new_named_tuple(scope: Scope, type: TupleType, given: Given, node: tree.Call) -> typed.Expr:
    """Fields by position or name; the order of evaluation is that of the call."""
    defaults = dict(type.defaults)
    arguments = tuple(
        _field(n, t, defaults.get(n, NO_DEFAULT), place)
        for place, (n, t) in enumerate(zip(type.fields, type.elements, strict=True))
    )
    name = type.python
    signature = Signature(name, "", arguments, ())  # torch tells no result of it
    found = match_signature(signature, given, scope.table, convert=True)
    if not found:
        report_mismatches(scope, [found], given, node.span, name, node.function.span)
        return typed.Uninitialized(node.span, type)
    statements: list[typed.Statement] = []
    inputs = [scope.let(each, statements) for each in found.inputs]
    bound = zip(found.bindings, type.elements, strict=True)
    fields = tuple(_bound_field(scope, *each, inputs, node.span) for each in bound)
    result = typed.TupleLiteral(node.span, type, fields)
    return typed.Sequenced(node.span, type, tuple(statements), result) if statements else result


def _bound_field(
    scope: Scope, binding: typed.Binding, wanted: Type, inputs: list[typed.Expr], span: Span
) -> typed.Expr:
    match binding:
        case typed.Default(value, type):
            return typed.Literal(NOWHERE, type, value)
        case typed.Repeated(typed.Default(value, type), count):
            return typed.Literal(NOWHERE, ListType(type), [value] * count)
        case typed.Repeated(typed.Given(index), count):
            number = inputs[index]
            return typed.ListLiteral(number.span, ListType(number.type), (number,) * count)
        case typed.Gathered(_, element):  # of nothing: a list has a size, so it takes no more
            return typed.ListLiteral(span, ListType(element), ())
    assert isinstance(binding, typed.Given | typed.FromTuple | typed.Rebuilt)
    return convert(scope, inputs[binding.index], wanted, span)


def _field(name: str, type: Type, default: object, place: int) -> Argument:
    """A field as torch declares it: a list has its place as the size a number is repeated to."""
    return Argument(name, type, default, size=place if type.inner.list_of is not None else None)


# ----------------------------------------------------------------------------- the rest


def make_exception(callee: ExceptionClass, given: Given, node: tree.Call) -> Sugar:
    """An exception; several arguments are told as a tuple, as in torch."""
    values = [*given.positional, *given.keywords.values()]
    message: typed.Expr
    if not values:
        message = typed.Literal(node.span, STRING, "")
    elif len(values) == 1:
        message = values[0]
    else:
        types = TupleType(tuple(v.type for v in values))
        message = typed.TupleLiteral(node.span, types, tuple(values))
    return ExceptionValue(message, callee.qualified_name, node.span)


def _to_list(
    scope: Scope, node: tree.Call, function: tree.Attribute, hint: Type | None
) -> typed.Expr | None:
    """`tensor.tolist()`, whose type comes from where its result goes."""
    value = expression(scope, function.value)
    if value.type != TENSOR or node.arguments or node.keywords:
        return None
    depth, element = 0, hint
    while element is not None and element.list_of is not None:
        depth, element = depth + 1, element.list_of
    kinds = {"int": 0, "float": 1, "bool": 2, "complex": 3}
    if hint is None or str(element) not in kinds:
        scope.report(
            "unknown-type",
            "the type of `tolist()` must be said",
            function.span,
            "annotate the variable it is assigned to",
            torch="Expected type hint for result of tolist()"
            if element is None
            else f"{element.annotation_str} is not one of the supported element types for tolist: "
            "int, float, complex, bool",
            torch_span=node.span,
            helps=annotated_result(node, scope.declared_return),
        )
        return scope.unknown(node.span)
    bindings = (
        typed.Given(0),
        typed.Default(depth, INT),
        typed.Default(kinds[str(element)], INT),
    )
    call = typed.OperatorCall(NOWHERE, hint, _TO_LIST, (value,), bindings)
    if not is_repeatable(scope, value):
        return replace(call, discarded=1)
    before = (typed.Evaluate(value.span, value),)  # torch looks at it once before
    return typed.Sequenced(node.span, hint, before, call)


def _get_item(
    scope: Scope, node: tree.Call, function: tree.Attribute, hint: Type | None
) -> typed.Expr | None:
    """`tensor.__getitem__(index)`, which is `tensor[index]`."""
    value = expression(scope, function.value)
    if value.type != TENSOR:
        return None
    count = len(node.arguments)
    if count == 1 and not node.keywords and not node.arguments[0].is_starred:
        index = node.arguments[0]
        several = index.elements if isinstance(index, tree.TupleDisplay) else ()
        indices = several or (index,)
        return tensor_item(scope, value, tree.Subscript(node.span, function.value, indices))
    wrong = "too-many-arguments" if count > 1 else "missing-argument"
    scope.report(
        "unknown-keyword" if node.keywords else wrong,
        f"`__getitem__` takes one argument, the index, not {count}",
        function.name_span,
        "called here",
        torch=f"__getitem__ expected exactly 1 arguments, got {count}",
        torch_span=whole_range(node),
    )
    return scope.unknown(node.span)


_OF_TENSORS = {"__getitem__": _get_item, "tolist": _to_list}
"""Methods that are forms of the language where they are a tensor's."""


_RAISE = Signature(
    "prim::RaiseException",
    "",
    (Argument("msg", STRING), Argument("cls", OptionalType(STRING))),
    (),
)


def _dropped(node: tree.Call, type: Type, inputs: Sequence[typed.Expr]) -> typed.Expr:
    """What a call of an unused function is: its arguments, an exception, and a value that is never
    looked at."""
    text = "This Python function is annotated to be ignored and cannot be run"
    message = typed.Literal(NOWHERE, STRING, text)
    bindings = (typed.Given(0), typed.Default(None, NONE))
    raised = typed.OperatorCall(node.span, NONE, _RAISE, (message,), bindings)
    value = typed.Uninitialized(node.span, type)
    statements = tuple(typed.Evaluate(part.span, part) for part in (*inputs, raised))
    return typed.Sequenced(node.span, type, statements, value)
