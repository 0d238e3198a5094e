"""The walk back over the nodes, from results to leaves or to chosen tensors."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import chain
from typing import Any, Final

from ..table.grad_mode import RUNNING, grad_mode_set
from ..tensors.tensor import Tensor
from .autograd import WALKING, Attached, Edge, Grad, Node
from .hook_results import one_after

__all__ = ["run_backward"]


class _Walk:
    """One walk from some results to leaves, or to chosen tensors."""

    def __init__(self, targets: Sequence[Edge] | None, keep: bool) -> None:
        self.targets = targets
        self.keep = keep
        self.found: dict[Edge, Tensor] = {}
        self.waiting: dict[Node, list[Grad]] = {}
        self.dependencies: dict[Node, int] = {}
        self.useful: set[Node] | None = None
        self.leads: frozenset[Node] | None = None
        self.bounds: tuple[Any, ...] = ()

    def prepare(self, roots: Iterable[Node]) -> None:
        """Count for every node how many gradients it has to wait for."""
        seen: set[Node] = set()
        order: list[Node] = []
        bounded: list[tuple[object, ...]] = []
        pending = [(node, False) for node in roots]
        while pending:
            node, done = pending.pop()
            if done:
                order.append(node)
                continue
            if node in seen:
                continue
            seen.add(node)
            if node.bounds:
                bounded.append(node.bounds)
            pending.append((node, True))
            for edge in node.edges:
                if edge is not None:
                    self.dependencies[edge[0]] = self.dependencies.get(edge[0], 0) + 1
                    if edge[0] not in seen:
                        pending.append((edge[0], False))
        if self.targets is not None:
            wanted = {node for node, _ in self.targets}
            useful: set[Node] = set()
            for node in order:  # what a node leads to stands before it
                if any(e is not None and (e[0] in wanted or e[0] in useful) for e in node.edges):
                    useful.add(node)
            self.useful = useful
            self.leads = frozenset(useful | wanted)
        self.bounds = tuple(dict.fromkeys(chain(*bounded)))

    def give(self, edge: Edge, grad: Grad) -> None:
        """Let a gradient arrive."""
        node, number = edge
        grads = self.waiting.setdefault(node, [])
        grads.extend([None] * (number + 1 - len(grads)))
        before = grads[number]
        if grad is not None:
            grads[number] = grad if before is None else before + grad

    def run(self, roots: Iterable[Node]) -> None:
        """Walk."""
        leads = self.leads
        queue = [(-n.sequence, n) for n in dict.fromkeys(roots) if not self.dependencies.get(n)]
        heapq.heapify(queue)
        while queue:
            _, node = heapq.heappop(queue)
            grads = self._arrived(node)
            is_useful = self.useful is None or node in self.useful
            results: Sequence[Grad] = ()
            if is_useful and any(g is not None for g in grads):
                results = node.run(grads)
                if not self.keep:
                    node.release()
            for i, edge in enumerate(node.edges):
                if edge is None:
                    continue
                asked = i < len(results) and (leads is None or edge[0] in leads)
                self.give(edge, results[i] if asked else None)
                self.dependencies[edge[0]] -= 1
                if not self.dependencies[edge[0]]:
                    heapq.heappush(queue, (-edge[0].sequence, edge[0]))

    def _arrived(self, node: Node) -> list[Grad]:
        """The gradients of a node's results, after the hooks of those tensors."""
        grads = self.waiting.pop(node, [])
        if node.attached is not None:
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
            if number < len(grads):
                for hook in list(hooks.values()):
                    grad = grads[number]
                    if grad is not None:
                        grads[number] = one_after(hook, grad, hook(grad))
        for number, keeper in attached.retained.items():
            tensor = keeper()
            if tensor is not None and number < len(grads) and grads[number] is not None:
                before = tensor._gradient
                grad = grads[number]
                tensor._gradient = grad if before is None else before + grad


def run_backward(
    roots: Sequence[tuple[Edge, Tensor]],
    targets: Sequence[Edge] | None,
    *,
    keep: bool,
    create: bool,
) -> dict[Edge, Tensor]:
    """Walk back from results, each with its gradient.

    Args:
        roots: where the results came from, and their gradients.
        targets: what gradients are wanted of; None for all leaves, which get them in `grad`.
        keep: whether the nodes keep what they need for another walk.
        create: whether the gradients can be differentiated themselves.

    Returns:
        The gradients of the targets that were reached.
    """
    walk = _Walk(targets, keep)
    nodes = [edge[0] for edge, _ in roots]
    walk.prepare(nodes)
    bounded = walk.bounds or RUNNING.bounds
    outer, WALKING.leads = WALKING.leads, walk.leads
    try:
        with grad_mode_set(create), _within(walk.bounds) if bounded else _UNBOUND:
            for edge, grad in roots:
                walk.give(edge, grad)
            walk.run(nodes)
    finally:
        WALKING.leads = outer
    return walk.found


_UNBOUND: Final = nullcontext()


@contextmanager
def _within(bounds: tuple[Any, ...]) -> Iterator[None]:
    """Inside, all bounds hold; so they do when history that is made now is walked."""
    before, RUNNING.bounds = RUNNING.bounds, bounds
    try:
        with ExitStack() as entered:
            for each in bounds:
                entered.enter_context(each.entered())
            yield
    finally:
        RUNNING.bounds = before
