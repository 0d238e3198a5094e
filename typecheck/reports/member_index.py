"""What is said when a module container is indexed by what is not known at compile time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...frontend.diagnostics.diagnostics import Edit, Help, Label
from ...frontend.diagnostics.edits import joined
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..definitions.class_types import ClassType
from ..scopes.scope import Scope
from ..trees import typed

__all__ = ["report_unknown_index"]

_TORCH_NUMBER = (
    "Expected integer literal for index but got a variable or non-integer. "
    "ModuleList/Sequential indexing is only supported with integer literals. For "
    "example, 'i = 4; self.layers[i](x)' will "
    "fail because i is not a literal. Enumeration is supported, e.g. 'for index, v in "
    "enumerate(self): out = v(inp)'"
)

_TORCH_KEY = (
    "Unable to extract string literal index. ModuleDict indexing is only supported "
    "with string literals. For example, 'i = \"a\"; self.layers[i](x)' will fail "
    "because i is not a literal. Enumeration of ModuleDict is supported, e.g. 'for k, "
    "v in self.items(): out = v(inp)'"
)


def report_unknown_index(
    scope: Scope, value: typed.Expr, node: tree.Subscript, numbered: bool
) -> None:
    """Report an index that is no literal."""
    kind = value.type.container
    index = node.indices[0]
    labels = _members_label(value)
    if index.variable is not None:
        variable = scope.frame.find(index.variable)
        if variable is not None and variable.span is not None:
            text = f"`{index.variable}` is not known until run time"
            labels += (Label(variable.span.whole, text),)
    scope.report(
        "modulelist-index",
        f"a `{kind or 'ModuleList'}` can be indexed only by a literal "
        f"{'integer' if numbered else 'string'}",
        node.span,
        "which module this is cannot be known here",
        torch=_TORCH_NUMBER if numbered else _TORCH_KEY,
        secondary=labels,
        notes=("a loop over the list itself is unrolled when the model is compiled",)
        if numbered
        else ("a loop over its items is unrolled when the model is compiled",),
        helps=(_loop_help(scope, node, numbered),),
    )


def _members_label(value: typed.Expr) -> tuple[Label, ...]:
    """Where the container is made."""
    if not isinstance(value, typed.GetAttribute) or not isinstance(value.type, ClassType):
        return ()
    owner = value.object.type
    place = owner.place(value.name)
    if place is None or place.value is None:
        return ()
    types = [attribute.type for attribute in value.type.attributes.values()]
    count = sum(t.is_module for t in types)
    members = "1 module" if count == 1 else f"{count} modules"
    return (Label(place.value, f"{members}, each with its own type"),)


def _loop_help(scope: Scope, node: tree.Subscript, numbered: bool) -> Help:
    container, index = node.value.span.text, node.indices[0].span.text
    if not numbered:
        return Help(f"loop over the items: `for key, module in {container}.items():`")
    loops = [loop for loop in _loops(scope.tree.body) if node.span.is_within(loop.span)]
    wanted = f"range(len({container}))"
    for loop in reversed(loops):
        if loop.target.span.text == index and loop.iterable.span.text == wanted:
            return Help("loop over the modules", _loop_edits(scope, loop, container, index))
    return Help(f"loop over the modules: `for module in {container}:`")


def _loop_edits(scope: Scope, loop: tree.For, container: str, index: str) -> tuple[Edit, ...]:
    """The loop over indices as one over members, if the index has no other use."""
    source = loop.span.source
    body = Span(source, loop.iterable.span.whole.end, loop.span.end)
    uses = list(re.finditer(rf"\b{re.escape(index)}\b", body.text))
    items = list(re.finditer(re.escape(f"{container}[{index}]"), body.text))
    last = container.rpartition(".")[2]
    name = last[:-1] if last.endswith("s") and len(last) > 2 else "module"
    if len(uses) != len(items) or scope.frame.find(name) is not None:
        return ()
    edits = [Edit(loop.target.span.whole, name), Edit(loop.iterable.span.whole, container)]
    for item in items:
        place = Span(source, body.start + item.start(), body.start + item.end())
        edits.append(Edit(place, name))
    return (joined(edits),)


def _loops(body: tuple[tree.Statement, ...]) -> Iterator[tree.For]:
    """All `for` loops, outer ones first."""
    for statement in body:
        if isinstance(statement, tree.For):
            yield statement
        for inner in ("body", "orelse"):
            yield from _loops(getattr(statement, inner, ()))
