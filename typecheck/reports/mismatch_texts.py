"""What torch says where arguments do not fit: of one signature, or of all that a name has."""

from __future__ import annotations

from collections.abc import Sequence

from ...frontend.syntax import tree
from ..definitions.functions import Function
from ..definitions.signature_text import torch_signature
from ..relations.matching import ACTUAL, Mismatch
from ..scopes.scope import Scope

__all__ = ["EMPTY_LISTS", "parameter_of", "text_of_one", "text_of_overloads", "text_of_variants"]

EMPTY_LISTS = (
    "Empty lists default to List[Tensor]. Add a variable annotation to the assignment to create "
    "an empty list of another type (torch.jit.annotate(List[T, []]) where T is the type of "
    "elements in the list for Python 2)"
)
"""torch's hint where a list of tensors stands for another list."""


def text_of_overloads(scope: Scope, failures: Sequence[Mismatch]) -> str:
    """What it says of an operator that does not take some arguments."""
    if len(failures) == 1 and len(scope.table.overloads(failures[0].signature.name)) < 2:
        return text_of_one(scope, failures[0], None)
    return text_of_variants(scope, [(None, failure) for failure in failures])


def text_of_variants(scope: Scope, variants: Sequence[tuple[Function | None, Mismatch]]) -> str:
    """What it says of a name that stands for several operators or functions."""
    lines = ["Arguments for call are not valid.", "The following variants are available:"]
    for function, failure in variants:
        name = None if function is None else function.name
        lines.append("  ")
        lines.append(f"  {torch_signature(failure.signature, name=name)}:")
        lines.extend(f"  {line}" for line in _reason(scope, failure, function).split("\n"))
    return "\n".join([*lines, "", "The original call is"])


def text_of_one(scope: Scope, failure: Mismatch, function: Function | None) -> str:
    """What it says of a single operator or function."""
    name = function.name if function is not None else None
    text = torch_signature(failure.signature, name=name)
    return f"\n{text}:\n{_reason(scope, failure, function)}\n"


def _reason(scope: Scope, failure: Mismatch, function: Function | None) -> str:
    if failure.given is None:
        return failure.torch
    actual = scope.torch_type(failure.given)
    text = failure.torch.replace(ACTUAL, actual)
    name = failure.argument.name if failure.argument is not None else ""
    why = "because it was not annotated with an explicit type."
    parameter = parameter_of(function, name)
    if parameter is not None and parameter.annotation is None and name != "self":
        text = text.replace("of type 'Tensor' for", "of type 'Tensor (inferred)' for")
        return f"{text}\nInferred '{name}' to be of type 'Tensor' {why}"
    if actual == "Tensor (inferred)" and failure.torch.startswith("Expected a value"):
        shown = "<varargs>" if "'<varargs>'" in text else name
        return f"{text}\nInferred the value for argument '{shown}' to be of type 'Tensor' {why}"
    if actual == "List[Tensor]" and text.startswith("Expected a value of type 'List["):
        return f"{text}\n{EMPTY_LISTS}"
    return text


def parameter_of(function: Function | None, name: str) -> tree.Parameter | None:
    """The parameter of that name, if the function is known and has one."""
    if function is None or function.tree is None:
        return None
    return next((p for p in function.tree.parameters if p.name == name), None)
