"""The walk back over the nodes, from results to leaves or to chosen tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from heapq import heapify, heappop, heappush, heappushpop
from itertools import chain, count
from typing import Final

import numpy as np

from ....frontend.syntax.deep_stack import with_frames_anew
from ....typecheck.definitions.functions import Bounding
from ...memory.quiet import QUIET, enter, leave
from ...table.grad_mode import (
    ANOMALY,
    BOUNDED,
    LOOKS_FOR_NAN,
    RUNNING,
    TRANSFORMS,
    grad_mode_set,
)
from ...tensors.tensor import Tensor
from ...tensors.tracing import ACTIVE
from ..table.rules import is_unheard, is_unwatched
from .anomaly import tell_of_failure
from .autograd import WALKING, Attached, Edge, Grad, Node
from .hook_results import one_after
from .packing import PACKING

__all__ = ["added", "run_backward"]


_NUMBERS: Final = count()


class _Walk:
    """One walk from some results to leaves, or to chosen tensors."""

    def __init__(
        self, targets: Sequence[Edge] | None, keep: bool, opens: bool, creates: bool
    ) -> None:
        self.targets = targets
        self.keep = keep
        self.found: dict[Edge, Tensor] = {}
        self.waiting: dict[Node, list[Grad]] = {}
        self.dependencies: dict[Node, int] = {}
        self.useful: set[Node] | None = None
        self.leads: frozenset[Node] | None = None
        self.bounds: tuple[Bounding, ...] = ()
        self.opens = opens
        self.creates = creates
        self.opened: set[Node] = set()
        """The calls of scripted code that are walked through operator by operator."""
        self.joined: set[Node] = set()
        """Those whose gradients are differentiated themselves, and are one call, too."""
        self.sums: set[Edge] = set()
        """Where a sum waits that this walk made, to which nobody else refers."""
        self.callbacks: list[Callable[[], object]] = []
        self.node: Node | None = None
        """The node that the walk has come to."""
        self.depth = 0
        """How many walks this one lies in."""
        self.number = WALKING.last = next(_NUMBERS)

    def prepare(self, roots: Sequence[Node]) -> None:
        """Count for every node how many gradients it has to wait for."""
        if self.targets is not None:
            self._find_useful(roots)
            return
        bounded: list[tuple[Bounding, ...]] = []
        dependencies = self.dependencies = dict.fromkeys(roots, 0)
        pending = list(dependencies)
        while pending:
            node = pending.pop()
            if node.bounds:
                bounded.append(node.bounds)
            for edge in self._edges_of(node) if node.is_call else node.edges:
                if edge is not None:
                    to = edge[0]
                    if to in dependencies:
                        dependencies[to] += 1
                    else:
                        dependencies[to] = 1
                        pending.append(to)
        self.bounds = tuple(dict.fromkeys(chain(*bounded))) if bounded else ()

    def reaches(self, node: Node) -> bool:
        """Whether a node is on a way from the results to what gradients are wanted of."""
        return node in self.leads if self.leads is not None else node in self.dependencies

    def _edges_of(self, call: Node) -> Sequence[Edge | None]:
        """Where the way leads on from a call."""
        if call in self.joined:
            return call.edges
        if self.opens or call.is_open:
            if self.creates and not call.is_open and call.may_be_differentiated:
                self.joined.add(call)
                return call.edges
            self.opened.add(call)
            return call.through
        return call.edges

    def _find_useful(self, roots: Sequence[Node]) -> None:
        """Find the nodes that lead to what gradients are wanted of, and how many gradients they
        wait for: as many as lead to them.  What leads nowhere has nobody to wait for."""
        assert self.targets is not None
        wanted = {node for node, _ in self.targets}
        before: dict[Node, list[Node]] = {node: [] for node in roots}
        pending = list(before)
        bounded: list[Node] = []
        while pending:
            node = pending.pop()
            if node.bounds:
                bounded.append(node)
            for edge in self._edges_of(node) if node.is_call else node.edges:
                if edge is not None:
                    to = edge[0]
                    if to in before:
                        before[to].append(node)
                    else:
                        before[to] = [node]
                        pending.append(to)
        useful: set[Node] = set()
        wanted = {node for node in wanted if node in before}
        pending = list(wanted)
        while pending:
            for node in before[pending.pop()]:
                if node not in useful:
                    useful.add(node)
                    pending.append(node)
        self.useful = useful
        self.leads = frozenset(useful | wanted)
        self.dependencies = dict.fromkeys(roots, 0)
        self.dependencies |= {node: len(before[node]) for node in self.leads}
        if bounded:
            known = (node.bounds for node in bounded if node in self.dependencies)
            self.bounds = tuple(dict.fromkeys(chain(*known)))

    def run_targets(self) -> None:
        """Go through the nodes, too, that gradients are wanted of the results of, for their hooks;
        leaves are left to who asked."""
        assert self.targets is not None
        assert self.useful is not None
        self.useful |= {
            node for node, _ in self.targets if node.attached is not None and not node.is_leaf
        }

    def give(self, edge: Edge, grad: Grad) -> None:
        """Let a gradient arrive."""
        node, number = edge
        grads = self.waiting.get(node)
        if grads is None:
            grads = self.waiting[node] = []
        if number >= len(grads):
            grads.extend([None] * (number + 1 - len(grads)))
        if grad is None:
            return
        before = grads[number]
        if before is None:
            grads[number] = grad
        elif edge in self.sums:
            grads[number] = added(before, grad)
        else:
            grads[number] = before + grad
            if is_unheard():
                self.sums.add(edge)

    def run(self, roots: Iterable[Node]) -> None:
        """Walk."""
        leads, useful, dependencies = self.leads, self.useful, self.dependencies
        waiting, give, release = self.waiting, self.give, not self.keep
        plain, opened, anomaly = self.targets is None, self.opened, ANOMALY[0]
        queue = [(-n.sequence, n) for n in dict.fromkeys(roots) if not dependencies[n]]
        heapify(queue)
        ready: Node | None = None  # mostly there is one, and nothing in the queue
        while queue or ready is not None:
            if ready is None:
                node = heappop(queue)[1]
            else:
                node = heappushpop(queue, (-ready.sequence, ready))[1] if queue else ready
                ready = None
            self.node = node
            has_hooks = node.attached is not None
            grads = self._arrived(node) if has_hooks or not plain else waiting.pop(node, [])
            results: Sequence[Grad] = ()
            edges: Sequence[Edge | None] = node.edges
            if opened and node in opened:
                edges, results = node.through, grads
            elif (useful is None or node in useful) and (
                (grads[0] is not None if len(grads) == 1 else _any(grads))
                or node.takes_none
                or node.attached is not None
            ):
                if anomaly:
                    results = tell_of_failure(node, grads, LOOKS_FOR_NAN[0])
                elif has_hooks:
                    results = node.run(grads)
                else:
                    back = None if ACTIVE else node.back
                    results = node.apply(grads) if back is None else back(node, grads)
                    if node.attached is not None:  # put on it meanwhile
                        results = node.after(grads, list(results))
                if release:
                    node.release()
            given = len(results)
            for at, edge in enumerate(edges):
                if edge is None:
                    continue
                to = edge[0]
                if leads is not None and to not in leads:
                    continue
                grad = results[at] if at < given else None
                if edge[1] or to in waiting:
                    give(edge, grad)
                else:
                    waiting[to] = [grad]
                left = dependencies[to] - 1
                if left:
                    dependencies[to] = left
                elif to.is_leaf and plain and to.attached is None and not anomaly:
                    if grad is not None and type(results) is list:
                        results[at] = grad = None  # nobody but the leaf shall refer to it
                    to.apply(waiting.pop(to))
                else:
                    grad = None
                    if ready is None:
                        ready = to
                    else:
                        heappush(queue, (-to.sequence, to))

    def _arrived(self, node: Node) -> list[Grad]:
        """The gradients of a node's results, after the hooks of those tensors."""
        grads = self.waiting.pop(node, [])
        if node.attached is not None and (self.leads is None or node in self.leads):
            self._told(node.attached, grads)
        if self.targets is not None:
            for number, grad in enumerate(grads):
                if grad is not None:
                    self.found[node, number] = grad
        return grads

    @staticmethod
    def _told(attached: Attached, grads: list[Grad]) -> None:
        """Call the hooks of a node's results, and keep their gradients where that was asked."""
        for number, hooks in attached.of_results.items():
            if hooks and number >= len(grads):
                grads.extend([None] * (number + 1 - len(grads)))
            for hook in list(hooks.values()):  # which hear of gradients that are not there, too
                grad = grads[number]
                grads[number] = one_after(hook, grad, hook(grad))
        for number, keeper in attached.retained.items():
            tensor = keeper()
            if tensor is not None and number < len(grads) and grads[number] is not None:
                before = tensor._gradient
                grad = grads[number]
                tensor._gradient = grad if before is None else before + grad


def added(total: Tensor, grad: Tensor) -> Tensor:
    """A sum of gradients to which nobody else refers, and one more."""
    if type(total) is type(grad) is Tensor:
        one, other = total._array, grad._array
        if one.dtype is other.dtype and one.dtype.char in "fd" and one.shape == other.shape:
            state = enter(QUIET)
            try:
                np.add(one, other, one)
            finally:
                leave(state)
            return total
    return total + grad


def _any(grads: list[Grad]) -> bool:
    """Whether there is a gradient at all."""
    if len(grads) == 1:
        return grads[0] is not None
    return any(grad is not None for grad in grads)


def run_backward(
    roots: Sequence[tuple[Edge, Tensor]],
    targets: Sequence[Edge] | None,
    *,
    keep: bool,
    create: bool,
    runs_targets: bool = False,
) -> dict[Edge, Tensor]:
    """Walk back from results, each with its gradient.

    Args:
        roots: where the results came from, and their gradients.
        targets: what gradients are wanted of; None for all leaves, which get them in `grad`.
        keep: whether the nodes keep what they need for another walk.
        create: whether the gradients can be differentiated themselves.
        runs_targets: whether the hooks of the nodes that targets came from are called.

    Returns:
        The gradients of the targets that were reached.
    """
    keep = keep or TRANSFORMS.duals  # for directions, which are found when they are asked for
    opens = create or ANOMALY[0] or not is_unwatched()
    walk = _Walk(targets, keep, opens, create and keep)
    nodes = [edge[0] for edge, _ in roots]
    walk.prepare(nodes)
    if runs_targets:
        walk.run_targets()
    bounded = walk.bounds or RUNNING.bounds
    outer, WALKING.leads = (WALKING.leads, WALKING.walk), walk.leads
    if outer[1] is not None:
        walk.depth = outer[1].depth + 1
    WALKING.walk = walk
    kept, WALKING.keep = WALKING.keep, keep
    packing = PACKING.hooks
    try:
        is_rare = bounded or walk.depth % _STEP == _STEP - 1
        with grad_mode_set(create), _around(walk, bool(bounded)) if is_rare else _UNBOUND:
            for edge, grad in roots:
                walk.give(edge, grad)
            walk.run(nodes)
            for callback in walk.callbacks:  # which may add others
                callback()
    finally:
        (WALKING.leads, WALKING.walk), WALKING.keep = outer, kept
        if PACKING.hooks is not packing:  # what hooks entered or left on the way ends with it
            PACKING.put(packing)
    return walk.found


_UNBOUND: Final = nullcontext()
_STEP: Final = 25
"""Of so many walks in each other one gets room for those that follow."""


@contextmanager
def _around(walk: _Walk, bounded: bool) -> Iterator[None]:
    """What a walk runs in that lies deep in others, or under bounds."""
    with (
        _within(walk.bounds) if bounded else _UNBOUND,
        with_frames_anew() if walk.depth % _STEP == _STEP - 1 else _UNBOUND,
    ):
        yield


@contextmanager
def _within(bounds: tuple[Bounding, ...]) -> Iterator[None]:
    """Inside, all bounds hold; so they do when history that is made now is walked."""
    BOUNDED[0] = True
    before, RUNNING.bounds = RUNNING.bounds, bounds
    try:
        with ExitStack() as entered:
            for each in bounds:
                entered.enter_context(each.entered())
            yield
    finally:
        RUNNING.bounds = before
