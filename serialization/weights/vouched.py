"""Classes and functions that a program vouches for: files of weights may name them.

`torch.serialization.add_safe_globals` and `safe_globals` fill the table.  What is not in it is
refused as before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, Final

from ..pickles.object_names import present_name
from .objects import ObjectsReader
from .pickle import BLOCKED, WeightsReader
from .values import Name, Unset

__all__ = ["SAFE", "VouchedReader", "named"]

Vouched = Callable[..., object] | tuple[Callable[..., object], str]

SAFE: Final[dict[str, object]] = {}
"""What is vouched for, by the names under which files speak of it."""


def named(things: Iterable[Vouched]) -> dict[str, object]:
    """Classes and functions by their full names, or by those they come with.

    Raises:
        ValueError: a tuple of something else than a class or function and its name.
    """
    found: dict[str, object] = {}
    for each in things:
        if isinstance(each, tuple):
            if len(each) != 2 or not isinstance(each[1], str):
                raise ValueError(
                    f"Expected tuple of length 2 (global, str of callable full path), but got "
                    f"tuple of length {len(each)}"
                )
            found[each[1]] = each[0]
        else:
            found[f"{each.__module__}.{each.__qualname__}"] = each
    return found


class VouchedReader(ObjectsReader):
    """Reads weights, and objects of what is vouched for; nothing else is called or changed."""

    def named(self, module: str, name: str) -> object:
        module, name = present_name(module, name)
        full = f"{module}.{name}"
        if module in BLOCKED:
            raise self.foreign(module, name)
        return SAFE[full] if full in SAFE else WeightsReader.named(self, module, name)

    refused = WeightsReader.refused

    def vouches_for(self, called: object) -> bool:
        return any(called is each for each in SAFE.values())

    def _see(self, called: object) -> None:
        if not isinstance(called, Name) and not self.vouches_for(called):
            raise self.refused("calls what nobody vouches for")

    def _see_changed(self, target: object) -> None:
        known = (list, dict, OrderedDict, Unset, *SAFE.values())
        if not any(type(target) is each for each in known):
            raise self.refused("changes an object that nobody vouches for")

    def call(self) -> None:
        self._see(self.stack[-2])
        super().call()

    def new(self) -> None:
        self._see(self.stack[-2])
        super().new()

    def new_with_keywords(self) -> None:
        self._see(self.stack[-3])
        super().new_with_keywords()

    def set_state(self) -> None:
        self._see_changed(self.stack[-2])
        super().set_state()

    def extend(self, items: list[Any]) -> None:
        self._see_changed(self.stack[-1])
        super().extend(items)

    def set_items(self, items: list[Any]) -> None:
        self._see_changed(self.stack[-1])
        super().set_items(items)
