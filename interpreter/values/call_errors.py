"""Calls from Python that do not fit the signature, as exceptions with diagnostics."""

from __future__ import annotations

from ...frontend.diagnostics.call_sites import call_site
from ...frontend.diagnostics.diagnostics import Diagnostic, Help, Label, ValueNote
from ...frontend.diagnostics.exceptions import exception_for
from ...frontend.diagnostics.near_miss import near_misses
from ...frontend.limits.walks import text_of
from ...frontend.sources.source import Span
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Argument
from ...typecheck.types.types import Type

__all__ = [
    "given_twice",
    "missing_argument",
    "too_many_arguments",
    "unknown_keyword",
    "wrong_type",
]


def wrong_type(function: Function, argument: Argument, value: object, torch: str) -> Exception:
    """A value that cannot become the parameter's type."""
    name, given = function.name, _given(argument.type, value)
    message = f"`{name}` expects `{argument.type.python}` for `{argument.name}`, not {given}"
    declared = _parameter(function, argument)
    word = "declared" if declared is not None and ":" in declared.text else "no annotation, so"
    shown = text_of(value)
    note = ValueNote(argument.name, shown if len(shown) <= 80 else shown[:77] + "...")
    label = f"{word} `{argument.type.python}`"
    return _error("call-type", message, function, declared, label, torch, values=(note,))


def _given(wanted: Type, value: object) -> str:
    """What a value is; of a list which element is of another type than the first is to be."""
    element = wanted.inner.list_of
    if isinstance(value, list) and element is not None:
        for place, each in enumerate(value):
            kind = type(each).__name__
            if element.python in ("int", "float", "str", "bool") and kind != element.python:
                return f"a list with a `{kind}` at {place}"
    return f"`{type(value).__name__}`"


def missing_argument(function: Function, argument: Argument, torch: str) -> Exception:
    """A parameter without default that was not given."""
    message = f"the call of `{function.name}` gives no value for `{argument.name}`"
    declared = _parameter(function, argument)
    return _error("missing-argument", message, function, declared, "it has no default", torch)


def given_twice(function: Function, argument: Argument, torch: str) -> Exception:
    """A parameter given by position and by name."""
    message = f"the call of `{function.name}` gives `{argument.name}` by position and by name"
    return _error("call-type", message, function, _parameter(function, argument), "twice", torch)


def too_many_arguments(function: Function, most: int, given: int, torch: str) -> Exception:
    """More positional arguments than parameters; `most` and `given` do not count self."""
    plural = "" if most == 1 else "s"
    message = f"`{function.name}` takes {most} argument{plural} by position, but {given} were given"
    written = function.written
    place = None if written is None else written.name_span
    return _error("too-many-arguments", message, function, place, "defined here", torch)


def unknown_keyword(function: Function, name: str, names: list[str], torch: str) -> Exception:
    """A keyword that is no parameter's name."""
    helps = tuple(Help(f"did you mean `{close}`?") for close in near_misses(name, names))
    written = function.written
    place = None if written is None else written.name_span
    message = f"`{function.name}` has no parameter `{name}`"
    listed = ", ".join(f"`{n}`" for n in names) or "none"
    return _error(
        "unknown-keyword", message, function, place, f"its parameters: {listed}", torch, helps=helps
    )


def _parameter(function: Function, argument: Argument) -> Span | None:
    """Where the parameter is declared, in the program's own source if that is known."""
    written = function.written
    for parameter in () if written is None else written.parameters:
        if parameter.name == argument.name:
            return parameter.span
    return None


def _error(
    code: str,
    message: str,
    function: Function,
    place: Span | None,
    label: str,
    torch: str,
    *,
    values: tuple[ValueNote, ...] = (),
    helps: tuple[Help, ...] = (),
) -> Exception:
    where = f"in the call of `{function.name}` from Python"
    declared = Label(place, label) if place is not None else None
    site = call_site()
    primary = declared if site is None else Label(site, "called here")
    if site is None and place is not None:
        kind = "function" if function.owner is None else "method"
        owner = "" if function.owner is None else f"{function.owner.name}."
        where = f"parameters of {kind} `{owner}{function.name}`"
    secondary = () if site is None or declared is None else (declared,)
    diagnostic = Diagnostic(
        code,
        message,
        primary,
        where,
        secondary=secondary,
        values=values,
        helps=helps,
        torch_text=torch,
    )
    return exception_for([diagnostic], torch)
