"""The node of a whole call of scripted code, which walks back through all that it did at once.

Whoever looks at single operators (`grad_fn`, hooks, gradients of gradients) gets their nodes: they
are made of what the node keeps, and stand behind it from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Final, NamedTuple

from ...memory.dtype import Array, of_numpy
from ...memory.quiet import QUIET, enter, leave
from ...memory.versions import version_of, write_count
from ...table.grad_mode import ANOMALY, RUNNING, is_recording
from ...tensors.tensor import Tensor
from ...tensors.tracing import ACTIVE
from ..nodes.autograd import FREED, RESOLVING, WALKING, Edge, Node, edge_of, edge_within
from ..nodes.fitting import fit, thin
from ..nodes.packing import PACKING
from ..nodes.walk import run_backward
from ..recording.noted import Noted, Step
from ..table.rules import is_unheard, is_unwatched
from .derivatives import Derivative, derived
from .long_calls import outward_of, parts_of
from .replay import arrays_of, nodes_of
from .shapes import LONGEST, LONGEST_WRITING, CallShape, NotJoined, shape_of
from .texts import match_of

__all__ = ["BEFORE_LONG", "CallNode", "Calls"]

BEFORE: Final = 3
"""Calls of one kind that leave a node for each operator, before it pays to find their shape."""

BEFORE_LONG: Final = 24
"""The same of long calls, whose texts take longer to write."""

OPENED: Final = 8
"""Nodes of a shape that must have been looked behind before it may not pay."""

MOST: Final = 8
"""Shapes that are remembered of one code, or of parts of long calls that run the same operators;
of these more if they come again."""

MOST_OF_PARTS: Final = 64
"""Shapes of all parts that are remembered of one code: rounds of a loop differ by numbers."""

MOST_KINDS: Final = 64

Asked = tuple[bool, ...]


class _Known:
    """A shape and what was written for it."""

    def __init__(self, shape: CallShape) -> None:
        self.shape = shape
        self.has_inner = shape.has_inner
        self.watched = [shape.saved.index(n) for n in shape.watched]
        self.backs: dict[tuple[Asked, Asked], object] = {}
        self.all_asked = (True,) * len(shape.edges)
        self.joined = self.opened = 0
        """How many nodes were made, and how many gave way to those of single operators."""
        self.derivatives: dict[object, _Derived] = {}
        self.differentiated = 0
        """How often gradients were to be differentiated; below 0 if that goes by operators."""

    @cached_property
    def match(self) -> Any:
        """What knows further calls."""
        return match_of(self.shape)

    @property
    def pays(self) -> bool:
        """Whether nodes mostly stay as they are."""
        return self.opened < OPENED or self.opened * 2 < self.joined

    def back(self, asked: Asked, given: Asked) -> Any:
        """The way back for the edges that are asked for, from the gradients that are given."""
        found = self.backs.get((asked, given))
        if found is None:
            count = len(self.shape.outward) - len(given)
            writing = import_module(".back", __package__)  # nothing needs it until now
            made = writing.back_of(self.shape, asked, (*given, *[False] * count))
            found = self.backs[asked, given] = made
        return found


class _Derived(NamedTuple):
    """The gradients of a call, and what is known of them as a call."""

    derivative: Derivative
    known: _Known


class Calls:
    """What is known of the calls of one code."""

    def __init__(self) -> None:
        self._known: list[_Known] = []
        self._of_parts: dict[tuple[int, ...], list[_Known]] = {}
        self._counts: dict[object, int] = {}
        self._parts: dict[object, list[tuple[int, int]]] = {}

    def join(self, record: Noted, steps: Sequence[Step], pending: Sequence[Tensor]) -> bool:
        """Make one node of all notes of a call, or of each part of a long one; False, with nothing
        done, where there is none."""
        if PACKING.used or ACTIVE or ANOMALY[0] or RUNNING.bounds or not pending:
            return False
        if len(steps) > LONGEST:
            return self._join_parts(record, steps, pending)
        return self._join_one(record, steps, pending, self._known)

    def _join_parts(self, record: Noted, steps: Sequence[Step], pending: Sequence[Tensor]) -> bool:
        if not all(step[0].watched for step in steps):
            return False
        if any(step[0].in_place for step in steps):  # what is written has other versions by parts
            is_short = len(steps) <= LONGEST_WRITING
            return is_short and self._join_one(record, steps, pending, self._known)
        kinds = tuple([id(step[0]) for step in steps])
        parts = self._parts.get(kinds)
        if parts is None:
            if len(self._parts) >= MOST_KINDS:
                self._parts.clear()
            parts = self._parts[kinds] = parts_of(kinds)
        outward = outward_of(parts, steps, {id(each._array) for each in pending})
        counted: set[tuple[int, ...]] = set()
        for (begin, end), arrays in zip(parts, outward, strict=True):
            part, handles = steps[begin:end], [record.handle(array) for array in arrays]
            kind = kinds[begin:end]
            alike = self._of_parts.get(kind, [])
            if handles and self._join_one(record, part, handles, alike, counted):
                self._of_parts[kind] = alike
                continue
            for step in part:
                record.replay(*step)
        return True

    def _join_one(
        self,
        record: Noted,
        steps: Sequence[Step],
        pending: Sequence[Tensor],
        alike: list[_Known],
        counted: set[tuple[int, ...]] | None = None,
    ) -> bool:
        """Make one node of notes whose shape is among those that are `alike`, or is found now."""
        for known in alike:
            found = known.match(steps, pending, record.known)
            if found is not None:
                if not known.pays:
                    return False
                record.replayed()
                _attach(known, record, pending, *found)
                return True
        return self._learns(alike) and self._learn(record, steps, pending, alike, counted)

    def _learns(self, alike: list[_Known]) -> bool:
        """Whether there may be another shape among some."""
        if len(self._counts) >= MOST_KINDS:
            return False
        if alike is self._known or len(alike) < MOST:
            return len(alike) < MOST
        comes_again = alike[0].joined > 1
        return comes_again and sum(map(len, self._of_parts.values())) < MOST_OF_PARTS

    def _learn(
        self,
        record: Noted,
        steps: Sequence[Step],
        pending: Sequence[Tensor],
        alike: list[_Known],
        counted: set[tuple[int, ...]] | None,
    ) -> bool:
        """Find the shape of calls that have come before, and put it before those that are `alike`;
        what was `counted` in this call is not counted again."""
        kind = tuple([id(step[0]) for step in steps])
        if counted is not None:
            if kind in counted:
                return False
            counted.add(kind)
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        if count != (BEFORE if len(steps) <= LONGEST else BEFORE_LONG):
            return False

        def edge(array: Array) -> Edge | None:
            handle = record.known.get(id(array))
            return None if handle is None else edge_within(handle)

        try:
            shape = shape_of(steps, [each._array for each in pending], edge)
        except NotJoined:
            return False
        known = _Known(shape)
        found = known.match(steps, pending, record.known)
        if found is None:
            return False
        alike.insert(0, known)
        self._counts.pop(kind)
        record.replayed()
        _attach(known, record, pending, *found)
        return True


def _attach(
    known: _Known,
    record: Noted,
    pending: Sequence[Tensor],
    saved: tuple[Array, ...],
    edges: list[Edge],
    bases: tuple[Array, ...],
) -> None:
    """Give what went out its node."""
    shape = known.shape
    known.joined += 1
    node = CallNode(known, edges, saved, record.clock)
    handles = dict(zip(shape.outward, pending, strict=False))
    for number, array in zip(shape.bases, bases, strict=True):
        if number not in handles:
            handles[number] = record.handle(array)
    for place, number in enumerate(shape.outward):
        handle = handles[number]
        if number in shape.active:
            handle._requires_grad = True
            handle._grad_node, handle._output_number = node, place
        view = shape.views.get(number)
        if view is not None:
            handle._view_of, handle._view_among = handles[view[0]], view[1]
            handle._view_version = RUNNING.version_of(handle._array)


class CallNode(Node):
    """The node of a call."""

    __slots__ = ("_clock", "_has_derived", "_known", "_of", "_through", "_values", "_versions")

    is_call = True

    def __init__(
        self,
        known: _Known,
        edges: Sequence[Edge | None],
        saved: tuple[Array, ...],
        clock: int,
        of: tuple[CallNode, Derivative] | None = None,
    ) -> None:
        """`clock` is the count of all writes when all was done; `of` is the call of whose gradients
        this is the node."""
        super().__init__(edges)
        self._known = known
        self._values: tuple[Array, ...] | None = saved
        versions = RUNNING.version_of
        self._versions = [versions(saved[at]) for at in known.watched]
        self._clock = clock
        self._of = of
        self._has_derived = False
        self._through: list[Edge | None] | None = None

    def result_count(self) -> int:
        return len(self._known.shape.outward)

    def release(self) -> None:
        if self._known.shape.saved:
            self._values = None

    @property
    def is_changed(self) -> bool:
        """Whether something that is kept was written since."""
        values = self._values
        if values is None:
            return False
        now = [version_of(values[at]) for at in self._known.watched]
        return now != self._versions

    # ------------------------------------------------------------------ the way back

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        if is_recording():
            return self._differentiated(grads)
        if self._values is None:
            raise RuntimeError(FREED)
        if ACTIVE or not is_unheard() or self.is_changed:
            return self._fitting(self._by_nodes(grads))
        leads = WALKING.leads
        known = self._known
        asked = self._asked()
        WALKING.leads = None
        back = known.back(asked, tuple([grad is not None for grad in grads]))
        state = enter(QUIET)
        try:
            found: list[Tensor | None] = back(self._taken(), grads)
        finally:
            leave(state)
            WALKING.leads = leads
        return self._fitting(found)

    def _fitting(self, found: list[Tensor | None]) -> list[Tensor | None]:
        """Gradients without sparse ones but of leaves."""
        shape = self._known.shape
        if shape.may_be_thin:
            for place, (grad, edge) in enumerate(zip(found, self.edges, strict=True)):
                if grad is not None and type(grad) is not Tensor and not thin(grad, edge):
                    value = shape.values[shape.edges[place]]
                    found[place] = fit(grad, value.shape, of_numpy(value.dtype))
        return found

    def _asked(self) -> Asked:
        """Which gradients are asked for by the walk that comes along."""
        leads = WALKING.leads
        if leads is None:
            return self._known.all_asked
        return tuple([edge is not None and edge[0] in leads for edge in self.edges])

    def _taken(self) -> tuple[Array, ...]:
        """What is kept; if nobody walks back again, only the caller refers to it then."""
        values = self._values
        assert values is not None
        if not WALKING.keep:
            self.release()
        return values

    def _by_nodes(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """The gradients by nodes of single operators, made for this walk alone."""
        shape = self._known.shape
        own = [Tensor._of(shape.ghost(n), True) for n in shape.edges]
        leaves = [edge_of(each) for each in own]
        return _walked(self._nodes(leaves), grads, leaves, create=False)

    # ------------------------------------------------------------------ gradients of gradients

    @property
    def may_be_differentiated(self) -> bool:
        """Whether the way back is to be one call if it is differentiated itself."""
        known = self._known
        if PACKING.used or ACTIVE or ANOMALY[0] or RUNNING.bounds or self.bounds:
            return False
        if not is_unwatched() or known.differentiated < 0 or self.is_changed or not self._values:
            return False
        known.differentiated += 1
        return known.differentiated > BEFORE and len(set(self.edges)) == len(self.edges)

    def _differentiated(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """The gradients, with their history."""
        leads, known, values = WALKING.leads, self._known, self._values
        if values is None:
            raise RuntimeError(FREED)
        asked = self._asked()
        key = asked, tuple([None if g is None else edge_of(g) is not None for g in grads])
        found = known.derivatives.get(key)
        if found is None:
            WALKING.leads = None
            try:
                made = derived(known.shape, values, self._clock, asked, grads)
            finally:
                WALKING.leads = leads
            if made is None:
                known.differentiated = -1
                wanted = [e if each else None for e, each in zip(self.edges, asked, strict=True)]
                return _walked(self.through, grads, wanted, create=True)
            found = known.derivatives[key] = _Derived(made, _Known(made.shape))
        return self._given(found, values, grads)

    def _given(
        self, found: _Derived, values: tuple[Array, ...], grads: list[Tensor | None]
    ) -> list[Tensor | None]:
        derivative, shape = found.derivative, found.derivative.shape
        state = enter(QUIET)
        try:
            arrays, saved = derivative.run(values, grads)
        finally:
            leave(state)
        of_grads = [None if each is None else edge_of(each) for each in grads]
        edges = [self.edges[at] if at >= 0 else of_grads[-1 - at] for at in derivative.edges]
        node = CallNode(found.known, edges, saved, write_count(), (self, derivative))
        self._has_derived = True
        handles = []
        for place, (number, array) in enumerate(zip(shape.outward, arrays, strict=True)):
            handle = Tensor._of(array)
            if number in shape.active:
                handle._requires_grad = True
                handle._grad_node, handle._output_number = node, place
            handles.append(handle)
        return [
            None if at is None else handles[at] if at >= 0 else grads[-1 - at]
            for at in derivative.results
        ]

    # ------------------------------------------------------------------ single operators

    @property
    def through(self) -> list[Edge | None]:
        """Where what went out came from, among the nodes of single operators."""
        found = self._through
        if found is None:
            with RESOLVING:
                found = self._through
                if found is None:
                    self._known.opened += 1
                    found = self._through = self._nodes(self.edges)
        return found

    @property
    def is_open(self) -> bool:
        """Whether somebody has looked at the nodes of single operators, or of those of the call
        of whose gradients this is the node: they stand before these."""
        return self._through is not None or (self._of is not None and self._of[0].is_open)

    @property
    def has_inner(self) -> bool:
        """Whether what went out was made of something else that did, or its gradients were."""
        return self._has_derived or self._known.has_inner

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        return tuple((None, 0) if edge is None else edge for edge in self.through)

    def _nodes(self, edges: Sequence[Edge | None]) -> list[Edge | None]:
        """Make the nodes of all operators; given is where the arguments came from."""
        shape = self._known.shape
        there: dict[int, Edge | None] = {}
        if self._of is not None and self._of[0].is_open:
            call, derivative = self._of
            there = {n: call.through[place] for n, place in derivative.of_call.items()}
        arrays = arrays_of(shape, self._values or ())
        found, noted = nodes_of(shape, arrays, edges, self._clock, there)
        if self._values is None:
            before = [edge[0] for edge in (*edges, *there.values()) if edge]
            for handle in noted.known.values():
                node = handle._grad_node
                if node is not None and not any(node is each for each in before):
                    node.release()
        return found


def _walked(
    ends: Sequence[Edge | None],
    grads: Sequence[Tensor | None],
    wanted: Sequence[Edge | None],
    *,
    create: bool,
) -> list[Tensor | None]:
    """The gradients of what came from edges, by nodes of single operators."""
    pairs = zip(ends, grads, strict=False)
    roots = [(end, grad) for end, grad in pairs if end is not None and grad is not None]
    targets = [edge for edge in wanted if edge is not None]
    found = run_backward(roots, targets, keep=True, create=create)
    return [None if edge is None else found.get(edge) for edge in wanted]
