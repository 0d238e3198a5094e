"""A profile as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..frontend.diagnostics.paths import shown

__all__ = ["island_text", "stretch_text", "table", "time_text"]

Told = Mapping[str, Any]
"""A profile, or a part of it, as JSON has it."""

MOST_ROWS: Final = 20
"""Rows of a table of text; JSON and the page have all."""

WIDEST: Final = 60
"""Characters of a name or a line of code."""


def time_text(microseconds: float) -> str:
    """A time in the unit that suits it: `12.3 us`."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return (
                f"{microseconds / size:.3g} {unit}"
                if microseconds < 1000 * size
                else f"{microseconds / size:.0f} {unit}"
            )
    return f"{microseconds:.3g} us" if microseconds < 1000 else f"{microseconds:.0f} us"


def table(data: Told) -> Iterator[str]:
    """The lines of a profile's plain values (`Profile.data`)."""
    usual, first = time_text(data["usual_us"]), time_text(data["first_us"])
    yield f"{data['name']}: {usual} a call, {first} the first"
    yield (
        f"one timed call, operator by operator on the machine: {time_text(data['timed_us'])} "
        f"({data['timed_calls']} were timed)"
    )
    yield from _functions(data["functions"])
    whole = data["tree"]["us"]
    yield from _sums("operator", data["operators"], whole)
    lines = [{**row, "name": _shown(row["name"])} for row in data["lines"]]
    yield from _sums("line", lines, whole)
    if len(data["modules"]) > 1:
        named = [{**row, "name": row["name"] or "(root)"} for row in data["modules"]]
        yield from _sums("module", named, whole)


def _functions(rows: Sequence[Told]) -> Iterator[str]:
    cells = [["function", "calls", "tier", "why no higher"]]
    for row in rows[:MOST_ROWS]:
        why = [f"no plan: {row['not_plan']}"] if row["not_plan"] else []
        why += [f"not native: {row['not_native']}"] if row["not_native"] else []
        why += ["operators stay single: they are noted for gradients"] if row["records"] else []
        cells.append([row["name"], _count(row["calls"]), row["tier"], "; ".join(why)])
    yield from _aligned(cells, len(rows), "<><<")
    for row in rows[:MOST_ROWS]:
        yield from map(stretch_text, row["stretches"])
        yield from map(island_text, row["islands"])


def stretch_text(stretch: Mapping[str, object]) -> str:
    """A line about a part of a plan."""
    begin = f"from {_shown(str(stretch['place'])) or '?'} on"
    if stretch["sizes"]:
        return f"{begin}: one native call (known sizes of operands: {stretch['sizes']})"
    return f"{begin}: not one native call: {stretch['why_not']}"


def island_text(island: Mapping[str, object]) -> str:
    """A line about a loop of a plan that may be native by itself."""
    begin = f"from {_shown(str(island['place'])) or '?'} on"
    if island["is_native"]:
        return f"{begin}: numbers and containers, natively"
    return f"{begin}: numbers and containers, not natively: {island['why_not']}"


def _shown(place: str) -> str:
    """A `file:line` with the file's name as diagnostics have it."""
    file, colon, line = place.rpartition(":")
    return f"{shown(file)}:{line}" if colon else place


def _sums(what: str, rows: Sequence[Told], whole: float) -> Iterator[str]:
    has_text = any("text" in row for row in rows)
    cells = [["time", "share", "calls", what, *([""] if has_text else [])]]
    for row in rows[:MOST_ROWS]:
        share = f"{100 * row['us'] / whole:.1f} %" if whole else ""
        text = [row.get("text", "")] if has_text else []
        cells.append([time_text(row["us"]), share, _count(row["calls"]), row["name"], *text])
    yield from _aligned(cells, len(rows), ">>><<")


def _aligned(cells: Sequence[Sequence[str]], rows: int, sides: str) -> Iterator[str]:
    """Columns, after an empty line; what is too wide loses its middle."""
    cut = [
        [_cut(cell) if i < len(row) - 1 else cell for i, cell in enumerate(row)] for row in cells
    ]
    widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
    yield ""
    for row in cut:
        fields = zip(row, sides, widths, strict=False)
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in fields).rstrip()
    if rows > MOST_ROWS:
        yield f"... and {rows - MOST_ROWS} more"


def _cut(text: str) -> str:
    half = WIDEST // 2
    return text if len(text) <= WIDEST else f"{text[: half - 2]}...{text[1 - half :]}"


def _count(calls: float) -> str:
    return f"{calls:g}"
