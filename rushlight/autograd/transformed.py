"""Functions of one's own inside of `torch.func`: for all slices, and with directions.

A direction is the gradient, by a vector, of that vector's product with the Jacobian.  So the node
of a function that has a `jvp` leaves, in a walk whose gradient is wanted, a linear step whose own
gradient that `jvp` is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from ..ops.batching.batched import Batched, level_of
from ..ops.batching.opened import Level
from ..ops.eager.dispatch import eager_function
from ..ops.table.grad_mode import TRANSFORMS
from ..ops.tensors.tensor import Tensor
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten
from .function import (
    IN_TRANSFORMS,
    Function,
    FunctionCtx,
    FunctionNode,
    backward_of,
    run_function,
)

__all__ = ["VmapInfo", "for_all_slices", "level_of", "pushed"]

Item = TypeVar("Item")

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a `vmap` of one's own is told: the number of slices, and what random numbers do."""

    batch_size: int
    randomness: str


def for_all_slices(cls: type[Function], level: Level, args: tuple[object, ...]) -> object:
    """A function's results for arguments that stand for slices.

    Raises:
        RuntimeError: it does not say how, or in two ways.
    """
    own = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule and own:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and "
            "an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            f"overridden vmap staticmethod to avoid ambiguity. {_MORE}"
        )
    if not cls.generate_vmap_rule and not own:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please "
            f"override and implement the vmap staticmethod or set generate_vmap_rule=True. {_MORE}"
        )
    if own:
        return _by_own_rule(cls, level, args)
    batch = _Batch(level, _marks(args, level))
    results = _all_at_once(cls).apply(batch, *_opened(args, batch.arguments))
    return _as(results, _closed(_several(results), batch.results, level))


def _by_own_rule(cls: type[Function], level: Level, args: tuple[object, ...]) -> object:
    flat, spec = tree_flatten(args)
    marks = _marks(flat, level)
    bare = tree_unflatten(_opened(flat, marks), spec)
    dims = tree_unflatten([0 if mark else None for mark in marks], spec)
    with _without(level):
        given = cls.vmap(VmapInfo(level.count, level.randomness), tuple(dims), *bare)
    if not (isinstance(given, tuple) and len(given) == 2):
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with "
            f"pytree structure compatible with the output. Got a {_kind(given)} instead"
        )
    outputs, shape = tree_flatten(given[0])
    places = _broadcast_to_and_flatten(given[1], shape)
    if places is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
            f"tuple. Expected out_dims={given[1]} to be compatible with the structure of `output`. "
            f"out_dims has structure {tree_flatten(given[1])[1]} but output has structure {shape}. "
            f"{_MORE}"
        )
    whole = [
        Batched.over(each.movedim(place, 0), level)
        if isinstance(each, Tensor) and place is not None
        else each
        for each, place in zip(outputs, places, strict=True)
    ]
    return tree_unflatten(whole, shape)


def _kind(value: object) -> str:
    return "<class 'torch.Tensor'>" if isinstance(value, Tensor) else str(type(value))


@contextmanager
def _without(level: Level) -> Iterator[None]:
    """Let a level not run for a block."""
    before = TRANSFORMS.levels
    TRANSFORMS.levels = [each for each in before if each is not level]
    try:
        yield
    finally:
        TRANSFORMS.levels = before


@contextmanager
def _within(level: Level) -> Iterator[None]:
    """Let a level run for a block, which may have ended."""
    before = TRANSFORMS.levels
    TRANSFORMS.levels = before if level in before else [*before, level]
    try:
        yield
    finally:
        TRANSFORMS.levels = before


# --------------------------------------------------------------------------- values of all slices


def _marks(values: Sequence[object], level: Level) -> tuple[bool, ...]:
    """Of each value whether it stands for slices of a level."""
    return tuple(type(each) is Batched and each._level is level for each in values)


def _opened(values: Sequence[Item], marks: Sequence[bool]) -> list[Item | Tensor]:
    return [
        each._value if mark and isinstance(each, Batched) else each
        for each, mark in zip(values, marks, strict=True)
    ]


def _closed(values: Sequence[Item], marks: Sequence[bool], level: Level) -> list[Item | Tensor]:
    return [
        Batched.over(each, level) if mark and isinstance(each, Tensor) else each
        for each, mark in zip(values, marks, strict=True)
    ]


def _several(value: object) -> list[object]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _as(like: object, values: Sequence[object]) -> object:
    """One value, or several as a tuple, as something else is."""
    return tuple(values) if isinstance(like, (tuple, list)) else values[0]


class _Batch:
    """Which arguments and results of a call stand for the slices of a level."""

    def __init__(self, level: Level, arguments: tuple[bool, ...]) -> None:
        self.level = level
        self.arguments = arguments
        self.results: tuple[bool, ...] = ()
        self.context = _Context(level)


class _Context:
    """The `ctx` of a function whose methods see slices; what is kept is kept by the node."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self._node: FunctionNode
        self._marks: dict[bool, tuple[bool, ...]] = {False: (), True: ()}

    @contextmanager
    def _of(self, node: FunctionNode) -> Iterator[_Context]:
        """Stand for a node during a block."""
        self._node = node
        try:
            with _within(self._level):
                yield self
        finally:
            del self._node

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        self._marks[False] = _marks(tensors, self._level)
        self._node.save_for_backward(*_opened(tensors, self._marks[False]))

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        self._marks[True] = _marks(tensors, self._level)
        self._node.save_for_forward(*_opened(tensors, self._marks[True]))

    def mark_dirty(self, *tensors: Tensor) -> None:
        self._node.mark_dirty(*_opened(tensors, _marks(tensors, self._level)))

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        self._node.mark_non_differentiable(*_opened(tensors, _marks(tensors, self._level)))

    def set_materialize_grads(self, value: bool) -> None:
        self._node.set_materialize_grads(value)

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        marks = self._marks[self._node._is_directed]
        return tuple(_closed(self._node.saved_tensors, marks, self._level))

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        needs: tuple[bool, ...] = self._node.needs_input_grad[1:]
        return needs


class _AllAtOnce(Function):
    """A function on the tensors in which all slices lie; the first argument says which do."""

    generate_vmap_rule = True
    original: type[Function]

    @classmethod
    def forward(cls, batch: _Batch, *bare: object) -> object:
        with _within(batch.level):
            made = cls.original.forward(*_closed(bare, batch.arguments, batch.level))
        found = _several(made)
        batch.results = _marks(found, batch.level)
        return _as(made, _opened(found, batch.results))

    @classmethod
    def setup_context(cls, ctx: FunctionCtx, inputs: tuple[object, ...], output: object) -> None:
        batch = ctx.batch = inputs[0]
        assert isinstance(batch, _Batch)
        shown = _as(output, _closed(_several(output), batch.results, batch.level))
        given = tuple(_closed(inputs[1:], batch.arguments, batch.level))
        with batch.context._of(ctx) as context:
            cls.original.setup_context(context, given, shown)

    @classmethod
    def backward(cls, ctx: FunctionCtx, *grads: object) -> object:
        batch: _Batch = ctx.batch
        with batch.context._of(ctx) as context:
            given = backward_of(cls.original)(context, *_closed(grads, batch.results, batch.level))
        return None, *_spread(_several(given), batch.arguments, batch.level)

    @classmethod
    def jvp(cls, ctx: FunctionCtx, *directions: object) -> object:
        batch: _Batch = ctx.batch
        with batch.context._of(ctx) as context:
            given = cls.original.jvp(
                context, *_closed(directions[1:], batch.arguments, batch.level)
            )
        return _as(given, _spread(_several(given), batch.results, batch.level))


def _all_at_once(cls: type[Function]) -> type[Function]:
    """The function on all slices, made once for a class."""
    known: type[Function] | None = cls.__dict__.get("_all_at_once")
    if known is None:
        known = type(f"Vmapped{cls.__name__}", (_AllAtOnce,), {"original": cls})
        cls._all_at_once = known  # type: ignore[attr-defined]
    return known


def _spread(values: Sequence[object], marks: Sequence[bool], level: Level) -> list[object]:
    """Gradients for tensors with all slices, or for those that slices share."""
    if len(values) != len(marks):
        return list(values)  # the node says how many there should be
    return [_one_spread(*pair, level) for pair in zip(values, marks, strict=True)]


def _one_spread(value: object, mark: bool, level: Level) -> object:
    if type(value) is Batched and value._level is level:
        return value._value if mark else value._value.sum(0)
    if mark and isinstance(value, Tensor):
        return value.expand([level.count, *value.shape])
    return value


# --------------------------------------------------------------------------- directions


def pushed(node: FunctionNode, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    """What a node gives in a walk whose gradient is wanted: tensors of which `jvp` is the gradient.

    Raises:
        NotImplementedError: the function has no `jvp`.
    """
    if node.function.jvp is Function.jvp:
        Function.jvp(node)
    made = run_function(_Step, (node, *grads), lambda own: _zeros(own, node))
    assert isinstance(made, tuple)
    return list(made)


def _zeros(own: FunctionNode, node: FunctionNode) -> tuple[Tensor, ...]:
    own.of = node
    return tuple(_new_zeros(sizes, dtype=dtype) for _, (sizes, dtype) in node._arguments)


_new_zeros: Callable[..., Tensor] = eager_function("aten::zeros")


class _Step(Function):
    """The linear step; its value does not count."""

    @staticmethod
    def backward(ctx: FunctionCtx, *tangents: object) -> object:
        node: FunctionNode = ctx.of
        given: list[object] = [None] * len(node._needs)
        for (place, _), tangent in zip(node._arguments, tangents, strict=True):
            if node._needs[place] or node._materialize:
                given[place] = tangent
        return None, *directions_of(node, given)


def directions_of(node: FunctionNode, given: Sequence[object]) -> list[Tensor | None]:
    """What `jvp` gives for directions of arguments: zeros for those that have none, unless the
    function wants None for them.

    Raises:
        NotImplementedError: there is no `jvp`.
        RuntimeError: its results do not fit those of the function.
    """
    ways = list(given)
    for place, (sizes, dtype) in node._arguments:
        is_smooth = dtype.is_floating_point or dtype.is_complex
        if ways[place] is None and node._materialize and is_smooth:
            ways[place] = _new_zeros(sizes, dtype=dtype)
    node._is_directed = True
    try:
        made = _several(node.function.jvp(node, *ways))
    finally:
        node._is_directed = False
    return _checked(node, made)


def _checked(node: FunctionNode, made: list[object]) -> list[Tensor | None]:
    """The directions of the results.

    Raises:
        RuntimeError: they are more or fewer than the results, no tensors, or of other sizes.
    """
    if len(made) != len(node._sizes):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(node._sizes)} but got {len(made)})"
        )
    checked: list[Tensor | None] = []
    for number, (each, like) in enumerate(zip(made, node._sizes, strict=True)):
        if each is None or like is None:
            checked.append(each if isinstance(each, Tensor) else None)
            continue
        if not isinstance(each, Tensor):
            raise RuntimeError(
                f"expected Variable or None (got {type(each).__name__}) for grad output {number}."
            )
        if tuple(each.shape) != like.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the "
                f"original Tensor, this is not supported. Tensor is of size {list(like.shape)} "
                f"while the given forward gradient is of size {list(each.shape)}."
            )
        checked.append(each)
    return checked


IN_TRANSFORMS.install(sys.modules[__name__])
