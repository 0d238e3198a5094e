"""What is said of a global that script cannot read: where it is made, and how to pass it in."""

from __future__ import annotations

import math
import sys

from ...frontend.diagnostics.diagnostics import Edit, Help, Label
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..definitions.names import Unusable
from .advice import BUILTINS, CLASSES

__all__ = ["global_helps", "global_labels", "global_notes", "with_article"]

_IGNORE = (
    "call it in a function of its own with `@torch.jit.ignore`: that stays in Python, and a model "
    "that uses it cannot be saved"
)

_STORED = (bool, int, float, str)
"""What a default can hold in a saved function."""


def with_article(word: str) -> str:
    """`a `float``, `an `int``."""
    return f"{'an' if word[0] in 'aeioAEIO' else 'a'} `{word}`"


def global_labels(found: Unusable) -> tuple[Label, ...]:
    """The line of the file that makes the global."""
    if found.place is None:
        return ()
    return (
        Label(found.place.statement, f"{with_article(type(found.value).__name__)}, defined here"),
    )


def global_notes(found: Unusable) -> tuple[str, ...]:
    """Why it cannot be read."""
    if found.place is None or type(found.value) not in _STORED:
        return ()
    return ("a saved model carries no module globals",)


def global_helps(found: Unusable, span: Span, function: tree.Function) -> tuple[Help, ...]:
    """How to get the value into the function, or what to write in place of it."""
    instead = _instead(found)
    if instead:
        return instead
    if found.code == "not-scriptable":
        name = span.text.rpartition(".")[2]
        return (Help(CLASSES.get(name) or BUILTINS.get(span.text, _IGNORE)),)
    if found.place is None:
        return (Help("pass it as an argument"),)
    if type(found.value) in _STORED:
        edits = _as_parameter(found, span, function)
        return (Help("pass it in; a default is stored with the function", edits),)
    if type(found.value).__name__ in ("Tensor", "Parameter"):
        return (Help("pass it as an argument, or register it as a buffer of a module"),)
    if type(found.value).__module__.partition(".")[0] in sys.stdlib_module_names - {"builtins"}:
        return (Help(_IGNORE.replace("call", "use", 1)),)
    return (Help("pass it as an argument, or make it an attribute of a module"),)


def _instead(found: Unusable) -> tuple[Help, ...]:
    """What script has in place of a function of another library."""
    name = getattr(found.value, "__name__", "")
    if not callable(found.value) or not hasattr(math, name):
        return ()
    return (Help(f"write `math.{name}` for a number, `torch.{name}` for a tensor"),)


def _as_parameter(found: Unusable, span: Span, function: tree.Function) -> tuple[Edit, ...]:
    """A parameter with the global as its default, and its use in place of the global's."""
    name, new = span.text, span.text.lower()
    taken = any(parameter.name == new for parameter in function.parameters)
    text, after = function.span.source.text, function.name_span.end
    if function.parameters:
        after = function.parameters[-1].span.end
    close = text.find(")", after)
    if new == name or taken or close < 0 or any(p.keyword_only for p in function.parameters):
        return ()
    comma = ", " if function.parameters else ""
    added = f"{comma}{new}: {type(found.value).__name__} = {name}"
    place = close if not function.parameters else after
    return (Edit(Span(span.source, place, place), added), Edit(span.whole, new))
