"""Recording: what an operator on tensors that require gradients leaves behind."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final

import numpy as np

from ....typecheck.definitions.schema import Argument
from ...eager.calls import finish, note_view, run, tensors_in
from ...eager.dispatch import eager_function
from ...memory.dtype import Array
from ...memory.made_since import WATCHED, check_age
from ...memory.quiet import QUIET, enter, leave
from ...memory.warned import warn_caller_once
from ...table.grad_mode import GRAD_MODE, RUNNING, enable_grad, grad_mode_set
from ...table.out_forms import no_gradients
from ...table.table import TABLE, Operator
from ...tensors.tensor import Tensor
from ...tensors.tracing import ACTIVE, Tracer, paused
from ..nodes.autograd import AccumulateGrad, Edge, Node, edge_of, is_wanted
from ..nodes.bound import Bound, RowNode, Traced, bound_row
from ..nodes.edges import GradientEdge, as_wanted, first_gradient, target_of
from ..nodes.removable import Removable, add_hook
from ..nodes.together import unknown
from ..nodes.view_rules import check_in_place
from ..nodes.walk import run_backward
from ..table.rows import Rewriting
from .directed import for_directions_alone, is_directed, require
from .handles import lifted, note_handles
from .items import get_item, parts, set_item
from .native_records import told_of, told_of_silent
from .nested import in_parts, joined, results_in_parts
from .recording import MISSED, recorder_for
from .undifferentiated import check_refused
from .writes import as_it_was, copied_before, rebase, refresh, retain_grad, root_of, single_edge

__all__ = [
    "attach",
    "backward",
    "edge_of",
    "get_item",
    "is_directed",
    "parts",
    "refresh",
    "register_after",
    "register_hook",
    "require",
    "retain_grad",
    "set_item",
    "taped",
    "told",
]


def taped(
    entry: Operator,
    values: list[object],
    handles: Sequence[object],
    own: bool = False,
    args: list[object] | None = None,
    forward: Callable[..., object] | None = None,
    keep: list[object] | None = None,
) -> object:
    """Run an operator on machine values and record it; see `Tape`."""
    if GRAD_MODE.get() is not True:
        if not is_directed(handles):
            with grad_mode_set(False):
                return run(entry, values, handles, forward)
        with enable_grad():
            made = taped(entry, values, handles, own, args, forward)
        for_directions_alone(tensors_in(made))
        return made
    bound = bound_row(entry)
    if bound.refuses:
        check_refused(bound, values, handles if args is None else args)
    is_written_out = bound.is_plain or bound.writes_alone
    is_written_out = is_written_out and not (WATCHED and bound.in_place)
    if is_written_out and not ACTIVE and not own and entry.on_tensors is None:
        if args is None:
            args = _in_place_of(values, handles)
        if args is not None:
            types = tuple(map(type, args))
            recorder = bound.recorders.get(types)
            if recorder is None:
                recorder = recorder_for(bound, types, partial(_finished, bound))
            made = recorder(args, values, forward or entry.forward)
            if keep is not None and made is not MISSED:
                keep[0] = recorder
            if made is not MISSED:
                return made
            if bound.in_place:
                return _done(bound, entry, args, values, handles, forward or entry.forward)
            return _recorded(bound, entry, args, values, handles, forward or entry.forward)
    if bound.is_idle and not ACTIVE and not own:
        return _idle(bound, values, handles, forward or entry.forward)
    if bound.first_of is not None and not ACTIVE and not own:
        several: Any = taped(bound.first_of, values, handles, own, args)
        return several[0]
    is_alone = bound.in_place and (bound.row is None or bound.row.rewritten is None)
    if is_alone and args is not None and not ACTIVE and entry.on_tensors is None:
        return _done(bound, entry, args, values, handles, forward or entry.forward)
    return _taped(entry, values, handles, own)


def told(
    entry: Operator, recorder: Callable[..., object] | None, length: int
) -> tuple[int, object] | None:
    """What native code needs to record an operator's calls itself; see `Tape`."""
    bound = bound_row(entry)
    if recorder is None:
        is_silent = bound.is_idle and entry.unwatched is None
        return told_of_silent(bound, partial(_finished_silently, bound)) if is_silent else None
    described = bound.records.get(recorder)
    return None if described is None else told_of(described, length)


def _idle(
    bound: Bound, values: list[object], handles: Sequence[object], forward: Callable[..., object]
) -> object:
    """Run an operator that leaves nothing behind, or only says that it has no gradient."""
    state = enter(QUIET)
    try:
        result = forward(*values)
    finally:
        leave(state)
    return _finished_silently(bound, handles, values, result)


def _finished_silently(
    bound: Bound, handles: Sequence[object], values: list[object], result: object
) -> object:
    """Tensors of a result that has no gradient; where nobody knows of one, a node says so."""
    if bound.row is None and type(result) is np.ndarray and not (ACTIVE or bound.is_view):
        given = tensors_in(handles)
        if result.dtype.kind not in "biu" and all(each._array is not result for each in given):
            return _without_gradient(bound, given, Tensor._of(result))
    wrapped = finish(bound.entry, values, result, handles)
    if bound.row is None and not (type(result) is np.ndarray and result.dtype.kind in "biu"):
        known: dict[int, Tensor] = {}
        note_handles(handles, known)
        args = [lifted(value, known) for value in values]
        if is_active(bound, args):
            attach(bound, args, wrapped)
    return wrapped


def _without_gradient(bound: Bound, given: Sequence[Tensor], made: Tensor) -> Tensor:
    """A new tensor of floats; if it is made of what wants gradients, a node says there are none."""
    edges = list(map(edge_of, given))
    if any(edge is not None for edge in edges):
        made._requires_grad, made._grad_node = True, unknown(bound.entry.name, edges)
    return made


def _finished(bound: Bound, args: list[object], values: list[object], result: object) -> object:
    wrapped = finish(bound.entry, values, result, args)
    attach(bound, args, wrapped)
    return wrapped


def _in_place_of(values: list[object], handles: Sequence[Any]) -> list[object] | None:
    """The values with their handles for arrays, where these stand in the same places."""
    args = values.copy()
    for at, handle in enumerate(handles):
        if isinstance(handle, Tensor):
            if at >= len(values) or values[at] is not handle._array:
                return None  # a number too: one of the sizes in `x.view(2, size)`
            args[at] = handle
        elif type(handle) in _LISTS and handle and type(handle[0]) not in _NUMBERS:
            value = values[at] if at < len(values) else None
            if type(value) is not list or not _holds(value, handle):
                return None
            args[at] = handle
    return args


def _holds(values: list[Array], handles: Sequence[object]) -> bool:
    """Whether values are those of handles, one by one."""
    if len(values) != len(handles):
        return False
    for value, handle in zip(values, handles, strict=True):
        if value is not (handle._array if isinstance(handle, Tensor) else handle):
            return False
    return True


_LISTS: Final = frozenset({list, tuple})
_NUMBERS: Final = frozenset({int, float, bool, str})


def _recorded(
    bound: Bound,
    entry: Operator,
    args: list[object],
    values: list[object],
    handles: Sequence[object],
    forward: Callable[..., object],
) -> object:
    """The same for an operator that is itself recorded and gives something new."""
    traced = bound.trace(args)
    active = any(traced[0]) or is_active(bound, args)
    state = enter(QUIET)
    try:
        result = forward(*values)
    finally:
        leave(state)
    if type(result) is not np.ndarray or any(result is each for each in values):
        wrapped = finish(entry, values, result, handles)
        if active:
            attach(bound, args, wrapped, traced=traced)
        return wrapped
    made = Tensor._of(result)
    if not active:
        if entry.is_view:
            note_view(made, handles, entry)
        return made
    if result.dtype.kind not in "biu":
        node: Any = bound.new_node(args, None, traced)
        made._requires_grad = True
        made._grad_node = node
        if bound.is_view:
            _note_base(bound, made, args, node)
        node.set_results((made,))
    return made


def _note_base(bound: Bound, view: Tensor, args: Sequence[object], node: Node) -> None:
    """Tell a view what it is a view of."""
    view._view_of = next((a for a in args if isinstance(a, Tensor)), None)
    view._view_version = RUNNING.version_of(view._array)
    if bound.forbids_writes:
        view._view_among = type(node).__name__.removesuffix("Backward0")


def _taped(entry: Operator, values: list[object], handles: Sequence[object], own: bool) -> object:
    """The same for any operator."""
    known: dict[int, Tensor] = {}
    note_handles(handles, known)
    on_tensors = entry.on_tensors
    if on_tensors is not None:
        made, tracer = _unheard(lambda: on_tensors([lifted(value, known) for value in values]))
        return made if tracer is None else tracer.record(entry, values, made, handles)
    bound = bound_row(entry)
    if not own and bound.row is not None and bound.row.rewritten is not None:
        rewriting = bound.row.rewritten
        made, tracer = _unheard(lambda: _rewritten(rewriting, values, known))
        if made is not None:
            return made if tracer is None else tracer.record(entry, values, made, handles)
    args = [lifted(value, known) for value in values]
    return _done(bound, entry, args, values, handles, entry.forward)


def _unheard(call: Callable[[], object]) -> tuple[object, Tracer | None]:
    """What a call gives of which this thread's tracer, that follows, hears nothing: it hears of the
    operator itself."""
    if not ACTIVE:
        return call(), None
    with paused() as tracer:
        return call(), tracer


def _done(
    bound: Bound,
    entry: Operator,
    args: list[Any],
    values: list[object],
    handles: Sequence[object],
    forward: Callable[..., object],
) -> object:
    """Run an operator by itself, and leave its node."""
    active = is_active(bound, args)
    if active and entry.is_out_form:
        raise no_gradients(entry.name.partition("::")[2])
    old = None
    if bound.in_place:
        if WATCHED:
            check_age(args[0]._array, entry.full_name)
        check_in_place(args[0], active)
        if active and entry.written == "replaced":
            old = as_it_was(args[0], args[0]._array[...])
        elif active and any(0 in kept for kept in bound.keeps.values()):
            old = copied_before(args[0])
    state = enter(QUIET)
    try:
        result = forward(*values)
    finally:
        leave(state)
    wrapped = finish(entry, values, result, handles)
    if active:
        attach(bound, args, wrapped, old)
    return wrapped


def _rewritten(rewriting: Rewriting, values: list[object], known: dict[int, Tensor]) -> object:
    """Run other operators in the place of one, each recorded for itself."""

    def handle(value: object) -> object:
        if type(value) is not np.ndarray:
            return lifted(value, known)
        found = known.get(id(value))
        if found is None:  # it was just made, and is kept as long as it is known by its id
            found = known[id(value)] = Tensor._of(value)
        return found

    def run(name: str, *given: object) -> object:
        function, by_name = _called(name)
        if by_name:
            count = len(given) - len(by_name)
            named = _said(by_name, given[count:])
            made = function(*map(handle, given[:count]), **named)
        else:
            made = function(*map(handle, given))
        if type(made) is Tensor:
            known[id(made._array)] = made
            return made._array
        results = tensors_in(made)
        known.update((id(each._array), each) for each in results)
        return made._array if isinstance(made, Tensor) else tuple(each._array for each in results)

    made = handle(rewriting(run, *values))
    return tuple(made) if isinstance(made, list) else made


@cache
def _called(name: str) -> tuple[Callable[..., Any], list[Argument]]:
    """The eager function of an overload, and the arguments that it takes by their names alone."""
    entry = TABLE.operator(name)
    assert entry is not None
    by_name = [each for each in entry.signature.arguments if each.keyword_only]
    return eager_function(entry.name), by_name


def _said(arguments: Sequence[Argument], values: Sequence[object]) -> dict[str, object]:
    """Arguments by their names, without those that are what they are where nobody says it."""
    pairs = zip(arguments, values, strict=True)
    return {one.name: value for one, value in pairs if value != one.default}


def is_active(bound: Bound, args: Sequence[object]) -> bool:
    """Whether a call needs a node: an argument requires gradients and the operator has any."""
    row = bound.row
    if row is None:
        return any(_requires(value) for value in args)
    if row.is_constant:
        return False
    return any(_requires(args[at]) for at in bound.keeps if at < len(args))


def _requires(value: object) -> bool:
    if isinstance(value, Tensor):
        return is_wanted(value)
    if isinstance(value, (list, tuple)):
        return any(_requires(each) for each in value)
    return False


def attach(
    bound: Bound, args: Sequence[Any], wrapped: object, old: Tensor | None = None,
    traced: Traced | None = None,
) -> None:  # fmt: skip
    """Give the results of an operator their node."""
    results = tensors_in(wrapped)
    given = [a for a in args if isinstance(a, Tensor)]
    if bound.in_place:
        node = bound.new_node(args, old)
        if isinstance(node, RowNode):
            node.set_results(results[:1])
        if bound.entry.written == "replaced" and root_of(args[0]) is not None:
            return  # nothing of what it is a view of has changed
        places = getattr(node, "_places", [])
        rebase(args[0], node, next((i for i, (at, _) in enumerate(places) if at == 0), None))
        return
    results = [r for r in results if not any(r is a for a in given)]
    if not any(r._array.dtype.kind not in "biu" for r in results):
        return
    node = bound.new_node(args, None, traced)
    number = -1
    apart = bound.row.apart if bound.row is not None else ()
    for result in results:
        if result._array.dtype.kind in "biu":
            continue
        number += 1
        if number in apart:
            continue
        result._requires_grad = True
        result._grad_node = node
        result._output_number = number
        if bound.is_view:
            _note_base(bound, result, given, node)
    if isinstance(node, RowNode):
        node.set_results(results)


# --------------------------------------------------------------------------- what tensors offer


def grad_fn(tensor: Tensor) -> Node | None:
    """The node that a tensor came from; None for leaves."""
    single_edge(tensor)
    node: Node | None = tensor._grad_node
    return node


def register_hook(tensor: Tensor, hook: Callable[..., object]) -> Removable:
    """Have `hook(gradient)` called when a tensor's gradient is known.

    Raises:
        RuntimeError: the tensor needs no gradient.
    """
    edge = single_edge(tensor)
    if edge is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    node, number = edge
    if tensor._grad_node is None:
        tensor.__dict__["_leaf_node"] = node  # hooks live as long as the leaf
    return add_hook(node.extras().of_results.setdefault(number, OrderedDict()), hook)


def register_after(tensor: Tensor, hook: Callable[..., object]) -> Removable:
    """Have `hook(tensor)` called after a gradient was added to a leaf's `grad`.

    Raises:
        RuntimeError: the tensor is no leaf that requires gradients.
    """
    edge = single_edge(tensor)
    if edge is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not isinstance(edge[0], AccumulateGrad):
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    tensor.__dict__["_leaf_node"] = edge[0]  # hooks live as long as the leaf
    return add_hook(edge[0].extras().accumulated, hook)


def roots_of(
    tensors: Sequence[Tensor | GradientEdge], grads: Sequence[Tensor | None]
) -> list[tuple[Edge, Tensor]]:
    """Where results came from, with their gradients: ones for those given none.

    Raises:
        RuntimeError: a result needs no gradient, or has no default one.
    """
    pairs = enumerate(zip(*results_in_parts(tensors, grads), strict=True))
    return [first_gradient(tensor, grad, number) for number, (tensor, grad) in pairs]


def gradients_of(
    results: Sequence[Tensor | GradientEdge],
    wanted: Sequence[Tensor | GradientEdge],
    grads: Sequence[Tensor | None],
    *,
    keep: bool | None,
    create: bool,
    allow_unused: bool,
) -> list[Tensor | None]:
    """The gradients of the sum of some results, for the given tensors.

    Raises:
        RuntimeError: there is no way back from a result, or a tensor is not reached.
    """
    roots, asked = roots_of(results, grads), wanted
    wanted = in_parts(asked)
    edges = [target_of(each) for each in wanted]
    targets = [edge for edge in edges if edge is not None]
    if len(targets) < len(edges):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    found = run_backward(roots, targets, keep=create if keep is None else keep, create=create)
    gradients = [as_wanted(found.get(e), each) for e, each in zip(targets, wanted, strict=True)]
    for place, gradient in enumerate(gradients):
        if gradient is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {place} appears to not have been used in the "
                "graph. Set allow_unused=True if this is the desired behavior."
            )
    return joined(gradients, asked)


_CYCLE: Final = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can cause a memory leak. We recommend using autograd.grad when "
    "creating the graph to avoid this. If you have to use this function, make sure to reset the "
    ".grad fields of your parameters to None after use to break the cycle and avoid the leak."
)


def backward(
    tensors: Sequence[Tensor | GradientEdge],
    grads: Sequence[Tensor | None],
    keep: bool | None,
    create: bool,
    inputs: Sequence[Tensor | GradientEdge] | None,
) -> None:
    """Add the gradients of results to the `grad` of the leaves, or of `inputs` alone.

    Raises:
        RuntimeError: there is no way back from a result.
    """
    if create:
        warn_caller_once(_CYCLE)
    keep = create if keep is None else keep
    roots = roots_of(tensors, grads)
    if inputs is None:
        run_backward(roots, None, keep=keep, create=create)
        return
    inputs = in_parts(inputs)
    edges = [target_of(each) for each in inputs]
    targets = [edge for edge in edges if edge is not None]
    if len(targets) < len(edges):
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    for each, edge in zip(inputs, targets, strict=True):
        if isinstance(each, Tensor) and not edge[0].is_leaf:
            retain_grad(each)
    found = run_backward(roots, targets, keep=keep, create=create, runs_targets=True)
    with grad_mode_set(create):
        for edge in dict.fromkeys(targets):
            if edge[0].is_leaf and edge in found:
                edge[0].run([found[edge]])
