"""`freeze`: a module whose parameters and attributes have become constants of its code."""

from __future__ import annotations

from collections.abc import Sequence

from ..frontend.diagnostics.exceptions import trimmed
from ..frontend.foundations.garbage import uncollected
from ..frontend.syntax.deep_stack import deeply, with_room
from ..interpreter.running.evaluating import CONTEXT
from ..interpreter.running.freeze import freeze_object
from ..interpreter.values.objects import ScriptObject
from ..ir.functions.define import graph_of
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
    mod: ScriptModule, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Leave out dropout; with `optimize_numerics` merge batch normalisation, sums and products
    into the convolutions and linear layers before them.

    Changes the graphs of `forward`, if there is one, and of the methods named.

    Raises:
        AttributeError: a name is that of no method.
    """
    own = ("forward",) if _has_method(mod, "forward") else ()
    for name in dict.fromkeys((*own, *(preserved_methods or ()))):
        if not _has_method(mod, name):
            kind = type(mod).__name__
            raise AttributeError(f"'{kind}' object has no attribute '{name}'", name=name, obj=mod)
        optimize_frozen_graph(graph_of(mod._c.cls.method(name)), optimize_numerics)


def _has_method(mod: ScriptModule, name: str) -> bool:
    return mod._c.cls.method(name) is not None


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
        RuntimeError: it is not scripted, has no method of a name, or none at all.
    """
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "optimize_for_inference expects a ScriptModule as input. Please use torch.jit.script "
            "or torch.jit.trace to script your 'nn.Module'."
        )
    is_frozen = not hasattr(mod, "training")
    frozen = mod if is_frozen else freeze(mod.eval(), preserved_attrs=other_methods)
    wanted = list(other_methods or ())
    if not frozen._c.cls.methods:
        wanted.append("forward")
    for name in wanted:
        if not _has_method(frozen, name):
            raise RuntimeError(f"Method '{name}' is not defined.")
    if is_frozen:
        run_frozen_optimizations(mod, preserved_methods=other_methods)
    return frozen


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
