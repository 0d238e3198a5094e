"""What is said when arguments do not fit: about the overload that comes closest, never a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from ...frontend.diagnostics.diagnostics import Edit, Help, Label
from ...frontend.diagnostics.near_miss import near_misses
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..definitions.functions import Function
from ..definitions.schema import Argument, Signature
from ..definitions.signature_text import python_signature, python_type
from ..relations.matching import Given, Mismatch
from ..relations.relations import can_be_none
from ..relations.variables import has_variables, instantiate, match
from ..scopes.advice import KEYWORDS
from ..scopes.idioms import dtype_of, number_in, of_texts, rounded
from ..scopes.scope import Scope
from ..trees import typed
from ..types.types import ANY, FLOAT, INT, TENSOR, ListType, Type
from .corrections import NUMPY_NAMES, annotated_list, annotated_parameter
from .mismatch_texts import parameter_of, text_of_one, text_of_overloads, text_of_variants
from .operand_faults import checked_first, report_operands
from .other_types import list_help, unlisted, whole_division
from .reasons import article, origin

__all__ = ["report_mismatch", "report_mismatches", "report_variants"]


def _ordinal(number: int) -> str:
    """`1st`, `2nd`, `11th`."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


@dataclass(frozen=True)
class _Fault:
    """A call that does not fit: the failure to speak of, and how the call was written.

    `place` is what torch underlines; `bound` says that the signature's first argument is self.
    """

    best: Mismatch
    given: Given
    name: str
    torch: str
    place: Span
    function: Function | None
    bound: bool
    notes: tuple[str, ...] = ()


def report_mismatches(
    scope: Scope,
    failures: Sequence[Mismatch],
    given: Given,
    span: Span,
    written: str,
    torch_span: Span | None,
) -> None:
    """Report that no overload of an operator fits."""
    torch = text_of_overloads(scope, failures)
    best = _best(_with_meant(failures, given) or failures, given)
    if not written.isidentifier() and "." not in written and "::" not in written:
        report_operands(scope, written, given, span, torch)
        return
    name = written.rpartition("::")[2]
    note = f"signature: {python_signature(best.signature, bound=given.receiver is not None)}"
    bound = given.receiver is not None
    place = torch_span if torch_span is not None else span
    _report_best(scope, _Fault(best, given, name, torch, place, None, bound, (note,)))


def report_mismatch(
    scope: Scope,
    failure: Mismatch,
    given: Given,
    span: Span,
    function: Function,
    torch_span: Span | None = None,
) -> None:
    """Report that the arguments of a script function or method do not fit."""
    torch = text_of_one(scope, failure, function)
    best = _best([failure], given)
    bound = function.owner is not None
    place = torch_span if torch_span is not None else span
    _report_best(scope, _Fault(best, given, function.name, torch, place, function, bound))


def report_variants(
    scope: Scope, variants: Sequence[tuple[Function, Mismatch]], given: Given, node: tree.Call
) -> None:
    """Report that none of the functions that a name stands for takes the arguments."""
    best = _best([failure for _, failure in variants], given)
    function = next(each for each, failure in variants if failure.signature is best.signature)
    torch, bound = text_of_variants(scope, variants), function.owner is not None
    name = re.sub(r"__\d+$", "", function.name) if bound else function.name
    notes = _other_forms(best, [failure.signature for _, failure in variants])
    place = node.function.span
    _report_best(scope, _Fault(best, given, name, torch, place, function, bound, notes))


def _other_forms(best: Mismatch, signatures: Sequence[Signature]) -> tuple[str, ...]:
    """What the argument that does not fit may be in other forms."""
    if best.kind != "argument-type" or best.argument is None:
        return ()
    name, told = best.argument.name, best.argument.type
    types = (a.type for each in signatures for a in each.arguments if a.name == name)
    others = dict.fromkeys(f"`{type.python}`" for type in types if type != told)
    return (f"another form takes {' or '.join(others)} for `{name}`",) if others else ()


# ---------------------------------------------------------------------------- which to say


def _best(failures: Sequence[Mismatch], given: Given) -> Mismatch:
    """The failure of the overload that comes closest to what was meant."""

    def closeness(failure: Mismatch) -> tuple[bool, bool, bool, int]:
        signature = failure.signature
        names = {argument.name for argument in signature.arguments}
        fits_self = failure.torch != "Provided self argument not used in schema."
        is_out = any(a.name == "out" and a.keyword_only for a in signature.arguments)
        return (fits_self, not is_out, names.issuperset(given.keywords), failure.progress)

    best = max(failures, key=closeness)
    if best.kind == "missing-argument":
        names = {a.name for a in best.signature.arguments}
        for name in given.keywords:
            if name not in names:
                value = given.keywords[name]
                return Mismatch(best.signature, "unknown-keyword", best.torch, None, value, name)
    return best


def _with_meant(failures: Sequence[Mismatch], given: Given) -> list[Mismatch]:
    """The overloads with the parameters that are meant, where a name is misspelt or NumPy's."""
    names = [(f, [a.name for a in f.signature.arguments]) for f in failures]
    known = {each for _, own in names for each in own}
    wrong = [name for name in given.keywords if name not in known]
    return [f for f, own in names if wrong and all(_meant(name, own) for name in wrong)]


def _meant(keyword: str, known: Sequence[str]) -> list[str]:
    """The parameters that a keyword may stand for."""
    if keyword in known:
        return []
    numpy = NUMPY_NAMES.get(keyword, "")
    return [numpy] if numpy in known else near_misses(keyword, known)


def _report_best(scope: Scope, fault: _Fault) -> None:
    best = fault.best
    if best.kind == "argument-type" and best.given is not None and best.argument is not None:
        _report_type(scope, fault, best.given, best.argument)
    elif best.kind == "too-many-arguments" and best.given is not None:
        _report_too_many(scope, fault, best.given)
    elif best.kind == "unknown-keyword" and best.keyword is not None:
        _report_keyword(scope, fault, best.keyword)
    elif best.kind == "missing-argument" and best.argument is not None:
        _report_missing(scope, fault, best.argument)
    else:
        types = ", ".join(f"`{e.type.python}`" for e in fault.given.all)
        scope.report(
            "no-matching-overload",
            f"`{fault.name}` does not take {types or 'no arguments'}",
            fault.place,
            "no form of it fits",
            torch=fault.torch,
            notes=fault.notes,
        )


def _report_type(scope: Scope, fault: _Fault, given: typed.Expr, argument: Argument) -> None:
    is_generic = has_variables(argument.type)
    argument = _bound_argument(fault, argument)
    wanted = f"`{python_type(argument)}`"
    if has_variables(argument.type):
        wanted = "another type"
    span, label, helps = _wrong_type(scope, fault, given, argument, is_generic)
    to_list = _to_list(scope, fault, given)
    scope.report(
        "argument-type",
        f"`{fault.name}` expects {wanted} for `{argument.name}`, not `{given.type.python}`",
        span,
        label,
        torch=fault.torch,
        torch_span=fault.place,
        secondary=_type_labels(scope, fault, given, argument, span),
        notes=() if _is_optional_fault(given.type, argument.type) or to_list else fault.notes,
        helps=to_list or helps,
    )


def _to_list(scope: Scope, fault: _Fault, given: typed.Expr) -> tuple[Help, ...]:
    """What to do where a list is given an element of another type: say what it holds, if nobody
    has."""
    receiver = fault.given.receiver
    if fault.name not in ("append", "insert") or receiver is None:
        return ()
    return annotated_list(scope.frame.read_by(receiver), given.type)


def _type_labels(
    scope: Scope, fault: _Fault, given: typed.Expr, argument: Argument, span: Span
) -> tuple[Label, ...]:
    """Where the parameter is declared and where the value has its type from."""
    labels: list[Label] = []
    parameter = parameter_of(fault.function, argument.name)
    if parameter is not None and not _is_optional_fault(given.type, argument.type):
        text = f"declared `{argument.type.python}` here"
        if parameter.annotation is None:
            text = "no annotation, so `Tensor`"
        labels.append(Label(_head(parameter), text))
    if span == given.span.whole or span == given.span:
        labels.extend(origin(scope, given))
    receiver = fault.given.receiver
    if receiver is not None and receiver.type.is_collection:
        labels.extend(origin(scope, receiver))
    return tuple(labels[:3])


def _wrong_type(
    scope: Scope, fault: _Fault, given: typed.Expr, argument: Argument, is_generic: bool
) -> tuple[Span, str, tuple[Help, ...]]:
    """What to underline, what to say there, and what to do; of a parameter that `is_generic` the
    receiver says the type."""
    if _is_optional_fault(given.type, argument.type):
        return given.span, "may be `None`", checked_first(scope, given)
    run = unlisted(fault.given, given, argument)
    if run:
        return list_help(run, given.type)
    label = article(given.type)
    helps: tuple[Help, ...] = ()
    if fault.name == "join" and given.type.list_of is not None:
        return given.span, f"this is {label}", of_texts(given)
    is_literal = isinstance(given, typed.Literal)
    if argument.word == "ScalarType" and is_literal:
        return given.span, label, dtype_of(scope, given.span, given.literal)
    if argument.name == "dim" and isinstance(given.literal, str):
        return given.span, label, number_in(given.span, given.literal)
    if fault.name == "sum" and given.type == ListType(TENSOR):
        edit = Edit(given.span.whole, f"torch.stack({given.span.whole.text}), 0")
        return given.span, label, (Help("stack them, and add along the list", (edit,)),)
    if given.variable is not None:
        label = f"this is {label}"
        if given.type == FLOAT and argument.type == INT:
            edit = Edit(given.span.whole, f"int({given.span.text})")
            helps = (Help("if the fraction may be dropped, convert it", (edit,)),)
    if given.type == FLOAT and argument.type.inner in (INT, ListType(INT)):
        helps = whole_division(scope.frame, given) or helps
    if given.variable is not None and not is_generic:
        helps = helps or annotated_parameter(scope.frame.read_by(given), argument.type)
    if argument.type == INT and _is_whole(given.literal):
        edit = Edit(given.span.whole, str(int(given.literal)))
        helps = (Help("write it as an `int`", (edit,)),)
    if given.type == INT and argument.type == FLOAT:
        text = f"{given.span.text}.0" if is_literal else f"float({given.span.text})"
        helps = (
            Help(
                "an `int` does not become a `float` here by itself: convert it",
                (Edit(given.span.whole, text),),
            ),
        )
    return given.span, label, helps


def _is_whole(value: object) -> TypeGuard[float]:
    """Whether a literal is a float without a fraction."""
    return isinstance(value, float) and value.is_integer()


def _report_too_many(scope: Scope, fault: _Fault, given: typed.Expr) -> None:
    positional = fault.given.positional
    hidden = int(fault.bound and fault.given.receiver is None)  # self, among the positional
    takes = sum(not a.keyword_only for a in fault.best.signature.arguments) - int(fault.bound)
    count = len(positional) - hidden
    place = next(i for i, e in enumerate(positional) if e is given) + 1 - hidden
    secondary: tuple[Label, ...] = ()
    if fault.function is not None and fault.function.tree is not None:
        text = f"{takes} parameter{'' if takes == 1 else 's'}"
        secondary = (Label(_header(fault.function.tree), text),)
    scope.report(
        "too-many-arguments",
        f"`{fault.name}` takes at most {takes} positional argument"
        f"{'' if takes == 1 else 's'}, but {count} {'is' if count == 1 else 'are'} given",
        given.span,
        f"the {_ordinal(place)} argument",
        torch=fault.torch,
        torch_span=fault.place,
        secondary=secondary,
        notes=fault.notes,
        helps=_with_self(fault, count - takes)
        or (rounded(positional[0], given) if fault.name == "round" and place == 2 else ()),
    )


def _with_self(fault: _Fault, more: int) -> tuple[Help, ...]:
    """`def helper(x)` -> `def helper(self, x)`, of a method that is given one argument too many."""
    function = fault.function
    written = () if function is None or function.tree is None else function.tree.parameters
    if more != 1 or not fault.bound or not written:
        return ()
    first = written[0]
    if first.name in ("self", "cls") or first.annotation is not None:
        return ()
    start = first.span.whole.start
    edit = Edit(Span(first.span.source, start, start), "self, ")
    return (Help("the first parameter of a method is the object", (edit,)),)


def _report_keyword(scope: Scope, fault: _Fault, keyword: str) -> None:
    known = [a.name for a in fault.best.signature.arguments]
    message, label = f"`{fault.name}` has no parameter `{keyword}`", "no such parameter"
    if keyword in known:
        message, label = f"`{fault.name}` got `{keyword}` twice", "given by position as well"
    span = fault.given.spans[keyword]
    close = _meant(keyword, known)
    secondary: tuple[Label, ...] = ()
    if close:
        parameter = parameter_of(fault.function, close[0])
        if parameter is not None:
            secondary = (Label(parameter.span, f"`{close[0]}` is declared here"),)
    name_span = Span(span.source, span.whole.start, span.whole.start + len(keyword))
    helps = tuple(Help(f"did you mean `{c}`?", (Edit(name_span, c),), "machine") for c in close)
    if not helps and keyword in KEYWORDS:
        helps = (Help(KEYWORDS[keyword]),)
    scope.report(
        "unknown-keyword",
        message,
        span,
        label,
        torch=fault.torch,
        torch_span=fault.place,
        secondary=secondary,
        notes=fault.notes,
        helps=helps,
    )


def _report_missing(scope: Scope, fault: _Fault, argument: Argument) -> None:
    if fault.given.is_incomplete:
        return
    secondary: tuple[Label, ...] = ()
    parameter = parameter_of(fault.function, argument.name)
    if parameter is not None:
        secondary = (Label(parameter.span, f"`{argument.name}` has no default"),)
    scope.report(
        "missing-argument",
        f"`{fault.name}` needs an argument for `{argument.name}`",
        fault.place,
        f"`{argument.name}` is not given",
        torch=fault.torch,
        secondary=secondary,
        notes=fault.notes,
    )


def _is_optional_fault(given: Type, wanted: Type) -> bool:
    """Whether the only thing wrong with a value is that it may be None."""
    if wanted is ANY or can_be_none(wanted):
        return False
    return given.is_choice and can_be_none(given)


def _bound_argument(fault: _Fault, argument: Argument) -> Argument:
    """The argument, its type's variables replaced as the receiver binds them: the element that
    `append` takes is one of the list's."""
    receiver, first = fault.given.receiver, fault.best.signature.arguments[:1]
    if receiver is None or not first or not has_variables(argument.type):
        return argument
    bound: dict[str, Type] = {}
    match(first[0].type, receiver.type, bound)
    type = instantiate(argument.type, bound)
    return argument if type is None else replace(argument, type=type)


def _head(parameter: tree.Parameter) -> Span:
    """`name: annotation`, without the default; the annotation alone if another text has it."""
    if parameter.annotation is not None:
        span = parameter.annotation.span
        if span.source is not parameter.span.source:
            return span
    end = parameter.annotation.span.end if parameter.annotation is not None else None
    start = parameter.span.whole.start
    return Span(parameter.span.source, start, end if end is not None else parameter.span.end)


def _header(function: tree.Function) -> Span:
    """`name(parameters)`."""
    source = function.name_span.source
    last = function.parameters[-1].span.end if function.parameters else function.name_span.end
    close = source.text.find(")", last)
    return Span(source, function.name_span.start, close + 1 if close >= 0 else last)
