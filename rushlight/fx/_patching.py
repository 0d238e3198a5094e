"""Names and methods that mean something else while a tracer is at work."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from threading import get_ident
from typing import Any, Final

from .proxy import Proxy

__all__ = [
    *("Patcher", "autowrap", "is_tracing", "patch_wrapped", "register_wrapped", "tracing"),
    "wrapped_function",
]

_ABSENT: Final = object()
_wrapped_fns_to_patch: Final[dict[tuple[int, str], dict[str, Any]]] = {}
_wrapped_methods_to_patch: Final[list[tuple[type, str]]] = []


class Patcher:
    """Exchanges names in dicts and classes, and puts them back in the reverse order."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._visited: set[int] = set()
        self._done: set[tuple[int, str]] = set()

    def patch(
        self, frame_dict: dict[str, object], name: str, new_fn: Callable[..., object]
    ) -> None:
        """Put a function under a name of a dict, once."""
        if (id(frame_dict), name) in self._done:
            return
        self._done.add((id(frame_dict), name))
        before = frame_dict.get(name, _ABSENT)

        def undo() -> None:
            if before is _ABSENT:
                del frame_dict[name]
            else:
                frame_dict[name] = before

        self._undo.append(undo)
        frame_dict[name] = new_fn

    def patch_method(self, cls: type, name: str, new_fn: Callable[..., object]) -> None:
        """Put a function under a name of a class, once."""
        if (id(cls), name) in self._done:
            return
        self._done.add((id(cls), name))
        before = getattr(cls, name)
        self._undo.append(lambda: setattr(cls, name, before))
        setattr(cls, name, new_fn)

    def visit_once(self, thing: object) -> bool:
        """Whether this is asked of the object for the first time."""
        first = id(thing) not in self._visited
        self._visited.add(id(thing))
        return first

    def __enter__(self) -> Patcher:
        return self

    def __exit__(self, *raised: object) -> None:
        while self._undo:
            self._undo.pop()()


def register_wrapped(frame_dict: dict[str, object], name: str) -> None:
    """Have calls under a name become nodes."""
    _wrapped_fns_to_patch[id(frame_dict), name] = frame_dict


def _find_proxy(*values: object) -> Proxy | None:
    """A proxy among values and what they hold."""
    for value in values:
        if isinstance(value, Proxy):
            return value
        inside: Iterable[object] = ()
        if isinstance(value, (tuple, list)):
            inside = value
        elif isinstance(value, dict):
            inside = value.values()
        elif isinstance(value, slice):
            inside = value.start, value.stop, value.step
        found = _find_proxy(*inside)
        if found is not None:
            return found
    return None


def wrapped_function(function: Callable[..., object]) -> Callable[..., object]:
    """The function, but a call with a proxy becomes a node."""

    @wraps(function)
    def wrapped(*args: object, **kwargs: object) -> object:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return wrapped


def _wrapped_method(cls: type, name: str) -> Callable[..., object]:
    method = getattr(cls, name)

    @wraps(method)
    def wrapped(*args: object, **kwargs: object) -> object:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return method(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


def patch_wrapped(patcher: Patcher) -> None:
    """Exchange all names that were given to `wrap`."""
    for (_, name), frame_dict in list(_wrapped_fns_to_patch.items()):
        function = frame_dict.get(name, _ABSENT)
        if function is _ABSENT:
            function = getattr(builtins, name)
        patcher.patch(frame_dict, name, wrapped_function(function))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _wrapped_method(cls, name))


def autowrap(
    patcher: Patcher, frame_dict: dict[str, object], functions: Mapping[int, object]
) -> None:
    """Exchange the names that a dict has for certain functions, given by identity."""
    if not patcher.visit_once(frame_dict):
        return
    for name, value in list(frame_dict.items()):
        if not name.startswith("_") and callable(value) and id(value) in functions:
            patcher.patch(frame_dict, name, wrapped_function(value))


_TRACING: list[int] = []
"""The threads that trace, once for each tracer at work."""


@contextmanager
def tracing() -> Iterator[None]:
    """A block in which a tracer is at work."""
    _TRACING.append(get_ident())
    try:
        yield
    finally:
        _TRACING.remove(get_ident())  # the last one may be another thread's


def is_tracing() -> bool:
    """Whether a tracer is at work in this thread."""
    return get_ident() in _TRACING
