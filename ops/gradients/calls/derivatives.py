"""The gradients of a call as a call of their own, for gradients of gradients.

What the way back through a call does while it is differentiated itself is heard once, operator by
operator.  With what the call did that makes one longer call, from the call's arguments and the
gradients of its results to the gradients of its arguments, whose shape says how to walk back
through it (`call_shapes`).  Of its values those of the call are there already: the call keeps what
its way back reads.  So a text runs the rest, and what it gives leaves one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...memory.dtype import Array
from ...tensors.tensor import Tensor
from ..nodes.autograd import Edge, edge_of
from ..nodes.walk import run_backward
from ..recording.listening import listening
from ..recording.noted import Step
from .replay import arrays_of, nodes_of, notes_of, runs_for, write_runs
from .shapes import CallShape, NotJoined, shape_of
from .texts import Text

__all__ = ["Derivative", "derived"]

Grads = Sequence[Tensor | None]


class Derivative:
    """What gives the gradients of a call.

    `run(saved arrays of the call, gradients that are given)` gives the arrays of `shape.outward`
    and those of `shape.saved`.  Each of the `results`, one for each argument of the call, is the
    place of such an array, of a gradient that was given (as its place below 0: -1 is the first), or
    None.  `edges` say where what `shape.edges` are came from, in the same way.  `of_call` are the
    values that went out of the call, by their places there.
    """

    def __init__(
        self, shape: CallShape, run: Callable[..., tuple[Sequence[Array], tuple[Array, ...]]]
    ) -> None:
        self.shape = shape
        self.run = run
        self.results: list[int | None] = []
        self.edges: list[int] = []
        self.of_call: dict[int, int] = {}


def derived(
    shape: CallShape, saved: Sequence[Array], clock: int, asked: Sequence[bool], grads: Grads
) -> Derivative | None:
    """What gives the gradients of calls of that shape, learnt from one of them; None where that
    cannot be said."""
    if shape.may_be_thin or shape.puts:
        return None
    arrays = arrays_of(shape, saved)
    leaves = [Tensor._of(arrays[n], True) for n in shape.edges]
    edges = [edge_of(each) for each in leaves]
    ends, _ = nodes_of(shape, arrays, edges, clock)
    given = [None if each is None else _renewed(each) for each in grads]
    pairs = zip(ends, given, strict=False)
    roots = [(end, grad) for end, grad in pairs if end is not None and grad is not None]
    targets = [edge for edge, each in zip(edges, asked, strict=True) if each and edge is not None]
    with listening() as heard:
        if heard is None:
            return None
        found = run_backward(roots, targets, keep=True, create=True)
    if not heard.is_complete:
        return None
    made = [found.get(edge) if each else None for edge, each in zip(edges, asked, strict=True)]  # type: ignore[arg-type]
    return _Learnt(shape, arrays, leaves, given, made, heard.steps).derivative()


def _renewed(grad: Tensor) -> Tensor:
    """A leaf like a gradient, known by its array."""
    return Tensor._of(grad._array.view(), edge_of(grad) is not None)


class _Learnt:
    """What was heard of the way back through a call."""

    def __init__(
        self,
        shape: CallShape,
        arrays: list[Array],
        leaves: list[Tensor],
        given: Grads,
        made: Grads,
        heard: Sequence[Step],
    ) -> None:
        self.before = shape
        self.arrays = arrays
        self.given = {id(g._array): place for place, g in enumerate(given) if g is not None}
        self.made = made
        self.heard = heard
        starts = [*leaves, *[each for each in given if each is not None]]
        self.starts = {id(each._array): each for each in starts}
        self.leaves = [id(each._array) for each in leaves]

    def derivative(self) -> Derivative | None:
        """What gives the gradients; None where something is unknown."""
        outward: dict[int, Array] = {}
        results: list[int | None] = []
        for each in self.made:
            if each is None:
                results.append(None)
            elif id(each._array) in self.given:
                results.append(-1 - self.given[id(each._array)])
            else:
                outward.setdefault(id(each._array), each._array)
                results.append(list(outward).index(id(each._array)))
        notes = [*notes_of(self.before, self.arrays), *self.heard]
        try:
            shape = shape_of(notes, list(outward.values()), self._edge)
        except NotJoined:
            return None
        if shape.puts:
            return None
        shape.views, shape.bases = {}, []
        numbers = shape.numbers_of(notes)
        own = {numbers[id(a)]: n for n, a in enumerate(self.arrays) if id(a) in numbers}
        run = self._written(shape, numbers)
        if run is None:
            return None
        there = {n for n in shape.saved if n in own or n in shape.outside}
        shape.watched = sorted(there.union(shape.watched))
        found = Derivative(shape, run)
        found.results = results
        places = {numbers[key]: at for at, key in enumerate(self.leaves) if key in numbers}
        places |= {numbers[key]: -1 - at for key, at in self.given.items() if key in numbers}
        found.edges = [places[n] for n in shape.edges]
        went = {id(self.arrays[n]): place for place, n in enumerate(self.before.outward)}
        found.of_call = {numbers[key]: place for key, place in went.items() if key in numbers}
        return found

    def _edge(self, array: Array) -> Edge | None:
        leaf = self.starts.get(id(array))
        return None if leaf is None else edge_of(leaf)

    def _written(self, shape: CallShape, numbers: dict[int, int]) -> Callable[..., Any] | None:
        """The text that runs what was heard; None if it reads what nobody gives it."""
        text = Text("def run(values, gs):")
        there = set[int]()
        if self.before.saved:
            names = []
            for n in self.before.saved:
                number = numbers.get(id(self.arrays[n]))
                names.append("_" if number is None else f"v{number}")
                there |= set() if number is None else {number}
            text.add(1, f"{', '.join(names)}, = values")
        for key, place in self.given.items():
            if key in numbers:
                text.add(1, f"v{numbers[key]} = gs[{place}]._array")
                there.add(numbers[key])
        begin = len(shape.steps) - len(self.heard)
        steps = runs_for(shape, {*shape.outward, *shape.saved}, there, begin)
        if steps is None:
            return None
        write_runs(text, shape, steps)
        out, saved = ("".join(f"v{n}, " for n in each) for each in (shape.outward, shape.saved))
        text.add(1, f"return ({out}), ({saved})")
        return text.function("run")  # type: ignore[no-any-return]
