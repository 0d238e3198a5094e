"""`torch.jit._ScriptProfile`: what the lines of scripted functions took while it was on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Final

from ..frontend.sources.source import UNKNOWN, Source
from ..interpreter.running.timing import Spent, Timer, timing
from .times import placed_node, seen_span

__all__ = ["_ScriptProfile"]

_HEAD: Final = "  Line #    Hits   Time (ns) Line Contents"


@dataclass
class _Lines:
    """Runs of operators, and the nanoseconds they took, by lines of a source."""

    hits: dict[int, int] = field(default_factory=dict)
    time: dict[int, int] = field(default_factory=dict)


class _Watch:
    """The profiles that are switched on, and what takes their times."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.on: list[_ScriptProfile] = []
        self.timer: Timer | None = None
        self._ends = ExitStack()

    def change(self, profile: _ScriptProfile, on: bool) -> None:
        """Switch a profile on or off."""
        with self.lock:
            if self.timer is not None:
                spent = self.timer.cut()
                for each in self.on:
                    each._parts.append((self.timer.clock, spent))
            if on and profile not in self.on:
                if self.timer is None:
                    self.timer = self._ends.enter_context(timing())
                self.on.append(profile)
            elif not on and profile in self.on:
                self.on.remove(profile)
                if not self.on:
                    self.timer = None
                    self._ends.close()


_WATCH: Final = _Watch()


class _ScriptProfile:
    """Counts runs of operators and their nanoseconds by lines, between `enable` and `disable`.

    Scripted code runs on the machine meanwhile, with the clock read around each operator.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[int, Spent]] = []

    def enable(self) -> None:
        """Begin, or go on.

        Raises:
            RuntimeError: a profile of another kind is being taken.
        """
        _WATCH.change(self, True)

    def disable(self) -> None:
        """Stop."""
        _WATCH.change(self, False)

    def dump_string(self) -> str:
        """A table for each function that ran; empty if none did."""
        found: dict[Source, _Lines] = {}
        for clock, spent in self._parts:
            _sum(spent, clock, found)
        return "\n".join("".join(_table(source, lines)) for source, lines in found.items())

    def dump(self) -> None:
        """Print `dump_string()`."""
        print(self.dump_string(), end="")


def _sum(spent: Spent, clock: int, found: dict[Source, _Lines]) -> None:
    for run in list(spent.calls.values()):
        for node, own in list(run.nodes()):
            span = seen_span(placed_node(node).span)
            if span is not UNKNOWN:
                lines = found.setdefault(span.source, _Lines())
                inside = sum(each.time for each in own.calls.values())
                took = max(0, own.time - inside - own.count * clock)
                lines.hits[span.line] = lines.hits.get(span.line, 0) + own.count
                lines.time[span.line] = lines.time.get(span.line, 0) + took
            _sum(own, clock, found)


def _table(source: Source, lines: _Lines) -> Iterator[str]:
    yield f"{_HEAD}\n{'=' * len(_HEAD)}\n"
    for number, text in enumerate(dedent(source.text).rstrip().split("\n"), source.first_line):
        hits, time = (str(of.get(number, "")) for of in (lines.hits, lines.time))
        yield f"{number:8}{hits:>8}{time:>12} {text}\n"
