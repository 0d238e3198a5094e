"""A progress bar on a terminal; silence anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

__all__ = ["progress"]

Item = TypeVar("Item")

_WIDTH = 30
_PATIENCE = 0.5
"""Seconds before a bar is shown, and between its changes a tenth of that."""


def progress(
    items: Iterable[Item], what: str, *, count: int | None = None, beside_output: bool = False
) -> Iterator[Item]:
    """The items, with a bar on standard error if that is a terminal and it takes long.

    `count` is how many they are, where they do not tell that themselves.

    Where results are told meanwhile (`beside_output`), and to a terminal, they say themselves how
    far it is.
    """
    if count is None:
        count = len(items) if isinstance(items, Sized) else 0
    told = beside_output and sys.stdout is not None and sys.stdout.isatty()
    if sys.stderr is None or not sys.stderr.isatty() or not count or told:
        yield from items
        return
    started = shown = time.monotonic()
    drawn = False
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - started > _PATIENCE and now - shown > _PATIENCE / 10:
            filled = _WIDTH * done // count
            bar = "#" * filled + "-" * (_WIDTH - filled)
            print(f"\r{what} [{bar}] {100 * done // count:3}%", end="", file=sys.stderr)
            shown, drawn = now, True
        yield item
    if drawn:
        print("\r" + " " * (len(what) + _WIDTH + 8) + "\r", end="", file=sys.stderr)
