"""Keys of dicts and members of sets in pickles that nobody vouches for.

Python hashes a tuple part by part, however deep it goes and however often it meets the same part,
and compares keys of one hash one by one.  So a short file could take hours, or the stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from ...frontend.limits.bounds import DEEPEST_VALUES

__all__ = ["Keys"]

_PARTS: Final = 1 << 22
"""Parts of all keys of a pickle, as often as they are met."""
_ALIKE: Final = 64
"""Different keys of one hash."""
_OWN_HASH: Final = 2**61 - 1
"""Whole numbers below are their own hashes (but -1): CPython's `sys.hash_info.modulus`."""


class Keys:
    """The keys of one pickle; `refuse` makes the error for what they would cost."""

    def __init__(self, refuse: Callable[[str], Exception]) -> None:
        self._refuse = refuse
        self._left = _PARTS
        self._alike: dict[int, list[object]] = {}

    def check(self, keys: Iterable[object]) -> None:
        """See that a dict or set of these can be made.

        Raises:
            TypeError: one has no hash.
            Exception: what `refuse` makes, if it would take too long.
        """
        for key in keys:
            kind = type(key)
            if kind is str or (kind is int and abs(key) < _OWN_HASH):  # type: ignore[arg-type]
                continue
            if isinstance(key, tuple | frozenset):
                self._walk(key, DEEPEST_VALUES)
            alike = self._alike.setdefault(hash(key), [])
            if key not in alike:
                alike.append(key)
                if len(alike) > _ALIKE:
                    raise self._refuse(f"has more than {_ALIKE} different keys of one hash")

    def _walk(self, key: Iterable[object], depth: int) -> None:
        if not depth:
            raise self._refuse("has a key that is nested too deeply")
        for part in key:
            self._left -= 1
            if isinstance(part, tuple | frozenset):
                self._walk(part, depth - 1)
        if self._left < 0:
            raise self._refuse(f"has keys of more than {_PARTS} parts")
