"""How eager functions are called: by a method in Python, and by native code that does the same once
there is some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...frontend.foundations.locks import fork_safe_lock
from ..kernels import family
from ..memory.errors import Elsewhere
from ..memory.native_class import ADDRESS_AT, CalledNatively, call_by_address, call_natively_if
from ..memory.slots import places_within
from ..table.direct import LISTENING

__all__ = ["Called", "call_by", "call_class_by", "call_natively", "when_native"]

_WORDS: Final = np.zeros(64, np.uint64)
"""What native code looks at that calls them (`kernels/code/fronts/called_text.py`)."""


class Called(CalledNatively):  # type: ignore[misc]
    """An object that is called: `_quickly` does its calls."""

    __slots__ = ("_calling", "_quickly")  # in this order, which is that of their names

    _calling: object
    _quickly: Callable[..., object]

    def __init__(self, quickly: Callable[..., object]) -> None:
        self._calling, self._quickly = _WORDS, quickly

    def quicken(self, quickly: Callable[..., object]) -> None:
        """Have native code do calls, without Python's way to it once there is some."""
        self._quickly = quickly
        _USUAL.quicken(self)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        try:
            return self._quickly(*args, **kwargs)
        except Elsewhere as place:
            return self.elsewhere(place, args, kwargs)
        except Exception as error:
            raise self.told(error)  # noqa: B904

    def elsewhere(
        self, place: Elsewhere, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        """Does a call that met a tensor behind which no array stands."""
        raise place

    def told(self, error: Exception) -> Exception:
        """What the caller gets of an error of a call."""
        return error


def _failed(error: BaseException, called: Called, /, *args: object, **kwargs: object) -> object:
    """What native code does with an error."""
    try:
        raise error
    except Elsewhere as place:
        return called.elsewhere(place, args, kwargs)
    except Exception as found:
        raise called.told(found)  # noqa: B904
    finally:
        del error  # which holds this frame by its traceback, and so what was called with


class _Usual:
    """What does calls while nobody has others do them."""

    def __init__(self) -> None:
        self.call: Callable[..., object] = Called.__call__
        self.address = 0
        self.is_settled = False
        self.waiting: list[Callable[[], object]] = []

    def settle(self) -> None:
        """Have native code do calls, if it can."""
        self.is_settled = True
        crew = family("calls.prepared").CREW
        probe = Called(_failed)
        places = places_within(probe, (_WORDS, _failed))
        if crew is None or places is None or places[0] != ADDRESS_AT + 8:
            return
        words = crew.called({"quickly_at": places[1], "failed": id(_failed)})
        _WORDS[: words.size] = words
        before = self.call
        self.call, self.address = crew.calls_of(Called)
        if Called.__call__ is before:  # nobody has others do calls
            call_by()
            for act in self.waiting:
                act()

    def quicken(self, called: Called) -> None:
        """Have native code called for an object without a look for its `__call__`."""
        if self.address:
            call_by_address(called, self.address)


_USUAL: Final = _Usual()
_SETTLING: Final = fork_safe_lock()


def when_native(act: Callable[[], object]) -> None:
    """Have something done once native code does calls."""
    _USUAL.waiting.append(act)


def call_natively() -> None:
    """Have calls done by native code from now on: there is some.  Not while somebody listens to
    what Python calls, who would hear what is asked of operators for it."""
    if _USUAL.is_settled or LISTENING:
        return
    with _SETTLING:  # of two threads that come here at once one does it
        if not _USUAL.is_settled:
            _USUAL.settle()


def call_by(call: Callable[..., object] | None = None) -> None:
    """Have the calls of all eager functions go through a function; None does them as usual."""
    call_class_by(Called, call or _USUAL.call)


def call_class_by(kind: type[Called], call: Callable[..., object]) -> None:
    """Have the calls of a class of eager functions go through a function."""
    kind.__call__ = call  # type: ignore[method-assign]
    call_natively_if(Called, _USUAL.call if _USUAL.address else None)
