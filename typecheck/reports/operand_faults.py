"""What is said of operands that an operator does not take, and of values that may be None."""

from __future__ import annotations

from ...frontend.diagnostics.diagnostics import Edit, Help, Label
from ...frontend.diagnostics.edits import joined
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..relations.matching import Given
from ..scopes.scope import Scope
from ..trees import typed
from ..types.types import INT, NONE, STRING, TENSOR, OptionalType
from .corrections import annotated_dict
from .declarations import written
from .other_types import operand_helps, whole_division
from .reasons import article, origin

__all__ = ["checked_first", "report_operands", "report_optional"]


def report_operands(scope: Scope, symbol: str, given: Given, span: Span, torch: str) -> None:
    """Report operands that `+` and the like cannot take."""
    if symbol in ("==", "!=") and any(e.type == NONE for e in given.all):
        _report_none_comparison(scope, symbol, given, span, torch)
        return
    if symbol == "[] =":
        _report_item(scope, given, span, torch)
        return
    for operand in given.all:
        if operand.type.optional_of is not None:
            report_optional(scope, symbol, operand, span, torch)
            return
    if symbol == "[:]" and _report_bound(scope, given, span, torch):
        return
    types = [f"`{e.type.python}`" for e in given.all]
    message = f"`{symbol}` cannot be applied to {' and '.join(types)}"
    secondary = [label for e in given.all for label in origin(scope, e)]
    scope.report(
        "no-matching-overload",
        message,
        span,
        f" `{symbol}` ".join(types) if len(types) > 1 else types[0],
        torch=torch,
        secondary=tuple(secondary[:3]),
        helps=operand_helps(symbol, given.all),
    )


def _report_bound(scope: Scope, given: Given, span: Span, torch: str) -> bool:
    """Report what cannot be a bound of a slice, if that is what is wrong."""
    for bound in given.all[1:]:
        if bound.type in (INT, NONE, TENSOR) or not bound.span.whole.text:
            continue
        scope.report(
            "argument-type",
            f"the bounds of a slice are `int`s, not `{bound.type.python}`",
            bound.span,
            f"this is {article(bound.type)}",
            torch=torch,
            torch_span=span,
            secondary=tuple(origin(scope, bound)),
            helps=whole_division(scope.frame, bound),
        )
        return True
    return False


def _report_none_comparison(
    scope: Scope, symbol: str, given: Given, span: Span, torch: str
) -> None:
    other = next((e for e in given.all if e.type != NONE), given.all[0])
    word = "is" if symbol == "==" else "is not"
    edit = Edit(span.whole, f"{other.span.text} {word} None")
    scope.report(
        "none-comparison",
        f"`{symbol}` cannot compare {article(other.type)} with `None`",
        span,
        "a comparison of values, not a test for `None`",
        torch=torch,
        secondary=tuple(origin(scope, other)),
        helps=(Help(f"test with `{word}`", (edit,), "machine"),),
    )


def _report_item(scope: Scope, given: Given, span: Span, torch: str) -> None:
    """Report `owner[index] = value` that does not fit."""
    owner, value = given.all[0], given.all[-1]
    if owner.type == STRING:
        scope.report(
            "unsupported-syntax",
            "a text cannot be changed",
            _of_item(owner, given.all[1]),
            "assigned here",
            torch=torch,
            torch_span=span,
            helps=(Help("make a new one of its parts: `s[:i] + new + s[i + 1:]`"),),
        )
        return
    scope.report(
        "argument-type",
        f"`{owner.type.python}` cannot hold {article(value.type)}",
        value.span,
        f"this is {article(value.type)}",
        torch=torch,
        torch_span=span,
        secondary=tuple(origin(scope, owner)),
        helps=_to_dict(scope, owner, value) or _list_of_none(scope, owner, value),
    )


def _of_item(owner: typed.Expr, index: typed.Expr) -> Span:
    """`owner[index]`"""
    source, end = owner.span.whole.source, index.span.whole.end
    close = source.text.find("]", end)
    return Span(source, owner.span.whole.start, close + 1 if close >= 0 else end)


def _list_of_none(scope: Scope, owner: typed.Expr, value: typed.Expr) -> tuple[Help, ...]:
    """`out = [None] * n` -> `out: list[torch.Tensor | None] = [None for _ in range(n)]`."""
    variable = scope.frame.read_by(owner)
    if variable is None or owner.type.list_of != NONE or variable.span is None:
        return ()
    made, target = variable.tree, variable.span.whole
    end = target.start + len(variable.name)
    if not isinstance(made, tree.Binary | tree.ListDisplay) or variable.declared:
        return ()
    whole = made.span.whole
    if target.source.text[end : whole.start].strip() != "=":
        return ()
    type = written(scope, OptionalType(value.type))
    text = whole.text
    match made:
        case tree.Binary(operator="*", left=tree.ListDisplay(elements=(_,)), right=count):
            text = f"[None for _ in range({count.span.whole.text})]"
        case tree.Binary():
            return ()
    edits = (Edit(Span(target.source, end, end), f": list[{type}]"), Edit(whole, text))
    return (Help("say what the list may hold", edits),)


def _to_dict(scope: Scope, owner: typed.Expr, value: typed.Expr) -> tuple[Help, ...]:
    """What to do where a dict is given a value of another type: say what it holds, if nobody
    has."""
    if owner.type.dict_of is None:
        return ()
    return annotated_dict(scope.frame.read_by(owner), value.type)


def report_optional(scope: Scope, symbol: str, operand: typed.Expr, span: Span, torch: str) -> None:
    """Report a value that may be None where an operator or attribute needs it not to be."""
    inner = operand.type.inner
    need = "a `Tensor` or a number" if inner == TENSOR else article(inner)
    notes: tuple[str, ...] = ()
    text = operand.span.text
    secondary = origin(scope, operand)
    if isinstance(operand, typed.GetAttribute):
        notes = (
            "only local variables keep the result of a `None` check: between the check and "
            "the use, other code could set the attribute again",
        )
        if text in scope.checked_attributes:
            why = "this check is about an attribute, so it is not remembered"
            secondary.append(Label(scope.checked_attributes[text][0].whole, why))
    elif operand.variable is None:
        notes = ("only local variables keep the result of a `None` check",)
    scope.report(
        "optional-operand",
        f"`{text}` may be `None` here: `{symbol}` needs {need}",
        operand.span,
        f"`{operand.type.python}`",
        torch=torch,
        torch_span=span,
        secondary=tuple(secondary),
        notes=notes,
        helps=checked_first(scope, operand),
    )


def checked_first(scope: Scope, operand: typed.Expr) -> tuple[Help, ...]:
    """How to have a value that is not None."""
    text = operand.span.text
    if isinstance(operand, typed.GetAttribute):
        return (_local_help(scope, operand, text),)
    if operand.variable is not None:
        return (Help(f"check it first: `if {text} is not None:`"),)
    return (Help("put the value into a local variable, and check that"),)


def _local_help(scope: Scope, operand: typed.GetAttribute, text: str) -> Help:
    """Read the attribute into a local variable before the check."""
    message, name = "read the attribute into a local variable first", operand.name
    if text not in scope.checked_attributes or scope.frame.find(name) is not None:
        return Help(message)
    test, attribute = scope.checked_attributes[text]
    source = test.source
    line = source.line_starts[source.line_index(test.whole.start)]
    before = source.text[line : test.whole.start]
    indent = before[: len(before) - len(before.lstrip())]
    edits: tuple[Edit, ...] = (
        Edit(Span(source, line, line), f"{indent}{name} = {text}\n"),
        Edit(attribute.whole, name),
        Edit(operand.span.whole, name),
    )
    if operand.span.whole.line == test.whole.line + 1:
        edits = (joined(edits),)
    return Help(message, edits)
