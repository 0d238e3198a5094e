"""`torch.torch_version`: a version that compares with others, texts and tuples."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest

__all__ = ["TorchVersion"]

_PIECES = re.compile(r"\d+|[a-z]+")
_STAGES = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "c": -1, "rc": -1, "post": 1}


def _key(version: object) -> tuple[list[int], str]:
    """The numbers that decide which version is later, and what follows a `+` (PEP 440)."""
    if not isinstance(version, str) and isinstance(version, Iterable):
        version = ".".join(map(str, version))
    if not isinstance(version, str) or not _PIECES.search(version):
        raise TypeError(f"not a version: {version!r}")
    public, _, local = version.lower().lstrip("v").partition("+")
    pieces = _PIECES.findall(public)
    return [int(each) if each.isdigit() else _STAGES.get(each, 0) for each in pieces], local


class TorchVersion(str):
    """A version: `TorchVersion("2.13.0") >= (2, 1)`, also with texts (`> "1.9"`).

    Comparing with what is no version raises TypeError.
    """

    __slots__ = ()

    def _compared(self, other: object) -> int:
        (mine, local), (theirs, other_local) = _key(str(self)), _key(other)
        for one, another in zip_longest(mine, theirs, fillvalue=0):
            if one != another:
                return -1 if one < another else 1
        return (local > other_local) - (local < other_local)

    def __lt__(self, other: object) -> bool:
        return self._compared(other) < 0

    def __le__(self, other: object) -> bool:
        return self._compared(other) <= 0

    def __gt__(self, other: object) -> bool:
        return self._compared(other) > 0

    def __ge__(self, other: object) -> bool:
        return self._compared(other) >= 0

    def __eq__(self, other: object) -> bool:
        try:
            return self._compared(other) == 0
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__
