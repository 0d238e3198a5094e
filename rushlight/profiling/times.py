"""Times of steps put together: a tree of who called what, and sums by operator, line and module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from ..frontend.sources.source import UNKNOWN, Span
from ..interpreter.failures.call_stack import named_frames
from ..interpreter.running.tiers import FunctionTiers
from ..interpreter.running.timing import Run, Spent, Timed, Timer
from ..ir.functions.inline import call_path, module_path
from ..ir.graphs.graph import Node
from ..typecheck.definitions.functions import Function

__all__ = ["Frame", "Times", "Total", "place_of", "placed_node", "seen_span"]

FUNCTION, LINE, OPERATOR = "function", "line", "operator"
MICROSECOND: Final = 1e3
"""Nanoseconds."""

_FARTHEST: Final = 20
"""Users that are looked at for where something stands."""


@dataclass
class Frame:
    """A function, a line of it or an operator there, as called from where its parent is.

    `place` is `file:line` as far as that is known (of a function, where it is called), `own` the
    microseconds of an operator itself, `calls` how often it ran: 0 for a function that was inlined,
    whose calls are not seen.
    """

    name: str
    kind: str
    place: str = ""
    module: str = ""
    calls: int = 0
    own: float = 0.0
    inside: dict[tuple[str, ...], Frame] = field(default_factory=dict)

    @property
    def time(self) -> float:
        """Microseconds, with all that is inside."""
        return self.own + sum(frame.time for frame in self.inside.values())

    def child(self, name: str, kind: str, place: str, module: str) -> Frame:
        """The frame of that name inside this one."""
        key = name, kind, place, module
        found = self.inside.get(key)
        if found is None:
            found = self.inside[key] = Frame(name, kind, place, module)
        return found

    def data(self) -> dict[str, object]:
        """The frame and those inside, the longest first, as plain values."""
        inside = sorted(self.inside.values(), key=lambda frame: -frame.time)
        return {
            "name": self.name,
            "kind": self.kind,
            "place": self.place,
            "module": self.module,
            "calls": self.calls,
            "us": round(self.time, 3),
            "inside": [frame.data() for frame in inside],
        }


@dataclass
class Total:
    """What runs of an operator, of what stands in a line, or in a module took together:
    microseconds, and how many runs of operators they are."""

    name: str
    text: str = ""
    calls: int = 0
    time: float = 0.0

    def data(self) -> dict[str, object]:
        """The sum as plain values."""
        found: dict[str, object] = {"name": self.name}
        if self.text:
            found["text"] = self.text
        return {**found, "calls": self.calls, "us": round(self.time, 3)}


class Times:
    """The sums of one call that a timer has timed.

    Of the call's time only what its steps took is in them, less what reading the clock added.
    """

    def __init__(self, timer: Timer, call: Spent) -> None:
        self.root = Frame("all", FUNCTION)
        self.operators: dict[str, Total] = {}
        self.lines: dict[str, Total] = {}
        self.modules: dict[str, Total] = {}
        self.ways: dict[Timed, int] = {}
        self._clock = timer.clock
        self._runs_of(call, self.root, "")

    def _runs_of(self, spent: Spent, frame: Frame, module: str) -> None:
        for way, run in spent.calls.copy().items():
            self.ways[way] = self.ways.get(way, 0) + run.count
            self._steps_of(way, run, frame, module)

    def _steps_of(self, way: Timed, run: Run, frame: Frame, module: str) -> None:
        tiers = way.tiers
        function = tiers.binding.function if isinstance(tiers, FunctionTiers) else None
        name = way.name
        written = None if function is None else function.written
        place = "" if written is None else place_of(written.name_span)
        own = frame.child(name, FUNCTION, place, module)
        own.calls += run.count
        for node, spent in list(run.nodes()):
            self._step(node, spent, own, function, module)

    def _step(
        self, node: Node, spent: Spent, frame: Frame, function: Function | None, outer: str
    ) -> None:
        placed, depth = placed_node(node), len(node.call_stack)
        for name, span, path in islice(_way_to(placed, function), depth):
            frame = frame.child(name, FUNCTION, place_of(span), _joined(outer, path))
        module = _joined(outer, call_path(node.call_stack))
        deeper = placed.call_stack[depth:]
        span = deeper[0].span if deeper else placed.span
        place, text = place_of(span), _text(span)
        kind = node.signature.full_name if node.signature is not None else node.kind
        line = frame.child(text or "?", LINE, place, module)
        line.calls = max(line.calls, spent.count)
        operator = line.child(kind, OPERATOR, place, module)
        inside = sum(run.time for run in spent.calls.values())
        own = max(0, spent.time - inside - spent.count * self._clock) / MICROSECOND
        operator.calls += spent.count
        operator.own += own
        self._add(self.operators, kind, "", spent.count, own)
        self._add(self.lines, place or "?", text, spent.count, own)
        self._add(self.modules, module, "", spent.count, own)
        if spent.calls:
            is_method = node.kind == "prim::CallMethod"
            below = module_path(node.inputs[0]) if is_method else ""
            self._runs_of(spent, operator, _joined(module, below))

    @staticmethod
    def _add(totals: dict[str, Total], name: str, text: str, calls: int, time: float) -> None:
        total = totals.setdefault(name, Total(name, text))
        total.calls += calls
        total.time += time


def _way_to(node: Node, function: Function | None) -> Iterator[tuple[str, Span, str]]:
    """The inlined calls on the way to a node: what is called, from where, and in which module."""
    if not node.call_stack:
        return
    names = [frame.function for frame in named_frames([node], function)] if function else []
    for number, site in enumerate(node.call_stack, 1):
        module = call_path(node.call_stack[:number])
        if number < len(names):
            name = names[number]
        else:
            last = node.call_stack[number:]
            name = last[0].function if last else (node.span.source.function or "?")
        yield name, site.span, module


def placed_node(node: Node) -> Node:
    """The node, or what uses it where it has no place: archives do not say that of attributes."""
    user = node
    for _ in range(_FARTHEST):
        if user.span is not UNKNOWN or not user.outputs or not user.outputs[0].uses:
            break
        user = next(iter(user.outputs[0].uses)).user
    is_inside = user.call_stack[: len(node.call_stack)] == node.call_stack
    return user if is_inside else node


def _joined(outer: str, inner: str) -> str:
    return f"{outer}.{inner}" if outer and inner else outer or inner


def seen_span(span: Span) -> Span:
    """Where the user wrote it, if an archive remembers that."""
    return span.original or span


def place_of(span: Span) -> str:
    """`file:line` of a span; empty if that is not known."""
    if span is UNKNOWN:
        return ""
    seen = seen_span(span)
    return f"{seen.filename or '<string>'}:{seen.line}"


def _text(span: Span) -> str:
    """The line in which it stands."""
    if span is UNKNOWN:
        return ""
    seen = seen_span(span)
    return seen.source.lines[seen.source.line_index(seen.start)].strip()
