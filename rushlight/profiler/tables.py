"""Profiles as text: torch's columns, widths and units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

__all__ = ["memory_text", "table_of", "time_text"]

_UNITS: Final = (("s", 1e6), ("ms", 1e3))
_BYTES: Final = (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10))


def time_text(microseconds: float, unit: str | None = None) -> str:
    """A time with three places: `5.174ms`."""
    for name, size in _UNITS:
        if unit == name or (unit is None and microseconds >= size):
            return f"{microseconds / size:.3f}{name}"
    return f"{microseconds:.3f}us"


def memory_text(size: int) -> str:
    """A number of bytes: `1.50 KB`."""
    for name, unit in _BYTES:
        if abs(size) >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} B"


def _share(part: float, whole: float) -> str:
    return f"{part * 100 / whole:.2f}%" if whole else "NaN"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def table_of(
    events: Sequence[Any],
    total: float,
    *,
    limit: int,
    widths: tuple[int, int, int],
    header: str | None,
    unit: str | None,
    memory: bool,
) -> str:
    """The table of some events; `widths` are the most that names, shapes and lines take."""
    if not events:
        return ""
    has_shapes = any(event.input_shapes for event in events)
    has_stack = any(event.stack for event in events)
    heads = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    sizes = [min(max(len(e.key) for e in events) + 4, widths[0]), *([12] * 5)]
    if memory:
        heads += ["CPU Mem", "Self CPU Mem"]
        sizes += [12, 12]
    heads.append("# of Calls")
    sizes.append(12)
    if has_shapes:
        heads.append("Input Shapes")
        sizes.append(min(max(len(str(e.input_shapes)) for e in events) + 4, widths[1]))
    if has_stack:
        heads.append("Source Location")
        lines = [line for e in events for line in e.stack or ()]
        sizes.append(min(max(map(len, lines)) + 4, widths[2]))
    rows = [_row(e, total, unit, memory, has_shapes, has_stack, widths) for e in events]
    if limit >= 0:
        rows = rows[:limit]
    rule = "  ".join("-" * size for size in sizes) + "  "
    body = [_line(row, sizes) for row in rows]
    title = [rule, header] if header else []
    parts = [*title, rule, _line(heads, sizes), rule, *body, rule]
    return "\n".join([*parts, f"Self CPU time total: {time_text(total, unit)}", ""])


def _line(cells: Sequence[str], sizes: Sequence[int]) -> str:
    return "".join(f"{cell:>{size}}  " for cell, size in zip(cells, sizes, strict=True))


def _row(
    event: Any,
    total: float,
    unit: str | None,
    memory: bool,
    has_shapes: bool,
    has_stack: bool,
    widths: tuple[int, int, int],
) -> list[str]:
    row = [
        _cut(event.key, widths[0] - 3),
        _share(event.self_cpu_time_total, total),
        time_text(event.self_cpu_time_total, unit),
        _share(event.cpu_time_total, total),
        time_text(event.cpu_time_total, unit),
        time_text(event.cpu_time, unit),
    ]
    if memory:
        row += [memory_text(event.cpu_memory_usage), memory_text(event.self_cpu_memory_usage)]
    row.append(str(event.count))
    if has_shapes:
        row.append(_cut(str(event.input_shapes), widths[1]))
    if has_stack:
        row.append(_cut((event.stack or [""])[0], widths[2]))
    return row
