"""Whether gradients are recorded: `no_grad`, `enable_grad`, `inference_mode`."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, ParamSpec, Self, TypeVar

import numpy as np

from ..memory import inference
from ..memory.dtype import Array
from ..memory.versions import version_to_keep
from .table import operator

if TYPE_CHECKING:
    from ...typecheck.definitions.functions import Bounding

__all__ = [
    "ANOMALY",
    "BEGINNINGS",
    "BOUNDED",
    "DIRECTIONS",
    "GRAD_MODE",
    "LOOKS_FOR_NAN",
    "RUNNING",
    "TRANSFORMS",
    "enable_grad",
    "grad_mode_set",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_recording",
    "no_grad",
    "set_grad_enabled",
]

Given = ParamSpec("Given")
Result = TypeVar("Result")


LOOKS_FOR_NAN: Final = [False]
"""Whether a gradient with a NaN is an error (`torch.autograd.detect_anomaly`)."""


ANOMALY: Final = [False]
"""Whether nodes keep where they were made, and walks tell of the one that failed."""


BOUNDED: Final = [False]
"""Whether bounds have ever held while history was made, which is all that most calls look at."""


class _Running(threading.local):
    """What notes down what the script that runs in a thread does; None if nothing does.

    `bounds` are those of code that is not trusted whose results get their history now;
    `version_of` tells the version of memory that is kept: of now, or, while nodes are made of a
    script's notes, of when a step was noted.
    """

    record: Any = None
    bounds: tuple[Bounding, ...] = ()
    version_of: Callable[[Array], int] = staticmethod(version_to_keep)


RUNNING: Final = _Running()


class _Directions(threading.local):
    wanted = 0
    """How many contexts a thread is in that find directions by what is recorded."""
    walks = False
    """Whether the walk that runs is one of which the gradient by its vector is wanted."""
    passes = False
    """Whether the walk that runs stands for directions in another way."""


DIRECTIONS: Final = _Directions()


class _Transforms(threading.local):
    """What a thread runs of `torch.func` and of directions."""

    depth = 0
    """How many transforms of gradients."""
    duals = False
    """Whether a level of `forward_ad` is entered."""

    def __init__(self) -> None:
        self.levels: list[Any] = []
        """The levels of the `vmap`s, the outer ones first."""

    def refuse(self, said: str) -> None:
        """Refuse what changes a tensor's history behind the back of the transforms that run.

        Raises:
            RuntimeError: one runs.
        """
        if self.depth or self.levels:
            raise RuntimeError(said)


TRANSFORMS: Final = _Transforms()

BEGINNINGS: Final[set[object]] = set()
"""References to the nodes where directions begin: what leads there alone requires no gradients."""

GRAD_MODE: Final[ContextVar[bool | str]] = ContextVar("grad_enabled", default=True)
"""Whether gradients are recorded, for native code; others ask `is_recording`.

`no_grad` does not end directions: where they are wanted it makes this "directions", and what leads
to them is recorded nevertheless.
"""


def is_grad_enabled() -> bool:
    """Whether gradients are enabled here."""
    return GRAD_MODE.get() is True


def is_recording() -> bool:
    """Whether anything is recorded here, be it for directions alone."""
    return GRAD_MODE.get() is not False


def _mode_without_gradients() -> bool | str:
    return "directions" if DIRECTIONS.wanted and GRAD_MODE.get() else False


class _GradMode:
    """A mode for a `with` block, or for every call of the function it decorates.

    A generator's steps each run in the mode; between them the caller has its own.
    """

    mode = True
    spares_directions = False
    """Whether directions are found in spite of it."""

    def __init__(self, orig_func: Callable[..., object] | None = None) -> None:
        self._before: list[bool | str] = []

    def __new__(cls, orig_func: Callable[..., object] | None = None) -> Any:
        made = super().__new__(cls)
        if callable(orig_func):  # @no_grad without brackets
            made.__init__()  # type: ignore[misc]
            return made(orig_func)
        return made

    def __enter__(self) -> Self:
        self._before.append(GRAD_MODE.get())
        try:
            self._switch()
            return self
        except BaseException:  # an interrupt: what is not entered is never left
            GRAD_MODE.set(self._before.pop())
            raise

    def __exit__(self, *exception: object) -> None:
        GRAD_MODE.set(self._before.pop())

    def _switch(self) -> None:
        off = _mode_without_gradients() if self.spares_directions else False
        GRAD_MODE.set(self.mode or off)

    def clone(self) -> Self:
        """Another such mode."""
        return type(self)()

    def __call__(self, func: Callable[Given, Result]) -> Callable[Given, Result]:
        if inspect.isclass(func):
            warnings.warn(_DECORATED_CLASS, FutureWarning, stacklevel=2)
        elif inspect.isgeneratorfunction(func):
            return _step_by_step(self, func)

        @functools.wraps(func)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            with self.clone():
                return func(*args, **kwargs)

        return call


_DECORATED_CLASS: Final = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only "
    "decorate functions or methods. To preserve the current behavior of class decoration, you can "
    "directly decorate the `__init__` method and nothing else."
)


def _step_by_step(
    mode: _GradMode, func: Callable[..., Generator[object, object, object]]
) -> Callable[..., Any]:
    """A generator function whose steps run in a mode."""

    @functools.wraps(func)
    def steps(*args: object, **kwargs: object) -> Generator[object, object, object]:
        inner = func(*args, **kwargs)
        step: Callable[..., object] = inner.send
        given: object = None
        try:
            while True:
                with mode.clone():
                    value = step(given)
                try:
                    step, given = inner.send, (yield value)
                except GeneratorExit:
                    with mode.clone():
                        inner.close()
                    raise
                except BaseException as error:  # the generator's own affair
                    step, given = inner.throw, error
        except StopIteration as end:
            return end.value

    return steps


class no_grad(_GradMode):
    """No gradients are recorded inside."""

    mode = False
    spares_directions = True


class enable_grad(_GradMode):
    """Gradients are recorded inside."""


class inference_mode(_GradMode):
    """No gradients are recorded inside, nor can they be later: what is made inside cannot be
    written in place outside, nor be kept for gradients."""

    def __new__(cls, mode: bool | Callable[..., object] = True) -> Any:
        return super().__new__(cls, None if isinstance(mode, bool) else mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = not mode
        self._outside: list[tuple[bool, object]] = []

    def clone(self) -> Self:
        return type(self)(not self.mode)

    def __enter__(self) -> Self:
        self._outside.append(inference.enter(not self.mode))
        try:
            return super().__enter__()
        except BaseException:
            inference.leave(self._outside.pop())
            raise

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        inference.leave(self._outside.pop())


def is_inference_mode_enabled() -> bool:
    """Whether this is inside of `inference_mode`."""
    return inference.is_on()


class grad_mode_set(_GradMode):
    """Recording on or off inside."""

    def __new__(cls, mode: bool) -> Self:
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = mode

    def clone(self) -> Self:
        return type(self)(self.mode)


class set_grad_enabled(grad_mode_set):
    """Switch recording at once; as a context manager, back at the end of the block.

    Raises:
        TypeError: `mode` is no bool.
    """

    spares_directions = True

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, (bool, np.bool_)):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        super().__init__(bool(mode))
        self._before.append(GRAD_MODE.get())
        self._switch()

    def __enter__(self) -> Self:
        if not self._before:  # not the first block
            return super().__enter__()
        return self

    def __call__(self, func: Callable[Given, Result]) -> Callable[Given, Result]:
        """The function in this mode; what was switched is switched back."""
        GRAD_MODE.set(self._before.pop() if self._before else GRAD_MODE.get())
        return super().__call__(func)


@operator("aten::is_grad_enabled() -> bool", effects=True)
def grad_enabled() -> bool:
    return is_grad_enabled()


@operator("aten::set_grad_enabled(bool val) -> ()", effects=True)
def set_enabled(val: bool) -> None:
    GRAD_MODE.set(val or _mode_without_gradients())
