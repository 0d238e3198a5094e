"""What is said of modules that are made in script, or called without a `forward`."""

from __future__ import annotations

from typing import Final

from ...frontend.diagnostics.diagnostics import Diagnostic, Edit, Help, Label
from ...frontend.diagnostics.near_miss import near_misses
from ...frontend.syntax import tree
from ..definitions.class_types import ClassType
from ..scopes.scope import Scope
from ..trees import typed

__all__ = ["report_construction", "report_no_forward"]


def report_construction(scope: Scope, node: tree.Call) -> typed.Expr:
    """A module is made inside scripted code."""
    name = node.function.span.text
    scope.collector.add(
        Diagnostic(
            "module-constructed-inside",
            f"`{name}` cannot be made in script",
            Label(node.function.span.whole, "makes a module"),
            scope.where,
            notes=("modules are made before scripting, so that their weights are the model's",),
            helps=(Help("make it in `__init__`, and call it here"),),
            torch_message=f"Cannot instantiate class '{name.rpartition('.')[2]}' in a script "
            "function",
            torch_span=node.span,
            exception="FrontendError",
        )
    )
    return scope.unknown(node.span)


_CONTAINERS: Final = {
    "ModuleList": "call its modules in a loop: `for layer in layers: x = layer(x)`; "
    "`nn.Sequential` does that by itself",
    "ModuleDict": 'call one of its modules: `modules["name"](x)`',
}
"""What to do with modules that only hold others."""


def report_no_forward(scope: Scope, cls: ClassType, node: tree.Call) -> typed.Expr:
    """A module is called that has no `forward`."""
    close = near_misses("forward", list(cls.methods))
    helps: tuple[Help, ...] = ()
    if close:
        edit = Edit(node.function.span.whole, f"{node.function.span.text}.{close[0]}")
        helps = (Help(f"did you mean its method `{close[0]}`?", (edit,)),)
    scope.report(
        "missing-forward",
        f"`{cls.name}` has no `forward`, so it cannot be called",
        node.function.span,
        f"this is `{cls.name}`",
        torch=f"Module '{cls.name}' has no attribute 'forward' ",
        torch_span=node.span,
        helps=helps or (Help(_CONTAINERS.get(cls.container, "give its class a method `forward`")),),
    )
    return scope.unknown(node.span)
