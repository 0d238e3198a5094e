"""Passes as `torch._C` has them: `_jit_pass_dce(graph)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final

from ..frontend.syntax.deep_stack import with_room
from ..interpreter.running.evaluating import CONTEXT
from ..ir.functions.inline import inline_in_place
from ..ir.graphs.graph import Graph as InnerGraph
from ..ir.graphs.graph import Value as InnerValue
from ..ir.graphs.verify import verify
from ..ir.passes import fewer_operators, fold_frozen
from ..ir.passes.canonical import canonical_copy
from ..ir.passes.constant_propagation import propagate_constants
from ..ir.passes.context import PassContext
from ..ir.passes.dead_code import eliminate_dead_code
from ..ir.passes.differentiable_groups import differentiate_in_groups
from ..ir.passes.known_containers import read_known_containers
from ..ir.passes.optimizations import OPTIMIZATIONS
from ..ir.passes.peephole import peephole
from ..ir.passes.refinement import refine_lengths
from ..ir.passes.rewriting import rewrite
from ..ir.passes.shape_peephole import simplify_by_shape
from ..ir.text import parser
from ..ops.table.table import TABLE
from .handles import Graph, inner_graph
from .propagation import PROPAGATIONS

__all__ = ["PASSES"]

Run = Callable[[InnerGraph, PassContext], bool]


def _changes(run: Run) -> Callable[[Graph], bool]:
    def jit_pass(graph: Graph) -> bool:
        inner = inner_graph(graph)
        with inner.entered():
            return run(inner, CONTEXT)

    jit_pass.__doc__ = run.__doc__
    return jit_pass


def _silent(run: Run) -> Callable[[Graph], None]:
    def jit_pass(graph: Graph) -> None:
        inner = inner_graph(graph)
        with inner.entered():
            run(inner, CONTEXT)

    jit_pass.__doc__ = run.__doc__
    return jit_pass


def _canonicalize(graph: Graph, keep_unique_names: bool = True) -> Graph:
    """A copy whose values are numbered in order of appearance."""
    return Graph(canonical_copy(inner_graph(graph), keeps_names=keep_unique_names))


def _lint(graph: Graph) -> None:
    """Check that a graph is well formed."""
    verify(inner_graph(graph))


def _inline(graph: Graph) -> None:
    """Inline all calls."""
    inline_in_place(inner_graph(graph), "", CONTEXT)


def _peephole(graph: Graph, disable_shape_peepholes: bool = False) -> bool:
    """Replace what types or neighbours make superfluous."""
    inner = inner_graph(graph)
    changed = False if disable_shape_peepholes else simplify_by_shape(inner, CONTEXT)
    return peephole(inner, CONTEXT) or changed


def _list_idioms(graph: Graph, refine_list_len: bool = False) -> bool:
    """Replace reads of lists and dicts whose making is in sight."""
    inner = inner_graph(graph)
    changed = refine_list_len and refine_lengths(inner, CONTEXT)
    changed |= read_known_containers(inner, CONTEXT)
    if changed:
        eliminate_dead_code(inner, CONTEXT)
    return changed


def _rewrite(
    pattern: str,
    fused_node_name: str,
    g: Graph,
    value_name_pairs: Sequence[tuple[str, str]] = (),
) -> None:
    """Replace every match of a pattern, a graph's text, by another graph."""
    wanted = parser.parse_ir(pattern, table=TABLE)
    replacement = parser.parse_ir(fused_node_name, table=TABLE)
    spans = {_named(replacement, new): _named(wanted, old) for new, old in value_name_pairs}
    rewrite(inner_graph(g), wanted, replacement, CONTEXT, spans=spans)


def _named(graph: InnerGraph, name: str) -> InnerValue:
    values = [output for node in graph.all_nodes for output in node.outputs]
    for value in (*graph.inputs, *values):
        if value.debug_name == name:
            return value
    raise RuntimeError(f"there is no value %{name} in the pattern")


def _rewrite_in_module(pattern: str, fused_node_name: str, module: Any) -> None:
    """The same in all methods of a module and its submodules."""
    for method in module._get_methods():
        _rewrite(pattern, fused_node_name, method.graph)
    for value in module.slots:
        if hasattr(value, "cls") and value.cls.is_module:
            _rewrite_in_module(pattern, fused_node_name, value)


def _remove_dropout(module: Any) -> None:
    """Leave out the dropout that does not train, in all methods of a module.

    Raises:
        RuntimeError: the module is in training mode.
    """
    if "training" in module.cls.attributes and module.slots[module.cls.slot("training")]:
        raise RuntimeError("Dropout removal module in training mode is not yet supported")
    for method in module._get_methods():
        _inline(method.graph)
        propagate_constants(inner_graph(method.graph), CONTEXT)
        fewer_operators.remove_dropout(inner_graph(method.graph), CONTEXT)


def _optimize_frozen(graph: Graph, optimize_numerics: bool = True) -> None:
    """Leave out dropout, and merge what follows layers with constant weights into them."""
    fewer_operators.remove_dropout(inner_graph(graph), CONTEXT)
    if optimize_numerics:
        fold_frozen.fold_frozen(inner_graph(graph), CONTEXT)


def _optimize_for_inference(module: Any, other_methods: Sequence[str] = ()) -> None:
    """The same for `forward` and other methods of a frozen module."""
    for name in ("forward", *other_methods):
        _optimize_frozen(module._get_method(name).graph)


def _create_autodiff_subgraphs(graph: Graph, threshold: int = 2) -> None:
    """Put what torch differentiates itself into nodes of at least so many operators."""
    differentiate_in_groups(inner_graph(graph), threshold)


def _leave(graph: Graph) -> bool:
    """What torch does here is for devices and libraries that do not exist; nothing changes."""
    return False


_GIVE_NOTHING = frozenset(
    "canonicalize_graph_fuser_ops constant_pooling dce dce_graph decompose_ops erase_number_types "
    "erase_shape_information fuse_add_relu fuse_linear inline_fork_wait lower_all_tuples "
    "lower_simple_tuples refine_tuple_types remove_expands remove_inplace_ops".split()
)
"""The passes that do not say whether they changed anything."""


def _with_room(run: Callable[..., object]) -> Callable[..., object]:
    """A pass over a graph whose blocks may lie deep in each other."""

    @wraps(run)
    def jit_pass(*args: object, **kwargs: object) -> object:
        given = next(iter((*args, *kwargs.values())), None)
        with with_room(inner_graph(given).levels if isinstance(given, Graph) else 0):
            return run(*args, **kwargs)

    return jit_pass


_RUNS: Final[dict[str, Callable[..., object]]] = {
    **{
        f"_jit_pass_{each.name}": (_silent if each.name in _GIVE_NOTHING else _changes)(each.run)
        for each in OPTIMIZATIONS
    },
    "_jit_pass_canonicalize": _canonicalize,
    "_jit_pass_concat_frozen_linear": _leave,
    "_jit_pass_convert_frozen_ops_to_mkldnn": _leave,
    "_jit_pass_create_autodiff_subgraphs": _create_autodiff_subgraphs,
    "_jit_pass_custom_pattern_based_rewrite": _rewrite_in_module,
    "_jit_pass_custom_pattern_based_rewrite_graph": _rewrite,
    "_jit_pass_fuse_frozen_conv_add_relu": _leave,
    "_jit_pass_inline": _inline,
    "_jit_pass_lint": _lint,
    "_jit_pass_optimize_for_inference": _optimize_for_inference,
    "_jit_pass_optimize_frozen_graph": _optimize_frozen,
    "_jit_pass_peephole": _peephole,
    "_jit_pass_peephole_list_idioms": _list_idioms,
    "_jit_pass_remove_dropout": _remove_dropout,
    **PROPAGATIONS,
}

PASSES: Final = {name: _with_room(run) for name, run in _RUNS.items()}
"""The passes by name."""
