"""`freeze`: a module whose parameters and attributes have become constants of its code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..frontend.diagnostics.exceptions import trimmed
from ..frontend.foundations.garbage import uncollected
from ..frontend.syntax.deep_stack import deeply, with_room
from ..interpreter.running.evaluating import CONTEXT
from ..interpreter.running.freeze import freeze_object
from ..interpreter.values.objects import ScriptObject
from ..ir.graphs.graph import Graph
from ..ir.passes.dead_code import eliminate_dead_code
from ..ir.passes.fewer_operators import remove_detach, remove_dropout
from ..ir.passes.fold_frozen import fold_frozen
from .module import RecursiveScriptModule, ScriptModule
from .qualified_names import mangled, unmangled

__all__ = ["freeze", "optimize_for_inference", "optimize_frozen_graph", "run_frozen_optimizations"]


@uncollected
def freeze(
    mod: object, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True
) -> RecursiveScriptModule:
    """A copy of a scripted module in which what does not change has become constant.

    All calls are inlined; only `forward` is left of the methods, and what `preserved_attrs` names
    (attributes, methods, `submodule.attribute`).  Attributes that code changes stay.  With
    `optimize_numerics` neighbouring operators are merged where that may change results by rounding.

    Raises:
        RuntimeError: it is not scripted, it is in training mode, or a name does not exist.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or "
            "torch.jit.trace to script your 'nn.Module'."
        )
    if getattr(mod, "training", False):
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() "
            "on your module before freezing."
        )
    preserved = preserved_attrs if preserved_attrs is not None else []
    with trimmed():
        frozen = RecursiveScriptModule(deeply(lambda: _freeze_module(mod._c, preserved)))
        methods = [name for name in preserved if mod._c.cls.method(name) is not None]
        run_frozen_optimizations(frozen, optimize_numerics, methods)
    return frozen


@uncollected
def run_frozen_optimizations(
    mod: object, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Leave out dropout; with `optimize_numerics` merge batch normalisation, sums and products
    into the convolutions and linear layers before them.

    Changes the graphs of `forward` and of the methods named.
    """
    for graph in _graphs(mod, preserved_methods or []):
        optimize_frozen_graph(graph, optimize_numerics)


def _graphs(mod: Any, methods: Sequence[str]) -> list[Graph]:
    names = dict.fromkeys(("forward", *methods))
    found = [mod._c.cls.method(name) for name in names]
    return [f.graph for f in found if f is not None and isinstance(f.graph, Graph)]


def optimize_frozen_graph(graph: Graph, optimize_numerics: bool = True) -> None:
    """The same for one graph whose weights are constants."""
    with with_room(graph.levels), graph.entered():
        remove_detach(graph, CONTEXT)
        remove_dropout(graph, CONTEXT)
        if optimize_numerics:
            fold_frozen(graph, CONTEXT)
            eliminate_dead_code(graph, CONTEXT)


def optimize_for_inference(
    mod: ScriptModule, other_methods: list[str] | None = None
) -> ScriptModule:
    """Freeze a module, unless that has been done, and merge what can be merged.

    Raises:
        RuntimeError: it is not scripted.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "optimize_for_inference expects a ScriptModule as input. Please use torch.jit.script "
            "or torch.jit.trace to script your 'nn.Module'."
        )
    if hasattr(mod, "training"):
        return freeze(mod.eval(), preserved_attrs=other_methods)
    run_frozen_optimizations(mod, preserved_methods=other_methods)
    return mod


def _freeze_module(
    module: ScriptObject,
    preservedAttrs: Sequence[str] = (),
    freezeInterfaces: bool = True,
    preserveParameters: bool = False,
) -> ScriptObject:
    """A copy of a module whose attributes have become constants.

    Raises:
        RuntimeError: a preserved name does not exist, or the module cannot be frozen.
    """
    return freeze_object(
        module,
        preservedAttrs,
        renamed,
        interfaces=freezeInterfaces,
        keeps_parameters=preserveParameters,
    )


def renamed(name: str) -> str:
    """A new name for the copy of a class: the old one with another number."""
    return mangled(unmangled(name))
