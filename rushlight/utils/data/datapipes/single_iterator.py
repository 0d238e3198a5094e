"""What happens around the iterators of pipes: only the one that was made last goes on.

A pipe keeps what it has read ahead with itself, so two iterators of one pipe would take samples
from each other.  Each has the number of its generation, therefore, and fails when the pipe begins
a newer one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from functools import wraps
from typing import Any, Final, Protocol

from ....autograd.profiler import active_recorder, record_function

__all__ = ["described", "hook_iterator", "hook_reset"]

_ADVICE: Final = (
    "\nFor feedback regarding this single iterator per IterDataPipe constraint, feel free to "
    "comment on this issue: https://github.com/pytorch/data/issues/45."
)


class _SnapshotState(Enum):
    """Whether a pipe has been begun, or wound forward to where another one was."""

    NotStarted = 0
    Restored = 1
    Iterating = 2


class _Iterated(Protocol):
    """What is asked of a pipe; the last three of one that is a child of another."""

    _profile_name: str
    _valid_iterator_id: int | None
    _number_of_samples_yielded: int
    _snapshot_state: _SnapshotState
    _fast_forward_iterator: Iterator[object] | None
    main_datapipe: object

    def reset(self) -> None: ...
    def _set_main_datapipe_valid_iterator_id(self) -> object: ...
    def _check_valid_iterator_id(self, number: int) -> bool: ...


def described(pipe: object) -> str:
    """A pipe's class, and those of its attributes that its class was called with."""
    taken = inspect.signature(type(pipe)).parameters
    parts = [
        f"{name}={value.__name__ if inspect.isfunction(value) else repr(value)}"
        for name, value in inspect.getmembers(pipe)
        if name in taken
    ]
    return f"{type(pipe).__name__}({', '.join(parts)})"


def _label(pipe: _Iterated) -> str:
    """What profiles call the work of a pipe."""
    if not hasattr(pipe, "_profile_name"):
        said = described(pipe).replace("IterDataPipe", "").replace("MapDataPipe", "")
        pipe._profile_name = said
    return str(pipe._profile_name)


def _profiled(pipe: _Iterated) -> AbstractContextManager[object]:
    return record_function(_label(pipe)) if active_recorder() is not None else nullcontext()


def _is_child(pipe: object) -> bool:
    return getattr(pipe, "_is_child_datapipe", False) is True


def _begin(pipe: _Iterated) -> int:
    """The number of a new iterator, after which older ones of the pipe fail.

    Raises:
        RuntimeError: a pipe that calls itself a child cannot begin with its siblings.
    """
    if _is_child(pipe):
        if not hasattr(pipe, "_set_main_datapipe_valid_iterator_id"):
            raise RuntimeError(
                "ChildDataPipe must have method `_set_main_datapipe_valid_iterator_id`."
            )
        pipe._set_main_datapipe_valid_iterator_id()
    else:
        last = pipe._valid_iterator_id
        pipe._valid_iterator_id = 0 if last is None else last + 1
        pipe.reset()
    assert pipe._valid_iterator_id is not None
    return pipe._valid_iterator_id


def _check(pipe: _Iterated, number: int) -> None:
    """Fail if the pipe has begun another iterator than that of a number.

    Raises:
        RuntimeError: it has.
    """
    if _is_child(pipe):
        if not hasattr(pipe, "_check_valid_iterator_id"):
            raise RuntimeError("ChildDataPipe must have method `_check_valid_iterator_id`.")
        if not pipe._check_valid_iterator_id(number):
            raise RuntimeError(
                "This iterator has been invalidated, because a new iterator has been created from "
                f"one of the ChildDataPipes of {described(pipe.main_datapipe)}.{_ADVICE}"
            )
    elif pipe._valid_iterator_id != number:
        raise RuntimeError(
            "This iterator has been invalidated because another iterator has been created from "
            f"the same IterDataPipe: {described(pipe)}\nThis may be caused by multiple references "
            "to the same IterDataPipe. We recommend using `.fork()` if that is necessary."
            f"{_ADVICE}"
        )


def _taken(pipe: _Iterated) -> Iterator[object] | None:
    """The iterator that a pipe was wound forward with, once."""
    forwarded = pipe._fast_forward_iterator
    if forwarded is not None:
        pipe._fast_forward_iterator, pipe._snapshot_state = None, _SnapshotState.Iterating
    return forwarded


def _tell_where(error: Exception, pipe: object) -> None:
    """Have an error name the pipe that it comes from, if none further up is named."""
    where = f"thrown by __iter__ of {described(pipe)}"
    first = error.args[0] if error.args else None
    if not isinstance(first, str):
        error.args = (f"\nThis exception is {where}",)
    elif (
        "thrown by __iter__ of" not in first
        and "single iterator per IterDataPipe constraint" not in first
    ):
        error.args = (f"{first}\nThis exception is {where}", *error.args[1:])


def _of_generator(make: Callable[..., Generator[object, object, None]]) -> Callable[..., object]:
    @wraps(make)
    def samples_of(
        pipe: _Iterated, *args: object, **kwargs: object
    ) -> Generator[object, object, None]:
        forwarded = _taken(pipe)
        if forwarded is not None:
            yield from forwarded
            return
        number = _begin(pipe)
        samples, sent = make(pipe, *args, **kwargs), None
        while True:
            try:
                with _profiled(pipe):
                    _check(pipe, number)
                    sample = samples.send(sent)
            except StopIteration:
                return
            except Exception as error:
                _tell_where(error, pipe)
                raise
            pipe._number_of_samples_yielded += 1
            sent = yield sample

    return samples_of


class _Numbered:
    """An iterator of a pipe, with the number of its generation."""

    def __init__(
        self, samples: Iterator[object], pipe: _Iterated, number: int, counts: bool
    ) -> None:
        """`counts`: the iterator does not count the samples that it gives itself."""
        self._samples, self._pipe, self._number, self._counts = samples, pipe, number, counts

    def __iter__(self) -> _Numbered:
        return self

    def __next__(self) -> object:
        with _profiled(self._pipe):
            _check(self._pipe, self._number)
            sample = next(self._samples)
        if self._counts:
            self._pipe._number_of_samples_yielded += 1
        return sample

    def __getattr__(self, name: str) -> Any:
        return getattr(self._samples, name)


def _of_others(make: Callable[..., object], has_next: bool) -> Callable[..., object]:
    @wraps(make)
    def samples_of(pipe: _Iterated, *args: object, **kwargs: object) -> Iterator[object]:
        samples: Any = make(pipe, *args, **kwargs)  # an iterator, or whatever a class gives
        pipe._snapshot_state = _SnapshotState.Iterating
        forwarded = _taken(pipe)
        if forwarded is not None:
            return forwarded
        return _Numbered(samples, pipe, _begin(pipe), not (samples is pipe and has_next))

    return samples_of


def _counting(following: Callable[..., object]) -> Callable[..., object]:
    @wraps(following)
    def next_of(pipe: _Iterated, *args: object, **kwargs: object) -> object:
        with _profiled(pipe):
            sample = following(pipe, *args, **kwargs)
        pipe._number_of_samples_yielded += 1
        return sample

    return next_of


def hook_iterator(cls: Any) -> None:
    """Have what a class of pipes defines as `__iter__` and `__next__` keep these rules."""
    own = vars(cls)
    if inspect.isgeneratorfunction(own["__iter__"]):
        cls.__iter__ = _of_generator(own["__iter__"])
        return
    has_next = "__next__" in own
    if has_next:
        cls.__next__ = _counting(own["__next__"])
    cls.__iter__ = _of_others(own["__iter__"], has_next)


def hook_reset(cls: Any) -> None:
    """Have what a class of pipes defines as `reset` leave pipes alone that were wound forward."""
    reset = vars(cls)["reset"]

    @wraps(reset)
    def unless_restored(pipe: _Iterated, *args: object, **kwargs: object) -> None:
        if pipe._snapshot_state is not _SnapshotState.Restored:
            pipe._number_of_samples_yielded, pipe._fast_forward_iterator = 0, None
            reset(pipe, *args, **kwargs)
        pipe._snapshot_state = _SnapshotState.Iterating

    cls.reset = unless_restored
