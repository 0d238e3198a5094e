"""Names of torch that are here to be imported, and that say when they are used what is missing."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Final, NoReturn

__all__ = ["reason_of", "refusing"]

_OWN: Final = __name__.partition(".")[0]


class Refused:
    """Base of classes of which there are no instances; others may derive from them."""

    _said = ""

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise NotImplementedError(self._said)


def _function(module: str, name: str, said: str) -> Callable[..., NoReturn]:
    def refused(*args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError(said)

    refused.__name__ = refused.__qualname__ = name
    refused.__module__ = module
    refused.__doc__ = f"Raises NotImplementedError: {said}"
    vars(refused)["_said"] = said
    return refused


def refusing(module: str, names: str, reason: str) -> dict[str, object]:
    """Classes and functions of a module of torch that say why they are not here.

    Args:
        module: the module's own name.
        names: the names; those with a capital first are classes.
        reason: what is missing, and what to use.
    """
    shown = module.replace(_OWN, "torch", 1)
    made: dict[str, object] = {}
    for name in names.split():
        said = f"{shown}.{name}: {reason}"
        if name[0].isupper():
            body = {"_said": said, "__module__": module, "__doc__": f"Not here: {said}"}
            made[name] = type(name, (Refused,), body)
        else:
            made[name] = _function(module, name, said)
    return made


def reason_of(value: object) -> str | None:
    """Why something is refused (what `refusing` was given); None for what is not."""
    said = getattr(value, "_said", None) if isinstance(value, type | FunctionType) else None
    return said.partition(": ")[2] if said else None
