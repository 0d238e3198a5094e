"""The warning that storages counted in elements will go."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

__all__ = [
    "always_warns_of_removal",
    "forget_warning_of_removal",
    "going_away",
    "set_always_warns_of_removal",
    "warn_of_removal",
]

T = TypeVar("T", bound=type)

_TEXT = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the "
    "only storage class. This should only matter to you if you are using storages directly.  To "
    "access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)


class _State:
    always = False
    told = False


def warn_of_removal(stacklevel: int = 2) -> None:
    """Warn, once in a process if not always, of whoever called the caller."""
    if _State.always or not _State.told:
        _State.told = True
        warnings.warn(_TEXT, UserWarning, stacklevel=stacklevel + 1)


def always_warns_of_removal() -> bool:
    """Whether every use warns, and not the first of a process alone."""
    return _State.always


def forget_warning_of_removal() -> None:
    """Have the next use warn as the first of a process does."""
    _State.told = False


def set_always_warns_of_removal(always_warn: bool) -> None:
    """Have every use warn, or the first of a process alone.

    Raises:
        AssertionError: it is no bool.
    """
    if not isinstance(always_warn, bool):
        raise AssertionError("always_warn must be a bool")
    _State.always = always_warn


def _warning(member: Any) -> Any:
    if isinstance(member, property):
        return property(_warning(member.fget), doc=member.__doc__)

    @wraps(member)
    def call(*args: object, **kwargs: object) -> object:
        warn_of_removal()
        return member(*args, **kwargs)

    return call


def going_away(*names: str) -> Callable[[T], T]:
    """Have members of a class warn; those with an underscore before do the same without a word."""

    def put_in(cls: T) -> T:
        for name in names:
            member = vars(cls)[name]
            quiet = name[1:-2] if name.startswith("__") else f"_{name}"
            if not hasattr(cls, quiet):
                setattr(cls, quiet, member)
            setattr(cls, name, _warning(member))
        return cls

    return put_in
