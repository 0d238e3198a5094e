"""Taking a profile: the calls as they are at first, then calls whose steps are timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final

from ..frontend.sources.source import UNKNOWN
from ..interpreter.code.code import Code
from ..interpreter.plans.plan import NativePart
from ..interpreter.plans.replaying import Replay
from ..interpreter.running.tiers import Way
from ..interpreter.running.timing import Timed, timing
from .flame import page
from .tables import table
from .times import Frame, Times, Total, place_of

__all__ = ["Compiled", "Profile", "profile"]

FEWEST: Final = 3
"""Calls of each kind, whatever they take."""

MOST: Final = 2000


@dataclass
class Compiled:
    """A function that ran as a code of its own, with what it calls inlined as far as that goes.

    `tier` is `machine`, `plan` or `native`: what runs it now, outside of profiles.  `not_native`
    and `not_plan` say why it is no higher one; empty where it is, or may yet become one.
    `records` says whether its operators are noted for gradients, which leaves them single.
    `stretches` are the parts of a plan that may be one native call: where they begin, for how many
    sizes of operands they are, and why they are not; `islands` are its loops that may be native by
    themselves.
    """

    name: str
    calls: int
    tier: str
    not_native: str
    not_plan: str
    records: bool
    stretches: list[dict[str, object]]
    islands: list[dict[str, object]]

    def data(self) -> dict[str, object]:
        """The function as plain values."""
        return dict(vars(self))


@dataclass
class Profile:
    """What calls of a function took; `str()` is a table, `data()` plain values for JSON, `html()` a
    page with a flame graph.

    `first` is the first call and `usual` the median of `calls` calls as they always are, in
    microseconds.  `timed` is the quickest of `timed_calls` calls operator by operator, of which
    sums and `root` tell: what else the machine did disturbed it least.
    """

    name: str
    calls: int
    first: float
    usual: float
    timed_calls: int
    timed: float
    functions: list[Compiled]
    operators: list[Total]
    lines: list[Total]
    modules: list[Total]
    root: Frame

    def data(self) -> dict[str, object]:
        """The profile as plain values."""
        return {
            "name": self.name,
            "calls": self.calls,
            "first_us": round(self.first, 3),
            "usual_us": round(self.usual, 3),
            "timed_calls": self.timed_calls,
            "timed_us": round(self.timed, 3),
            "functions": [each.data() for each in self.functions],
            "operators": [each.data() for each in self.operators],
            "lines": [each.data() for each in self.lines],
            "modules": [each.data() for each in self.modules],
            "tree": self.root.data(),
        }

    def html(self) -> str:
        """A page of its own, that needs nothing else: the flame graph, and the tables below it."""
        return page(self.data())

    def __str__(self) -> str:
        return "\n".join(table(self.data()))


def profile(
    function: Callable[..., object],
    args: Sequence[object] = (),
    kwargs: Mapping[str, object] | None = None,
    *,
    seconds: float = 0.5,
) -> Profile:
    """Call something scripted, or what calls such, and say what it takes.

    It is called as it is for about so many `seconds`, which lets it become as quick as it will, and
    for as long with the clock read around every operator, on the machine (`interpreter/code`).  All
    calls get the same arguments; three of each kind there are at least.

    Raises:
        ValueError: `seconds` is not a positive number.
        RuntimeError: nothing scripted ran in its calls, or another profile is being taken.
        Exception: what the function raises.
    """
    if not seconds > 0:
        raise ValueError(f"seconds has to be positive, and is {seconds}")
    given = kwargs or {}
    usual = _times(lambda: function(*args, **given), seconds)
    with timing() as timer:
        timed = _times(lambda: timer.call(lambda: function(*args, **given)), seconds)
    found = Times(timer, timer.quickest)
    if not found.ways:
        raise RuntimeError("nothing scripted has run: there is nothing to profile")
    return Profile(
        name=_name(function),
        calls=len(usual),
        first=usual[0],
        usual=_median(usual),
        timed_calls=len(timed),
        timed=min(timed),
        functions=[_compiled(way, count) for way, count in found.ways.items()],
        operators=_longest(found.operators),
        lines=_longest(found.lines),
        modules=_longest(found.modules),
        root=found.root,
    )


def _times(call: Callable[[], object], seconds: float) -> list[float]:
    """The microseconds of calls for so many seconds."""
    found: list[float] = []
    ends = perf_counter() + seconds
    while len(found) < FEWEST or (perf_counter() < ends and len(found) < MOST):
        began = perf_counter()
        call()
        found.append((perf_counter() - began) * 1e6)
    return found


def _median(times: Sequence[float]) -> float:
    """That of the later half: by then functions run as they will."""
    late = sorted(times[len(times) // 2 :])
    return late[len(late) // 2]


def _longest(totals: Mapping[str, Total]) -> list[Total]:
    return sorted(totals.values(), key=lambda total: -total.time)


def _name(function: object) -> str:
    for name in ("qualified_name", "original_name", "__qualname__"):
        found = getattr(function, name, None)
        if isinstance(found, str):
            return found
    return type(function).__name__


def _compiled(way: Timed, calls: int) -> Compiled:
    usual: Way = way.usual
    tier = usual.tier
    why = "" if tier == "native" else usual.why_not_native
    no_plan = usual.why_no_plan if tier == "machine" else ""
    stretches, islands = [], []
    if usual.plan is not None:
        stretches = list(map(_stretch, usual.plan.replays))
        islands = list(map(_island, usual.plan.islands))
    return Compiled(way.name, calls, tier, why, no_plan, usual.records, stretches, islands)


_TOO_SELDOM: Final = "it has not run often enough yet"


def _stretch(replay: Replay) -> dict[str, object]:
    why = "" if replay.learned else replay.why_not or _TOO_SELDOM
    place = _begin_of(replay.stretch.code)
    return {"place": place, "sizes": replay.learned, "why_not": why}


def _island(part: NativePart) -> dict[str, object]:
    why = "" if part.is_native else part.why_not or _TOO_SELDOM
    return {"place": _begin_of(part.code), "is_native": part.is_native, "why_not": why}


def _begin_of(code: Code) -> str:
    """Where a part of a code begins."""
    spans = (node.span for node in code.nodes)
    return place_of(next((span for span in spans if span is not UNKNOWN), UNKNOWN))
