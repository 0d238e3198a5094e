"""The port to gradients: what eager calls and tensors ask of the tape, which lies above them.

The tape is loaded when something first requires gradients.  `ops` says once how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final, Protocol, Self, TypeVar

from ...frontend.foundations.port import Port
from ..table.table import Operator

__all__ = [
    "DIRECTION_OF",
    "MISSED",
    "WAY_THROUGH",
    "Removable",
    "Tape",
    "install",
    "tape",
    "way_through",
]

_T = TypeVar("_T")

MISSED: Final = object()
"""What a recorder gives for a call that is none of its own, and has not run."""


class Removable(Protocol):
    """What registering a hook gives; a `with` block takes it away at its end."""

    id: int

    def remove(self) -> None:
        """Take the hook away."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


class Tape(Protocol):
    """What `ops/gradients/recording/tape.py` offers; `tensor` is always a handle."""

    def taped(
        self,
        entry: Operator,
        values: list[object],
        handles: Sequence[object],
        own: bool = False,
        args: Sequence[object] | None = None,
        forward: Callable[..., object] | None = None,
        kept: list[object] | None = None,
        /,
    ) -> object:
        """Run an operator on machine values and record it.

        Others may run in its place where its `own` forward is not asked for.  `args` are the
        values with handles for arrays; a `forward` stands for the operator's own.  What recorded
        it is put into `kept`, if it does so for all arguments of these types: called with `args`,
        values and forward it gives `MISSED` for calls that are to come here.
        """

    def told(
        self, entry: Operator, recorder: Callable[..., object] | None, length: int, /
    ) -> tuple[int, object] | None:
        """What native code is told to record calls as a recorder does, with a list of that length,
        if with one: an address and what must be kept as long; None where it cannot do it.  There is
        no recorder of an operator that leaves nothing behind."""

    def edge_of(self, tensor: object, /) -> tuple[object, int] | None:
        """Where a tensor came from; None if it needs no gradient."""

    def is_wanted(self, tensor: object, /) -> bool:
        """Whether a tensor requires gradients."""

    def is_directed(self, values: Iterable[object], /, *, alone: bool = False) -> bool:
        """Whether a tensor among some values leads to where a direction begins, and, if `alone` is
        asked for, to no leaf of the user's."""

    def grad_fn(self, tensor: object, /) -> object:
        """The node that a tensor came from; None for leaves."""

    def get_item(self, tensor: _T, key: object, /) -> _T:
        """`tensor[key]`, recorded."""

    def set_item(self, tensor: object, key: object, value: object, /) -> None:
        """`tensor[key] = value`, recorded."""

    def parts(self, tensor: _T, /) -> _T:
        """The real and imaginary parts of complex numbers along a last dimension, recorded."""

    def refresh(self, view: object, /) -> None:
        """Bring the history of a view up to date after its memory was written through others."""

    def backward(
        self,
        tensors: object,
        grads: object,
        retain_graph: bool | None,
        create_graph: bool,
        inputs: object,
        /,
    ) -> None:
        """Add gradients to the `grad` of leaves."""

    def register_hook(self, tensor: object, hook: object, /) -> Removable:
        """Have a function called with a tensor's gradient."""

    def register_after(self, tensor: object, hook: object, /) -> Removable:
        """Have a function called when a gradient was added to a leaf."""

    def require(self, tensor: object, /) -> None:
        """Have a tensor that has a direction alone require gradients."""

    def retain_grad(self, tensor: object, /) -> None:
        """Keep the gradient of a tensor that is no leaf."""


WAY_THROUGH: Final[Port[Callable[[], object]]] = Port()
"""Gives what walks back through operators that others compute (`gradients/calls/composed.py`)."""

DIRECTION_OF: Final[Port[Callable[[Any], object]]] = Port()
"""Gives the direction of a tensor, or None (`rushlight/autograd/forward_ad.py`)."""

_LOADER: Final[Port[Callable[[], Tape]]] = Port()


def install(load: Callable[[], Tape]) -> None:
    """Say how the tape is loaded."""
    _LOADER.install(load)


@cache
def way_through() -> Any:
    """What walks back through operators that others compute, loaded when first asked for."""
    assert WAY_THROUGH.installed is not None
    return WAY_THROUGH.installed()


@cache
def tape() -> Tape:
    """The tape, loaded when first asked for."""
    assert _LOADER.installed is not None
    return _LOADER.installed()
