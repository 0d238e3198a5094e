"""Errors inside code that is not the user's: one error at the user's call, in place of them all.

A scripted function may call a library's function that cannot be scripted.  What is wrong inside it
is nothing the user can mend; that it is called is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from ..sources.source import UNKNOWN, Span
from .diagnostics import Demand, Diagnostic, Edit, Frame, Help, Label
from .paths import is_library_file, is_own_file, shown

__all__ = ["fold"]

_CALL_FAULTS = frozenset(
    {
        *("argument-type", "missing-argument", "too-many-arguments", "unknown-keyword"),
        "unresolved-source",
    }
)

_FOR_SCRIPT = ("<rushlight>/nn/", "<rushlight>/functional_in_script.py")
"""Functions of ours that scripts compile, as they do torch's; others are operators to torch."""

_IGNORED = "it is called back at run time, and a model that uses it cannot be saved"


def fold(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics, those of a library's code folded into one at the call that leads there."""
    result: list[Diagnostic] = []
    folded: list[Span] = []
    for diagnostic in map(_placed, found):
        demands = _users_demands(diagnostic)
        if not demands:
            result.append(diagnostic)
            continue
        span = demands[-1].span.whole
        if span not in folded:
            folded.append(span)
            result.append(_folded(diagnostic, demands))
    return [d for d in result if d.code == "not-scriptable" or not _is_inside(d, folded)]


def _placed(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic; one of a function without a source is placed where the user calls it."""
    demands = [each for each in diagnostic.demands if not is_library_file(each.span.filename)]
    nowhere = diagnostic.primary is None or diagnostic.primary.span.source is UNKNOWN.source
    if not nowhere or not demands:
        return diagnostic
    call = demands[-1]
    primary = Label(call.written or call.span.whole, "called here")
    return replace(diagnostic, primary=primary, where=_where(call))


def _where(call: Demand) -> str:
    return f"in function `{call.caller}`" if "." not in call.caller else f"in `{call.caller}`"


def _is_inside(diagnostic: Diagnostic, calls: list[Span]) -> bool:
    """Whether a fault is one of a call that is refused as a whole."""
    if diagnostic.primary is None or diagnostic.code not in _CALL_FAULTS:
        return False
    place = diagnostic.primary.span.whole
    return any(map(place.is_within, calls))


def _users_demands(diagnostic: Diagnostic) -> list[Demand]:
    """The calls on the way to a library's fault that are in the user's code; empty for others."""
    if diagnostic.primary is None or not is_library_file(diagnostic.primary.span.filename):
        return []
    return list(
        takewhile(lambda demand: not is_library_file(demand.span.filename), diagnostic.demands)
    )


def _folded(diagnostic: Diagnostic, demands: list[Demand]) -> Diagnostic:
    assert diagnostic.primary is not None
    made = _at_call(diagnostic, diagnostic.primary, demands)
    place = shown(diagnostic.primary.span.filename)
    if not place.startswith("<rushlight>/") or place.startswith(_FOR_SCRIPT):
        return made
    way = list(takewhile(lambda each: not is_own_file(each.span.filename), diagnostic.demands))
    callee = way[-1].written or way[-1].span.whole
    name = f"aten::{callee.text.rpartition('.')[2]}"
    return replace(
        made,
        torch_message=f"Unknown builtin op: {name}.\nCould not find any similar ops to {name}. "
        "This op may not exist or may not be currently supported in TorchScript.\n",
        torch_span=callee,
        exception="RuntimeError",
        demands=tuple(way[:-1]),
        torch_text="",
    )


def _at_call(diagnostic: Diagnostic, primary: Label, demands: list[Demand]) -> Diagnostic:
    call = demands[-1]
    callee = call.written or call.span.whole
    place = primary.span
    reason = diagnostic.message
    name = callee.text
    if diagnostic.code == "variadic-signature":
        reason = f"`{name}` takes {reason.removesuffix(' cannot be scripted')}"
    called = len(demands) > 1
    return Diagnostic(
        code="not-scriptable",
        message=f"`{name}` cannot be scripted",
        primary=Label(callee, "called here"),
        where=_where(call),
        notes=(f"{reason} ({shown(place.filename)}:{_defined(place)})",),
        stack=tuple(Frame(demand.caller, demand.span) for demand in demands) if called else (),
        helps=(_help(call, called),),
        torch_message=diagnostic.torch_message or diagnostic.message,
        torch_span=diagnostic.torch_span or place,
        exception=diagnostic.exception,
        demands=diagnostic.demands,
        torch_text=diagnostic.torch_text,
    )


def _defined(place: Span) -> int:
    """The line of the `def` that holds a place."""
    for number, line in enumerate(place.source.lines):
        if re.match(r"\s*def\s", line):
            return place.source.first_line + number
    return place.line


def _help(call: Demand, called: bool) -> Help:
    """Leave the calling function to Python, if another scripted function calls it."""
    source = call.span.source
    text = next((line for line in source.lines if re.match(r"\s*def\s", line)), None)
    if not called or text is None:
        return Help(
            "move the call into a function of its own with `@torch.jit.ignore`: " + _IGNORED
        )
    at = source.offset(source.lines.index(text), 0)
    indent = text[: len(text) - len(text.lstrip())]
    edit = Edit(Span(source, at, at), f"{indent}@torch.jit.ignore\n")
    name = call.caller.rpartition(".")[2]
    return Help(f"keep `{name}` in Python: {_IGNORED}", (edit,))
