"""What is said when arguments do not fit: about the overload that comes closest, never a list."""

from __future__ import annotations

from collections.abc import Sequence

from ..frontend import tree
from ..frontend.diagnostics import Edit, Help, Label
from ..frontend.near_miss import near_misses
from ..frontend.source import Span
from . import typed
from .context import Context
from .environment import Variable
from .functions import Function
from .matching import ACTUAL, Given, Mismatch
from .relations import can_be_none
from .schema import Argument
from .signature_text import python_signature, torch_signature
from .types import ANY, FLOAT, INT, NONE, TENSOR, OptionalType, Type, UnionType
from .variables import has_variables

__all__ = ["Mismatches"]


def article(type: Type) -> str:
    """`a `float``, `an `int``."""
    return f"{'an' if type.python[0] in 'aeioAEIO' else 'a'} `{type.python}`"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `11th`."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


class Mismatches(Context):
    """Reports about calls whose arguments do not fit."""

    def report_mismatches(
        self,
        failures: Sequence[Mismatch],
        given: Given,
        span: Span,
        written: str,
        torch_span: Span | None,
    ) -> None:
        """Report that no overload of an operator fits."""
        torch = self._torch_overloads(failures)
        best = self._best(failures, given)
        if not written.isidentifier() and "." not in written and "::" not in written:
            self._report_operands(written, given, span, torch)
            return
        name = written.rpartition("::")[2]
        self._report_best(best, given, span, name, torch, torch_span, None, len(failures) > 1)

    def report_mismatch(
        self,
        failure: Mismatch,
        given: Given,
        span: Span,
        function: Function,
        torch_span: Span | None = None,
    ) -> None:
        """Report that the arguments of a script function or method do not fit."""
        torch = self._torch_one(failure, function)
        failure = self._best([failure], given)
        self._report_best(failure, given, span, function.name, torch, torch_span, function, False)

    # ----------------------------------------------------------------------- torch's sentences

    def _torch_overloads(self, failures: Sequence[Mismatch]) -> str:
        if len(failures) == 1:
            return self._torch_one(failures[0], None)
        lines = ["Arguments for call are not valid.", "The following variants are available:"]
        for failure in failures:
            lines.append("  ")
            lines.append(f"  {torch_signature(failure.signature)}:")
            lines.extend(f"  {line}" for line in self._torch_reason(failure, None).split("\n"))
        return "\n".join([*lines, "", "The original call is"])

    def _torch_one(self, failure: Mismatch, function: Function | None) -> str:
        name = function.name if function is not None else None
        text = torch_signature(failure.signature, name=name)
        return f"\n{text}:\n{self._torch_reason(failure, function)}\n"

    def _torch_reason(self, failure: Mismatch, function: Function | None) -> str:
        if failure.given is None:
            return failure.torch
        actual = self.torch_type(failure.given)
        text = failure.torch.replace(ACTUAL, actual)
        name = failure.argument.name if failure.argument is not None else ""
        why = "because it was not annotated with an explicit type."
        parameter = _parameter(function, name)
        if parameter is not None and parameter.annotation is None and name != "self":
            text = text.replace("of type 'Tensor' for", "of type 'Tensor (inferred)' for")
            return f"{text}\nInferred '{name}' to be of type 'Tensor' {why}"
        if actual == "Tensor (inferred)" and failure.torch.startswith("Expected a value"):
            return f"{text}\nInferred the value for argument '{name}' to be of type 'Tensor' {why}"
        return text

    # ---------------------------------------------------------------------------- which to say

    def _best(self, failures: Sequence[Mismatch], given: Given) -> Mismatch:
        """The failure of the overload that comes closest to what was meant."""

        def closeness(failure: Mismatch) -> tuple[bool, bool, int]:
            signature = failure.signature
            fits_self = failure.torch != "Provided self argument not used in schema."
            is_out = any(a.name == "out" and a.keyword_only for a in signature.arguments)
            return (fits_self, not is_out, failure.progress)

        best = max(failures, key=closeness)
        if best.kind == "missing-argument":
            names = {a.name for a in best.signature.arguments}
            for name in given.keywords:
                if name not in names:
                    value = given.keywords[name]
                    return Mismatch(
                        best.signature, "unknown-keyword", best.torch, None, value, name
                    )
        return best

    def _report_best(
        self,
        best: Mismatch,
        given: Given,
        span: Span,
        name: str,
        torch: str,
        torch_span: Span | None,
        function: Function | None,
        overloaded: bool,
    ) -> None:
        bound = given.receiver is not None or (function is not None and function.owner is not None)
        notes: tuple[str, ...] = ()
        if function is None:
            notes = (f"signature: {python_signature(best.signature, bound=bound)}",)
        if best.kind == "argument-type" and best.given is not None and best.argument is not None:
            self._report_type(
                best, best.given, best.argument, name, torch, torch_span or span, function, notes
            )
        elif best.kind == "too-many-arguments" and best.given is not None:
            self._report_too_many(
                best, given, name, torch, torch_span or span, function, bound, notes
            )
        elif best.kind == "unknown-keyword" and best.keyword is not None:
            self._report_keyword(
                best, best.keyword, given, name, torch, torch_span or span, function, notes
            )
        elif best.kind == "missing-argument" and best.argument is not None:
            self._report_missing(
                best, best.argument, name, torch, torch_span or span, function, notes
            )
        else:
            types = ", ".join(f"`{e.type.python}`" for e in given.all)
            self.report(
                "no-matching-overload",
                f"`{name}` does not take {types or 'no arguments'}",
                torch_span or span,
                "no form of it fits",
                torch=torch,
                torch_span=torch_span,
                notes=notes,
            )

    def _report_type(
        self,
        best: Mismatch,
        given: typed.Expr,
        argument: Argument,
        name: str,
        torch: str,
        torch_span: Span,
        function: Function | None,
        notes: tuple[str, ...],
    ) -> None:
        wanted = self._wanted(argument)
        secondary: list[Label] = []
        parameter = _parameter(function, argument.name)
        if parameter is not None:
            annotated = parameter.annotation is not None
            text = f"declared {wanted} here" if annotated else "no annotation, so `Tensor`"
            if given.type is NONE or not _is_optional_fault(given.type, argument.type):
                secondary.append(Label(_head(parameter), text))
        secondary.extend(self.origin(given))
        maybe = _is_optional_fault(given.type, argument.type)
        is_name = isinstance(given, typed.Local)
        label = article(given.type)
        if maybe:
            label = "may be `None`"
        elif is_name:
            label = f"this is {label}"
        helps: tuple[Help, ...] = ()
        if is_name and given.type == FLOAT and argument.type == INT:
            edit = Edit(given.span.whole, f"int({given.span.text})")
            helps = (Help("if the fraction may be dropped, convert it", (edit,)),)
        self.report(
            "argument-type",
            f"`{name}` expects {wanted} for `{argument.name}`, not `{given.type.python}`",
            given.span,
            label,
            torch=torch,
            torch_span=torch_span,
            secondary=tuple(secondary[:3]),
            notes=notes if parameter is None else (),
            helps=helps,
        )

    def _wanted(self, argument: Argument) -> str:
        if has_variables(argument.type):
            return "another type"
        return f"`{argument.type.python}`"

    def _report_too_many(
        self,
        best: Mismatch,
        given: Given,
        name: str,
        torch: str,
        torch_span: Span,
        function: Function | None,
        bound: bool,
        notes: tuple[str, ...],
    ) -> None:
        assert best.given is not None
        takes = sum(not a.keyword_only for a in best.signature.arguments) - int(bound)
        count = len(given.positional) - int(bound and given.receiver is None)
        place = next(i for i, e in enumerate(given.positional) if e is best.given) + 1
        place -= int(bound and given.receiver is None)
        secondary: tuple[Label, ...] = ()
        if function is not None and function.tree is not None:
            text = f"{takes} parameter{'' if takes == 1 else 's'}"
            secondary = (Label(_header(function.tree), text),)
        verb = "is" if count == 1 else "are"
        self.report(
            "too-many-arguments",
            f"`{name}` takes at most {takes} positional argument{'' if takes == 1 else 's'}, "
            f"but {count} {verb} given",
            best.given.span,
            f"the {ordinal(place)} argument",
            torch=torch,
            torch_span=torch_span,
            secondary=secondary,
            notes=notes,
        )

    def _report_keyword(
        self,
        best: Mismatch,
        keyword: str,
        given: Given,
        name: str,
        torch: str,
        torch_span: Span,
        function: Function | None,
        notes: tuple[str, ...],
    ) -> None:
        known = [a.name for a in best.signature.arguments]
        if keyword in known:
            message, label = f"`{name}` got `{keyword}` twice", "given by position as well"
        else:
            message, label = f"`{name}` has no parameter `{keyword}`", "no such parameter"
        assert best.given is not None
        span = given.spans.get(keyword, best.given.span)
        close = near_misses(keyword, known) if keyword not in known else []
        secondary: tuple[Label, ...] = ()
        if close:
            parameter = _parameter(function, close[0])
            if parameter is not None:
                secondary = (Label(parameter.span, f"`{close[0]}` is declared here"),)
        name_span = Span(span.source, span.whole.start, span.whole.start + len(keyword))
        helps = tuple(Help(f"did you mean `{c}`?", (Edit(name_span, c),), "machine") for c in close)
        self.report(
            "unknown-keyword",
            message,
            span,
            label,
            torch=torch,
            torch_span=torch_span,
            secondary=secondary,
            notes=notes,
            helps=helps,
        )

    def _report_missing(
        self,
        best: Mismatch,
        argument: Argument,
        name: str,
        torch: str,
        torch_span: Span,
        function: Function | None,
        notes: tuple[str, ...],
    ) -> None:
        secondary: tuple[Label, ...] = ()
        parameter = _parameter(function, argument.name)
        if parameter is not None:
            secondary = (Label(parameter.span, f"`{argument.name}` has no default"),)
        self.report(
            "missing-argument",
            f"`{name}` needs an argument for `{argument.name}`",
            torch_span,
            f"`{argument.name}` is not given",
            torch=torch,
            torch_span=torch_span,
            secondary=secondary,
            notes=notes,
        )

    # ---------------------------------------------------------------------------- operators

    def _report_operands(self, symbol: str, given: Given, span: Span, torch: str) -> None:
        """Report operands that `+` and the like cannot take."""
        for operand in given.all:
            if isinstance(operand.type, OptionalType):
                self._report_optional(symbol, operand, span, torch)
                return
        types = [f"`{e.type.python}`" for e in given.all]
        message = f"`{symbol}` cannot be applied to {' and '.join(types)}"
        secondary = [label for e in given.all for label in self.origin(e)]
        self.report(
            "no-matching-overload",
            message,
            span,
            f" `{symbol}` ".join(types) if len(types) > 1 else types[0],
            torch=torch,
            secondary=tuple(secondary[:3]),
        )

    def _report_optional(self, symbol: str, operand: typed.Expr, span: Span, torch: str) -> None:
        assert isinstance(operand.type, OptionalType)
        inner = operand.type.element
        need = "a `Tensor` or a number" if inner == TENSOR else article(inner)
        notes: tuple[str, ...] = ()
        helps: tuple[Help, ...] = ()
        text = operand.span.text
        if isinstance(operand, typed.GetAttribute):
            notes = (
                "only local variables keep the result of a `None` check: between the check and "
                "the use, other code could set the attribute again",
            )
            helps = (Help("read the attribute into a local variable first"),)
        elif isinstance(operand, typed.Local):
            helps = (Help(f"check it first: `if {text} is not None:`"),)
        self.report(
            "optional-operand",
            f"`{text}` may be `None` here: `{symbol}` needs {need}",
            operand.span,
            f"`{operand.type.python}`",
            torch=torch,
            torch_span=span,
            secondary=tuple(self.origin(operand)),
            notes=notes,
            helps=helps,
        )

    # ------------------------------------------------------------------------------ reasons

    def origin(self, given: typed.Expr) -> list[Label]:
        """Where the type of a variable comes from."""
        if not isinstance(given, typed.Local):
            return []
        variable = self.frame.find(given.name)
        if variable is None or variable.span is None or variable.type is None:
            return []
        return [Label(variable.span.whole, origin_text(variable))]


def origin_text(variable: Variable) -> str:
    """Why a variable has its type, in a few words."""
    assert variable.type is not None
    type = f"`{variable.type.python}`"
    if variable.inferred:
        return f"no annotation, so {type}"
    node, value = variable.tree, variable.value
    if isinstance(node, tree.Binary) and isinstance(value, typed.OperatorCall):
        kinds = [e.type.python for e in value.inputs]
        if len(kinds) == 2:
            return f"{type}, because `{node.span.text}` is `{f' {node.operator} '.join(kinds)}`"
    if isinstance(node, tree.ListDisplay) and not node.elements and not variable.declared:
        return f"{type}, because an empty list has no other type"
    return type


def _is_optional_fault(given: Type, wanted: Type) -> bool:
    """Whether the only thing wrong with a value is that it may be None."""
    if wanted is ANY or can_be_none(wanted):
        return False
    return isinstance(given, OptionalType | UnionType) and can_be_none(given)


def _parameter(function: Function | None, name: str) -> tree.Parameter | None:
    if function is None or function.tree is None:
        return None
    return next((p for p in function.tree.parameters if p.name == name), None)


def _head(parameter: tree.Parameter) -> Span:
    """`name: annotation`, without the default."""
    end = parameter.annotation.span.end if parameter.annotation is not None else None
    start = parameter.span.whole.start
    return Span(parameter.span.source, start, end if end is not None else parameter.span.end)


def _header(function: tree.Function) -> Span:
    """`name(parameters)`."""
    source = function.name_span.source
    last = function.parameters[-1].span.end if function.parameters else function.name_span.end
    close = source.text.find(")", last)
    return Span(source, function.name_span.start, close + 1 if close >= 0 else last)
