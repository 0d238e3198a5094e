"""What to do where operands and arguments are of other types than are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from ...frontend.diagnostics.diagnostics import Edit, Help
from ...frontend.sources.source import Span
from ..definitions.schema import Argument
from ..relations.matching import Given
from ..relations.relations import is_subtype
from ..scopes.environment import Frame
from ..trees import typed
from ..types.types import ANY, BOOL, FLOAT, INT, NONE, STRING, TENSOR, Type
from .reasons import article

__all__ = ["list_help", "operand_helps", "truth_help", "unlisted", "whole_division"]

_NUMBERS = (INT, FLOAT, BOOL)
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five"}


def whole_division(frame: Frame, given: typed.Expr) -> tuple[Help, ...]:
    """`n / 2` -> `n // 2`, where both are ints: in the value itself or where a variable got it."""
    variable = frame.read_by(given)
    value = given if variable is None else variable.value
    if not isinstance(value, typed.OperatorCall) or value.signature.name != "aten::div":
        return ()
    if [each.type for each in value.inputs] != [INT, INT]:
        return ()
    left, right = (each.span.whole for each in value.inputs)
    between = Span(left.source, left.end, right.start)
    at = between.start + between.text.find("/")
    if between.text.count("/") != 1:
        return ()
    edit = Edit(Span(left.source, at, at + 1), "//")
    return (Help("`/` makes a `float` of `int`s, `//` an `int`", (edit,)),)


def operand_helps(symbol: str, operands: Sequence[typed.Expr]) -> tuple[Help, ...]:
    """What to do with operands that `+` and the like do not take."""
    if len(operands) != 2:
        return ()
    first, second = operands
    if symbol in ("+", "+="):
        element = first.type.list_of
        if element is not None and second.type == element:
            text = second.span.whole.text
            return (Help("put it into a list", (Edit(second.span.whole, f"[{text}]"),)),)
        for one, other in ((first, second), (second, first)):
            if one.type == STRING and other.type in _NUMBERS:
                edit = Edit(other.span.whole, f"str({other.span.whole.text})")
                return (Help("make a text of it", (edit,)),)
    for one, other in ((first, second), (second, first)):
        if _begins_with_tensor(one.type) and other.type in (TENSOR, *_NUMBERS):
            end = one.span.whole.end
            text = f"it is a tuple of {len(one.type.tuple_of or ())}: take the first of it"
            return (Help(text, (Edit(Span(one.span.source, end, end), "[0]"),)),)
    return _asked_first(operands)


def _asked_first(operands: Sequence[typed.Expr]) -> tuple[Help, ...]:
    """What to do with a value of which only a run knows the type."""
    for operand in operands:
        alternatives = [each for each in operand.type.alternatives if each != NONE]
        if operand.type == ANY:
            alternatives = [INT]
        if operand.variable and alternatives and operand.type.optional_of is None:
            test = f"if isinstance({operand.variable}, {alternatives[0].python}):"
            return (Help(f"find out first what it is: `{test}`"),)
    return ()


def _begins_with_tensor(type: Type) -> bool:
    elements = type.tuple_of
    return bool(elements) and elements is not None and elements[0] == TENSOR


def truth_help(value: typed.Expr, span: Span) -> tuple[Help, ...]:
    """`if x:` -> `if x is not None:`, and `not x` -> `x is None`, of what may be None."""
    if value.type.optional_of is None or value.variable is None:
        return ()
    whole, name = span.whole, value.span.whole.text
    bare = whole.source.text[: whole.start].rstrip()
    if bare.endswith("not"):
        edit = Edit(Span(whole.source, len(bare) - 3, whole.end), f"{name} is None")
    else:
        edit = Edit(whole, f"{name} is not None")
    return (Help("ask whether it is `None`", (edit,)),)


def unlisted(given: Given, value: typed.Expr, argument: Argument) -> list[typed.Expr]:
    """The positional arguments, from the one at fault on, that would make the list wanted."""
    element = argument.type.inner.list_of
    if element is None or not is_subtype(value.type, element):
        return []
    places = [i for i, e in enumerate(given.positional) if e is value]
    if not places:
        return []
    rest = given.positional[places[0] :]
    fitting = takewhile(lambda e: e.type == value.type, rest)
    return list(fitting)


def list_help(run: list[typed.Expr], type: Type) -> tuple[Span, str, tuple[Help, ...]]:
    """Several values where one list is expected."""
    first, last = run[0].span.whole, run[-1].span.whole
    span = Span(first.source, first.start, last.end)
    label = f"{article(type)}, where a list is expected"
    if len(run) > 1:
        count = _COUNTS.get(len(run), str(len(run)))
        label = f"{count} `{type.python}`s, where one list is expected"
    what = "the tensors" if type == TENSOR else "them"
    if len(run) == 1:
        what = "it"
    return span, label, (Help(f"pass {what} as a list", (Edit(span, f"[{span.text}]"),)),)
