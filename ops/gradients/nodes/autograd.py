"""Gradients: the nodes that operators leave behind, and the walk back over them.

A tensor that an operator made of tensors requiring gradients knows its node (`_grad_node`) and
which of the node's results it is (`_output_number`).  A node knows its edges: for each tensor
argument the node that it came from.  Leaves, tensors the user made, have an `AccumulateGrad` node.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import Any, Final, Protocol
from weakref import ref

import numpy as np

from ....frontend.foundations.locks import fork_safe_lock
from ...memory.dtype import Array, DType, dtype_of
from ...memory.inference import MADE, is_for_inference
from ...memory.storage import spread
from ...memory.versions import version_of
from ...table.grad_mode import ANOMALY, RUNNING, is_recording
from ...tensors.dispatched import Dispatched, array_behind
from ...tensors.tensor import Tensor
from .anomaly import note_place
from .hook_results import all_after, none_after
from .leaf_gradients import added_to, copied, is_own, joined, recorded_copy
from .packing import PACKING, Packed
from .removable import SEQUENCE, Hooks, Removable, add_hook

__all__ = [
    *("AccumulateGrad", "ENDING", "Edge", "Node", "SOON", "Saved", "WALKING"),
    *("edge_of", "edge_within", "form_of", "is_wanted", "node_class", "saved", "single"),
    "with_node",
]

_ACCUMULATING: Final = fork_safe_lock()
ENDING: Final[list[Tensor]] = []
"""The leaf whose node a thread makes just now: then native code makes none."""
_MAKING: Final = fork_safe_lock()

Grad = Tensor | None


class Attached:
    """What was put on a node: hooks before and after it, hooks of its results, tensors that keep
    their gradients, and what users note."""

    __slots__ = ("accumulated", "after", "before", "metadata", "of_results", "retained")

    def __init__(self) -> None:
        self.before: Hooks = OrderedDict()
        self.after: Hooks = OrderedDict()
        self.accumulated: Hooks = OrderedDict()
        self.of_results: dict[int, Hooks] = {}
        self.retained: dict[int, ref[Tensor]] = {}
        self.metadata: dict[object, object] = {}


class Node:
    """What an operator leaves behind; `apply` turns gradients of its results into its arguments'.

    Args:
        edges: where the arguments came from; None for those that need no gradient.

    `bounds` are entered for a walk that comes here: of the code that the operator was part of.
    """

    __slots__ = ("__weakref__", "attached", "bounds", "edges", "sequence", "writes_for")

    writes_for: ref[object]
    """The node of the tensor that this one wrote a view of; nothing of others."""
    back: Any = None
    """What does the same as `apply` where no tracer is at work; a function of the node."""
    is_leaf = False
    """Whether this is the end of the way back, which is come to as soon as possible."""
    takes_none = False
    """Whether `apply` is called if there is no gradient of any result."""
    undirected: Collection[int] = ()
    """The numbers of the results that directions do not go on to."""
    is_call = False
    """Whether this is a call of scripted code, with the nodes of its operators behind it."""

    @property
    def is_open(self) -> bool:
        """Whether these nodes have been asked for."""
        return False

    @property
    def has_inner(self) -> bool:
        """Whether what went out of a call was made of something else that did."""
        return False

    @property
    def may_be_differentiated(self) -> bool:
        """Whether the way back through a call is to be one call if it is differentiated itself."""
        return False

    @property
    def through(self) -> list[Edge | None]:
        """Where the results of a call came from, among these nodes."""
        raise NotImplementedError(type(self).__name__)

    def __init__(self, edges: Iterable[Edge | None]) -> None:
        self.edges = tuple(edges)
        self.bounds = RUNNING.bounds
        self.sequence = next(SEQUENCE)
        self.attached: Attached | None = None
        if ANOMALY[0]:
            note_place(self, WALKING.walk)

    def extras(self) -> Attached:
        """What is put on the node: made when it is first asked for, as few nodes have any."""
        with _MAKING:
            made = self.attached
            if made is None:
                made = self.attached = Attached()
        return made

    @property
    def metadata(self) -> dict[Any, Any]:
        """What users note about the node."""
        return self.extras().metadata

    def apply(self, grads: list[Grad]) -> list[Grad]:
        """The gradients of the arguments, one for each edge."""
        raise NotImplementedError(type(self).__name__)

    def release(self) -> None:
        """Let go of what was kept for `apply`."""

    def name(self) -> str:
        """`MulBackward0`; what torch's library has by hand is named with its place."""
        return f"torch::autograd::{n}" if (n := type(self).__name__).endswith("Backwards") else n

    def asked_edges(self) -> Sequence[Edge | None]:
        """The edges, those None that lead to nothing this thread's walk back wants."""
        leads = WALKING.leads
        if leads is None:
            return self.edges
        return [edge if edge is not None and edge[0] in leads else None for edge in self.edges]

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that the arguments came from, each with the number of its result."""
        return tuple((None, 0) if edge is None else single(edge) for edge in self.edges)

    def register_hook(self, hook: Callable[..., object]) -> Removable:
        """Have `hook(gradients of the arguments, gradients of the results)` called after `apply`;
        what it returns takes the place of the former."""
        return add_hook(self.extras().after, hook)

    def register_prehook(self, hook: Callable[..., object]) -> Removable:
        """Have `hook(gradients of the results)` called before `apply`."""
        return add_hook(self.extras().before, hook)

    def _sequence_nr(self) -> int:
        """The node's number; those of higher ones are walked back through first."""
        return self.sequence

    def _set_sequence_nr(self, number: int) -> None:
        """Give it another."""
        self.sequence = number

    def __lt__(self, other: Node) -> bool:
        """The order of nodes to which the same number was given."""
        return id(self) < id(other)

    def result_count(self) -> int:
        """Of how many results the node gets gradients."""
        return 1

    def run(self, grads: list[Grad]) -> list[Grad]:
        """`apply`, with the hooks around it."""
        attached = self.attached
        if attached is None:
            return self.apply(grads)
        missing = self.result_count() - len(grads)
        if missing > 0:
            grads = grads + [None] * missing
        for hook in list(attached.before.values()):
            grads = all_after(hook, grads, hook(tuple(grads)))
        is_given = self.takes_none or any(grad is not None for grad in grads)
        results: list[Grad] = [None] * len(self.edges)
        if is_given:
            results = self.apply(grads)
        return self.after(grads, results)

    def after(self, grads: list[Grad], results: list[Grad]) -> list[Grad]:
        """What the hooks after `apply` make of its results."""
        hooks = self.attached.after if self.attached is not None else {}
        for hook in list(hooks.values()):
            results = all_after(hook, results, hook(tuple(results), tuple(grads)))
        return results

    def __call__(self, *grads: Grad, **named: object) -> Tensor | tuple[Tensor | None, ...] | None:
        """The gradients of the arguments, of those of the results: one, or a tuple.

        Raises:
            TypeError: there are more or fewer of them than results, or one is no tensor.
        """
        if named:
            raise TypeError("keyword arguments are not supported")
        if len(grads) != self.result_count():
            raise TypeError(f"expected {self.result_count()} arguments, got {len(grads)} instead")
        for place, grad in enumerate(grads):
            if not (grad is None or isinstance(grad, Tensor)):
                raise TypeError(f"argument {place} is not a Variable")
        results = self.apply(list(grads))
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


Edge = tuple[Node, int]


def single(edge: Edge) -> Edge:
    """The same place among the nodes of single operators."""
    node, number = edge
    found = node.through[number] if node.is_call else edge
    assert found is not None
    return found


class Walk(Protocol):
    """What hooks may ask of the walk that calls them."""

    callbacks: list[Callable[[], object]]
    """What is called when it has ended."""
    depth: int
    """How many walks it lies in."""
    keep: bool
    node: Node | None
    """The node it has come to."""
    number: int
    """How many walks began before it."""
    targets: Sequence[Edge] | None
    """What gradients are wanted of; None for all leaves."""

    def reaches(self, node: Node) -> bool:
        """Whether a node is on a way from the results to what gradients are wanted of."""


class _Walking(threading.local):
    """The nodes that lead to what this thread's walk back wants, and that; None for all."""

    leads: frozenset[Node] | None = None
    keep = True
    """Whether nodes keep what they need for another walk."""

    walk: Walk | None = None
    last = -1
    """The number of the walk that began last."""


WALKING: Final = _Walking()


@cache
def node_class(base: type[Node], name: str) -> type[Any]:
    """The class of the nodes of that name."""
    return type(name, (base,), {"__slots__": (), "__module__": "builtins"})


SOON: Final = 1 << 62
"""Numbers from which others are taken off come before these on the way back."""


class AccumulateGrad(Node):
    """The end of the way back: adds what arrives to the leaf's `grad`."""

    __slots__ = ("variable",)

    is_leaf = True

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def __init__(self, variable: Tensor) -> None:
        super().__init__(())
        self.sequence = SOON - self.sequence
        self.variable = variable

    def apply(self, grads: list[Grad]) -> list[Grad]:
        (grad,) = grads
        if grad is not None:
            self._accumulate(grad)
            if self.attached is not None:
                for hook in list(self.attached.accumulated.values()):
                    none_after(hook, self.variable, hook(self.variable))
        return []

    def _accumulate(self, grad: Tensor) -> None:
        with _ACCUMULATING:  # several threads may walk back to one leaf
            before = self.variable._gradient
            if type(grad) is not Tensor or type(before) not in _USUAL:
                other = joined(before, grad)
                if other is not None:
                    self.variable._gradient = other
                    return
            if before is None:
                if grad._requires_grad:
                    first = recorded_copy(grad, self.variable)
                elif _references(grad) == _ALONE and is_own(grad._array, self.variable._array):
                    first = Tensor._of(grad._array)
                else:
                    first = Tensor._of(copied(grad._array, self.variable))
                self.variable._gradient = first
            elif grad._requires_grad or before._requires_grad or is_recording():
                self.variable._gradient = before + grad
            elif not added_to(before, grad):
                before.add_(grad)


_USUAL: Final = (Tensor, type(None))
_NEW: Final = object.__new__

_count: Final = getattr(sys, "getrefcount", None)


def _references(grad: Tensor) -> int:
    """How often a gradient and its array are referred to; 0 where that is not known."""
    if _count is None:
        return 0
    array: int = _count(grad._array)
    return 1000 * array + int(_count(grad))


def _measured() -> int:
    """What is counted of a gradient that the walk alone refers to: nobody misses it if it becomes
    that of a leaf."""
    found: list[int] = []

    class Counting(AccumulateGrad):
        """Counts where others accumulate."""

        __slots__ = ()

        def _accumulate(self, grad: Tensor) -> None:
            found.append(_references(grad))

    Counting(Tensor._of(np.zeros(1))).apply([Tensor._of(np.zeros(1))])
    return found[0]


_ALONE: Final = _measured()

RESOLVING: Final = fork_safe_lock()
"""Held while a script's notes become nodes: tensors change their history several times then."""

TURN: Final = [0]
"""Counts the beginnings and ends of that, so it is odd meanwhile."""


def with_node(tensor: Tensor, node: Node | None) -> Tensor:
    """A tensor over the memory of another one, but no view of it, with a history of its own: that
    of a leaf, if there is no node."""
    made: Tensor = tensor.detach()
    made._view_of, made._requires_grad, made._grad_node = None, True, node
    return made


def edge_of(tensor: Tensor) -> Edge | None:
    """Where a tensor came from; None if it needs no gradient."""
    turn = TURN[0]
    found: Edge | None = None
    wanted = tensor._requires_grad
    if wanted and (wanted is not True or tensor._view_of is not None):
        found = edge_within(tensor)
    elif wanted:
        node = tensor._grad_node
        found = edge_within(tensor) if node is None else (node, tensor._output_number)
    if turn & 1 or TURN[0] != turn:  # what was found may be a history half-way
        with RESOLVING:
            found = edge_within(tensor)
    return found


def is_wanted(tensor: Tensor) -> bool:
    """Whether a tensor needs a gradient, without the node that `edge_of` would make of a leaf."""
    turn = TURN[0]
    wanted = tensor._requires_grad
    if wanted and (wanted is not True or tensor._view_of is not None):
        if type(wanted) is list:
            return _is_wanted_of_base(tensor)
        return bool(tensor._unwatched) or edge_of(tensor) is not None or _is_wanted_of_base(tensor)
    return bool(wanted) if not turn & 1 and TURN[0] == turn else edge_of(tensor) is not None


def _is_wanted_of_base(view: Tensor) -> bool:
    """Whether what a tensor is a view of requires gradients, though the view has no history."""
    array = view._array
    if array.dtype.kind in "biu" or (MADE[0] and is_for_inference(array)):
        return False
    base = view._base
    return base is not None and is_wanted(base)


def edge_within(tensor: Tensor) -> Edge | None:
    """The same for whoever holds `RESOLVING`, or looks again afterwards."""
    if tensor._view_of is not None:
        tensor._refresh()
    wanted = tensor._requires_grad
    if wanted is not True:
        if not wanted or type(wanted) is list:
            return None  # a view of what became a leaf later is none itself
        wanted.resolve()
        # still the same while that record is being resolved in this very thread: no history yet
        return None if tensor._requires_grad is wanted else edge_within(tensor)
    node = tensor._grad_node
    if node is not None:
        return node, tensor._output_number
    if tensor._unwatched:
        return None
    known = tensor._accumulator
    found = None if known is None else known()
    if found is None:
        with _ACCUMULATING:  # a leaf has one node at a time, whose hooks are the leaf's
            ENDING.append(tensor)
            try:
                known = tensor._accumulator
                found = None if known is None else known()
                if found is None:
                    found = _NEW(AccumulateGrad)
                    found.edges, found.attached, found.variable = (), None, tensor
                    found.bounds, found.sequence = RUNNING.bounds, SOON - next(SEQUENCE)
                    tensor._accumulator = ref(found)
            finally:
                ENDING.pop()
    return found, 0


# --------------------------------------------------------------------------- kept tensors

FREED: Final = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)


def form_of(array: Array) -> Array:
    """An array of the same sizes and dtype, all of whose elements are one."""
    return spread(np.empty((), array.dtype), array.shape, (0,) * array.ndim)


_HOW_TO_FIND: Final = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
_WHERE: Final = (
    "the backtrace further above shows the operation that failed to compute its gradient. The "
    "variable in question was changed in there or anywhere later. Good luck!"
)


def _edge_of_result(node: Node, number: int) -> Edge:
    """Where a result of a node comes from: if it is a view that was written, its tensor's node."""
    whole: ref[Any] | None = getattr(node, "writes_for", None)
    found: Any = None if whole is None else whole()
    return (node, number) if found is None else (found.of_view(), 0)


def _from(made: Tensor, edge: Edge | None) -> Tensor:
    """A new handle with its history."""
    if edge is not None and made._array.dtype.kind not in "biu":
        made._requires_grad = True
        made._grad_node, made._output_number = edge
    return made


class Saved:
    """A tensor kept for the way back, with the version its memory had."""

    __slots__ = ("array", "edge", "handle", "number", "packed", "version")

    def __init__(
        self, handle: Tensor, edge: Edge | None, version: int, number: int | None = None,
        is_result: bool = False,
    ) -> None:  # fmt: skip
        """`edge` is where it came from.  A result of the node that keeps it has a `number` if it
        is of floats."""
        self.array: Array | None = array_behind(handle)
        self.version = version
        self.number = number
        self.edge = edge
        self.handle: Tensor | None = handle
        if is_result and not isinstance(handle, Dispatched):
            self.handle = None
        self.packed: Packed | None = None

    def pack(self, tensor: Tensor) -> Saved:
        """The same, or what the innermost hook makes of it."""
        packed = PACKING.packed(tensor)
        return self if packed is None else self.keep_packed(packed, tensor)

    def keep_packed(self, packed: Packed, tensor: Tensor) -> Saved:
        """Keep what a hook made of the tensor, whose memory is the hook's to keep or not."""
        self.packed, self.handle, self.array = packed, None, form_of(tensor._array)
        return self

    def _unpacked(self, node: Node, packed: Packed) -> Tensor:
        made = packed[1](packed[0])
        if not isinstance(made, Tensor):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor")
        edge = self.edge if self.number is None else _edge_of_result(node, self.number)
        if edge is None and not made._requires_grad:
            return made
        return _from(Tensor._of(made._array), edge)

    def tensor(self, node: Node) -> Tensor:
        """The tensor again.

        Raises:
            RuntimeError: it was released, or its memory was written since.
        """
        array = self.array
        if array is None:
            raise RuntimeError(FREED)
        if self.packed is not None:
            return self._unpacked(node, self.packed)
        now = version_of(array)
        if now != self.version:
            raise RuntimeError(self._changed(array, node, now))
        handle = self.handle
        if self.number is None:
            edge = self.edge
        else:
            if not is_recording():  # nobody can tell that it has no history
                return Tensor._of(array) if handle is None else handle
            edge = _edge_of_result(node, self.number)
        if handle is not None and array_behind(handle) is array:
            if edge is None or not isinstance(edge[0], AccumulateGrad):
                same = edge is None or handle._grad_node is edge[0]
            else:
                same = handle._grad_node is None
            if same:
                return handle
        return _from(Tensor._of(array), edge)

    def seen(self, node: Node) -> Tensor:
        """The same as a program sees it: a result tells its history also while nobody records."""
        found = self.tensor(node)
        if self.number is None or found._requires_grad:
            return found
        return _from(found, _edge_of_result(node, self.number))

    def _changed(self, array: Array, node: Node, now: int) -> str:
        sizes = ", ".join(map(str, array.shape))
        edge = self.edge if self.number is None else (node, self.number)
        origin = ""
        if self.handle is not None and self.handle._grad_node is not None:  # who wrote it last
            edge = self.handle._grad_node, self.handle._output_number
        if edge is not None and not isinstance(edge[0], AccumulateGrad):
            edge = single(edge)
            name = type(edge[0]).__name__.rstrip("0123456789").removesuffix("Backward")
            origin = f", which is output {edge[1]} of {name},"
        return (
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: [torch.{dtype_of(array).scalar_name}Tensor [{sizes}]]{origin} is at "
            f"version {now}; expected version {self.version} instead. Hint: "
            + (_WHERE if ANOMALY[0] else _HOW_TO_FIND)
        )

    def tensor_dtype(self) -> DType:
        """Its dtype."""
        assert self.array is not None
        return dtype_of(self.array)

    def release(self) -> None:
        """Let go of it."""
        self.array = self.handle = self.packed = None


def saved(tensor: Tensor, number: int | None = None) -> Saved:
    """A tensor to keep; a `number` if it is a result of the node that keeps it."""
    edge = edge_of(tensor) if number is None else None
    version = RUNNING.version_of(tensor._array)
    kept = Saved(tensor, edge, version, number, number is not None)
    return kept.pack(tensor) if PACKING.used else kept


def packed(
    handle: Tensor, edge: Edge | None, version: int, number: int | None = None,
    is_result: bool = False,
) -> Saved:  # fmt: skip
    """A tensor to keep as the innermost hook has it."""
    return Saved(handle, edge, version, number, is_result).pack(handle)
