"""Texts that read attributes of objects in objects, each object on the way read once.

f(r0.slots[2].slots[0], r0.slots[2].slots[1])  ->  f((own0 := r0.slots[2].slots)[0], own0[1])
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["with_paths_once"]

_PATH: Final = re.compile(r"\b(r\d+)((?:\.slots\[\d+\])+)")
_Object = tuple[str, ...]
"""The register of an object, and the numbers of the slots on the way from it to another."""


def with_paths_once(texts: Sequence[str]) -> list[str]:
    """The same texts, for one call whose arguments they are."""
    ways: dict[_Object, set[str]] = {}
    for text in filter(_is_read, texts):
        for found in _PATH.finditer(text):
            path = _path(found)
            for length in range(1, len(path)):
                ways.setdefault(path[:length], set()).add(path[length])
    names: dict[_Object, str] = {}

    def slots(of: _Object) -> str:
        if of in names:
            return names[of]
        whole = of[0] if len(of) == 1 else f"{slots(of[:-1])}[{of[-1]}]"
        if len(ways[of]) == 1:
            return f"{whole}.slots"
        name = f"own{len(names)}"
        names[of] = name
        return f"({name} := {whole}.slots)"

    def read(found: re.Match[str]) -> str:
        *owner, number = _path(found)
        return f"{slots(tuple(owner))}[{number}]"

    return [_PATH.sub(read, text) if _is_read(text) else text for text in texts]


def _is_read(text: str) -> bool:
    """Whether what a text names is read in any case."""
    return " if " not in text


def _path(found: re.Match[str]) -> _Object:
    return found[1], *re.findall(r"\d+", found[2])
