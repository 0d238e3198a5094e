"""The arguments by which layers make their tensors, out of those that a layer was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["factory_kwargs"]

_KNOWN = ("device", "dtype", "memory_format")


def factory_kwargs(kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """What functions such as `empty` take: `device`, `dtype` and `memory_format`, said each by
    itself or within `factory_kwargs`.

    Raises:
        TypeError: something else is said, or something twice.
    """
    if kwargs is None:
        return {}
    unknown = set(kwargs) - {*_KNOWN, "factory_kwargs"}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    made = dict(kwargs.get("factory_kwargs", {}))
    for name in _KNOWN:
        if name in kwargs:
            if name in made:
                raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            made[name] = kwargs[name]
    return made
