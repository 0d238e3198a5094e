"""From a function to register code that is ready to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from ...frontend.foundations.garbage import uncollected
from ...frontend.foundations.made_once import made_once
from ...ir.functions.chosen_members import call_members
from ...ir.functions.define import graph_of
from ...ir.functions.inline import inline
from ...ir.functions.inlined_sizes import calls_for_running
from ...ir.graphs.clone import clone_graph
from ...ir.graphs.graph import Graph, Node
from ...ir.graphs.kinds import TASKS
from ...ir.passes.autocast import enters_autocast, insert_casts
from ...ir.passes.constant_propagation import propagate_constants, take_known_branches
from ...ir.passes.constants_as_numbers import constants_as_numbers
from ...ir.passes.dead_code import eliminate_dead_code
from ...ir.passes.elements_as_numbers import elements_as_numbers
from ...ir.passes.groups import open_groups
from ...ir.passes.late_appends import append_late
from ...ir.passes.objects_as_values import objects_as_values
from ...ir.passes.peephole import peephole
from ...ir.passes.sizes_as_numbers import sizes_as_numbers
from ...ir.passes.tuples import forward_elements
from ...ops.table.autocast import autocast_state, script_autocasts
from ...typecheck.definitions.functions import Bounding, Function
from ...typecheck.types.types import Type
from ..code.assemble import assemble
from ..code.code import Code
from ..native.kinds import NotNative
from ..native.native import Native, kept_native, native_of
from ..native.refusals import LONGEST, count_refusal, reason_against
from ..plans.stretches import Search
from .evaluating import CONTEXT
from .kept_code import FAULTS, CodeFacts, KeptCode, told_code
from .traits import traits_of
from .writes import written_inputs

__all__ = ["Executable", "executable_of"]


class Executable:
    """A code, as it is under the autocast that it was made under, and its native code if there is
    or may be any.

    `kept` is what can be kept of it for other processes, or was, if anything.
    """

    def __init__(self, graph: Graph, name: str, in_parts: Callable[[], Code] | None = None) -> None:
        """That of a graph; `in_parts` gives the code of the function with its calls as calls."""
        code = assemble(graph, name)
        self._make_code: Callable[[], Code] = lambda: code
        self.native: Native | None = None
        self.arguments: Sequence[Type] = [value.type for value in graph.inputs]
        self._is_guarded = graph.guard is not None
        self.traits = traits_of(graph, code)
        if not self._is_guarded:
            self.native = native_of(code, self.arguments, _code_of, in_parts, self.search)
        if self.traits.is_left and self.native is not None and self.native.takes_tensors:
            self.native = None
        self.writes = written_inputs(graph, code)
        self.kept: KeptCode | None = None

    @classmethod
    def of_kept(cls, kept: KeptCode, facts: CodeFacts) -> Executable:
        """That of a code that was kept; its code is made when somebody asks for it."""
        made = cls.__new__(cls)
        made._make_code = lambda: _kept_code(kept)
        made.arguments, made._is_guarded = facts.arguments, False
        made.traits, made.writes, made.kept = facts.traits, facts.writes, kept
        made.native = None
        if facts.looks:
            made.native = kept_native(
                *(lambda: made.code, facts.looks, facts.arguments, _code_of),
                touches_tensors=facts.traits.touches_tensors,
            )
        elif not facts.traits.is_left:
            count_refusal(facts.refusal)
        return made

    def keep(self, kept: KeptCode | None) -> None:
        """Tell what is kept of it; code that is made native in parts is not."""
        if kept is None or self.traits.length > LONGEST:
            return
        looks = "" if self.native is None else self.native.looks
        code, refusal = self.code, self.refusal
        about = self.arguments, self.traits, self.writes, looks, refusal
        tables = code.constants, code.operators, code.types, code.names
        kept.facts = CodeFacts(*about, *tables)
        self.kept = kept

    @made_once
    def code(self) -> Code:
        """The register code."""
        return self._make_code()

    @made_once
    def search(self) -> Search:
        """The search for stretches, which native code asks of, and plans have."""
        return Search(self.code)

    @property
    def refusal(self) -> str:
        """Why it has no native code, as far as that is known; empty if it has or may have some."""
        if self.native is not None:
            return self.native.refusal
        if self._is_guarded:
            return "it runs under a guard"
        if self.traits.is_left:
            return "its values may be tensors themselves"
        return reason_against(self.code, self.arguments, self.search)


def executable_of(
    function: Function,
    guard: Bounding | None,
    *,
    inlined: bool = True,
    ready: KeptCode | None = None,
) -> Executable:
    """The code of a function for the present autocast, bounded by a guard if there is one.

    Where what it calls is not `inlined`, calls stay calls.  What is `ready` is kept of its code,
    which was made without an autocast.

    Raises:
        UnsupportedKind: the machine has no instruction for a node of the graph.
        RuntimeError: what autocast shall do is not known beforehand.
    """
    if not inlined:
        return Executable(_cleaned(clone_graph(graph_of(function)), guard), function.name)
    is_plain = not autocast_state()
    if ready is not None and ready.facts is not None and is_plain:
        return Executable.of_kept(ready, ready.facts)
    graph, kept = None, None
    if ready is not None and is_plain:
        with suppress(*FAULTS):
            graph = ready.graph()
    if graph is None:
        graph = _graph_to_run(function, guard)
        if is_plain and not enters_autocast(graph):
            kept = told_code(function, graph)
    made = Executable(graph, function.name, lambda: _code_in_parts(function))
    made.keep(kept)
    return made


def _graph_to_run(function: Function, guard: Bounding | None) -> Graph:
    """The graph of a function with what it calls, as it is run."""
    whole = graph_of(function)
    is_clean = function.typed is not None and not any(map(_is_call, whole.all_nodes))
    if is_clean:
        graph = clone_graph(whole)
    else:
        graph = inline(whole, function.name, CONTEXT, calls_for_running)
        call_members(graph, function.name, CONTEXT)
    return _cleaned(graph, guard, is_clean=is_clean)


@uncollected
def _kept_code(kept: KeptCode) -> Code:
    """The code of which something is kept, made of its graph, or anew where that is not whole."""
    try:
        graph = kept.graph()
    except FAULTS:
        graph = _graph_to_run(kept.function, None)
    return assemble(graph, kept.function.name)


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
        changed |= not is_clean and forward_elements(each)  # of what called functions give
    changed |= peephole(graph, CONTEXT)
    while sizes_as_numbers(graph):
        take_known_branches(graph)  # those that ask whether sizes are floats
        changed = True
    changed |= constants_as_numbers(graph) | elements_as_numbers(graph)
    changed |= take_known_branches(graph)
    for each in graph.with_tasks:
        changed |= objects_as_values(each)
        append_late(each)
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
