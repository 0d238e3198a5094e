"""From a function to register code that is ready to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.functions.define import graph_of
from ...ir.functions.inline import inline
from ...ir.functions.inlined_sizes import calls_for_running
from ...ir.graphs.clone import clone_graph
from ...ir.graphs.graph import Graph, Node
from ...ir.graphs.kinds import TASKS, entry_of
from ...ir.passes.autocast import enters_autocast, insert_casts
from ...ir.passes.constant_propagation import propagate_constants, take_known_branches
from ...ir.passes.constants_as_numbers import constants_as_numbers
from ...ir.passes.dead_code import eliminate_dead_code
from ...ir.passes.groups import open_groups
from ...ir.passes.objects_as_values import objects_as_values
from ...ir.passes.peephole import peephole
from ...ir.passes.sizes_as_numbers import sizes_as_numbers
from ...ops.memory.dtype import Device
from ...ops.table.autocast import autocast_state, script_autocasts
from ...ops.table.table import TABLE
from ...typecheck.definitions.functions import Bounding, Function
from ...typecheck.types.types import TENSOR, Type
from ..code.assemble import assemble
from ..code.code import Code
from ..code.instructions import row
from ..code.shared_views import SharedView
from ..native.kinds import NotNative
from ..native.native import Native, native_of, reason_against
from .evaluating import CONTEXT
from .kept_graphs import keep_graph
from .writes import written_inputs

__all__ = ["Executable", "executable_of"]


class Executable:
    """A code, as it is under the autocast that it was made under, and its native code if there is
    or may be any."""

    def __init__(self, graph: Graph, name: str, in_parts: Callable[[], Code] | None = None) -> None:
        """That of a graph; `in_parts` gives the code of the function with its calls as calls."""
        self.code = assemble(graph, name)
        self.native: Native | None = None
        self.arguments = [value.type for value in graph.inputs]
        self._is_guarded = graph.guard is not None
        if not self._is_guarded:
            self.native = native_of(self.code, self.arguments, _code_of, in_parts)
        kinds = {row(instruction).name for instruction in self.code.instructions}
        nodes = [node for each in graph.with_tasks for node in each.all_nodes]
        names = {node.kind for node in nodes}
        # what is left to Python may use parameters that no argument reaches
        self.makes_leaves = "function" in kinds or (
            not names.isdisjoint(TABLE.names_with("of_leaves")) and any(map(_makes_leaves, nodes))
        )
        self.gives_slots = "prim::GetAttr" in names and any(map(_gives_slot, graph.all_nodes))
        self.asks_elsewhere = _makes_on_meta(nodes)
        self.shares_views = any(isinstance(each, SharedView) for each in self.code.operators)
        """Whether conjugates may have to share memory, for which values are tensors themselves."""
        is_left = self.asks_elsewhere or self.makes_leaves or self.shares_views
        if is_left and self.native is not None and self.native.takes_tensors:
            self.native = None
        self.changes = not kinds.isdisjoint(_CHANGING) or any(
            entry.changes for entry in self.code.operators
        )
        self.writes = written_inputs(graph, self.code)
        self.sets_slots = not kinds.isdisjoint(("set_slot", "set_tensor", "method", "function"))

    @property
    def refusal(self) -> str:
        """Why it has no native code, as far as that is known; empty if it has or may have some."""
        if self.native is not None:
            return self.native.refusal
        if self._is_guarded:
            return "it runs under a guard"
        if self.asks_elsewhere or self.makes_leaves or self.shares_views:
            return "its values may be tensors themselves"
        return reason_against(self.code, self.arguments)


def executable_of(
    function: Function, guard: Bounding | None, *, inlined: bool = True, ready: Graph | None = None
) -> Executable:
    """The code of a function for the present autocast, bounded by a guard if there is one.

    Where what it calls is not `inlined`, calls stay calls.  What is `ready` is its graph as
    `keep_graph` had it, made without an autocast.

    Raises:
        UnsupportedKind: the machine has no instruction for a node of the graph.
        RuntimeError: what autocast shall do is not known beforehand.
    """
    if inlined:
        is_plain = not autocast_state()
        graph = ready if ready is not None and is_plain else None
        if graph is None:
            whole = graph_of(function)
            is_clean = function.typed is not None and not any(map(_is_call, whole.all_nodes))
            if is_clean:
                graph = clone_graph(whole)
            else:
                graph = inline(whole, function.name, CONTEXT, calls_for_running)
            graph = _cleaned(graph, guard, is_clean=is_clean)
            if is_plain and not enters_autocast(graph):
                keep_graph(function, graph)
        return Executable(graph, function.name, lambda: _code_in_parts(function))
    return Executable(_cleaned(clone_graph(graph_of(function)), guard), function.name)


def _code_in_parts(function: Function) -> Code:
    """The code of a function whose calls are calls."""
    return assemble(_cleaned(clone_graph(graph_of(function)), None), function.name)


def _code_of(function: Function) -> tuple[Code, list[Type]]:
    """The same, and the types of its arguments, where it runs without a guard.

    Raises:
        NotNative: it runs under one.
    """
    graph = graph_of(function)
    if function.guard is not None or graph.guard is not None:
        raise NotNative(f"`{function.name}` runs under a guard")
    return _code_in_parts(function), [value.type for value in graph.inputs]


def _is_call(node: Node) -> bool:
    """Whether a node calls something, or forks a task."""
    return node.kind in _CALLS or node.kind in TASKS


_CALLS = frozenset(("prim::CallFunction", "prim::CallMethod"))


def _cleaned(graph: Graph, guard: Bounding | None, *, is_clean: bool = False) -> Graph:
    """A graph as it is run, bounded by a guard if there is one; one that `is_clean` has no dead
    code yet."""
    changed = False
    for each in graph.with_tasks:
        each.guard = guard
        changed |= open_groups(each)
    changed |= peephole(graph, CONTEXT)
    while sizes_as_numbers(graph):
        take_known_branches(graph)  # those that ask whether sizes are floats
        changed = True
    changed |= constants_as_numbers(graph)
    changed |= take_known_branches(graph)
    for each in graph.with_tasks:
        changed |= objects_as_values(each)
    changed |= _cast_automatically(graph)
    if changed or not is_clean:
        eliminate_dead_code(graph)
    return graph


def _cast_automatically(graph: Graph) -> bool:
    """Put in the casts of autocast, where the graph enters it or Python has; whether that is so.

    Raises:
        RuntimeError: what autocast shall do is not known beforehand.
    """
    state, scripted = autocast_state(), script_autocasts()
    if not (state or (scripted and enters_autocast(graph))):
        return False
    if propagate_constants(graph, CONTEXT):
        peephole(graph, CONTEXT)
    insert_casts(graph, state, scripted=scripted)
    return True


def _makes_on_meta(nodes: Sequence[Node]) -> bool:
    """Whether there is a constant that the device without memory may be made of: `torch.norm` only
    compares its name with that of another."""
    named = [node for node in nodes if node.is_constant and _is_meta(node.value)]
    if any(isinstance(node.value, Device) for node in named):
        return True
    texts = [node.inputs[0].node for node in nodes if node.kind == "aten::device"]
    return bool(named) and any(not node.is_constant or node in named for node in texts)


def _is_meta(constant: object) -> bool:
    """Whether a constant names the device without memory."""
    return isinstance(constant, (str, Device)) and str(constant).partition(":")[0] == "meta"


_CHANGING = frozenset(("set_slot", "set_tensor", "method", "function", "append"))
"""Instructions that may change what outlives the run."""


def _gives_slot(node: Node) -> bool:
    """Whether an attribute goes anywhere but into an operator: it may come out as it is."""
    if node.kind != "prim::GetAttr" or node.output.type != TENSOR:
        return False
    return not all(use.user.kind.startswith("aten::") for use in node.output.uses)


def _makes_leaves(node: Node) -> bool:
    """Whether an operator can make tensors that require gradients, or must know of views."""
    entry = entry_of(node)
    if entry is None or not entry.of_leaves or entry.is_in_place:
        return entry is not None and entry.of_leaves
    requires_grad = node.inputs[-1].node
    return not (requires_grad.is_constant and requires_grad.value is False)
