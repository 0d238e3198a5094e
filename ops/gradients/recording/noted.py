"""Making the nodes of notes: of what an operator was given and what it gave, with bare arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...memory.dtype import Array
from ...memory.versions import owner_of
from ...tensors.differentiable import AMONG_UNKNOWN
from ...tensors.tensor import Tensor
from ..nodes import autograd
from ..nodes.bound import Bound
from ..nodes.view_rules import check_in_place
from .recording import MISSED, replayer_for
from .tape import attach, is_active

__all__ = ["Noted", "Step"]

Step = tuple[Bound, tuple[Any, ...], Any, Array | None]
"""A note of a call: an operator, its arguments, its result, and what it wrote over if that is
needed."""


class Noted:
    """Notes that become nodes; `known` are the tensors of arrays."""

    def __init__(self, known: Mapping[int, Tensor] | None = None) -> None:
        self.known: dict[int, Tensor] = dict(known or {})
        self.clock = 0
        """The count of all writes when all was noted; 0 before."""
        self._later: dict[int, int] = {}

    def handle(self, array: Array) -> Tensor:
        """The tensor of an array."""
        found = self.known.get(id(array))
        if found is None:
            found = self.known[id(array)] = Tensor._of(array)
        return found

    def replayed(self) -> None:
        """Take all notes as done: memory has had the versions of the end from the begin."""
        self._later.clear()

    def replay(
        self, bound: Bound, args: tuple[Any, ...], result: object, old: Array | None
    ) -> None:
        """Make the node of one note, of those that came in order."""
        if bound.in_place:
            self._later[id(owner_of(args[0]))] -= 1
        self.make_node(bound, args, result, old)

    def make_node(
        self, bound: Bound, args: tuple[object, ...], result: object, old: Array | None
    ) -> None:
        """Make the node of a note."""
        if (bound.is_plain or bound.writes_alone) and bound.watched:
            types = tuple(map(type, args))
            replay = bound.replays.get(types) or replayer_for(bound, types)
            if replay(self.known, self.handle, args, result, old) is not MISSED:
                return
        handles = [self._lifted(value) for value in args]
        active = bound.watched and is_active(bound, handles)
        if bound.in_place:
            check_in_place(handles[0], active)
        if not active:
            wrapped = self._lifted(result)
            if bound.is_view:
                for view in wrapped if isinstance(wrapped, list) else (wrapped,):
                    if view is not handles[0]:
                        view._seen_as(handles[0], bound.watched)
                        if bound.forbids_writes:
                            view._view_among = AMONG_UNKNOWN
            return
        before = None
        if old is not None:
            before = Tensor._of(old)
            edge = autograd.edge_of(handles[0])
            if edge is not None:
                before._requires_grad = True
                before._grad_node, before._output_number = edge
        attach(bound, handles, self._lifted(result), before)

    def _lifted(self, value: object) -> Any:
        if isinstance(value, np.ndarray):
            return self.handle(value)
        if isinstance(value, (list, tuple)):
            return [self._lifted(each) for each in value]
        return value
